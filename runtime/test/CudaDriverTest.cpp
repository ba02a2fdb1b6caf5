//===- CudaDriverTest.cpp - what the CUDA driver is asked, and when -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Allocations.h"
#include "FakeCuda.h"
#include "Limits.h"
#include "Tensor.h"
#include "TestModule.h"
#include "rmsnorm/device.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <malloc.h>

using namespace test;

namespace {

using Calls = std::vector<std::string>;

class CudaDriverTest : public testing::Test {
protected:
  void SetUp() override {
    void *library = dlopen(FAKE_CUDA_PATH, RTLD_NOW);
    ASSERT_TRUE(library) << dlerror();
    fake = reinterpret_cast<FakeCuda *(*)()>(dlsym(library, "fake_cuda"))();
    *fake = FakeCuda();
  }
  void TearDown() override {
    rmsnorm_function_release(function);
    rmsnorm_module_close(module);
    rmsnorm_device_close(device);
    *fake = FakeCuda();
  }

  rmsnorm_status openDevice(int ordinal = 0, int multiprocessors = 0) {
    rmsnorm_device_options options;
    rmsnorm_device_options_init(&options);
    options.driver_library = FAKE_CUDA_PATH;
    options.ordinal = ordinal;
    options.multiprocessor_count = multiprocessors;
    return rmsnorm_device_open(RMSNORM_CUDA, &options, &device);
  }

  rmsnorm_status prepare(const Module &description) {
    std::string file = description.file();
    rmsnorm_status status =
        rmsnorm_module_open_memory(file.data(), file.size(), &module);
    if (status == RMSNORM_OK && !device)
      status = openDevice();
    if (status == RMSNORM_OK)
      status = rmsnorm_prepare(module, "forward", device, &function);
    return status;
  }

  rmsnorm_status launch(int64_t rows, uintptr_t offset = 0) {
    x.sizes[0] = y.sizes[0] = rows;
    x.byte_offset = offset;
    DLTensor *arguments[] = {&x, &weight, &y};
    fake->calls.clear();
    return rmsnorm_launch(function, arguments, 3, nullptr, 0,
                          reinterpret_cast<void *>(7));
  }

  rmsnorm_status launchWithFlags(uint32_t flags) {
    DLTensor *arguments[] = {&x, &weight, &y};
    fake->calls.clear();
    return rmsnorm_launch_with_flags(function, arguments, 3, nullptr, 0,
                                     reinterpret_cast<void *>(7), flags);
  }

  bool called(const char *call) const {
    return std::count(fake->calls.begin(), fake->calls.end(), call) != 0;
  }

  static test::Module good() {
    return forwardModule("sm_90", rmsn::Backend::Cuda,
                         rmsn::BinaryFormat::Cubin,
                         "\x7f"
                         "ELF cubin");
  }

  FakeCuda *fake = nullptr;
  rmsnorm_module *module = nullptr;
  rmsnorm_device *device = nullptr;
  rmsnorm_function *function = nullptr;
  Tensor x{reinterpret_cast<void *>(0x1000), CUDA0, BF16, {8, 4096}, {5000, 1}};
  Tensor weight{reinterpret_cast<void *>(0x800), CUDA0, BF16, {4096}};
  Tensor y{reinterpret_cast<void *>(0x1000000000), CUDA0, BF16, {8, 4096}};
};

TEST_F(CudaDriverTest, PrepareLoadsEverythingOnce) {
  ASSERT_EQ(prepare(good()), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_EQ(fake->calls,
            (Calls{"cuInit", "cuDevicePrimaryCtxRetain", "cuCtxPushCurrent",
                   "cuModuleLoadDataEx(cubin)", "cuCtxPopCurrent",
                   "cuCtxPushCurrent", "cuModuleGetFunction(forward_kernel)",
                   "cuFuncLoad", "cuCtxPopCurrent", "cuCtxPushCurrent",
                   "cuModuleGetFunction(forward_element_kernel)", "cuFuncLoad",
                   "cuCtxPopCurrent"}));
  rmsnorm_function_info info;
  ASSERT_EQ(rmsnorm_function_get_info(function, &info), RMSNORM_OK);
  EXPECT_STREQ(info.target, "sm_90");
  EXPECT_STREQ(info.binary, "cubin");
  EXPECT_STREQ(info.warning, "");
  // A second function shares the loaded code.
  fake->calls.clear();
  rmsnorm_function *second = nullptr;
  ASSERT_EQ(rmsnorm_prepare(module, "forward", device, &second), RMSNORM_OK);
  EXPECT_FALSE(called("cuModuleLoadDataEx(cubin)"));
  rmsnorm_function_release(second);
  EXPECT_FALSE(called("cuModuleUnload"));
}

TEST_F(CudaDriverTest, EverythingIsReleased) {
  ASSERT_EQ(prepare(good()), RMSNORM_OK);
  fake->calls.clear();
  // In any order: the function keeps what it needs.
  rmsnorm_module_close(module);
  rmsnorm_device_close(device);
  module = nullptr;
  device = nullptr;
  EXPECT_EQ(launch(8), RMSNORM_OK) << rmsnorm_last_error();
  fake->calls.clear();
  rmsnorm_function_release(function);
  function = nullptr;
  EXPECT_EQ(fake->calls,
            (Calls{"cuCtxPushCurrent", "cuModuleUnload", "cuCtxPopCurrent",
                   "cuDevicePrimaryCtxRelease"}));
}

TEST_F(CudaDriverTest, ADeviceForgetsImages) {
  ASSERT_EQ(openDevice(), RMSNORM_OK);
  auto prepareOnce = [&] {
    ASSERT_EQ(prepare(good()), RMSNORM_OK) << rmsnorm_last_error();
    rmsnorm_function_release(function);
    rmsnorm_module_close(module);
    function = nullptr;
    module = nullptr;
    fake->calls = {};
  };
  prepareOnce();
  const auto before = mallinfo2().uordblks;
  for (int i = 0; i < 1000; ++i)
    prepareOnce();
  EXPECT_LT(mallinfo2().uordblks, before + 10000); // 10 bytes each
}

TEST_F(CudaDriverTest, LaunchIsOneCall) {
  ASSERT_EQ(prepare(good()), RMSNORM_OK) << rmsnorm_last_error();
  fake->parameterCount = 7;
  ASSERT_EQ(launch(1000), RMSNORM_OK) << rmsnorm_last_error();
  // ceildiv(1000, 4) = 250 blocks; context made current and restored.
  EXPECT_EQ(fake->calls, (Calls{"cuCtxPushCurrent",
                                "cuLaunchKernel(250 1 1 128 1 1 0 stream 7)",
                                "cuCtxPopCurrent"}));
  float eps = 1e-5f;
  uint32_t epsBits;
  std::memcpy(&epsBits, &eps, 4);
  EXPECT_EQ(fake->parameters,
            (std::vector<uint64_t>{0x1000, 0x800, 0x1000000000, 5000, 4096,
                                   1000, epsBits}));
}

TEST_F(CudaDriverTest, LaunchNeitherAllocatesNorWaits) {
  ASSERT_EQ(prepare(good()), RMSNORM_OK) << rmsnorm_last_error();
  x.sizes[0] = y.sizes[0] = 1000;
  DLTensor *arguments[] = {&x, &weight, &y};
  fake->record = false; // else the fake allocates
  long before = allocationCount();
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(rmsnorm_launch(function, arguments, 3, nullptr, 0, nullptr),
              RMSNORM_OK);
  EXPECT_EQ(allocationCount(), before);
  EXPECT_EQ(fake->launches, 100);
  // And what LaunchIsOneCall saw contains no wait and no cuMemAlloc.
}

TEST_F(CudaDriverTest, GridFollowsMultiprocessors) {
  ASSERT_EQ(prepare(good()), RMSNORM_OK) << rmsnorm_last_error();
  ASSERT_EQ(launch(1 << 20), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_EQ(fake->calls[1], "cuLaunchKernel(1056 1 1 128 1 1 0 stream 7)");
}

TEST_F(CudaDriverTest, MultiprocessorsCanBeSpared) {
  ASSERT_EQ(openDevice(0, 100), RMSNORM_OK);
  rmsnorm_device_info info;
  ASSERT_EQ(rmsnorm_device_get_info(device, &info), RMSNORM_OK);
  EXPECT_EQ(info.multiprocessor_count, 100);
  EXPECT_STREQ(info.chip, "sm_90");
  EXPECT_STREQ(info.name, "Fake H100");
  ASSERT_EQ(prepare(good()), RMSNORM_OK);
  ASSERT_EQ(launch(1 << 20), RMSNORM_OK);
  EXPECT_EQ(fake->calls[1], "cuLaunchKernel(800 1 1 128 1 1 0 stream 7)");
}

TEST_F(CudaDriverTest, ZeroRowsLaunchNothing) {
  ASSERT_EQ(prepare(good()), RMSNORM_OK);
  x.data = y.data = nullptr;
  EXPECT_EQ(launch(0), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_EQ(fake->calls, (Calls{}));
}

TEST_F(CudaDriverTest, FirstMatchingVariant) {
  ASSERT_EQ(prepare(good()), RMSNORM_OK);
  DLTensor *arguments[] = {&x, &weight, &y};
  size_t variant = 9;
  auto select = [&] {
    EXPECT_EQ(rmsnorm_select_variant(function, arguments, 3, &variant),
              RMSNORM_OK)
        << rmsnorm_last_error();
    return variant;
  };
  EXPECT_EQ(select(), 0u);
  x.byte_offset = 2; // not aligned to 16
  EXPECT_EQ(select(), 1u);
  x.byte_offset = 0;
  x.steps[0] = 4100; // row stride not a multiple of 8
  EXPECT_EQ(select(), 1u);
  x.sizes[0] = y.sizes[0] = 1; // the stride of a single row does not matter
  EXPECT_EQ(select(), 0u);
}

TEST_F(CudaDriverTest, DependentLaunchAndCluster) {
  Module description = good();
  Launch &l = description.entries[0].programs[0].variants[0].launches[0];
  l.pdl = true;
  l.clusterX = 2;
  ASSERT_EQ(prepare(description), RMSNORM_OK) << rmsnorm_last_error();
  ASSERT_EQ(launch(8), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_EQ(fake->calls[1],
            "cuLaunchKernelEx(2 1 1 128 1 1 0 stream 7 cluster 2 pdl)");
  EXPECT_EQ(launch(4), RMSNORM_INVALID_MODULE);
  EXPECT_STREQ(rmsnorm_last_error(),
               "kernel 'forward_kernel': expected a grid that is a multiple of "
               "the cluster of 2 blocks, got 1");
}

TEST_F(CudaDriverTest, DependentLaunchIsTurnedOff) {
  Module description = good();
  Launch &l = description.entries[0].programs[0].variants[0].launches[0];
  l.pdl = true;
  ASSERT_EQ(prepare(description), RMSNORM_OK) << rmsnorm_last_error();
  x.sizes[0] = y.sizes[0] = 8;
  ASSERT_EQ(launchWithFlags(0), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_EQ(fake->calls[1], "cuLaunchKernelEx(2 1 1 128 1 1 0 stream 7 pdl)");
  ASSERT_EQ(launchWithFlags(RMSNORM_NO_EARLY_START), RMSNORM_OK)
      << rmsnorm_last_error();
  EXPECT_EQ(fake->calls[1], "cuLaunchKernel(2 1 1 128 1 1 0 stream 7)");
  EXPECT_EQ(launchWithFlags(6), RMSNORM_INVALID_ARGUMENT);
  EXPECT_STREQ(rmsnorm_last_error(),
               "expected the launch flags 0 or RMSNORM_NO_EARLY_START (0x1), "
               "got 0x6");
  EXPECT_TRUE(fake->calls.empty());
}

TEST_F(CudaDriverTest, GridFollowsResidentClusters) {
  Module description = good();
  Launch &l = description.entries[0].programs[0].variants[0].launches[0];
  l.clusterX = 8;
  l.sharedMemory = {constant(65536)};
  l.gridX = {residentClusters(0), constant(8), op(rmsn::ExpressionOpcode::Mul)};
  ASSERT_EQ(prepare(description), RMSNORM_OK) << rmsnorm_last_error();
  // After the attributes that the answer depends on.
  auto asked = std::find(fake->calls.begin(), fake->calls.end(),
                         "cuOccupancyMaxActiveClusters(8 1 1 128 1 1 65536 "
                         "stream 0 cluster 8)");
  EXPECT_NE(asked, fake->calls.end());
  EXPECT_NE(
      std::find(fake->calls.begin(), asked, "cuFuncSetAttribute(8, 65536)"),
      asked);
  fake->calls.clear();
  ASSERT_EQ(launch(1 << 20), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_EQ(fake->calls[1],
            "cuLaunchKernelEx(120 1 1 128 1 1 65536 stream 7 cluster 8)");
}

TEST_F(CudaDriverTest, RefusesClustersThatNeverFit) {
  Module description = good();
  description.entries[0].programs[0].variants[0].launches[0].clusterX = 16;
  fake->residentClusters = 0;
  EXPECT_EQ(prepare(description), RMSNORM_UNSUPPORTED);
  EXPECT_NE(std::string(rmsnorm_last_error())
                .find("kernel 'forward_kernel': expected a device with room "
                      "for a cluster of 16 blocks of 128 threads and 0 bytes "
                      "of shared memory"),
            std::string::npos)
      << rmsnorm_last_error();
}

TEST_F(CudaDriverTest, OldDriverIgnoresDependentLaunch) {
  fake->hasLaunchEx = false;
  Module description = good();
  description.entries[0].programs[0].variants[0].launches[0].pdl = true;
  ASSERT_EQ(prepare(description), RMSNORM_OK) << rmsnorm_last_error();
  ASSERT_EQ(launch(8), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_EQ(fake->calls[1], "cuLaunchKernel(2 1 1 128 1 1 0 stream 7)");
}

TEST_F(CudaDriverTest, FreeMemory) {
  ASSERT_EQ(openDevice(), RMSNORM_OK);
  uint64_t bytes = 0;
  ASSERT_EQ(rmsnorm_device_get_free_memory(device, &bytes), RMSNORM_OK);
  EXPECT_EQ(bytes, fake->freeMemory);
}

TEST_F(CudaDriverTest, LargeSharedMemoryIsAskedForOnce) {
  Module description = good();
  description.entries[0].programs[0].variants[0].launches[0].sharedMemory = {
      constant(100 * 1024)};
  ASSERT_EQ(prepare(description), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_TRUE(called("cuFuncSetAttribute(8, 102400)"));
  ASSERT_EQ(launch(8), RMSNORM_OK);
  EXPECT_EQ(fake->calls[1], "cuLaunchKernel(2 1 1 128 1 1 102400 stream 7)");
}

/// What the driver is told to leave of a multiprocessor's shared memory for
/// `blocks` blocks of `kilobytes` each; empty: nothing.
class CarveoutTest : public CudaDriverTest {
protected:
  Calls carveouts(unsigned blocks, double kilobytes) {
    rmsnorm_function_release(function);
    rmsnorm_module_close(module);
    rmsnorm_device_close(device);
    function = nullptr;
    module = nullptr;
    device = nullptr;
    fake->calls.clear();
    Module description = good();
    std::vector<Variant> &variants =
        description.entries[0].programs[0].variants;
    // The other one stands for kernels that say nothing.
    Launch &l = variants[0].launches[0];
    l.blocksPerMultiprocessor = blocks;
    l.sharedMemory = {constant(int64_t(kilobytes * 1024))};
    EXPECT_EQ(prepare(description), RMSNORM_OK) << rmsnorm_last_error();
    Calls found;
    for (const std::string &call : fake->calls)
      if (call.find("cuFuncSetAttribute(9, ") == 0)
        found.push_back(call);
    return found;
  }

  static Calls percent(int value) {
    return {"cuFuncSetAttribute(9, " + std::to_string(value) + ")"};
  }
};

TEST_F(CarveoutTest, NextSizeThatHoldsTheBlocks) {
  // 130 KB: a device of 228 KB has 132, which is 57.9 % of it. The driver takes
  // the next size at or above the percentage, so that it must be rounded down.
  EXPECT_EQ(carveouts(2, 64), percent(57));
  EXPECT_EQ(carveouts(1, 64), percent(43)); // 65 of 100 KB
  EXPECT_EQ(carveouts(1, 1), percent(3));   // 2 of 8 KB
}

TEST_F(CarveoutTest, ExactFit) {
  EXPECT_EQ(carveouts(2, 65), percent(57));             // 132 of 132 KB
  EXPECT_EQ(carveouts(2, 65 + 1. / 1024), percent(71)); // 164 KB
  EXPECT_EQ(carveouts(4, 48), percent(85));             // 196 of 196 KB
}

TEST_F(CarveoutTest, AllOfIt) {
  EXPECT_EQ(carveouts(2, 113), percent(100)); // 228 of 228 KB
  EXPECT_EQ(carveouts(2, 100), percent(100)); // 202 of 228 KB
  // Of more than there is, fewer blocks run at once.
  EXPECT_EQ(carveouts(4, 100), percent(100));
  EXPECT_EQ(carveouts(64, 227), percent(100));
}

TEST_F(CarveoutTest, StaticSharedMemoryCounts) {
  fake->staticSharedMemory = 1024;
  EXPECT_EQ(carveouts(2, 64), percent(57)); // 132 of 132 KB
  fake->staticSharedMemory = 1028;
  EXPECT_EQ(carveouts(2, 64), percent(71));
}

TEST_F(CarveoutTest, AnotherDevice) {
  fake->multiprocessorSharedMemory = 164 * 1024; // sm_80
  fake->maxSharedMemory = 163 * 1024;
  EXPECT_EQ(carveouts(2, 64), percent(80)); // 132 of 164 KB
  EXPECT_EQ(carveouts(2, 66), percent(100));
  fake->multiprocessorSharedMemory = 100 * 1024; // sm_86
  fake->maxSharedMemory = 99 * 1024;
  EXPECT_EQ(carveouts(2, 31), percent(64));
  EXPECT_EQ(carveouts(2, 32), percent(100));
}

TEST_F(CarveoutTest, DriverThatKnowsNoReservedMemory) {
  fake->reservedSharedMemory = -1;
  EXPECT_EQ(carveouts(2, 66), percent(57)); // 132 of 132 KB
  EXPECT_EQ(carveouts(2, 66 + 1. / 1024), percent(71));
}

TEST_F(CarveoutTest, NoneUnlessTheModuleSaysSo) {
  EXPECT_EQ(carveouts(0, 64), Calls());
  EXPECT_TRUE(called("cuFuncSetAttribute(8, 65536)"));
}

TEST_F(CudaDriverTest, TooMuchSharedMemory) {
  Module description = good();
  description.entries[0].programs[0].variants[0].launches[0].sharedMemory = {
      constant(300 * 1024)};
  EXPECT_EQ(prepare(description), RMSNORM_UNSUPPORTED);
  EXPECT_STREQ(rmsnorm_last_error(),
               "entry 'forward', target sm_90, variant 'align16': kernel "
               "'forward_kernel': expected at most 232448 bytes of dynamic "
               "shared memory, which a block has on this device, got 307200");
}

TEST_F(CudaDriverTest, SharedMemoryOfALaunch) {
  Module description = good();
  description.entries[0].programs[0].variants[0].launches[0].sharedMemory = {
      size(0, 0), constant(1024), op(rmsn::ExpressionOpcode::Mul)};
  ASSERT_EQ(prepare(description), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_EQ(launch(200), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_EQ(launch(228), RMSNORM_UNSUPPORTED);
  EXPECT_STREQ(rmsnorm_last_error(),
               "kernel 'forward_kernel': expected 0..232448 bytes of shared "
               "memory, which this device has for it, got 233472");
}

TEST_F(CudaDriverTest, KernelParametersAreCompared) {
  fake->parameterSizes = {8, 8, 8, 8, 8, 8, 4};
  EXPECT_EQ(prepare(good()), RMSNORM_OK) << rmsnorm_last_error();
}

TEST_F(CudaDriverTest, KernelWithMoreParameters) {
  fake->parameterSizes = {8, 8, 8, 8, 8, 8, 4, 8};
  EXPECT_EQ(prepare(good()), RMSNORM_INVALID_MODULE);
  EXPECT_STREQ(
      rmsnorm_last_error(),
      "entry 'forward', target sm_90, variant 'align16': kernel "
      "'forward_kernel': expected a kernel of 7 parameters, got one of 8");
}

TEST_F(CudaDriverTest, KernelWithFewerParameters) {
  fake->hasParameterCount = false;
  fake->parameterSizes = {8, 8, 8};
  EXPECT_EQ(prepare(good()), RMSNORM_INVALID_MODULE);
  EXPECT_STREQ(
      rmsnorm_last_error(),
      "entry 'forward', target sm_90, variant 'align16': kernel "
      "'forward_kernel': expected a kernel of 7 parameters, got one of 3");
}

/// Nobody says that the kernel takes more, but all it reads is ours.
TEST_F(CudaDriverTest, KernelWithUnknownParameters) {
  fake->hasParameterCount = false;
  fake->parameterSizes = {8, 8, 8, 8, 8, 8, 4, 8};
  ASSERT_EQ(prepare(good()), RMSNORM_OK) << rmsnorm_last_error();
  fake->parameterCount = rmsn::kMaxParameters;
  ASSERT_EQ(launch(8), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_EQ(fake->parameters.back(), fake->parameters.front());
}

TEST_F(CudaDriverTest, KernelWithOtherParameters) {
  fake->parameterSizes = {8, 8, 8, 4, 8, 8, 4};
  EXPECT_EQ(prepare(good()), RMSNORM_INVALID_MODULE);
  EXPECT_STREQ(rmsnorm_last_error(),
               "entry 'forward', target sm_90, variant 'align16': kernel "
               "'forward_kernel': expected parameter 3 to have 8 bytes, got 4");
}

TEST_F(CudaDriverTest, MissingKernel) {
  Module description = good();
  description.entries[0].programs[0].variants[0].launches[0].kernel = "missing";
  EXPECT_EQ(prepare(description), RMSNORM_INVALID_MODULE);
  EXPECT_STREQ(rmsnorm_last_error(),
               "entry 'forward', target sm_90, variant 'align16': kernel "
               "'missing': cuModuleGetFunction failed: CUDA_ERROR_NOT_FOUND "
               "(500), made up");
}

TEST_F(CudaDriverTest, BlockTooLargeForTheKernel) {
  fake->maxThreadsPerBlock = 64;
  EXPECT_EQ(prepare(good()), RMSNORM_UNSUPPORTED);
  EXPECT_STREQ(rmsnorm_last_error(),
               "entry 'forward', target sm_90, variant 'align16': kernel "
               "'forward_kernel': expected at most 64 threads a block, which "
               "its registers allow on this device, got 128");
}

TEST_F(CudaDriverTest, OnlyPtxWarns) {
  Module description = good();
  description.images[0].binaries = {{rmsn::BinaryFormat::Ptx, ".version 8.0"}};
  ASSERT_EQ(prepare(description), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_EQ(fake->loadedCode, ".version 8.0"); // ends in a zero byte
  rmsnorm_function_info info;
  ASSERT_EQ(rmsnorm_function_get_info(function, &info), RMSNORM_OK);
  EXPECT_STREQ(info.binary, "ptx");
  EXPECT_STREQ(info.warning,
               "the module has only PTX of sm_90 for this device (sm_90), so "
               "the driver compiled it when it was prepared; embed a cubin "
               "(compile where ptxas is found) to avoid that");
}

TEST_F(CudaDriverTest, RefusedCubinFallsBackToPtx) {
  fake->cubinResult = 209;
  Module description = good();
  description.images[0].binaries.push_back(
      {rmsn::BinaryFormat::Ptx, ".version 8.0"});
  ASSERT_EQ(prepare(description), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_TRUE(called("cuModuleLoadDataEx(cubin)"));
  EXPECT_TRUE(called("cuModuleLoadDataEx(ptx)"));
}

TEST_F(CudaDriverTest, CompileErrorShowsTheLog) {
  Module description = good();
  description.images[0].binaries = {{rmsn::BinaryFormat::Ptx, "syntax error"}};
  EXPECT_EQ(prepare(description), RMSNORM_DRIVER_ERROR);
  EXPECT_STREQ(rmsnorm_last_error(),
               "entry 'forward', target sm_90, variant 'align16': cannot load "
               "ptx code for a device sm_90: cuModuleLoadDataEx failed: "
               "CUDA_ERROR_FAKE (218), made up\nptxas: line 1: oh no");
}

TEST_F(CudaDriverTest, NewerChipTakesPtxOlderOneNothing) {
  Module description = good();
  description.images[0].binaries.push_back({rmsn::BinaryFormat::Ptx, "ptx"});
  fake->major = 10;
  ASSERT_EQ(prepare(description), RMSNORM_OK) << rmsnorm_last_error();
  rmsnorm_function_info info;
  rmsnorm_function_get_info(function, &info);
  EXPECT_STREQ(info.binary, "ptx");
}

TEST_F(CudaDriverTest, NoProgramForTheDevice) {
  fake->major = 8;
  EXPECT_EQ(prepare(good()), RMSNORM_NOT_FOUND);
  EXPECT_STREQ(rmsnorm_last_error(),
               "entry 'forward' has no program for Fake H100 (sm_80); it has "
               "programs for: sm_90");
}

TEST_F(CudaDriverTest, NoSuchDevice) {
  EXPECT_EQ(openDevice(1), RMSNORM_NO_DEVICE);
  EXPECT_STREQ(rmsnorm_last_error(), "expected a CUDA device number below 1, "
                                     "the number of devices, got 1");
  fake->initResult = 100;
  fake->deviceCount = 0;
  EXPECT_EQ(openDevice(0), RMSNORM_NO_DEVICE);
  EXPECT_STREQ(rmsnorm_last_error(), "expected a CUDA device number below 0, "
                                     "the number of devices, got 0");
  fake->initResult = 803;
  EXPECT_EQ(openDevice(0), RMSNORM_NO_DEVICE);
  EXPECT_STREQ(rmsnorm_last_error(),
               "the CUDA driver has no usable device: cuInit failed: "
               "CUDA_ERROR_FAKE (803), made up");
}

TEST_F(CudaDriverTest, Workspace) {
  Module description = good();
  Variant &variant = description.entries[0].programs[0].variants[0];
  variant.workspace = {size(0, 0), constant(1000),
                       op(rmsn::ExpressionOpcode::Mul)};
  variant.launches[0].parameters.push_back(
      {rmsn::ParameterKind::Workspace, 0, {constant(64)}});
  ASSERT_EQ(prepare(description), RMSNORM_OK) << rmsnorm_last_error();
  Tensor shapeX = x, shapeY = y;
  shapeX.data = shapeY.data = nullptr;
  DLTensor *shapes[] = {&shapeX, &weight, &shapeY};
  uint64_t bytes = 0;
  ASSERT_EQ(rmsnorm_workspace_size(function, shapes, 3, &bytes), RMSNORM_OK);
  EXPECT_EQ(bytes, 8000u);
  DLTensor *arguments[] = {&x, &weight, &y};
  EXPECT_EQ(rmsnorm_launch(function, arguments, 3, nullptr, 0, nullptr),
            RMSNORM_INVALID_ARGUMENT);
  EXPECT_STREQ(rmsnorm_last_error(),
               "expected a workspace of 8000 bytes, got 0 at (nil)");
  EXPECT_EQ(rmsnorm_launch(function, arguments, 3,
                           reinterpret_cast<void *>(0x3010), 8000, nullptr),
            RMSNORM_INVALID_ARGUMENT);
  EXPECT_STREQ(rmsnorm_last_error(),
               "expected a workspace aligned to 256 bytes, got 0x3010");
  // In the middle of x, whose rows are 10000 bytes apart and 8192 long.
  EXPECT_EQ(rmsnorm_launch(function, arguments, 3,
                           reinterpret_cast<void *>(0x3000), 8000, nullptr),
            RMSNORM_INVALID_ARGUMENT);
  EXPECT_STREQ(rmsnorm_last_error(),
               "expected a workspace of its own memory, got some of that of "
               "argument 'x'");
  fake->parameterCount = 8;
  ASSERT_EQ(rmsnorm_launch(function, arguments, 3,
                           reinterpret_cast<void *>(0x300000), 8000, nullptr),
            RMSNORM_OK);
  EXPECT_EQ(fake->parameters[7], 0x300040u);
}

TEST_F(CudaDriverTest, ParameterThatDoesNotFit) {
  Module description = good();
  description.entries[0].programs[0].variants[0].launches[0].parameters[3] = {
      rmsn::ParameterKind::I32,
      0,
      {stride(0, 0), constant(int64_t(1) << 20),
       op(rmsn::ExpressionOpcode::Mul)}};
  ASSERT_EQ(prepare(description), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_EQ(launch(8), RMSNORM_INVALID_ARGUMENT);
  EXPECT_STREQ(rmsnorm_last_error(),
               "kernel 'forward_kernel': expected a parameter that fits 32 "
               "bits, got 5242880000");
}

TEST_F(CudaDriverTest, DivisionByZeroAtALaunch) {
  Module description = good();
  description.entries[0].programs[0].variants[0].launches[0].gridX = {
      constant(1), size(0, 0), op(rmsn::ExpressionOpcode::FloorDiv)};
  ASSERT_EQ(prepare(description), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_EQ(launch(0), RMSNORM_INVALID_ARGUMENT);
  EXPECT_STREQ(rmsnorm_last_error(),
               "cannot evaluate the grid of 'forward_kernel' for these sizes: "
               "expected a divisor > 0");
}

TEST_F(CudaDriverTest, DeviceHelpers) {
  ASSERT_EQ(openDevice(), RMSNORM_OK);
  void *memory = nullptr, *stream = nullptr;
  ASSERT_EQ(rmsnorm_device_allocate(device, 64, &memory), RMSNORM_OK);
  ASSERT_EQ(rmsnorm_stream_create(device, &stream), RMSNORM_OK);
  int in = 42, out = 0;
  fake->calls.clear();
  ASSERT_EQ(rmsnorm_device_copy(device, memory, &in, 4, RMSNORM_HOST_TO_DEVICE,
                                stream),
            RMSNORM_OK);
  ASSERT_EQ(rmsnorm_device_copy(device, &out, memory, 4, RMSNORM_DEVICE_TO_HOST,
                                stream),
            RMSNORM_OK);
  EXPECT_EQ(out, 42);
  rmsnorm_event *begin = nullptr, *end = nullptr;
  ASSERT_EQ(rmsnorm_event_create(device, &begin), RMSNORM_OK);
  ASSERT_EQ(rmsnorm_event_create(device, &end), RMSNORM_OK);
  ASSERT_EQ(rmsnorm_event_record(begin, stream), RMSNORM_OK);
  ASSERT_EQ(rmsnorm_event_record(end, stream), RMSNORM_OK);
  double milliseconds = 0;
  ASSERT_EQ(rmsnorm_event_elapsed(begin, end, &milliseconds), RMSNORM_OK);
  EXPECT_EQ(milliseconds, 1.5);
  rmsnorm_event_destroy(begin);
  rmsnorm_event_destroy(end);
  EXPECT_EQ(rmsnorm_stream_destroy(device, stream), RMSNORM_OK);
  EXPECT_EQ(rmsnorm_device_free(device, memory), RMSNORM_OK);
}

TEST_F(CudaDriverTest, RecordsGraphs) {
  ASSERT_EQ(openDevice(), RMSNORM_OK);
  auto *stream = reinterpret_cast<void *>(7);
  rmsnorm_graph *graph = nullptr;
  fake->calls.clear();
  ASSERT_EQ(rmsnorm_graph_begin(device, stream), RMSNORM_OK);
  ASSERT_EQ(rmsnorm_graph_end(device, stream, &graph), RMSNORM_OK);
  // The graph keeps the device, as all objects do.
  rmsnorm_device_close(device);
  device = nullptr;
  ASSERT_EQ(rmsnorm_graph_launch(graph, stream), RMSNORM_OK);
  rmsnorm_graph_destroy(graph);
  std::vector<std::string> graphCalls;
  for (const std::string &call : fake->calls)
    if (call.find("cuGraph") == 0 || call.find("cuStream") == 0)
      graphCalls.push_back(call);
  EXPECT_EQ(graphCalls, (std::vector<std::string>{
                            "cuStreamBeginCapture(1)", "cuStreamEndCapture",
                            "cuGraphInstantiateWithFlags", "cuGraphDestroy",
                            "cuGraphLaunch(7)", "cuGraphExecDestroy"}));
  EXPECT_EQ(rmsnorm_graph_launch(nullptr, stream), RMSNORM_INVALID_ARGUMENT);
  rmsnorm_graph_destroy(nullptr);
}

TEST_F(CudaDriverTest, SaysWhyNoGraph) {
  ASSERT_EQ(openDevice(), RMSNORM_OK);
  rmsnorm_graph *graph = nullptr;
  fake->captureResult = 901;
  ASSERT_EQ(rmsnorm_graph_begin(device, nullptr), RMSNORM_OK);
  EXPECT_EQ(rmsnorm_graph_end(device, nullptr, &graph), RMSNORM_DRIVER_ERROR);
  EXPECT_STREQ(rmsnorm_last_error(),
               "cuStreamEndCapture failed: CUDA_ERROR_FAKE (901), made up");
  EXPECT_EQ(graph, nullptr);
  rmsnorm_device_close(device);
  fake->hasGraphs = false;
  ASSERT_EQ(openDevice(), RMSNORM_OK);
  EXPECT_EQ(rmsnorm_graph_begin(device, nullptr), RMSNORM_UNSUPPORTED);
  EXPECT_STREQ(rmsnorm_last_error(), "Fake H100 records no graphs");
}

} // namespace
