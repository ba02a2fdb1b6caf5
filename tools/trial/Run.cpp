// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Run.cpp - runs one entry and compares it with the oracle ----------===//

#include "Run.h"
#include "Compare.h"
#include "DeviceRun.h"
#include "Fill.h"
#include "Memory.h"

#include <chrono>
#include <cmath>

namespace trial {

/// With more undecided elements the program cannot be checked with this data.
/// Few elements may be undecided by chance, as in a gradient of rows of one
/// column.
static constexpr double maxUndecided = 0.5;
static constexpr int64_t fewElements = 256;

/// Has the oracle compute the outputs among `tensors`.
static bool runOracle(const Plan &plan, std::vector<Intervals> &tensors) {
  std::vector<DLTensor> views;
  std::vector<DLTensor *> pointers;
  for (Intervals &tensor : tensors)
    views.push_back(tensor.view());
  for (DLTensor &view : views)
    pointers.push_back(&view);
  rmsnorm_device *oracle = nullptr;
  rmsnorm_function *function = nullptr;
  bool good =
      !rmsnorm_device_open(RMSNORM_ORACLE, nullptr, &oracle) &&
      !rmsnorm_prepare(plan.module, plan.name.c_str(), oracle, &function) &&
      !rmsnorm_launch(function, pointers.data(), pointers.size(), nullptr, 0,
                      nullptr);
  rmsnorm_function_release(function);
  rmsnorm_device_close(oracle);
  return good;
}

struct Reference {
  std::vector<Tensor> before;
  std::shared_ptr<std::vector<Intervals>> expected;
};

std::shared_ptr<Reference> makeReference(const Plan &plan,
                                         const Options &options,
                                         std::string &error,
                                         const Reference *elsewhere) {
  rmsnorm_entry_info entry;
  if (!elsewhere &&
      !rmsnorm_module_get_entry(plan.module, plan.entry, &entry) &&
      !entry.has_oracle) {
    error = "expected a program for the oracle, which results are compared "
            "with, got none; norm-compile --target=oracle adds it";
    return nullptr;
  }
  const MemoryNeed need = {getRunNeed(plan, /*hasReference=*/false).host, 0};
  if (error = checkMemory(plan, need, nullptr); !error.empty())
    return nullptr;
  auto reference = std::make_shared<Reference>();
  if (!makeTensors(plan, options, reference->before, error))
    return nullptr;
  fillTensors(plan, options, reference->before);
  if (elsewhere) {
    reference->expected = elsewhere->expected;
    return reference;
  }
  reference->expected = std::make_shared<std::vector<Intervals>>();
  for (const Tensor &tensor : reference->before)
    reference->expected->emplace_back(tensor);
  if (!runOracle(plan, *reference->expected)) {
    error = rmsnorm_last_error();
    return nullptr;
  }
  return reference;
}

/// Compares what the program defines of outputs with the oracle's, and
/// everything else with its old contents.
static void check(const Plan &plan, const Reference &reference,
                  const std::vector<Tensor> &got, Result &result) {
  int64_t elements = 0, undecided = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const rmsnorm_argument_info &info = plan.arguments[i];
    const Tensor &before = reference.before[i];
    if (info.role == RMSNORM_INPUT) {
      if (!got[i].sameBytes(before))
        result.note = std::string("input '") + info.name + "' was written to";
      continue;
    }
    if (std::string text = got[i].findOverrun(before); !text.empty())
      result.note = std::string("'") + info.name + "': " + text;
    Difference difference = compare(got[i], (*reference.expected)[i]);
    if (difference.wrong)
      result.note = std::string("'") + info.name + "', " +
                    std::to_string(difference.wrong) + " elements wrong; " +
                    difference.where;
    result.ulps = std::fmax(result.ulps, difference.ulps);
    elements += got[i].elementCount() - difference.undefined;
    undecided += difference.undecided;
    result.undefined += difference.undefined;
    result.hash = hash(got[i], (*reference.expected)[i], result.hash);
  }
  if (result.undefined && !elements && result.note.empty()) {
    result.verdict = Verdict::Undecided;
    result.note = "cannot be checked: the program leaves all of its results "
                  "undefined";
    return;
  }
  if (elements)
    result.undecided = double(undecided) / double(elements);
  if (!result.note.empty() ||
      double(undecided) <= maxUndecided * double(elements) ||
      elements < fewElements) {
    result.verdict = result.note.empty() ? Verdict::Right : Verdict::Wrong;
    return;
  }
  result.verdict = Verdict::Undecided;
  result.note =
      "cannot be checked on this data: more than half of the elements "
      "are undecided";
}

Result runEntry(const Plan &plan, rmsnorm_device *device,
                const Options &options, std::shared_ptr<Reference> &reference) {
  Result result;
  auto failWith = [&](std::string text) {
    result.error = std::move(text);
    return result;
  };
  auto refused = [&] { return failWith(rmsnorm_last_error()); };

  std::string error =
      checkMemory(plan, getRunNeed(plan, bool(reference)), device);
  if (!reference && error.empty())
    reference = makeReference(plan, options, error);
  if (!error.empty())
    return failWith(std::move(error));
  const std::vector<Tensor> &before = reference->before;
  result.bytes = getBytesPerCall(plan);

  std::vector<Tensor> got;
  if (!copyTensors(plan, before, options, got, error))
    return failWith(std::move(error));
  DeviceRun run(device);
  if (!run.prepare(plan, got) || !run.describe(plan, result) ||
      !run.upload(got))
    return refused();
  auto start = std::chrono::steady_clock::now();
  if (!run.launch() || !run.download(got))
    return refused();
  std::chrono::duration<double, std::milli> once =
      std::chrono::steady_clock::now() - start;
  result.milliseconds = once.count();
  int repeat = options.repeat                   ? options.repeat
               : options.backend == RMSNORM_SIM ? 1
                                                : 50;
  // The first launch was for the comparison; on a GPU its time says nothing.
  if (repeat > 1 && !run.time(repeat, result.milliseconds))
    return refused();
  if (!run.checkWorkspace(result.note))
    return refused();
  check(plan, *reference, got, result);
  return result;
}

} // namespace trial
