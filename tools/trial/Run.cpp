// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Run.cpp - runs one entry and compares it with the oracle ----------===//

#include "Run.h"
#include "Compare.h"
#include "DeviceRun.h"
#include "Fill.h"

#include <chrono>
#include <cmath>

namespace trial {

/// Runs the oracle, or what it has for another target, leaving its outputs in
/// `tensors`.
static bool runOracle(const Plan &plan, std::vector<Tensor> &tensors,
                      const char *target = "oracle") {
  rmsnorm_device *oracle = nullptr;
  rmsnorm_device_options options;
  rmsnorm_device_options_init(&options);
  options.target = target;
  if (rmsnorm_device_open(RMSNORM_ORACLE, &options, &oracle))
    return false;
  bool good;
  {
    DeviceRun run(oracle);
    good = run.prepare(plan, tensors) && run.upload(tensors) && run.launch() &&
           run.download(tensors);
  }
  rmsnorm_device_close(oracle);
  return good;
}

struct Reference {
  std::vector<Tensor> before, expected;
  std::vector<Tensor> magnitudes; // made when needed
};

std::shared_ptr<Reference>
makeReference(const Plan &plan, const Options &options, std::string &error) {
  rmsnorm_entry_info entry;
  if (!rmsnorm_module_get_entry(plan.module, plan.entry, &entry) &&
      !entry.has_oracle) {
    error = "expected a program for the oracle, which results are compared "
            "with, got none; norm-compile --target=oracle adds it";
    return nullptr;
  }
  auto reference = std::make_shared<Reference>();
  reference->before = makeTensors(plan, options);
  if (reference->before.size() != plan.arguments.size()) {
    error = "cannot make the tensors: out of memory, or a data type that is "
            "not filled";
    return nullptr;
  }
  fillTensors(plan, options, reference->before);
  reference->expected = copyTensors(plan, reference->before, options);
  if (!runOracle(plan, reference->expected)) {
    error = rmsnorm_last_error();
    return nullptr;
  }
  return reference;
}

/// Compares outputs with the oracle's and everything else with what it was.
static bool check(const Plan &plan, const Options &options,
                  Reference &reference, const std::vector<Tensor> &got,
                  Result &result) {
  const std::vector<Tensor> &before = reference.before;
  const std::vector<Tensor> &expected = reference.expected;
  std::vector<Tensor> &magnitudes = reference.magnitudes;
  std::vector<DLTensor> views;
  std::vector<DLTensor *> pointers;
  for (const Tensor &tensor : before)
    views.push_back(tensor.view(nullptr, DLDevice{kDLCPU, 0}));
  for (DLTensor &view : views)
    pointers.push_back(&view);

  double worstShare = -1;
  result.passed = true;
  for (size_t i = 0; i < got.size(); ++i) {
    const rmsnorm_argument_info &info = plan.arguments[i];
    if (info.role == RMSNORM_INPUT) {
      if (!got[i].sameBytes(before[i]))
        result.note = std::string("input '") + info.name + "' was written to";
      continue;
    }
    if (std::string text = got[i].findOverrun(before[i]); !text.empty())
      result.note = std::string("'") + info.name + "': " + text;
    rmsnorm_error_bound bound = {};
    if (info.has_error_bound && rmsnorm_module_get_error_bound(
                                    plan.module, plan.entry, i, pointers.data(),
                                    pointers.size(), &bound))
      return false;
    if (bound.magnitude > 0 && magnitudes.empty()) {
      std::vector<Tensor> made = copyTensors(plan, before, options);
      if (!runOracle(plan, made, "magnitudes"))
        return false;
      magnitudes = std::move(made);
    }
    Difference difference =
        compare(got[i], expected[i], bound,
                bound.magnitude > 0 ? &magnitudes[i] : nullptr);
    if (!info.has_error_bound)
      result.warning = std::string("'") + info.name +
                       "': the compiler derived no bound, not checked";
    else if (difference.share > 1) {
      result.passed = false;
      result.note = std::string("'") + info.name + "', " + difference.where;
    }
    if (difference.share > worstShare) {
      worstShare = difference.share;
      result.output = info.name;
      result.bound = bound;
      result.hasBound = info.has_error_bound;
    }
    result.ulps = std::fmax(result.ulps, difference.ulps);
    result.absolute = std::fmax(result.absolute, difference.absolute);
    if (got[i].elementCount())
      result.differing =
          std::fmax(result.differing, double(difference.differing) /
                                          double(got[i].elementCount()));
    result.hash = got[i].hash(result.hash);
  }
  result.passed &= result.note.empty();
  return true;
}

Result runEntry(const Plan &plan, rmsnorm_device *device,
                const Options &options, std::shared_ptr<Reference> reference) {
  Result result;
  auto failWith = [&](std::string text) {
    result.error = std::move(text);
    return result;
  };
  auto refused = [&] { return failWith(rmsnorm_last_error()); };

  std::string error;
  if (!reference)
    reference = makeReference(plan, options, error);
  if (!reference)
    return failWith(std::move(error));
  const std::vector<Tensor> &before = reference->before;
  result.bytes = getBytesPerCall(plan);

  std::vector<Tensor> got = copyTensors(plan, before, options);
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
  if (!run.checkWorkspace(result.note) ||
      !check(plan, options, *reference, got, result))
    return refused();
  return result;
}

} // namespace trial
