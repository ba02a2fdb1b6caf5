//===- CudaDeviceTest.cpp - a real NVIDIA device --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Skipped where there is none.

#include "Tensor.h"
#include "TestModule.h"
#include "rmsnorm/device.h"

#include <chrono>
#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace test;

namespace {

/// y[i] = factor * x[i] for i < count.
const char *const ptx = R"(
.version 7.8
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 px, .param .u64 py, .param .u64 pcount,
                      .param .f32 pfactor)
{
  .reg .pred %p;
  .reg .b32 %r<5>;
  .reg .b64 %rd<8>;
  .reg .f32 %f<4>;
  ld.param.u64 %rd1, [px];
  ld.param.u64 %rd2, [py];
  ld.param.u64 %rd3, [pcount];
  ld.param.f32 %f1, [pfactor];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  cvt.u64.u32 %rd4, %r4;
  setp.ge.u64 %p, %rd4, %rd3;
  @%p bra done;
  cvta.to.global.u64 %rd1, %rd1;
  cvta.to.global.u64 %rd2, %rd2;
  shl.b64 %rd5, %rd4, 2;
  add.s64 %rd6, %rd1, %rd5;
  add.s64 %rd7, %rd2, %rd5;
  ld.global.f32 %f2, [%rd6];
  mul.f32 %f3, %f1, %f2;
  st.global.f32 [%rd7], %f3;
done:
  ret;
}
)";

Module scaleModule() {
  using rmsn::ExpressionOpcode;
  using rmsn::ParameterKind;
  Launch launch;
  launch.kernel = "scale";
  Ops count = {size(0, 0), size(0, 1), op(ExpressionOpcode::Mul)};
  launch.gridX = count;
  launch.gridX.insert(launch.gridX.end(),
                      {constant(256), op(ExpressionOpcode::CeilDiv)});
  launch.blockX = 256;
  launch.pdl = true;
  launch.sharedMemory = {constant(64 * 1024)}; // more than without asking
  launch.parameters = {{ParameterKind::Pointer, 0},
                       {ParameterKind::Pointer, 1},
                       {ParameterKind::I64, 0, count},
                       {ParameterKind::F32, 0, {}, 3.0f}};
  Module module;
  module.entries = {
      {"scale",
       {{"x", rmsn::Role::Input, rmsn::DataType::F32, {-1, 1000}, true},
        {"y", rmsn::Role::Output, rmsn::DataType::F32, {-1, 1000}, true}},
       {{"sm_80", {{"only", {}, {}, {launch}}}}}}};
  module.images = {{"sm_80",
                    rmsn::Backend::Cuda,
                    "sm_80",
                    {{rmsn::BinaryFormat::Ptx, ptx}},
                    ""}};
  return module;
}

class CudaDeviceTest : public testing::Test {
protected:
  void SetUp() override {
    rmsnorm_status status = rmsnorm_device_open(RMSNORM_CUDA, nullptr, &device);
    if (status == RMSNORM_NO_DRIVER || status == RMSNORM_NO_DEVICE)
      GTEST_SKIP() << rmsnorm_last_error();
    ASSERT_EQ(status, RMSNORM_OK) << rmsnorm_last_error();
    std::string file = scaleModule().file();
    ASSERT_EQ(rmsnorm_module_open_memory(file.data(), file.size(), &module),
              RMSNORM_OK)
        << rmsnorm_last_error();
    ASSERT_EQ(rmsnorm_prepare(module, "scale", device, &function), RMSNORM_OK)
        << rmsnorm_last_error();
    ASSERT_EQ(rmsnorm_stream_create(device, &stream), RMSNORM_OK);
    bytes = 4 * rows * 1000;
    ASSERT_EQ(rmsnorm_device_allocate(device, bytes, &xMemory), RMSNORM_OK);
    ASSERT_EQ(rmsnorm_device_allocate(device, bytes, &yMemory), RMSNORM_OK);
    host.resize(rows * 1000);
    for (size_t i = 0; i < host.size(); ++i)
      host[i] = float(i);
    ASSERT_EQ(rmsnorm_device_copy(device, xMemory, host.data(), bytes,
                                  RMSNORM_HOST_TO_DEVICE, stream),
              RMSNORM_OK)
        << rmsnorm_last_error();
    ASSERT_EQ(rmsnorm_device_fill(device, yMemory, 0xff, bytes, stream),
              RMSNORM_OK);
    x.data = xMemory;
    y.data = yMemory;
  }
  void TearDown() override {
    rmsnorm_function_release(function);
    rmsnorm_device_free(device, xMemory);
    rmsnorm_device_free(device, yMemory);
    rmsnorm_stream_destroy(device, stream);
    rmsnorm_module_close(module);
    rmsnorm_device_close(device);
  }

  rmsnorm_status launch() {
    DLTensor *arguments[] = {&x, &y};
    return rmsnorm_launch(function, arguments, 2, nullptr, 0, stream);
  }

  void expectScaled() {
    std::vector<float> result(host.size());
    ASSERT_EQ(rmsnorm_device_copy(device, result.data(), yMemory, bytes,
                                  RMSNORM_DEVICE_TO_HOST, stream),
              RMSNORM_OK)
        << rmsnorm_last_error();
    for (size_t i = 0; i < host.size(); ++i)
      ASSERT_EQ(result[i], 3 * host[i]) << i;
  }

  rmsnorm_device *device = nullptr;
  rmsnorm_module *module = nullptr;
  rmsnorm_function *function = nullptr;
  void *stream = nullptr, *xMemory = nullptr, *yMemory = nullptr;
  int64_t rows = 33;
  size_t bytes = 0;
  std::vector<float> host;
  Tensor x{nullptr, CUDA0, F32, {rows, 1000}};
  Tensor y{nullptr, CUDA0, F32, {rows, 1000}};
};

TEST_F(CudaDeviceTest, Runs) {
  rmsnorm_device_info deviceInfo;
  ASSERT_EQ(rmsnorm_device_get_info(device, &deviceInfo), RMSNORM_OK);
  rmsnorm_function_info info;
  ASSERT_EQ(rmsnorm_function_get_info(function, &info), RMSNORM_OK);
  std::printf("  %s, %s, %d multiprocessors; %s: %s\n", deviceInfo.name,
              deviceInfo.chip, deviceInfo.multiprocessor_count, info.binary,
              info.warning);
  ASSERT_EQ(launch(), RMSNORM_OK) << rmsnorm_last_error();
  expectScaled();
}

TEST_F(CudaDeviceTest, CanBeCapturedIntoAGraph) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  auto function = [&](const char *name) { return dlsym(driver, name); };
  auto begin = reinterpret_cast<int (*)(void *, int)>(
      function("cuStreamBeginCapture_v2"));
  auto end = reinterpret_cast<int (*)(void *, void **)>(
      function("cuStreamEndCapture"));
  auto instantiate = reinterpret_cast<int (*)(void **, void *, uint64_t)>(
      function("cuGraphInstantiateWithFlags"));
  auto replay =
      reinterpret_cast<int (*)(void *, void *)>(function("cuGraphLaunch"));
  ASSERT_TRUE(begin && end && instantiate && replay);
  void *graph = nullptr, *executable = nullptr;
  // Global mode: any unsafe call of this process would break the capture. The
  // launch is the function's first.
  ASSERT_EQ(begin(stream, /*global*/ 0), 0);
  ASSERT_EQ(launch(), RMSNORM_OK) << rmsnorm_last_error();
  ASSERT_EQ(end(stream, &graph), 0);
  // The driver calls above need a current context; ours is the primary one.
  auto setCurrent =
      reinterpret_cast<int (*)(void *)>(function("cuCtxSetCurrent"));
  auto retain = reinterpret_cast<int (*)(void **, int)>(
      function("cuDevicePrimaryCtxRetain"));
  void *context = nullptr;
  ASSERT_EQ(retain(&context, 0), 0);
  ASSERT_EQ(setCurrent(context), 0);
  ASSERT_EQ(instantiate(&executable, graph, 0), 0);
  ASSERT_EQ(replay(executable, stream), 0);
  expectScaled();
}

TEST_F(CudaDeviceTest, LaunchCost) {
  using Clock = std::chrono::steady_clock;
  rmsnorm_event *begin = nullptr, *end = nullptr;
  ASSERT_EQ(rmsnorm_event_create(device, &begin), RMSNORM_OK);
  ASSERT_EQ(rmsnorm_event_create(device, &end), RMSNORM_OK);
  constexpr int rounds = 500; // below the depth of a stream's queue
  double best = 1e9, milliseconds = 0;
  for (int repeat = 0; repeat < 10; ++repeat) {
    rmsnorm_stream_synchronize(device, stream);
    rmsnorm_event_record(begin, stream);
    auto start = Clock::now();
    for (int i = 0; i < rounds; ++i)
      ASSERT_EQ(launch(), RMSNORM_OK);
    std::chrono::duration<double, std::nano> time = Clock::now() - start;
    rmsnorm_event_record(end, stream);
    best = std::min(best, time.count() / rounds);
    ASSERT_EQ(rmsnorm_event_elapsed(begin, end, &milliseconds), RMSNORM_OK);
  }
  std::printf("  launch with the driver: %.0f ns on the host, %.2f us a kernel "
              "on the device\n",
              best, 1000 * milliseconds / rounds);
  rmsnorm_event_destroy(begin);
  rmsnorm_event_destroy(end);
}

TEST_F(CudaDeviceTest, ZeroRows) {
  x.sizes[0] = y.sizes[0] = 0;
  x.data = y.data = nullptr;
  EXPECT_EQ(launch(), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_EQ(rmsnorm_stream_synchronize(device, stream), RMSNORM_OK);
}

} // namespace
