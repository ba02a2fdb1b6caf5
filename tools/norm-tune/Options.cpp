// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Options.cpp - the command line of norm-tune -----------------------===//

#include "Options.h"
#include "../trial/Files.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <sys/stat.h>

namespace norm_tune {

const char helpText[] =
    R"(usage: norm-tune [options] --rows=M,... -o TUNING.json FILE

Measures the schedules in a module (or makes it of a .mlir file first), and
writes the best of each entry and number of rows to a tuning file. Needs the
runtime only: compile the module elsewhere, measure where the device is.

  norm-compile in.mlir --target=sm_90 --schedule-space -o space.rmsn
  norm-tune space.rmsn --device=cuda --rows=1,64,1024,32768 -o tuning.json
  norm-compile in.mlir --target=sm_90 --tuning=tuning.json -o out.rmsn

Each schedule first runs on a few rows and is compared with the oracle in the
module; one that is wrong or fails is reported and left out. What is timed is
the device's time for a call with its inputs and outputs in other memory each
time, as much as 512 MiB and at most 256 sets, so that large calls find nothing
of theirs in L2: launches recorded into a graph, replayed between two events,
divided by their number, so that the host's launch time is not in it; the median
of several replays. All schedules are timed briefly, the best longer, next to
the compiler's own choice. On the simulator it is the host's time of one launch.

A measurement speaks for the rows up to half way (geometrically) to the next
one, the least for all below, the greatest for all above: give a small and a
large number at least.

  --rows=[NAME:]M,... rows to measure with, spread over the run-time sizes in
                      front of the last dimension; for the entry NAME alone,
                      or all that are not named
  -o FILE             tuning file to write, anew with each entry that is done.
                      All results so far are in FILE.partial until the last
                      one is: run again to go on
  --device=DEVICE     cuda, hip, sim (default), sim:CHIP
  --entry=NAME        only this entry
  --dim=sK=VALUE      size for shape symbol K, as norm-inspect prints them
  --margin=PERCENT    what a schedule must gain over the compiler's choice to
                      replace it (default 1)
  --time-limit=S      begin nothing else S seconds after the start, keep the
                      results so far and exit with 3; each run measures
                      something
  --target=TARGET     program to take from the module, or to compile for
  --seed=S            seed of the data (default 1)
  --ordinal=K         which of the driver's devices (default 0)
  --version           print the version

Exit status: 0 if the file was written, 1 after an error, 2 for a wrong command
line, 3 if time ran out.
)";

/// Appends the numbers in "1,2,3".
static bool parseRows(const std::string &text, std::vector<int64_t> &rows) {
  size_t at = 0;
  while (at <= text.size()) {
    size_t end = std::min(text.find(',', at), text.size());
    std::string item = text.substr(at, end - at);
    char *rest = nullptr;
    errno = 0;
    long long value = std::strtoll(item.c_str(), &rest, 10);
    if (item.empty() || *rest || errno || value < 1)
      return false;
    rows.push_back(value);
    at = end + 1;
  }
  return true;
}

static bool parseNumber(const std::string &text, double &value) {
  char *rest = nullptr;
  value = std::strtod(text.c_str(), &rest);
  return !text.empty() && !*rest && std::isfinite(value) && value >= 0;
}

/// Options that norm-run reads in the same way.
static bool isShared(const std::string &name) {
  for (const char *shared : {"--device", "--entry", "--dim", "--target",
                             "--seed", "--ordinal", "--help", "--version"})
    if (name == shared)
      return true;
  return false;
}

/// Why a file cannot be written there; "" if it can be.
static std::string checkOutput(const std::string &output,
                               const std::string &input) {
  struct stat there;
  if (stat(output.c_str(), &there))
    return "";
  if (!S_ISREG(there.st_mode))
    return "-o: expected a file, beside which results are kept, got " + output +
           ", which is none";
  if (trial::isSameFile(output, input))
    return "-o: expected another file than the input, got " + output;
  return "";
}

bool parseOptions(int argc, char **argv, Options &o, std::string &error) {
  std::vector<char *> shared = {argv[0]};
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    size_t equals = argument.find('=');
    std::string name = argument.substr(0, equals);
    bool isOption = argument.size() > 1 && argument[0] == '-';
    if (!isOption || isShared(name)) {
      shared.push_back(argv[i]);
      if (isOption && equals == std::string::npos && name != "--help" &&
          name != "--version" && i + 1 < argc)
        shared.push_back(argv[++i]);
      continue;
    }
    if (equals == std::string::npos && i + 1 >= argc) {
      error = "unknown option or missing value: " + argument +
              "; norm-tune --help lists the options";
      return false;
    }
    std::string value =
        equals == std::string::npos ? argv[++i] : argument.substr(equals + 1);
    std::string expected;
    if (name == "--rows") {
      size_t colon = value.rfind(':');
      bool named = colon != std::string::npos;
      if (!parseRows(named ? value.substr(colon + 1) : value,
                     named ? o.rowsOf[value.substr(0, colon)] : o.rows))
        expected = "numbers of rows >= 1, e.g. 1,4096,32768, or those of an "
                   "entry, NAME:1,4096";
    } else if (name == "-o") {
      o.output = value;
    } else if (name == "--margin") {
      if (!parseNumber(value, o.margin))
        expected = "a number of percent";
    } else if (name == "--time-limit") {
      if (!parseNumber(value, o.timeLimit))
        expected = "a number of seconds";
    } else {
      error = "unknown option " + name + "; norm-tune --help lists the options";
      return false;
    }
    if (!expected.empty()) {
      error = name + ": expected " + expected + ", got '" + value + "'";
      return false;
    }
  }
  if (!trial::parseOptions(int(shared.size()), shared.data(), "norm-tune",
                           o.run, error))
    return false;
  if (o.run.help || o.run.version)
    return true;
  if (o.run.inputs.size() != 1)
    error = "expected one .rmsn or .mlir file, got " +
            std::to_string(o.run.inputs.size());
  else if (o.rows.empty() && o.rowsOf.empty())
    error = "expected --rows, e.g. --rows=1,4096,32768";
  else if (o.output.empty())
    error = "expected -o for the tuning file, e.g. -o tuning.json";
  else
    error = checkOutput(o.output, o.run.inputs[0]);
  return error.empty();
}

} // namespace norm_tune
