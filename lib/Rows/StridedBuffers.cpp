// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StridedBuffers.cpp - rmsnorm-strided-buffers ----------------------===//

#include "RMSNorm/IR/TileTypes.h"
#include "RMSNorm/Rows/RowsProgram.h"

#include "RMSNorm/IR/AccessMap.h"
#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/IR/Disjoint.h"
#include "RMSNorm/Rows/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/IntEqClasses.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_STRIDEDBUFFERS
#include "RMSNorm/Rows/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// A buffer as it is accessed, and how its dimensions are indexed.
struct View {
  Value buffer;
  AffineMap map;
  /// Of what is read of rows, and of columns alone, the map may be the same.
  bool hasColumn;
};

/// Takes what is strided out of the map of one access, step by step.
class ViewBuilder {
public:
  ViewBuilder(RowsOp rows, OpBuilder &host, Value buffer, AccessMap access,
              int64_t columns)
      : rows(rows), host(host), loc(buffer.getLoc()), buffer(buffer),
        access(std::move(access)), columns(columns) {}

  View run();

private:
  MemRefType getType() const { return cast<MemRefType>(buffer.getType()); }
  MLIRContext *getContext() { return host.getContext(); }
  OpFoldResult getRange(const AccessTerm &term);
  bool areColumnsLast() const;
  std::optional<int64_t> getMost(const AccessIndex &index);
  std::optional<SmallVector<AccessTerm>> getDigits(const AccessIndex &index,
                                                   int64_t size);
  int64_t getWhole(int64_t place, const AccessIndex &index);
  void setIndices(ArrayRef<AffineExpr> exprs);
  void cut();
  void expand();
  void collapse();
  void order();

  RowsOp rows;
  OpBuilder &host;
  Location loc;
  Value buffer;
  AccessMap access;
  /// Of a vector of the access.
  int64_t columns;
};

/// Works on the buffers of one op.
class BufferViews {
public:
  explicit BufferViews(RowsOp rows) : rows(rows), host(rows) {}

  LogicalResult run();

private:
  BlockArgument getArgument(const View &view);
  template <typename OpTy> void access(OpTy op, VectorType vector);
  void setOperands();

  RowsOp rows;
  OpBuilder host;
  /// The view of each buffer, for a map and vectors of some columns.
  DenseMap<std::tuple<Value, AffineMap, unsigned, int64_t>, View> views;
  /// What is accessed in one way, in the order of its first use.
  SmallVector<std::pair<View, BlockArgument>> arguments;
};
} // namespace

/// How many values the digit `term` has: a number, or null if it is not known.
OpFoldResult ViewBuilder::getRange(const AccessTerm &term) {
  if (term.isOperand)
    return {};
  if (term.modulus != 0)
    return host.getIndexAttr(term.modulus);
  OpFoldResult size;
  if (term.dim >= access.getNumRowDims()) {
    if (columns == kDynamicColumns)
      return {};
    size = host.getIndexAttr(columns);
  } else if (access.getNumRowDims() == rows.getStaticSizes().size()) {
    size = rows.getMixedSizes()[term.dim];
  } else if (!ShapedType::isDynamicShape(rows.getStaticSizes())) {
    size = host.getIndexAttr(ShapedType::getNumElements(rows.getStaticSizes()));
  }
  if (!size || term.divisor == 1)
    return size;
  std::optional<int64_t> number = getConstantIntValue(size);
  if (!number)
    return {};
  return host.getIndexAttr(llvm::divideCeil(*number, term.divisor));
}

/// What of `offset` each of `terms`, digits, begins at. Whole units of the
/// first one are cut off with the dimension: the last one has them.
static SmallVector<int64_t> divideOffset(ArrayRef<AccessTerm> terms,
                                         int64_t offset) {
  SmallVector<int64_t> offsets(terms.size());
  if (offset % terms.front().factor != 0)
    for (auto [own, term] : llvm::zip_equal(offsets, terms)) {
      own = offset / term.factor;
      offset %= term.factor;
    }
  offsets.back() += offset;
  return offsets;
}

/// The factor of the outermost digit.
static int64_t getFactor(const AccessIndex &index) {
  int64_t factor = 1;
  for (const AccessTerm &term : index.terms)
    factor = std::max(factor, term.factor);
  return factor;
}

/// How many elements lie between the first and the last one of `index`, with
/// both, if that is known.
std::optional<int64_t> ViewBuilder::getMost(const AccessIndex &index) {
  int64_t most = 1;
  for (const AccessTerm &term : index.terms) {
    OpFoldResult range = getRange(term);
    std::optional<int64_t> number =
        range ? getConstantIntValue(range) : std::nullopt;
    if (!number)
      return std::nullopt;
    most += term.factor * (*number - 1);
  }
  return most;
}

/// The terms of `index`, of a dimension of `size`, the largest factor first, if
/// they are digits of it: each has room, with its part of the offset, in the
/// one in front of it.
std::optional<SmallVector<AccessTerm>>
ViewBuilder::getDigits(const AccessIndex &index, int64_t size) {
  SmallVector<AccessTerm> terms(index.terms);
  llvm::stable_sort(terms, [](const AccessTerm &a, const AccessTerm &b) {
    return a.factor > b.factor;
  });
  if (terms.size() < 2 || terms.back().factor != 1)
    return std::nullopt;
  const SmallVector<int64_t> offsets = divideOffset(terms, index.offset);
  for (size_t i = 1; i < terms.size(); ++i) {
    OpFoldResult range = getRange(terms[i]);
    std::optional<int64_t> number =
        range ? getConstantIntValue(range) : std::nullopt;
    if (!number || terms[i - 1].factor % terms[i].factor != 0 ||
        offsets[i] + *number > terms[i - 1].factor / terms[i].factor)
      return std::nullopt;
  }
  if (!ShapedType::isDynamic(size) && size % terms.front().factor != 0)
    return std::nullopt;
  return terms;
}

/// The size of dimension `place` without what no whole digit of `index` is in,
/// if that is not accessed.
int64_t ViewBuilder::getWhole(int64_t place, const AccessIndex &index) {
  const int64_t size = getType().getDimSize(place);
  if (ShapedType::isDynamic(size) || index.terms.size() < 2)
    return size;
  const int64_t whole = size - size % getFactor(index);
  const std::optional<int64_t> most = getMost(index);
  return most && index.offset + *most <= whole ? whole : size;
}

void ViewBuilder::setIndices(ArrayRef<AffineExpr> exprs) {
  access = AccessMap(AffineMap::get(access.getMap().getNumDims(),
                                    access.getMap().getNumSymbols(), exprs,
                                    getContext()),
                     access.hasColumn());
}

/// Narrows the view to the accessed elements and drops dimensions that have a
/// single index.
void ViewBuilder::cut() {
  MemRefType type = getType();
  SmallVector<OpFoldResult> offsets, sizes;
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> exprs;
  bool isWhole = true;
  for (auto [place, index] : llvm::enumerate(access.getIndices())) {
    OpFoldResult size;
    if (!type.isDynamicDim(place))
      size = host.getIndexAttr(type.getDimSize(place));
    // What is expanded next has to be whole digits, and keeps its offset, as
    // those of its digits.
    const int64_t whole = getWhole(place, index);
    const bool isPart = whole != type.getDimSize(place);
    if ((index.offset != 0 || isPart) && getDigits(index, whole)) {
      if (isPart)
        size = host.getIndexAttr(whole);
      isWhole &= !isPart;
      offsets.push_back(host.getIndexAttr(0));
      exprs.push_back(access.getMap().getResult(place));
      sizes.push_back(size);
      shape.push_back(whole);
      continue;
    }
    offsets.push_back(host.getIndexAttr(index.offset));
    if (index.terms.empty()) {
      isWhole = false;
      sizes.push_back(host.getIndexAttr(1));
      continue;
    }
    exprs.push_back(access.getMap().getResult(place) - index.offset);
    OpFoldResult range;
    if (index.terms.size() == 1 && index.terms.front().factor == 1)
      range = getRange(index.terms.front());
    else if (std::optional<int64_t> most = getMost(index);
             most && index.offset != 0) {
      // With the rest of the last digit, if that is there.
      const int64_t digits = llvm::alignTo(*most, getFactor(index));
      if (!type.isDynamicDim(place) &&
          index.offset + digits <= type.getDimSize(place))
        most = digits;
      range = host.getIndexAttr(*most);
    }
    // What is accessed may be less, or known where the type does not say it.
    const bool isLess =
        range && getConstantIntValue(range) &&
        (!size || *getConstantIntValue(range) < type.getDimSize(place));
    if (index.offset != 0 || (isLess && index.getTerm())) {
      isWhole = false;
      size = range;
    }
    sizes.push_back(size);
    shape.push_back(
        size ? getConstantIntValue(size).value_or(ShapedType::kDynamic)
             : ShapedType::kDynamic);
  }
  if (isWhole)
    return;
  for (auto [place, size] : llvm::enumerate(sizes))
    if (!size)
      size = materializeDim(host, loc, traceDim(buffer, place));
  if (shape.empty() && type.hasStaticShape() && type.getNumElements() == 1) {
    buffer = memref::CollapseShapeOp::create(host, loc, buffer,
                                             ArrayRef<ReassociationIndices>());
    setIndices(exprs);
    return;
  }
  SmallVector<OpFoldResult> strides(type.getRank(), host.getIndexAttr(1));
  MemRefType result = memref::SubViewOp::inferRankReducedResultType(
      shape, type, offsets, sizes, strides);
  buffer = memref::SubViewOp::create(host, loc, result, buffer, offsets, sizes,
                                     strides);
  setIndices(exprs);
}

/// A dimension for each digit of a sum, as long as they fill it.
void ViewBuilder::expand() {
  MemRefType type = getType();
  SmallVector<ReassociationIndices> groups;
  SmallVector<OpFoldResult> sizes;
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> exprs;
  bool isSame = true;
  auto add = [&](AffineExpr expr, OpFoldResult size) {
    groups.back().push_back(exprs.size());
    exprs.push_back(expr);
    sizes.push_back(size);
    shape.push_back(
        size ? getConstantIntValue(size).value_or(ShapedType::kDynamic)
             : ShapedType::kDynamic);
  };
  for (auto [place, index] : llvm::enumerate(access.getIndices())) {
    groups.emplace_back();
    OpFoldResult size;
    if (!type.isDynamicDim(place))
      size = host.getIndexAttr(type.getDimSize(place));
    // What a digit leaves of its dimension is cut off next.
    auto digits = getDigits(index, type.getDimSize(place));
    if (!digits) {
      add(access.getMap().getResult(place), size);
      continue;
    }
    const SmallVector<AccessTerm> &terms = *digits;
    isSame = false;
    OpFoldResult outer;
    if (type.isDynamicDim(place))
      outer =
          arith::DivUIOp::create(
              host, loc, memref::DimOp::create(host, loc, buffer, place),
              arith::ConstantIndexOp::create(host, loc, terms.front().factor))
              .getResult();
    else
      outer = host.getIndexAttr(type.getDimSize(place) / terms.front().factor);
    const SmallVector<int64_t> offsets = divideOffset(terms, index.offset);
    add(terms.front().getDigit(getContext()) + offsets.front(), outer);
    for (size_t i = 1; i < terms.size(); ++i)
      add(terms[i].getDigit(getContext()) + offsets[i],
          host.getIndexAttr(terms[i - 1].factor / terms[i].factor));
  }
  if (isSame)
    return;
  for (auto [place, group] : llvm::enumerate(groups))
    if (OpFoldResult &size = sizes[group.front()]; !size)
      size = materializeDim(host, loc, traceDim(buffer, place));
  buffer =
      memref::ExpandShapeOp::create(host, loc, shape, buffer, groups, sizes);
  setIndices(exprs);
}

/// One dimension for neighbours that are digits of one index, next to each
/// other in memory.
void ViewBuilder::collapse() {
  SmallVector<ReassociationIndices> groups;
  SmallVector<AffineExpr> exprs;
  SmallVector<AccessTerm> last;
  for (auto [place, index] : llvm::enumerate(access.getIndices())) {
    const AccessTerm *term = index.getTerm();
    const int64_t size = getType().getDimSize(place);
    bool joins = false;
    if (term && !groups.empty() && !last.empty()) {
      const AccessTerm &outer = last.back();
      joins = !term->isOperand && !outer.isOperand && term->dim == outer.dim &&
              term->factor == 1 && outer.factor == 1 && term->modulus != 0 &&
              term->modulus == size &&
              outer.divisor == term->divisor * term->modulus;
      if (joins) {
        SmallVector<ReassociationIndices> next(groups);
        next.back().push_back(place);
        for (int64_t rest = place + 1; rest < getType().getRank(); ++rest)
          next.push_back({rest});
        joins =
            memref::CollapseShapeOp::isGuaranteedCollapsible(getType(), next);
      }
      if (joins) {
        AccessTerm whole = *term;
        whole.modulus = outer.modulus == 0 ? 0 : outer.modulus * term->modulus;
        groups.back().push_back(place);
        exprs.back() = whole.getDigit(getContext());
        last = {whole};
      }
    }
    if (joins)
      continue;
    groups.push_back({static_cast<int64_t>(place)});
    exprs.push_back(access.getMap().getResult(place));
    last.clear();
    if (term)
      last.push_back(*term);
  }
  if (exprs.size() == access.getIndices().size())
    return;
  buffer = memref::CollapseShapeOp::create(host, loc, buffer, groups);
  setIndices(exprs);
}

/// The dimensions of rows in their order, then columns.
void ViewBuilder::order() {
  SmallVector<int64_t> dims;
  for (const AccessIndex &index : access.getIndices()) {
    const AccessTerm *term = index.getTerm();
    if (!term || !term->isWhole() || term->isOperand)
      return;
    dims.push_back(term->dim);
  }
  if (llvm::is_sorted(dims))
    return;
  // Groups of columns may lie anywhere.
  auto places = llvm::to_vector(llvm::seq<unsigned>(0, dims.size()));
  llvm::stable_sort(places,
                    [&](unsigned a, unsigned b) { return dims[a] < dims[b]; });
  SmallVector<AffineExpr> exprs;
  for (unsigned place : places)
    exprs.push_back(access.getMap().getResult(place));
  auto map = AffineMap::getPermutationMap(places, getContext());
  buffer =
      memref::TransposeOp::create(host, loc, buffer, AffineMapAttr::get(map));
  setIndices(exprs);
}

/// Whether columns are the last index, or lie side by side in front of
/// dimensions of one element, which lie nowhere.
bool ViewBuilder::areColumnsLast() const {
  if (access.hasColumnLast())
    return true;
  const unsigned column = access.getColumnDim();
  const int64_t place = access.getPlace(column);
  return place >= 0 && access.getDigits(column).size() == 1 &&
         getType().getStridesAndOffset().first[place] == 1 &&
         llvm::all_of(getType().getShape().drop_front(place + 1),
                      [](int64_t size) { return size == 1; });
}

View ViewBuilder::run() {
  cut();
  expand();
  // Of what was one dimension, too.
  cut();
  collapse();
  // Rows that are no whole number of an outer digit's.
  cut();
  if (!access.hasColumn() || areColumnsLast())
    order();
  return {buffer, access.getMap(), access.hasColumn()};
}

BlockArgument BufferViews::getArgument(const View &view) {
  for (auto &[known, argument] : arguments)
    if (known.buffer == view.buffer && known.map == view.map &&
        known.hasColumn == view.hasColumn)
      return argument;
  BlockArgument argument =
      rows.getBody().addArgument(view.buffer.getType(), view.buffer.getLoc());
  arguments.push_back({view, argument});
  return argument;
}

template <typename OpTy> void BufferViews::access(OpTy op, VectorType vector) {
  const AccessMap access = op.getAccess();
  Value buffer = rows.getOperandOf(op.getBase());
  const int64_t columns = getNumColumns(vector);
  auto [it, isNew] =
      views.try_emplace(std::make_tuple(buffer, access.getMap(),
                                        unsigned(access.hasColumn()), columns),
                        View());
  if (isNew)
    it->second = ViewBuilder(rows, host, buffer, access, columns).run();
  const View view = it->second;
  op.getBaseMutable().assign(getArgument(view));
  setAccess(op, view.map);
}

/// Makes the new arguments the buffers.
void BufferViews::setOperands() {
  Block &body = rows.getBody().front();
  const unsigned first = rows.getBuffers().getBeginOperandIndex();
  const unsigned old = rows.getBuffers().size();
  const unsigned scalars = rows.getScalars().size();
  SmallVector<Value> buffers;
  SmallVector<Attribute> accesses;
  SmallVector<BlockArgument> added;
  for (auto &[view, argument] : arguments) {
    buffers.push_back(view.buffer);
    accesses.push_back(AccessAttr::get(rows.getContext(), AccessKind::read,
                                       /*constant=*/false, /*alias=*/-1));
  }
  // In their place: after the sizes, in front of the scalars.
  for (auto [number, entry] : llvm::enumerate(arguments)) {
    BlockArgument argument = body.insertArgument(
        first + number, entry.second.getType(), entry.second.getLoc());
    entry.second.replaceAllUsesWith(argument);
  }
  const unsigned count = arguments.size();
  body.eraseArguments(first + count + old + scalars, count);
  body.eraseArguments(first + count, old);
  rows.getBuffersMutable().assign(buffers);
  rows.setAccessesAttr(host.getArrayAttr(accesses));
}

LogicalResult BufferViews::run() {
  rows.getBody().walk([&](Operation *op) {
    if (auto load = dyn_cast<TileLoadOp>(op)) {
      access(load, load.getType());
    } else if (auto store = dyn_cast<TileStoreOp>(op)) {
      access(store, cast<VectorType>(store.getValue().getType()));
    } else if (auto sum = dyn_cast<AccumulateOp>(op)) {
      for (OpOperand &operand : op->getOpOperands())
        if (isa<MemRefType>(operand.get().getType()))
          operand.set(getArgument({rows.getOperandOf(operand.get()),
                                   sum.getMap().value_or(AffineMap()),
                                   /*hasColumn=*/true}));
    }
  });
  setOperands();
  IRRewriter rewriter(rows.getContext());
  pruneOperands(rewriter, rows);
  // Views of one buffer may overlap; the first one names the class.
  SmallVector<Attribute> accesses;
  OperandRange buffers = rows.getBuffers();
  AliasAnalysis aliases(rows);
  llvm::IntEqClasses classes(buffers.size());
  for (size_t one = 0; one < buffers.size(); ++one)
    for (size_t other = 0; other < one; ++other)
      if (getRootBuffer(buffers[one]) == getRootBuffer(buffers[other]) &&
          !areDisjoint(buffers[one], buffers[other], aliases))
        classes.join(other, one);
  SmallVector<unsigned> sizes(buffers.size(), 0);
  for (size_t number = 0; number < buffers.size(); ++number)
    ++sizes[classes.findLeader(number)];
  for (auto [number, access] :
       llvm::enumerate(rows.getAccesses().getAsRange<AccessAttr>())) {
    Value buffer = buffers[number];
    const int64_t leader = classes.findLeader(number);
    const int64_t alias = sizes[leader] > 1 ? leader : -1;
    accesses.push_back(AccessAttr::get(rows.getContext(), access.getKind(),
                                       access.getKind() == AccessKind::read &&
                                           isConstantBuffer(buffer),
                                       alias));
  }
  rows.setAccessesAttr(host.getArrayAttr(accesses));
  sinkLastReductions(rows.getTiles().getBody().front());
  return success();
}

/// How many columns of the buffer that is the operand `use` have to lie side by
/// side in its last dimensions.
static int64_t countTogether(OpOperand &use) {
  auto count = [](const AccessMap &access, Value vector) -> int64_t {
    if (!access.hasColumn())
      return 0;
    const int64_t columns = getNumColumns(vector.getType());
    const int64_t run = access.getColumnRun(columns);
    return run != 0 && run != columns                           ? run
           : access.getDigits(access.getColumnDim()).size() > 1 ? columns
                                                                : 1;
  };
  Operation *op = use.getOwner();
  if (auto load = dyn_cast<TileLoadOp>(op))
    return count(load.getAccess(), load.getResult());
  auto store = dyn_cast<TileStoreOp>(op);
  if (!store)
    return isa<AccumulateOp>(op);
  // A store writes each group by itself.
  const AccessMap access = store.getAccess();
  return store.getKind() == TileKind::group && !access.hasColumnLast()
             ? 0
             : count(access, store.getValue());
}

/// Lets `rows` work on a packed copy of a buffer.
static void copyAround(RowsOp rows, OpOperand &operand, bool isWritten) {
  OpBuilder builder(rows);
  Location loc = rows.getLoc();
  Value buffer = operand.get();
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(memref::DimOp::create(builder, loc, buffer, dim));
  Value packed = memref::AllocOp::create(
      builder, loc,
      MemRefType::get(type.getShape(), type.getElementType(),
                      MemRefLayoutAttrInterface(), type.getMemorySpace()),
      sizes);
  // Also where it is only written: not all of it may be.
  memref::CopyOp::create(builder, loc, buffer, packed);
  operand.set(packed);
  rows.getBody()
      .getArgument(operand.getOperandNumber())
      .setType(packed.getType());
  builder.setInsertionPointAfter(rows);
  if (isWritten)
    memref::CopyOp::create(builder, loc, packed, buffer);
  memref::DeallocOp::create(builder, loc, packed);
}

/// Sees to it that the columns of all buffers lie side by side.
static LogicalResult packBuffers(RowsOp rows, bool copies) {
  for (OpOperand &operand : rows.getBuffersMutable()) {
    auto type = cast<MemRefType>(operand.get().getType());
    BlockArgument argument =
        rows.getBody().getArgument(operand.getOperandNumber());
    if (llvm::none_of(argument.getUses(), [&](OpOperand &use) {
          const int64_t columns = countTogether(use);
          return columns > 0 && liesApart(type, columns);
        }))
      continue;
    if (!copies) {
      InFlightDiagnostic error =
          rows.emitOpError("expected buffers with columns side by side in the "
                           "innermost dimensions, got ")
          << type;
      error.attachNote()
          << "one-shot-bufferize{function-boundary-type-conversion="
             "identity-layout-map} or bufferization.buffer_layout gives "
             "arguments such; rmsnorm-strided-buffers{pack} copies";
      return error;
    }
    copyAround(rows, operand, rows.getAccess(argument).writes());
  }
  return success();
}

namespace {
struct StridedBuffers final
    : rmsnorm::impl::StridedBuffersBase<StridedBuffers> {
  using StridedBuffersBase::StridedBuffersBase;

  void runOnOperation() override {
    for (RowsOp rows : getRows(getOperation())) {
      if (rows.hasTensors() || rows.getScheduleAttr())
        continue;
      if (failed(packBuffers(rows, pack)) || failed(BufferViews(rows).run()))
        return signalPassFailure();
    }
  }
};
} // namespace
