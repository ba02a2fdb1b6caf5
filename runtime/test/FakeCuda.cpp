//===- FakeCuda.cpp - a libcuda that records ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exports cuGetProcAddress only, as proof that the driver is asked through it.

#include "FakeCuda.h"
#include "drivers/CudaTypes.h"
#include "drivers/GpuSymbols.h"

#include <cstdlib>
#include <cstring>

using namespace rmsnorm::runtime;
using namespace rmsnorm::runtime::cuda;

extern "C" __attribute__((visibility("default"))) test::FakeCuda *fake_cuda() {
  static test::FakeCuda state;
  return &state;
}

namespace {

test::FakeCuda &state() { return *fake_cuda(); }

CUresult log(const char *call) {
  if (state().record)
    state().calls.push_back(call);
  return 0;
}
CUresult log(const std::string &call) { return log(call.c_str()); }

thread_local CUcontext currentContext = nullptr;
auto theContext = reinterpret_cast<CUcontext>(0xc0);

CUresult cuGetErrorName(CUresult result, const char **name) {
  *name = result == 209   ? "CUDA_ERROR_NO_BINARY_FOR_GPU"
          : result == 500 ? "CUDA_ERROR_NOT_FOUND"
                          : "CUDA_ERROR_FAKE";
  return 0;
}
CUresult cuGetErrorString(CUresult, const char **text) {
  *text = "made up";
  return 0;
}
CUresult cuInit(unsigned) {
  log("cuInit");
  return state().initResult;
}
CUresult cuDeviceGetCount(int *count) {
  *count = state().deviceCount;
  return 0;
}
CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  *device = ordinal;
  return 0;
}
CUresult cuDeviceGetName(char *name, int, CUdevice) {
  std::strcpy(name, "Fake H100");
  return 0;
}
CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice) {
  switch (attribute) {
  case MULTIPROCESSOR_COUNT:
    *value = state().multiprocessors;
    return 0;
  case COMPUTE_CAPABILITY_MAJOR:
    *value = state().major;
    return 0;
  case COMPUTE_CAPABILITY_MINOR:
    *value = state().minor;
    return 0;
  case MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    *value = state().maxSharedMemory;
    return 0;
  case MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    *value = state().multiprocessorSharedMemory;
    return 0;
  case RESERVED_SHARED_MEMORY_PER_BLOCK:
    if (state().reservedSharedMemory < 0)
      return 1;
    *value = state().reservedSharedMemory;
    return 0;
  }
  return 1;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice) {
  *context = theContext;
  return log("cuDevicePrimaryCtxRetain");
}
CUresult cuDevicePrimaryCtxRelease(CUdevice) {
  return log("cuDevicePrimaryCtxRelease");
}
CUresult cuCtxGetCurrent(CUcontext *context) {
  *context = currentContext;
  return 0;
}
CUresult cuCtxPushCurrent(CUcontext context) {
  currentContext = context;
  return log("cuCtxPushCurrent");
}
CUresult cuCtxPopCurrent(CUcontext *context) {
  *context = currentContext;
  currentContext = nullptr;
  return log("cuCtxPopCurrent");
}
CUresult cuModuleLoadDataEx(CUmodule *module, const void *code, unsigned count,
                            int *options, void **values) {
  bool elf = std::memcmp(code,
                         "\x7f"
                         "ELF",
                         4) == 0;
  log(elf ? "cuModuleLoadDataEx(cubin)" : "cuModuleLoadDataEx(ptx)");
  if (elf && state().cubinResult)
    return state().cubinResult;
  state().loadedCode = static_cast<const char *>(code);
  if (state().loadedCode.find("syntax error") != std::string::npos) {
    for (unsigned i = 0; i < count; ++i)
      if (options[i] == JIT_ERROR_LOG_BUFFER)
        std::strcpy(static_cast<char *>(values[i]), "ptxas: line 1: oh no");
    return 218;
  }
  *module = reinterpret_cast<CUmodule>(0xd0);
  return 0;
}
CUresult cuModuleUnload(CUmodule) { return log("cuModuleUnload"); }
CUresult cuModuleGetFunction(CUfunction *function, CUmodule, const char *name) {
  log(std::string("cuModuleGetFunction(") + name + ")");
  if (std::strcmp(name, "missing") == 0)
    return 500;
  *function = reinterpret_cast<CUfunction>(0xf0);
  return 0;
}
CUresult cuFuncGetAttribute(int *value, int attribute, CUfunction) {
  *value = attribute == FUNC_MAX_THREADS_PER_BLOCK ? state().maxThreadsPerBlock
           : attribute == FUNC_SHARED_SIZE_BYTES   ? state().staticSharedMemory
                                                   : 0;
  return 0;
}
CUresult cuFuncSetAttribute(CUfunction, int attribute, int value) {
  return log("cuFuncSetAttribute(" + std::to_string(attribute) + ", " +
             std::to_string(value) + ")");
}
CUresult cuFuncLoad(CUfunction) { return log("cuFuncLoad"); }
CUresult cuFuncGetParamInfo(CUfunction, size_t index, size_t *offset,
                            size_t *size) {
  if (index >= state().parameterSizes.size())
    return 1;
  *offset = 0;
  *size = state().parameterSizes[index];
  return 0;
}
CUresult cuFuncGetParamCount(CUfunction, size_t *count) {
  *count = state().parameterSizes.size();
  return 0;
}
CUresult launched(void **parameters) {
  test::FakeCuda &fake = state();
  ++fake.launches;
  if (!fake.record)
    return 0;
  fake.parameters.clear();
  for (unsigned i = 0; i < fake.parameterCount; ++i)
    fake.parameters.push_back(*static_cast<uint64_t *>(parameters[i]));
  return 0;
}
std::string shape(unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                  unsigned by, unsigned bz, unsigned shared, CUstream stream) {
  std::string text;
  for (unsigned value : {gx, gy, gz, bx, by, bz, shared})
    text += std::to_string(value) + " ";
  return text + "stream " + std::to_string(reinterpret_cast<uintptr_t>(stream));
}
CUresult cuLaunchKernel(CUfunction, unsigned gx, unsigned gy, unsigned gz,
                        unsigned bx, unsigned by, unsigned bz, unsigned shared,
                        CUstream stream, void **parameters, void **) {
  if (state().record)
    log("cuLaunchKernel(" + shape(gx, gy, gz, bx, by, bz, shared, stream) +
        ")");
  return launched(parameters);
}
CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction,
                          void **parameters, void **) {
  if (state().record) {
    std::string text = shape(c->gridX, c->gridY, c->gridZ, c->blockX, c->blockY,
                             c->blockZ, c->sharedMemoryBytes, c->stream);
    for (unsigned i = 0; i < c->attributeCount; ++i)
      text += c->attributes[i].id == LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
                  ? " cluster " + std::to_string(
                                      c->attributes[i].value.clusterDimension.x)
                  : std::string(" pdl");
    log("cuLaunchKernelEx(" + text + ")");
  }
  return launched(parameters);
}
CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction,
                                      const CUlaunchConfig *c) {
  *clusters = state().residentClusters;
  return log("cuOccupancyMaxActiveClusters(" +
             shape(c->gridX, c->gridY, c->gridZ, c->blockX, c->blockY,
                   c->blockZ, c->sharedMemoryBytes, c->stream) +
             " cluster " +
             std::to_string(c->attributes[0].value.clusterDimension.x) + ")");
}
CUresult cuMemAlloc(CUdeviceptr *pointer, size_t bytes) {
  *pointer = reinterpret_cast<uintptr_t>(std::malloc(bytes));
  return log("cuMemAlloc");
}
CUresult cuMemFree(CUdeviceptr pointer) {
  std::free(reinterpret_cast<void *>(pointer));
  return log("cuMemFree");
}
CUresult cuMemGetInfo(size_t *free, size_t *total) {
  *free = state().freeMemory;
  *total = 2 * state().freeMemory;
  return log("cuMemGetInfo");
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes,
                           CUstream) {
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return log("cuMemcpyHtoDAsync");
}
CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream) {
  std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  return log("cuMemcpyDtoHAsync");
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr, CUdeviceptr, size_t, CUstream) {
  return log("cuMemcpyDtoDAsync");
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes,
                         CUstream) {
  std::memset(reinterpret_cast<void *>(to), value, bytes);
  return log("cuMemsetD8Async");
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                       CUstream) {
  std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from),
              bytes);
  return log("cuMemcpyAsync");
}
CUresult cuMemAllocManaged(CUdeviceptr *, size_t, unsigned flags) {
  log("cuMemAllocManaged(" + std::to_string(flags) + ")");
  return GPU_ERROR_OUT_OF_MEMORY;
}
CUresult cuMemHostRegister(void *, size_t, unsigned flags) {
  return log("cuMemHostRegister(" + std::to_string(flags) + ")");
}
CUresult cuMemHostUnregister(void *) { return log("cuMemHostUnregister"); }
CUresult cuStreamWaitEvent(CUstream, CUevent, unsigned) {
  return log("cuStreamWaitEvent");
}
CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  *stream = reinterpret_cast<CUstream>(0x50);
  return log("cuStreamCreate(" + std::to_string(flags) + ")");
}
CUresult cuStreamDestroy(CUstream) { return log("cuStreamDestroy"); }
CUresult cuStreamSynchronize(CUstream) { return log("cuStreamSynchronize"); }
CUresult cuEventCreate(CUevent *event, unsigned) {
  *event = reinterpret_cast<CUevent>(0xe0);
  return log("cuEventCreate");
}
CUresult cuEventDestroy(CUevent) { return log("cuEventDestroy"); }
CUresult cuEventRecord(CUevent, CUstream) { return log("cuEventRecord"); }
CUresult cuEventSynchronize(CUevent) { return log("cuEventSynchronize"); }
CUresult cuEventElapsedTime(float *time, CUevent, CUevent) {
  *time = 1.5f;
  return log("cuEventElapsedTime");
}
CUresult cuStreamBeginCapture(CUstream, int mode) {
  return log("cuStreamBeginCapture(" + std::to_string(mode) + ")");
}
CUresult cuStreamEndCapture(CUstream, void **graph) {
  *graph = reinterpret_cast<void *>(0xa0);
  log("cuStreamEndCapture");
  return state().captureResult;
}
CUresult cuGraphInstantiateWithFlags(void **executable, void *,
                                     unsigned long long) {
  *executable = reinterpret_cast<void *>(0xb0);
  return log("cuGraphInstantiateWithFlags");
}
CUresult cuGraphDestroy(void *) { return log("cuGraphDestroy"); }
CUresult cuGraphLaunch(void *, CUstream stream) {
  return log("cuGraphLaunch(" +
             std::to_string(reinterpret_cast<uintptr_t>(stream)) + ")");
}
CUresult cuGraphExecDestroy(void *) { return log("cuGraphExecDestroy"); }

} // namespace

extern "C" __attribute__((visibility("default"))) CUresult
cuGetProcAddress(const char *wanted, void **function, int version, uint64_t) {
  *function = nullptr;
  if (std::strcmp(wanted, "cuFuncGetParamCount") == 0 &&
      !state().hasParameterCount)
    return 500;
  if (std::strcmp(wanted, "cuFuncGetParamInfo") == 0 &&
      state().parameterSizes.empty())
    return 500;
  if (std::strncmp(wanted, "cuGraph", 7) == 0 && !state().hasGraphs)
    return 500;
  if (std::strcmp(wanted, "cuLaunchKernelEx") == 0 && !state().hasLaunchEx)
    return 500;
#define RMSNORM_CUDA_REQUIRED(name, since, exported, parameters)               \
  if (std::strcmp(wanted, #name) == 0 && version == since)                     \
    *function = reinterpret_cast<void *>(&name);
#define RMSNORM_CUDA_OPTIONAL RMSNORM_CUDA_REQUIRED
#define RMSNORM_GPU_REQUIRED(member, parameters, cuda, since, exported, hip)   \
  RMSNORM_CUDA_REQUIRED(cuda, since, exported, parameters)
#define RMSNORM_GPU_OPTIONAL RMSNORM_GPU_REQUIRED
#include "drivers/CudaSymbols.def"
#include "drivers/GpuSymbols.def"
  return *function ? 0 : 500;
}
