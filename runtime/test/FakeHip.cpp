//===- FakeHip.cpp - a libamdhip64 that records ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FakeHip.h"
#include "drivers/HipSymbols.h"

#include <cstring>

using namespace rmsnorm::runtime;
using namespace rmsnorm::runtime::hip;

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED test::FakeHip *fake_hip() {
  static test::FakeHip state;
  return &state;
}

static hipError_t log(std::string call) {
  fake_hip()->calls.push_back(std::move(call));
  return 0;
}

EXPORTED const char *hipGetErrorName(hipError_t) { return "hipErrorFake"; }
EXPORTED const char *hipGetErrorString(hipError_t) { return "made up"; }
EXPORTED hipError_t hipInit(unsigned) { return 0; }
EXPORTED hipError_t hipGetDeviceCount(int *count) {
  *count = 2;
  return 0;
}
EXPORTED hipError_t hipGetDevice(int *device) {
  *device = fake_hip()->currentDevice;
  return 0;
}
EXPORTED hipError_t hipSetDevice(int device) {
  fake_hip()->currentDevice = device;
  return log("hipSetDevice(" + std::to_string(device) + ")");
}
EXPORTED hipError_t hipDeviceGetName(char *name, int, int) {
  std::strcpy(name, "Fake MI300X");
  return 0;
}
EXPORTED hipError_t hipDeviceGetAttribute(int *value, int attribute, int) {
  *value = attribute == MultiprocessorCount ? 304 : 65536;
  return attribute == MultiprocessorCount ||
                 attribute == MaxSharedMemoryPerBlock
             ? 0
             : 1;
}
EXPORTED hipError_t hipGetDevicePropertiesR0600(void *properties, int) {
  char *bytes = static_cast<char *>(properties);
  std::strcpy(bytes, "gfx in a marketing name gfx900");
  std::strcpy(bytes + 1160, "gfx942:sramecc+:xnack-");
  return 0;
}
EXPORTED hipError_t hipModuleLoadData(hipModule_t *module, const void *) {
  *module = reinterpret_cast<hipModule_t>(0xd0);
  return log("hipModuleLoadData");
}
EXPORTED hipError_t hipModuleUnload(hipModule_t) {
  return log("hipModuleUnload");
}
EXPORTED hipError_t hipModuleGetFunction(hipFunction_t *function, hipModule_t,
                                         const char *name) {
  *function = reinterpret_cast<hipFunction_t>(0xf0);
  return log(std::string("hipModuleGetFunction(") + name + ")");
}
EXPORTED hipError_t hipFuncGetAttribute(int *value, int attribute,
                                        hipFunction_t) {
  *value = attribute == FUNC_MAX_THREADS_PER_BLOCK ? 1024 : 0;
  return 0;
}
EXPORTED hipError_t hipModuleLaunchKernel(hipFunction_t, unsigned gx,
                                          unsigned gy, unsigned gz, unsigned bx,
                                          unsigned by, unsigned bz,
                                          unsigned shared, hipStream_t stream,
                                          void **parameters, void **) {
  std::string text;
  for (unsigned value : {gx, gy, gz, bx, by, bz, shared})
    text += std::to_string(value) + " ";
  fake_hip()->parameters.clear();
  for (unsigned i = 0; i < 7; ++i)
    fake_hip()->parameters.push_back(*static_cast<uint64_t *>(parameters[i]));
  return log("hipModuleLaunchKernel(" + text + "stream " +
             std::to_string(reinterpret_cast<uintptr_t>(stream)) + ")");
}
EXPORTED hipError_t hipMalloc(void **, size_t) {
  return GPU_ERROR_OUT_OF_MEMORY;
}
EXPORTED hipError_t hipFree(void *) { return 0; }
EXPORTED hipError_t hipMallocManaged(void **, size_t, unsigned) {
  return GPU_ERROR_OUT_OF_MEMORY;
}
EXPORTED hipError_t hipHostRegister(void *, size_t, unsigned) { return 0; }
EXPORTED hipError_t hipHostUnregister(void *) { return 0; }
EXPORTED hipError_t hipStreamWaitEvent(hipStream_t, hipEvent_t, unsigned) {
  return 0;
}
EXPORTED hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes,
                                   int kind, hipStream_t) {
  std::memcpy(to, from, bytes);
  return log("hipMemcpyAsync(" + std::to_string(kind) + ")");
}
EXPORTED hipError_t hipMemsetAsync(void *, int, size_t, hipStream_t) {
  return log("hipMemsetAsync");
}
EXPORTED hipError_t hipStreamCreateWithFlags(hipStream_t *, unsigned) {
  return 0;
}
EXPORTED hipError_t hipStreamDestroy(hipStream_t) { return 0; }
EXPORTED hipError_t hipStreamSynchronize(hipStream_t) {
  return log("hipStreamSynchronize");
}
EXPORTED hipError_t hipEventCreate(hipEvent_t *) { return 0; }
EXPORTED hipError_t hipEventDestroy(hipEvent_t) { return 0; }
EXPORTED hipError_t hipEventRecord(hipEvent_t, hipStream_t) { return 0; }
EXPORTED hipError_t hipEventSynchronize(hipEvent_t) { return 0; }
EXPORTED hipError_t hipEventElapsedTime(float *time, hipEvent_t, hipEvent_t) {
  *time = 2;
  return 0;
}
EXPORTED hipError_t hipStreamBeginCapture(hipStream_t, int mode) {
  return log("hipStreamBeginCapture(" + std::to_string(mode) + ")");
}
EXPORTED hipError_t hipStreamEndCapture(hipStream_t, void **) {
  return log("hipStreamEndCapture");
}
EXPORTED hipError_t hipGraphInstantiateWithFlags(void **, void *,
                                                 unsigned long long) {
  return log("hipGraphInstantiateWithFlags");
}
EXPORTED hipError_t hipGraphDestroy(void *) { return log("hipGraphDestroy"); }
EXPORTED hipError_t hipGraphLaunch(void *, hipStream_t) {
  return log("hipGraphLaunch");
}
EXPORTED hipError_t hipGraphExecDestroy(void *) {
  return log("hipGraphExecDestroy");
}
