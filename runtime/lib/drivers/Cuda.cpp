//===- Cuda.cpp - the CUDA driver -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CudaImage.h"

#include <algorithm>
#include <iterator>

using namespace rmsnorm::runtime;
using namespace rmsnorm::runtime::cuda;

namespace {

class CudaDevice : public Device {
public:
  explicit CudaDevice(std::shared_ptr<PrimaryContext> primary)
      : primary(std::move(primary)), symbols(*this->primary->symbols) {}

  int suitability(const rmsn::Module &module,
                  const rmsn::Program &program) const override;
  void gridLimits(const rmsn::Launch &, uint32_t limits[3]) const override {
    limits[0] = 0x7fffffff;
    limits[1] = limits[2] = 65535;
  }
  rmsnorm_status load(const rmsn::Image &image,
                      std::shared_ptr<LoadedImage> &loaded) override;
  rmsnorm_status launch(const KernelLaunch &launch) override;

  rmsnorm_status allocate(uint64_t bytes, void *&memory) override;
  rmsnorm_status release(void *memory) override;
  rmsnorm_status allocateManaged(uint64_t bytes, void *&memory) override;
  rmsnorm_status registerHost(void *memory, uint64_t bytes) override;
  rmsnorm_status unregisterHost(void *memory) override;
  rmsnorm_status copy(void *destination, const void *source, uint64_t bytes,
                      rmsnorm_copy_direction direction, void *stream) override;
  rmsnorm_status fill(void *memory, uint8_t value, uint64_t bytes,
                      void *stream) override;
  rmsnorm_status createStream(void *&stream) override;
  rmsnorm_status destroyStream(void *stream) override;
  rmsnorm_status synchronize(void *stream) override;
  rmsnorm_status createEvent(void *&event) override;
  void destroyEvent(void *event) override;
  rmsnorm_status recordEvent(void *event, void *stream) override;
  rmsnorm_status waitEvent(void *stream, void *event) override;
  rmsnorm_status synchronizeEvent(void *event) override;
  rmsnorm_status elapsed(void *begin, void *end, double &milliseconds) override;
  rmsnorm_status beginGraph(void *stream) override;
  rmsnorm_status endGraph(void *stream, void *&native) override;
  rmsnorm_status launchGraph(void *native, void *stream) override;
  void destroyGraph(void *native) override;

private:
  std::shared_ptr<PrimaryContext> primary;
  const Symbols &symbols;
};

CUstream asStream(void *stream) { return static_cast<CUstream>(stream); }
CUdeviceptr asPointer(const void *memory) {
  return reinterpret_cast<uintptr_t>(memory);
}

} // namespace

//===- Code ---------------------------------------------------------------===//

rmsnorm_status CudaDevice::load(const rmsn::Image &image,
                                std::shared_ptr<LoadedImage> &loaded) {
  RMSNORM_CUDA_ENTER(symbols, primary->context);
  Chip chip;
  // A bare object does not say what it is for; the driver knows.
  const bool isKnown = Chip::parse(image.chip()->str(), chip);
  const rmsn::Binary *cubin = findBinary(image, rmsn::BinaryFormat::Cubin);
  const rmsn::Binary *ptx = findBinary(image, rmsn::BinaryFormat::Ptx);
  if (cubin && isKnown && !chip.cubinRunsOn(primary->chip))
    cubin = nullptr;
  CUresult result = 0;
  if (cubin) {
    auto code = std::make_shared<CudaImage>(primary);
    rmsnorm_status status = code->loadBinary(*cubin, result);
    if (status == RMSNORM_OK) {
      loaded = std::move(code);
      return RMSNORM_OK;
    }
    if (result != CUDA_ERROR_NO_BINARY_FOR_GPU || !ptx)
      return status;
  }
  if (!ptx)
    return fail(RMSNORM_UNSUPPORTED,
                "expected code that runs on %s (%s), got a cubin for %s and no "
                "PTX",
                name.c_str(), this->chip.c_str(), image.chip()->c_str());
  auto code = std::make_shared<CudaImage>(primary);
  RMSNORM_TRY(code->loadBinary(*ptx, result));
  code->warning = formatted(
      "the module has only PTX of %s for this device (%s), so the driver "
      "compiled it when it was prepared; embed a cubin (compile where ptxas is "
      "found) to avoid that",
      image.chip()->c_str(), this->chip.c_str());
  loaded = std::move(code);
  return RMSNORM_OK;
}

int CudaDevice::suitability(const rmsn::Module &module,
                            const rmsn::Program &program) const {
  Chip chip;
  if (!Chip::parse(program.target()->str(), chip))
    return 0;
  bool cubin = true, ptx = true; // whether all launches have it
  for (const rmsn::Variant *variant : *program.variants())
    for (const rmsn::Launch *launch : *variant->launches()) {
      const rmsn::Image &image = *module.images()->Get(launch->image());
      cubin &= findBinary(image, rmsn::BinaryFormat::Cubin) != nullptr;
      ptx &= findBinary(image, rmsn::BinaryFormat::Ptx) != nullptr;
    }
  // The nearest chip wins; among these chip-specific code, then machine code.
  int score = 40 * chip.major + 4 * chip.minor + (chip.suffix ? 2 : 0);
  if (cubin && chip.cubinRunsOn(primary->chip))
    return score + 1;
  return ptx && chip.ptxRunsOn(primary->chip) ? score : 0;
}

rmsnorm_status CudaDevice::launch(const KernelLaunch &launch) {
  RMSNORM_CUDA_ENTER(symbols, primary->context);
  void *slots[rmsn::kMaxParameters];
  void **parameters = launch.parameters ? launch.parameters : slots;
  for (unsigned i = 0; i < launch.slotCount; ++i)
    slots[i] = launch.slots + i;
  // A kernel that takes more than the module says would have the driver read
  // on, and not every driver can say what it takes.
  std::fill(slots + launch.slotCount, std::end(slots),
            const_cast<uint64_t *>(launch.slots));
  const rmsn::Launch &constants = *launch.launch;
  auto function = static_cast<CUfunction>(launch.kernel->handle);
  CUlaunchAttribute attributes[2];
  unsigned attributeCount = 0;
  if (constants.cluster_x() > 1) {
    CUlaunchAttribute &cluster = attributes[attributeCount++];
    cluster.id = LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDimension = {constants.cluster_x(), 1, 1};
  }
  // Without it the kernel only starts later: grid dependencies hold trivially.
  if (constants.programmatic_dependent_launch() && symbols.cuLaunchKernelEx) {
    CUlaunchAttribute &serialization = attributes[attributeCount++];
    serialization.id = LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    serialization.value.programmaticStreamSerializationAllowed = 1;
  }
  CUresult result;
  if (attributeCount == 0) {
    result = symbols.cuLaunchKernel(
        function, launch.grid[0], launch.grid[1], launch.grid[2],
        constants.block_x(), constants.block_y(), constants.block_z(),
        launch.sharedMemory, asStream(launch.stream), parameters, nullptr);
  } else {
    CUlaunchConfig config = {launch.grid[0],      launch.grid[1],
                             launch.grid[2],      constants.block_x(),
                             constants.block_y(), constants.block_z(),
                             launch.sharedMemory, asStream(launch.stream),
                             attributes,          attributeCount};
    result = symbols.cuLaunchKernelEx(&config, function, parameters, nullptr);
  }
  if (result == 0)
    return RMSNORM_OK;
  driverError(symbols, result, "the launch");
  return fail(RMSNORM_DRIVER_ERROR,
              "kernel '%s', grid %u x %u x %u, block %u x %u x %u, %u bytes of "
              "shared memory: %s",
              constants.kernel()->c_str(), launch.grid[0], launch.grid[1],
              launch.grid[2], constants.block_x(), constants.block_y(),
              constants.block_z(), launch.sharedMemory, rmsnorm_last_error());
}

//===- Memory, streams, events --------------------------------------------===//

rmsnorm_status CudaDevice::allocate(uint64_t bytes, void *&memory) {
  RMSNORM_CUDA_ENTER(symbols, primary->context);
  CUdeviceptr pointer = 0;
  if (CUresult result = symbols.cuMemAlloc(&pointer, bytes)) {
    rmsnorm_status status = driverError(symbols, result, "cuMemAlloc");
    return fail(status, "no device memory for %llu bytes: %s",
                (unsigned long long)bytes, rmsnorm_last_error());
  }
  memory = reinterpret_cast<void *>(pointer);
  return RMSNORM_OK;
}

rmsnorm_status CudaDevice::release(void *memory) {
  RMSNORM_CUDA_ENTER(symbols, primary->context);
  RMSNORM_CUDA_TRY(symbols, cuMemFree, asPointer(memory));
  return RMSNORM_OK;
}

rmsnorm_status CudaDevice::allocateManaged(uint64_t bytes, void *&memory) {
  RMSNORM_CUDA_ENTER(symbols, primary->context);
  CUdeviceptr pointer = 0;
  RMSNORM_CUDA_TRY(symbols, cuMemAllocManaged, &pointer, bytes,
                   MEM_ATTACH_GLOBAL);
  memory = reinterpret_cast<void *>(pointer);
  return RMSNORM_OK;
}

rmsnorm_status CudaDevice::registerHost(void *memory, uint64_t bytes) {
  RMSNORM_CUDA_ENTER(symbols, primary->context);
  RMSNORM_CUDA_TRY(symbols, cuMemHostRegister, memory, bytes,
                   MEMHOSTREGISTER_DEVICEMAP);
  return RMSNORM_OK;
}

rmsnorm_status CudaDevice::unregisterHost(void *memory) {
  RMSNORM_CUDA_ENTER(symbols, primary->context);
  RMSNORM_CUDA_TRY(symbols, cuMemHostUnregister, memory);
  return RMSNORM_OK;
}

rmsnorm_status CudaDevice::copy(void *destination, const void *source,
                                uint64_t bytes,
                                rmsnorm_copy_direction direction,
                                void *stream) {
  RMSNORM_CUDA_ENTER(symbols, primary->context);
  if (direction == RMSNORM_DEVICE_TO_DEVICE)
    RMSNORM_CUDA_TRY(symbols, cuMemcpyDtoDAsync, asPointer(destination),
                     asPointer(source), bytes, asStream(stream));
  else if (direction == RMSNORM_ANY_TO_ANY)
    RMSNORM_CUDA_TRY(symbols, cuMemcpyAsync, asPointer(destination),
                     asPointer(source), bytes, asStream(stream));
  else if (direction == RMSNORM_HOST_TO_DEVICE)
    RMSNORM_CUDA_TRY(symbols, cuMemcpyHtoDAsync, asPointer(destination), source,
                     bytes, asStream(stream));
  else
    RMSNORM_CUDA_TRY(symbols, cuMemcpyDtoHAsync, destination, asPointer(source),
                     bytes, asStream(stream));
  const bool waits = direction < RMSNORM_DEVICE_TO_DEVICE;
  return waits ? synchronize(stream) : RMSNORM_OK;
}

rmsnorm_status CudaDevice::fill(void *memory, uint8_t value, uint64_t bytes,
                                void *stream) {
  RMSNORM_CUDA_ENTER(symbols, primary->context);
  RMSNORM_CUDA_TRY(symbols, cuMemsetD8Async, asPointer(memory), value, bytes,
                   asStream(stream));
  return RMSNORM_OK;
}

rmsnorm_status CudaDevice::createStream(void *&stream) {
  RMSNORM_CUDA_ENTER(symbols, primary->context);
  CUstream created = nullptr;
  RMSNORM_CUDA_TRY(symbols, cuStreamCreate, &created, STREAM_NON_BLOCKING);
  stream = created;
  return RMSNORM_OK;
}

rmsnorm_status CudaDevice::destroyStream(void *stream) {
  RMSNORM_CUDA_ENTER(symbols, primary->context);
  RMSNORM_CUDA_TRY(symbols, cuStreamDestroy, asStream(stream));
  return RMSNORM_OK;
}

rmsnorm_status CudaDevice::synchronize(void *stream) {
  RMSNORM_CUDA_ENTER(symbols, primary->context);
  RMSNORM_CUDA_TRY(symbols, cuStreamSynchronize, asStream(stream));
  return RMSNORM_OK;
}

rmsnorm_status CudaDevice::createEvent(void *&event) {
  RMSNORM_CUDA_ENTER(symbols, primary->context);
  CUevent created = nullptr;
  RMSNORM_CUDA_TRY(symbols, cuEventCreate, &created, EVENT_DEFAULT);
  event = created;
  return RMSNORM_OK;
}

void CudaDevice::destroyEvent(void *event) {
  ContextScope scope(symbols, primary->context);
  symbols.cuEventDestroy(static_cast<CUevent>(event));
}

rmsnorm_status CudaDevice::recordEvent(void *event, void *stream) {
  RMSNORM_CUDA_ENTER(symbols, primary->context);
  RMSNORM_CUDA_TRY(symbols, cuEventRecord, static_cast<CUevent>(event),
                   asStream(stream));
  return RMSNORM_OK;
}

rmsnorm_status CudaDevice::waitEvent(void *stream, void *event) {
  RMSNORM_CUDA_ENTER(symbols, primary->context);
  RMSNORM_CUDA_TRY(symbols, cuStreamWaitEvent, asStream(stream),
                   static_cast<CUevent>(event), /*flags=*/0);
  return RMSNORM_OK;
}

rmsnorm_status CudaDevice::synchronizeEvent(void *event) {
  RMSNORM_CUDA_ENTER(symbols, primary->context);
  RMSNORM_CUDA_TRY(symbols, cuEventSynchronize, static_cast<CUevent>(event));
  return RMSNORM_OK;
}

rmsnorm_status CudaDevice::elapsed(void *begin, void *end,
                                   double &milliseconds) {
  RMSNORM_CUDA_ENTER(symbols, primary->context);
  RMSNORM_CUDA_TRY(symbols, cuEventSynchronize, static_cast<CUevent>(end));
  float time = 0;
  RMSNORM_CUDA_TRY(symbols, cuEventElapsedTime, &time,
                   static_cast<CUevent>(begin), static_cast<CUevent>(end));
  milliseconds = time;
  return RMSNORM_OK;
}

//===- Graphs -------------------------------------------------------------===//

rmsnorm_status CudaDevice::beginGraph(void *stream) {
  if (!symbols.cuStreamBeginCapture || !symbols.cuStreamEndCapture ||
      !symbols.cuGraphInstantiateWithFlags || !symbols.cuGraphDestroy ||
      !symbols.cuGraphLaunch || !symbols.cuGraphExecDestroy)
    return Device::beginGraph(stream);
  RMSNORM_CUDA_ENTER(symbols, primary->context);
  RMSNORM_CUDA_TRY(symbols, cuStreamBeginCapture, asStream(stream),
                   STREAM_CAPTURE_MODE_THREAD_LOCAL);
  return RMSNORM_OK;
}

rmsnorm_status CudaDevice::endGraph(void *stream, void *&native) {
  if (!symbols.cuStreamEndCapture)
    return Device::endGraph(stream, native);
  RMSNORM_CUDA_ENTER(symbols, primary->context);
  CUgraph graph = nullptr;
  RMSNORM_CUDA_TRY(symbols, cuStreamEndCapture, asStream(stream), &graph);
  CUgraphExec executable = nullptr;
  CUresult result = symbols.cuGraphInstantiateWithFlags(&executable, graph, 0);
  symbols.cuGraphDestroy(graph);
  if (result)
    return driverError(symbols, result, "cuGraphInstantiateWithFlags");
  native = executable;
  return RMSNORM_OK;
}

rmsnorm_status CudaDevice::launchGraph(void *native, void *stream) {
  RMSNORM_CUDA_ENTER(symbols, primary->context);
  RMSNORM_CUDA_TRY(symbols, cuGraphLaunch, static_cast<CUgraphExec>(native),
                   asStream(stream));
  return RMSNORM_OK;
}

void CudaDevice::destroyGraph(void *native) {
  ContextScope scope(symbols, primary->context);
  symbols.cuGraphExecDestroy(static_cast<CUgraphExec>(native));
}

//===- Opening ------------------------------------------------------------===//

rmsnorm_status rmsnorm::runtime::openCuda(const rmsnorm_device_options &options,
                                          std::shared_ptr<Device> &device) {
  std::shared_ptr<const Symbols> loaded;
  RMSNORM_TRY(loadSymbols(options.driver_library, loaded));
  const Symbols &symbols = *loaded;
  int count = 0;
  CUresult result = symbols.cuInit(0);
  if (result == 0)
    result = symbols.cuDeviceGetCount(&count);
  if (result != 0 && result != CUDA_ERROR_NO_DEVICE) {
    driverError(symbols, result, "cuInit");
    return fail(RMSNORM_NO_DEVICE, "the CUDA driver has no usable device: %s",
                rmsnorm_last_error());
  }
  if (options.ordinal >= count)
    return fail(RMSNORM_NO_DEVICE,
                "expected a CUDA device number below %d, the number of "
                "devices, got %d",
                count, options.ordinal);
  CUdevice handle = 0;
  RMSNORM_CUDA_TRY(symbols, cuDeviceGet, &handle, options.ordinal);
  auto primary = std::make_shared<PrimaryContext>(loaded, handle);
  char name[256] = "";
  RMSNORM_CUDA_TRY(symbols, cuDeviceGetName, name, sizeof(name), handle);
  int multiprocessors = 1;
  Chip &chip = primary->chip;
  RMSNORM_CUDA_TRY(symbols, cuDeviceGetAttribute, &chip.major,
                   COMPUTE_CAPABILITY_MAJOR, handle);
  RMSNORM_CUDA_TRY(symbols, cuDeviceGetAttribute, &chip.minor,
                   COMPUTE_CAPABILITY_MINOR, handle);
  RMSNORM_CUDA_TRY(symbols, cuDeviceGetAttribute, &multiprocessors,
                   MULTIPROCESSOR_COUNT, handle);
  RMSNORM_CUDA_TRY(symbols, cuDeviceGetAttribute, &primary->maxSharedMemory,
                   MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, handle);
  RMSNORM_CUDA_TRY(symbols, cuDeviceGetAttribute,
                   &primary->multiprocessorSharedMemory,
                   MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, handle);
  // Drivers before CUDA 11.1 do not know it, and their devices reserve nothing.
  if (symbols.cuDeviceGetAttribute(&primary->reservedSharedMemory,
                                   RESERVED_SHARED_MEMORY_PER_BLOCK, handle))
    primary->reservedSharedMemory = 0;
  RMSNORM_CUDA_TRY(symbols, cuDevicePrimaryCtxRetain, &primary->context,
                   handle);
  auto opened = std::make_shared<CudaDevice>(std::move(primary));
  opened->ordinal = options.ordinal;
  opened->name = name;
  opened->chip = formatted("sm_%d%d", chip.major, chip.minor);
  opened->multiprocessorCount = multiprocessors;
  opened->place = {{kDLCUDA, options.ordinal}, /*managed=*/true};
  device = std::move(opened);
  return RMSNORM_OK;
}
