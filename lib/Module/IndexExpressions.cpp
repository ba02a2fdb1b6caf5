// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IndexExpressions.cpp - index arithmetic of a host function --------===//

#include "IndexExpressions.h"

#include "RMSNorm/IR/DimTrace.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using rmsn::ExpressionOpcode;

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Expression rmsnorm::constantExpression(int64_t value) {
  return {rmsn::ExpressionOp(value, ExpressionOpcode::Constant, 0, 0)};
}

Expression rmsnorm::sizeExpression(unsigned argument, unsigned dimension) {
  return {rmsn::ExpressionOp(0, ExpressionOpcode::Size, dimension, argument)};
}

Expression rmsnorm::strideExpression(unsigned argument, unsigned dimension) {
  return {rmsn::ExpressionOp(0, ExpressionOpcode::Stride, dimension, argument)};
}

Expression rmsnorm::binaryExpression(ExpressionOpcode opcode, Expression lhs,
                                     const Expression &rhs) {
  lhs.insert(lhs.end(), rhs.begin(), rhs.end());
  lhs.push_back(rmsn::ExpressionOp(0, opcode, 0, 0));
  return lhs;
}

FailureOr<Expression> rmsnorm::affineExpression(
    AffineExpr expr, function_ref<FailureOr<Expression>(AffineExpr)> leaf) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary) {
    auto constant = dyn_cast<AffineConstantExpr>(expr);
    return constant ? constantExpression(constant.getValue()) : leaf(expr);
  }
  AffineExpr second = binary.getRHS();
  // a - b is a + b * -1.
  auto factor = dyn_cast<AffineBinaryOpExpr>(second);
  const bool isDifference = expr.getKind() == AffineExprKind::Add && factor &&
                            factor.getKind() == AffineExprKind::Mul &&
                            factor.getRHS() == -1;
  if (isDifference)
    second = factor.getLHS();
  FailureOr<Expression> lhs = affineExpression(binary.getLHS(), leaf);
  if (failed(lhs))
    return failure();
  FailureOr<Expression> rhs = affineExpression(second, leaf);
  if (failed(rhs))
    return failure();
  ExpressionOpcode opcode;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    opcode = isDifference ? ExpressionOpcode::Sub : ExpressionOpcode::Add;
    break;
  case AffineExprKind::Mul:
    opcode = ExpressionOpcode::Mul;
    break;
  case AffineExprKind::Mod:
    opcode = ExpressionOpcode::Rem;
    break;
  case AffineExprKind::FloorDiv:
    opcode = ExpressionOpcode::FloorDiv;
    break;
  default:
    opcode = ExpressionOpcode::CeilDiv;
    break;
  }
  return binaryExpression(opcode, *lhs, *rhs);
}

std::unique_ptr<rmsn::ExpressionT> rmsnorm::pack(Expression expression) {
  if (expression.empty())
    return nullptr;
  auto packed = std::make_unique<rmsn::ExpressionT>();
  packed->ops = std::move(expression);
  return packed;
}

LogicalResult rmsnorm::checkExpression(const Expression &expression,
                                       Location loc) {
  if (expression.size() > rmsn::kMaxExpressionOps)
    return emitError(loc, "expected an index expression of at most ")
           << rmsn::kMaxExpressionOps << " operations, got "
           << expression.size();
  size_t depth = 0, deepest = 0;
  for (const rmsn::ExpressionOp &op : expression) {
    bool isLeaf = op.opcode() <= ExpressionOpcode::DeviceAttribute;
    depth = isLeaf ? depth + 1 : depth - 1;
    deepest = std::max(depth, deepest);
  }
  if (deepest > rmsn::kMaxExpressionStack)
    return emitError(loc, "expected an index expression of at most ")
           << rmsn::kMaxExpressionStack << " values at a time, got " << deepest;
  return success();
}

//===----------------------------------------------------------------------===//
// IndexExpressions
//===----------------------------------------------------------------------===//

FailureOr<Expression> IndexExpressions::getByteOffset(Value buffer) {
  auto view = buffer.getDefiningOp<memref::ReinterpretCastOp>();
  if (!view || isZeroInteger(view.getMixedOffsets().front()))
    return Expression();
  FailureOr<Expression> offset = evaluate(view.getMixedOffsets().front());
  if (failed(offset))
    return failure();
  // An i1 takes a byte.
  const auto type = cast<MemRefType>(buffer.getType());
  const int64_t bits =
      type.getElementType().isInteger(1) ? 8 : type.getElementTypeBitWidth();
  if (bits % 8 != 0)
    return view.emitError("expected a view of elements of whole bytes, got ")
           << buffer.getType();
  return binaryExpression(ExpressionOpcode::Mul, *offset,
                          constantExpression(bits / 8));
}

bool IndexExpressions::isKnown(Operation *op) {
  return isa<memref::DimOp, memref::ExtractStridedMetadataOp,
             memref::ReinterpretCastOp, MultiprocessorCountOp,
             ResidentClustersOp, affine::AffineApplyOp, affine::AffineMinOp,
             affine::AffineMaxOp>(op) ||
         isa_and_present<arith::ArithDialect>(op->getDialect());
}

bool IndexExpressions::bindClusters(ResidentClustersOp clusters,
                                    unsigned launch) {
  return launchOfClusters.try_emplace(clusters, launch).second;
}

FailureOr<unsigned> IndexExpressions::getArgument(Value buffer,
                                                  Operation *user) {
  while (
      isa_and_present<memref::ReinterpretCastOp,
                      memref::ExtractStridedMetadataOp>(buffer.getDefiningOp()))
    buffer = buffer.getDefiningOp()->getOperand(0);
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    return argument.getArgNumber();
  return user->emitOpError("expected an argument of the function or a "
                           "workspace as buffer, got the result of '")
         << buffer.getDefiningOp()->getName()
         << "': a module has no other buffers";
}

FailureOr<Expression> IndexExpressions::getSize(Value buffer, int64_t dim,
                                                Operation *user) {
  if (auto workspace = buffer.getDefiningOp<WorkspaceOp>())
    return evaluate(workspace.getMixedSize(dim));
  if (auto view = buffer.getDefiningOp<memref::ReinterpretCastOp>())
    return evaluate(view.getMixedSizes()[dim]);
  if (auto view = buffer.getDefiningOp<memref::ExpandShapeOp>())
    return evaluate(view.getMixedOutputShape()[dim]);
  FailureOr<unsigned> argument = getArgument(buffer, user);
  if (failed(argument))
    return failure();
  return sizeExpression(*argument, dim);
}

FailureOr<Expression> IndexExpressions::getStride(Value buffer, int64_t dim,
                                                  Operation *user) {
  if (auto view = buffer.getDefiningOp<memref::ReinterpretCastOp>())
    return evaluate(view.getMixedStrides()[dim]);
  auto workspace = buffer.getDefiningOp<WorkspaceOp>();
  if (!workspace) {
    FailureOr<unsigned> argument = getArgument(buffer, user);
    if (failed(argument))
      return failure();
    return strideExpression(*argument, dim);
  }
  // Packed: the product of the sizes further in.
  Expression stride;
  for (int64_t d = workspace.getType().getRank() - 1; d > dim; --d) {
    FailureOr<Expression> size = evaluate(workspace.getMixedSize(d));
    if (failed(size))
      return failure();
    stride = stride.empty()
                 ? *size
                 : binaryExpression(ExpressionOpcode::Mul, stride, *size);
  }
  return stride.empty() ? constantExpression(1) : stride;
}

FailureOr<Expression> IndexExpressions::evaluate(OpFoldResult value) {
  if (auto dynamic = dyn_cast<Value>(value))
    return evaluate(dynamic);
  return constantExpression(*getConstantIntValue(value));
}

FailureOr<Expression>
IndexExpressions::evaluateAffineList(AffineMap map, ValueRange operands,
                                     ExpressionOpcode combine) {
  auto leaf = [&](AffineExpr expr) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    return evaluate(
        operands[dim ? dim.getPosition()
                     : map.getNumDims() +
                           cast<AffineSymbolExpr>(expr).getPosition()]);
  };
  Expression combined;
  for (AffineExpr expr : map.getResults()) {
    FailureOr<Expression> one = affineExpression(expr, leaf);
    if (failed(one))
      return failure();
    combined =
        combined.empty() ? *one : binaryExpression(combine, combined, *one);
  }
  return combined;
}

FailureOr<Expression> IndexExpressions::evaluate(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  FailureOr<Expression> result = evaluateUncached(value);
  if (failed(result))
    return failure();
  // Values are inlined where they are used: a chain of squares would grow
  // without bound.
  if (failed(checkExpression(*result, value.getLoc())))
    return failure();
  known[value] = *result;
  return result;
}

FailureOr<Expression> IndexExpressions::evaluateUncached(Value value) {
  IntegerAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constantExpression(constant.getValue().getSExtValue());
  Operation *op = value.getDefiningOp();
  if (!op)
    return function.emitError("expected a memref as argument, got ")
           << value.getType();

  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    std::optional<int64_t> index = dim.getConstantIndex();
    if (!index)
      return op->emitOpError("expected a constant dimension");
    return getSize(dim.getSource(), *index, op);
  }
  if (auto metadata = dyn_cast<memref::ExtractStridedMetadataOp>(op)) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    unsigned rank = metadata.getSizes().size();
    // Results: base buffer, offset, sizes, strides. A launch passes addresses
    // that include the offset, so it must not be added again.
    if (number >= 2 && number < 2 + rank)
      return getSize(metadata.getSource(), number - 2, op);
    if (number >= 2 + rank)
      return getStride(metadata.getSource(), number - 2 - rank, op);
    if (auto view =
            metadata.getSource().getDefiningOp<memref::ReinterpretCastOp>();
        view && number == 1)
      return evaluate(view.getMixedOffsets().front());
    return op->emitOpError("expected uses of its sizes and strides only, got "
                           "one of result ")
           << number;
  }
  if (isa<MultiprocessorCountOp>(op))
    return Expression{
        rmsn::ExpressionOp(int64_t(rmsn::DeviceAttribute::MultiprocessorCount),
                           ExpressionOpcode::DeviceAttribute, 0, 0)};
  if (auto clusters = dyn_cast<ResidentClustersOp>(op)) {
    auto launch = launchOfClusters.find(clusters);
    if (launch == launchOfClusters.end())
      return op->emitOpError("expected the grid of one launch in clusters to "
                             "follow from it, got none");
    return Expression{
        rmsn::ExpressionOp(int64_t(rmsn::DeviceAttribute::ResidentClusters),
                           ExpressionOpcode::DeviceAttribute, 0,
                           static_cast<uint16_t>(launch->second))};
  }
  if (auto min = dyn_cast<affine::AffineMinOp>(op))
    return evaluateAffineList(min.getMap(), min.getOperands(),
                              ExpressionOpcode::Min);
  if (auto max = dyn_cast<affine::AffineMaxOp>(op))
    return evaluateAffineList(max.getMap(), max.getOperands(),
                              ExpressionOpcode::Max);
  const unsigned count = op->getNumOperands();
  auto operands = llvm::map_to_vector(llvm::seq(count), [&](unsigned i) {
    return getAffineSymbolExpr(i, op->getContext());
  });
  auto evaluateList = [&](ArrayRef<AffineExpr> exprs,
                          ExpressionOpcode combine) {
    return evaluateAffineList(AffineMap::get(0, count, exprs, op->getContext()),
                              op->getOperands(), combine);
  };
  if (isa<arith::MinSIOp, arith::MinUIOp>(op))
    return evaluateList(operands, ExpressionOpcode::Min);
  if (isa<arith::MaxSIOp, arith::MaxUIOp>(op))
    return evaluateList(operands, ExpressionOpcode::Max);
  // The runtime computes in 64 bits and checks that an i32 parameter fits.
  if (AffineExpr expr = getIndexArithmetic(op, operands))
    return evaluateList(expr, ExpressionOpcode::Add);
  return op->emitOpError("a module has no expression for this operation: "
                         "expected index arithmetic on sizes, strides, the "
                         "multiprocessor count and resident clusters");
}
