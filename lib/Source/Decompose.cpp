// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Decompose.cpp - rmsnorm-decompose ---------------------------------===//

#include "RMSNorm/Source/Decompose.h"

#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Source/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_DECOMPOSE
#include "RMSNorm/Source/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {

/// The scalar formulas of a norm, in f32.
class NormFormulas {
public:
  NormFormulas(Location loc, FloatType input, Casting casting)
      : loc(loc), input(input), casting(casting) {}

  Value constant(OpBuilder &b, const APFloat &value) const {
    return arith::ConstantOp::create(b, loc,
                                     b.getFloatAttr(b.getF32Type(), value));
  }

  Value extend(OpBuilder &b, Value value) const {
    if (value.getType().isF32())
      return value;
    return arith::ExtFOp::create(b, loc, b.getF32Type(), value);
  }

  /// `value` in the element type of a result.
  Value convert(OpBuilder &b, Value value, Type type) const {
    if (value.getType() == type)
      return value;
    return arith::TruncFOp::create(b, loc, type, value);
  }

  /// round_T.
  Value round(OpBuilder &b, Value value) const {
    return extend(b, convert(b, value, input));
  }

  /// round_T where `none` rounds and the other modes do not.
  Value step(OpBuilder &b, Value value) const {
    return casting == Casting::none ? round(b, value) : value;
  }

  Value mul(OpBuilder &b, Value x, Value y) const {
    return step(b, arith::MulFOp::create(b, loc, x, y));
  }

  /// `sum` / N. `size` is N, or 1/N if `isInverse`.
  Value mean(OpBuilder &b, Value sum, Value size, bool isInverse) const {
    return step(b, isInverse
                       ? arith::MulFOp::create(b, loc, sum, size).getResult()
                       : arith::DivFOp::create(b, loc, sum, size).getResult());
  }

  /// rstd of a row whose squares have this mean.
  Value rstd(OpBuilder &b, Value mean, const APFloat &eps) const {
    Value ms = step(b, arith::AddFOp::create(b, loc, mean, constant(b, eps)));
    return step(b, math::RsqrtOp::create(b, loc, ms));
  }

  /// w' = weight + offset.
  Value weight(OpBuilder &b, Value weight, const APFloat &offset) const {
    Value value = extend(b, weight);
    if (!offset.isZero())
      value = arith::AddFOp::create(b, loc, value, constant(b, offset));
    return step(b, value);
  }

  Location loc;
  FloatType input;
  Casting casting;
};

/// What the two ops have in common: their shape, and generics over it.
class NormBuilder {
public:
  using Body = function_ref<SmallVector<Value>(OpBuilder &, ValueRange)>;

  /// `base` is an init of the shape of input.
  NormBuilder(RewriterBase &b, const NormFormulas &math, Value base)
      : math(math), b(b), loc(math.loc),
        sizes(tensor::getMixedSizes(b, loc, base)),
        rank(static_cast<unsigned>(sizes.size())) {}

  unsigned getRank() const { return rank; }

  /// sum / N for each row; `yield` makes the results of it.
  SmallVector<Value>
  perRowMean(Value sum, ValueRange inits,
             function_ref<SmallVector<Value>(OpBuilder &, Value mean)> yield) {
    std::optional<int64_t> columns = getConstantIntValue(sizes.back());
    Value size;
    if (columns) {
      APFloat inverse(1.0f);
      inverse.divide(APFloat(APFloat::IEEEsingle(), *columns),
                     APFloat::rmNearestTiesToEven);
      size = math.constant(b, inverse);
    } else {
      // A row has no more columns than 32 bits count (kMaxColumns).
      Value number = getValueOrCreateConstantIndexOp(b, loc, sizes.back());
      number = arith::IndexCastOp::create(b, loc, b.getI32Type(), number);
      size = arith::SIToFPOp::create(b, loc, b.getF32Type(), number);
    }
    return perRow(sum, inits, [&](OpBuilder &b, ValueRange args) {
      return yield(b, math.mean(b, args[0], size, columns.has_value()));
    });
  }

  Value emptyPerRow() { return empty(ArrayRef(sizes).drop_back()); }
  Value zeroPerRow() { return fillZero(emptyPerRow()); }
  Value zeroPerColumn() { return fillZero(empty(ArrayRef(sizes).take_back())); }
  /// `init`, of f32, filled with zeros.
  Value fillZero(Value init) {
    Value zero = math.constant(b, APFloat(0.0f));
    return linalg::FillOp::create(b, loc, zero, init).getResult(0);
  }

  /// A generic over the elements of input. Operands are of its shape, per row
  /// or per column as their kind says, of the kinds 'e', 'r', 'c'. The body
  /// gets inputs and inits. Dimensions missing in all inits are reductions.
  SmallVector<Value> perElement(ValueRange inputs, StringRef inputKinds,
                                ValueRange inits, StringRef initKinds,
                                Body body) {
    SmallVector<AffineMap> maps;
    for (char kind : (inputKinds + initKinds).str())
      maps.push_back(getMap(kind));
    SmallVector<utils::IteratorType> iterators(rank,
                                               utils::IteratorType::parallel);
    if (initKinds == "r")
      iterators.back() = utils::IteratorType::reduction;
    if (initKinds == "c")
      std::fill(iterators.begin(), iterators.end() - 1,
                utils::IteratorType::reduction);
    return generic(inputs, inits, maps, iterators, body);
  }

  /// A generic over a tensor of `dims` dimensions.
  SmallVector<Value> pointwise(int64_t dims, ValueRange inputs,
                               ValueRange inits, Body body) {
    SmallVector<AffineMap> maps(inputs.size() + inits.size(),
                                b.getMultiDimIdentityMap(dims));
    SmallVector<utils::IteratorType> iterators(dims,
                                               utils::IteratorType::parallel);
    return generic(inputs, inits, maps, iterators, body);
  }
  SmallVector<Value> perRow(ValueRange inputs, ValueRange inits, Body body) {
    return pointwise(rank - 1, inputs, inits, body);
  }

  /// rstd in f32, from the input. `rstd`, if not null, is the
  /// init of the forward's second result, whose value is added to `results`.
  Value computeRstd(Value input, const APFloat &eps, Value rstd,
                    SmallVectorImpl<Value> &results) {
    Value sum = perElement(
        input, "e", zeroPerRow(), "r", [&](OpBuilder &b, ValueRange args) {
          Value x = math.extend(b, args[0]);
          Value square = math.mul(b, x, x);
          return SmallVector<Value>{
              arith::AddFOp::create(b, loc, args[1], square)};
        })[0];
    SmallVector<Value> inits{emptyPerRow()};
    if (rstd)
      inits.push_back(rstd);
    SmallVector<Value> rows =
        perRowMean(sum, inits, [&](OpBuilder &b, Value mean) {
          SmallVector<Value> yield{math.rstd(b, mean, eps)};
          if (rstd)
            yield.push_back(math.convert(b, yield[0], b.getF32Type()));
          return yield;
        });
    results.append(rows.begin() + 1, rows.end());
    return rows[0];
  }

  const NormFormulas &math;

private:
  AffineMap getMap(char kind) {
    AffineMap all = b.getMultiDimIdentityMap(rank);
    if (kind == 'e')
      return all;
    ArrayRef<AffineExpr> dims = all.getResults();
    return AffineMap::get(rank, 0,
                          kind == 'r' ? dims.drop_back() : dims.take_back(),
                          b.getContext());
  }

  SmallVector<Value> generic(ValueRange inputs, ValueRange inits,
                             ArrayRef<AffineMap> maps,
                             ArrayRef<utils::IteratorType> iterators,
                             Body body) {
    auto op = linalg::GenericOp::create(
        b, loc, TypeRange(inits), inputs, inits, maps, iterators,
        [&](OpBuilder &nested, Location nestedLoc, ValueRange args) {
          linalg::YieldOp::create(nested, nestedLoc, body(nested, args));
        });
    return SmallVector<Value>(op->getResults());
  }

  Value empty(ArrayRef<OpFoldResult> shape) {
    return tensor::EmptyOp::create(b, loc, shape, b.getF32Type());
  }
  RewriterBase &b;
  Location loc;
  SmallVector<OpFoldResult> sizes;
  unsigned rank;
};

SmallVector<Value> decompose(ForwardOp op, RewriterBase &rewriter,
                             const NormFormulas &math) {
  NormBuilder norm(rewriter, math, op.getOutput());
  SmallVector<Value> results(1);
  Value rstd =
      norm.computeRstd(op.getInput(), op.getEps(), op.getRstd(), results);
  SmallVector<Value> inputs{op.getInput(), rstd};
  if (op.getWeight())
    inputs.push_back(op.getWeight());
  Type type = getElementTypeOrSelf(op.getOutput());
  results[0] = norm.perElement(
      inputs, op.getWeight() ? "erc" : "er", op.getOutput(), "e",
      [&](OpBuilder &b, ValueRange args) {
        Value y = math.mul(b, math.extend(b, args[0]), args[1]);
        if (math.casting == Casting::llama)
          y = math.round(b, y);
        if (op.getWeight())
          y = math.mul(b, y, math.weight(b, args[2], op.getOffset()));
        return SmallVector<Value>{math.convert(b, y, type)};
      })[0];
  return results;
}

SmallVector<Value> decompose(BackwardOp op, RewriterBase &rewriter,
                             const NormFormulas &math) {
  NormBuilder norm(rewriter, math, op.getDx());
  Location loc = op.getLoc();
  SmallVector<Value> results;
  Value rstd = op.getRstd();
  if (!rstd)
    rstd = norm.computeRstd(op.getInput(), op.getEps(), Value(), results);

  // What was given may be finer than `none` computes with.
  auto rstdOf = [&](OpBuilder &b, Value rstd) {
    rstd = math.extend(b, rstd);
    return op.getRstd() ? math.step(b, rstd) : rstd;
  };
  // dy, or g if there is a weight.
  bool roundsDy = getElementTypeOrSelf(op.getDy()) != math.input;
  auto gradient = [&](OpBuilder &b, Value dy, Value weight) {
    Value value = math.extend(b, dy);
    if (roundsDy)
      value = math.step(b, value);
    if (!weight)
      return value;
    return math.mul(b, value, math.weight(b, weight, op.getOffset()));
  };

  SmallVector<Value> inputs{op.getDy(), op.getInput(), rstd};
  if (op.getWeight())
    inputs.push_back(op.getWeight());
  StringRef kinds = op.getWeight() ? "eerc" : "eer";
  auto weightOf = [&](ValueRange args) {
    return op.getWeight() ? args[3] : Value();
  };
  Value sum = norm.perElement(inputs, kinds, norm.zeroPerRow(), "r",
                              [&](OpBuilder &b, ValueRange args) {
                                Value x = math.extend(b, args[1]);
                                Value g = gradient(b, args[0], weightOf(args));
                                Value xhat = math.mul(b, x, rstdOf(b, args[2]));
                                Value product = math.mul(b, g, xhat);
                                return SmallVector<Value>{arith::AddFOp::create(
                                    b, loc, args.back(), product)};
                              })[0];
  Value mean =
      norm.perRowMean(sum, norm.emptyPerRow(), [&](OpBuilder &, Value mean) {
        return SmallVector<Value>{mean};
      })[0];

  // Before dx, which may take the place of what this reads. Summed in f32.
  // Where that is dweight's own, the sum must stand in dweight: a copy into it
  // would be folded away.
  Value total;
  if (op.getDweight()) {
    Type dwType = getElementTypeOrSelf(op.getDweight());
    bool inPlace = dwType.isF32();
    Value zero =
        inPlace ? norm.fillZero(op.getDweight()) : norm.zeroPerColumn();
    total = norm.perElement(ArrayRef(inputs).take_front(3), "eer", zero, "c",
                            [&](OpBuilder &b, ValueRange args) {
                              Value x = math.extend(b, args[1]);
                              Value dy = gradient(b, args[0], Value());
                              Value xhat = math.mul(b, x, rstdOf(b, args[2]));
                              if (math.casting == Casting::llama)
                                xhat = math.round(b, xhat);
                              Value product = math.mul(b, dy, xhat);
                              // A single row is no sum.
                              if (norm.getRank() > 1)
                                product = arith::AddFOp::create(b, loc, args[3],
                                                                product);
                              return SmallVector<Value>{product};
                            })[0];
    if (!inPlace)
      total = norm.pointwise(
          1, total, op.getDweight(), [&](OpBuilder &b, ValueRange args) {
            return SmallVector<Value>{math.convert(b, args[0], dwType)};
          })[0];
  }

  inputs.push_back(mean);
  Type dxType = getElementTypeOrSelf(op.getDx());
  results.push_back(norm.perElement(
      inputs, (kinds + "r").str(), op.getDx(), "e",
      [&](OpBuilder &b, ValueRange args) {
        Value x = math.extend(b, args[1]);
        Value g = gradient(b, args[0], weightOf(args));
        Value rstd = rstdOf(b, args[2]);
        Value xhat = math.mul(b, x, rstd);
        Value along = math.mul(b, xhat, args[inputs.size() - 1]);
        Value rest = math.step(b, arith::SubFOp::create(b, loc, g, along));
        Value dx = math.mul(b, rest, rstd);
        return SmallVector<Value>{math.convert(b, dx, dxType)};
      })[0]);
  if (total)
    results.push_back(total);
  return results;
}

template <typename OpTy>
SmallVector<Value> decomposeOp(OpTy op, RewriterBase &rewriter) {
  NormFormulas math(op.getLoc(),
                    cast<FloatType>(getElementTypeOrSelf(op.getInput())),
                    op.getCasting());
  return decompose(op, rewriter, math);
}

struct Decompose final : rmsnorm::impl::DecomposeBase<Decompose> {
  using DecomposeBase::DecomposeBase;

  void runOnOperation() override {
    SmallVector<DestinationStyleOpInterface> norms;
    SmallVector<ScatterOp> scatters;
    WalkResult walk = getOperation()->walk([&](Operation *op) {
      if (auto scatter = dyn_cast<ScatterOp>(op))
        scatters.push_back(scatter);
      if (!isa<ForwardOp, BackwardOp>(op) || scattersOnly)
        return WalkResult::advance();
      norms.push_back(cast<DestinationStyleOpInterface>(op));
      if (norms.back().hasPureTensorSemantics())
        return WalkResult::advance();
      op->emitOpError("expected tensors, got ")
          << op->getOperand(0).getType()
          << "; rmsnorm-decompose runs before bufferization";
      return WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      return signalPassFailure();

    IRRewriter rewriter(&getContext());
    for (Operation *norm : norms) {
      rewriter.setInsertionPoint(norm);
      rewriter.replaceOp(norm, decomposeNorm(rewriter, norm));
    }
    for (ScatterOp scatter : scatters) {
      rewriter.setInsertionPoint(scatter);
      rewriter.replaceOp(scatter, decomposeScatter(rewriter, scatter));
    }
  }
};

} // namespace

SmallVector<Value> rmsnorm::decomposeNorm(RewriterBase &rewriter,
                                          Operation *norm) {
  if (auto op = dyn_cast<ForwardOp>(norm))
    return decomposeOp(op, rewriter);
  return decomposeOp(cast<BackwardOp>(norm), rewriter);
}

Value rmsnorm::decomposeScatter(RewriterBase &rewriter, ScatterOp op) {
  OpBuilder::InsertionGuard guard(rewriter);
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  b.setInsertionPoint(rewriter.getInsertionBlock(),
                      rewriter.getInsertionPoint());
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value source = op.getSource(), dest = op.getDest();
  SmallVector<scf::ForOp> loops;
  auto enter = [&](Value count) {
    loops.push_back(scf::ForOp::create(b, zero, count, one, dest));
    b.setInsertionPointToStart(loops.back().getBody());
    dest = loops.back().getRegionIterArg(0);
  };
  SmallVector<Value> slice;
  for (int64_t dim = 0; dim < op.getNumBatchDims(); ++dim) {
    enter(tensor::DimOp::create(b, source, dim));
    slice.push_back(loops.back().getInductionVar());
  }
  // How often it is stored: once where all indices are those of an element,
  // else never.
  SmallVector<OpFoldResult> target, sizes;
  Value count = one;
  const SmallVector<OpFoldResult> all =
      tensor::getMixedSizes(b, b.getLoc(), dest);
  size_t number = 0;
  for (auto [dim, size] : llvm::enumerate(all)) {
    if (!op.isIndexed(dim)) {
      target.push_back(b.getIndexAttr(0));
      sizes.push_back(size);
      continue;
    }
    Value index =
        tensor::ExtractOp::create(b, op.getIndices()[number++], slice);
    if (!index.getType().isIndex())
      index = arith::IndexCastOp::create(b, b.getIndexType(), index);
    target.push_back(index);
    sizes.push_back(b.getIndexAttr(1));
    Value end = getValueOrCreateConstantIndexOp(b, b.getLoc(), size);
    for (Value left : {arith::AddIOp::create(b, index, one).getResult(),
                       arith::SubIOp::create(b, end, index).getResult()}) {
      Value isInside =
          arith::MinSIOp::create(b, arith::MaxSIOp::create(b, left, zero), one);
      count = arith::MulIOp::create(b, count, isInside);
    }
  }
  enter(count);
  // Of the sizes of `dest`, which may say more than those of the source.
  const RankedTensorType type = op.getSource().getType();
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0)),
      ownSizes(slice.size(), b.getIndexAttr(1));
  for (auto [dim, index] : llvm::enumerate(slice))
    offsets[dim] = index;
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(all))
    if (!op.isIndexed(dim)) {
      ownSizes.push_back(size);
      shape.push_back(op.getDest().getType().getDimSize(dim));
    }
  Value stored = tensor::ExtractSliceOp::create(
      b, RankedTensorType::get(shape, type.getElementType()), source, offsets,
      ownSizes, SmallVector<OpFoldResult>(offsets.size(), b.getIndexAttr(1)));
  Value result = tensor::InsertSliceOp::create(
      b, stored, dest, target, sizes,
      SmallVector<OpFoldResult>(target.size(), b.getIndexAttr(1)));
  for (scf::ForOp loop : llvm::reverse(loops)) {
    b.setInsertionPointToEnd(loop.getBody());
    scf::YieldOp::create(b, result);
    result = loop.getResult(0);
  }
  return result;
}
