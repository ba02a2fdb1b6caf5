// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FinalizeOracle.cpp - rmsnorm-finalize-oracle ----------------------===//

#include "RMSNorm/Conversion/Passes.h"

#include "OracleABI.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_FINALIZEORACLE
#include "RMSNorm/Conversion/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

/// The prefix of func-to-llvm for functions that take pointers to descriptors.
static constexpr StringLiteral kWrapperPrefix = "_mlir_ciface_";
static constexpr StringLiteral kFunctions = "rmsnorm_oracle_functions";

/// Functions of the runtime by their names in the module.
static llvm::StringMap<int32_t> getFunctionNumbers() {
  llvm::StringMap<int32_t> numbers;
  int32_t number = 0;
#define RMSNORM_ORACLE_NUMBER(name, operands)                                  \
  numbers[(kOracleFunctionPrefix + #name).str()] = number++;
  RMSNORM_ORACLE_FUNCTIONS(RMSNORM_ORACLE_NUMBER)
#undef RMSNORM_ORACLE_NUMBER
  // The generic functions of memref-to-llvm.
  for (auto [generic, name] :
       {std::pair("alloc", "allocate"), std::pair("free", "release")})
    numbers[("_mlir_memref_to_llvm_" + Twine(generic)).str()] =
        numbers[(kOracleFunctionPrefix + name).str()];
  return numbers;
}

/// Has a declared function call the runtime's of that number.
static void define(LLVM::LLVMFuncOp function, int32_t number) {
  Location loc = function.getLoc();
  OpBuilder builder(function.getContext());
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value table = LLVM::AddressOfOp::create(builder, loc, pointer, kFunctions);
  table = LLVM::LoadOp::create(builder, loc, pointer, table);
  Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer, table,
                                   ArrayRef<LLVM::GEPArg>{number});
  SmallVector<Value> operands{
      LLVM::LoadOp::create(builder, loc, pointer, slot)};
  llvm::append_range(operands, function.getArguments());
  auto call =
      LLVM::CallOp::create(builder, loc, function.getFunctionType(), operands);
  LLVM::ReturnOp::create(builder, loc, call.getResults());
  function.setLinkage(LLVM::Linkage::Internal);
}

/// Adds @oracle_<entry>, which unpacks the array for `wrapper`.
static void addEntry(ModuleOp module, LLVM::LLVMFuncOp wrapper,
                     StringRef entry) {
  Location loc = wrapper.getLoc();
  OpBuilder builder(wrapper->getContext());
  builder.setInsertionPointToEnd(module.getBody());
  std::string name = ("oracle_" + entry).str();
  if (auto declared = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    declared.erase();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(builder.getContext()), {pointer, pointer});
  auto function = LLVM::LLVMFuncOp::create(builder, loc, name, type);
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  LLVM::StoreOp::create(
      builder, loc, function.getArgument(1),
      LLVM::AddressOfOp::create(builder, loc, pointer, kFunctions));
  SmallVector<Value> descriptors;
  for (unsigned i = 0; i < wrapper.getNumArguments(); ++i) {
    Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer,
                                     function.getArgument(0),
                                     ArrayRef<LLVM::GEPArg>{int32_t(i)});
    descriptors.push_back(LLVM::LoadOp::create(builder, loc, pointer, slot));
  }
  LLVM::CallOp::create(builder, loc, wrapper, descriptors);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

namespace {
struct FinalizeOracle final
    : rmsnorm::impl::FinalizeOracleBase<FinalizeOracle> {
  using FinalizeOracleBase::FinalizeOracleBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto builder = OpBuilder::atBlockBegin(module.getBody());
    LLVM::GlobalOp::create(
        builder, module.getLoc(), builder.getI32Type(), /*isConstant=*/true,
        LLVM::Linkage::External, RMSNORM_ORACLE_ABI_SYMBOL,
        builder.getI32IntegerAttr(RMSNORM_ORACLE_ABI_VERSION));
    LLVM::GlobalOp::create(
        builder, module.getLoc(), LLVM::LLVMPointerType::get(&getContext()),
        /*isConstant=*/false, LLVM::Linkage::Internal, kFunctions, Attribute());
    const llvm::StringMap<int32_t> numbers = getFunctionNumbers();
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      if (auto it = numbers.find(function.getName());
          it != numbers.end() && function.isExternal())
        define(function, it->second);
    SmallVector<LLVM::LLVMFuncOp> wrappers;
    for (auto function : module.getOps<LLVM::LLVMFuncOp>())
      if (function.getName().starts_with(kWrapperPrefix))
        wrappers.push_back(function);
    for (LLVM::LLVMFuncOp wrapper : wrappers) {
      StringRef entry = wrapper.getName().drop_front(kWrapperPrefix.size());
      addEntry(module, wrapper, entry);
      for (StringRef name : {wrapper.getName(), entry})
        if (auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name)) {
          function.setLinkage(LLVM::Linkage::Internal);
          function->removeAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName());
        }
    }
  }
};
} // namespace
