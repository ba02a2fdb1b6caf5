//===- Hip.cpp - the HIP driver -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HipImage.h"

#include <cctype>
#include <cstring>

using namespace rmsnorm::runtime;
using namespace rmsnorm::runtime::hip;

namespace {

class HipDevice : public Device {
public:
  HipDevice(std::shared_ptr<const Symbols> shared, int64_t sharedMemory)
      : shared(std::move(shared)), symbols(*this->shared),
        maxSharedMemory(sharedMemory) {}

  int suitability(const rmsn::Module &,
                  const rmsn::Program &program) const override {
    return chip == program.target()->c_str() ? 1 : 0;
  }
  void gridLimits(const rmsn::Launch &launch,
                  uint32_t limits[3]) const override {
    // HIP counts threads, not blocks, in 32 bits.
    limits[0] = 0xffffffffu / launch.block_x();
    limits[1] = 65535;
    limits[2] = 65535;
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
  std::shared_ptr<const Symbols> shared;
  const Symbols &symbols;
  int64_t maxSharedMemory;
};

hipStream_t asStream(void *stream) { return static_cast<hipStream_t>(stream); }
hipEvent_t asEvent(void *event) { return static_cast<hipEvent_t>(event); }

} // namespace

//===- Code ---------------------------------------------------------------===//

rmsnorm_status HipDevice::load(const rmsn::Image &image,
                               std::shared_ptr<LoadedImage> &loaded) {
  RMSNORM_HIP_ENTER(symbols, ordinal);
  const rmsn::Binary *hsaco = findBinary(image, rmsn::BinaryFormat::Hsaco);
  auto code = std::make_shared<HipImage>(shared, ordinal, maxSharedMemory);
  if (rmsnorm_status status = code->loadBinary(*hsaco))
    return fail(status, "cannot load code for %s on %s (%s): %s",
                image.chip()->c_str(), name.c_str(), chip.c_str(),
                rmsnorm_last_error());
  loaded = std::move(code);
  return RMSNORM_OK;
}

rmsnorm_status HipDevice::launch(const KernelLaunch &launch) {
  RMSNORM_HIP_ENTER(symbols, ordinal);
  void *slots[rmsn::kMaxParameters];
  void **parameters = launch.parameters ? launch.parameters : slots;
  for (unsigned i = 0; i < launch.slotCount; ++i)
    slots[i] = launch.slots + i;
  const rmsn::Launch &constants = *launch.launch;
  hipError_t result = symbols.hipModuleLaunchKernel(
      static_cast<hipFunction_t>(launch.kernel->handle), launch.grid[0],
      launch.grid[1], launch.grid[2], constants.block_x(), constants.block_y(),
      constants.block_z(), launch.sharedMemory, asStream(launch.stream),
      parameters, nullptr);
  if (result == 0)
    return RMSNORM_OK;
  driverError(symbols, result, "hipModuleLaunchKernel");
  return fail(RMSNORM_DRIVER_ERROR,
              "kernel '%s', grid %u x %u x %u, block %u x %u x %u, %u bytes of "
              "LDS: %s",
              constants.kernel()->c_str(), launch.grid[0], launch.grid[1],
              launch.grid[2], constants.block_x(), constants.block_y(),
              constants.block_z(), launch.sharedMemory, rmsnorm_last_error());
}

//===- Memory, streams, events --------------------------------------------===//

rmsnorm_status HipDevice::allocate(uint64_t bytes, void *&memory) {
  RMSNORM_HIP_ENTER(symbols, ordinal);
  void *allocated = nullptr;
  RMSNORM_HIP_TRY(symbols, hipMalloc, &allocated, bytes);
  memory = allocated;
  return RMSNORM_OK;
}

rmsnorm_status HipDevice::release(void *memory) {
  RMSNORM_HIP_ENTER(symbols, ordinal);
  RMSNORM_HIP_TRY(symbols, hipFree, memory);
  return RMSNORM_OK;
}

rmsnorm_status HipDevice::allocateManaged(uint64_t bytes, void *&memory) {
  RMSNORM_HIP_ENTER(symbols, ordinal);
  void *allocated = nullptr;
  RMSNORM_HIP_TRY(symbols, hipMallocManaged, &allocated, bytes,
                  MemAttachGlobal);
  memory = allocated;
  return RMSNORM_OK;
}

rmsnorm_status HipDevice::registerHost(void *memory, uint64_t bytes) {
  RMSNORM_HIP_ENTER(symbols, ordinal);
  RMSNORM_HIP_TRY(symbols, hipHostRegister, memory, bytes, HostRegisterMapped);
  return RMSNORM_OK;
}

rmsnorm_status HipDevice::unregisterHost(void *memory) {
  RMSNORM_HIP_ENTER(symbols, ordinal);
  RMSNORM_HIP_TRY(symbols, hipHostUnregister, memory);
  return RMSNORM_OK;
}

rmsnorm_status HipDevice::copy(void *destination, const void *source,
                               uint64_t bytes, rmsnorm_copy_direction direction,
                               void *stream) {
  RMSNORM_HIP_ENTER(symbols, ordinal);
  int kind = direction == RMSNORM_HOST_TO_DEVICE   ? HostToDevice
             : direction == RMSNORM_DEVICE_TO_HOST ? DeviceToHost
             : direction == RMSNORM_ANY_TO_ANY     ? AnyToAny
                                                   : DeviceToDevice;
  RMSNORM_HIP_TRY(symbols, hipMemcpyAsync, destination, source, bytes, kind,
                  asStream(stream));
  if (direction != RMSNORM_DEVICE_TO_DEVICE && direction != RMSNORM_ANY_TO_ANY)
    RMSNORM_HIP_TRY(symbols, hipStreamSynchronize, asStream(stream));
  return RMSNORM_OK;
}

rmsnorm_status HipDevice::fill(void *memory, uint8_t value, uint64_t bytes,
                               void *stream) {
  RMSNORM_HIP_ENTER(symbols, ordinal);
  RMSNORM_HIP_TRY(symbols, hipMemsetAsync, memory, value, bytes,
                  asStream(stream));
  return RMSNORM_OK;
}

rmsnorm_status HipDevice::createStream(void *&stream) {
  RMSNORM_HIP_ENTER(symbols, ordinal);
  hipStream_t created = nullptr;
  RMSNORM_HIP_TRY(symbols, hipStreamCreateWithFlags, &created,
                  StreamNonBlocking);
  stream = created;
  return RMSNORM_OK;
}

rmsnorm_status HipDevice::destroyStream(void *stream) {
  RMSNORM_HIP_ENTER(symbols, ordinal);
  RMSNORM_HIP_TRY(symbols, hipStreamDestroy, asStream(stream));
  return RMSNORM_OK;
}

rmsnorm_status HipDevice::synchronize(void *stream) {
  RMSNORM_HIP_ENTER(symbols, ordinal);
  RMSNORM_HIP_TRY(symbols, hipStreamSynchronize, asStream(stream));
  return RMSNORM_OK;
}

rmsnorm_status HipDevice::createEvent(void *&event) {
  RMSNORM_HIP_ENTER(symbols, ordinal);
  hipEvent_t created = nullptr;
  RMSNORM_HIP_TRY(symbols, hipEventCreate, &created);
  event = created;
  return RMSNORM_OK;
}

void HipDevice::destroyEvent(void *event) {
  DeviceScope scope(symbols, ordinal);
  symbols.hipEventDestroy(asEvent(event));
}

rmsnorm_status HipDevice::recordEvent(void *event, void *stream) {
  RMSNORM_HIP_ENTER(symbols, ordinal);
  RMSNORM_HIP_TRY(symbols, hipEventRecord, asEvent(event), asStream(stream));
  return RMSNORM_OK;
}

rmsnorm_status HipDevice::waitEvent(void *stream, void *event) {
  RMSNORM_HIP_ENTER(symbols, ordinal);
  RMSNORM_HIP_TRY(symbols, hipStreamWaitEvent, asStream(stream), asEvent(event),
                  /*flags=*/0);
  return RMSNORM_OK;
}

rmsnorm_status HipDevice::synchronizeEvent(void *event) {
  RMSNORM_HIP_ENTER(symbols, ordinal);
  RMSNORM_HIP_TRY(symbols, hipEventSynchronize, asEvent(event));
  return RMSNORM_OK;
}

rmsnorm_status HipDevice::elapsed(void *begin, void *end,
                                  double &milliseconds) {
  RMSNORM_HIP_ENTER(symbols, ordinal);
  RMSNORM_HIP_TRY(symbols, hipEventSynchronize, asEvent(end));
  float time = 0;
  RMSNORM_HIP_TRY(symbols, hipEventElapsedTime, &time, asEvent(begin),
                  asEvent(end));
  milliseconds = time;
  return RMSNORM_OK;
}

//===- Graphs -------------------------------------------------------------===//

rmsnorm_status HipDevice::beginGraph(void *stream) {
  if (!symbols.hipStreamBeginCapture || !symbols.hipStreamEndCapture ||
      !symbols.hipGraphInstantiateWithFlags || !symbols.hipGraphDestroy ||
      !symbols.hipGraphLaunch || !symbols.hipGraphExecDestroy)
    return Device::beginGraph(stream);
  RMSNORM_HIP_ENTER(symbols, ordinal);
  RMSNORM_HIP_TRY(symbols, hipStreamBeginCapture, asStream(stream),
                  StreamCaptureModeThreadLocal);
  return RMSNORM_OK;
}

rmsnorm_status HipDevice::endGraph(void *stream, void *&native) {
  if (!symbols.hipStreamEndCapture)
    return Device::endGraph(stream, native);
  RMSNORM_HIP_ENTER(symbols, ordinal);
  hipGraph_t graph = nullptr;
  RMSNORM_HIP_TRY(symbols, hipStreamEndCapture, asStream(stream), &graph);
  hipGraphExec_t executable = nullptr;
  hipError_t result =
      symbols.hipGraphInstantiateWithFlags(&executable, graph, 0);
  symbols.hipGraphDestroy(graph);
  if (result)
    return driverError(symbols, result, "hipGraphInstantiateWithFlags");
  native = executable;
  return RMSNORM_OK;
}

rmsnorm_status HipDevice::launchGraph(void *native, void *stream) {
  RMSNORM_HIP_ENTER(symbols, ordinal);
  RMSNORM_HIP_TRY(symbols, hipGraphLaunch, static_cast<hipGraphExec_t>(native),
                  asStream(stream));
  return RMSNORM_OK;
}

void HipDevice::destroyGraph(void *native) {
  DeviceScope scope(symbols, ordinal);
  symbols.hipGraphExecDestroy(static_cast<hipGraphExec_t>(native));
}

//===- Opening ------------------------------------------------------------===//

/// The chip's name, e.g. gfx942, which HIP gives nowhere but in the properties.
/// Where in that struct it stands differs from ROCm to ROCm, so it is looked
/// for: "gfx" and hexadecimal digits, behind the marketing name of 256 bytes.
static std::string chipName(const Symbols &symbols, int device) {
  constexpr size_t bytes = 16384; // more than any version's struct
  std::unique_ptr<char[]> properties(new char[bytes]());
  auto get = symbols.hipGetDevicePropertiesR0600
                 ? symbols.hipGetDevicePropertiesR0600
                 : symbols.hipGetDeviceProperties;
  if (!get || get(properties.get(), device) != 0)
    return "";
  for (size_t i = 256; i + 16 < bytes; ++i) {
    const char *name = properties.get() + i;
    if (std::strncmp(name, "gfx", 3) != 0)
      continue;
    size_t length = 3;
    while (length < 12 && std::isxdigit(uint8_t(name[length])))
      ++length;
    // Features follow a colon: gfx942:sramecc+:xnack-
    if (length > 5 && (name[length] == 0 || name[length] == ':'))
      return std::string(name, length);
  }
  return "";
}

rmsnorm_status rmsnorm::runtime::openHip(const rmsnorm_device_options &options,
                                         std::shared_ptr<Device> &device) {
  std::shared_ptr<const Symbols> loaded;
  RMSNORM_TRY(loadSymbols(options.driver_library, loaded));
  const Symbols &symbols = *loaded;
  int count = 0;
  hipError_t result = symbols.hipInit(0);
  if (result == 0)
    result = symbols.hipGetDeviceCount(&count);
  if (result != 0 && result != hipErrorNoDevice) {
    driverError(symbols, result, "hipInit");
    return fail(RMSNORM_NO_DEVICE, "the HIP driver has no usable device: %s",
                rmsnorm_last_error());
  }
  if (options.ordinal >= count)
    return fail(RMSNORM_NO_DEVICE,
                "expected a HIP device number below %d, the number of "
                "devices, got %d",
                count, options.ordinal);
  char name[256] = "";
  int multiprocessors = 1, sharedMemory = 0;
  RMSNORM_HIP_TRY(symbols, hipDeviceGetName, name, sizeof(name),
                  options.ordinal);
  RMSNORM_HIP_TRY(symbols, hipDeviceGetAttribute, &multiprocessors,
                  MultiprocessorCount, options.ordinal);
  RMSNORM_HIP_TRY(symbols, hipDeviceGetAttribute, &sharedMemory,
                  MaxSharedMemoryPerBlock, options.ordinal);
  auto opened = std::make_shared<HipDevice>(loaded, sharedMemory);
  opened->ordinal = options.ordinal;
  opened->name = name;
  opened->chip = chipName(symbols, options.ordinal);
  if (opened->chip.empty())
    return fail(RMSNORM_UNSUPPORTED,
                "the HIP driver does not tell the chip (gfx...) of device %d",
                options.ordinal);
  opened->multiprocessorCount = multiprocessors;
  opened->place = {{kDLROCM, options.ordinal}};
  device = std::move(opened);
  return RMSNORM_OK;
}
