// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- toyc.cpp - a compiler whose norms are RMSNorm's kernels -----------===//
//
// Its dialect, its lowering, and one pass manager with its own passes, ours and
// stock ones. Prints LLVM IR.
//
//===----------------------------------------------------------------------===//

#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/InitAll.h"
#include "RMSNorm/Target/Serialize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include "ToyOpsDialect.h.inc"
#define GET_OP_CLASSES
#include "ToyOps.h.inc"

#include "ToyOpsDialect.cpp.inc"
#define GET_OP_CLASSES
#include "ToyOps.cpp.inc"

using namespace mlir;

void toy::ToyDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ToyOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// The lowering
//===----------------------------------------------------------------------===//

// [lower]
/// toy.norm becomes our op; what is row-wise beside a norm is fused with it.
static void lower(toy::NormOp norm, OpBuilder &builder) {
  Location loc = norm.getLoc();
  auto type = cast<RankedTensorType>(norm.getType());
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, norm.getX()),
      type.getElementType());
  auto forward = rmsnorm::ForwardOp::create(
      builder, loc, empty.getType(), norm.getX(), /*weight=*/norm.getY(), empty,
      /*rstd=*/Value(), /*eps=*/APFloat(1e-5f), /*offset=*/APFloat(0.0f));
  norm.replaceAllUsesWith(forward.getResult(0));
  norm.erase();
}

/// toy.add and toy.mul become ordinary arithmetic on tensors.
struct LowerToy : PassWrapper<LowerToy, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerToy)

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<rmsnorm::RMSNormDialect, arith::ArithDialect,
                    tensor::TensorDialect>();
  }

  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      OpBuilder builder(op);
      if (auto norm = dyn_cast<toy::NormOp>(op)) {
        lower(norm, builder);
      } else if (isa<toy::AddOp>(op)) {
        op->replaceAllUsesWith(arith::AddFOp::create(
            builder, op->getLoc(), op->getOperand(0), op->getOperand(1)));
        op->erase();
      } else if (isa<toy::MulOp>(op)) {
        op->replaceAllUsesWith(arith::MulFOp::create(
            builder, op->getLoc(), op->getOperand(0), op->getOperand(1)));
        op->erase();
      }
    });
  }
};
// [lower]

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

// [pipeline]
/// Ours are the three in the middle; the text is the same for mlir-opt with our
/// plugin. All others are stock passes.
static std::string getPipeline(StringRef target) {
  return ("func.func(convert-elementwise-to-linalg),"
          "rmsnorm-embed-tensors,"
          "eliminate-empty-tensors,"
          "one-shot-bufferize{bufferize-function-boundaries"
          " function-boundary-type-conversion=identity-layout-map},"
          "canonicalize,buffer-deallocation-pipeline,"
          "rmsnorm-embed-memrefs{target=" +
          target +
          "},rmsnorm-embed-host,"
          "convert-bufferization-to-memref,"
          "func.func(convert-linalg-to-loops,llvm-request-c-wrappers),"
          "expand-strided-metadata,lower-affine,convert-scf-to-cf,"
          "convert-to-llvm,reconcile-unrealized-casts")
      .str();
}
// [pipeline]

int main(int argc, char **argv) {
  if (argc != 3) {
    llvm::errs() << "usage: toyc FILE.mlir TARGET\n";
    return 2;
  }
  // [context]
  DialectRegistry registry;
  registry.insert<toy::ToyDialect>();
  registerAllDialects(registry); // MLIR's
  registerAllExtensions(registry);
  registerAllPasses();
  rmsnorm::registerAllDialects(registry);
  rmsnorm::registerAllExtensions(registry);
  rmsnorm::registerAllPasses();
  rmsnorm::registerSerialization(registry); // machine code, and LLVM IR
  MLIRContext context(registry);
  // [context]
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], &context);
  if (!module)
    return 1;

  // [run]
  auto passes = PassManager::on<ModuleOp>(&context);
  passes.addPass(std::make_unique<LowerToy>());
  if (failed(parsePassPipeline(getPipeline(argv[2]), passes)) ||
      failed(passes.run(*module)))
    return 1;
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> code =
      translateModuleToLLVMIR(*module, llvmContext);
  // [run]
  if (!code)
    return 1;
  code->print(llvm::outs(), nullptr);
  return 0;
}
