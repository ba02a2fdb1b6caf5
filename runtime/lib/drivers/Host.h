//===- Host.h - what the simulator and the oracle share -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both run native code of the module on the CPU, before a launch returns. Their
// memory is host memory and their streams do not exist.

#ifndef RMSNORM_RUNTIME_DRIVERS_HOST_H
#define RMSNORM_RUNTIME_DRIVERS_HOST_H

#include "Device.h"

namespace rmsnorm::runtime {

/// A shared object loaded from memory.
class HostLibrary {
public:
  ~HostLibrary();
  HostLibrary() = default;
  HostLibrary(const HostLibrary &) = delete;

  /// Checks that this host can run the image's ELF binary, then loads it.
  rmsnorm_status open(const rmsn::Image &image);
  /// Null if there is none.
  void *symbol(const char *name) const;

private:
  int file = -1;
  void *handle = nullptr;
};

class HostDevice : public Device {
public:
  rmsnorm_status allocate(uint64_t bytes, void *&memory) override;
  rmsnorm_status release(void *memory) override;
  rmsnorm_status getFreeMemory(uint64_t &bytes) override;
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
};

/// Whether this host runs code for `isa` ("x86-64-v3", "aarch64", ...; "" is
/// any); if not, the host's own name for the message.
bool hostRuns(const char *isa, std::string &host);

} // namespace rmsnorm::runtime

#endif // RMSNORM_RUNTIME_DRIVERS_HOST_H
