//===- Expression.cpp - launch-time integer expressions -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Expression.h"
#include "Status.h"

#include <algorithm>

using namespace rmsnorm::runtime;
using rmsn::ExpressionOpcode;

static bool isLeaf(ExpressionOpcode opcode) {
  return opcode <= ExpressionOpcode::DeviceAttribute;
}

bool rmsnorm::runtime::checkOperand(
    const rmsn::ExpressionOp &op,
    const flatbuffers::Vector<flatbuffers::Offset<rmsn::Argument>> &arguments,
    std::string &why) {
  if (op.argument() >= arguments.size()) {
    why = formatted("expected an argument below %u, got %u", arguments.size(),
                    op.argument());
    return false;
  }
  const auto *dims = arguments.Get(op.argument())->dims();
  unsigned rank = dims ? dims->size() : 0;
  if (op.dimension() >= rank) {
    why = formatted("expected a dimension below %u, got %u", rank,
                    op.dimension());
    return false;
  }
  return true;
}

bool rmsnorm::runtime::checkExpression(
    const rmsn::Expression &expression,
    const flatbuffers::Vector<flatbuffers::Offset<rmsn::Argument>> &arguments,
    unsigned numLaunches, std::string &why) {
  const auto &ops = *expression.ops();
  if (ops.size() == 0 || ops.size() > rmsn::kMaxExpressionOps) {
    why = formatted("expected 1..%u operations, got %u",
                    rmsn::kMaxExpressionOps, ops.size());
    return false;
  }
  // The verifier looks at a vector's length word only, not at its elements'
  // alignment.
  if (reinterpret_cast<uintptr_t>(ops.Data()) % alignof(rmsn::ExpressionOp)) {
    why = "the operations are misaligned";
    return false;
  }
  unsigned depth = 0;
  for (const rmsn::ExpressionOp *op : ops) {
    if (op->opcode() > ExpressionOpcode::Max) {
      why = formatted("unknown operation %u", unsigned(op->opcode()));
      return false;
    }
    if (!isLeaf(op->opcode())) {
      if (depth < 2) {
        why = formatted("operation %s expected 2 values on the stack, got %u",
                        rmsn::EnumNameExpressionOpcode(op->opcode()), depth);
        return false;
      }
      --depth;
      continue;
    }
    if (++depth > rmsn::kMaxExpressionStack) {
      why = formatted("expected at most %u values on the stack",
                      rmsn::kMaxExpressionStack);
      return false;
    }
    if (op->opcode() == ExpressionOpcode::DeviceAttribute) {
      if (op->value() < 0 ||
          op->value() > int64_t(rmsn::DeviceAttribute::MAX)) {
        why = formatted("unknown device attribute %lld",
                        static_cast<long long>(op->value()));
        return false;
      }
      if (op->value() == int64_t(rmsn::DeviceAttribute::ResidentClusters) &&
          op->argument() >= numLaunches) {
        why = formatted("expected the clusters of a launch below %u, got %u",
                        numLaunches, op->argument());
        return false;
      }
    }
    if ((op->opcode() == ExpressionOpcode::Size ||
         op->opcode() == ExpressionOpcode::Stride) &&
        !checkOperand(*op, arguments, why))
      return false;
  }
  if (depth != 1) {
    why = formatted("expected to leave 1 value, got %u", depth);
    return false;
  }
  return true;
}

std::string rmsnorm::runtime::expressionText(
    const rmsn::Expression &expression,
    const flatbuffers::Vector<flatbuffers::Offset<rmsn::Argument>> &arguments) {
  struct Text {
    std::string text;
    bool atom; // needs no parentheses
  };
  std::vector<Text> stack;
  auto wrapped = [](const Text &t) {
    return t.atom ? t.text : "(" + t.text + ")";
  };
  for (const rmsn::ExpressionOp *op : *expression.ops()) {
    ExpressionOpcode opcode = op->opcode();
    if (opcode == ExpressionOpcode::Constant) {
      stack.push_back({std::to_string(op->value()), op->value() >= 0});
      continue;
    }
    if (opcode == ExpressionOpcode::DeviceAttribute) {
      bool clusters =
          op->value() == int64_t(rmsn::DeviceAttribute::ResidentClusters);
      stack.push_back(
          {clusters ? formatted("resident_clusters(launch %u)", op->argument())
                    : "multiprocessors",
           true});
      continue;
    }
    if (isLeaf(opcode)) {
      stack.push_back(
          {formatted("%s(%s, %u)",
                     opcode == ExpressionOpcode::Size ? "size" : "stride",
                     arguments.Get(op->argument())->name()->c_str(),
                     op->dimension()),
           true});
      continue;
    }
    Text b = std::move(stack.back());
    stack.pop_back();
    Text a = std::move(stack.back());
    stack.pop_back();
    auto infix = [&](const char *sign) {
      stack.push_back({wrapped(a) + sign + wrapped(b), false});
    };
    auto call = [&](const char *name) {
      stack.push_back({name + ("(" + a.text + ", " + b.text + ")"), true});
    };
    switch (opcode) {
    case ExpressionOpcode::Add:
      infix(" + ");
      break;
    case ExpressionOpcode::Sub:
      infix(" - ");
      break;
    case ExpressionOpcode::Mul:
      infix(" * ");
      break;
    case ExpressionOpcode::FloorDiv:
      call("floordiv");
      break;
    case ExpressionOpcode::CeilDiv:
      call("ceildiv");
      break;
    case ExpressionOpcode::Rem:
      call("rem");
      break;
    case ExpressionOpcode::Min:
      call("min");
      break;
    default:
      call("max");
      break;
    }
  }
  return stack.back().text;
}

const char *rmsnorm::runtime::evaluationErrorText(EvaluationError error) {
  switch (error) {
  case EvaluationError::None:
    return "no error";
  case EvaluationError::Overflow:
    return "the value does not fit 64 bits";
  case EvaluationError::Divisor:
    return "expected a divisor > 0";
  }
  return "unknown error";
}

/// Rounds towards minus infinity; `b` > 0, so nothing here can overflow.
static int64_t floorDiv(int64_t a, int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}

EvaluationError rmsnorm::runtime::evaluate(const Operation *operations,
                                           unsigned count, const int64_t *sizes,
                                           const int64_t *strides,
                                           int64_t &result) {
  int64_t stack[rmsn::kMaxExpressionStack];
  unsigned depth = 0;
  for (const Operation *op = operations; op != operations + count; ++op) {
    switch (op->opcode) {
    case ExpressionOpcode::Constant:
    case ExpressionOpcode::DeviceAttribute: // compiled to a constant
      stack[depth++] = op->value;
      continue;
    case ExpressionOpcode::Size:
      stack[depth++] = sizes[op->slot];
      continue;
    case ExpressionOpcode::Stride:
      stack[depth++] = strides[op->slot];
      continue;
    default:
      break;
    }
    int64_t b = stack[--depth];
    int64_t &a = stack[depth - 1];
    switch (op->opcode) {
    case ExpressionOpcode::Add:
      if (__builtin_add_overflow(a, b, &a))
        return EvaluationError::Overflow;
      break;
    case ExpressionOpcode::Sub:
      if (__builtin_sub_overflow(a, b, &a))
        return EvaluationError::Overflow;
      break;
    case ExpressionOpcode::Mul:
      if (__builtin_mul_overflow(a, b, &a))
        return EvaluationError::Overflow;
      break;
    case ExpressionOpcode::FloorDiv:
    case ExpressionOpcode::CeilDiv:
    case ExpressionOpcode::Rem:
      if (b <= 0)
        return EvaluationError::Divisor;
      if (op->opcode == ExpressionOpcode::FloorDiv)
        a = floorDiv(a, b);
      else if (op->opcode == ExpressionOpcode::CeilDiv)
        a = a / b + (a % b > 0 ? 1 : 0);
      else
        a = a % b + (a % b < 0 ? b : 0);
      break;
    case ExpressionOpcode::Min:
      a = std::min(a, b);
      break;
    default:
      a = std::max(a, b);
      break;
    }
  }
  result = stack[0];
  return EvaluationError::None;
}

ExpressionPool::Ref ExpressionPool::add(const rmsn::Expression *expression,
                                        const std::vector<uint16_t> &slots,
                                        const DeviceValues &device) {
  Ref ref;
  if (!expression)
    return ref;
  ref.first = operations.size();
  bool constant = true;
  for (const rmsn::ExpressionOp *op : *expression->ops()) {
    Operation compiled{op->value(), op->opcode(), 0};
    if (op->opcode() == ExpressionOpcode::DeviceAttribute) {
      bool clusters =
          op->value() == int64_t(rmsn::DeviceAttribute::ResidentClusters);
      compiled.opcode = ExpressionOpcode::Constant;
      compiled.value = clusters ? device.residentClusters[op->argument()]
                                : device.multiprocessors;
    } else if (op->opcode() == ExpressionOpcode::Size ||
               op->opcode() == ExpressionOpcode::Stride) {
      compiled.slot = slots[op->argument()] + op->dimension();
      constant = false;
    }
    operations.push_back(compiled);
  }
  ref.count = operations.size() - ref.first;
  int64_t value;
  // An expression that fails is kept, so that the launch reports it.
  if (constant && runtime::evaluate(&operations[ref.first], ref.count, nullptr,
                                    nullptr, value) == EvaluationError::None) {
    operations.resize(ref.first);
    operations.push_back({value, ExpressionOpcode::Constant, 0});
    ref.count = 1;
  }
  return ref;
}
