// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IntervalBuilder.cpp - scalar arithmetic of the oracle -------------===//

#include "IntervalBuilder.h"

#include "RMSNorm/Conversion/Passes.h"

#include "OracleABI.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::rmsnorm;

Value IntervalBuilder::call(StringRef name, ValueRange operands) {
  std::string symbol = (kOracleFunctionPrefix + name).str();
  auto function = module.lookupSymbol<func::FuncOp>(symbol);
  if (!function) {
    InsertionGuard guard(*this);
    setInsertionPointToStart(module.getBody());
    function = func::FuncOp::create(
        *this, symbol, getFunctionType(TypeRange(operands), interval));
    function.setPrivate();
  }
  return func::CallOp::create(*this, function, operands).getResult(0);
}

Value IntervalBuilder::round(Value value, Type type) {
  auto element = dyn_cast<FloatType>(type);
  if (!element || element.getWidth() >= 32)
    return value;
  const llvm::fltSemantics &format = element.getFloatSemantics();
  int64_t after = APFloat::semanticsHasInf(format) ? RMSNORM_ORACLE_TO_INFINITY
                  : APFloat::semanticsHasNaN(format) ? RMSNORM_ORACLE_TO_NAN
                                                     : RMSNORM_ORACLE_SATURATE;
  return call("round", {value, integer(APFloat::semanticsPrecision(format)),
                        integer(APFloat::semanticsMinExponent(format)),
                        number(APFloat::getLargest(format).convertToDouble()),
                        integer(after)});
}

/// In the order of arith::CmpIPredicate, without the signs.
static int64_t getRelations(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  constexpr int64_t less = RMSNORM_ORACLE_LESS, equal = RMSNORM_ORACLE_EQUAL,
                    greater = RMSNORM_ORACLE_GREATER;
  if (predicate == P::eq)
    return equal;
  if (predicate == P::ne)
    return less | greater;
  bool isLess = predicate == P::slt || predicate == P::sle ||
                predicate == P::ult || predicate == P::ule;
  bool orEqual = predicate == P::sle || predicate == P::sge ||
                 predicate == P::ule || predicate == P::uge;
  return (isLess ? less : greater) | (orEqual ? equal : 0);
}

/// What is one function of the runtime's with the op's operands, and nothing
/// else; "" if it is not.
static StringRef getFunction(StringRef op) {
  return llvm::StringSwitch<StringRef>(op)
      .Case("arith.addf", "add")
      .Case("arith.subf", "sub")
      .Case("arith.mulf", "mul")
      .Case("arith.divf", "div")
      .Case("arith.negf", "neg")
      .Cases({"arith.maximumf", "arith.maxsi"}, "max")
      .Cases({"arith.minimumf", "arith.minsi"}, "min")
      .Case("arith.maxnumf", "maxnum")
      .Case("arith.minnumf", "minnum")
      .Case("arith.select", "select")
      .Cases({"math.absf", "math.absi"}, "abs")
      .Cases({"math.powf", "math.fpowi"}, "pow")
      .Default("");
}

static std::optional<int64_t> getUnary(StringRef op) {
#define RMSNORM_ORACLE_CASE(name)                                              \
  .Case("math." #name, int64_t(RMSNORM_ORACLE_##name))
  return llvm::StringSwitch<std::optional<int64_t>>(op)
      RMSNORM_ORACLE_UNARY(RMSNORM_ORACLE_CASE)
          .Default(std::nullopt);
#undef RMSNORM_ORACLE_CASE
}

static std::optional<int64_t> getIntegerOperation(StringRef op) {
  return llvm::StringSwitch<std::optional<int64_t>>(op)
      .Case("arith.addi", int64_t(RMSNORM_ORACLE_ADDI))
      .Case("arith.subi", int64_t(RMSNORM_ORACLE_SUBI))
      .Case("arith.muli", int64_t(RMSNORM_ORACLE_MULI))
      .Case("arith.andi", int64_t(RMSNORM_ORACLE_ANDI))
      .Case("arith.ori", int64_t(RMSNORM_ORACLE_ORI))
      .Case("arith.xori", int64_t(RMSNORM_ORACLE_XORI))
      .Case("arith.shli", int64_t(RMSNORM_ORACLE_SHLI))
      .Case("arith.shrsi", int64_t(RMSNORM_ORACLE_SHRSI))
      .Case("arith.shrui", int64_t(RMSNORM_ORACLE_SHRUI))
      .Default(std::nullopt);
}

Value IntervalBuilder::getFloat(Operation *op, ArrayRef<Value> operands) {
  StringRef name = op->getName().getStringRef();
  if (isa<arith::MulFOp>(op) && op->getOperand(0) == op->getOperand(1))
    return call("square", operands[0]);
  if (StringRef function = getFunction(name); !function.empty())
    return call(function, operands);
  if (std::optional<int64_t> function = getUnary(name))
    return call("unary", {operands[0], integer(*function)});
  if (isa<math::FmaOp>(op))
    return call("add", {call("mul", {operands[0], operands[1]}), operands[2]});
  if (isa<math::ClampFOp>(op))
    return call("min", {call("max", {operands[0], operands[1]}), operands[2]});
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return call("compare", {operands[0], operands[1],
                            integer(int64_t(compare.getPredicate()))});
  if (auto truncation = dyn_cast<arith::TruncFOp>(op)) {
    using Mode = arith::RoundingMode;
    Mode mode = truncation.getRoundingmode().value_or(Mode::to_nearest_even);
    if (mode == Mode::to_nearest_even)
      return operands[0];
    if (!isa<Float8E8M0FNUType>(truncation.getType()))
      return Value();
    if (mode == Mode::to_nearest_away)
      return operands[0];
    return call("unary",
                {operands[0],
                 integer(mode == Mode::upward ? RMSNORM_ORACLE_power_above
                                              : RMSNORM_ORACLE_power_below)});
  }
  return isa<arith::ExtFOp>(op) ? operands[0] : Value();
}

Value IntervalBuilder::getInteger(Operation *op, ArrayRef<Value> operands) {
  StringRef name = op->getName().getStringRef();
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  auto unsign = [&](Value value) {
    return call("to_unsigned", {value, integer(from.getIntOrFloatBitWidth())});
  };
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
    // A true i1 is -1 as a signed number.
    Value value = isa<arith::UIToFPOp>(op) ? unsign(operands[0])
                  : from.isInteger(1)      ? call("neg", operands[0])
                                           : operands[0];
    return call("unary", {value, integer(RMSNORM_ORACLE_nearest)});
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    Value relations = integer(getRelations(compare.getPredicate()));
    if (compare.getPredicate() >= arith::CmpIPredicate::ult)
      return call("compare",
                  {unsign(operands[0]), unsign(operands[1]), relations});
    return call("compare", {operands[0], operands[1], relations});
  }
  if (!to.isIntOrFloat())
    return Value();
  Value width = integer(to.getIntOrFloatBitWidth());
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
    return call("to_integer",
                {operands[0], width, integer(isa<arith::FPToSIOp>(op))});
  if (isa<arith::MaxUIOp, arith::MinUIOp>(op))
    return call("wrap", {call(isa<arith::MaxUIOp>(op) ? "max" : "min",
                              {unsign(operands[0]), unsign(operands[1])}),
                         width});
  if (isa<arith::ExtSIOp>(op) && from.isInteger(1))
    return call("neg", operands[0]);
  if (isa<arith::ExtUIOp>(op))
    return call("wrap", {unsign(operands[0]), width});
  if (isa<arith::TruncIOp, arith::ExtSIOp>(op))
    return call("wrap", {operands[0], width});
  if (std::optional<int64_t> operation = getIntegerOperation(name))
    return call("integer",
                {operands[0], operands[1], integer(*operation), width});
  return Value();
}

Value IntervalBuilder::evaluate(Operation *op, ArrayRef<Value> operands) {
  // No kernel computes in wider types than f32.
  auto isWide = [](Type type) {
    return isa<FloatType>(type) && type.getIntOrFloatBitWidth() > 32;
  };
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
      llvm::any_of(op->getOperandTypes(), isWide) ||
      isWide(op->getResult(0).getType()) ||
      !isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return Value();
  Value result = getFloat(op, operands);
  return result ? result : getInteger(op, operands);
}
