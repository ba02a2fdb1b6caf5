// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Disjoint.h - what buffers share, and who writes them ---------------===//

#ifndef RMSNORM_IR_DISJOINT_H
#define RMSNORM_IR_DISJOINT_H

#include "mlir/Analysis/AliasAnalysis.h"
#include "mlir/IR/BuiltinTypeInterfaces.h"

namespace mlir::rmsnorm {

/// Whether both are the same, if computed twice, by ops without effects. The
/// code around ours may not have been simplified.
bool isSameValue(Value a, Value b);

/// Whether two buffers, one of which is written, certainly share no memory.
/// Different arguments of an entry (`rmsnorm.role`) do not: the runtime takes
/// no such call (runtime/lib/ArgumentCheck.cpp). Views of one buffer are told
/// apart by the elements that they lead to, others by `aliases`.
bool areDisjoint(Value a, Value b, AliasAnalysis &aliases);

/// Values of an index, at least those that it has: `offset` plus a multiple of
/// each term's `factor`, from 0 times to `count` - 1 times it. kDynamic of a
/// count that is not known, of an unknown factor, too.
struct IndexSet {
  struct Term {
    int64_t factor, count;
  };
  int64_t offset = 0;
  SmallVector<Term> terms;

  /// Whether no value is in both: their ranges tell, or remainders, as those of
  /// q, k and v of each head.
  bool isDisjoint(const IndexSet &other) const;

private:
  /// The least and the largest value, modulo `modulus` if that is not 0; none
  /// if they are not known, or remainders wrap around.
  std::optional<std::pair<int64_t, int64_t>> getRange(int64_t modulus) const;
};

/// What `buffer` is a view of, or null. Upstream's memref.transpose has no
/// ViewLikeOpInterface.
Value getViewedBuffer(Value buffer);

/// The buffer that `buffer` is a view of, or a view of a view.
Value getRootBuffer(Value buffer);

/// Whether `buffer` is, or is a view of, a constant global or an argument that
/// is declared rmsnorm.constant: no kernel writes it.
bool isConstantBuffer(Value buffer);

/// Whether the ops in front of `op` may come after it, whatever buffers they
/// use: `op` has no effect, or only allocates a new buffer.
bool mayCross(Operation &op);

} // namespace mlir::rmsnorm

#endif // RMSNORM_IR_DISJOINT_H
