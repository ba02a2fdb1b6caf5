// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rewriter.h - norms in place of scalars ----------------------------===//

#ifndef RMSNORM_LIB_RAISE_REWRITER_H
#define RMSNORM_LIB_RAISE_REWRITER_H

#include "Tensors.h"

namespace mlir::rmsnorm::raising {

/// Changes a program that is still being read: ops that go are freed last, so
/// that no value comes into being at the address of another one.
class Rewriter {
public:
  Rewriter(Reader &reader, Tensors &tensors)
      : reader(reader), tensors(tensors) {}
  ~Rewriter();

  /// The body of `host` reads `summands`, dimensions walked by `loops`, in
  /// place of computing `scalar`: it is their element, or the sum of theirs.
  /// Ops without a use left are erased.
  void replaceScalar(linalg::GenericOp host, Value scalar, ValueRange summands,
                     ArrayRef<int> loops);
  /// Uses of `tensor` become uses of `other`, which is equal.
  void replaceTensor(Value tensor, Value other);

private:
  BlockArgument addInput(linalg::GenericOp host, Value tensor, AffineMap map);
  void clean(linalg::GenericOp host);
  void dropInputs(linalg::GenericOp host);
  void dropResults(linalg::GenericOp host);
  void bury(Operation *op);
  void eraseDead();

  Reader &reader;
  Tensors &tensors;
  SmallVector<Operation *> graveyard;
  /// Ops that may be dead now.
  SmallVector<Operation *> suspects;
};

} // namespace mlir::rmsnorm::raising

#endif // RMSNORM_LIB_RAISE_REWRITER_H
