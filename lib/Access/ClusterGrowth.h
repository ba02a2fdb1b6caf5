// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ClusterGrowth.h - members of a cluster ----------------------------===//

#ifndef RMSNORM_LIB_ACCESS_CLUSTERGROWTH_H
#define RMSNORM_LIB_ACCESS_CLUSTERGROWTH_H

#include "RMSNorm/Access/Cluster.h"

#include <set>

namespace mlir::rmsnorm::access {

/// Goes back from the index of an element to the tensor that the element comes
/// from: through views, and through insertions that certainly do not write it.
/// `value` becomes that tensor, `layout` the element's place in it.
void traceBack(Digits &digits, Value &value, Layout &layout);

/// Finds the members of a cluster, from its anchor over uses and definitions.
class ClusterGrowth {
public:
  /// Ops that are `taken` are members of other clusters.
  ClusterGrowth(Cluster &cluster, const DenseSet<Operation *> &taken,
                llvm::MapVector<Operation *, StringRef> &excluded);

  /// False if the anchor is none.
  bool run(Columns columns);

private:
  using MaybeLoops = SmallVector<std::optional<Sum>>;

  bool determine(AffineMap map, const Layout &layout, MaybeLoops &loops,
                 bool mustAgree);
  bool join(Operation *op, const LoopNest &nest, MaybeLoops loops);
  bool coversRows(const LoopNest &nest, const Layout &loops);
  bool coversShape(Value value, const Layout &layout);
  void joinUser(Operation *op);
  void joinProducers(Operation *op);
  void joinProducer(Value value, Layout layout);
  void shareReads();
  void addLayout(Value value, const Layout &layout, bool isShared);
  void note(Operation *op, StringRef why);
  void noteUsers(Value value);

  Cluster &cluster;
  Digits &digits;
  const DenseSet<Operation *> &taken;
  llvm::MapVector<Operation *, StringRef> &excluded;
  Block *block;
  DenseMap<Operation *, unsigned> order;
  llvm::MapVector<Operation *, Layout> members;
  /// Of tensors that no member computes and that others may read by rows, too.
  llvm::MapVector<Value, Layout> shared;
  /// Ops to look at, by their place in the block, and members whose operands
  /// are to be looked at.
  std::set<std::pair<unsigned, Operation *>> users;
  SmallVector<Operation *> readers;
};

} // namespace mlir::rmsnorm::access

#endif // RMSNORM_LIB_ACCESS_CLUSTERGROWTH_H
