//===- ArgumentCheckTest.cpp - every refusal with its message -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ArgumentCheck.h"
#include "Tensor.h"
#include "TestModule.h"

#include <gtest/gtest.h>

#include <type_traits>

using namespace rmsnorm::runtime;
using namespace test;

namespace {

/// forward(x[M, 4096], weight[4096] dense, y[M, 4096]) with good arguments that
/// each test spoils in one way. Addresses are made up: nothing reads them.
class ArgumentCheckTest : public testing::Test {
protected:
  ArgumentCheckTest()
      : file(forwardModule("sm_90", rmsn::Backend::Cuda,
                           rmsn::BinaryFormat::Ptx, "code")
                 .file()),
        rules(*rmsn::GetModule(file.data())->entries()->Get(0)) {}

  rmsnorm_status check(ArgumentRules::Mode mode = ArgumentRules::Mode::Launch) {
    DLTensor *arguments[] = {&x, &weight, &y};
    return rules.check(arguments, 3, place, mode, values);
  }

  /// Expects a refusal with exactly this message.
  void refused(const char *message) {
    EXPECT_EQ(check(), RMSNORM_INVALID_ARGUMENT);
    EXPECT_STREQ(rmsnorm_last_error(), message);
  }

  static void *at(uintptr_t address) {
    return reinterpret_cast<void *>(address);
  }

  std::string file;
  ArgumentRules rules;
  DevicePlace place = {CUDA0, true};
  Values values;
  Tensor x{at(0x10000), CUDA0, BF16, {8, 4096}, {5000, 1}};
  Tensor weight{at(0x90000), CUDA0, BF16, {4096}};
  Tensor y{at(0xa0000), CUDA0, BF16, {8, 4096}};
};

TEST_F(ArgumentCheckTest, Accepts) {
  ASSERT_EQ(check(), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_EQ(values.sizes[rules[0].slot], 8);
  EXPECT_EQ(values.strides[rules[0].slot], 5000);
  EXPECT_EQ(values.strides[rules[2].slot], 4096); // no strides: packed
  EXPECT_EQ(values.addresses[1], 0x90000u);
  EXPECT_EQ(values.extents[0], (7 * 5000 + 4096) * 2u);
  EXPECT_EQ(values.extents[2], 8 * 4096 * 2u);
}

TEST_F(ArgumentCheckTest, ByteOffsetCounts) {
  x.byte_offset = 64;
  ASSERT_EQ(check(), RMSNORM_OK);
  EXPECT_EQ(values.addresses[0], 0x10040u);
}

TEST_F(ArgumentCheckTest, Count) {
  DLTensor *arguments[] = {&x, &weight};
  EXPECT_EQ(
      rules.check(arguments, 2, place, ArgumentRules::Mode::Launch, values),
      RMSNORM_INVALID_ARGUMENT);
  EXPECT_STREQ(rmsnorm_last_error(),
               "entry 'forward': expected 3 arguments (x, weight, y), got 2");
}

TEST_F(ArgumentCheckTest, Nulls) {
  DLTensor *arguments[] = {&x, nullptr, &y};
  EXPECT_EQ(
      rules.check(arguments, 3, place, ArgumentRules::Mode::Launch, values),
      RMSNORM_INVALID_ARGUMENT);
  EXPECT_STREQ(rmsnorm_last_error(),
               "argument 'weight': expected a tensor, got a null pointer");
  EXPECT_EQ(rules.check(nullptr, 3, place, ArgumentRules::Mode::Launch, values),
            RMSNORM_INVALID_ARGUMENT);
  EXPECT_STREQ(rmsnorm_last_error(), "entry 'forward': expected 3 arguments "
                                     "(x, weight, y), got a null array");
  y.data = nullptr;
  refused("argument 'y': expected data, got a null pointer");
}

TEST_F(ArgumentCheckTest, NullShape) {
  weight.shape = nullptr;
  refused("argument 'weight': expected a shape, got a null pointer");
}

TEST_F(ArgumentCheckTest, DataType) {
  x.dtype = F32;
  refused("argument 'x': expected data type bf16, got f32");
}

TEST_F(ArgumentCheckTest, Lanes) {
  x.dtype.lanes = 4;
  refused("argument 'x': expected data type bf16, got bf16 x 4 lanes");
}

TEST_F(ArgumentCheckTest, UnknownDataType) {
  x.dtype = {9, 24, 1};
  refused("argument 'x': expected data type bf16, got code 9 of 24 bits");
}

TEST_F(ArgumentCheckTest, Rank) {
  y.sizes = {2, 4, 4096};
  y.update();
  refused("argument 'y': expected rank 2, got 3");
}

TEST_F(ArgumentCheckTest, StaticSize) {
  weight.sizes = {4095};
  refused("argument 'weight': expected size 4096 in dimension 0, got 4095");
}

TEST_F(ArgumentCheckTest, NegativeSize) {
  x.sizes[0] = -3;
  refused("argument 'x': expected a size >= 0 in dimension 0, got -3");
}

TEST(ArgumentCheck, Columns) {
  // Kernels count columns in 32 bits: more would be cut.
  test::Module module = forwardModule("sm_90", rmsn::Backend::Cuda,
                                      rmsn::BinaryFormat::Ptx, "code");
  module.entries[0].arguments = {
      {"x", rmsn::Role::Input, rmsn::DataType::F32, {-1, -2}}};
  module.entries[0].arguments[0].maxColumns = 1 << 30;
  std::string file = module.file();
  ArgumentRules rules(*rmsn::GetModule(file.data())->entries()->Get(0));
  Values values;
  auto check = [&](int64_t columns) {
    Tensor x(nullptr, CUDA0, F32, {1, columns});
    DLTensor *arguments[] = {&x};
    return rules.check(arguments, 1, {CUDA0, true}, ArgumentRules::Mode::Shapes,
                       values);
  };
  EXPECT_EQ(check(1 << 30), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_EQ(check((int64_t(1) << 32) + 8), RMSNORM_INVALID_ARGUMENT);
  EXPECT_STREQ(rmsnorm_last_error(),
               "argument 'x': expected at most 1073741824 columns, got size "
               "4294967304 in dimension 1");
}

TEST(ArgumentCheck, TwoNumbersAByte) {
  test::Module module = forwardModule("sm_90", rmsn::Backend::Cuda,
                                      rmsn::BinaryFormat::Ptx, "code");
  module.entries[0].arguments = {
      {"x", rmsn::Role::Output, rmsn::DataType::F4E2M1FN, {-1, -2}},
      {"y", rmsn::Role::Output, rmsn::DataType::F4E2M1FN, {-1, -2}}};
  std::string file = module.file();
  ArgumentRules rules(*rmsn::GetModule(file.data())->entries()->Get(0));
  Values values;
  const DLDataType f4 = {RMSNORM_DL_FLOAT4_E2M1FN, 4, 1};
  auto check = [&](uintptr_t other, int64_t columns, int64_t stride) {
    Tensor x(reinterpret_cast<void *>(0x10001), CUDA0, f4, {4, columns},
             {stride, 1});
    Tensor y(reinterpret_cast<void *>(other), CUDA0, f4, {4, columns},
             {stride, 1});
    DLTensor *arguments[] = {&x, &y};
    return rules.check(arguments, 2, {CUDA0, true}, ArgumentRules::Mode::Launch,
                       values);
  };
  EXPECT_EQ(check(0x20000, 16, 18), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_EQ(values.extents[0], 3 * 9 + 8u); // bytes
  EXPECT_EQ(values.strides[rules[0].slot], 18);
  // Rows of eight bytes, one in each 16, beside each other.
  EXPECT_EQ(check(0x10009, 16, 32), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_EQ(check(0x10008, 16, 32), RMSNORM_INVALID_ARGUMENT);
  EXPECT_EQ(check(0x20000, 16, 17), RMSNORM_INVALID_ARGUMENT);
  EXPECT_STREQ(rmsnorm_last_error(),
               "argument 'x': expected an even stride in dimension 0, as two "
               "numbers are a byte, got 17");
  EXPECT_EQ(check(0x20000, 15, 16), RMSNORM_INVALID_ARGUMENT);
  EXPECT_STREQ(rmsnorm_last_error(),
               "argument 'x': expected an even size in dimension 1, as two "
               "numbers are a byte, got 15");
}

TEST_F(ArgumentCheckTest, Symbol) {
  y.sizes[0] = 9;
  refused("argument 'y': expected size 8 in dimension 0, as in dimension 0 of "
          "'x', got 9");
}

TEST_F(ArgumentCheckTest, InnerStride) {
  x.steps = {8192, 2};
  refused("argument 'x': expected stride 1 in dimension 1, the last, got 2");
}

TEST_F(ArgumentCheckTest, NegativeStride) {
  x.steps = {-4096, 1};
  refused("argument 'x': expected a stride >= 0 in dimension 0, got -4096");
}

TEST_F(ArgumentCheckTest, StrideOfSizeOneIsFree) {
  x.sizes[0] = y.sizes[0] = 1;
  x.steps = {-7, 1};
  ASSERT_EQ(check(), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_EQ(values.strides[rules[0].slot], 4096);
}

TEST_F(ArgumentCheckTest, StridesWithoutElementsAreFree) {
  test::Module module = forwardModule("sm_90", rmsn::Backend::Cuda,
                                      rmsn::BinaryFormat::Ptx, "code");
  module.entries[0].arguments[0] = {
      "x", rmsn::Role::Input, rmsn::DataType::BF16, {-1, 0, 8}, true, true};
  std::string packed = module.file();
  ArgumentRules ofPacked(*rmsn::GetModule(packed.data())->entries()->Get(0));
  // As products of sizes are.
  Tensor empty{at(0x10000), CUDA0, BF16, {8, 0, 8}, {0, 8, 1}};
  DLTensor *arguments[] = {&empty, &weight, &y};
  auto check = [&] {
    return ofPacked.check(arguments, 3, place, ArgumentRules::Mode::Launch,
                          values);
  };
  ASSERT_EQ(check(), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_EQ(values.strides[ofPacked[0].slot], 8);
  // Sizes are looked at all the same.
  empty.sizes = {-8, 0, 8};
  EXPECT_EQ(check(), RMSNORM_INVALID_ARGUMENT);
  EXPECT_STREQ(rmsnorm_last_error(),
               "argument 'x': expected a size >= 0 in dimension 0, got -8");
}

TEST_F(ArgumentCheckTest, Dense) {
  weight.steps = {2};
  weight.update();
  refused("argument 'weight': expected stride 1 in dimension 0, the last, got "
          "2");
}

TEST_F(ArgumentCheckTest, InputMayRepeatRowsOutputNot) {
  x.steps = {0, 1};
  EXPECT_EQ(check(), RMSNORM_OK) << rmsnorm_last_error();
  y.steps = {0, 1};
  y.update();
  refused("argument 'y': expected an output without overlapping elements, got "
          "32768 elements on 4096 places (stride 0?)");
}

TEST_F(ArgumentCheckTest, Alignment) {
  x.byte_offset = 1;
  refused("argument 'x': expected an address aligned to 2 bytes, got 0x10001");
}

// Newer DLPacks have kinds of devices that ours has no name for.
static_assert(std::is_same_v<std::underlying_type_t<DLDeviceType>, int32_t>);

TEST_F(ArgumentCheckTest, UnknownDevice) {
  y.device = {DLDeviceType(17), 0};
  refused("argument 'y': expected a tensor on cuda:0, got one on DLPack device "
          "type 17");
}

TEST_F(ArgumentCheckTest, Device) {
  y.device = CPU;
  refused("argument 'y': expected a tensor on cuda:0, got one on cpu");
  y.device = {kDLCUDA, 1};
  refused("argument 'y': expected a tensor on cuda:0, got one on cuda:1");
  y.device = {kDLCUDAManaged, 0};
  EXPECT_EQ(check(), RMSNORM_OK);
}

TEST_F(ArgumentCheckTest, SharedAddress) {
  y.data = x.data;
  refused("argument 'y': expected memory of its own, got some of that of 'x', "
          "and one of them is written");
  y.data = at(0xa0000);
  weight.data = x.data; // two inputs may
  EXPECT_EQ(check(), RMSNORM_OK);
}

TEST_F(ArgumentCheckTest, OverlapOfPackedTensors) {
  x.steps = {4096, 1};
  const uintptr_t begin = 0x40000, bytes = 8 * 8192;
  x.data = at(begin);
  const char *message = "argument 'y': expected memory of its own, got some of "
                        "that of 'x', and one of them is written";
  y.data = at(begin + bytes);
  EXPECT_EQ(check(), RMSNORM_OK) << rmsnorm_last_error();
  y.data = at(begin + bytes - 2); // its first element is x's last
  refused(message);
  y.data = at(begin + 8192); // a row on
  refused(message);
  y.data = at(begin - bytes + 2);
  refused(message);
  y.data = at(begin - bytes);
  EXPECT_EQ(check(), RMSNORM_OK) << rmsnorm_last_error();
}

TEST_F(ArgumentCheckTest, OverlapWithAnInput) {
  weight.data = at(0xa0000 + 3 * 8192 + 16);
  refused("argument 'y': expected memory of its own, got some of that of "
          "'weight', and one of them is written");
}

/// x and y as columns of the rows of one buffer, as of a fused q and k.
TEST_F(ArgumentCheckTest, InterleavedSlices) {
  x.steps = y.steps = {8192, 1};
  y.update();
  y.data = at(0x10000 + 8192);
  EXPECT_EQ(check(), RMSNORM_OK) << rmsnorm_last_error();
  // The other way round, and with another row first.
  std::swap(x.data, y.data);
  EXPECT_EQ(check(), RMSNORM_OK) << rmsnorm_last_error();
  y.data = at(0x10000 + 8192 + 5 * 16384);
  x.data = at(0x10000);
  EXPECT_EQ(check(), RMSNORM_OK) << rmsnorm_last_error();
  // A column too far to the left, or to the right: of the next row.
  for (uintptr_t shift : {uintptr_t(-2), uintptr_t(2)}) {
    y.data = at(0x10000 + 8192 + 5 * 16384 + shift);
    refused("argument 'y': expected memory of its own, got some of that of "
            "'x', and one of them is written");
  }
  // Between x's rows only where the column of 'weight' is.
  weight.data = at(0x10000 + 8192);
  y.data = at(0xa0000);
  EXPECT_EQ(check(), RMSNORM_OK) << rmsnorm_last_error();
}

TEST_F(ArgumentCheckTest, EmptyTensorInsideAnother) {
  // With no rows neither x nor y has an element, wherever they are.
  x.sizes[0] = y.sizes[0] = 0;
  x.data = y.data = at(0x90010);
  EXPECT_EQ(check(), RMSNORM_OK) << rmsnorm_last_error();
  // Nor where the empty one is written and comes first.
  x.steps = {4096, 1};
  test::Module module = forwardModule("sm_90", rmsn::Backend::Cuda,
                                      rmsn::BinaryFormat::Ptx, "code");
  module.entries[0].arguments[0].role = rmsn::Role::Output;
  std::string written = module.file();
  ArgumentRules writesX(*rmsn::GetModule(written.data())->entries()->Get(0));
  DLTensor *arguments[] = {&x, &weight, &y};
  EXPECT_EQ(
      writesX.check(arguments, 3, place, ArgumentRules::Mode::Launch, values),
      RMSNORM_OK)
      << rmsnorm_last_error();
  EXPECT_EQ(writesX.checkWorkspace(0x90000, 256, values),
            RMSNORM_INVALID_ARGUMENT);
  weight.data = at(0x80000);
  ASSERT_EQ(
      writesX.check(arguments, 3, place, ArgumentRules::Mode::Launch, values),
      RMSNORM_OK);
  EXPECT_EQ(writesX.checkWorkspace(0x90000, 256, values), RMSNORM_OK);
}

TEST_F(ArgumentCheckTest, WorkspaceApart) {
  ASSERT_EQ(check(), RMSNORM_OK) << rmsnorm_last_error();
  // x has rows of 8192 bytes each 10000 from 0x10000 on: 0x12000 is a hole.
  EXPECT_EQ(rules.checkWorkspace(0x12000, 1808, values), RMSNORM_OK);
  EXPECT_EQ(rules.checkWorkspace(0x12000, 1809, values),
            RMSNORM_INVALID_ARGUMENT);
  EXPECT_STREQ(rmsnorm_last_error(), "expected a workspace of its own memory, "
                                     "got some of that of argument 'x'");
  EXPECT_EQ(rules.checkWorkspace(0xa0000 - 256, 256, values), RMSNORM_OK);
  EXPECT_EQ(rules.checkWorkspace(0xa0000 - 256, 257, values),
            RMSNORM_INVALID_ARGUMENT);
  EXPECT_STREQ(rmsnorm_last_error(), "expected a workspace of its own memory, "
                                     "got some of that of argument 'y'");
  EXPECT_EQ(rules.checkWorkspace(0xa0000 + 8 * 8192, 1 << 20, values),
            RMSNORM_OK);
  // What is around everything.
  EXPECT_EQ(rules.checkWorkspace(0x100, 1 << 30, values),
            RMSNORM_INVALID_ARGUMENT);
}

TEST_F(ArgumentCheckTest, TooLarge) {
  x.sizes[0] = y.sizes[0] = int64_t(1) << 60;
  refused("argument 'x': expected fewer than 2^63 bytes from its first to its "
          "last element, got sizes and strides that reach further");
}

TEST_F(ArgumentCheckTest, MoreThan2To31Elements) {
  x.sizes[0] = y.sizes[0] = int64_t(1) << 22; // 2^34 elements
  y.data = at(uintptr_t(1) << 40);
  ASSERT_EQ(check(), RMSNORM_OK) << rmsnorm_last_error();
}

TEST_F(ArgumentCheckTest, ZeroRowsNeedNoMemory) {
  x.sizes[0] = y.sizes[0] = 0;
  x.data = y.data = nullptr;
  ASSERT_EQ(check(), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_EQ(values.extents[0], 0u);
}

TEST_F(ArgumentCheckTest, ShapesModeIgnoresAddresses) {
  x.data = weight.data = y.data = nullptr;
  x.device = CPU;
  EXPECT_EQ(check(ArgumentRules::Mode::Shapes), RMSNORM_OK);
}

} // namespace
