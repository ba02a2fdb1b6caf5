// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- norm-bench.cpp - times modules beside a copy and each other -------===//
//
// Links the runtime only, as norm-run does.
//
//===----------------------------------------------------------------------===//

#include "../trial/Bench.h"
#include "../trial/Check.h"
#include "../trial/Files.h"
#include "../trial/Memory.h"
#include "../trial/Open.h"
#include "../trial/Table.h"
#include "Baseline.h"
#include "Options.h"
#include "Report.h"

#include <algorithm>
#include <cstdio>
#include <set>

using namespace norm_bench;

static int complain(const std::string &text) {
  std::fflush(stdout);
  std::fprintf(stderr, "norm-bench: error: %s\n", text.c_str());
  return 1;
}

namespace {

/// Entries of one name and calls of one shape, of the modules that have them.
using Group = std::vector<trial::Plan>;

class Benchmark {
public:
  Benchmark(const Options &options, rmsnorm_device *device)
      : options(options), device(device) {}

  /// These return "" or an error.
  std::string plan(const std::vector<rmsnorm_module *> &modules);
  std::string check();
  std::string time();

  std::vector<Finding> findings;

private:
  std::string planEntry(const std::vector<rmsnorm_module *> &modules,
                        const std::string &name);
  std::string timeGroup(const Group &group);
  trial::Options getRunOptions(int64_t rows) const {
    trial::Options run = options.run;
    run.rows = rows;
    run.repeat = 1;
    return run;
  }

  const Options &options;
  rmsnorm_device *device;
  std::vector<Group> groups;
};

} // namespace

/// In messages. The runtime's may begin with the entry.
static std::string say(const trial::Plan &plan, const std::string &text) {
  const std::string name = "entry '" + plan.name + "'";
  return plan.file + ": " + (text.rfind(name, 0) ? name + ": " : "") + text;
}

std::string Benchmark::plan(const std::vector<rmsnorm_module *> &modules) {
  std::vector<std::string> names;
  for (rmsnorm_module *module : modules) {
    rmsnorm_module_info info;
    rmsnorm_entry_info entry;
    if (rmsnorm_module_get_info(module, &info))
      return rmsnorm_last_error();
    for (size_t i = 0; i < info.entry_count; ++i) {
      if (rmsnorm_module_get_entry(module, i, &entry))
        return rmsnorm_last_error();
      if ((options.run.entry.empty() || options.run.entry == entry.name) &&
          std::find(names.begin(), names.end(), entry.name) == names.end())
        names.push_back(entry.name);
    }
  }
  size_t index;
  if (names.empty() && !options.run.entry.empty() &&
      rmsnorm_module_find_entry(modules[0], options.run.entry.c_str(), &index))
    return options.run.inputs[0] + ": " + rmsnorm_last_error();
  for (const auto &named : options.rows.named)
    if (std::find(names.begin(), names.end(), named.first) == names.end())
      return "--rows: expected the name of an entry that is timed, got '" +
             named.first + "'";
  for (const std::string &name : names)
    if (std::string text = planEntry(modules, name); !text.empty())
      return text;
  return "";
}

/// Whether calls of both take the same tensors.
static bool takeTheSame(const trial::Plan &a, const trial::Plan &b) {
  if (a.shapes != b.shapes || a.bounds != b.bounds)
    return false;
  for (size_t i = 0; i < a.arguments.size(); ++i)
    if (a.arguments[i].role != b.arguments[i].role ||
        std::string(a.arguments[i].dtype_name) != b.arguments[i].dtype_name)
      return false;
  return true;
}

std::string Benchmark::planEntry(const std::vector<rmsnorm_module *> &modules,
                                 const std::string &name) {
  std::vector<int64_t> asked = options.rows.find(name);
  if (asked.empty())
    asked.push_back(-1); // norm-run's
  std::sort(asked.begin(), asked.end());
  std::set<int64_t> planned;
  for (int64_t rows : asked) {
    Group group;
    for (size_t i = 0; i < modules.size(); ++i) {
      trial::Plan plan;
      plan.file = options.run.inputs[i];
      if (rmsnorm_module_find_entry(modules[i], name.c_str(), &plan.entry))
        continue;
      if (std::string text = trial::planEntry(modules[i], plan.entry,
                                              getRunOptions(rows), plan);
          !text.empty())
        return plan.file + ": " + text;
      if (std::string text =
              trial::checkMemory(plan,
                                 trial::getBenchNeed(plan, options.run.backend,
                                                     /*hasCopies=*/true),
                                 device);
          !text.empty())
        return plan.file + ": " + text;
      if (!group.empty() && !takeTheSame(group[0], plan))
        return say(plan, "expected the arguments that it has in " +
                             group[0].file + ", " + trial::shapeText(group[0]) +
                             " " + trial::typesText(group[0]) + ", got " +
                             trial::shapeText(plan) + " " +
                             trial::typesText(plan));
      group.push_back(std::move(plan));
    }
    bool fixedRows;
    int64_t columns;
    if (planned.insert(trial::countRows(group[0], fixedRows, columns)).second)
      groups.push_back(std::move(group));
  }
  return "";
}

std::string Benchmark::check() {
  // Before anything is timed: the device would be idle and its clocks low.
  for (const Group &group : groups)
    for (const trial::Plan &plan : group) {
      std::shared_ptr<trial::Reference> reference;
      trial::Result result;
      std::string text =
          trial::checkFewRows(plan.module, plan.entry, device, options.run,
                              reference, result, &plan);
      if (!text.empty())
        return say(plan, text);
    }
  return "";
}

std::string Benchmark::timeGroup(const Group &group) {
  const double bytes = trial::getBytesPerCall(group[0]);
  trial::Bench bench(device, options.run.backend);
  trial::Bench copies(device, options.run.backend);
  std::vector<trial::Bench::Subject> subjects(group.size() + 1);
  std::vector<std::vector<double>> times(subjects.size());
  auto getBench = [&](size_t i) -> trial::Bench & {
    return i < group.size() ? bench : copies;
  };
  std::string text;
  auto require = [&](size_t i, bool good) {
    if (!good && text.empty())
      text = say(group[std::min(i, group.size() - 1)],
                 (i < group.size() ? "" : "copies: ") + getBench(i).getError());
    return good;
  };
  bool good = require(0, bench.allocate(group[0], options.run.seed)) &&
              require(group.size(), copies.allocateCopies(bytes));
  for (size_t i = 0; good && i < subjects.size(); ++i)
    good = require(i, i < group.size()
                          ? bench.begin(group[i].module, group[i].name.c_str(),
                                        subjects[i])
                          : copies.beginCopies(subjects[i]));
  if (good && options.run.backend != RMSNORM_SIM)
    good = require(0, bench.warmUp(subjects[0]));
  for (int round = 0; good && round < options.rounds; ++round)
    for (size_t k = 0; good && k < subjects.size(); ++k) {
      // Each is the first one in some round.
      const size_t i = (k + size_t(round)) % subjects.size();
      good = require(i, getBench(i).replay(subjects[i], 1, times[i]));
    }
  for (size_t i = 0; i < subjects.size(); ++i)
    getBench(i).end(subjects[i]);
  for (size_t i = 0; good && i < group.size(); ++i) {
    const trial::Plan &plan = group[i];
    rmsnorm_variant_info variant;
    text = trial::findVariant(plan, device, variant);
    if (!text.empty())
      return say(plan, text);
    bool fixedRows;
    int64_t columns;
    Finding finding;
    finding.file = plan.file;
    finding.entry = plan.name;
    finding.shape = trial::shapeText(plan);
    finding.types = trial::typesText(plan);
    finding.variant = variant.name;
    finding.schedule = variant.schedule;
    finding.rows = trial::countRows(plan, fixedRows, columns);
    finding.bytes = bytes;
    finding.times = times[i];
    finding.copies = times.back();
    finding.first = i ? trial::median(times[0]) : 0;
    findings.push_back(std::move(finding));
  }
  return text;
}

std::string Benchmark::time() {
  for (const Group &group : groups)
    if (std::string text = timeGroup(group); !text.empty())
      return text;
  return "";
}

static int compare(const Options &options, Baseline &baseline,
                   std::vector<Finding> &findings) {
  size_t compared = 0;
  for (Finding &finding : findings) {
    const double before =
        baseline.find(finding.file, finding.entry, finding.shape,
                      options.run.inputs.size() == 1);
    finding.before = std::max(before, 0.0);
    compared += before > 0;
  }
  if (compared == 0)
    return complain("--compare: " + options.baseline +
                    " has nothing of what is timed");
  if (size_t others = baseline.countOthers())
    std::fprintf(stderr, "norm-bench: not timed now, of %s: %zu\n",
                 options.baseline.c_str(), others);
  if (compared < findings.size())
    std::fprintf(stderr, "norm-bench: not timed before, in %s: %zu\n",
                 options.baseline.c_str(), findings.size() - compared);
  return 0;
}

static int complainOfSlower(const Options &options,
                            const std::vector<Finding> &findings) {
  int status = 0;
  for (const Finding &f : findings)
    if (f.before > 0 && f.getChange() > options.margin)
      status = complain(
          f.file + ": entry '" + f.entry + "', " + f.shape + ": expected " +
          trial::number("at most %.4g us, ",
                        f.before * (1 + options.margin / 100)) +
          trial::number("%g %% more than before, ", options.margin) + "got " +
          trial::number("%.4g us", f.getTime()));
  return status;
}

static int benchAll(const Options &options, rmsnorm_device *device,
                    std::vector<rmsnorm_module *> &modules) {
  rmsnorm_device_info info;
  if (rmsnorm_device_get_info(device, &info))
    return complain(rmsnorm_last_error());
  Baseline baseline;
  if (!options.baseline.empty())
    if (std::string text = baseline.read(options.baseline, info.name);
        !text.empty())
      return complain("--compare: " + text);
  for (const std::string &input : options.run.inputs) {
    std::string error;
    rmsnorm_module *module =
        trial::openModule(input, device, options.run, {}, error);
    if (!module)
      return error.empty() ? 1 : complain(error);
    modules.push_back(module);
  }
  Benchmark benchmark(options, device);
  std::string text = benchmark.plan(modules);
  if (text.empty())
    text = benchmark.check();
  if (text.empty())
    text = benchmark.time();
  if (!text.empty())
    return complain(text);
  std::vector<Finding> &findings = benchmark.findings;
  const bool isCompared = !options.baseline.empty();
  if (isCompared)
    if (int status = compare(options, baseline, findings))
      return status;
  if (options.run.format == trial::ResultFormat::json)
    std::fputs(makeJson(findings, info.name, options.rounds).c_str(), stdout);
  else
    printTable(findings, isCompared);
  return isCompared ? complainOfSlower(options, findings) : 0;
}

int main(int argc, char **argv) {
  trial::endWithoutMemory("norm-bench");
  Options options;
  std::string error;
  if (!parseOptions(argc, argv, options, error)) {
    complain(error);
    return 2;
  }
  if (trial::printAbout(options.run, "norm-bench", helpText))
    return 0;
  rmsnorm_device *device = trial::openDevice(options.run, error);
  if (!device)
    return complain(error);
  std::vector<rmsnorm_module *> modules;
  int status = benchAll(options, device, modules);
  for (rmsnorm_module *module : modules)
    rmsnorm_module_close(module);
  rmsnorm_device_close(device);
  if (!trial::flushOutput(error))
    return complain(error);
  return status;
}
