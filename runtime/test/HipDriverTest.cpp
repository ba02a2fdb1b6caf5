//===- HipDriverTest.cpp - what the HIP driver is asked, and when ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FakeHip.h"
#include "Tensor.h"
#include "TestModule.h"
#include "rmsnorm/device.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace test;

namespace {

using Calls = std::vector<std::string>;

/// On the second of two devices, while the first is the caller's current one.
class HipDriverTest : public testing::Test {
protected:
  void SetUp() override {
    void *library = dlopen(FAKE_HIP_PATH, RTLD_NOW);
    ASSERT_TRUE(library) << dlerror();
    fake = reinterpret_cast<FakeHip *(*)()>(dlsym(library, "fake_hip"))();
    *fake = FakeHip();
    rmsnorm_device_options options;
    rmsnorm_device_options_init(&options);
    options.driver_library = FAKE_HIP_PATH;
    options.ordinal = 1;
    ASSERT_EQ(rmsnorm_device_open(RMSNORM_HIP, &options, &device), RMSNORM_OK)
        << rmsnorm_last_error();
  }
  void TearDown() override {
    rmsnorm_function_release(function);
    rmsnorm_module_close(module);
    rmsnorm_device_close(device);
  }

  rmsnorm_status prepare(const char *target) {
    std::string file = forwardModule(target, rmsn::Backend::Hip,
                                     rmsn::BinaryFormat::Hsaco, "hsaco")
                           .file();
    rmsnorm_status status =
        rmsnorm_module_open_memory(file.data(), file.size(), &module);
    return status ? status
                  : rmsnorm_prepare(module, "forward", device, &function);
  }

  rmsnorm_status launch() {
    DLTensor *arguments[] = {&x, &weight, &y};
    return rmsnorm_launch(function, arguments, 3, nullptr, 0,
                          reinterpret_cast<void *>(7));
  }

  static constexpr DLDevice ROCM1 = {kDLROCM, 1};
  FakeHip *fake = nullptr;
  rmsnorm_module *module = nullptr;
  rmsnorm_device *device = nullptr;
  rmsnorm_function *function = nullptr;
  Tensor x{reinterpret_cast<void *>(0x1000), ROCM1, BF16, {8, 4096}};
  Tensor weight{reinterpret_cast<void *>(0x800), ROCM1, BF16, {4096}};
  Tensor y{reinterpret_cast<void *>(0x100000), ROCM1, BF16, {8, 4096}};
};

TEST_F(HipDriverTest, FindsTheChip) {
  rmsnorm_device_info info;
  ASSERT_EQ(rmsnorm_device_get_info(device, &info), RMSNORM_OK);
  EXPECT_STREQ(info.chip, "gfx942");
  EXPECT_EQ(info.multiprocessor_count, 304);
  EXPECT_EQ(info.dl_device.device_type, kDLROCM);
  EXPECT_EQ(info.dl_device.device_id, 1);
}

TEST_F(HipDriverTest, PreparesAndLaunches) {
  ASSERT_EQ(prepare("gfx942"), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_EQ(fake->calls,
            (Calls{"hipSetDevice(1)", "hipModuleLoadData", "hipSetDevice(0)",
                   "hipSetDevice(1)", "hipModuleGetFunction(forward_kernel)",
                   "hipSetDevice(0)", "hipSetDevice(1)",
                   "hipModuleGetFunction(forward_element_kernel)",
                   "hipSetDevice(0)"}));
  fake->calls.clear();
  ASSERT_EQ(launch(), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_EQ(fake->calls,
            (Calls{"hipSetDevice(1)",
                   "hipModuleLaunchKernel(2 1 1 128 1 1 0 stream 7)",
                   "hipSetDevice(0)"}));
  EXPECT_EQ(fake->parameters[0], 0x1000u);
  EXPECT_EQ(fake->parameters[5], 8u);
  // Released on its device, after the handles.
  rmsnorm_module_close(module);
  rmsnorm_device_close(device);
  module = nullptr;
  device = nullptr;
  fake->calls.clear();
  rmsnorm_function_release(function);
  function = nullptr;
  EXPECT_EQ(fake->calls,
            (Calls{"hipSetDevice(1)", "hipModuleUnload", "hipSetDevice(0)"}));
}

TEST_F(HipDriverTest, ChipsMustBeEqual) {
  EXPECT_EQ(prepare("gfx90a"), RMSNORM_NOT_FOUND);
  EXPECT_STREQ(rmsnorm_last_error(),
               "entry 'forward' has no program for Fake MI300X (gfx942); it "
               "has programs for: gfx90a");
}

TEST_F(HipDriverTest, RecordsGraphs) {
  rmsnorm_graph *graph = nullptr;
  fake->calls.clear();
  ASSERT_EQ(rmsnorm_graph_begin(device, nullptr), RMSNORM_OK);
  ASSERT_EQ(rmsnorm_graph_end(device, nullptr, &graph), RMSNORM_OK);
  ASSERT_EQ(rmsnorm_graph_launch(graph, nullptr), RMSNORM_OK);
  rmsnorm_graph_destroy(graph);
  Calls graphCalls;
  for (const std::string &call : fake->calls)
    if (call.find("hipSetDevice") != 0)
      graphCalls.push_back(call);
  EXPECT_EQ(graphCalls,
            (Calls{"hipStreamBeginCapture(1)", "hipStreamEndCapture",
                   "hipGraphInstantiateWithFlags", "hipGraphDestroy",
                   "hipGraphLaunch", "hipGraphExecDestroy"}));
}

TEST_F(HipDriverTest, FreeMemoryThatTheDriverDoesNotSay) {
  uint64_t bytes = 0;
  EXPECT_EQ(rmsnorm_device_get_free_memory(device, &bytes),
            RMSNORM_UNSUPPORTED);
}

TEST_F(HipDriverTest, NoMemory) {
  void *memory = nullptr;
  EXPECT_EQ(rmsnorm_device_allocate(device, 64, &memory),
            RMSNORM_OUT_OF_MEMORY);
  EXPECT_STREQ(rmsnorm_last_error(),
               "no device memory for 64 bytes: hipMalloc failed: hipErrorFake "
               "(2), made up");
}

} // namespace
