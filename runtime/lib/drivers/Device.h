//===- Device.h - what the runtime asks of a driver -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_DRIVERS_DEVICE_H
#define RMSNORM_RUNTIME_DRIVERS_DEVICE_H

#include "ArgumentCheck.h"
#include "Module.h"
#include "rmsnorm/device.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace rmsnorm::runtime {

/// The needs of a launch, which are checked and set up once.
struct KernelRequirement {
  const rmsn::Launch *launch;
  /// Dynamic workgroup memory in bytes; -1: known only at a launch.
  int64_t sharedMemory;
  /// Whether `launch` says which parameters the kernel takes.
  bool knowsParameters = true;
};

struct Kernel {
  void *handle = nullptr;
  /// The most dynamic workgroup memory a launch may ask for.
  int64_t sharedMemoryLimit = 0;
  /// Clusters of the launch it was prepared for that the device holds at once;
  /// more than any grid has if the device has no such limit of its own.
  int64_t residentClusters = INT32_MAX;
};

/// The code of one image on one device. Dies after the last function using it.
class LoadedImage {
public:
  virtual ~LoadedImage() = default;
  /// Finds a kernel and makes it ready to launch. Serialised by the caller.
  virtual rmsnorm_status prepareKernel(const KernelRequirement &requirement,
                                       Kernel &kernel) = 0;
  /// Data of the code, if it runs on the host; null if there is none.
  virtual const void *data(const char *) const { return nullptr; }

  rmsn::BinaryFormat format = rmsn::BinaryFormat::Elf;
  std::string warning; // for people, "" if none
};

/// One launch, everything evaluated. Valid only during the call.
struct KernelLaunch {
  const Kernel *kernel;
  const rmsn::Launch *launch; // names and constants
  uint32_t grid[3];
  uint32_t sharedMemory;
  /// Whether it may start before the work in front of it has ended, on a device
  /// that can do that.
  bool early;
  /// One 8-byte slot per parameter; narrower ones lie in its first bytes.
  uint64_t *slots;
  unsigned slotCount;
  /// Where the parameters lie instead, whose number the kernel knows; or null.
  void **parameters = nullptr;
  /// A letter for each, see rmsnorm_gpu_kernel; or null.
  const char *kinds = nullptr;
  void *stream;
  // Further needs of the simulator and the oracle. `rules` null: nothing is
  // known of the buffers.
  const ArgumentRules *rules;
  const Values *values;
  DLTensor *const *arguments;
  uint64_t workspace;
  uint64_t workspaceBytes;
};

/// Whether the flags are those of rmsnorm_launch_flag.
rmsnorm_status checkLaunchFlags(uint32_t flags);
/// Whether a launch with these flags may start early.
inline bool startsEarly(const rmsn::Launch &launch, uint32_t flags) {
  return launch.programmatic_dependent_launch() &&
         !(flags & RMSNORM_NO_EARLY_START);
}

class Device {
public:
  virtual ~Device() = default;

  /// How well this device runs a program: 0 not at all, else more is better.
  virtual int suitability(const rmsn::Module &module,
                          const rmsn::Program &program) const = 0;
  /// Most blocks of a grid in each dimension.
  virtual void gridLimits(const rmsn::Launch &launch,
                          uint32_t limits[3]) const = 0;

  /// The image's code on this device. Serialised by the caller.
  virtual rmsnorm_status load(const rmsn::Image &image,
                              std::shared_ptr<LoadedImage> &loaded) = 0;
  /// The same, loaded by the first call.
  rmsnorm_status loadOnce(const Module &module, uint32_t image,
                          std::shared_ptr<LoadedImage> &loaded);
  /// Puts a kernel on a stream: no waiting, no allocation.
  virtual rmsnorm_status launch(const KernelLaunch &launch) = 0;

  virtual rmsnorm_status allocate(uint64_t bytes, void *&memory) = 0;
  virtual rmsnorm_status release(void *memory) = 0;
  virtual rmsnorm_status getFreeMemory(uint64_t &bytes) = 0;
  /// Memory of host and device; `release` frees it, too.
  virtual rmsnorm_status allocateManaged(uint64_t bytes, void *&memory) = 0;
  /// Makes host memory the device's, too.
  virtual rmsnorm_status registerHost(void *memory, uint64_t bytes) = 0;
  virtual rmsnorm_status unregisterHost(void *memory) = 0;
  virtual rmsnorm_status copy(void *destination, const void *source,
                              uint64_t bytes, rmsnorm_copy_direction direction,
                              void *stream) = 0;
  virtual rmsnorm_status fill(void *memory, uint8_t value, uint64_t bytes,
                              void *stream) = 0;
  virtual rmsnorm_status createStream(void *&stream) = 0;
  virtual rmsnorm_status destroyStream(void *stream) = 0;
  virtual rmsnorm_status synchronize(void *stream) = 0;
  virtual rmsnorm_status createEvent(void *&event) = 0;
  virtual void destroyEvent(void *event) = 0;
  virtual rmsnorm_status recordEvent(void *event, void *stream) = 0;
  /// Makes later work on the stream wait for the event.
  virtual rmsnorm_status waitEvent(void *stream, void *event) = 0;
  virtual rmsnorm_status synchronizeEvent(void *event) = 0;
  virtual rmsnorm_status elapsed(void *begin, void *end,
                                 double &milliseconds) = 0;

  /// Graphs: recorded from a stream; `native` is the result of endGraph.
  virtual rmsnorm_status beginGraph(void *stream);
  virtual rmsnorm_status endGraph(void *stream, void *&native);
  virtual rmsnorm_status launchGraph(void *native, void *stream);
  virtual void destroyGraph(void *) {}

  rmsnorm_backend backend = RMSNORM_CUDA;
  int32_t ordinal = 0;
  std::string name;   // marketing name
  std::string chip;   // "" if the driver does not say
  std::string target; // only programs for it; "": any that suits
  int32_t multiprocessorCount = 1;
  DevicePlace place = {{kDLCPU, 0}};
  /// Serialises prepareKernel and loadOnce.
  std::mutex mutex;

private:
  /// By module serial and image.
  std::map<std::pair<uint64_t, uint32_t>, std::weak_ptr<LoadedImage>> images;
};

rmsnorm_status openCuda(const rmsnorm_device_options &options,
                        std::shared_ptr<Device> &device);
rmsnorm_status openHip(const rmsnorm_device_options &options,
                       std::shared_ptr<Device> &device);
rmsnorm_status openSim(const rmsnorm_device_options &options,
                       std::shared_ptr<Device> &device);
rmsnorm_status openOracle(const rmsnorm_device_options &options,
                          std::shared_ptr<Device> &device);

/// The binary of that format, or null.
const rmsn::Binary *findBinary(const rmsn::Image &image,
                               rmsn::BinaryFormat format);

} // namespace rmsnorm::runtime

struct rmsnorm_device {
  std::shared_ptr<rmsnorm::runtime::Device> device;
};

#endif // RMSNORM_RUNTIME_DRIVERS_DEVICE_H
