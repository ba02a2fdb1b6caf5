// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- norm-trials.cpp - a program in many ways --------------------------===//
//
//   norm-trials < TRIALS
//
// Each line is a module and options of norm-run. Prints what norm-run --csv
// would with them, then "status N", its exit status. The modules up to an empty
// line are of one program: what the oracle says of an input is computed once
// for lines that follow one another with the same rows and sizes, as it takes
// longer than the kernels. Only the module of the first of them needs an
// oracle. So is a device opened once for lines that follow one another with the
// same one.
//
//===----------------------------------------------------------------------===//

#include "../../tools/trial/Files.h"
#include "../../tools/trial/Memory.h"
#include "../../tools/trial/Open.h"
#include "../../tools/trial/Table.h"

#include <cstdio>
#include <iostream>
#include <map>
#include <sstream>
#include <tuple>

using namespace trial;

static bool fail(const std::string &text) {
  std::fprintf(stderr, "norm-trials: error: %s\n", text.c_str());
  return false;
}

/// References of the entries.
using References = std::map<std::string, std::shared_ptr<Reference>>;

static bool runEntries(rmsnorm_module *module, rmsnorm_device *device,
                       const Options &options, References &references) {
  rmsnorm_module_info info;
  if (rmsnorm_module_get_info(module, &info))
    return fail(rmsnorm_last_error());
  std::string error;
  std::vector<Plan> plans(info.entry_count);
  for (size_t i = 0; i < plans.size(); ++i)
    if (error = planEntry(module, i, options, plans[i]); !error.empty())
      return fail(error);
  bool good = true;
  Table table(plans, device, ResultFormat::csv);
  for (const Plan &plan : plans) {
    std::shared_ptr<Reference> &reference = references[plan.name];
    reference = makeReference(plan, options, error, reference.get());
    if (!reference)
      return fail("entry '" + plan.name + "': " + error);
    Result result = runEntry(plan, device, options, reference);
    table.print(plan, result);
    if (std::string text = result.error + result.note; !text.empty())
      fail("entry '" + plan.name + "': " + text);
    good &= result.error.empty() && result.verdict == Verdict::Right;
  }
  return good;
}

/// The device of a line, which takes a while to open.
class OpenDevice {
public:
  ~OpenDevice() { rmsnorm_device_close(device); }

  /// Null, and an error, if there is none.
  rmsnorm_device *get(const Options &options, std::string &error) {
    auto now = std::tie(options.deviceText, options.target, options.ordinal,
                        options.multiprocessors, options.order, options.seed);
    if (device && key == now)
      return device;
    rmsnorm_device_close(device);
    key = now;
    return device = openDevice(options, error);
  }

private:
  rmsnorm_device *device = nullptr;
  std::tuple<std::string, std::string, int, int, rmsnorm_thread_order, uint64_t>
      key;
};

static bool runTrial(const Options &options, OpenDevice &open,
                     References &references) {
  std::string error;
  rmsnorm_device *device = open.get(options, error);
  if (!device)
    return fail(error);
  rmsnorm_module *module =
      openModule(options.inputs[0], device, options, {}, error);
  bool good =
      module ? runEntries(module, device, options, references) : fail(error);
  rmsnorm_module_close(module);
  return good;
}

int main(int argc, char **argv) {
  endWithoutMemory("norm-trials");
  if (argc != 1)
    return fail("expected no arguments"), 2;
  std::string error;
  Options before;
  References references;
  OpenDevice device;
  for (std::string line; std::getline(std::cin, line);) {
    if (line.empty()) {
      references.clear();
      continue;
    }
    std::vector<std::string> words = {argv[0]};
    std::istringstream stream(line);
    for (std::string word; stream >> word;)
      words.push_back(word);
    std::vector<char *> arguments;
    for (std::string &word : words)
      arguments.push_back(word.data());
    Options options;
    if (!parseOptions(int(arguments.size()), arguments.data(), "norm-trials",
                      options, error))
      return fail(error), 2;
    if (options.inputs.size() != 1 || options.help || options.version)
      return fail("expected a module and options of a run, got '" + line + "'"),
             2;
    if (options.rows != before.rows || options.dims != before.dims ||
        options.seed != before.seed)
      references.clear();
    std::printf("status %d\n", runTrial(options, device, references) ? 0 : 1);
    before = options;
  }
  return flushOutput(error) || fail(error) ? 0 : 2;
}
