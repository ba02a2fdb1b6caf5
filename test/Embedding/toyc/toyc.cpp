// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- toyc.cpp - a compiler that has its norms made by RMSNorm ----------===//
//
// A front end's pass (lowers toy.norm to rmsnorm.forward), the compilation of
// the functions with norms, and what is left to the compiler itself.
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/InitAll.h"
#include "RMSNorm/Pipelines/Compile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

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
// The pass
//===----------------------------------------------------------------------===//

// [lower]
/// A tensor of the size of `like`, for the result of a destination-style op.
static Value createEmpty(OpBuilder &builder, Location loc, Value like) {
  return tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, like),
      cast<RankedTensorType>(like.getType()).getElementType());
}

/// toy.norm becomes our op, toy.add ordinary linalg: what is row-wise beside a
/// norm is fused with it. toy.relu stays toy's.
struct LowerNorms : PassWrapper<LowerNorms, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerNorms)

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<rmsnorm::RMSNormDialect, linalg::LinalgDialect,
                    tensor::TensorDialect>();
  }

  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      OpBuilder builder(op);
      Location loc = op->getLoc();
      if (auto norm = dyn_cast<toy::NormOp>(op)) {
        Value empty = createEmpty(builder, loc, norm.getX());
        auto forward = rmsnorm::ForwardOp::create(
            builder, loc, empty.getType(), norm.getX(), norm.getWeight(), empty,
            /*rstd=*/Value(), /*eps=*/APFloat(1e-5f), /*offset=*/APFloat(0.0f));
        norm.replaceAllUsesWith(forward.getResult(0));
        norm.erase();
      } else if (auto add = dyn_cast<toy::AddOp>(op)) {
        Value empty = createEmpty(builder, loc, add.getX());
        auto sum = linalg::AddOp::create(builder, loc,
                                         ValueRange{add.getX(), add.getY()},
                                         ValueRange(empty));
        add.replaceAllUsesWith(sum.getResult(0));
        add.erase();
      }
    });
  }
};
// [lower]

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

/// Takes the functions with norms into a module of their own. Where they were
/// declarations stay, for the compiler's own code to call.
static OwningOpRef<ModuleOp> takeNorms(ModuleOp module) {
  OwningOpRef<ModuleOp> norms = ModuleOp::create(module.getLoc());
  for (auto function : module.getOps<func::FuncOp>()) {
    bool hasNorm = false;
    function.walk([&](rmsnorm::ForwardOp) { hasNorm = true; });
    if (!hasNorm)
      continue;
    norms->push_back(function.clone());
    function.eraseBody();
    function.setPrivate();
  }
  return norms;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: toyc FILE.mlir\n";
    return 2;
  }
  // [context]
  DialectRegistry registry;
  registry.insert<toy::ToyDialect>();
  rmsnorm::registerAllDialects(registry);
  rmsnorm::registerAllExtensions(registry);
  rmsnorm::registerSerialization(registry);
  MLIRContext context(registry);
  // [context]
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(argv[1], &context);
  if (!module)
    return 1;

  PassManager passes(&context);
  passes.addPass(std::make_unique<LowerNorms>());
  if (failed(passes.run(*module)))
    return 1;

  OwningOpRef<ModuleOp> norms = takeNorms(*module);
  // [compile]
  rmsnorm::CompileOptions options;
  options.targets = {"sim:sm_90", "sm_90"};
  options.serialize.hostOptimization = 0; // the simulator's code
  FailureOr<std::string> bytes = rmsnorm::compileModule(*norms, options);
  // [compile]
  if (failed(bytes))
    return 1;

  // What is toy's own.
  llvm::outs() << *module << "\n";
  llvm::outs().flush();
  for (int64_t rows : {1, 37, 300})
    if (int status = runAddNorm(*bytes, rows))
      return status;
  return 0;
}
