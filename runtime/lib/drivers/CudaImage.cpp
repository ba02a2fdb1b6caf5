//===- CudaImage.cpp - code loaded on an NVIDIA device --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CudaImage.h"

#include <algorithm>
#include <cstring>

using namespace rmsnorm::runtime;
using namespace rmsnorm::runtime::cuda;

rmsnorm_status CudaImage::loadBinary(const rmsn::Binary &binary,
                                     CUresult &result) {
  const CudaSymbols &symbols = *primary->symbols;
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
  symbols.error(result, "cuModuleLoadDataEx");
  log[sizeof(log) - 1] = 0;
  return fail(result == GPU_ERROR_OUT_OF_MEMORY ? RMSNORM_OUT_OF_MEMORY
                                                : RMSNORM_DRIVER_ERROR,
              "cannot load %s code for a device sm_%d%d: %s%s%s",
              binaryFormatName(format), primary->chip.major,
              primary->chip.minor, rmsnorm_last_error(), *log ? "\n" : "", log);
}

/// Compares the module's parameter list with the kernel's own. Whether there
/// are more only drivers of CUDA 13.2 tell without an error that tools report:
/// see CudaDevice::launch for the others.
rmsnorm_status CudaImage::checkParameters(CUfunction function,
                                          const rmsn::Launch &launch) {
  const CudaSymbols &symbols = *primary->symbols;
  if (!symbols.cuFuncGetParamInfo)
    return RMSNORM_OK;
  size_t count = launch.parameters() ? launch.parameters()->size() : 0;
  size_t actual = count;
  if (symbols.cuFuncGetParamCount &&
      symbols.cuFuncGetParamCount(function, &actual) == 0 && actual != count)
    return fail(RMSNORM_INVALID_MODULE,
                "kernel '%s': expected a kernel of %zu parameters, got one of "
                "%zu",
                launch.kernel()->c_str(), count, actual);
  for (size_t i = 0; i < count; ++i) {
    size_t offset = 0, size = 0;
    if (symbols.cuFuncGetParamInfo(function, i, &offset, &size) != 0)
      return fail(RMSNORM_INVALID_MODULE,
                  "kernel '%s': expected a kernel of %zu parameters, got one "
                  "of %zu",
                  launch.kernel()->c_str(), count, i);
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

/// Clusters do not span the device's groups of multiprocessors, whose sizes
/// differ from card to card: only the driver knows.
rmsnorm_status CudaImage::countClusters(CUfunction function,
                                        const rmsn::Launch &launch,
                                        int64_t sharedMemory, int64_t &count) {
  const CudaSymbols &symbols = *primary->symbols;
  const char *name = launch.kernel()->c_str();
  if (!symbols.cuLaunchKernelEx || !symbols.cuOccupancyMaxActiveClusters)
    return fail(RMSNORM_UNSUPPORTED,
                "kernel '%s': expected a driver with cuLaunchKernelEx and "
                "cuOccupancyMaxActiveClusters (CUDA 11.8 or later) for "
                "clusters",
                name);
  CUlaunchAttribute cluster = {};
  cluster.id = LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDimension = {launch.cluster_x(), 1, 1};
  CUlaunchConfig config = {launch.cluster_x(),
                           1,
                           1,
                           launch.block_x(),
                           launch.block_y(),
                           launch.block_z(),
                           unsigned(sharedMemory),
                           nullptr,
                           &cluster,
                           1};
  int clusters = 0;
  RMSNORM_GPU_TRY(symbols, cuOccupancyMaxActiveClusters, &clusters, function,
                  &config);
  if (clusters < 1)
    return fail(RMSNORM_UNSUPPORTED,
                "kernel '%s': expected a device with room for a cluster of %u "
                "blocks of %u threads and %lld bytes of shared memory",
                name, launch.cluster_x(),
                launch.block_x() * launch.block_y() * launch.block_z(),
                (long long)sharedMemory);
  count = clusters;
  return RMSNORM_OK;
}

/// The percentage of a multiprocessor's shared memory that leaves `bytes` bytes
/// of it and the most L1, through which copies pass too. The driver's own
/// choice has room for fewer or more blocks (H200, us: backward of 32768x2048
/// in two blocks of 64 KB, 123 by the driver's choice, 101 by this one).
int CudaImage::getCarveout(int64_t bytes) const {
  // The possible sizes, in KB: CUDA C++ Programming Guide, "Shared Memory" of
  // each compute capability from 7.5 on.
  static constexpr int64_t sizes[] = {8, 16, 32, 64, 100, 132, 164, 196, 228};
  const int64_t all = primary->multiprocessorSharedMemory;
  for (int64_t size : sizes)
    if (size << 10 >= bytes && size << 10 < all)
      // The driver rounds up to the next size: 86 % of 228 KB would be all.
      return int(100 * (size << 10) / all);
  return 100;
}

rmsnorm_status CudaImage::prepareKernel(const KernelRequirement &requirement,
                                        Kernel &kernel) {
  const CudaSymbols &symbols = *primary->symbols;
  RMSNORM_GPU_ENTER(*primary);
  const rmsn::Launch &launch = *requirement.launch;
  const char *name = launch.kernel()->c_str();
  CUfunction function = nullptr;
  if (CUresult result = symbols.getFunction(&function, module, name)) {
    symbols.error(result, symbols.getFunction.name);
    return fail(RMSNORM_INVALID_MODULE, "kernel '%s': %s", name,
                rmsnorm_last_error());
  }
  if (requirement.knowsParameters)
    RMSNORM_TRY(checkParameters(function, launch));

  int maxThreads = 0, staticShared = 0;
  RMSNORM_GPU_TRY(symbols, getFunctionAttribute, &maxThreads,
                  FUNC_MAX_THREADS_PER_BLOCK, function);
  RMSNORM_GPU_TRY(symbols, getFunctionAttribute, &staticShared,
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
    RMSNORM_GPU_TRY(symbols, cuFuncSetAttribute, function,
                    FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES, int(wanted));
  limit = std::max(limit, wanted);
  if (launch.blocks_per_multiprocessor() > 0)
    RMSNORM_GPU_TRY(
        symbols, cuFuncSetAttribute, function,
        FUNC_PREFERRED_SHARED_MEMORY_CARVEOUT,
        getCarveout(launch.blocks_per_multiprocessor() *
                    (wanted + staticShared + primary->reservedSharedMemory)));
  if (launch.cluster_x() > 8)
    RMSNORM_GPU_TRY(symbols, cuFuncSetAttribute, function,
                    FUNC_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
  if (launch.cluster_x() > 1)
    RMSNORM_TRY(
        countClusters(function, launch, wanted, kernel.residentClusters));
  // With lazy loading the code would reach the device at the first launch.
  if (symbols.cuFuncLoad)
    RMSNORM_GPU_TRY(symbols, cuFuncLoad, function);
  kernel.handle = function;
  kernel.sharedMemoryLimit = wanted;
  return RMSNORM_OK;
}
