// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IntervalBuilder.cpp - scalar arithmetic of the oracle -------------===//

#include "IntervalBuilder.h"

#include "RMSNorm/Conversion/Passes.h"
#include "RMSNorm/IR/ElementOps.h"

#include "OracleABI.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>

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

/// That of an unordered predicate is one less than LLVM's, UNO the last.
static int64_t getRelations(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  if (predicate == P::UNO)
    return RMSNORM_ORACLE_UNORDERED;
  const bool isShifted = predicate >= P::UEQ && predicate <= P::UNE;
  return int64_t(predicate) + isShifted;
}

/// The function of the runtime that takes the op's operands and nothing else;
/// "" if there is none.
static StringRef getFunction(StringRef op) {
  return llvm::StringSwitch<StringRef>(op)
      .Case("arith.addf", "add")
      .Case("arith.subf", "sub")
      .Case("arith.mulf", "mul")
      .Case("arith.divf", "div")
      .Case("arith.remf", "rem")
      .Case("arith.negf", "neg")
      .Cases({"arith.maximumf", "arith.maxsi"}, "max")
      .Cases({"arith.minimumf", "arith.minsi"}, "min")
      .Case("arith.maxnumf", "maxnum")
      .Case("arith.minnumf", "minnum")
      .Case("arith.select", "select")
      .Case("math.absf", "abs")
      .Cases({"math.powf", "math.fpowi"}, "pow")
      .Case("math.atan2", "atan2")
      .Case("math.copysign", "copysign")
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
      .Case("arith.divsi", int64_t(RMSNORM_ORACLE_DIVI))
      .Case("arith.divui", int64_t(RMSNORM_ORACLE_DIVUI))
      .Case("arith.floordivsi", int64_t(RMSNORM_ORACLE_FLOORDIVI))
      .Case("arith.ceildivsi", int64_t(RMSNORM_ORACLE_CEILDIVI))
      .Case("arith.ceildivui", int64_t(RMSNORM_ORACLE_CEILDIVUI))
      .Case("arith.remsi", int64_t(RMSNORM_ORACLE_REMI))
      .Case("arith.remui", int64_t(RMSNORM_ORACLE_REMUI))
      .Case("math.ctlz", int64_t(RMSNORM_ORACLE_CTLZ))
      .Case("math.cttz", int64_t(RMSNORM_ORACLE_CTTZ))
      .Case("math.ctpop", int64_t(RMSNORM_ORACLE_CTPOP))
      .Default(std::nullopt);
}

Value IntervalBuilder::getFloat(Operation *op, ArrayRef<Value> operands) {
  StringRef name = op->getName().getStringRef();
  if (isa<arith::MulFOp>(op) && op->getOperand(0) == op->getOperand(1))
    return call("square", operands[0]);
  if (std::optional<int64_t> power = getPowerOfProducts(op))
    return call("powi", {operands[0], integer(*power)});
  if (StringRef function = getFunction(name); !function.empty())
    return call(function, operands);
  if (std::optional<int64_t> function = getUnary(name))
    return call("unary", {operands[0], integer(*function)});
  if (isa<math::TanOp>(op))
    return call("div",
                {call("unary", {operands[0], integer(RMSNORM_ORACLE_sin)}),
                 call("unary", {operands[0], integer(RMSNORM_ORACLE_cos)})});
  if (isa<math::IsNaNOp>(op))
    return call("compare",
                {operands[0], operands[0], integer(RMSNORM_ORACLE_UNORDERED)});
  if (isa<math::IsFiniteOp, math::IsInfOp>(op)) {
    Value infinity = number(HUGE_VAL);
    infinity = complex::CreateOp::create(*this, interval, infinity, infinity);
    return call("compare",
                {call("abs", operands[0]), infinity,
                 integer(isa<math::IsInfOp>(op) ? RMSNORM_ORACLE_EQUAL
                                                : RMSNORM_ORACLE_LESS)});
  }
  if (isa<math::IsNormalOp>(op)) {
    Value magnitude = call("abs", operands[0]);
    auto compare = [&](const APFloat &value, int64_t relations) {
      Value number = this->number(value.convertToDouble());
      number = complex::CreateOp::create(*this, interval, number, number);
      return call("compare", {magnitude, number, integer(relations)});
    };
    const llvm::fltSemantics &format =
        cast<FloatType>(op->getOperand(0).getType()).getFloatSemantics();
    Value isFinite = compare(APFloat::getInf(format), RMSNORM_ORACLE_LESS);
    Value isLarge = compare(APFloat::getSmallestNormalized(format),
                            RMSNORM_ORACLE_GREATER | RMSNORM_ORACLE_EQUAL);
    return call("select", {isFinite, isLarge, isFinite});
  }
  if (isa<math::FmaOp>(op))
    return call("fma", {operands[0], operands[1], operands[2],
                        integer(!op->getResult(0).getType().isF32())});
  if (isa<math::ClampFOp>(op))
    return call("min", {call("max", {operands[0], operands[1]}), operands[2]});
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return call("compare", {operands[0], operands[1],
                            integer(getRelations(compare.getPredicate()))});
  if (auto truncation = dyn_cast<arith::TruncFOp>(op)) {
    using Mode = arith::RoundingMode;
    Mode mode = truncation.getRoundingmode().value_or(Mode::to_nearest_even);
    // A number that is written in f64.
    if (mode == Mode::to_nearest_even && truncation.getType().isF32())
      return call("unary", {operands[0], integer(RMSNORM_ORACLE_nearest)});
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

/// Of floats whose bits are as IEEE's, or an exponent.
Value IntervalBuilder::getBitcast(Type from, Type to, Value operand) {
  if (from == to)
    return operand;
  auto convert = [&](StringRef function, FloatType element, Value value) {
    const llvm::fltSemantics &format = element.getFloatSemantics();
    return call(function, {value, integer(APFloat::semanticsPrecision(format)),
                           integer(APFloat::semanticsMinExponent(format)),
                           integer(element.getWidth())});
  };
  if (auto element = dyn_cast<FloatType>(from))
    operand = convert("to_bits", element, operand);
  if (auto element = dyn_cast<FloatType>(to))
    operand = convert("from_bits", element, operand);
  return operand;
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
      return call("compare_unsigned", {operands[0], operands[1], relations,
                                       integer(from.getIntOrFloatBitWidth())});
    return call("compare", {operands[0], operands[1], relations});
  }
  if (!to.isIntOrFloat())
    return Value();
  Value width = integer(to.getIntOrFloatBitWidth());
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op))
    return call("to_integer",
                {operands[0], width, integer(isa<arith::FPToSIOp>(op))});
  if (isa<arith::MaxUIOp, arith::MinUIOp>(op)) {
    Value takesFirst =
        call("compare_unsigned",
             {operands[0], operands[1],
              integer(isa<arith::MaxUIOp>(op) ? RMSNORM_ORACLE_GREATER
                                              : RMSNORM_ORACLE_LESS),
              width});
    return call("select", {takesFirst, operands[0], operands[1]});
  }
  if (isa<math::AbsIOp>(op))
    return call("wrap", {call("abs", operands[0]), width});
  if (isa<arith::ExtSIOp>(op) && from.isInteger(1))
    return call("neg", operands[0]);
  if (isa<arith::ExtUIOp>(op))
    return call("wrap", {unsign(operands[0]), width});
  if (isa<arith::TruncIOp, arith::ExtSIOp>(op))
    return call("wrap", {operands[0], width});
  if (std::optional<int64_t> operation = getIntegerOperation(name)) {
    return call("integer", {operands.front(), operands.back(),
                            integer(*operation), width});
  }
  return Value();
}

Value IntervalBuilder::evaluate(Operation *op, ArrayRef<Value> operands) {
  if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
      !whyNotComputable(op).empty())
    return Value();
  if (auto cast = dyn_cast<arith::BitcastOp>(op))
    return getBitcast(cast.getIn().getType(), cast.getType(), operands[0]);
  Value result = getFloat(op, operands);
  return result ? result : getInteger(op, operands);
}
