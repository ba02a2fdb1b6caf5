//===- Gpu.cpp - what CUDA's and HIP's drivers have alike -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Gpu.h"

#include <algorithm>
#include <iterator>

using namespace rmsnorm::runtime;

// The same numbers in cuda.h and in HIP's headers.
enum : unsigned { StreamNonBlocking = 1 };
enum : unsigned { MemAttachGlobal = 1, HostRegisterMapped = 2 };
// Only calls of this thread may break a capture.
enum : int { StreamCaptureModeThreadLocal = 1 };

rmsnorm_status GpuSymbols::error(int result, const char *what) const {
  const char *name = nullptr, *words = nullptr;
  describe(result, name, words);
  return fail(result == GPU_ERROR_OUT_OF_MEMORY ? RMSNORM_OUT_OF_MEMORY
                                                : RMSNORM_DRIVER_ERROR,
              "%s failed: %s (%d), %s", what, name ? name : "unknown error",
              result, words ? words : "no description");
}

rmsnorm_status GpuSymbols::open(const char *driver, int32_t ordinal) const {
  int count = 0;
  int result = init(0);
  if (result == 0)
    result = getDeviceCount(&count);
  if (result != 0 && result != GPU_ERROR_NO_DEVICE) {
    error(result, init.name);
    return fail(RMSNORM_NO_DEVICE, "the %s driver has no usable device: %s",
                driver, rmsnorm_last_error());
  }
  if (ordinal >= count)
    return fail(RMSNORM_NO_DEVICE,
                "expected a %s device number below %d, the number of "
                "devices, got %d",
                driver, count, ordinal);
  return RMSNORM_OK;
}

//===- Launches -----------------------------------------------------------===//

void **GpuDevice::getParameters(const KernelLaunch &launch,
                                void *(&slots)[rmsn::kMaxParameters]) {
  for (unsigned i = 0; i < launch.slotCount; ++i)
    slots[i] = launch.slots + i;
  // If a kernel takes more parameters than the module says, the driver reads
  // on. Not every driver can say how many a kernel takes.
  std::fill(slots + launch.slotCount, std::end(slots), launch.slots);
  return launch.parameters ? launch.parameters : slots;
}

rmsnorm_status GpuDevice::finishLaunch(int result, const char *what,
                                       const char *memory,
                                       const KernelLaunch &launch) const {
  if (result == 0)
    return RMSNORM_OK;
  gpu.error(result, what);
  const rmsn::Launch &constants = *launch.launch;
  return fail(RMSNORM_DRIVER_ERROR,
              "kernel '%s', grid %u x %u x %u, block %u x %u x %u, %u bytes of "
              "%s: %s",
              constants.kernel()->c_str(), launch.grid[0], launch.grid[1],
              launch.grid[2], constants.block_x(), constants.block_y(),
              constants.block_z(), launch.sharedMemory, memory,
              rmsnorm_last_error());
}

//===- Memory, streams, events --------------------------------------------===//

rmsnorm_status GpuDevice::allocate(uint64_t bytes, void *&memory) {
  RMSNORM_GPU_ENTER(context);
  void *allocated = nullptr;
  if (int result = gpu.allocate(&allocated, bytes)) {
    rmsnorm_status status = gpu.error(result, gpu.allocate.name);
    return fail(status, "no device memory for %llu bytes: %s",
                (unsigned long long)bytes, rmsnorm_last_error());
  }
  memory = allocated;
  return RMSNORM_OK;
}

rmsnorm_status GpuDevice::release(void *memory) {
  RMSNORM_GPU_ENTER(context);
  RMSNORM_GPU_TRY(gpu, free, memory);
  return RMSNORM_OK;
}

rmsnorm_status GpuDevice::getFreeMemory(uint64_t &bytes) {
  if (!gpu.getMemoryInfo)
    return fail(RMSNORM_UNSUPPORTED,
                "the driver does not say how much memory is free");
  RMSNORM_GPU_ENTER(context);
  size_t free = 0, total = 0;
  RMSNORM_GPU_TRY(gpu, getMemoryInfo, &free, &total);
  bytes = free;
  return RMSNORM_OK;
}

rmsnorm_status GpuDevice::allocateManaged(uint64_t bytes, void *&memory) {
  RMSNORM_GPU_ENTER(context);
  void *allocated = nullptr;
  RMSNORM_GPU_TRY(gpu, allocateManaged, &allocated, bytes, MemAttachGlobal);
  memory = allocated;
  return RMSNORM_OK;
}

rmsnorm_status GpuDevice::registerHost(void *memory, uint64_t bytes) {
  RMSNORM_GPU_ENTER(context);
  RMSNORM_GPU_TRY(gpu, registerHost, memory, bytes, HostRegisterMapped);
  return RMSNORM_OK;
}

rmsnorm_status GpuDevice::unregisterHost(void *memory) {
  RMSNORM_GPU_ENTER(context);
  RMSNORM_GPU_TRY(gpu, unregisterHost, memory);
  return RMSNORM_OK;
}

rmsnorm_status GpuDevice::createStream(void *&stream) {
  RMSNORM_GPU_ENTER(context);
  void *created = nullptr;
  RMSNORM_GPU_TRY(gpu, createStream, &created, StreamNonBlocking);
  stream = created;
  return RMSNORM_OK;
}

rmsnorm_status GpuDevice::destroyStream(void *stream) {
  RMSNORM_GPU_ENTER(context);
  RMSNORM_GPU_TRY(gpu, destroyStream, stream);
  return RMSNORM_OK;
}

rmsnorm_status GpuDevice::synchronize(void *stream) {
  RMSNORM_GPU_ENTER(context);
  RMSNORM_GPU_TRY(gpu, synchronizeStream, stream);
  return RMSNORM_OK;
}

void GpuDevice::destroyEvent(void *event) {
  GpuScope scope(context);
  gpu.destroyEvent(event);
}

rmsnorm_status GpuDevice::recordEvent(void *event, void *stream) {
  RMSNORM_GPU_ENTER(context);
  RMSNORM_GPU_TRY(gpu, recordEvent, event, stream);
  return RMSNORM_OK;
}

rmsnorm_status GpuDevice::waitEvent(void *stream, void *event) {
  RMSNORM_GPU_ENTER(context);
  RMSNORM_GPU_TRY(gpu, waitEvent, stream, event, /*flags=*/0);
  return RMSNORM_OK;
}

rmsnorm_status GpuDevice::synchronizeEvent(void *event) {
  RMSNORM_GPU_ENTER(context);
  RMSNORM_GPU_TRY(gpu, synchronizeEvent, event);
  return RMSNORM_OK;
}

rmsnorm_status GpuDevice::elapsed(void *begin, void *end,
                                  double &milliseconds) {
  RMSNORM_GPU_ENTER(context);
  RMSNORM_GPU_TRY(gpu, synchronizeEvent, end);
  float time = 0;
  RMSNORM_GPU_TRY(gpu, getElapsedTime, &time, begin, end);
  milliseconds = time;
  return RMSNORM_OK;
}

//===- Graphs -------------------------------------------------------------===//

rmsnorm_status GpuDevice::beginGraph(void *stream) {
  if (!gpu.beginCapture || !gpu.endCapture || !gpu.instantiateGraph ||
      !gpu.destroyGraph || !gpu.launchGraph || !gpu.destroyExecutable)
    return Device::beginGraph(stream);
  RMSNORM_GPU_ENTER(context);
  RMSNORM_GPU_TRY(gpu, beginCapture, stream, StreamCaptureModeThreadLocal);
  return RMSNORM_OK;
}

rmsnorm_status GpuDevice::endGraph(void *stream, void *&native) {
  if (!gpu.endCapture)
    return Device::endGraph(stream, native);
  RMSNORM_GPU_ENTER(context);
  void *graph = nullptr, *executable = nullptr;
  RMSNORM_GPU_TRY(gpu, endCapture, stream, &graph);
  int result = gpu.instantiateGraph(&executable, graph, 0);
  gpu.destroyGraph(graph);
  if (result)
    return gpu.error(result, gpu.instantiateGraph.name);
  native = executable;
  return RMSNORM_OK;
}

rmsnorm_status GpuDevice::launchGraph(void *native, void *stream) {
  RMSNORM_GPU_ENTER(context);
  RMSNORM_GPU_TRY(gpu, launchGraph, native, stream);
  return RMSNORM_OK;
}

void GpuDevice::destroyGraph(void *native) {
  GpuScope scope(context);
  gpu.destroyExecutable(native);
}
