//===- Mgpu.cpp - what MLIR's gpu-to-llvm calls ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of LLVM 22's mlir/lib/ExecutionEngine wrappers, on any of our
// devices. They have no status: a failure prints a message and aborts.

#include "rmsnorm/device.h"
#include "rmsnorm/embed.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

/// A kernel in the forms in which it is launched: of one block size, cluster
/// and size of workgroup memory each.
struct Function {
  rmsnorm_gpu_object *object;
  const char *name;
  std::mutex mutex;
  std::deque<rmsnorm_gpu_kernel> forms;

  rmsnorm_gpu_kernel &get(const uint32_t block[3], uint32_t cluster,
                          uint32_t sharedMemory);
};

/// An object that mgpuModuleLoad was given. The code generator asks for a
/// function at every launch.
struct Module {
  rmsnorm_gpu_object object;
  std::mutex mutex;
  std::map<std::string, Function> functions;
};

/// A memref of any rank, as its descriptor begins.
struct UnrankedDescriptor {
  void *allocated, *aligned;
  int64_t offset;
  int64_t sizesAndStrides[];
};

void check(rmsnorm_status status, const char *what) {
  if (!status)
    return;
  std::fprintf(stderr, "rmsnorm: %s: %s\n", what, rmsnorm_last_error());
  std::abort();
}

rmsnorm_gpu_kernel &Function::get(const uint32_t block[3], uint32_t cluster,
                                  uint32_t sharedMemory) {
  std::lock_guard<std::mutex> lock(mutex);
  for (rmsnorm_gpu_kernel &form : forms)
    if (std::memcmp(form.block, block, sizeof(form.block)) == 0 &&
        form.cluster == cluster && form.shared_memory == sharedMemory)
      return form;
  rmsnorm_gpu_kernel &form = forms.emplace_back();
  form = {};
  form.object = object;
  form.name = name;
  std::memcpy(form.block, block, sizeof(form.block));
  form.cluster = cluster;
  form.shared_memory = sharedMemory;
  return form;
}

void launch(void *function, uint32_t cluster, const uint64_t grid[3],
            const size_t block[3], int32_t sharedMemory, void *stream,
            void **parameters) {
  const uint32_t threads[3] = {uint32_t(block[0]), uint32_t(block[1]),
                               uint32_t(block[2])};
  rmsnorm_gpu_launch_on(
      &static_cast<Function *>(function)->get(threads, cluster, sharedMemory),
      grid, parameters, stream);
}

/// The elements of a packed memref, or those between its first and last.
uint64_t getBytes(int64_t rank, const UnrankedDescriptor &memref,
                  int64_t elementBytes) {
  int64_t last = 0;
  for (int64_t d = 0; d < rank; ++d) {
    if (memref.sizesAndStrides[d] == 0)
      return 0;
    last += (memref.sizesAndStrides[d] - 1) * memref.sizesAndStrides[rank + d];
  }
  return uint64_t(last + 1) * elementBytes;
}

/// By bytes if these are all the same, as those of zero.
template <typename T>
void fill(void *memory, T value, size_t count, void *stream) {
  const uint8_t first = uint8_t(value);
  rmsnorm_device *device = rmsnorm_gpu_device();
  if (value == T(T(~T(0)) / 255 * first)) {
    check(rmsnorm_device_fill(device, memory, first, count * sizeof(T), stream),
          "filling memory");
    return;
  }
  const std::vector<T> values(count, value);
  check(rmsnorm_device_copy(device, memory, values.data(), count * sizeof(T),
                            RMSNORM_HOST_TO_DEVICE, stream),
        "filling memory");
}

void *getData(const UnrankedDescriptor &memref, int64_t elementBytes) {
  return static_cast<char *>(memref.aligned) + memref.offset * elementBytes;
}

} // namespace

//===- Modules ------------------------------------------------------------===//

// Nothing is loaded yet: modules come from constructors of the program, before
// it can choose a device.
EXPORTED void *mgpuModuleLoad(void *data, size_t size) {
  auto *module = new Module;
  module->object = {RMSNORM_GPU_VERSION, data, size, nullptr, nullptr};
  rmsnorm_gpu_add_object(&module->object);
  return module;
}

EXPORTED void *mgpuModuleLoadJIT(void *text, int32_t) {
  return mgpuModuleLoad(text, std::strlen(static_cast<char *>(text)));
}

EXPORTED void mgpuModuleUnload(void *module) {
  rmsnorm_gpu_remove_object(&static_cast<Module *>(module)->object);
  delete static_cast<Module *>(module);
}

EXPORTED void *mgpuModuleGetFunction(void *handle, const char *name) {
  auto &module = *static_cast<Module *>(handle);
  std::lock_guard<std::mutex> lock(module.mutex);
  auto [place, isNew] = module.functions.try_emplace(name);
  if (isNew) {
    place->second.object = &module.object;
    place->second.name = place->first.c_str();
  }
  return &place->second;
}

EXPORTED void mgpuLaunchKernel(void *function, size_t gridX, size_t gridY,
                               size_t gridZ, size_t blockX, size_t blockY,
                               size_t blockZ, int32_t sharedMemory,
                               void *stream, void **parameters, void **,
                               size_t) {
  const uint64_t grid[] = {gridX, gridY, gridZ};
  const size_t block[] = {blockX, blockY, blockZ};
  launch(function, /*cluster=*/1, grid, block, sharedMemory, stream,
         parameters);
}

EXPORTED void mgpuLaunchClusterKernel(void *function, size_t clusterX,
                                      size_t clusterY, size_t clusterZ,
                                      size_t gridX, size_t gridY, size_t gridZ,
                                      size_t blockX, size_t blockY,
                                      size_t blockZ, int32_t sharedMemory,
                                      void *stream, void **parameters,
                                      void **) {
  if (clusterY != 1 || clusterZ != 1) {
    std::fprintf(stderr, "rmsnorm: expected clusters along x\n");
    std::abort();
  }
  const uint64_t grid[] = {gridX, gridY, gridZ};
  const size_t block[] = {blockX, blockY, blockZ};
  launch(function, clusterX, grid, block, sharedMemory, stream, parameters);
}

EXPORTED void mgpuSetDefaultDevice(int32_t ordinal) {
  rmsnorm_gpu_use_ordinal(ordinal);
}

//===- Streams and events -------------------------------------------------===//

EXPORTED void *mgpuStreamCreate() {
  void *stream = nullptr;
  check(rmsnorm_stream_create(rmsnorm_gpu_device(), &stream),
        "creating a stream");
  return stream;
}

EXPORTED void mgpuStreamDestroy(void *stream) {
  check(rmsnorm_stream_destroy(rmsnorm_gpu_device(), stream),
        "destroying a stream");
}

EXPORTED void mgpuStreamSynchronize(void *stream) {
  check(rmsnorm_stream_synchronize(rmsnorm_gpu_device(), stream),
        "waiting for a stream");
}

EXPORTED void mgpuStreamWaitEvent(void *stream, void *event) {
  check(rmsnorm_stream_wait_event(stream, static_cast<rmsnorm_event *>(event)),
        "waiting for an event");
}

EXPORTED void *mgpuEventCreate() {
  rmsnorm_event *event = nullptr;
  check(rmsnorm_event_create(rmsnorm_gpu_device(), &event),
        "creating an event");
  return event;
}

EXPORTED void mgpuEventDestroy(void *event) {
  rmsnorm_event_destroy(static_cast<rmsnorm_event *>(event));
}

EXPORTED void mgpuEventRecord(void *event, void *stream) {
  check(rmsnorm_event_record(static_cast<rmsnorm_event *>(event), stream),
        "recording an event");
}

EXPORTED void mgpuEventSynchronize(void *event) {
  check(rmsnorm_event_synchronize(static_cast<rmsnorm_event *>(event)),
        "waiting for an event");
}

//===- Memory -------------------------------------------------------------===//

EXPORTED void *mgpuMemAlloc(uint64_t bytes, void *, bool isHostShared) {
  void *memory = nullptr;
  rmsnorm_device *device = rmsnorm_gpu_device();
  check(isHostShared ? rmsnorm_device_allocate_managed(device, bytes, &memory)
                     : rmsnorm_device_allocate(device, bytes, &memory),
        "allocating memory");
  return memory;
}

// Work on the stream may use it still.
EXPORTED void mgpuMemFree(void *memory, void *stream) {
  mgpuStreamSynchronize(stream);
  check(rmsnorm_device_free(rmsnorm_gpu_device(), memory), "freeing memory");
}

// finalize-memref-to-llvm{use-generic-functions} calls this: buffers that host
// and device reach. cudaMalloc aligns to 256 bytes.
EXPORTED void *_mlir_memref_to_llvm_alloc(size_t bytes) {
  return mgpuMemAlloc(bytes, nullptr, /*isHostShared=*/true);
}

EXPORTED void *_mlir_memref_to_llvm_aligned_alloc(size_t alignment,
                                                  size_t bytes) {
  if (alignment > 256) {
    std::fprintf(stderr,
                 "rmsnorm: expected an alignment of at most 256, got %zu\n",
                 alignment);
    std::abort();
  }
  return _mlir_memref_to_llvm_alloc(bytes);
}

EXPORTED void _mlir_memref_to_llvm_free(void *memory) {
  check(rmsnorm_device_free(rmsnorm_gpu_device(), memory), "freeing memory");
}

EXPORTED void mgpuMemcpy(void *to, void *from, size_t bytes, void *stream) {
  check(rmsnorm_device_copy(rmsnorm_gpu_device(), to, from, bytes,
                            RMSNORM_ANY_TO_ANY, stream),
        "copying memory");
}

EXPORTED void mgpuMemset32(void *memory, uint32_t value, size_t count,
                           void *stream) {
  fill(memory, value, count, stream);
}

EXPORTED void mgpuMemset16(void *memory, uint16_t value, size_t count,
                           void *stream) {
  fill(memory, value, count, stream);
}

EXPORTED void mgpuMemHostRegisterMemRef(int64_t rank, void *descriptor,
                                        int64_t elementBytes) {
  auto &memref = *static_cast<UnrankedDescriptor *>(descriptor);
  check(rmsnorm_device_register_host(rmsnorm_gpu_device(),
                                     getData(memref, elementBytes),
                                     getBytes(rank, memref, elementBytes)),
        "registering host memory");
}

EXPORTED void mgpuMemHostUnregisterMemRef(int64_t, void *descriptor,
                                          int64_t elementBytes) {
  auto &memref = *static_cast<UnrankedDescriptor *>(descriptor);
  check(rmsnorm_device_unregister_host(rmsnorm_gpu_device(),
                                       getData(memref, elementBytes)),
        "unregistering host memory");
}
