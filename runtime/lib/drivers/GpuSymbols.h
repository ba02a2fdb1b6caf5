//===- GpuSymbols.h - functions of CUDA's and HIP's drivers ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_DRIVERS_GPUSYMBOLS_H
#define RMSNORM_RUNTIME_DRIVERS_GPUSYMBOLS_H

#include "Status.h"

#include <cstddef>

namespace rmsnorm::runtime {

template <typename Signature> struct DriverFunction;

/// A function of a driver that is loaded at run time, and its name there; null
/// if it is missing.
template <typename Result, typename... Parameters>
struct DriverFunction<Result(Parameters...)> {
  Result (*address)(Parameters...) = nullptr;
  const char *name = "";

  /// `missing`: where the name goes if there is no address; null: nowhere.
  void set(void *function, const char *functionName, std::string *missing) {
    address = reinterpret_cast<Result (*)(Parameters...)>(function);
    name = functionName;
    if (!address && missing)
      *missing += (missing->empty() ? "" : ", ") + std::string(name);
  }
  explicit operator bool() const { return address; }
  Result operator()(Parameters... parameters) const {
    return address(parameters...);
  }
};

// Of both, as cuda.h and HIP's headers have them; 0 is success.
enum : int { GPU_ERROR_OUT_OF_MEMORY = 2, GPU_ERROR_NO_DEVICE = 100 };

// CUfunction_attribute, hipFunction_attribute
enum : int {
  FUNC_MAX_THREADS_PER_BLOCK = 0,
  FUNC_SHARED_SIZE_BYTES = 1, // static
};

struct GpuSymbols {
#define RMSNORM_GPU_REQUIRED(member, parameters, cuda, version, exported, hip) \
  DriverFunction<int parameters> member;
#define RMSNORM_GPU_OPTIONAL RMSNORM_GPU_REQUIRED
#include "GpuSymbols.def"
#undef RMSNORM_GPU_REQUIRED
#undef RMSNORM_GPU_OPTIONAL

  virtual ~GpuSymbols() = default;
  /// The driver's name and text for `result`, null if it has none.
  virtual void describe(int result, const char *&name,
                        const char *&words) const = 0;

  /// Words a failed call: the driver's name and text for `result` after `what`.
  rmsnorm_status error(int result, const char *what) const;
  /// Initialises the driver, `driver` in messages, and checks the number of
  /// a device.
  rmsnorm_status open(const char *driver, int32_t ordinal) const;
};

} // namespace rmsnorm::runtime

/// Calls a driver function; returns with its error from the caller on failure.
#define RMSNORM_GPU_TRY(symbols, function, ...)                                \
  do {                                                                         \
    if (int result_ = (symbols).function(__VA_ARGS__))                         \
      return (symbols).error(result_, (symbols).function.name);                \
  } while (false)

#endif // RMSNORM_RUNTIME_DRIVERS_GPUSYMBOLS_H
