// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- norm-run.cpp - runs modules and compares them with the oracle -----===//
//
// Links the runtime only: with it and a module it works on a machine that has
// neither LLVM nor a compiler.
//
//===----------------------------------------------------------------------===//

#include "../trial/Files.h"
#include "../trial/Memory.h"
#include "../trial/Open.h"
#include "../trial/Table.h"

#include <cstdio>
#include <set>
#include <sstream>

using namespace trial;

static const char helpText[] =
    R"(usage: norm-run [options] FILE...

Runs the entries of compiled modules (.rmsn), or of .mlir files, which it has
norm-compile compile first, on inputs made from a seed, and compares every
element of the outputs with what the oracle in the module says: the interval in
which every correct evaluation of the program in f32 lies. Prints one line an
entry: the worst distance from the middle of an interval in ulps of the output's
type, the share of undecided elements, whose interval holds more than one value
of that type (of f32, is wider than a step of f16), and the time of a launch.
Exit status: 0 if all elements lie in their intervals, 1 if not, if more than
half of 256 or more are undecided or if something failed, 2 for a wrong command
line.

  --entry=NAME        only this entry
  --device=DEVICE     sim (default), sim:CHIP (sim:sm_90), cuda, hip; or several
                      simulated chips, sim:CHIP,sim:CHIP: .mlir files are
                      compiled once and the oracle runs once for all of them
  --target=TARGET     program to take from the module; default: what fits the
                      device
  --schedule=TEXT     schedule to compile .mlir files with
  --host-optimization=K
                      how far to optimise their code for the simulator and the
                      oracle, 0 to 3 (default: $RMSNORM_HOST_OPTIMIZATION,
                      else 3): 0 compiles faster, the same bits
  --rows=M            rows to run, spread over the run-time sizes in front of
                      the last dimension (default: 301 on the simulator, about
                      256 MiB of input on a GPU)
  --dim=sK=VALUE      size for shape symbol K, as norm-inspect prints
                      them; those that follow from others need none
  --seed=S            seed of inputs and of --order=shuffled (default 1)
  --order=ORDER       simulator: forward, reverse or shuffled thread order
  --multiprocessors=K multiprocessors that launches may fill
  --strided           rows and outer dimensions lie apart, as in a slice
  --unaligned         addresses are aligned to an element only
  --repeat=K          launches to time (default: 1 on the simulator, 50)
  --ordinal=K         which of the driver's devices (default 0)
  --csv               comma-separated values instead of a table, with a hash
                      of all outputs
  --json              a JSON object instead of a table, with whole schedules
                      and a hash of all outputs
  --version           print the version
)";

static void complain(const std::string &text) {
  std::fflush(stdout);
  std::fprintf(stderr, "norm-run: error: %s\n", text.c_str());
}

/// The parts of a list with commas.
static std::vector<std::string> split(const std::string &list) {
  std::vector<std::string> parts;
  std::istringstream stream(list + ",");
  for (std::string part; std::getline(stream, part, ',');)
    parts.push_back(part);
  return parts;
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

/// A device and the options to run with it.
struct Run {
  Options options;
  rmsnorm_device *device = nullptr;
};

/// Takes "sim:CHIP,sim:CHIP" for --device.
static bool takeChips(const std::string &name, const std::string &value,
                      std::string &expected, Options &options) {
  if (name != "--device" || value.find(',') == std::string::npos)
    return false;
  std::set<std::string> chips;
  for (const std::string &chip : split(value))
    if (chip.rfind("sim:", 0) || !chips.insert(chip).second)
      expected = "sim:CHIP,sim:CHIP, each of them once";
  options.backend = RMSNORM_SIM;
  options.deviceText = value;
  if (options.target.empty())
    options.target = value;
  return true;
}

/// One for each device that the options name, not yet open.
static std::vector<Run> splitDevices(const Options &options) {
  std::vector<Run> runs;
  for (const std::string &device : split(options.deviceText)) {
    Run &run = runs.emplace_back();
    run.options = options;
    run.options.deviceText = device;
    if (device != options.deviceText)
      run.options.target = device;
  }
  return runs;
}

/// Runs an entry on a device and prints what comes of it.
static bool runPlan(const Plan &plan, const Run &run, bool isOneOfMany,
                    std::shared_ptr<Reference> &reference,
                    std::set<std::string> &warnings, Table &table) {
  Result result = runEntry(plan, run.device, run.options, reference);
  table.print(plan, result);
  const std::string name = "entry '" + plan.name + "'";
  const std::string file =
      plan.file + ": " + (isOneOfMany ? run.options.deviceText + ": " : "");
  // The runtime's messages may begin with it.
  const std::string place =
      file + (result.error.rfind(name, 0) ? name + ": " : "");
  if (!result.error.empty())
    complain(place + result.error);
  else if (!result.note.empty())
    complain(place + result.note);
  if (!result.warning.empty() && warnings.insert(result.warning).second)
    std::fprintf(stderr, "norm-run: warning: %s%s\n", place.c_str(),
                 result.warning.c_str());
  if (result.undefined)
    std::fprintf(stderr,
                 "norm-run: warning: %s%s: %lld elements are undefined on "
                 "this data, as what nothing is written to, an integer of a "
                 "NaN or a quotient by 0: any value of them is right\n",
                 file.c_str(), name.c_str(), (long long)result.undefined);
  return result.error.empty() && result.verdict == Verdict::Right;
}

static bool runAll(const Options &options, const std::vector<Run> &runs,
                   std::vector<rmsnorm_module *> &modules) {
  bool good = true;
  std::vector<Plan> plans;
  std::vector<std::string> compileOptions;
  if (!options.schedule.empty())
    compileOptions.push_back("--schedule=" + options.schedule);
  if (!options.hostOptimization.empty())
    compileOptions.push_back("--host-optimization=" + options.hostOptimization);
  for (const std::string &input : options.inputs) {
    std::string error;
    rmsnorm_module *module =
        openModule(input, runs.front().device, options, compileOptions, error);
    if (!module) {
      if (!error.empty())
        complain(error);
      good = false;
      continue;
    }
    modules.push_back(module);
    good &= planModule(module, input, options, plans);
  }
  if (plans.empty())
    return false;
  Table table(plans, runs.front().device, options.format);
  std::set<std::string> warnings;
  for (const Plan &plan : plans) {
    std::shared_ptr<Reference> reference;
    for (const Run &run : runs)
      good &= runPlan(plan, run, runs.size() > 1, reference, warnings, table);
  }
  return good;
}

int main(int argc, char **argv) {
  endWithoutMemory("norm-run");
  Options options;
  std::string error;
  auto own = [&](const std::string &name, const std::string &value,
                 std::string &expected) {
    return takeChips(name, value, expected, options);
  };
  if (!parseOptions(argc, argv, "norm-run", options, error, own)) {
    complain(error);
    return 2;
  }
  if (printAbout(options, "norm-run", helpText))
    return 0;
  std::vector<Run> runs = splitDevices(options);
  if (runs.size() > 1 && options.target != options.deviceText) {
    complain("--target: expected none beside --device=" + options.deviceText +
             ", got '" + options.target + "'");
    return 2;
  }
  bool good = true;
  for (Run &run : runs)
    if (good && !(run.device = openDevice(run.options, error))) {
      complain(error);
      good = false;
    }
  std::vector<rmsnorm_module *> modules;
  good = good && runAll(options, runs, modules);
  for (rmsnorm_module *module : modules)
    rmsnorm_module_close(module);
  for (Run &run : runs)
    rmsnorm_device_close(run.device);
  if (!flushOutput(error)) {
    complain(error);
    return 1;
  }
  return good ? 0 : 1;
}
