// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AccessCollector.h - what members access ---------------------------===//

#ifndef RMSNORM_LIB_ACCESS_ACCESSCOLLECTOR_H
#define RMSNORM_LIB_ACCESS_ACCESSCOLLECTOR_H

#include "RMSNorm/Access/Cluster.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::rmsnorm::access {

/// Finds what the members of a cluster read and write, and members that cannot
/// be: they use another row of what is computed, or an op outside that does.
class AccessCollector {
public:
  AccessCollector(Cluster &cluster, ArrayRef<Cluster> others,
                  const DenseSet<Operation *> &taken);

  /// False if there are such members; they are added to `excluded`.
  bool run(llvm::MapVector<Operation *, StringRef> &excluded);

  /// Collects once more, for members that are ops outside, too: they write
  /// nothing, and what they read of others is written for them.
  void leave(DenseSet<Operation *> members);

private:
  void refuse(Operation *definition, StringRef why);
  bool dependsOnMembers(Value value) const;
  bool isMember(Operation *op) const { return numbers.count(op); }

  void collect();
  void read(OpOperand &operand, Layout layout, std::optional<unsigned> parent);
  bool isForMembers(Operation *tensor) const;
  bool readParts(Access access, tensor::InsertSliceOp op);
  bool compute(Access access);
  bool isTooMuch(std::optional<unsigned> parent) const;
  void readBody(Operation *op, const Layout &loops,
                std::optional<unsigned> parent);
  Sum getIndex(Value value, linalg::LinalgOp op, const Layout &loops,
               SmallVectorImpl<Value> &indices);
  void write(OpResult result, const Layout &layout);
  bool keepsRest(Operation *op) const;
  bool isBesideOthers(const Access &access) const;
  void follow(OpOperand &use, Access access, std::vector<Access> &work);
  bool haveSameRows(const Layout &a, const Layout &b) const;
  void add(Access access);
  void refuseOfOtherNorms();

  Cluster &cluster;
  Digits &digits;
  DenseMap<Operation *, unsigned> numbers;
  /// What each op of the block needs, directly. Members of another cluster,
  /// which are `taken`, need what any of them needs.
  DenseMap<Operation *, SmallVector<Operation *>> needs;
  const DenseSet<Operation *> &taken;
  /// Ops outside that use what members compute, and those that use what the
  /// anchor computes.
  DenseSet<Operation *> afterMembers, afterAnchor;
  llvm::MapVector<Operation *, StringRef> bad;
  /// Members that are ops outside, too.
  DenseSet<Operation *> alsoOutside;
  /// The member whose accesses are collected.
  unsigned current = 0;
};

} // namespace mlir::rmsnorm::access

#endif // RMSNORM_LIB_ACCESS_ACCESSCOLLECTOR_H
