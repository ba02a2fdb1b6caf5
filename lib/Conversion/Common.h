// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Common.h - what the device finalizations share --------------------===//

#ifndef RMSNORM_LIB_CONVERSION_COMMON_H
#define RMSNORM_LIB_CONVERSION_COMMON_H

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir {
class LLVMTypeConverter;
} // namespace mlir

namespace mlir::rmsnorm {

//===----------------------------------------------------------------------===//
// Fragments in memory
//===----------------------------------------------------------------------===//

/// How a fragment is cut into memory accesses: all of one power-of-two size up
/// to 16 bytes.
struct AccessPlan {
  /// A fragment of which every address is a multiple of `alignment` bytes.
  AccessPlan(VectorType fragment, int64_t alignment);

  VectorType fragment;
  /// The type of one access: vector<elements x T>.
  VectorType piece;
  int64_t bytes;
  int64_t count;

  int64_t elements() const { return piece.getNumElements(); }
  /// The piece number `i` of `value`, which has the fragment's type.
  Value extract(ImplicitLocOpBuilder &b, Value value, int64_t i) const;
  /// The fragment made of `pieces`.
  Value assemble(ImplicitLocOpBuilder &b, ValueRange pieces) const;
  /// Whether access `i` has something to do: its first element < `valid`.
  Value predicate(ImplicitLocOpBuilder &b, Value valid, int64_t i) const;
};

/// An address in the parts targets can encode: base + row, 64-bit; a
/// non-negative 32-bit offset in the row; a constant. In bytes.
struct FragmentAddress {
  FragmentAddress(ImplicitLocOpBuilder &b, Value base, Value row, Value column,
                  Type element, bool inBounds);

  /// The address of `extra` bytes behind the fragment's start; column 0 of the
  /// row where `predicate` is given and false.
  Value get(ImplicitLocOpBuilder &b, int64_t extra,
            Value predicate = nullptr) const;

private:
  Value rowAddress;
  Value offset; // i32
  int64_t constant;
  bool inBounds;
};

/// Takes the constants off `offset` that were added without unsigned wrap, so
/// that they end up in the instruction's immediate; returns their sum.
int64_t peelConstant(Value &offset);

/// The value's bits as 32-bit words (a value narrower than that: one word).
SmallVector<Value> toWords(ImplicitLocOpBuilder &b, Value fragment);
/// The inverse of toWords.
Value fromWords(ImplicitLocOpBuilder &b, ValueRange words, VectorType fragment);

//===----------------------------------------------------------------------===//
// Workgroup memory, reductions
//===----------------------------------------------------------------------===//

/// The symbol of a kernel's dynamic workgroup memory, made on first use.
LLVM::GlobalOp getWorkgroupBuffer(gpu::GPUModuleOp module);

/// Replaces the module's workgroup loads and stores. `registerClass` is the
/// constraint of an i32 in the target's assembly.
void lowerWorkgroupAccesses(gpu::GPUModuleOp module, StringRef registerClass);

/// The address of byte `offset` of workgroup memory.
Value createWorkgroupAddress(ImplicitLocOpBuilder &b, gpu::GPUModuleOp module,
                             Value offset);

/// Replaces the asynchronous copies for which `isPlain` holds by loads and
/// stores.
void expandCopies(gpu::GPUModuleOp module,
                  function_ref<bool(AsyncCopyOp)> isPlain);

/// `lhs` and `rhs` combined.
Value createCombine(ImplicitLocOpBuilder &b, ReduceKind kind, Value lhs,
                    Value rhs);

/// Inline assembly with no memory clobber. `results` may be empty.
LLVM::InlineAsmOp createAsm(ImplicitLocOpBuilder &b, Type result,
                            ValueRange operands, StringRef text,
                            StringRef constraints, bool sideEffects);

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

/// Refuses exchanges between more blocks than a cluster of the chip has.
LogicalResult checkExchanges(gpu::GPUModuleOp module, const ChipInfo &chip);

/// Replaces the ops of exchanges by mbarriers and st.async.
void lowerExchangesToMBarriers(gpu::GPUModuleOp module);

//===----------------------------------------------------------------------===//
// Math
//===----------------------------------------------------------------------===//

/// Makes an f32 operation of one scalar.
using ScalarF32Lowering = function_ref<Value(ImplicitLocOpBuilder &, Value)>;

/// Rewrites math ops into arith and what the back end selects without a
/// library: approximations for the transcendental ones, `rsqrt` and `exp2` on
/// f32 scalars through the callbacks. 16-bit ones are computed in f32.
LogicalResult expandMath(gpu::GPUModuleOp module, ScalarF32Lowering rsqrt,
                         ScalarF32Lowering exp2);

//===----------------------------------------------------------------------===//
// The rest
//===----------------------------------------------------------------------===//

/// Lowers everything left (arith, math, vector, scf, gpu) with upstream's
/// patterns; `populate` adds the target's. Fails, naming the operation, if
/// something has no lowering, or calls or declares a function that the
/// module does not define.
LogicalResult lowerToLLVM(
    gpu::GPUModuleOp module,
    function_ref<void(LLVMTypeConverter &, RewritePatternSet &)> populate);

/// Refuses what no target has code for: operations that nobody registered, and
/// vectors too wide for a thread, which code generators would unroll.
LogicalResult checkDeviceCode(gpu::GPUModuleOp module);

/// The gpu.modules below `root`, checked as device code, if its target is
/// `backend`; an error is emitted if it has none or another one.
FailureOr<SmallVector<gpu::GPUModuleOp>>
getDeviceModules(ModuleOp root, Backend backend, StringRef passName);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_CONVERSION_COMMON_H
