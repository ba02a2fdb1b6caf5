// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RMSNormNormOp.td - what forward and backward do alike --------------===//

#ifndef RMSNORM_IR_RMSNORMNORMOP_TD
#define RMSNORM_IR_RMSNORMNORMOP_TD

include "RMSNorm/IR/RMSNormDialect.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/IndexingMapOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

// Any norm: destination style, rows are independent. Those with a dweight sum
// over them. The last two groups of operands are the destinations.
class RMSNorm_NormOp<string mnemonic, list<Trait> traits = []>
    : RMSNorm_Op<mnemonic, !listconcat(traits, [
        AttrSizedOperandSegments, DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
          ["reifyResultShapes"]>,
        DeclareOpInterfaceMethods<IndexingMapOpInterface>,
        DeclareOpInterfaceMethods<TilingInterface, [
          "getLoopIteratorTypes", "getIterationDomain",
          "getTiledImplementation", "getResultTilePosition",
          "generateResultTileValue"]>])> {
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  code normDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
    int64_t getNumRowDims();
    /// What the methods of IndexingMapOpInterface work on.
    ::llvm::ArrayRef<int64_t> getShape(::mlir::OpOperand *operand) {
      return cast<::mlir::ShapedType>(operand->get().getType()).getShape();
    }
    /// Whether a result is the sum over all rows that dweight is.
    bool isRowSum(unsigned result) { return result == 1 && getDweight(); }
  }];
  let extraClassDeclaration = normDeclaration;
  let extraClassDefinition = [{
    MutableOperandRange $cppClass::getDpsInitsMutable() {
      const unsigned groups = getProperties().operandSegmentSizes.size();
      const unsigned first = getODSOperandIndexAndLength(groups - 2).first;
      return MutableOperandRange(getOperation(), first,
                                 getOperation()->getNumOperands() - first);
    }
    int64_t $cppClass::getNumRowDims() {
      return cast<ShapedType>(getInput().getType()).getRank() - 1;
    }
    void $cppClass::getEffects(
        SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
            &effects) {
      getNormEffects(*this, effects);
    }
    LogicalResult
    $cppClass::reifyResultShapes(OpBuilder &builder,
                                 ReifiedRankedShapedTypeDims &shapes) {
      return reifyNormShapes(*this, builder, shapes);
    }
    ArrayAttr $cppClass::getIndexingMaps() {
      return getNormMaps(*this, getNumRowDims() + 1,
                         {getWeight(), getDweight()});
    }
    LogicalResult $cppClass::fold(FoldAdaptor,
                                  SmallVectorImpl<OpFoldResult> &) {
      return foldMemRefCasts(*this);
    }

    SmallVector<utils::IteratorType> $cppClass::getLoopIteratorTypes() {
      return SmallVector<utils::IteratorType>(
          getNumRowDims(), getDweight() ? utils::IteratorType::reduction
                                        : utils::IteratorType::parallel);
    }
    SmallVector<Range> $cppClass::getIterationDomain(OpBuilder &builder) {
      return getNormDomain(*this, builder);
    }
    FailureOr<TilingResult>
    $cppClass::getTiledImplementation(OpBuilder &builder,
                                      ArrayRef<OpFoldResult> offsets,
                                      ArrayRef<OpFoldResult> sizes) {
      return getTiledNorm(*this, builder, offsets, sizes, getWeight(),
                          getNormDweight(*this, getDweight()));
    }
    LogicalResult $cppClass::getResultTilePosition(
        OpBuilder &builder, unsigned resultNumber,
        ArrayRef<OpFoldResult> offsets, ArrayRef<OpFoldResult> sizes,
        SmallVector<OpFoldResult> &resultOffsets,
        SmallVector<OpFoldResult> &resultSizes) {
      // A tile's part of dweight is a summand, not a slice.
      if (isRowSum(resultNumber))
        return failure();
      getNormPosition(builder, getLoc(), getDpsInits()[resultNumber], offsets,
                      sizes, resultOffsets, resultSizes);
      return success();
    }
    FailureOr<TilingResult>
    $cppClass::generateResultTileValue(OpBuilder &builder,
                                       unsigned resultNumber,
                                       ArrayRef<OpFoldResult> offsets,
                                       ArrayRef<OpFoldResult> sizes) {
      if (isRowSum(resultNumber))
        return failure();
      FailureOr<TilingResult> tiled = getTiledImplementation(
          builder, offsets.take_front(getNumRowDims()),
          sizes.take_front(getNumRowDims()));
      if (failed(tiled))
        return failure();
      return TilingResult{tiled->tiledOps,
                          {tiled->tiledValues[resultNumber]},
                          tiled->generatedSlices};
    }
  }];
}

#endif // RMSNORM_IR_RMSNORMNORMOP_TD
