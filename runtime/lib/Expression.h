//===- Expression.h - launch-time integer expressions ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions come as postfix programs from the module (format/module.fbs).
// They are checked once when the module is opened, compiled once when a
// function is prepared, and evaluated at every launch.

#ifndef RMSNORM_RUNTIME_EXPRESSION_H
#define RMSNORM_RUNTIME_EXPRESSION_H

#include "Limits.h"
#include "module_generated.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rmsnorm::runtime {

/// Whether `expression` keeps the format's rules for an entry with these
/// arguments, in a variant with `numLaunches` launches whose clusters it may
/// ask for; if not, says why in `why`.
bool checkExpression(
    const rmsn::Expression &expression,
    const flatbuffers::Vector<flatbuffers::Offset<rmsn::Argument>> &arguments,
    unsigned numLaunches, std::string &why);

/// Whether the argument and the dimension that `op` has exist; if not, says so
/// in `why`.
bool checkOperand(
    const rmsn::ExpressionOp &op,
    const flatbuffers::Vector<flatbuffers::Offset<rmsn::Argument>> &arguments,
    std::string &why);

/// As text, e.g. "min(ceildiv(size(x, 0), 4), 8 * multiprocessors)". The
/// expression must have passed checkExpression.
std::string expressionText(
    const rmsn::Expression &expression,
    const flatbuffers::Vector<flatbuffers::Offset<rmsn::Argument>> &arguments);

/// One operation with arguments resolved: sizes and strides of all arguments
/// lie one after the other, `slot` being the index there.
struct Operation {
  int64_t value;
  rmsn::ExpressionOpcode opcode;
  uint16_t slot;
};

enum class EvaluationError { None, Overflow, Divisor };

/// Words for an error, to follow "cannot evaluate ...: ".
const char *evaluationErrorText(EvaluationError error);

/// Evaluates a compiled, checked expression. No allocation.
EvaluationError evaluate(const Operation *operations, unsigned count,
                         const int64_t *sizes, const int64_t *strides,
                         int64_t &result);

/// The device's values in expressions.
struct DeviceValues {
  int64_t multiprocessors = 1;
  /// For each launch of the variant: clusters that are resident together.
  std::vector<int64_t> residentClusters;
};

/// Compiles checked expressions into one pool of operations.
class ExpressionPool {
public:
  struct Ref {
    uint32_t first = 0;
    uint32_t count = 0; // 0: absent
    explicit operator bool() const { return count != 0; }
  };

  /// `slots[a]` is the slot of argument a's dimension 0. Null gives an absent
  /// expression. One without sizes or strides becomes a single constant.
  Ref add(const rmsn::Expression *expression,
          const std::vector<uint16_t> &slots, const DeviceValues &device);

  EvaluationError evaluate(Ref ref, const int64_t *sizes,
                           const int64_t *strides, int64_t &result) const {
    const Operation *first = operations.data() + ref.first;
    if (ref.count == 1 && first->opcode == rmsn::ExpressionOpcode::Constant) {
      result = first->value;
      return EvaluationError::None;
    }
    return runtime::evaluate(first, ref.count, sizes, strides, result);
  }

  /// Whether the value is the same at every launch.
  bool isConstant(Ref ref) const {
    return ref.count == 1 &&
           operations[ref.first].opcode == rmsn::ExpressionOpcode::Constant;
  }

private:
  std::vector<Operation> operations;
};

} // namespace rmsnorm::runtime

#endif // RMSNORM_RUNTIME_EXPRESSION_H
