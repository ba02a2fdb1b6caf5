//===- Hip.cpp - the HIP driver -------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HipImage.h"

#include <cctype>
#include <cstring>

using namespace rmsnorm::runtime;
using namespace rmsnorm::runtime::hip;

namespace {

class HipDevice : public GpuDevice {
public:
  explicit HipDevice(std::shared_ptr<const HipContext> shared)
      : GpuDevice(*shared), context(std::move(shared)),
        symbols(*context->symbols) {}

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

  rmsnorm_status copy(void *destination, const void *source, uint64_t bytes,
                      rmsnorm_copy_direction direction, void *stream) override;
  rmsnorm_status fill(void *memory, uint8_t value, uint64_t bytes,
                      void *stream) override;
  rmsnorm_status createEvent(void *&event) override;

private:
  std::shared_ptr<const HipContext> context;
  const HipSymbols &symbols;
};

} // namespace

//===- Code ---------------------------------------------------------------===//

rmsnorm_status HipDevice::load(const rmsn::Image &image,
                               std::shared_ptr<LoadedImage> &loaded) {
  RMSNORM_GPU_ENTER(*context);
  const rmsn::Binary *hsaco = findBinary(image, rmsn::BinaryFormat::Hsaco);
  auto code = std::make_shared<HipImage>(context);
  if (rmsnorm_status status = code->loadBinary(*hsaco))
    return fail(status, "cannot load code for %s on %s (%s): %s",
                image.chip()->c_str(), name.c_str(), chip.c_str(),
                rmsnorm_last_error());
  loaded = std::move(code);
  return RMSNORM_OK;
}

rmsnorm_status HipDevice::launch(const KernelLaunch &launch) {
  RMSNORM_GPU_ENTER(*context);
  void *slots[rmsn::kMaxParameters];
  const rmsn::Launch &constants = *launch.launch;
  hipError_t result = symbols.launchKernel(
      launch.kernel->handle, launch.grid[0], launch.grid[1], launch.grid[2],
      constants.block_x(), constants.block_y(), constants.block_z(),
      launch.sharedMemory, launch.stream, getParameters(launch, slots),
      nullptr);
  return finishLaunch(result, symbols.launchKernel.name, "LDS", launch);
}

//===- Memory, events -----------------------------------------------------===//

rmsnorm_status HipDevice::copy(void *destination, const void *source,
                               uint64_t bytes, rmsnorm_copy_direction direction,
                               void *stream) {
  RMSNORM_GPU_ENTER(*context);
  int kind = direction == RMSNORM_HOST_TO_DEVICE   ? HostToDevice
             : direction == RMSNORM_DEVICE_TO_HOST ? DeviceToHost
             : direction == RMSNORM_ANY_TO_ANY     ? AnyToAny
                                                   : DeviceToDevice;
  RMSNORM_GPU_TRY(symbols, hipMemcpyAsync, destination, source, bytes, kind,
                  stream);
  if (direction != RMSNORM_DEVICE_TO_DEVICE && direction != RMSNORM_ANY_TO_ANY)
    RMSNORM_GPU_TRY(symbols, synchronizeStream, stream);
  return RMSNORM_OK;
}

rmsnorm_status HipDevice::fill(void *memory, uint8_t value, uint64_t bytes,
                               void *stream) {
  RMSNORM_GPU_ENTER(*context);
  RMSNORM_GPU_TRY(symbols, hipMemsetAsync, memory, value, bytes, stream);
  return RMSNORM_OK;
}

rmsnorm_status HipDevice::createEvent(void *&event) {
  RMSNORM_GPU_ENTER(*context);
  hipEvent_t created = nullptr;
  RMSNORM_GPU_TRY(symbols, hipEventCreate, &created);
  event = created;
  return RMSNORM_OK;
}

//===- Opening ------------------------------------------------------------===//

/// The chip's name, e.g. gfx942, which HIP gives only in the properties. Where
/// in that struct it stands differs from ROCm to ROCm, so it is looked for:
/// "gfx" and hexadecimal digits, after the marketing name of 256 bytes.
static std::string chipName(const HipSymbols &symbols, int device) {
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
  std::shared_ptr<const HipSymbols> loaded;
  RMSNORM_TRY(loadSymbols(options.driver_library, loaded));
  const HipSymbols &symbols = *loaded;
  RMSNORM_TRY(symbols.open("HIP", options.ordinal));
  char name[256] = "";
  int multiprocessors = 1, sharedMemory = 0;
  RMSNORM_GPU_TRY(symbols, getDeviceName, name, sizeof(name), options.ordinal);
  RMSNORM_GPU_TRY(symbols, getDeviceAttribute, &multiprocessors,
                  MultiprocessorCount, options.ordinal);
  RMSNORM_GPU_TRY(symbols, getDeviceAttribute, &sharedMemory,
                  MaxSharedMemoryPerBlock, options.ordinal);
  auto opened = std::make_shared<HipDevice>(
      std::make_shared<HipContext>(loaded, options.ordinal, sharedMemory));
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
