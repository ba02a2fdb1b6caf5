// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- norm-tune.cpp - measures schedules, writes a tuning file ----------===//
//
// Links the runtime only, as norm-run does.
//
//===----------------------------------------------------------------------===//

#include "../trial/Files.h"
#include "../trial/Memory.h"
#include "../trial/Open.h"
#include "Report.h"

#include <algorithm>
#include <cstdio>

using namespace norm_tune;

static int complain(const std::string &text) {
  std::fflush(stdout);
  std::fprintf(stderr, "norm-tune: error: %s\n", text.c_str());
  return 1;
}

static void note(const std::string &text) {
  std::fprintf(stderr, "norm-tune: %s\n", text.c_str());
}

/// The target that the module's kernels are for: it has one, and the oracle.
static std::string findTarget(rmsnorm_module *module) {
  rmsnorm_program_info program;
  for (size_t p = 0; !rmsnorm_module_get_program(module, 0, p, &program); ++p)
    if (program.backend != RMSNORM_ORACLE)
      return program.target;
  return "";
}

/// The numbers of rows that an entry can be measured with, ascending.
static bool findRows(Tuner &tuner, const Space &space, const Options &options,
                     std::vector<int64_t> &asked) {
  std::vector<std::pair<int64_t, int64_t>> got;
  const std::vector<int64_t> &given = options.rows.find(space.plain.name);
  if (given.empty()) {
    tuner.error = "expected --rows for entry '" + space.plain.name +
                  "', e.g. --rows=" + space.plain.name + ":1,4096";
    return false;
  }
  for (int64_t rows : given) {
    bool fixed = false;
    int64_t actual = tuner.getRows(space, rows, fixed);
    if (actual < 0)
      return false;
    got.push_back({actual, rows});
  }
  std::sort(got.begin(), got.end());
  for (size_t i = 0; i < got.size(); ++i)
    if (i == 0 || got[i].first != got[i - 1].first)
      asked.push_back(got[i].second);
  return true;
}

static int tuneAll(const Options &options, rmsnorm_module *module,
                   rmsnorm_device *device) {
  rmsnorm_module_info moduleInfo;
  rmsnorm_device_info deviceInfo;
  if (rmsnorm_module_get_info(module, &moduleInfo) ||
      rmsnorm_device_get_info(device, &deviceInfo))
    return complain(rmsnorm_last_error());
  const std::string target = findTarget(module);
  std::vector<Space> spaces;
  if (std::string text = findSpaces(module, target, options.run.entry, spaces);
      !text.empty())
    return complain(text);

  for (const auto &named : options.rows.named)
    if (std::none_of(spaces.begin(), spaces.end(), [&](const Space &space) {
          return space.plain.name == named.first;
        }))
      return complain("--rows: expected the name of an entry that is tuned, "
                      "got '" +
                      named.first + "'");

  char hash[64];
  std::snprintf(hash, sizeof hash, "%016llx%016llx",
                (unsigned long long)moduleInfo.content_hash[1],
                (unsigned long long)moduleInfo.content_hash[0]);
  std::string identity = std::string("module ") + hash + " device " +
                         deviceInfo.name + " seed " +
                         std::to_string(options.run.seed);
  for (const auto &[symbol, size] : options.run.dims)
    identity += " s" + std::to_string(symbol) + "=" + std::to_string(size);
  const std::string partial = options.output + ".partial";
  Journal journal(partial, identity);
  switch (journal.open()) {
  case Journal::Found::nothing:
    break;
  case Journal::Found::results:
    note("going on with " + std::to_string(journal.countResults()) +
         " results of " + partial);
    break;
  case Journal::Found::others:
    note(partial + " is of another module, device or data: starting anew");
    break;
  }

  Tuner tuner(module, device, options, journal);
  std::vector<Finding> findings;
  // Errors in the rows are reported before anything is measured.
  std::vector<std::vector<int64_t>> asked(spaces.size());
  for (size_t i = 0; i < spaces.size(); ++i)
    if (!findRows(tuner, spaces[i], options, asked[i]))
      return complain(tuner.error);
  std::string shared;
  if (std::string why = journal.save(); !why.empty())
    return complain(why);
  for (size_t i = 0; i < spaces.size(); ++i) {
    for (int64_t rows : asked[i]) {
      Finding finding;
      switch (tuner.tune(spaces[i], rows, finding)) {
      case Tuner::Status::done:
        if (finding.candidates.empty())
          note("entry '" + spaces[i].plain.name + "', " +
               std::to_string(finding.rows) + " rows of " +
               std::to_string(finding.columns) +
               " columns: no schedule among the candidates is for such rows");
        findings.push_back(std::move(finding));
        break;
      case Tuner::Status::failed:
        if (journal.countResults() == 0)
          journal.remove();
        return complain(tuner.error);
      case Tuner::Status::outOfTime:
        note("time is up: " + std::to_string(journal.countResults()) +
             " results in " + partial + "; run again to go on");
        if (i > 0)
          note(options.output + " holds the first " + std::to_string(i) +
               " of " + std::to_string(spaces.size()) + " entries");
        printTable(findings);
        return 3;
      }
    }
    if (asked[i].size() == 1 && !findings.back().fixedRows)
      note("entry '" + spaces[i].plain.name +
           "': one number of rows, which will speak for all");
    // With each entry, as the device may be gone before the next is done.
    shared.clear();
    std::string text =
        makeTuningFile(findings, target, deviceInfo.name, shared);
    std::string why = trial::writeFile(options.output, text);
    if (why.empty() && !options.measurements.empty())
      why =
          trial::writeFile(options.measurements,
                           makeMeasurements(findings, target, deviceInfo.name));
    if (!why.empty())
      return complain(why);
  }
  if (!shared.empty())
    note(shared);
  journal.remove();
  printTable(findings);
  return 0;
}

int main(int argc, char **argv) {
  trial::endWithoutMemory("norm-tune");
  Options options;
  std::string error;
  if (!parseOptions(argc, argv, options, error)) {
    complain(error);
    return 2;
  }
  if (trial::printAbout(options.run, "norm-tune", helpText))
    return 0;
  rmsnorm_device *device = trial::openDevice(options.run, error);
  if (!device)
    return complain(error);
  rmsnorm_module *module = trial::openModule(
      options.run.inputs[0], device, options.run, {"--schedule-space"}, error);
  if (!error.empty())
    complain(error);
  int status = module ? tuneAll(options, module, device) : 1;
  rmsnorm_module_close(module);
  rmsnorm_device_close(device);
  if (!trial::flushOutput(error))
    return complain(error);
  return status;
}
