//===- HipImage.cpp - code loaded on an AMD device ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HipImage.h"

#include <cstring>

using namespace rmsnorm::runtime;
using namespace rmsnorm::runtime::hip;

rmsnorm_status HipImage::loadBinary(const rmsn::Binary &binary) {
  format = binary.format();
  size_t size = binary.bytes()->size();
  code = allocateBytes(size);
  if (!code)
    return fail(RMSNORM_OUT_OF_MEMORY, "no memory for %zu bytes of code", size);
  std::memcpy(code.get(), binary.bytes()->data(), size);
  RMSNORM_GPU_TRY(*context->symbols, hipModuleLoadData, &module, code.get());
  return RMSNORM_OK;
}

rmsnorm_status HipImage::prepareKernel(const KernelRequirement &requirement,
                                       Kernel &kernel) {
  const HipSymbols &symbols = *context->symbols;
  RMSNORM_GPU_ENTER(*context);
  const rmsn::Launch &launch = *requirement.launch;
  const char *name = launch.kernel()->c_str();
  hipFunction_t function = nullptr;
  if (hipError_t result = symbols.getFunction(&function, module, name)) {
    symbols.error(result, symbols.getFunction.name);
    return fail(RMSNORM_INVALID_MODULE, "kernel '%s': %s", name,
                rmsnorm_last_error());
  }
  if (launch.cluster_x() > 1)
    return fail(RMSNORM_UNSUPPORTED, "kernel '%s': AMD chips have no clusters",
                name);
  int maxThreads = 0, staticShared = 0;
  RMSNORM_GPU_TRY(symbols, getFunctionAttribute, &maxThreads,
                  FUNC_MAX_THREADS_PER_BLOCK, function);
  RMSNORM_GPU_TRY(symbols, getFunctionAttribute, &staticShared,
                  FUNC_SHARED_SIZE_BYTES, function);
  int64_t threads =
      int64_t(launch.block_x()) * launch.block_y() * launch.block_z();
  if (threads > maxThreads)
    return fail(RMSNORM_UNSUPPORTED,
                "kernel '%s': expected at most %d threads a block, got %lld",
                name, maxThreads, (long long)threads);
  int64_t available = context->maxSharedMemory - staticShared;
  if (requirement.sharedMemory > available)
    return fail(RMSNORM_UNSUPPORTED,
                "kernel '%s': expected at most %lld bytes of LDS, which a "
                "block has on this device, got %lld",
                name, (long long)available,
                (long long)requirement.sharedMemory);
  kernel.handle = function;
  kernel.sharedMemoryLimit = available;
  return RMSNORM_OK;
}
