//===- SizeRulesTest.cpp - sizes that follow from others ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SizeRules.h"
#include "ArgumentCheck.h"
#include "Tensor.h"
#include "TestModule.h"
#include "rmsnorm/rmsnorm.h"

#include <gtest/gtest.h>

using namespace rmsnorm::runtime;
using namespace test;
using rmsn::ExpressionOpcode;
using rmsn::SizeRelation;

namespace {

/// tiles(x[s0, s1, 64], merged[s2, 64], tiles[s3, 64], few[s4, 64]): s2 = s0 *
/// s1, s3 = s2 / 4, s2 a multiple of 4, s4 <= s0.
class SizeRulesTest : public testing::Test {
protected:
  SizeRulesTest() : file(module().file()), rules(entry()) {}

  const rmsn::Entry &entry() {
    return *rmsn::GetModule(file.data())->entries()->Get(0);
  }

  static test::Module module() {
    test::Module module = forwardModule("sm_90", rmsn::Backend::Cuda,
                                        rmsn::BinaryFormat::Ptx, "c");
    const Ops merged = {size(0, 0), size(0, 1), op(ExpressionOpcode::Mul)};
    const Ops quarter = {size(1, 0), constant(4),
                         op(ExpressionOpcode::FloorDiv)};
    Ops multiple = quarter;
    multiple.insert(multiple.end(), {constant(4), op(ExpressionOpcode::Mul)});
    auto argument = [](const char *name, rmsn::Role role,
                       std::vector<int64_t> dims) {
      return test::Argument{name, role, rmsn::DataType::BF16, std::move(dims)};
    };
    module.entries = {{"tiles",
                       {argument("x", rmsn::Role::Input, {-1, -2, 64}),
                        argument("merged", rmsn::Role::Output, {-3, 64}),
                        argument("tiles", rmsn::Role::Output, {-4, 64}),
                        argument("few", rmsn::Role::Input, {-5, 64})},
                       {},
                       // What follows from a later rule is inferred as well.
                       {{2, 0, SizeRelation::Equal, quarter},
                        {1, 0, SizeRelation::Equal, merged},
                        {1, 0, SizeRelation::Equal, multiple},
                        {3, 0, SizeRelation::AtMost, {size(0, 0)}}}}};
    return module;
  }

  rmsnorm_status check() {
    DLTensor *arguments[] = {&x, &merged, &tiles, &few};
    return rules.check(arguments, 4, {CUDA0}, ArgumentRules::Mode::Launch,
                       values);
  }
  void refused(Tensor &tensor, std::vector<int64_t> sizes,
               const char *message) {
    tensor.sizes = std::move(sizes);
    tensor.update();
    EXPECT_EQ(check(), RMSNORM_INVALID_ARGUMENT);
    EXPECT_STREQ(rmsnorm_last_error(), message);
  }

  std::string file;
  ArgumentRules rules;
  Values values;
  Tensor x{reinterpret_cast<void *>(0x10000), CUDA0, BF16, {2, 6, 64}};
  Tensor merged{reinterpret_cast<void *>(0x20000), CUDA0, BF16, {12, 64}};
  Tensor tiles{reinterpret_cast<void *>(0x30000), CUDA0, BF16, {3, 64}};
  Tensor few{reinterpret_cast<void *>(0x40000), CUDA0, BF16, {2, 64}};
};

TEST_F(SizeRulesTest, Accepts) {
  EXPECT_EQ(check(), RMSNORM_OK) << rmsnorm_last_error();
  few.sizes = {0, 64};
  few.update();
  EXPECT_EQ(check(), RMSNORM_OK) << rmsnorm_last_error();
}

TEST_F(SizeRulesTest, TooSmall) {
  refused(merged, {11, 64},
          "argument 'tiles': expected size 2 in dimension 0, "
          "floordiv(size(merged, 0), 4), got 3");
  refused(tiles, {2, 64},
          "argument 'merged': expected size 12 in dimension 0, size(x, 0) * "
          "size(x, 1), got 11");
}

TEST_F(SizeRulesTest, TooLarge) {
  refused(tiles, {4, 64},
          "argument 'tiles': expected size 3 in dimension 0, "
          "floordiv(size(merged, 0), 4), got 4");
  tiles.sizes = {3, 64};
  tiles.update();
  refused(
      few, {3, 64},
      "argument 'few': expected a size of at most 2 in dimension 0, size(x, "
      "0), got 3");
}

TEST_F(SizeRulesTest, NoMultiple) {
  x.sizes = {1, 13, 64};
  x.update();
  few.sizes = {1, 64};
  few.update();
  refused(merged, {13, 64},
          "argument 'merged': expected size 12 in dimension 0, "
          "floordiv(size(merged, 0), 4) * 4, got 13");
}

TEST_F(SizeRulesTest, Overflow) {
  const int64_t sizes[] = {INT64_MAX, 3, 64, 12, 64, 3, 64, 2, 64};
  EXPECT_EQ(SizeRules(entry(), slotsOf(entry())).check(sizes),
            RMSNORM_INVALID_ARGUMENT);
  EXPECT_STREQ(rmsnorm_last_error(),
               "argument 'merged': cannot evaluate the size of dimension 0, "
               "size(x, 0) * size(x, 1), for these sizes: the value does not "
               "fit 64 bits");
}

TEST_F(SizeRulesTest, Infers) {
  rmsnorm_module *module = nullptr;
  ASSERT_EQ(rmsnorm_module_open_memory(file.data(), file.size(), &module),
            RMSNORM_OK)
      << rmsnorm_last_error();
  rmsnorm_entry_info info;
  ASSERT_EQ(rmsnorm_module_get_entry(module, 0, &info), RMSNORM_OK);
  EXPECT_EQ(info.derived_symbols, 0b01100u);
  auto infer = [&](std::vector<int64_t> given) {
    given.resize(RMSNORM_MAX_SYMBOLS, -1);
    if (rmsnorm_module_infer_sizes(module, 0, given.data()) != RMSNORM_OK)
      return std::vector<int64_t>();
    given.resize(5);
    return given;
  };
  using Sizes = std::vector<int64_t>;
  EXPECT_EQ(infer({}), (Sizes{-1, -1, -1, -1, -1}));
  EXPECT_EQ(infer({2}), (Sizes{2, -1, -1, -1, -1}));
  EXPECT_EQ(infer({2, 6}), (Sizes{2, 6, 12, 3, -1}));
  EXPECT_EQ(infer({2, -1, 12}), (Sizes{2, -1, 12, 3, -1}));
  EXPECT_EQ(infer({0, 6, -1, -1, 0}), (Sizes{0, 6, 0, 0, 0}));
  EXPECT_TRUE(infer({2, 6, 11}).empty());
  EXPECT_TRUE(infer({2, 6, -1, 4}).empty());
  EXPECT_TRUE(infer({2, 6, -1, -1, 3}).empty());
  EXPECT_TRUE(infer({1, 13}).empty());
  EXPECT_STREQ(rmsnorm_last_error(),
               "argument 'merged': expected size 12 in dimension 0, "
               "floordiv(size(merged, 0), 4) * 4, got 13");
  EXPECT_EQ(rmsnorm_module_infer_sizes(module, 1, nullptr),
            RMSNORM_INVALID_ARGUMENT);
  char *text = nullptr;
  ASSERT_EQ(rmsnorm_module_describe(module, &text), RMSNORM_OK);
  EXPECT_NE(std::string(text).find(
                "  size(tiles, 0) = floordiv(size(merged, 0), 4)\n"
                "  size(merged, 0) = size(x, 0) * size(x, 1)\n"
                "  size(merged, 0) = floordiv(size(merged, 0), 4) * 4\n"
                "  size(few, 0) <= size(x, 0)\n"),
            std::string::npos)
      << text;
  rmsnorm_free(text);
  rmsnorm_module_close(module);
}

TEST(SizeRulesLaunchTest, WrongResult) {
  test::Module module =
      forwardModule("sm_90", rmsn::Backend::Cuda, rmsn::BinaryFormat::Ptx, "c");
  // y has half the rows of x.
  module.entries[0].arguments[2].dims = {-2, 4096};
  module.entries[0].sizes = {
      {2,
       0,
       SizeRelation::Equal,
       {size(0, 0), constant(2), op(ExpressionOpcode::FloorDiv)}}};
  const std::string file = module.file();
  rmsnorm_module *opened = nullptr;
  ASSERT_EQ(rmsnorm_module_open_memory(file.data(), file.size(), &opened),
            RMSNORM_OK)
      << rmsnorm_last_error();
  rmsnorm_device_options options;
  rmsnorm_device_options_init(&options);
  options.driver_library = FAKE_CUDA_PATH;
  rmsnorm_device *device = nullptr;
  ASSERT_EQ(rmsnorm_device_open(RMSNORM_CUDA, &options, &device), RMSNORM_OK)
      << rmsnorm_last_error();
  rmsnorm_function *function = nullptr;
  ASSERT_EQ(rmsnorm_prepare(opened, "forward", device, &function), RMSNORM_OK)
      << rmsnorm_last_error();
  Tensor x{reinterpret_cast<void *>(0x10000), CUDA0, BF16, {8, 4096}};
  Tensor weight{reinterpret_cast<void *>(0x40000), CUDA0, BF16, {4096}};
  Tensor y{reinterpret_cast<void *>(0x50000), CUDA0, BF16, {4, 4096}};
  DLTensor *arguments[] = {&x, &weight, &y};
  EXPECT_EQ(rmsnorm_launch(function, arguments, 3, nullptr, 0, nullptr),
            RMSNORM_OK)
      << rmsnorm_last_error();
  uint64_t bytes;
  size_t variant;
  for (int64_t rows : {3, 5}) {
    y.sizes = {rows, 4096};
    y.update();
    const std::string message =
        "argument 'y': expected size 4 in dimension 0, floordiv(size(x, 0), "
        "2), got " +
        std::to_string(rows);
    EXPECT_EQ(rmsnorm_launch(function, arguments, 3, nullptr, 0, nullptr),
              RMSNORM_INVALID_ARGUMENT);
    EXPECT_EQ(rmsnorm_last_error(), message);
    EXPECT_EQ(rmsnorm_workspace_size(function, arguments, 3, &bytes),
              RMSNORM_INVALID_ARGUMENT);
    EXPECT_EQ(rmsnorm_select_variant(function, arguments, 3, &variant),
              RMSNORM_INVALID_ARGUMENT);
  }
  rmsnorm_function_release(function);
  rmsnorm_device_close(device);
  rmsnorm_module_close(opened);
}

} // namespace
