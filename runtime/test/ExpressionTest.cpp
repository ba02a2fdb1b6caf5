//===- ExpressionTest.cpp -------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Expression.h"
#include "Module.h"
#include "TestModule.h"

#include <gtest/gtest.h>

using namespace rmsnorm::runtime;
using namespace test;
using rmsn::ExpressionOpcode;

namespace {

/// One entry with arguments a[3, 5], b[7]; slots 0, 1, 2.
class ExpressionTest : public testing::Test {
protected:
  /// Puts `ops` in a module and returns the expression in it.
  const rmsn::Expression &read(const Ops &ops) {
    test::Module module;
    module.entries = {{"e",
                       {{"a", rmsn::Role::Input, rmsn::DataType::F32, {3, 5}},
                        {"b", rmsn::Role::Input, rmsn::DataType::F32, {7}}},
                       {{"sm_90", {{"v", {}, ops, {}}}}}}};
    file = module.file();
    const auto &entry = *rmsn::GetModule(file.data())->entries()->Get(0);
    arguments = entry.arguments();
    return *entry.programs()->Get(0)->variants()->Get(0)->workspace();
  }

  EvaluationError evaluate(const Ops &ops, int64_t &result) {
    const rmsn::Expression &expression = read(ops);
    std::string why;
    EXPECT_TRUE(checkExpression(expression, *arguments, /*numLaunches=*/2, why))
        << why;
    ExpressionPool pool;
    ExpressionPool::Ref ref = pool.add(&expression, {0, 2}, {132, {15, 30}});
    const int64_t sizes[] = {3, 5, 7}, strides[] = {50, 1, 1};
    return pool.evaluate(ref, sizes, strides, result);
  }

  int64_t value(const Ops &ops) {
    int64_t result = -999;
    EXPECT_EQ(evaluate(ops, result), EvaluationError::None);
    return result;
  }

  int64_t binary(int64_t a, int64_t b, ExpressionOpcode opcode) {
    return value({constant(a), constant(b), op(opcode)});
  }

  EvaluationError binaryError(int64_t a, int64_t b, ExpressionOpcode opcode) {
    int64_t result = 0;
    return evaluate({constant(a), constant(b), op(opcode)}, result);
  }

  std::string refusal(const Ops &ops) {
    std::string why;
    const rmsn::Expression &expression = read(ops); // sets arguments
    EXPECT_FALSE(
        checkExpression(expression, *arguments, /*numLaunches=*/2, why));
    return why;
  }

  std::string file;
  const flatbuffers::Vector<flatbuffers::Offset<rmsn::Argument>> *arguments;
};

TEST_F(ExpressionTest, Leaves) {
  EXPECT_EQ(value({constant(-4)}), -4);
  EXPECT_EQ(value({size(0, 1)}), 5);
  EXPECT_EQ(value({size(1, 0)}), 7);
  EXPECT_EQ(value({stride(0, 0)}), 50);
  EXPECT_EQ(value({multiprocessors()}), 132);
  EXPECT_EQ(value({residentClusters(1)}), 30);
}

TEST_F(ExpressionTest, Arithmetic) {
  EXPECT_EQ(binary(7, 3, ExpressionOpcode::Add), 10);
  EXPECT_EQ(binary(7, 3, ExpressionOpcode::Sub), 4);
  EXPECT_EQ(binary(7, 3, ExpressionOpcode::Mul), 21);
  EXPECT_EQ(binary(7, 3, ExpressionOpcode::Min), 3);
  EXPECT_EQ(binary(7, 3, ExpressionOpcode::Max), 7);
}

TEST_F(ExpressionTest, DivisionRoundsAsDocumented) {
  EXPECT_EQ(binary(7, 2, ExpressionOpcode::FloorDiv), 3);
  EXPECT_EQ(binary(-7, 2, ExpressionOpcode::FloorDiv), -4);
  EXPECT_EQ(binary(-8, 2, ExpressionOpcode::FloorDiv), -4);
  EXPECT_EQ(binary(7, 2, ExpressionOpcode::CeilDiv), 4);
  EXPECT_EQ(binary(8, 2, ExpressionOpcode::CeilDiv), 4);
  EXPECT_EQ(binary(-7, 2, ExpressionOpcode::CeilDiv), -3);
  EXPECT_EQ(binary(0, 2, ExpressionOpcode::CeilDiv), 0);
  EXPECT_EQ(binary(7, 4, ExpressionOpcode::Rem), 3);
  EXPECT_EQ(binary(-7, 4, ExpressionOpcode::Rem), 1);
  EXPECT_EQ(binary(INT64_MIN, 1, ExpressionOpcode::FloorDiv), INT64_MIN);
  EXPECT_EQ(binary(INT64_MAX, 1, ExpressionOpcode::CeilDiv), INT64_MAX);
}

TEST_F(ExpressionTest, OperandOrder) {
  // min(ceildiv(size(a, 1), 2), 8 * multiprocessors) + size(b, 0) = 3 + 7
  EXPECT_EQ(
      value({size(0, 1), constant(2), op(ExpressionOpcode::CeilDiv),
             constant(8), multiprocessors(), op(ExpressionOpcode::Mul),
             op(ExpressionOpcode::Min), size(1, 0), op(ExpressionOpcode::Add)}),
      10);
}

TEST_F(ExpressionTest, OverflowIsAnError) {
  EXPECT_EQ(binaryError(INT64_MAX, 1, ExpressionOpcode::Add),
            EvaluationError::Overflow);
  EXPECT_EQ(binaryError(INT64_MIN, 1, ExpressionOpcode::Sub),
            EvaluationError::Overflow);
  EXPECT_EQ(binaryError(INT64_MAX, 2, ExpressionOpcode::Mul),
            EvaluationError::Overflow);
}

TEST_F(ExpressionTest, DivisorMustBePositive) {
  for (ExpressionOpcode opcode :
       {ExpressionOpcode::FloorDiv, ExpressionOpcode::CeilDiv,
        ExpressionOpcode::Rem}) {
    EXPECT_EQ(binaryError(1, 0, opcode), EvaluationError::Divisor);
    EXPECT_EQ(binaryError(INT64_MIN, -1, opcode), EvaluationError::Divisor);
  }
}

TEST_F(ExpressionTest, ChecksWhoseClustersAreMeant) {
  EXPECT_EQ(refusal({residentClusters(2)}),
            "expected the clusters of a launch below 2, got 2");
}

TEST_F(ExpressionTest, ChecksTheStack) {
  EXPECT_EQ(refusal({op(ExpressionOpcode::Add)}),
            "operation Add expected 2 values on the stack, got 0");
  EXPECT_EQ(refusal({constant(1), constant(2)}),
            "expected to leave 1 value, got 2");
  EXPECT_EQ(refusal(Ops(33, constant(1))),
            "expected at most 32 values on the stack");
  EXPECT_EQ(refusal(Ops(257, constant(1))),
            "expected 1..256 operations, got 257");
}

TEST_F(ExpressionTest, ChecksIndices) {
  EXPECT_EQ(refusal({size(2, 0)}), "expected an argument below 2, got 2");
  EXPECT_EQ(refusal({stride(1, 1)}), "expected a dimension below 1, got 1");
  EXPECT_EQ(refusal({op(ExpressionOpcode(77))}), "unknown operation 77");
  EXPECT_EQ(refusal({Op(9, ExpressionOpcode::DeviceAttribute, 0, 0)}),
            "unknown device attribute 9");
}

TEST_F(ExpressionTest, Text) {
  const rmsn::Expression &expression = read(
      {size(0, 0), constant(4), op(ExpressionOpcode::CeilDiv), constant(8),
       multiprocessors(), op(ExpressionOpcode::Mul), op(ExpressionOpcode::Min),
       constant(-1), op(ExpressionOpcode::Add)});
  EXPECT_EQ(expressionText(expression, *arguments),
            "min(ceildiv(size(a, 0), 4), 8 * multiprocessors) + (-1)");
}

} // namespace
