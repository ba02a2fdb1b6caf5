// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BufferizableOpInterfaceImpl.cpp - bufferization of our ops --------===//

#include "RMSNorm/Transforms/BufferizableOpInterfaceImpl.h"
#include "RMSNorm/IR/AccessMap.h"
#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Dialect.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace mlir::rmsnorm;

namespace {

/// `op` on buffers: the same operands with `base` replaced, no tensor results.
template <typename OpTy>
OpTy cloneOnBuffer(RewriterBase &rewriter, OpTy op, Value buffer) {
  SmallVector<Value> operands(op->getOperands());
  operands[op.getBaseMutable().getOperandNumber()] = buffer;
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    if (!isa<TensorType>(type))
      types.push_back(type);
  return cast<OpTy>(mlir::clone(rewriter, op.getOperation(), types, operands));
}

struct TileLoadModel
    : BufferizableOpInterface::ExternalModel<TileLoadModel, TileLoadOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *, OpOperand &,
                                      const AnalysisState &) const {
    return {};
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto load = cast<TileLoadOp>(op);
    FailureOr<Value> buffer =
        getBuffer(rewriter, load.getBase(), options, state);
    if (failed(buffer))
      return failure();
    rewriter.replaceOp(op, cloneOnBuffer(rewriter, load, *buffer));
    return success();
  }
};

struct TileStoreModel
    : BufferizableOpInterface::ExternalModel<TileStoreModel, TileStoreOp> {
  /// What a store does not overwrite it passes on, which counts as a read.
  bool bufferizesToMemoryRead(Operation *op, OpOperand &,
                              const AnalysisState &) const {
    return !overwritesBase(cast<TileStoreOp>(op));
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return true;
  }
  AliasingValueList getAliasingValues(Operation *op, OpOperand &,
                                      const AnalysisState &) const {
    return {{op->getResult(0), BufferRelation::Equivalent}};
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto store = cast<TileStoreOp>(op);
    FailureOr<Value> buffer =
        getBuffer(rewriter, store.getBase(), options, state);
    if (failed(buffer))
      return failure();
    cloneOnBuffer(rewriter, store, *buffer);
    replaceOpWithBufferizedValues(rewriter, op, *buffer);
    return success();
  }

private:
  /// True if no element of the base keeps its value: the usual store of one
  /// row into a slice of one row.
  static bool overwritesBase(TileStoreOp op) {
    if (op.getColumns())
      return false;
    if (op.getKind() == TileKind::column)
      return true;
    if (op.getRow() && !isConstantIntValue(op.getRow(), 0))
      return false;
    auto base = cast<ShapedType>(op.getBase().getType());
    ArrayRef<int64_t> rowDims = base.getShape();
    auto value = cast<VectorType>(op.getValue().getType());
    if (!op.getAccess().isPlain())
      return base.hasStaticShape() &&
             base.getNumElements() == value.getNumElements();
    if (op.getKind() != TileKind::row)
      rowDims = rowDims.drop_back();
    return !ShapedType::isDynamicShape(rowDims) &&
           ShapedType::getNumElements(rowDims) == value.getDimSize(0);
  }
};

/// rmsnorm.forward, rmsnorm.backward.
template <typename OpTy>
struct NormModel
    : DstBufferizableOpInterfaceExternalModel<NormModel<OpTy>, OpTy> {
  /// Destinations are overwritten.
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
  }

  /// A row is read before it is written, so an operand of the shape of input
  /// may share its buffer, element for element, with a result of that shape.
  bool bufferizesToElementwiseAccess(Operation *op, const AnalysisState &,
                                     ArrayRef<OpOperand *> operands) const {
    auto norm = cast<OpTy>(op);
    return llvm::all_of(operands, [&](OpOperand *operand) {
      return isPerElement(norm, operand);
    });
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto norm = cast<DestinationStyleOpInterface>(op);
    if (!norm.hasPureTensorSemantics())
      return success();
    SmallVector<Value> buffers;
    for (Value operand : op->getOperands()) {
      FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    mlir::clone(rewriter, op, TypeRange(), buffers);
    SmallVector<Value> results;
    for (OpOperand &init : norm.getDpsInitsMutable())
      results.push_back(buffers[init.getOperandNumber()]);
    replaceOpWithBufferizedValues(rewriter, op, results);
    return success();
  }

private:
  static bool isPerElement(ForwardOp op, OpOperand *operand) {
    return operand == &op.getInputMutable() ||
           operand == &op.getOutputMutable();
  }
  static bool isPerElement(BackwardOp op, OpOperand *operand) {
    return operand == &op.getInputMutable() || operand == &op.getDyMutable() ||
           operand == &op.getDxMutable();
  }
};

struct ColumnSumModel
    : BufferizableOpInterface::ExternalModel<ColumnSumModel, ColumnSumOp> {
  /// The destination is read too: an iteration adds to what others left there.
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *op, OpOperand &operand,
                               const AnalysisState &) const {
    return &operand == &cast<ColumnSumOp>(op).getDestMutable();
  }
  /// Nor does anything else read or write a column while it is summed up.
  bool bufferizesToElementwiseAccess(Operation *, const AnalysisState &,
                                     ArrayRef<OpOperand *>) const {
    return true;
  }
  AliasingValueList getAliasingValues(Operation *, OpOperand &,
                                      const AnalysisState &) const {
    return {};
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto sum = cast<ColumnSumOp>(op);
    if (!isa<VectorType>(sum.getSource().getType()))
      return op->emitOpError("expected a vector source, got ")
             << sum.getSource().getType()
             << "; run rmsnorm-vectorize before bufferization";
    FailureOr<Value> dest = getBuffer(rewriter, sum.getDest(), options, state);
    if (failed(dest))
      return failure();
    FailureOr<Value> init = Value();
    if (sum.getInit())
      init = getBuffer(rewriter, sum.getInit(), options, state);
    if (failed(init))
      return failure();
    // Counted in the dimensions of the loop's rows, where it says how many.
    ArrayRef<int64_t> dims = sum.getDims();
    auto rank = sum.getIteratingParent()->getAttrOfType<IntegerAttr>(
        RMSNormDialect::kRowsAttrName);
    const int64_t least = dims.empty() ? 0 : dims.back() + 1;
    AffineMapAttr map =
        AccessMap::getSum(op->getContext(), rank ? rank.getInt() : least, dims,
                          cast<MemRefType>(dest->getType()).getRank());
    // In front of the in_parallel terminator, which holds no effects.
    rewriter.setInsertionPoint(op->getParentOp());
    AccumulateOp::create(rewriter, op->getLoc(), /*result=*/Type(),
                         sum.getSource(), *dest, sum.getColumns(), *init,
                         sum.getKind(), sum.getStartAttr(), map);
    rewriter.eraseOp(op);
    return success();
  }
};

/// What the body of a rmsnorm.rows does with one of its buffers, in one place.
struct BufferAccess {
  Operation *op;
  bool writes;
  /// Null of a sum over rows.
  std::optional<AccessMap> map;
  /// The sizes of the map's domain.
  SmallVector<int64_t> sizes;
};

struct RowsModel : BufferizableOpInterface::ExternalModel<RowsModel, RowsOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    auto rows = cast<RowsOp>(op);
    return getAccess(rows, operand).reads() || !isOverwritten(rows, operand);
  }
  bool bufferizesToMemoryWrite(Operation *op, OpOperand &operand,
                               const AnalysisState &) const {
    return getAccess(cast<RowsOp>(op), operand).writes();
  }
  AliasingValueList getAliasingValues(Operation *op, OpOperand &operand,
                                      const AnalysisState &) const {
    SmallVector<OpOperand *> written = cast<RowsOp>(op).getWritten();
    auto *it = llvm::find(written, &operand);
    if (it == written.end())
      return {};
    return {{op->getResult(it - written.begin()), BufferRelation::Equivalent}};
  }

  /// All that a tile reads it reads before it writes: an operand may share its
  /// buffer with a result where each row reads no other elements than it
  /// writes. Of a sum, the element that is added is read before the sum is
  /// written.
  bool bufferizesToElementwiseAccess(Operation *op, const AnalysisState &,
                                     ArrayRef<OpOperand *> operands) const {
    auto rows = cast<RowsOp>(op);
    SmallVector<BufferAccess> all;
    for (OpOperand *operand : operands)
      llvm::append_range(all, getAccesses(rows, *operand));
    return llvm::all_of(all, [&](const BufferAccess &access) {
      return llvm::all_of(all, [&](const BufferAccess &write) {
        if (!write.writes || access.op == write.op)
          return true;
        return access.map && write.map &&
               access.map->staysInRow(*write.map, access.sizes, write.sizes);
      });
    });
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto rows = cast<RowsOp>(op);
    SmallVector<Value> results;
    SmallVector<Value> buffers;
    for (Value tensor : rows.getBuffers()) {
      FailureOr<Value> buffer = getBuffer(rewriter, tensor, options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
    }
    const unsigned first = rows.getBuffers().getBeginOperandIndex();
    for (OpOperand *written : rows.getWritten())
      results.push_back(buffers[written->getOperandNumber() - first]);
    auto bufferized = RowsOp::create(
        rewriter, op->getLoc(), /*results=*/TypeRange(), rows.getSizes(),
        rows.getDynamicColumns(), buffers, rows.getScalars(),
        rows.getStaticSizes(), rows.getColumns(), rows.getAccesses(),
        rows.getScheduleAttr(), rows.getSegments());
    bufferized.getBody().takeBody(rows.getBody());
    for (auto [argument, buffer] :
         llvm::zip(bufferized.getBufferArguments(), buffers))
      argument.setType(buffer.getType());
    replaceOpWithBufferizedValues(rewriter, op, results);
    return success();
  }

private:
  static AccessAttr getAccess(RowsOp rows, OpOperand &operand) {
    return rows.getAccess(
        rows.getBody().getArgument(operand.getOperandNumber()));
  }

  static SmallVector<BufferAccess> getAccesses(RowsOp rows,
                                               OpOperand &operand) {
    BlockArgument buffer =
        rows.getBody().getArgument(operand.getOperandNumber());
    SmallVector<BufferAccess> all;
    auto add = [&](auto op, bool writes, VectorType vector) {
      const AccessMap map = op.getAccess();
      SmallVector<int64_t> sizes(rows.getStaticSizes());
      if (map.getNumRowDims() != sizes.size())
        sizes.assign(map.getNumRowDims(),
                     ShapedType::isDynamicShape(sizes)
                         ? ShapedType::kDynamic
                         : ShapedType::getNumElements(sizes));
      if (map.hasColumn())
        sizes.push_back(rows.getDynamicColumns() ? ShapedType::kDynamic
                                                 : vector.getDimSize(1));
      all.push_back({op, writes, map, sizes});
    };
    for (Operation *user : buffer.getUsers()) {
      if (auto load = dyn_cast<TileLoadOp>(user))
        add(load, /*writes=*/false, load.getType());
      else if (auto store = dyn_cast<TileStoreOp>(user))
        add(store, /*writes=*/true,
            cast<VectorType>(store.getValue().getType()));
      else if (auto sum = dyn_cast<AccumulateOp>(user))
        all.push_back({user, sum.getDest() == buffer, std::nullopt, {}});
    }
    return all;
  }

  /// Whether no element of `operand`, which is written, keeps its value.
  static bool isOverwritten(RowsOp rows, OpOperand &operand) {
    const SmallVector<OpFoldResult> sizes = rows.getMixedSizes();
    auto type = cast<RankedTensorType>(operand.get().getType());
    auto takesAll = [&](int64_t place, OpFoldResult size) {
      return traceSize(size) == traceDim(operand.get(), place);
    };
    return llvm::any_of(
        getAccesses(rows, operand), [&](const BufferAccess &access) {
          if (!access.writes)
            return false;
          if (!access.map)
            return true;
          for (auto [place, index] :
               llvm::enumerate(access.map->getIndices())) {
            const int64_t own = type.getDimSize(place);
            const AccessTerm *term = index.getTerm();
            if (!term && index.terms.empty() && index.offset == 0 && own == 1)
              continue;
            if (!term || !term->isWhole() || term->isOperand)
              return false;
            if (term->dim == access.map->getColumnDim()) {
              auto store = cast<TileStoreOp>(access.op);
              auto vector = cast<VectorType>(store.getValue().getType());
              if (vector.getDimSize(1) != own &&
                  !(rows.getDynamicColumns() &&
                    takesAll(place, rows.getDynamicColumns())))
                return false;
            } else if (access.map->getNumRowDims() != sizes.size() ||
                       !takesAll(place, sizes[term->dim])) {
              return false;
            }
          }
          return true;
        });
  }
};

} // namespace

void mlir::rmsnorm::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RMSNormDialect *) {
    TileLoadOp::attachInterface<TileLoadModel>(*context);
    TileStoreOp::attachInterface<TileStoreModel>(*context);
    ForwardOp::attachInterface<NormModel<ForwardOp>>(*context);
    BackwardOp::attachInterface<NormModel<BackwardOp>>(*context);
    ColumnSumOp::attachInterface<ColumnSumModel>(*context);
    RowsOp::attachInterface<RowsModel>(*context);
    // bufferize() makes memrefs.
    context->getOrLoadDialect<memref::MemRefDialect>();
  });
}
