//===- Cuda.cpp - the CUDA driver -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CudaImage.h"

using namespace rmsnorm::runtime;
using namespace rmsnorm::runtime::cuda;

namespace {

class CudaDevice : public GpuDevice {
public:
  explicit CudaDevice(std::shared_ptr<PrimaryContext> context)
      : GpuDevice(*context), primary(std::move(context)),
        symbols(*primary->symbols) {}

  int suitability(const rmsn::Module &module,
                  const rmsn::Program &program) const override;
  void gridLimits(const rmsn::Launch &, uint32_t limits[3]) const override {
    limits[0] = 0x7fffffff;
    limits[1] = limits[2] = 65535;
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
  std::shared_ptr<PrimaryContext> primary;
  const CudaSymbols &symbols;
};

CUdeviceptr asPointer(const void *memory) {
  return reinterpret_cast<uintptr_t>(memory);
}

} // namespace

//===- Code ---------------------------------------------------------------===//

rmsnorm_status CudaDevice::load(const rmsn::Image &image,
                                std::shared_ptr<LoadedImage> &loaded) {
  RMSNORM_GPU_ENTER(*primary);
  Chip chip;
  // A bare object does not name its chip; the driver knows it.
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
  RMSNORM_GPU_ENTER(*primary);
  void *slots[rmsn::kMaxParameters];
  void **parameters = getParameters(launch, slots);
  const rmsn::Launch &constants = *launch.launch;
  CUfunction function = launch.kernel->handle;
  CUlaunchAttribute attributes[2];
  unsigned attributeCount = 0;
  if (constants.cluster_x() > 1) {
    CUlaunchAttribute &cluster = attributes[attributeCount++];
    cluster.id = LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDimension = {constants.cluster_x(), 1, 1};
  }
  // Without it the kernel only starts later: grid dependencies hold trivially.
  if (launch.early && symbols.cuLaunchKernelEx) {
    CUlaunchAttribute &serialization = attributes[attributeCount++];
    serialization.id = LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    serialization.value.programmaticStreamSerializationAllowed = 1;
  }
  CUresult result;
  if (attributeCount == 0) {
    result = symbols.launchKernel(
        function, launch.grid[0], launch.grid[1], launch.grid[2],
        constants.block_x(), constants.block_y(), constants.block_z(),
        launch.sharedMemory, launch.stream, parameters, nullptr);
  } else {
    CUlaunchConfig config = {launch.grid[0],      launch.grid[1],
                             launch.grid[2],      constants.block_x(),
                             constants.block_y(), constants.block_z(),
                             launch.sharedMemory, launch.stream,
                             attributes,          attributeCount};
    result = symbols.cuLaunchKernelEx(&config, function, parameters, nullptr);
  }
  return finishLaunch(result, "the launch", "shared memory", launch);
}

//===- Memory, events -----------------------------------------------------===//

rmsnorm_status CudaDevice::copy(void *destination, const void *source,
                                uint64_t bytes,
                                rmsnorm_copy_direction direction,
                                void *stream) {
  RMSNORM_GPU_ENTER(*primary);
  if (direction == RMSNORM_DEVICE_TO_DEVICE)
    RMSNORM_GPU_TRY(symbols, cuMemcpyDtoDAsync, asPointer(destination),
                    asPointer(source), bytes, stream);
  else if (direction == RMSNORM_ANY_TO_ANY)
    RMSNORM_GPU_TRY(symbols, cuMemcpyAsync, asPointer(destination),
                    asPointer(source), bytes, stream);
  else if (direction == RMSNORM_HOST_TO_DEVICE)
    RMSNORM_GPU_TRY(symbols, cuMemcpyHtoDAsync, asPointer(destination), source,
                    bytes, stream);
  else
    RMSNORM_GPU_TRY(symbols, cuMemcpyDtoHAsync, destination, asPointer(source),
                    bytes, stream);
  const bool waits = direction < RMSNORM_DEVICE_TO_DEVICE;
  return waits ? synchronize(stream) : RMSNORM_OK;
}

rmsnorm_status CudaDevice::fill(void *memory, uint8_t value, uint64_t bytes,
                                void *stream) {
  RMSNORM_GPU_ENTER(*primary);
  RMSNORM_GPU_TRY(symbols, cuMemsetD8Async, asPointer(memory), value, bytes,
                  stream);
  return RMSNORM_OK;
}

rmsnorm_status CudaDevice::createEvent(void *&event) {
  RMSNORM_GPU_ENTER(*primary);
  CUevent created = nullptr;
  RMSNORM_GPU_TRY(symbols, cuEventCreate, &created, EVENT_DEFAULT);
  event = created;
  return RMSNORM_OK;
}

//===- Opening ------------------------------------------------------------===//

rmsnorm_status rmsnorm::runtime::openCuda(const rmsnorm_device_options &options,
                                          std::shared_ptr<Device> &device) {
  std::shared_ptr<const CudaSymbols> loaded;
  RMSNORM_TRY(loadSymbols(options.driver_library, loaded));
  const CudaSymbols &symbols = *loaded;
  RMSNORM_TRY(symbols.open("CUDA", options.ordinal));
  CUdevice handle = 0;
  RMSNORM_GPU_TRY(symbols, cuDeviceGet, &handle, options.ordinal);
  auto primary = std::make_shared<PrimaryContext>(loaded, handle);
  char name[256] = "";
  RMSNORM_GPU_TRY(symbols, getDeviceName, name, sizeof(name), handle);
  int multiprocessors = 1;
  Chip &chip = primary->chip;
  RMSNORM_GPU_TRY(symbols, getDeviceAttribute, &chip.major,
                  COMPUTE_CAPABILITY_MAJOR, handle);
  RMSNORM_GPU_TRY(symbols, getDeviceAttribute, &chip.minor,
                  COMPUTE_CAPABILITY_MINOR, handle);
  RMSNORM_GPU_TRY(symbols, getDeviceAttribute, &multiprocessors,
                  MULTIPROCESSOR_COUNT, handle);
  RMSNORM_GPU_TRY(symbols, getDeviceAttribute, &primary->maxSharedMemory,
                  MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, handle);
  RMSNORM_GPU_TRY(symbols, getDeviceAttribute,
                  &primary->multiprocessorSharedMemory,
                  MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, handle);
  // Drivers before CUDA 11.1 do not know it, and their devices reserve nothing.
  if (symbols.getDeviceAttribute(&primary->reservedSharedMemory,
                                 RESERVED_SHARED_MEMORY_PER_BLOCK, handle))
    primary->reservedSharedMemory = 0;
  RMSNORM_GPU_TRY(symbols, cuDevicePrimaryCtxRetain, &primary->context, handle);
  auto opened = std::make_shared<CudaDevice>(std::move(primary));
  opened->ordinal = options.ordinal;
  opened->name = name;
  opened->chip = formatted("sm_%d%d", chip.major, chip.minor);
  opened->multiprocessorCount = multiprocessors;
  opened->place = {{kDLCUDA, options.ordinal}, /*managed=*/true};
  device = std::move(opened);
  return RMSNORM_OK;
}
