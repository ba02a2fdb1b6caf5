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
  --device=DEVICE     sim (default), sim:CHIP (sim:sm_90), cuda, hip
  --target=TARGET     program to take from the module; default: what fits the
                      device
  --schedule=TEXT     schedule to compile .mlir files with
  --host-optimization=K
                      how far to optimise their code for the simulator and the
                      oracle, 0 to 3 (default): 0 compiles faster, the same bits
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
  std::vector<std::string> compileOptions;
  if (!options.schedule.empty())
    compileOptions.push_back("--schedule=" + options.schedule);
  if (!options.hostOptimization.empty())
    compileOptions.push_back("--host-optimization=" + options.hostOptimization);
  for (const std::string &input : options.inputs) {
    std::string error;
    rmsnorm_module *module =
        openModule(input, device, options, compileOptions, error);
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
  Table table(plans, device, options.format);
  std::set<std::string> warnings;
  for (const Plan &plan : plans) {
    Result result = runEntry(plan, device, options);
    table.print(plan, result);
    const std::string name = "entry '" + plan.name + "'";
    // The runtime's messages may begin with it.
    std::string place =
        plan.file + ": " + (result.error.rfind(name, 0) ? name + ": " : "");
    if (!result.error.empty())
      complain(place + result.error);
    else if (!result.note.empty())
      complain(place + result.note);
    if (!result.warning.empty() && warnings.insert(result.warning).second)
      std::fprintf(stderr, "norm-run: warning: %s%s\n", place.c_str(),
                   result.warning.c_str());
    if (result.undefined)
      std::fprintf(stderr,
                   "norm-run: warning: %s: %s: %lld elements are undefined on "
                   "this data, as what nothing is written to, an integer of a "
                   "NaN or a quotient by 0: any value of them is right\n",
                   plan.file.c_str(), name.c_str(),
                   (long long)result.undefined);
    good &= result.error.empty() && result.verdict == Verdict::Right;
  }
  return good;
}

int main(int argc, char **argv) {
  endWithoutMemory("norm-run");
  Options options;
  std::string error;
  if (!parseOptions(argc, argv, "norm-run", options, error)) {
    complain(error);
    return 2;
  }
  if (printAbout(options, "norm-run", helpText))
    return 0;
  rmsnorm_device *device = openDevice(options, error);
  if (!device) {
    complain(error);
    return 1;
  }
  std::vector<rmsnorm_module *> modules;
  bool good = runAll(options, device, modules);
  for (rmsnorm_module *module : modules)
    rmsnorm_module_close(module);
  rmsnorm_device_close(device);
  if (!flushOutput(error)) {
    complain(error);
    return 1;
  }
  return good ? 0 : 1;
}
