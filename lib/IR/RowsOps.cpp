// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowsOps.cpp - rows level ------------------------------------------===//

#include "AccessFormat.h"
#include "EnumFormat.h"

#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::rmsnorm;

#define GET_TYPEDEF_CLASSES
#include "RMSNorm/IR/RMSNormTypes.cpp.inc"

void RMSNormDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "RMSNorm/IR/RMSNormTypes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

Type SlotType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(element) || parser.parseGreater())
    return {};
  if (shape.size() < 2 || shape.size() > 6 || llvm::is_contained(shape, 0) ||
      !VectorType::isValidElementType(element)) {
    parser.emitError(loc) << "expected rows, columns and a scalar type";
    return {};
  }
  return SlotType::get(parser.getContext(), shape, element);
}

void SlotType::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printDimensionList(getShape());
  printer << 'x' << getElementType() << '>';
}

VectorType SlotType::getTile() const {
  return VectorType::get(getShape(), getElementType());
}

/// rows' `(4096)`, `(4096, %n)` or, of several digits, `[24, 2, 64]`.
static ParseResult
parseColumns(OpAsmParser &parser, DenseI64ArrayAttr &digits,
             std::optional<OpAsmParser::UnresolvedOperand> &dynamicColumns) {
  SmallVector<int64_t> sizes;
  auto parseOne = [&] { return parser.parseInteger(sizes.emplace_back()); };
  if (succeeded(parser.parseOptionalLParen())) {
    if (parseOne())
      return failure();
    if (succeeded(parser.parseOptionalComma()) &&
        parser.parseOperand(dynamicColumns.emplace()))
      return failure();
    if (parser.parseRParen())
      return failure();
  } else if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                            parseOne)) {
    return failure();
  }
  digits = parser.getBuilder().getDenseI64ArrayAttr(sizes);
  return success();
}

static void printColumns(OpAsmPrinter &printer, Operation *,
                         DenseI64ArrayAttr digits, Value dynamicColumns) {
  if (digits.size() != 1) {
    printer << " [";
    llvm::interleaveComma(digits.asArrayRef(), printer);
    printer << ']';
    return;
  }
  printer << '(' << digits[0];
  if (dynamicColumns)
    printer << ", " << dynamicColumns;
  printer << ')';
}

/// rows' `read constant %x : memref<...>, write alias(0) %y : memref<...>`.
static ParseResult
parseBuffers(OpAsmParser &parser,
             SmallVectorImpl<OpAsmParser::UnresolvedOperand> &buffers,
             SmallVectorImpl<Type> &types, ArrayAttr &accesses) {
  SmallVector<Attribute> parsed;
  auto parseOne = [&]() -> ParseResult {
    // There may be none; the format's parenthesis follows then.
    StringRef keyword;
    SMLoc loc = parser.getCurrentLocation();
    if (failed(parser.parseOptionalKeyword(&keyword)) && parsed.empty())
      return success();
    std::optional<AccessKind> kind = symbolizeAccessKind(keyword);
    if (!kind)
      return parser.emitError(loc, "expected read, write or update");
    bool constant = succeeded(parser.parseOptionalKeyword("constant"));
    int64_t alias = -1;
    if (succeeded(parser.parseOptionalKeyword("alias")) &&
        (parser.parseLParen() || parser.parseInteger(alias) ||
         parser.parseRParen()))
      return failure();
    parsed.push_back(
        AccessAttr::get(parser.getContext(), *kind, constant, alias));
    return failure(parser.parseOperand(buffers.emplace_back()) ||
                   parser.parseColonType(types.emplace_back()));
  };
  // The parentheses are the format's.
  if (parser.parseCommaSeparatedList(parseOne))
    return failure();
  accesses = parser.getBuilder().getArrayAttr(parsed);
  return success();
}

static void printBuffers(OpAsmPrinter &printer, Operation *,
                         OperandRange buffers, TypeRange types,
                         ArrayAttr accesses) {
  llvm::interleaveComma(
      llvm::zip(buffers, types, accesses.getAsRange<AccessAttr>()), printer,
      [&](auto one) {
        auto [buffer, type, access] = one;
        printer << stringifyAccessKind(access.getKind()) << ' ';
        if (access.getConstant())
          printer << "constant ";
        if (access.getAlias() >= 0)
          printer << "alias(" << access.getAlias() << ") ";
        printer << buffer << " : " << type;
      });
}

/// traverse's ` reduce(add, maximumf) `, nothing if there is no reduction.
static ParseResult parseReduceKinds(OpAsmParser &parser, ArrayAttr &kinds) {
  SmallVector<Attribute> parsed;
  auto parseOne = [&]() -> ParseResult {
    ReduceKindAttr kind;
    if (parseEnum(parser, kind))
      return failure();
    parsed.push_back(kind);
    return success();
  };
  if (succeeded(parser.parseOptionalKeyword("reduce")) &&
      parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseOne))
    return failure();
  kinds = parser.getBuilder().getArrayAttr(parsed);
  return success();
}

static void printReduceKinds(OpAsmPrinter &printer, Operation *,
                             ArrayAttr kinds) {
  if (kinds.empty())
    return;
  printer << " reduce(";
  llvm::interleaveComma(kinds.getAsRange<ReduceKindAttr>(), printer,
                        [&](ReduceKindAttr kind) {
                          printer << stringifyReduceKind(kind.getValue());
                        });
  printer << ')';
}

#define GET_OP_CLASSES
#include "RMSNorm/IR/RMSNormRowsOps.cpp.inc"

//===----------------------------------------------------------------------===//
// rows
//===----------------------------------------------------------------------===//

void RowsOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (auto [buffer, access] :
       llvm::zip(getBuffersMutable(), getAccesses().getAsRange<AccessAttr>())) {
    if (hasTensors())
      break;
    if (access.reads())
      effects.emplace_back(MemoryEffects::Read::get(), &buffer);
    if (access.writes())
      effects.emplace_back(MemoryEffects::Write::get(), &buffer);
  }
  // The partial sums are new memory, freed with the launch's workspace.
  for (OpResult result : getPartials())
    effects.emplace_back(MemoryEffects::Allocate::get(), result);
}

bool RowsOp::hasTensors() {
  return llvm::any_of(getBuffers().getTypes(), llvm::IsaPred<TensorType>);
}

Type RowsOp::getArgumentType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? MemRefType::get(tensor.getShape(), tensor.getElementType())
                : type;
}

SmallVector<OpOperand *> RowsOp::getWritten() {
  SmallVector<OpOperand *> written;
  for (auto [buffer, access] :
       llvm::zip(getBuffersMutable(), getAccesses().getAsRange<AccessAttr>()))
    if (access.writes())
      written.push_back(&buffer);
  return written;
}

ResultRange RowsOp::getPartials() {
  return getResults().take_front(hasTensors() ? 0 : getNumResults());
}

SmallVector<OpFoldResult> RowsOp::getMixedSizes() {
  Builder builder(getContext());
  return getMixedValues(getStaticSizes(), getSizes(), builder);
}

bool RowsOp::hasSingleRow() {
  return llvm::all_of(getMixedSizes(), isOneInteger);
}

/// The product of `sizes`.
static Value createProduct(OpBuilder &builder, Location loc,
                           ArrayRef<OpFoldResult> sizes) {
  Value product;
  for (OpFoldResult size : sizes) {
    Value one = getValueOrCreateConstantIndexOp(builder, loc, size);
    product = product ? arith::MulIOp::create(builder, loc, product, one) : one;
  }
  return product ? product : arith::ConstantIndexOp::create(builder, loc, 1);
}

int64_t RowsOp::getColumns() { return ShapedType::getNumElements(getDigits()); }

Value RowsOp::createNumRows(OpBuilder &builder) {
  Value rows = createProduct(builder, getLoc(), getMixedSizes());
  // A caller's buffer that counts rows by sizes of its own may have fewer.
  getBody().walk([&](TileStoreOp store) {
    const AccessMap access = store.getAccess();
    if (access.isPlain() || access.getNumRowDims() == 0 ||
        !store.getIndices().empty())
      return;
    Value buffer = getOperandOf(store.getBase());
    auto type = cast<MemRefType>(buffer.getType());
    // The rows for one step of the outermost digit.
    const AccessMap::Digit first = access.getDigits(0).back();
    ArrayRef<int64_t> rest = getStaticSizes().drop_front();
    const bool isCounted = access.getNumRowDims() != getStaticSizes().size();
    if ((!isCounted && ShapedType::isDynamicShape(rest)) ||
        (!type.isDynamicDim(first.place) &&
         !ShapedType::isDynamicShape(getStaticSizes())))
      return;
    const int64_t inner =
        first.divisor * (isCounted ? 1 : ShapedType::getNumElements(rest));
    if (traceDim(buffer, first.place) == traceSize(getMixedSizes().front()) &&
        !ShapedType::isDynamicShape(rest) &&
        inner == ShapedType::getNumElements(rest))
      return;
    Value count = getValueOrCreateConstantIndexOp(
        builder, getLoc(),
        materializeDim(builder, getLoc(), traceDim(buffer, first.place)));
    Value each = arith::ConstantIndexOp::create(builder, getLoc(), inner);
    rows = arith::MinUIOp::create(
        builder, getLoc(), rows,
        arith::MulIOp::create(builder, getLoc(), count, each));
  });
  return rows;
}

bool RowsOp::keepsRowsTogether(ArrayRef<int64_t> dims) {
  const int64_t sizes = getStaticSizes().size(), kept = dims.size();
  auto isFrom = [&](int64_t first) {
    return llvm::equal(dims, llvm::seq<int64_t>(first, first + kept));
  };
  return kept == 0 || (kept < sizes && (isFrom(0) || isFrom(sizes - kept)));
}

Value RowsOp::createNumSegments(OpBuilder &builder) {
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim : getSegments())
    sizes.push_back(getMixedSizes()[dim]);
  return createProduct(builder, getLoc(), sizes);
}

Value RowsOp::createSegmentRows(OpBuilder &builder) {
  if (getSegments().empty())
    return createNumRows(builder);
  SmallVector<OpFoldResult> sizes;
  for (auto [dim, size] : llvm::enumerate(getMixedSizes()))
    if (!llvm::is_contained(getSegments(), static_cast<int64_t>(dim)))
      sizes.push_back(size);
  return createProduct(builder, getLoc(), sizes);
}

Value RowsOp::getColumnsArgument() {
  return getDynamicColumns() ? Value(getBody().getArgument(getSizes().size()))
                             : Value();
}

MutableArrayRef<BlockArgument> RowsOp::getBufferArguments() {
  return getBody().getArguments().slice(
      getSizes().size() + (getDynamicColumns() ? 1 : 0), getBuffers().size());
}

AccessAttr RowsOp::getAccess(Value buffer) {
  const size_t index = cast<BlockArgument>(buffer).getArgNumber() -
                       getBufferArguments().front().getArgNumber();
  return cast<AccessAttr>(getAccesses()[index]);
}

Value RowsOp::getOperandOf(Value argument) {
  return getOperand(cast<BlockArgument>(argument).getArgNumber());
}

bool RowsOp::mayAlias(Value one, Value other) {
  return one == other ||
         (getAccess(one).getAlias() >= 0 &&
          getAccess(one).getAlias() == getAccess(other).getAlias());
}

TilesOp RowsOp::getTiles() {
  auto tiles = getBody().getOps<TilesOp>();
  return tiles.empty() ? TilesOp() : *tiles.begin();
}

FailureOr<ScheduleAttr> RowsOp::getRequiredSchedule() {
  if (ScheduleAttr schedule = getScheduleAttr())
    return schedule;
  InFlightDiagnostic error = emitOpError("expected a schedule");
  error.attachNote() << "rmsnorm-select-schedule sets it";
  return error;
}

SmallVector<int64_t> SumStoreOp::getDims() {
  return AccessMap::getSumDims(getMap());
}

//===----------------------------------------------------------------------===//
// traverse
//===----------------------------------------------------------------------===//

YieldOp TraverseOp::getYield() {
  return cast<YieldOp>(getBody().front().back());
}

/// An accumulator is used by what adds to it first, in a traverse or not.
ReduceKind TilesOp::getSumKind(unsigned index) {
  for (Operation *user : getAccumulators()[index].getUsers())
    if (auto sum = dyn_cast<AccumulateOp>(user))
      return sum.getKind();
  return ReduceKind::add;
}

ReduceKind TraverseOp::getKind(int64_t index) {
  return cast<ReduceKindAttr>(getKinds()[index]).getValue();
}

OperandRange TraverseOp::getReduced() {
  return getYield().getValues().take_front(getNumReductions());
}

OperandRange TraverseOp::getHeld() {
  return getYield().getValues().drop_front(getNumReductions());
}

namespace {
/// Drops the results of a traverse that nobody uses.
struct DropDeadResults final : OpRewritePattern<TraverseOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TraverseOp op,
                                PatternRewriter &rewriter) const override {
    if (llvm::none_of(op.getResults(),
                      [](Value result) { return result.use_empty(); }))
      return rewriter.notifyMatchFailure(op, "all results are used");
    SmallVector<Attribute> kinds;
    SmallVector<Value> yielded, live;
    for (auto [index, result] : llvm::enumerate(op.getResults())) {
      if (result.use_empty())
        continue;
      if (static_cast<int64_t>(index) < op.getNumReductions())
        kinds.push_back(op.getKinds()[index]);
      yielded.push_back(op.getYield().getValues()[index]);
      live.push_back(result);
    }
    auto slim = TraverseOp::create(
        rewriter, op.getLoc(), TypeRange(ValueRange(live)), op.getWalk(),
        op.getInFlight(), op.getOrder(), rewriter.getArrayAttr(kinds));
    rewriter.modifyOpInPlace(op.getYield(), [&] {
      op.getYield().getValuesMutable().assign(yielded);
    });
    rewriter.inlineRegionBefore(op.getBody(), slim.getBody(),
                                slim.getBody().end());
    for (auto [result, replacement] : llvm::zip(live, slim.getResults()))
      rewriter.replaceAllUsesWith(result, replacement);
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void TraverseOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *context) {
  patterns.add<DropDeadResults>(context);
}
