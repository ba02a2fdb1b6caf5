// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BufferizableOpInterfaceImpl.cpp - bufferization of our ops --------===//

#include "RMSNorm/Tiling/BufferizableOpInterfaceImpl.h"
#include "RMSNorm/IR/AccessMap.h"
#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/IR/Disjoint.h"
#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Rows/RowsProgram.h"

#include "mlir/Dialect/Bufferization/IR/BufferDeallocationOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Dialect.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace mlir::rmsnorm;

namespace {

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

/// What the body of a rmsnorm.rows does with one of its buffers, in one place.
struct BufferAccess {
  Operation *op;
  bool writes;
  TensorType type;
  /// Null of a sum over rows.
  std::optional<AccessMap> map;
  /// The sizes of the map's domain.
  SmallVector<int64_t> sizes;

  /// Whether both certainly have other elements.
  bool isDisjoint(const BufferAccess &other) const {
    // Two numbers of f4 are a byte.
    return map && other.map && type == other.type && map->isValid() &&
           other.map->isValid() &&
           !isa<Float4E2M1FNType>(type.getElementType()) &&
           llvm::any_of(
               llvm::zip_equal(map->getIndices(), other.map->getIndices()),
               [&](auto indices) {
                 return getSet(std::get<0>(indices))
                     .isDisjoint(other.getSet(std::get<1>(indices)));
               });
  }

private:
  IndexSet getSet(const AccessIndex &index) const {
    IndexSet set{index.offset, {}};
    for (const AccessTerm &term : index.terms)
      set.terms.push_back({term.factor, term.isOperand
                                            ? ShapedType::kDynamic
                                            : map->getRange(term, sizes)});
    return set;
  }
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

  /// A thread reads what it has of a row before it writes that: an operand may
  /// share its buffer with a result where both are accessed in one way, or have
  /// no element in common. Other elements may be those of another block, which
  /// has written them.
  /// A value of the row is read by all its threads and written by one, which a
  /// reduction between the two makes wait for the others.
  /// Of a sum, the element that is added is read before the sum is written.
  bool bufferizesToElementwiseAccess(Operation *op, const AnalysisState &,
                                     ArrayRef<OpOperand *> operands) const {
    auto rows = cast<RowsOp>(op);
    SmallVector<BufferAccess> all;
    for (OpOperand *operand : operands)
      llvm::append_range(all, getAccesses(rows, *operand));
    return llvm::all_of(all, [&](const BufferAccess &access) {
      return llvm::all_of(all, [&](const BufferAccess &write) {
        if (!write.writes || access.writes || access.op == write.op ||
            access.isDisjoint(write))
          return true;
        if (!access.map || !write.map ||
            access.map->getMap() != write.map->getMap() ||
            access.map->hasColumn() != write.map->hasColumn() ||
            access.sizes != write.sizes)
          return false;
        // At indices of their own only if these are the same.
        if (getIndices(access.op) != getIndices(write.op))
          return false;
        auto load = dyn_cast<TileLoadOp>(access.op);
        return !load ||
               (load.getKind() != TileKind::group &&
                (load.getKind() != TileKind::row || getReductionAfter(load)));
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
        rows.getStaticSizes(), rows.getDigits(), rows.getAccesses(),
        rows.getScheduleAttr(), rows.getSegments());
    bufferized.getBody().takeBody(rows.getBody());
    for (auto [argument, buffer] :
         llvm::zip(bufferized.getBufferArguments(), buffers))
      argument.setType(buffer.getType());
    replaceOpWithBufferizedValues(rewriter, op, results);
    return success();
  }

private:
  static OperandRange getIndices(Operation *op) {
    if (auto load = dyn_cast<TileLoadOp>(op))
      return load.getIndices();
    return cast<TileStoreOp>(op).getIndices();
  }

  static AccessAttr getAccess(RowsOp rows, OpOperand &operand) {
    return rows.getAccess(
        rows.getBody().getArgument(operand.getOperandNumber()));
  }

  static SmallVector<BufferAccess> getAccesses(RowsOp rows,
                                               OpOperand &operand) {
    BlockArgument buffer =
        rows.getBody().getArgument(operand.getOperandNumber());
    auto type = cast<TensorType>(operand.get().getType());
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
                                                 : getNumColumns(vector));
      all.push_back({op, writes, type, map, sizes});
    };
    for (Operation *user : buffer.getUsers()) {
      if (auto load = dyn_cast<TileLoadOp>(user))
        add(load, /*writes=*/false, load.getType());
      else if (auto store = dyn_cast<TileStoreOp>(user))
        add(store, /*writes=*/true,
            cast<VectorType>(store.getValue().getType()));
      else if (auto sum = dyn_cast<AccumulateOp>(user))
        all.push_back({user, sum.getDest() == buffer, type, std::nullopt, {}});
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
              if (getNumColumns(vector) != own &&
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

/// Nobody owns or frees memory in a kernel.
struct RowsDeallocation
    : BufferDeallocationOpInterface::ExternalModel<RowsDeallocation, RowsOp> {
  FailureOr<Operation *> process(Operation *op, DeallocationState &,
                                 const DeallocationOptions &) const {
    // ownership-based-buffer-deallocation has been in the body already: each
    // buffer got an argument beside it that says who owns it.
    Block &body = cast<RowsOp>(op).getBody().front();
    body.eraseArguments(op->getNumOperands(),
                        body.getNumArguments() - op->getNumOperands());
    return op;
  }
};

} // namespace

void mlir::rmsnorm::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RMSNormDialect *) {
    ForwardOp::attachInterface<NormModel<ForwardOp>>(*context);
    BackwardOp::attachInterface<NormModel<BackwardOp>>(*context);
    RowsOp::attachInterface<RowsModel, RowsDeallocation>(*context);
    // bufferize() makes memrefs.
    context->getOrLoadDialect<memref::MemRefDialect>();
  });
}
