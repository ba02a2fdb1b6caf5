// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FinalizeOracle.cpp - rmsnorm-finalize-oracle ----------------------===//

#include "RMSNorm/Conversion/Passes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_FINALIZEORACLE
#include "RMSNorm/Conversion/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

/// What func-to-llvm calls the function that takes pointers to descriptors.
static constexpr StringLiteral kWrapperPrefix = "_mlir_ciface_";
/// The generic functions of memref-to-llvm.
static constexpr StringLiteral kAllocName = "_mlir_memref_to_llvm_alloc";
static constexpr StringLiteral kFreeName = "_mlir_memref_to_llvm_free";

/// mmap and munmap as system calls; the size lies in front of the buffer. The
/// placeholders are the machine's instruction, registers and call numbers. A
/// failure (the last page of addresses) ends the process: there is no other
/// way out of an entry.
static constexpr StringLiteral kAllocator = R"mlir(
llvm.func internal @_mlir_memref_to_llvm_alloc(%size: i64) -> !llvm.ptr {
  %header = llvm.mlir.constant(64 : i64) : i64
  %call = llvm.mlir.constant($MMAP : i64) : i64
  %none = llvm.mlir.constant(0 : i64) : i64
  %read_write = llvm.mlir.constant(3 : i64) : i64
  %private_anonymous = llvm.mlir.constant(34 : i64) : i64
  %no_file = llvm.mlir.constant(-1 : i64) : i64
  %total = llvm.add %size, %header : i64
  %address = llvm.inline_asm has_side_effects asm_dialect = att "$INSTRUCTION", "$REGISTERS"
      %call, %none, %total, %read_write, %private_anonymous, %no_file, %none
      : (i64, i64, i64, i64, i64, i64, i64) -> i64
  %errors = llvm.mlir.constant(-4096 : i64) : i64
  %failed = llvm.icmp "ugt" %address, %errors : i64
  llvm.cond_br %failed, ^fail, ^done
^fail:
  "llvm.intr.trap"() : () -> ()
  llvm.unreachable
^done:
  %mapping = llvm.inttoptr %address : i64 to !llvm.ptr
  llvm.store %total, %mapping : i64, !llvm.ptr
  %buffer = llvm.getelementptr %mapping[64] : (!llvm.ptr) -> !llvm.ptr, i8
  llvm.return %buffer : !llvm.ptr
}
llvm.func internal @_mlir_memref_to_llvm_free(%buffer: !llvm.ptr) {
  %call = llvm.mlir.constant($MUNMAP : i64) : i64
  %none = llvm.mlir.constant(0 : i64) : i64
  %mapping = llvm.getelementptr %buffer[-64] : (!llvm.ptr) -> !llvm.ptr, i8
  %total = llvm.load %mapping : !llvm.ptr -> i64
  %address = llvm.ptrtoint %mapping : !llvm.ptr to i64
  %status = llvm.inline_asm has_side_effects asm_dialect = att "$INSTRUCTION", "$REGISTERS"
      %call, %address, %total, %none, %none, %none, %none
      : (i64, i64, i64, i64, i64, i64, i64) -> i64
  llvm.return
}
)mlir";

static FailureOr<std::string> getAllocator(Location loc) {
  llvm::Triple triple(llvm::sys::getProcessTriple());
  SmallVector<std::pair<StringRef, StringRef>> values;
  if (triple.isOSLinux() && triple.getArch() == llvm::Triple::x86_64)
    values = {{"$INSTRUCTION", "syscall"},
              {"$REGISTERS", "={rax},{rax},{rdi},{rsi},{rdx},{r10},{r8},{r9},"
                             "~{rcx},~{r11},~{memory}"},
              {"$MMAP", "9"},
              {"$MUNMAP", "11"}};
  else if (triple.isOSLinux() && triple.getArch() == llvm::Triple::aarch64)
    values = {{"$INSTRUCTION", "svc #0"},
              {"$REGISTERS", "={x0},{x8},{x0},{x1},{x2},{x3},{x4},{x5},"
                             "~{memory}"},
              {"$MMAP", "222"},
              {"$MUNMAP", "215"}};
  else
    return emitError(loc, "expected a host with Linux on x86-64 or AArch64 for "
                          "an oracle that needs memory, got ")
           << triple.str();
  std::string text = kAllocator.str();
  for (auto [name, value] : values)
    for (size_t at; (at = text.find(name.str())) != std::string::npos;)
      text.replace(at, name.size(), value.str());
  return text;
}

/// Gives the declared allocation functions their bodies.
static LogicalResult defineAllocator(ModuleOp module) {
  bool declared = false;
  for (StringRef name : {kAllocName, kFreeName})
    if (auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
      declared |= function.isExternal();
  if (!declared)
    return success();
  FailureOr<std::string> text = getAllocator(module.getLoc());
  if (failed(text))
    return failure();
  OwningOpRef<ModuleOp> library =
      parseSourceString<ModuleOp>(*text, module.getContext());
  if (!library)
    return failure();
  for (StringRef name : {kAllocName, kFreeName})
    if (auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
      function.erase();
  OpBuilder builder(module.getBodyRegion());
  for (Operation &function : *library->getBody())
    builder.clone(function);
  return success();
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
      LLVM::LLVMVoidType::get(builder.getContext()), {pointer});
  auto function = LLVM::LLVMFuncOp::create(builder, loc, name, type);
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
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
    if (failed(defineAllocator(module)))
      return signalPassFailure();
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
