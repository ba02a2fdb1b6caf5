// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GeneralizeGathers.cpp - rmsnorm-generalize-gathers ----------------===//

#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Source/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_GENERALIZEGATHERS
#include "RMSNorm/Source/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;
using linalg::GenericOp;

/// Whether the body of `op` reads tensors beside its operands.
static bool gathers(GenericOp op) {
  return !op.getBlock()->getOps<tensor::ExtractOp>().empty();
}

/// `tensor` with the dimensions of `shape`, without ones of size 1: a slice, as
/// its rows may have any stride.
static Value dropUnitDims(OpBuilder &builder, Location loc, Value tensor,
                          ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getRank() == static_cast<int64_t>(shape.size()))
    return tensor;
  return tensor::createCanonicalRankReducingExtractSliceOp(
      builder, loc, tensor,
      RankedTensorType::get(shape, type.getElementType()));
}

/// A parallel op whose body reads the elements that the indices say.
static void generalize(RewriterBase &rewriter, tensor::GatherOp op) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  MLIRContext *context = op.getContext();
  Value indices = op.getIndices(), source = op.getSource();
  const int64_t batch = op.getIndicesType().getRank() - 1;
  const int64_t sourceRank = op.getSourceType().getRank();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, indices);
  SmallVector<AffineExpr> exprs;
  for (int64_t dim = 0; dim < batch; ++dim)
    exprs.push_back(getAffineDimExpr(dim, context));
  sizes.pop_back();
  for (int64_t dim = 0; dim < sourceRank; ++dim)
    if (!llvm::is_contained(op.getGatherDims(), dim))
      sizes.push_back(tensor::getMixedSize(rewriter, loc, source, dim));
  const int64_t loops = sizes.size();
  if (op.getIndicesType().getShape().back() == 1) {
    indices = dropUnitDims(rewriter, loc, indices,
                           op.getIndicesType().getShape().drop_back());
  }
  const bool hasNumbers = indices == op.getIndices();
  SmallVector<AffineMap> maps;
  for (size_t number = 0; number < op.getGatherDims().size(); ++number) {
    if (hasNumbers)
      exprs.push_back(getAffineConstantExpr(number, context));
    maps.push_back(AffineMap::get(loops, 0, exprs, context));
    exprs.truncate(batch);
  }
  SmallVector<Value> inputs(maps.size(), indices);
  maps.push_back(rewriter.getMultiDimIdentityMap(loops));
  Value empty = tensor::EmptyOp::create(rewriter, loc, sizes,
                                        op.getResultType().getElementType());
  Value result =
      GenericOp::create(
          rewriter, loc, empty.getType(), inputs, empty, maps,
          SmallVector<utils::IteratorType>(loops,
                                           utils::IteratorType::parallel),
          [&](OpBuilder &b, Location nested, ValueRange arguments) {
            SmallVector<Value> place;
            int64_t column = batch;
            for (int64_t dim = 0; dim < sourceRank; ++dim) {
              const auto *number = llvm::find(op.getGatherDims(), dim);
              if (number == op.getGatherDims().end()) {
                place.push_back(linalg::IndexOp::create(b, nested, column++));
                continue;
              }
              Value index = arguments[number - op.getGatherDims().begin()];
              if (!index.getType().isIndex())
                index = arith::IndexCastOp::create(b, nested, b.getIndexType(),
                                                   index);
              place.push_back(index);
            }
            linalg::YieldOp::create(
                b, nested,
                Value(tensor::ExtractOp::create(b, nested, source, place)));
          })
          .getResult(0);
  if (result.getType() != op.getResultType()) {
    // The gathered dimensions stand beside what is left, of size 1.
    auto type = cast<RankedTensorType>(result.getType());
    if (type.getRank() == op.getResultType().getRank()) {
      result =
          tensor::CastOp::create(rewriter, loc, op.getResultType(), result);
    } else {
      SmallVector<ReassociationIndices> groups(loops);
      for (int64_t dim = 0, group = -1; dim < batch + sourceRank; ++dim) {
        const bool isUnit =
            dim >= batch && llvm::is_contained(op.getGatherDims(), dim - batch);
        group += !isUnit;
        groups[std::max<int64_t>(group, 0)].push_back(dim);
      }
      result = tensor::ExpandShapeOp::create(rewriter, loc, op.getResultType(),
                                             result, groups);
    }
  }
  rewriter.replaceOp(op, result);
}

/// The same with an operand for each index, and no dimensions of size 1.
static void generalize(RewriterBase &rewriter, tensor::ScatterOp op) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  ArrayRef<int64_t> dims = op.getScatterDims();
  const RankedTensorType type = op.getIndicesType();
  const int64_t batch = type.getRank() - 1;
  SmallVector<OpFoldResult> offsets(batch + 1, rewriter.getIndexAttr(0)),
      strides(batch + 1, rewriter.getIndexAttr(1)),
      sizes = tensor::getMixedSizes(rewriter, loc, op.getIndices());
  sizes.back() = rewriter.getIndexAttr(1);
  SmallVector<Value> indices;
  for (size_t number = 0; number < dims.size(); ++number) {
    offsets.back() = rewriter.getIndexAttr(number);
    indices.push_back(tensor::ExtractSliceOp::create(
        rewriter, loc,
        RankedTensorType::get(type.getShape().drop_back(),
                              type.getElementType()),
        op.getIndices(), offsets, sizes, strides));
  }
  SmallVector<int64_t> shape(type.getShape().drop_back());
  for (int64_t dim = 0; dim < op.getDestType().getRank(); ++dim)
    if (!llvm::is_contained(dims, dim))
      shape.push_back(op.getDestType().getDimSize(dim));
  Value source = dropUnitDims(rewriter, loc, op.getSource(), shape);
  auto scatter = ScatterOp::create(rewriter, loc, op.getDestType(), source,
                                   op.getDest(), indices, dims,
                                   /*skip_negative=*/false);
  scatter->setAttr(RMSNormDialect::kElementwiseAttrName,
                   rewriter.getStringAttr(op->getName().getStringRef()));
  rewriter.replaceOp(op, scatter);
}

/// A tensor of which `extract` reads the element of each iteration becomes an
/// operand, of which that is the element.
static bool makeOperand(RewriterBase &rewriter, GenericOp op,
                        tensor::ExtractOp extract) {
  Value tensor = extract.getTensor();
  auto type = cast<RankedTensorType>(tensor.getType());
  if (tensor.getParentBlock() == op.getBlock())
    return false;
  SmallVector<AffineExpr> exprs;
  SmallVector<int64_t> loops;
  SmallVector<int64_t> kept;
  for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
    auto loop = index.getDefiningOp<linalg::IndexOp>();
    if (loop && !llvm::is_contained(loops, loop.getDim())) {
      loops.push_back(loop.getDim());
      exprs.push_back(rewriter.getAffineDimExpr(loop.getDim()));
      kept.push_back(type.getDimSize(dim));
    } else if (!isConstantIntValue(index, 0) || type.getDimSize(dim) != 1) {
      return false;
    }
  }
  // An operand is as large as the loops are long; a table may be larger.
  rewriter.setInsertionPoint(op);
  tensor = dropUnitDims(rewriter, op.getLoc(), tensor, kept);
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, op.getLoc(), tensor);
  bool isWhole = true;
  for (auto [dim, expr] : llvm::enumerate(exprs)) {
    for (OpOperand &operand : op->getOpOperands()) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      std::optional<unsigned> place = map.getResultPosition(expr);
      if (!place)
        continue;
      if (traceDim(operand.get(), *place) == traceDim(tensor, dim))
        break;
      sizes[dim] =
          tensor::getMixedSize(rewriter, op.getLoc(), operand.get(), *place);
      isWhole = false;
      break;
    }
  }
  if (!isWhole)
    tensor = tensor::ExtractSliceOp::create(
        rewriter, op.getLoc(), tensor,
        SmallVector<OpFoldResult>(exprs.size(), rewriter.getIndexAttr(0)),
        sizes,
        SmallVector<OpFoldResult>(exprs.size(), rewriter.getIndexAttr(1)));
  const unsigned number = op.getNumDpsInputs();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.insert(maps.begin() + number,
              AffineMap::get(op.getNumLoops(), 0, exprs, op.getContext()));
  rewriter.modifyOpInPlace(op, [&] {
    op.getInputsMutable().append(tensor);
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
  BlockArgument argument = op.getBlock()->insertArgument(
      number, extract.getType(), extract.getLoc());
  rewriter.replaceOp(extract, argument);
  return true;
}

static void simplifyBody(RewriterBase &rewriter, GenericOp op) {
  Block &body = *op.getBlock();
  for (auto extract :
       llvm::make_early_inc_range(body.getOps<tensor::ExtractOp>()))
    makeOperand(rewriter, op, extract);
  for (Operation &payload : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&payload))
      rewriter.eraseOp(&payload);
}

namespace {
struct GeneralizeGathers final
    : rmsnorm::impl::GeneralizeGathersBase<GeneralizeGathers> {
  using GeneralizeGathersBase::GeneralizeGathersBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    auto forEach = [&](auto type, auto visit) {
      SmallVector<decltype(type)> ops;
      getOperation()->walk([&](decltype(type) op) { ops.push_back(op); });
      for (auto op : ops)
        visit(rewriter, op);
    };
    auto change = [](RewriterBase &rewriter, auto op) {
      generalize(rewriter, op);
    };
    forEach(tensor::ScatterOp(), change);
    if (scattersOnly)
      return;
    forEach(tensor::GatherOp(), change);
    forEach(GenericOp(), [](RewriterBase &rewriter, GenericOp op) {
      if (op.hasPureTensorSemantics() && gathers(op))
        simplifyBody(rewriter, op);
    });
  }
};
} // namespace
