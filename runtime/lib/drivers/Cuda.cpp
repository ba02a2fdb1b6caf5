//===- Cuda.cpp - the CUDA driver -----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CudaChip.h"
#include "CudaSymbols.h"
#include "Device.h"

using namespace rmsnorm::runtime;
using namespace rmsnorm::runtime::cuda;

namespace {

/// Makes the device's context current for a scope. PyTorch and the CUDA run
/// time keep it current anyway, and then this costs one look.
class ContextScope {
public:
  ContextScope(const Symbols &symbols, CUcontext context) : symbols(symbols) {
    CUcontext current = nullptr;
    if (symbols.cuCtxGetCurrent(&current) == 0 && current == context)
      return;
    result = symbols.cuCtxPushCurrent(context);
    pushed = result == 0;
  }
  ~ContextScope() {
    CUcontext popped;
    if (pushed)
      symbols.cuCtxPopCurrent(&popped);
  }
  ContextScope(const ContextScope &) = delete;

  CUresult result = 0;

private:
  const Symbols &symbols;
  bool pushed = false;
};

/// The primary context, retained while a device or a loaded image uses it.
class PrimaryContext {
public:
  PrimaryContext(std::shared_ptr<const Symbols> symbols, CUdevice device)
      : symbols(std::move(symbols)), device(device) {}
  ~PrimaryContext() {
    if (context)
      symbols->cuDevicePrimaryCtxRelease(device);
  }
  PrimaryContext(const PrimaryContext &) = delete;

  std::shared_ptr<const Symbols> symbols;
  CUdevice device;
  CUcontext context = nullptr;
  Chip chip;
  int maxSharedMemory = 0; // per block, after opting in
};

class CudaImage : public LoadedImage {
public:
  explicit CudaImage(std::shared_ptr<PrimaryContext> primary)
      : primary(std::move(primary)) {}
  ~CudaImage() override {
    ContextScope scope(*primary->symbols, primary->context);
    if (module)
      primary->symbols->cuModuleUnload(module);
  }

  rmsnorm_status loadBinary(const rmsn::Binary &binary, CUresult &result);
  rmsnorm_status prepareKernel(const KernelRequirement &requirement,
                               Kernel &kernel) override;

private:
  rmsnorm_status checkParameters(CUfunction function,
                                 const rmsn::Launch &launch);

  std::shared_ptr<PrimaryContext> primary;
  CUmodule module = nullptr;
  /// Kernels set up so far and the dynamic shared memory each is allowed.
  std::map<std::string, int64_t> dynamicLimits;
};

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
  rmsnorm_status elapsed(void *begin, void *end, double &milliseconds) override;

private:
  std::shared_ptr<PrimaryContext> primary;
  const Symbols &symbols;
};

/// Enters the device's context for the rest of the function.
#define RMSNORM_CUDA_ENTER(symbols, context)                                   \
  ContextScope scope_(symbols, context);                                       \
  if (scope_.result)                                                           \
  return driverError(symbols, scope_.result, "cuCtxPushCurrent")

CUstream asStream(void *stream) { return static_cast<CUstream>(stream); }
CUdeviceptr asPointer(const void *memory) {
  return reinterpret_cast<uintptr_t>(memory);
}

} // namespace

//===- Code ---------------------------------------------------------------===//

rmsnorm_status CudaImage::loadBinary(const rmsn::Binary &binary,
                                     CUresult &result) {
  const Symbols &symbols = *primary->symbols;
  format = binary.format();
  // A copy: PTX must end in a zero byte, ELF wants alignment.
  size_t size = binary.bytes()->size();
  Bytes copy = allocateBytes(size + 1);
  if (!copy)
    return fail(RMSNORM_OUT_OF_MEMORY, "no memory for %zu bytes of code", size);
  std::memcpy(copy.get(), binary.bytes()->data(), size);
  copy[size] = 0;
  char log[4096] = "";
  int options[] = {JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(uintptr_t(sizeof(log)))};
  result = symbols.cuModuleLoadDataEx(&module, copy.get(), 2, options, values);
  if (result == 0)
    return RMSNORM_OK;
  module = nullptr;
  driverError(symbols, result, "cuModuleLoadDataEx");
  log[sizeof(log) - 1] = 0;
  return fail(result == CUDA_ERROR_OUT_OF_MEMORY ? RMSNORM_OUT_OF_MEMORY
                                                 : RMSNORM_DRIVER_ERROR,
              "cannot load %s code for a device sm_%d%d: %s%s%s",
              binaryFormatName(format), primary->chip.major,
              primary->chip.minor, rmsnorm_last_error(), *log ? "\n" : "", log);
}

/// Compares the module's parameter list with the kernel's own: were the kernel
/// to take more, the driver would read past our array.
rmsnorm_status CudaImage::checkParameters(CUfunction function,
                                          const rmsn::Launch &launch) {
  const Symbols &symbols = *primary->symbols;
  if (!symbols.cuFuncGetParamInfo)
    return RMSNORM_OK;
  size_t count = launch.parameters() ? launch.parameters()->size() : 0;
  for (size_t i = 0; i <= count; ++i) {
    size_t offset = 0, size = 0;
    bool exists = symbols.cuFuncGetParamInfo(function, i, &offset, &size) == 0;
    if (exists != (i < count))
      return fail(RMSNORM_INVALID_MODULE,
                  "kernel '%s': expected a kernel of %zu parameters, got one "
                  "of %s",
                  launch.kernel()->c_str(), count, exists ? "more" : "fewer");
    if (!exists)
      break;
    rmsn::ParameterKind kind = launch.parameters()->Get(i)->kind();
    size_t expected =
        kind == rmsn::ParameterKind::I32 || kind == rmsn::ParameterKind::F32
            ? 4
            : 8;
    if (size != expected)
      return fail(RMSNORM_INVALID_MODULE,
                  "kernel '%s': expected parameter %zu to have %zu bytes, got "
                  "%zu",
                  launch.kernel()->c_str(), i, expected, size);
  }
  return RMSNORM_OK;
}

rmsnorm_status CudaImage::prepareKernel(const KernelRequirement &requirement,
                                        Kernel &kernel) {
  const Symbols &symbols = *primary->symbols;
  RMSNORM_CUDA_ENTER(symbols, primary->context);
  const rmsn::Launch &launch = *requirement.launch;
  const char *name = launch.kernel()->c_str();
  CUfunction function = nullptr;
  if (CUresult result = symbols.cuModuleGetFunction(&function, module, name)) {
    driverError(symbols, result, "cuModuleGetFunction");
    return fail(RMSNORM_INVALID_MODULE, "kernel '%s': %s", name,
                rmsnorm_last_error());
  }
  RMSNORM_TRY(checkParameters(function, launch));

  int maxThreads = 0, staticShared = 0;
  RMSNORM_CUDA_TRY(symbols, cuFuncGetAttribute, &maxThreads,
                   FUNC_MAX_THREADS_PER_BLOCK, function);
  RMSNORM_CUDA_TRY(symbols, cuFuncGetAttribute, &staticShared,
                   FUNC_SHARED_SIZE_BYTES, function);
  int64_t threads =
      int64_t(launch.block_x()) * launch.block_y() * launch.block_z();
  if (threads > maxThreads)
    return fail(RMSNORM_UNSUPPORTED,
                "kernel '%s': expected at most %d threads a block, which its "
                "registers allow on this device, got %lld",
                name, maxThreads, (long long)threads);

  // 48 KB are allowed without asking.
  int64_t available = int64_t(primary->maxSharedMemory) - staticShared;
  int64_t wanted =
      requirement.sharedMemory < 0 ? available : requirement.sharedMemory;
  if (wanted > available)
    return fail(RMSNORM_UNSUPPORTED,
                "kernel '%s': expected at most %lld bytes of dynamic shared "
                "memory, which a block has on this device, got %lld",
                name, (long long)available, (long long)wanted);
  int64_t &limit = dynamicLimits[name];
  if (wanted > limit && wanted > 48 * 1024)
    RMSNORM_CUDA_TRY(symbols, cuFuncSetAttribute, function,
                     FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, int(wanted));
  limit = std::max(limit, wanted);
  if (launch.shared_memory_carveout() >= 0)
    RMSNORM_CUDA_TRY(symbols, cuFuncSetAttribute, function,
                     FUNC_PREFERRED_SHARED_MEMORY_CARVEOUT,
                     launch.shared_memory_carveout());
  if (launch.cluster_x() > 8)
    RMSNORM_CUDA_TRY(symbols, cuFuncSetAttribute, function,
                     FUNC_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
  if (launch.cluster_x() > 1 && !symbols.cuLaunchKernelEx)
    return fail(RMSNORM_UNSUPPORTED,
                "kernel '%s': expected a driver with cuLaunchKernelEx (CUDA "
                "11.8 or later) for clusters",
                name);
  // With lazy loading the code would reach the device at the first launch.
  if (symbols.cuFuncLoad)
    RMSNORM_CUDA_TRY(symbols, cuFuncLoad, function);
  kernel.handle = function;
  kernel.sharedMemoryLimit = wanted;
  return RMSNORM_OK;
}

rmsnorm_status CudaDevice::load(const rmsn::Image &image,
                                std::shared_ptr<LoadedImage> &loaded) {
  RMSNORM_CUDA_ENTER(symbols, primary->context);
  Chip chip;
  Chip::parse(text(image.chip()), chip);
  const rmsn::Binary *cubin = findBinary(image, rmsn::BinaryFormat::Cubin);
  const rmsn::Binary *ptx = findBinary(image, rmsn::BinaryFormat::Ptx);
  if (cubin && !chip.cubinRunsOn(primary->chip))
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
  if (!Chip::parse(program.target()->c_str(), chip))
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
  void *parameters[kMaxParameters];
  for (unsigned i = 0; i < launch.slotCount; ++i)
    parameters[i] = launch.slots + i;
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

rmsnorm_status CudaDevice::copy(void *destination, const void *source,
                                uint64_t bytes,
                                rmsnorm_copy_direction direction,
                                void *stream) {
  RMSNORM_CUDA_ENTER(symbols, primary->context);
  if (direction == RMSNORM_DEVICE_TO_DEVICE) {
    RMSNORM_CUDA_TRY(symbols, cuMemcpyDtoDAsync, asPointer(destination),
                     asPointer(source), bytes, asStream(stream));
    return RMSNORM_OK;
  }
  if (direction == RMSNORM_HOST_TO_DEVICE)
    RMSNORM_CUDA_TRY(symbols, cuMemcpyHtoDAsync, asPointer(destination), source,
                     bytes, asStream(stream));
  else
    RMSNORM_CUDA_TRY(symbols, cuMemcpyDtoHAsync, destination, asPointer(source),
                     bytes, asStream(stream));
  RMSNORM_CUDA_TRY(symbols, cuStreamSynchronize, asStream(stream));
  return RMSNORM_OK;
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
