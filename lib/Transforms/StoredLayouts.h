// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StoredLayouts.h - groups stored in another order than row-major ---===//

#ifndef RMSNORM_LIB_TRANSFORMS_STOREDLAYOUTS_H
#define RMSNORM_LIB_TRANSFORMS_STOREDLAYOUTS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::rmsnorm {

struct RowCluster;

/// Dimension i of a tensor is dimension permutation[i] of `source`.
struct Transpose {
  Value source;
  SmallVector<int64_t> permutation;
};

/// The transpose that `value`, of a linalg.transpose or of a generic that
/// copies, is. None is one that leaves all dimensions where they are.
std::optional<Transpose> matchTranspose(Value value);

/// Copies `transpose` into `dest`, with the loops of its source.
linalg::GenericOp createCopy(OpBuilder &builder, Location loc,
                             const Transpose &transpose, Value dest);

/// How `op`, which computes something, permutes it if it writes its last
/// dimension in front of others. Of its init it may read a fill.
std::optional<SmallVector<int64_t>> matchTransposedInit(linalg::GenericOp op);

/// Where the values of groups of columns, [.., K], are stored if not in
/// row-major order: reshapes and transposes of them, by which rows do not stand
/// in front of groups. Transposed, [K, M], or as tensor cores read them,
/// [M / 128, K / 4, 32, 4, 4] of [M / 128, 4, 32, K / 4, 4]. They may first be
/// inserted into more rows: into what the destination holds there, so that the
/// rest of it stays.
class StoredLayout {
public:
  /// Those of `groups`, of which `rowDims` leading dimensions are rows.
  static SmallVector<StoredLayout, 1> match(OpResult groups, int64_t rowDims);

  /// The ops from the groups to what is stored, in their order.
  ArrayRef<Operation *> getOps() const { return ops; }
  /// What is stored.
  OpResult getStored() const;
  /// Which parts of rows or groups are a dimension of it.
  SmallVector<ReassociationIndices> getReassociation() const;
  /// Its destination, with dimensions divided so that each has rows or groups,
  /// and `value`, of that shape, with the dimensions as they are stored.
  Value expandDestination(OpBuilder &builder) const;
  Value collapse(OpBuilder &builder, Value value) const;
  /// Puts the one row `row` into `dest`, which is so divided, at the end of
  /// `loop` over rows, whose leading indices are `indices`.
  void insertRow(OpBuilder &builder, scf::ForallOp loop, Value row, Value dest,
                 ArrayRef<OpFoldResult> indices) const;

private:
  /// A part of a dimension of the groups.
  struct Part {
    int64_t dim, size;
  };
  /// For each dimension, the parts that it has, outermost first.
  using Dims = SmallVector<SmallVector<unsigned, 2>>;

  StoredLayout(Value groups, int64_t rowDims);
  bool follow(Operation *op);
  bool expand(tensor::ExpandShapeOp op);
  bool insert(tensor::InsertSliceOp op);
  bool keepsRest(tensor::InsertSliceOp op) const;
  bool takeParts(SmallVectorImpl<unsigned> &from, int64_t size,
                 SmallVectorImpl<unsigned> &taken);
  bool isStorable() const;
  bool isRow(unsigned part) const { return parts[part].dim < rowDims; }
  /// The parts of rows, outermost first, and whether one is not all of its
  /// dimension.
  std::pair<SmallVector<unsigned>, bool> getRowParts() const;

  int64_t rowDims;
  SmallVector<Operation *> ops;
  SmallVector<Part> parts;
  /// Of the groups, and of what the ops so far make of them.
  Dims original, stored;
};

/// What the layout that `op` is a part of is one of, or null: op works on more
/// than a row then.
Value getStoredGroups(Operation *op, int64_t rowDims);

/// Whether `op`, which may be null, reshapes, transposes or inserts its first
/// operand.
bool reorders(Operation *op);

/// The value that `op` and what is in front of it reshape, transpose and insert
/// into others.
Value getReordered(Operation *op);

/// Whether the columns of `value` are groups of those of `cluster`.
bool hasGroupsOf(Value value, const RowCluster &cluster);

/// Where the groups of a row lie in what `insert` writes to, null if the row is
/// in its `rowDims` leading dimensions: from the indices of the row of the loop
/// it is in, in their order.
AffineMapAttr getStoredMap(tensor::ParallelInsertSliceOp insert,
                           int64_t rowDims);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_TRANSFORMS_STOREDLAYOUTS_H
