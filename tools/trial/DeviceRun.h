// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DeviceRun.h - an entry on a device --------------------------------===//

#ifndef TRIAL_DEVICERUN_H
#define TRIAL_DEVICERUN_H

#include "Run.h"
#include "Tensor.h"

#include "rmsnorm/device.h"

namespace trial {

/// Owns the memory and stream of one run on a device.
class DeviceRun {
public:
  explicit DeviceRun(rmsnorm_device *device) : device(device) {}
  ~DeviceRun();

  /// Prepares the entry on the device, whose memory then holds copies of the
  /// tensors. All of these return false if the runtime refused: its message
  /// says why.
  bool prepare(const Plan &plan, const std::vector<Tensor> &tensors);
  bool upload(const std::vector<Tensor> &tensors);
  bool launch();
  bool download(std::vector<Tensor> &tensors);
  /// Sets `note` if something wrote past the end of the workspace.
  bool checkWorkspace(std::string &note);
  /// Median milliseconds of `repeat` launches.
  bool time(int repeat, double &milliseconds);

  bool describe(const Plan &plan, Result &result);

private:
  static constexpr uint64_t guardBytes = 4096;
  static constexpr uint8_t guardValue = 0xff;

  std::vector<DLTensor *> pointers();

  rmsnorm_device *device;
  rmsnorm_device_info info = {};
  rmsnorm_function *function = nullptr;
  std::vector<void *> memory;
  std::vector<DLTensor> views;
  /// Followed by a guard.
  void *workspace = nullptr;
  uint64_t workspaceBytes = 0;
  void *stream = nullptr;
};

} // namespace trial

#endif // TRIAL_DEVICERUN_H
