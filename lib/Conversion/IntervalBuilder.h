// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IntervalBuilder.h - scalar arithmetic of the oracle ---------------===//

#ifndef RMSNORM_LIB_CONVERSION_INTERVALBUILDER_H
#define RMSNORM_LIB_CONVERSION_INTERVALBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::rmsnorm {

/// Builds calls of the functions of runtime/lib/Oracle/OracleABI.h, which it
/// declares. Intervals are complex<f64>.
class IntervalBuilder : public ImplicitLocOpBuilder {
public:
  explicit IntervalBuilder(ModuleOp module)
      : ImplicitLocOpBuilder(module.getLoc(), module.getContext()),
        interval(ComplexType::get(getF64Type())), module(module) {}

  Value call(StringRef name, ValueRange operands);
  /// `value` rounded to `type` if that is a float of less than 32 bits.
  Value round(Value value, Type type);
  /// The result of `op`, on scalars, for `operands`, before it is rounded to a
  /// narrow type; null if there is no rule for `op`.
  Value evaluate(Operation *op, ArrayRef<Value> operands);

  Value integer(int64_t value) {
    return arith::ConstantIntOp::create(*this, getI64Type(), value);
  }
  Value number(double value) {
    return arith::ConstantOp::create(*this, getF64FloatAttr(value));
  }

  const Type interval;

private:
  Value getFloat(Operation *op, ArrayRef<Value> operands);
  Value getBitcast(Type from, Type to, Value operand);
  Value getInteger(Operation *op, ArrayRef<Value> operands);

  ModuleOp module;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_CONVERSION_INTERVALBUILDER_H
