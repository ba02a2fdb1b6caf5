// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Check.cpp - whether what is timed computes what it should ---------===//

#include "Check.h"

#include <algorithm>

namespace trial {

// Elements that are compared: a fraction of a second in the simulator, several
// tiles for each block of most persistent grids on a device. Rows are not
// a multiple of anything, so that packed ones have a tail.
static constexpr int64_t checkedElements[] = {1 << 19, 1 << 20};
static constexpr int64_t checkedRows[] = {37, 1021};

int64_t countRows(const Plan &plan, bool &fixedRows, int64_t &columns) {
  int64_t rows = 1;
  fixedRows = true;
  columns = 1;
  if (plan.shapes.empty() || plan.shapes[plan.widest].empty())
    return rows;
  const std::vector<int64_t> &shape = plan.shapes[plan.widest];
  for (size_t d = 0; d + 1 < shape.size(); ++d) {
    rows *= shape[d];
    fixedRows &= plan.arguments[plan.widest].dims[d] >= 0;
  }
  columns = shape.back();
  return rows;
}

std::string findVariant(const Plan &plan, rmsnorm_device *device,
                        rmsnorm_variant_info &variant) {
  rmsnorm_device_info info;
  rmsnorm_function *function = nullptr;
  if (rmsnorm_device_get_info(device, &info) ||
      rmsnorm_prepare(plan.module, plan.name.c_str(), device, &function))
    return rmsnorm_last_error();
  // Of memory only the address is looked at, and whether it is shared.
  constexpr uint64_t alignment = 256;
  uint64_t address = alignment;
  Shapes shapes = plan.shapes;
  std::vector<DLTensor> tensors(plan.arguments.size());
  std::vector<DLTensor *> arguments;
  for (size_t i = 0; i < tensors.size(); ++i) {
    tensors[i].data = reinterpret_cast<void *>(address);
    tensors[i].device = info.dl_device;
    tensors[i].ndim = plan.arguments[i].rank;
    tensors[i].dtype = plan.arguments[i].dtype;
    tensors[i].shape = shapes[i].data();
    arguments.push_back(&tensors[i]);
    uint64_t bits = plan.arguments[i].dtype.bits;
    for (int64_t size : shapes[i])
      bits *= uint64_t(size);
    address += (bits / 8 / alignment + 2) * alignment;
  }
  size_t index = 0;
  rmsnorm_function_info prepared;
  const bool failed =
      rmsnorm_select_variant(function, arguments.data(), arguments.size(),
                             &index) ||
      rmsnorm_function_get_info(function, &prepared) ||
      rmsnorm_module_get_variant(plan.module, plan.entry, prepared.program,
                                 index, &variant);
  std::string text = failed ? rmsnorm_last_error() : "";
  rmsnorm_function_release(function);
  return text;
}

std::string checkFewRows(rmsnorm_module *module, size_t entry,
                         rmsnorm_device *device, const Options &options,
                         std::shared_ptr<Reference> &reference, Result &result,
                         const Plan *timed) {
  const bool onDevice =
      options.backend == RMSNORM_CUDA || options.backend == RMSNORM_HIP;
  Options run = options;
  run.rows = 1;
  run.repeat = 1;
  Plan plan;
  bool fixedRows;
  int64_t columns;
  std::string text = planEntry(module, entry, run, plan);
  if (!text.empty())
    return text;
  countRows(plan, fixedRows, columns);
  run.rows = std::clamp<int64_t>(checkedElements[onDevice] /
                                     std::max<int64_t>(columns, 1),
                                 1, checkedRows[onDevice]);
  int64_t timedRows = 0;
  rmsnorm_variant_info wanted = {}, taken = {};
  if (timed) {
    timedRows = countRows(*timed, fixedRows, columns);
    if (text = findVariant(*timed, device, wanted); !text.empty())
      return text;
    run.rows = std::min(run.rows, timedRows);
  }
  for (;; run.rows = std::min(2 * run.rows, timedRows)) {
    plan = {};
    text = planEntry(module, entry, run, plan);
    if (text.empty() && timed)
      text = findVariant(plan, device, taken);
    if (!text.empty())
      return text;
    if (!timed || std::string(taken.name) == wanted.name ||
        run.rows >= timedRows)
      break;
  }
  if (!reference)
    reference = makeReference(plan, run, text);
  if (!reference)
    return text;
  result = runEntry(plan, device, run, reference);
  if (!result.error.empty())
    return result.error;
  if (result.verdict == Verdict::Wrong)
    return "wrong: " + result.note;
  return result.verdict == Verdict::Right ? "" : result.note;
}

} // namespace trial
