// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Oracle.cpp - rmsnorm-to-oracle ------------------------------------===//

#include "RMSNorm/Conversion/Passes.h"
#include "RMSNorm/Pipelines/Pipelines.h"
#include "RMSNorm/Source/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ComplexToLLVM/ComplexToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::rmsnorm;

void rmsnorm::buildToOracle(OpPassManager &manager) {
  // Private functions without a call are no entries.
  manager.addPass(createSymbolDCEPass());
  // As for the kernels, so that the arguments are the same.
  manager.addNestedPass<func::FuncOp>(createGeneralizeElementwise());
  manager.addNestedPass<func::FuncOp>(createGeneralizeGathers());
  manager.addPass(createComputeInPlace());
  manager.addPass(createBindArguments());
  // No canonicalization before buffers: it folds copies into results, and what
  // is copied may be updated.
  manager.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  manager.addPass(createDecompose());
  manager.addPass(createCSEPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  manager.addPass(bufferization::createOneShotBufferizePass(bufferize));
  manager.addPass(createPrepareOracle());
  manager.addPass(createToIntervals());
  manager.addPass(createCanonicalizerPass());
  manager.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createSCFToControlFlowPass());
  FinalizeMemRefToLLVMConversionPassOptions memory;
  memory.useGenericFunctions = true;
  // Ahead of arith: of a dimension whose number is no constant any more, the
  // size would be looked up in memory.
  manager.addPass(createFinalizeMemRefToLLVMConversionPass(memory));
  manager.addPass(createConvertMathToLLVMPass());
  manager.addPass(createConvertComplexToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertFuncToLLVMPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  manager.addPass(createFinalizeOracle());
}
