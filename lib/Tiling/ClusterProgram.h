// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ClusterProgram.h - the tile program of a cluster -------------------===//

#ifndef RMSNORM_LIB_TILING_CLUSTERPROGRAM_H
#define RMSNORM_LIB_TILING_CLUSTERPROGRAM_H

#include "RMSNorm/Access/Cluster.h"
#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {

/// Why a cluster has no tile program: what of `op`, a member, it cannot hold.
/// `op` is null where no member is known to be the one: the cluster has members
/// that no kernel holds together. `reason` is to follow "it ".
struct NoProgram {
  Operation *op;
  std::string reason;
};

/// Puts a rmsnorm.rows on tensors, `rows`, in the place of `cluster`, after its
/// last member; members are gone then. If there is none the function is of no
/// use. `amongOthers`: results may be new tensors. `onAllChips`: a program that
/// some chips cannot hold is none.
std::optional<NoProgram> buildRows(RewriterBase &rewriter,
                                   const access::Cluster &cluster,
                                   bool amongOthers, bool onAllChips,
                                   RowsOp &rows);

/// Why `buildRows` makes no program of `cluster`, which stays as it is. If it
/// makes one, `results` are the values that the program's results would take
/// the place of.
std::optional<NoProgram> whyNoRows(RewriterBase &rewriter,
                                   const access::Cluster &cluster,
                                   bool amongOthers, bool onAllChips,
                                   SmallVectorImpl<Value> *results = nullptr);

/// The ops that the program of `cluster` has or goes through: its members, what
/// is computed or put together where they read it, and what takes their results
/// to where they are written.
llvm::SetVector<Operation *> getOps(const access::Cluster &cluster);

/// Whether `op`, or an op in its regions, uses what `definitions` compute.
bool usesAny(Operation *op, const DenseSet<Operation *> &definitions);

/// Of what stands from `first` on in front of `last`, moves the ops that need
/// what `definitions` compute to after `last`.
void moveUsers(DenseSet<Operation *> definitions, Block::iterator first,
               Operation *last);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_TILING_CLUSTERPROGRAM_H
