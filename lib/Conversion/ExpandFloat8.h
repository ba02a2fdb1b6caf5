// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandFloat8.h - conversions of f8 types ---------------------------===//

#ifndef RMSNORM_LIB_CONVERSION_EXPANDFLOAT8_H
#define RMSNORM_LIB_CONVERSION_EXPANDFLOAT8_H

#include "RMSNorm/Target/Targets.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {

/// Conversions between f32 and an f8 or f4 type that a chip has instructions
/// for, a word of 32 bits at a time: of four elements of f8 or eight of f4, the
/// first one lowest.
struct Float8Instructions {
  /// Whether there are any to this type, rounding in this direction, and from
  /// it.
  bool (*truncates)(FloatType, arith::RoundingMode);
  bool (*extends)(FloatType);
  /// Whether a number that is too large becomes the largest one. In
  /// arith.truncf it becomes an infinity or, in types without one, NaN.
  bool saturate;
  Value (*truncate)(ImplicitLocOpBuilder &, ArrayRef<Value>, FloatType,
                    arith::RoundingMode);
  SmallVector<Value> (*extend)(ImplicitLocOpBuilder &, Value, FloatType);
};

std::optional<Float8Instructions> getFloat8Instructions(const ChipInfo &chip);

/// The bytes, a vector, of elements that `op` rounds, a scalar or a vector of
/// rank 1; null if `chip` has no instructions for it.
Value truncateByInstructions(const Float8Instructions &chip,
                             arith::TruncFOp op);

/// The elements of `type` whose bits are `bytes`, as many as the vector
/// `result` holds; null if `chip` has no instructions for it.
Value extendByInstructions(const Float8Instructions &chip,
                           ImplicitLocOpBuilder &b, Value bytes, FloatType type,
                           VectorType result);

/// Whether elements of `type` are of one of the f8 types that kernels convert,
/// or f4E2M1FN.
bool isFloat8(Type type);

/// `type` with elements of `element`.
Type withElement(Type type, Type element);

/// `value`, of f32 or less, as f32.
Value toF32(ImplicitLocOpBuilder &b, Value value);

/// `value`, of f32, as `type`, of another float.
Value fromF32(ImplicitLocOpBuilder &b, Value value, Type type);

/// The bits of 1.5 * 2^23. The last 16 are zero.
inline constexpr uint32_t kFloat4Base = 0x4b400000;

/// The bits of |value|, f32, rounded to f4E2M1FN, 0 to 7, plus kFloat4Base. A
/// number that is too large becomes the largest one, as the type has neither
/// infinities nor NaN; a NaN does, too.
Value roundToFloat4(ImplicitLocOpBuilder &b, Value value);

/// Adds patterns that rewrite arith.truncf from f32 and arith.extf to or from
/// such types into integer arithmetic, with APFloat's bits, except for the
/// payload of a NaN. Afterwards f8 is left in arith.bitcast only.
void populateExpandFloat8Patterns(RewritePatternSet &patterns);

/// The f4E2M1FN in the highest four bits of each of `words`, i32, as f32. The
/// other bits may be anything.
Value extendFloat4(ImplicitLocOpBuilder &b, Value words);

/// Makes loads, copies and stores of f4E2M1FN move bytes of two numbers, the
/// first one in the lower half; conversions take and give such bytes. Before
/// it, rows and columns are counted in numbers, and are even. Workgroup memory
/// keeps a byte for each number and uses half of them.
LogicalResult packFloat4(gpu::GPUModuleOp module,
                         const std::optional<Float8Instructions> &instructions);

/// Replaces f8 types in the kernels of `module` by i8: conversions become the
/// instructions or, where there are none of the type, integer arithmetic;
/// other arithmetic is done in f32.
LogicalResult
lowerFloat8(gpu::GPUModuleOp module,
            const std::optional<Float8Instructions> &instructions);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_CONVERSION_EXPANDFLOAT8_H
