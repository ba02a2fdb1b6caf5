// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InitAll.cpp - everything an embedder has to register --------------===//

#include "RMSNorm/InitAll.h"
#include "RMSNorm/Access/Passes.h"
#include "RMSNorm/Conversion/Passes.h"
#include "RMSNorm/Distribution/Passes.h"
#include "RMSNorm/Embed/Passes.h"
#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Pipelines/Pipelines.h"
#include "RMSNorm/Raise/Passes.h"
#include "RMSNorm/Rows/Passes.h"
#include "RMSNorm/Source/Passes.h"
#include "RMSNorm/Tiling/BufferizableOpInterfaceImpl.h"
#include "RMSNorm/Tiling/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/GPU/Transforms/Passes.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/TilingInterfaceImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/TensorTilingInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void rmsnorm::registerAllDialects(DialectRegistry &registry) {
  registry
      .insert<RMSNormDialect, affine::AffineDialect, arith::ArithDialect,
              bufferization::BufferizationDialect, cf::ControlFlowDialect,
              func::FuncDialect, gpu::GPUDialect, index::IndexDialect,
              linalg::LinalgDialect, LLVM::LLVMDialect, math::MathDialect,
              memref::MemRefDialect, NVVM::NVVMDialect, ROCDL::ROCDLDialect,
              scf::SCFDialect, tensor::TensorDialect, vector::VectorDialect>();
}

void rmsnorm::registerAllExtensions(DialectRegistry &registry) {
  affine::registerValueBoundsOpInterfaceExternalModels(registry);
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  arith::registerValueBoundsOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(
      registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerTilingInterfaceExternalModels(registry);
  rmsnorm::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerTilingInterfaceExternalModels(registry);
  tensor::registerValueBoundsOpInterfaceExternalModels(registry);
}

void rmsnorm::registerAllPasses() {
  registerRMSNormAccessPasses();
  registerRMSNormRaisePasses();
  registerRMSNormSourcePasses();
  registerRMSNormTilingPasses();
  registerRMSNormRowsPasses();
  registerRMSNormDistributionPasses();
  registerRMSNormEmbedPasses();
  registerRMSNormConversionPasses();
  registerPipelines();
  registerTargetPipelines();
  registerEmbedPipelines();
  // Upstream's passes that are needed to run the pipeline step by step.
  registerCanonicalizerPass();
  registerCSEPass();
  bufferization::registerBufferizationPasses();
  // Passes around ours in another compiler's pipeline (docs/host-code.md).
  bufferization::registerBufferizationPipelines();
  registerGpuModuleToBinaryPass();
  // Passes that rmsnorm-raise needs before it, and those that follow it.
  registerConvertElementwiseToLinalgPass();
  registerLinalgGeneralizeNamedOpsPass();
  registerLinalgElementwiseOpFusionPass();
}
