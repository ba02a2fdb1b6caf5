// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostRuntime.cpp - what code for the CPU needs ---------------------===//

#include "RMSNorm/Target/HostRuntime.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/SourceMgr.h"

// Integer arithmetic throughout: a conversion instruction could become a call
// of the very function it stands in.
static constexpr const char *kConversions = R"(
; f64 to f32, rounding to odd: the result has an odd last bit wherever it is
; inexact, so that rounding it again to a format of at most 22 bits gives what
; rounding once gives.
define internal i32 @rmsnorm.round_to_odd(double %x) nounwind {
  %nearest = fptrunc double %x to float
  %back = fpext float %nearest to double
  %inexact = fcmp one double %back, %x
  %x.abs = call double @llvm.fabs.f64(double %x)
  %back.abs = call double @llvm.fabs.f64(double %back)
  %away = fcmp ogt double %back.abs, %x.abs
  %bits = bitcast float %nearest to i32
  %step = zext i1 %away to i32
  %truncated = sub i32 %bits, %step
  %odd = or i32 %truncated, 1
  %result = select i1 %inexact, i32 %odd, i32 %bits
  ret i32 %result
}

define internal i16 @rmsnorm.to_bf16(i32 %bits) nounwind {
  %abs = and i32 %bits, 2147483647
  %is.nan = icmp ugt i32 %abs, 2139095040
  %upper = lshr i32 %bits, 16
  %quiet = or i32 %upper, 64
  %last = and i32 %upper, 1
  %bias = add i32 %last, 32767
  %sum = add i32 %bits, %bias
  %rounded = lshr i32 %sum, 16
  %result = select i1 %is.nan, i32 %quiet, i32 %rounded
  %narrow = trunc i32 %result to i16
  ret i16 %narrow
}

define internal i16 @rmsnorm.to_f16(i32 %bits) nounwind {
  %abs = and i32 %bits, 2147483647
  %sign.wide = lshr i32 %bits, 16
  %sign = and i32 %sign.wide, 32768
  ; Normal: rebias the exponent, round the 13 bits below to nearest even.
  %rebiased = sub i32 %abs, 939524096
  %last.at = lshr i32 %rebiased, 13
  %last = and i32 %last.at, 1
  %bias = add i32 %last, 4095
  %sum = add i32 %rebiased, %bias
  %normal = lshr i32 %sum, 13
  ; Below 2^-14: an ulp of 0.5 is 2^-24, that of a subnormal f16.
  %value = bitcast i32 %abs to float
  %half = fadd float %value, 5.000000e-01
  %half.bits = bitcast float %half to i32
  %subnormal = sub i32 %half.bits, 1056964608
  %is.subnormal = icmp ult i32 %abs, 947912704
  %finite = select i1 %is.subnormal, i32 %subnormal, i32 %normal
  ; From 65520 on: infinity.
  %is.large = icmp uge i32 %abs, 1199566848
  %number = select i1 %is.large, i32 31744, i32 %finite
  %payload.wide = lshr i32 %abs, 13
  %payload = and i32 %payload.wide, 1023
  %quiet = or i32 %payload, 32256
  %is.nan = icmp ugt i32 %abs, 2139095040
  %magnitude = select i1 %is.nan, i32 %quiet, i32 %number
  %result = or i32 %magnitude, %sign
  %narrow = trunc i32 %result to i16
  ret i16 %narrow
}

define hidden bfloat @__truncsfbf2(float %x) nounwind {
  %bits = bitcast float %x to i32
  %narrow = call i16 @rmsnorm.to_bf16(i32 %bits)
  %result = bitcast i16 %narrow to bfloat
  ret bfloat %result
}

define hidden bfloat @__truncdfbf2(double %x) nounwind {
  %bits = call i32 @rmsnorm.round_to_odd(double %x)
  %narrow = call i16 @rmsnorm.to_bf16(i32 %bits)
  %result = bitcast i16 %narrow to bfloat
  ret bfloat %result
}

define hidden half @__truncsfhf2(float %x) nounwind {
  %bits = bitcast float %x to i32
  %narrow = call i16 @rmsnorm.to_f16(i32 %bits)
  %result = bitcast i16 %narrow to half
  ret half %result
}

define hidden half @__truncdfhf2(double %x) nounwind {
  %bits = call i32 @rmsnorm.round_to_odd(double %x)
  %narrow = call i16 @rmsnorm.to_f16(i32 %bits)
  %result = bitcast i16 %narrow to half
  ret half %result
}

define hidden float @__extendhfsf2(half %x) nounwind {
  %narrow = bitcast half %x to i16
  %bits = zext i16 %narrow to i32
  %abs = and i32 %bits, 32767
  %sign = and i32 %bits, 32768
  %sign.wide = shl i32 %sign, 16
  %shifted = shl i32 %abs, 13
  %scaled = bitcast i32 %shifted to float
  ; 2^112, the difference of the biases; makes subnormals normal.
  %value = fmul float %scaled, 0x46F0000000000000
  %value.bits = bitcast float %value to i32
  %special = or i32 %shifted, 2139095040
  %is.nan = icmp ugt i32 %abs, 31744
  %quiet = select i1 %is.nan, i32 4194304, i32 0
  %special.quiet = or i32 %special, %quiet
  %is.special = icmp uge i32 %abs, 31744
  %magnitude = select i1 %is.special, i32 %special.quiet, i32 %value.bits
  %result = or i32 %magnitude, %sign.wide
  %wide = bitcast i32 %result to float
  ret float %wide
}

declare double @llvm.fabs.f64(double)
)";

// 128 bits are what LLVM's loop strength reduction computes quotients of 64-bit
// trip counts in, which fit the first case.
static constexpr const char *kDivision = R"(
define hidden i128 @__udivti3(i128 %n, i128 %d) nounwind {
  %both = or i128 %n, %d
  %high = lshr i128 %both, 64
  %is.narrow = icmp eq i128 %high, 0
  br i1 %is.narrow, label %narrow, label %loop
narrow:
  %n.low = trunc i128 %n to i64
  %d.low = trunc i128 %d to i64
  %q.low = udiv i64 %n.low, %d.low
  %q = zext i64 %q.low to i128
  ret i128 %q
loop:
  ; Bit by bit: those of the dividend leave, those of the quotient follow them.
  ; What is left of k bits has no more than k, so that twice that fits.
  %count = phi i32 [ 128, %0 ], [ %count.next, %loop ]
  %bits = phi i128 [ %n, %0 ], [ %bits.next, %loop ]
  %rest = phi i128 [ 0, %0 ], [ %rest.next, %loop ]
  %bit = lshr i128 %bits, 127
  %rest.twice = shl i128 %rest, 1
  %sum = or i128 %rest.twice, %bit
  %takes = icmp uge i128 %sum, %d
  %less = sub i128 %sum, %d
  %rest.next = select i1 %takes, i128 %less, i128 %sum
  %bits.left = shl i128 %bits, 1
  %digit = zext i1 %takes to i128
  %bits.next = or i128 %bits.left, %digit
  %count.next = sub i32 %count, 1
  %is.done = icmp eq i32 %count.next, 0
  br i1 %is.done, label %done, label %loop
done:
  ret i128 %bits.next
}
)";

static bool
anyInstruction(const llvm::Module &module,
               llvm::function_ref<bool(const llvm::Instruction &)> holds) {
  return llvm::any_of(module, [&](const llvm::Function &function) {
    return llvm::any_of(llvm::instructions(function), holds);
  });
}

/// Whether it may become a call of a conversion.
static bool usesNarrowFloats(const llvm::Instruction &instruction) {
  auto isNarrow = [](const llvm::Value *value) {
    llvm::Type *type = value->getType()->getScalarType();
    return type->isHalfTy() || type->isBFloatTy();
  };
  return isNarrow(&instruction) ||
         llvm::any_of(instruction.operand_values(), isNarrow);
}

static void addFunctions(llvm::Module &module, const char *functions) {
  llvm::SMDiagnostic diagnostic;
  std::unique_ptr<llvm::Module> library =
      llvm::parseAssemblyString(functions, diagnostic, module.getContext());
  if (!library)
    llvm::report_fatal_error(diagnostic.getMessage());
  library->setTargetTriple(module.getTargetTriple());
  library->setDataLayout(module.getDataLayout());
  for (llvm::Function &function : *library) {
    llvm::Function *own = module.getFunction(function.getName());
    if (own && !own->isDeclaration() && !function.hasLocalLinkage())
      function.deleteBody();
  }
  if (llvm::Linker::linkModules(module, std::move(library)))
    llvm::report_fatal_error("linking the host's library calls failed");
}

void mlir::rmsnorm::addHostRuntimeFunctions(llvm::Module &module) {
  if (anyInstruction(module, usesNarrowFloats))
    addFunctions(module, kConversions);
  if (anyInstruction(module, [](const llvm::Instruction &instruction) {
        return instruction.isIntDivRem();
      }))
    addFunctions(module, kDivision);
}

void mlir::rmsnorm::widenStores(llvm::Module &module) {
  for (llvm::Function &function : module)
    for (llvm::Instruction &instruction : llvm::instructions(function)) {
      auto *store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
      auto *value =
          store ? llvm::dyn_cast<llvm::ConstantInt>(store->getValueOperand())
                : nullptr;
      if (value && value->getBitWidth() > 1 && value->getBitWidth() < 8)
        store->setOperand(0, llvm::ConstantInt::get(
                                 llvm::Type::getInt8Ty(module.getContext()),
                                 value->getZExtValue()));
    }
}
