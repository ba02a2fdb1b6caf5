// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DeviceRun.cpp - an entry on a device ------------------------------===//

#include "DeviceRun.h"
#include "Table.h"

#include <algorithm>

namespace trial {

DeviceRun::~DeviceRun() {
  for (void *block : memory)
    rmsnorm_device_free(device, block);
  rmsnorm_device_free(device, workspace);
  if (stream)
    rmsnorm_stream_destroy(device, stream);
  rmsnorm_function_release(function);
}

std::vector<DLTensor *> DeviceRun::pointers() {
  std::vector<DLTensor *> list;
  for (DLTensor &view : views)
    list.push_back(&view);
  return list;
}

bool DeviceRun::prepare(const Plan &plan, const std::vector<Tensor> &tensors) {
  if (rmsnorm_device_get_info(device, &info) ||
      rmsnorm_prepare(plan.module, plan.name.c_str(), device, &function) ||
      rmsnorm_stream_create(device, &stream))
    return false;
  for (const Tensor &tensor : tensors) {
    void *block = nullptr;
    if (rmsnorm_device_allocate(device, tensor.byteCount(), &block))
      return false;
    memory.push_back(block);
    views.push_back(tensor.view(block, info.dl_device));
  }
  std::vector<DLTensor *> arguments = pointers();
  // Filled with NaNs: a kernel that reads before it writes spreads them.
  return !rmsnorm_workspace_size(function, arguments.data(), arguments.size(),
                                 &workspaceBytes) &&
         !rmsnorm_device_allocate(device, workspaceBytes + guardBytes,
                                  &workspace) &&
         !rmsnorm_device_fill(device, workspace, guardValue,
                              workspaceBytes + guardBytes, stream);
}

bool DeviceRun::checkWorkspace(std::string &note) {
  unsigned char guard[guardBytes];
  if (rmsnorm_device_copy(device, guard,
                          static_cast<char *>(workspace) + workspaceBytes,
                          guardBytes, RMSNORM_DEVICE_TO_HOST, stream))
    return false;
  for (uint64_t i = 0; i < guardBytes; ++i)
    if (guard[i] != guardValue) {
      note = "wrote " + std::to_string(i) + " bytes past the workspace of " +
             std::to_string(workspaceBytes);
      break;
    }
  return true;
}

bool DeviceRun::upload(const std::vector<Tensor> &tensors) {
  for (size_t i = 0; i < tensors.size(); ++i)
    if (rmsnorm_device_copy(device, memory[i], tensors[i].bytes(),
                            tensors[i].byteCount(), RMSNORM_HOST_TO_DEVICE,
                            stream))
      return false;
  return true;
}

bool DeviceRun::launch() {
  std::vector<DLTensor *> arguments = pointers();
  return !rmsnorm_launch(function, arguments.data(), arguments.size(),
                         workspace, workspaceBytes, stream);
}

bool DeviceRun::download(std::vector<Tensor> &tensors) {
  if (rmsnorm_stream_synchronize(device, stream))
    return false;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (rmsnorm_device_copy(device, tensors[i].bytes(), memory[i],
                            tensors[i].byteCount(), RMSNORM_DEVICE_TO_HOST,
                            stream))
      return false;
  return true;
}

bool DeviceRun::time(int repeat, double &milliseconds) {
  rmsnorm_event *begin = nullptr, *end = nullptr;
  bool good = !rmsnorm_event_create(device, &begin) &&
              !rmsnorm_event_create(device, &end);
  std::vector<double> times;
  for (int i = 0; good && i < repeat; ++i) {
    double time = 0;
    good = !rmsnorm_event_record(begin, stream) && launch() &&
           !rmsnorm_event_record(end, stream) &&
           !rmsnorm_event_elapsed(begin, end, &time);
    times.push_back(time);
  }
  rmsnorm_event_destroy(begin);
  rmsnorm_event_destroy(end);
  if (good && !times.empty()) {
    std::nth_element(times.begin(), times.begin() + times.size() / 2,
                     times.end());
    milliseconds = times[times.size() / 2];
  }
  return good;
}

bool DeviceRun::describe(const Plan &plan, Result &result) {
  rmsnorm_function_info function_info;
  rmsnorm_variant_info variant;
  size_t index = 0;
  std::vector<DLTensor *> arguments = pointers();
  if (rmsnorm_function_get_info(function, &function_info) ||
      rmsnorm_select_variant(function, arguments.data(), arguments.size(),
                             &index) ||
      rmsnorm_module_get_variant(plan.module, function_info.entry,
                                 function_info.program, index, &variant))
    return false;
  result.variant = variant.name;
  result.schedule = variant.schedule;
  result.launches = variant.launch_count;
  result.device = deviceText(info, function_info.target);
  result.warning = function_info.warning;
  return true;
}

} // namespace trial
