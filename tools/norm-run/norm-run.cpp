// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- norm-run.cpp - runs modules and compares them with the oracle -----===//
//
// Links the runtime only: with it and a module it works on a machine that has
// neither LLVM nor a compiler.
//
//===----------------------------------------------------------------------===//

#include "Compile.h"
#include "Table.h"

#include <cstdio>
#include <cstring>
#include <set>
#include <unistd.h>

using namespace norm_run;

static void complain(const std::string &text) {
  std::fflush(stdout);
  std::fprintf(stderr, "norm-run: error: %s\n", text.c_str());
}

static bool endsWith(const std::string &text, const char *end) {
  size_t length = std::strlen(end);
  return text.size() >= length &&
         text.compare(text.size() - length, length, end) == 0;
}

/// Opens a module, having it compiled first if need be; null after an error.
static rmsnorm_module *openModule(const std::string &input,
                                  rmsnorm_device *device,
                                  const Options &options) {
  std::string path = input;
  bool compiles = endsWith(input, ".mlir");
  if (!options.schedule.empty() && !compiles) {
    complain(input + ": --schedule is for .mlir files; a compiled module has "
                     "its schedules");
    return nullptr;
  }
  if (!options.hostOptimization.empty() && !compiles) {
    complain(input + ": --host-optimization is for .mlir files; a compiled "
                     "module has its code");
    return nullptr;
  }
  if (compiles) {
    std::string target = options.target, error;
    rmsnorm_device_info info;
    if (target.empty() && options.backend == RMSNORM_SIM)
      target = "sim";
    else if (target.empty() && !rmsnorm_device_get_info(device, &info))
      target = info.chip;
    std::vector<std::string> compileOptions;
    if (!options.schedule.empty())
      compileOptions.push_back("--schedule=" + options.schedule);
    if (!options.hostOptimization.empty())
      compileOptions.push_back("--host-optimization=" +
                               options.hostOptimization);
    path = compileModule(input, target, compileOptions, error);
    if (!error.empty())
      complain(error);
    if (path.empty())
      return nullptr;
  }
  rmsnorm_module *module = nullptr;
  if (rmsnorm_module_open_file(path.c_str(), &module))
    complain(rmsnorm_last_error());
  if (path != input)
    unlink(path.c_str());
  return module;
}

static bool planModule(rmsnorm_module *module, const std::string &file,
                       const Options &options, std::vector<Plan> &plans) {
  rmsnorm_module_info info;
  size_t begin = 0, end = 0;
  if (!rmsnorm_module_get_info(module, &info))
    end = info.entry_count;
  if (!options.entry.empty()) {
    if (rmsnorm_module_find_entry(module, options.entry.c_str(), &begin)) {
      complain(file + ": " + rmsnorm_last_error());
      return false;
    }
    end = begin + 1;
  }
  for (size_t entry = begin; entry < end; ++entry) {
    Plan plan;
    plan.file = file;
    if (std::string text = planEntry(module, entry, options, plan);
        !text.empty()) {
      complain(file + ": " + text);
      return false;
    }
    plans.push_back(std::move(plan));
  }
  return true;
}

static bool runAll(const Options &options, rmsnorm_device *device,
                   std::vector<rmsnorm_module *> &modules) {
  bool good = true;
  std::vector<Plan> plans;
  for (const std::string &input : options.inputs) {
    rmsnorm_module *module = openModule(input, device, options);
    if (!module) {
      good = false;
      continue;
    }
    modules.push_back(module);
    good &= planModule(module, input, options, plans);
  }
  if (plans.empty())
    return false;
  Table table(plans, options.csv);
  std::set<std::string> warnings;
  for (const Plan &plan : plans) {
    Result result = runEntry(plan, device, options);
    table.print(plan, result);
    std::string place = plan.file + ": entry '" + plan.name + "': ";
    if (!result.error.empty())
      complain(place + result.error);
    else if (!result.note.empty())
      complain(place + result.note);
    if (!result.warning.empty() && warnings.insert(result.warning).second)
      std::fprintf(stderr, "norm-run: warning: %s%s\n", place.c_str(),
                   result.warning.c_str());
    good &= result.error.empty() && result.passed;
  }
  return good;
}

int main(int argc, char **argv) {
  Options options;
  std::string error;
  if (!parseOptions(argc, argv, options, error)) {
    complain(error);
    return 2;
  }
  if (options.help) {
    std::fputs(helpText, stdout);
    return 0;
  }
  rmsnorm_device_options deviceOptions;
  rmsnorm_device_options_init(&deviceOptions);
  deviceOptions.ordinal = options.ordinal;
  deviceOptions.target =
      options.target.empty() ? nullptr : options.target.c_str();
  deviceOptions.multiprocessor_count = options.multiprocessors;
  deviceOptions.thread_order = options.order;
  deviceOptions.seed = options.seed;
  rmsnorm_device *device = nullptr;
  if (rmsnorm_device_open(options.backend, &deviceOptions, &device)) {
    complain("--device=" + options.deviceText + ": " + rmsnorm_last_error());
    return 1;
  }
  std::vector<rmsnorm_module *> modules;
  bool good = runAll(options, device, modules);
  for (rmsnorm_module *module : modules)
    rmsnorm_module_close(module);
  rmsnorm_device_close(device);
  return good ? 0 : 1;
}
