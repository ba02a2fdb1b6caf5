// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Cluster.h - ops that work on the same rows, and what they access --===//

#ifndef RMSNORM_ACCESS_CLUSTER_H
#define RMSNORM_ACCESS_CLUSTER_H

#include "RMSNorm/Access/Loops.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::rmsnorm::access {

/// An op of a cluster.
struct Member {
  Operation *op;
  /// Its loops, as sums of digits. Together they count each row once, and the
  /// member's columns.
  Layout loops;
};

/// What a member reads or writes in one place. `layout` says where in `value`,
/// for each iteration of the member; indices that are known at run time only
/// are `indices`, of a scatter its operands.
struct Access {
  enum class Kind {
    /// Reads an element of `value`, an argument or the result of an op outside.
    load,
    /// The same at indices that the body computes, for `extract`.
    gather,
    /// Reads what another member computes, in the same row.
    member,
    /// Reads the result of a tensor.insert_slice that puts columns into a row.
    /// Accesses with it as `parent` follow, for what is inserted and for what
    /// it is inserted into.
    assembled,
    /// Reads the result of an op outside that is computed where it is used,
    /// with `loops`. Its own reads follow, with it as `parent`.
    computed,
    /// Reads a value that is the same everywhere, or undefined.
    constant,
    /// Writes elements of `value`, an operand of a terminator, all or some. It
    /// is the only access that writes them.
    store,
    /// Adds to elements of `value`, as the op combines them: a sum over rows.
    accumulate,
    /// An op outside, the owner of `operand`, uses `value`: all of it has to be
    /// there, in a tensor.
    escape
  };

  Kind kind;
  /// The number of the member.
  unsigned member;
  Value value;
  Layout layout;
  /// The operand that is read, of the member, of a computed op or of an
  /// insertion. Of what is written: the use.
  OpOperand *operand = nullptr;
  tensor::ExtractOp extract = nullptr;
  SmallVector<Value> indices;
  /// The number of the access that needs this one.
  std::optional<unsigned> parent;
  /// Of a computed op its loops. Of a row that is put together all of it, where
  /// `layout` may be a part.
  Layout loops;
  /// With a parent that is put together: all of the operand that is read.
  Layout whole;
  /// Of what is written: the result of the member or a view of it, where in it
  /// the elements are, and what they are written into: an argument, or what
  /// makes a new tensor.
  Value source;
  Layout sourceLayout;
  Value base;
  /// The tensor that they are first part of at `landingLayout`, from `source`
  /// on; only other things are inserted into it until it is `value`. What an op
  /// outside uses is no view: views of it are made for that op.
  Value landing;
  Layout landingLayout;
  /// The same without the views that follow, and what `source` is there.
  Value origin;
  Layout originLayout;
  Value originSource;
  Layout originSourceLayout;

  bool isRead() const {
    return kind != Kind::store && kind != Kind::accumulate &&
           kind != Kind::escape;
  }
};

/// Why an op is no member that uses what others have summed over rows.
inline constexpr llvm::StringLiteral kUsesSum =
    "uses a sum over rows, which is known after the kernel (a norm of several "
    "dimensions wants them collapsed to one)";

/// Why an op is no member that uses what others have stored at run-time
/// indices.
inline constexpr llvm::StringLiteral kUsesScattered =
    "uses a tensor into which rows are stored at run-time indices, which is "
    "known after the kernel";

/// How a member uses what another one computes in the same row.
enum class Relation { sameColumns, part, onePerRow, groups };

/// A layout as an affine map. Dimensions are those of the rows, as the anchor
/// has them, then `columns`. Symbols are the index operands, then `sizes`.
struct LayoutMap {
  AffineMap map;
  SmallVector<Size> columns;
  SmallVector<DimSource> sizes;
};

/// The ops that work on the rows of an anchor, found by layouts; nothing is
/// rewritten. An op is a member if what it reads or computes of others' results
/// gives its loops the same rows, all of them and each once. Rows have to be
/// equal; columns are positions, and may be any.
///
/// Clusters are found one after another. An op is a member of one at most, and
/// no two need results of each other: each can be computed as a whole.
///
/// Reading stops where a layout is not known: at an offset or stride that is
/// known at run time only, at a reshape whose indices cannot be told apart, at
/// an op that is no view. What is accessed is the tensor there.
class Cluster {
public:
  /// Grows a cluster from `anchor`, an op with rows (`getRowLoops`), beside
  /// those that were found before. None of `excluded` is a member, or a view
  /// that is followed. There is no cluster if the anchor is a member of another
  /// one, or its sizes are of no use.
  /// `amongOthers`: ops outside are another compiler's, which computes operands
  /// where they are used. What moves fewer bytes in that way is not written.
  /// `columns`: those of the anchor, if it is a linalg op.
  static std::optional<Cluster> grow(Operation *anchor,
                                     ArrayRef<Cluster> others = {},
                                     const DenseSet<Operation *> &excluded = {},
                                     bool amongOthers = false,
                                     Columns columns = Columns::last);

  Operation *getAnchor() const { return anchor; }
  /// A dimension of a value that has the size of each dimension of the rows.
  ArrayRef<std::pair<Value, int64_t>> getRowDims() const { return rowDims; }
  ArrayRef<unsigned> getRowDigits() const { return rowDigits; }
  const Digits &getDigits() const { return digits; }

  /// Members in the order of the block.
  ArrayRef<Member> getMembers() const { return members; }
  /// The member that is `op`, or null.
  const Member *findMember(Operation *op) const;
  /// Whether `value` has nothing but what members compute and what nobody has
  /// defined.
  bool isComputedWhole(Value value) const;
  /// Whether that is true of what `insertion` puts into another tensor, and it
  /// is not left to others.
  bool insertsComputed(tensor::InsertSliceOp insertion) const;
  /// What each member reads, then what it writes, member by member.
  ArrayRef<Access> getAccesses() const { return accesses; }
  /// Ops that use or feed members and are not taken, and why.
  ArrayRef<std::pair<Operation *, StringRef>> getRefusals() const {
    return refusals;
  }
  /// Whether the result is summed over rows; it has no row of its own.
  bool isSumOverRows(OpResult result) const;

  /// The loops of a member as a map of its rows and columns.
  LayoutMap getLoops(const Member &member) const;
  /// Where in its value an access is. What is read is a map of the columns of
  /// the member, what is written one of those of `source`.
  LayoutMap getMap(const Access &access) const;
  LayoutMap getSourceMap(const Access &access) const;
  /// The loops of an op that is computed where it is used.
  LayoutMap getComputedLoops(const Access &access) const;
  /// Where an access of what is put together reads its operand.
  LayoutMap getOperandMap(const Access &access) const;
  /// How the value of an access of kind `member` is used.
  Relation getRelation(const Access &access) const;

  /// Of what a member computes, or of a view of it; null if it has none.
  const Layout *findLayout(Value value) const;
  /// `layout` as a map of `variables`, which are digits, and of index operands.
  LayoutMap getMap(const Layout &layout, ArrayRef<unsigned> variables,
                   unsigned numOperands) const;

private:
  friend class ClusterGrowth;
  friend class AccessCollector;
  Cluster(Operation *anchor, Digits digits, const DenseSet<Operation *> &taken)
      : anchor(anchor), digits(std::move(digits)), taken(taken) {}

  SmallVector<unsigned> getColumns(ArrayRef<const Layout *> layouts) const;
  LayoutMap getRowsMap(const Layout &layout, ArrayRef<unsigned> columns,
                       unsigned numOperands) const;
  SmallVector<unsigned> getColumns(const Access &access) const;

  Operation *anchor;
  Digits digits;
  /// Members of other clusters, and views and insertions that no member's
  /// results are followed through.
  DenseSet<Operation *> taken;
  SmallVector<std::pair<Value, int64_t>> rowDims;
  /// For each dimension of the rows, also those of size 1.
  SmallVector<unsigned> rowDigits;
  std::vector<Member> members;
  std::vector<Access> accesses;
  SmallVector<std::pair<Operation *, StringRef>> refusals;
  /// Of what members compute, and of views of it.
  llvm::MapVector<Value, Layout> layouts;
};

} // namespace mlir::rmsnorm::access

#endif // RMSNORM_ACCESS_CLUSTER_H
