//===- Gpu.h - what CUDA's and HIP's drivers have alike -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_DRIVERS_GPU_H
#define RMSNORM_RUNTIME_DRIVERS_GPU_H

#include "Device.h"
#include "GpuSymbols.h"

namespace rmsnorm::runtime {

/// Makes a device current for calls of its driver. Lives as long as anything on
/// the device.
class GpuContext {
public:
  virtual ~GpuContext() = default;
  virtual const GpuSymbols &getSymbols() const = 0;
  /// Makes the device current, if it is not, and sets `changed`; leave undoes
  /// it with `former`. Returns the driver's result; `name` is its function.
  virtual int enter(bool &changed, int &former, const char *&name) const = 0;
  virtual void leave(int former) const = 0;
};

/// Makes the device current for a scope.
class GpuScope {
public:
  explicit GpuScope(const GpuContext &context) : context(context) {
    result = context.enter(changed, former, name);
  }
  ~GpuScope() {
    if (changed)
      context.leave(former);
  }
  GpuScope(const GpuScope &) = delete;

  int result;
  const char *name = "";

private:
  const GpuContext &context;
  bool changed = false;
  int former = 0;
};

/// Memory, streams, events and graphs of both.
class GpuDevice : public Device {
public:
  explicit GpuDevice(const GpuContext &context)
      : context(context), gpu(context.getSymbols()) {}

  rmsnorm_status allocate(uint64_t bytes, void *&memory) override;
  rmsnorm_status release(void *memory) override;
  rmsnorm_status getFreeMemory(uint64_t &bytes) override;
  rmsnorm_status allocateManaged(uint64_t bytes, void *&memory) override;
  rmsnorm_status registerHost(void *memory, uint64_t bytes) override;
  rmsnorm_status unregisterHost(void *memory) override;
  rmsnorm_status createStream(void *&stream) override;
  rmsnorm_status destroyStream(void *stream) override;
  rmsnorm_status synchronize(void *stream) override;
  void destroyEvent(void *event) override;
  rmsnorm_status recordEvent(void *event, void *stream) override;
  rmsnorm_status waitEvent(void *stream, void *event) override;
  rmsnorm_status synchronizeEvent(void *event) override;
  rmsnorm_status elapsed(void *begin, void *end, double &milliseconds) override;
  rmsnorm_status beginGraph(void *stream) override;
  rmsnorm_status endGraph(void *stream, void *&native) override;
  rmsnorm_status launchGraph(void *native, void *stream) override;
  void destroyGraph(void *native) override;

protected:
  /// The parameters of a launch as the drivers take them: where `slots` points.
  static void **getParameters(const KernelLaunch &launch,
                              void *(&slots)[rmsn::kMaxParameters]);
  /// Writes the message of a driver's answer to a launch; `memory`: the
  /// driver's word for workgroup memory.
  rmsnorm_status finishLaunch(int result, const char *what, const char *memory,
                              const KernelLaunch &launch) const;

private:
  const GpuContext &context;
  const GpuSymbols &gpu;
};

} // namespace rmsnorm::runtime

/// Makes a context's device current for the rest of the function.
#define RMSNORM_GPU_ENTER(context)                                             \
  ::rmsnorm::runtime::GpuScope scope_(context);                                \
  if (scope_.result)                                                           \
  return (context).getSymbols().error(scope_.result, scope_.name)

#endif // RMSNORM_RUNTIME_DRIVERS_GPU_H
