//===- HostDriverTest.cpp - simulator and oracle as devices ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Tensor.h"
#include "TestModule.h"
#include "drivers/Host.h"
#include "rmsnorm/device.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

using namespace test;

namespace {

std::string hostCode() {
  std::ifstream in(TEST_KERNELS_PATH, std::ios::binary);
  std::stringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

/// twice(x: f32[M, N], y: f32[M, N]) for sim and oracle.
Module twiceModule() {
  using rmsn::ParameterKind;
  Launch sim;
  sim.image = 0;
  sim.kernel = "twice_kernel";
  sim.gridX = {size(0, 0)};
  sim.blockX = 64;
  sim.parameters = {{ParameterKind::Pointer, 0},
                    {ParameterKind::Pointer, 1},
                    {ParameterKind::I64, 0, {size(0, 0)}},
                    {ParameterKind::I64, 0, {size(0, 1)}},
                    {ParameterKind::I64, 0, {stride(0, 0)}},
                    {ParameterKind::I64, 0, {stride(1, 0)}}};
  Launch oracle;
  oracle.image = 1;
  oracle.kernel = "oracle_twice";
  Module module;
  module.entries = {{"twice",
                     {{"x", rmsn::Role::Input, rmsn::DataType::F32, {-1, -2}},
                      {"y", rmsn::Role::Output, rmsn::DataType::F32, {-1, -2}}},
                     {{"sim:sm_90", {{"only", {}, {}, {sim}}}},
                      {"oracle", {{"only", {}, {}, {oracle}}}}}}};
  std::string code = hostCode();
  module.images = {{"sim:sm_90",
                    rmsn::Backend::Sim,
                    "sm_90",
                    {{rmsn::BinaryFormat::Elf, code}},
                    ""},
                   {"oracle",
                    rmsn::Backend::Oracle,
                    "oracle",
                    {{rmsn::BinaryFormat::Elf, code}},
                    ""}};
  return module;
}

class HostDriverTest : public testing::TestWithParam<rmsnorm_backend> {
protected:
  void TearDown() override {
    rmsnorm_function_release(function);
    rmsnorm_module_close(module);
    rmsnorm_device_close(device);
  }

  rmsnorm_status prepare(const Module &description, rmsnorm_backend backend,
                         const char *target = nullptr) {
    std::string file = description.file();
    rmsnorm_status status =
        rmsnorm_module_open_memory(file.data(), file.size(), &module);
    rmsnorm_device_options options;
    rmsnorm_device_options_init(&options);
    options.target = target;
    if (status == RMSNORM_OK)
      status = rmsnorm_device_open(backend, &options, &device);
    if (status == RMSNORM_OK)
      status = rmsnorm_prepare(module, "twice", device, &function);
    return status;
  }

  rmsnorm_status launch() {
    DLTensor *arguments[] = {&x, &y};
    if (GetParam() != RMSNORM_ORACLE)
      return rmsnorm_launch(function, arguments, 2, nullptr, 0, nullptr);
    // The oracle's elements are intervals.
    std::vector<double> xEnds, yEnds(2 * yData.size());
    for (float value : xData)
      xEnds.insert(xEnds.end(), 2, value);
    for (Tensor *tensor : {&x, &y})
      tensor->dtype = {RMSNORM_DL_COMPLEX, 128, 1};
    x.data = x.data ? xEnds.data() : nullptr;
    y.data = y.data ? yEnds.data() : nullptr;
    rmsnorm_status status =
        rmsnorm_launch(function, arguments, 2, nullptr, 0, nullptr);
    for (size_t i = 0; i < yData.size(); ++i) {
      EXPECT_EQ(yEnds[2 * i], yEnds[2 * i + 1]);
      yData[i] = float(yEnds[2 * i]);
    }
    return status;
  }

  rmsnorm_status launchAsIs() {
    DLTensor *arguments[] = {&x, &y};
    return rmsnorm_launch(function, arguments, 2, nullptr, 0, nullptr);
  }

  rmsnorm_module *module = nullptr;
  rmsnorm_device *device = nullptr;
  rmsnorm_function *function = nullptr;
  std::vector<float> xData = std::vector<float>(3 * 120, 1.5f),
                     yData = std::vector<float>(3 * 100, -1);
  Tensor x{xData.data(), CPU, F32, {3, 100}, {120, 1}};
  Tensor y{yData.data(), CPU, F32, {3, 100}};
};

TEST_P(HostDriverTest, Runs) {
  ASSERT_EQ(prepare(twiceModule(), GetParam()), RMSNORM_OK)
      << rmsnorm_last_error();
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 100; ++j)
      xData[120 * i + j] = i + 0.25f * j;
  ASSERT_EQ(launch(), RMSNORM_OK) << rmsnorm_last_error();
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 100; ++j)
      ASSERT_EQ(yData[100 * i + j], 2 * (i + 0.25f * j)) << i << " " << j;
}

TEST_P(HostDriverTest, ZeroRows) {
  ASSERT_EQ(prepare(twiceModule(), GetParam()), RMSNORM_OK)
      << rmsnorm_last_error();
  x.sizes[0] = y.sizes[0] = 0;
  x.data = y.data = nullptr;
  EXPECT_EQ(launch(), RMSNORM_OK) << rmsnorm_last_error();
}

/// The kernel does not wait for those before it, so that it must not start
/// before they have ended.
TEST_P(HostDriverTest, LaunchesWithoutAnEarlyStart) {
  if (GetParam() != RMSNORM_SIM)
    return;
  Module description = twiceModule();
  description.entries[0].programs[0].variants[0].launches[0].pdl = true;
  ASSERT_EQ(prepare(description, GetParam()), RMSNORM_OK)
      << rmsnorm_last_error();
  EXPECT_EQ(launch(), RMSNORM_KERNEL_FAULT);
  EXPECT_NE(std::string(rmsnorm_last_error()).find("before grid_wait"),
            std::string::npos)
      << rmsnorm_last_error();
  DLTensor *arguments[] = {&x, &y};
  EXPECT_EQ(rmsnorm_launch_with_flags(function, arguments, 2, nullptr, 0,
                                      nullptr, RMSNORM_NO_EARLY_START),
            RMSNORM_OK)
      << rmsnorm_last_error();
}

TEST_P(HostDriverTest, FreeMemory) {
  ASSERT_EQ(prepare(twiceModule(), GetParam()), RMSNORM_OK);
  uint64_t bytes = 0;
  ASSERT_EQ(rmsnorm_device_get_free_memory(device, &bytes), RMSNORM_OK);
  EXPECT_GT(bytes, uint64_t(1) << 20);
  EXPECT_LT(bytes, uint64_t(1) << 60);
}

TEST_P(HostDriverTest, CodeForAnotherHost) {
  Module description = twiceModule();
  for (Image &image : description.images)
    image.hostIsa = "riscv64";
  EXPECT_EQ(prepare(description, GetParam()), RMSNORM_UNSUPPORTED);
  EXPECT_NE(std::string(rmsnorm_last_error()).find("needs a host riscv64, "),
            std::string::npos)
      << rmsnorm_last_error();
}

TEST_P(HostDriverTest, CodeCutShort) {
  Module description = twiceModule();
  for (Image &image : description.images)
    image.binaries[0].second.resize(700);
  EXPECT_EQ(prepare(description, GetParam()), RMSNORM_INVALID_MODULE);
  EXPECT_NE(std::string(rmsnorm_last_error()).find("cut short"),
            std::string::npos)
      << rmsnorm_last_error();
}

TEST_P(HostDriverTest, MissingKernel) {
  Module description = twiceModule();
  for (Program &program : description.entries[0].programs)
    program.variants[0].launches[0].kernel = "nobody";
  EXPECT_EQ(prepare(description, GetParam()), RMSNORM_INVALID_MODULE);
  EXPECT_NE(std::string(rmsnorm_last_error()).find("'nobody'"),
            std::string::npos)
      << rmsnorm_last_error();
}

TEST_P(HostDriverTest, TheOraclesElementsAreIntervals) {
  ASSERT_EQ(prepare(twiceModule(), GetParam()), RMSNORM_OK)
      << rmsnorm_last_error();
  if (GetParam() != RMSNORM_ORACLE) {
    EXPECT_EQ(launchAsIs(), RMSNORM_OK) << rmsnorm_last_error();
    return;
  }
  EXPECT_EQ(launchAsIs(), RMSNORM_INVALID_ARGUMENT);
  EXPECT_STREQ(rmsnorm_last_error(),
               "argument 'x': expected data type complex128, got f32");
}

INSTANTIATE_TEST_SUITE_P(, HostDriverTest,
                         testing::Values(RMSNORM_SIM, RMSNORM_ORACLE),
                         [](const auto &info) {
                           return info.param == RMSNORM_SIM ? "Sim" : "Oracle";
                         });

using SimDriverTest = HostDriverTest;

TEST_P(SimDriverTest, OverrunIsReported) {
  Module description = twiceModule();
  description.entries[0].programs[0].variants[0].launches[0].kernel =
      "overrun_kernel";
  ASSERT_EQ(prepare(description, GetParam()), RMSNORM_OK)
      << rmsnorm_last_error();
  EXPECT_EQ(launch(), RMSNORM_KERNEL_FAULT);
  std::string message = rmsnorm_last_error();
  EXPECT_NE(message.find("overrun_kernel"), std::string::npos) << message;
  EXPECT_NE(message.find("y"), std::string::npos) << message;
}

TEST_P(SimDriverTest, TargetOption) {
  EXPECT_EQ(prepare(twiceModule(), GetParam(), "sim:gfx942"),
            RMSNORM_NOT_FOUND);
  EXPECT_STREQ(rmsnorm_last_error(),
               "entry 'twice' has no program for SIMT simulator, target "
               "sim:gfx942; it has programs for: sim:sm_90, oracle");
}

INSTANTIATE_TEST_SUITE_P(, SimDriverTest, testing::Values(RMSNORM_SIM));

TEST(HostIsaTest, LevelsAreOrdered) {
  std::string host;
  EXPECT_TRUE(rmsnorm::runtime::hostRuns("", host));
#if defined(__x86_64__)
  EXPECT_TRUE(rmsnorm::runtime::hostRuns("x86-64", host));
  EXPECT_TRUE(rmsnorm::runtime::hostRuns(host.c_str(), host)) << host;
  EXPECT_FALSE(rmsnorm::runtime::hostRuns("aarch64", host));
#endif
  EXPECT_FALSE(rmsnorm::runtime::hostRuns("x86-64-v9", host));
  EXPECT_FALSE(rmsnorm::runtime::hostRuns("x86-64x", host));
}

} // namespace
