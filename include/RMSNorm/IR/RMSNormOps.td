// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RMSNormOps.td - operator level: forward and backward --------------===//

#ifndef RMSNORM_IR_RMSNORMOPS_TD
#define RMSNORM_IR_RMSNORMOPS_TD

include "RMSNorm/IR/RMSNormAttrs.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/TilingInterface.td"

// Any op of the operator level: destination style, rows are parallel.
class RMSNorm_NormOp<string mnemonic, list<Trait> traits = []>
    : RMSNorm_Op<mnemonic, !listconcat(traits, [
        AttrSizedOperandSegments, DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
          ["reifyResultShapes"]>,
        DeclareOpInterfaceMethods<TilingInterface, [
          "getLoopIteratorTypes", "getIterationDomain",
          "getTiledImplementation", "getResultTilePosition",
          "generateResultTileValue"]>])>;

def RMSNorm_ForwardOp : RMSNorm_NormOp<"forward"> {
  let summary = "y = x * rsqrt(mean(x^2) + eps) * (weight + offset)";
  let arguments = (ins AnyShaped:$input, Optional<AnyShaped>:$weight,
                       AnyShaped:$output, Optional<AnyShaped>:$rstd,
                       F32Attr:$eps,
                       DefaultValuedAttr<F32Attr, "0.0f">:$offset,
                       DefaultValuedAttr<RMSNorm_CastingAttr,
                         "::mlir::rmsnorm::Casting::gemma">:$casting);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `input` `(` $input `:` type($input) `)`
    (`weight` `(` $weight^ `:` type($weight) `)`)?
    `output` `(` $output `:` type($output) `)`
    (`rstd` `(` $rstd^ `:` type($rstd) `)`)?
    `eps` `=` $eps (`offset` `=` $offset^)? (`casting` `=` custom<Enum>($casting)^)?
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable();
  }];
}

#endif // RMSNORM_IR_RMSNORMOPS_TD
