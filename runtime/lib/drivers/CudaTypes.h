//===- CudaTypes.h - the few types of cuda.h that we need -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declared by hand, so that no CUDA Toolkit is needed. Values and layouts are
// part of the driver's stable binary interface.

#ifndef RMSNORM_RUNTIME_DRIVERS_CUDATYPES_H
#define RMSNORM_RUNTIME_DRIVERS_CUDATYPES_H

#include <cstddef>
#include <cstdint>

namespace rmsnorm::runtime::cuda {

using CUresult = int; // 0: success
using CUdevice = int;
using CUcontext = void *;
using CUmodule = void *;
using CUfunction = void *;
using CUstream = void *;
using CUevent = void *;
using CUdeviceptr = uint64_t;

enum : CUresult { CUDA_ERROR_NO_BINARY_FOR_GPU = 209 };

// CUdevice_attribute
enum : int {
  MULTIPROCESSOR_COUNT = 16,
  COMPUTE_CAPABILITY_MAJOR = 75,
  COMPUTE_CAPABILITY_MINOR = 76,
  MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
  MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
  RESERVED_SHARED_MEMORY_PER_BLOCK = 111,
};

// CUfunction_attribute
enum : int {
  FUNC_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  FUNC_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
  FUNC_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
};

// CUjit_option
enum : int { JIT_ERROR_LOG_BUFFER = 5, JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6 };

enum : unsigned { EVENT_DEFAULT = 0 };

// CUlaunchAttributeID
enum : int {
  LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
  LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
};

struct CUlaunchAttribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } clusterDimension;
    int programmaticStreamSerializationAllowed;
  } value;
};
static_assert(sizeof(CUlaunchAttribute) == 72);

struct CUlaunchConfig {
  unsigned gridX, gridY, gridZ;
  unsigned blockX, blockY, blockZ;
  unsigned sharedMemoryBytes;
  CUstream stream;
  CUlaunchAttribute *attributes;
  unsigned attributeCount;
};
static_assert(offsetof(CUlaunchConfig, stream) == 32 &&
              sizeof(CUlaunchConfig) == 56);

} // namespace rmsnorm::runtime::cuda

#endif // RMSNORM_RUNTIME_DRIVERS_CUDATYPES_H
