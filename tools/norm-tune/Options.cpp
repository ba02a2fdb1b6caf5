// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Options.cpp - the command line of norm-tune -----------------------===//

#include "Options.h"
#include "../trial/Files.h"

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
  --measurements=FILE the time of each schedule, for a cost model to be fitted
                      to (scripts/fit_schedules.py): a JSON object a line
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

/// Why a file cannot be written there; "" if it can be.
static std::string checkOutput(const std::string &option,
                               const std::string &output,
                               const std::string &input) {
  struct stat there;
  if (stat(output.c_str(), &there))
    return "";
  if (!S_ISREG(there.st_mode))
    return option + ": expected a file, beside which results are kept, got " +
           output + ", which is none";
  if (trial::isSameFile(output, input))
    return option + ": expected another file than the input, got " + output;
  return "";
}

bool parseOptions(int argc, char **argv, Options &o, std::string &error) {
  auto own = [&](const std::string &name, const std::string &value,
                 std::string &expected) {
    if (name == "--rows") {
      expected = o.rows.add(value) ? "" : trial::RowLists::expected;
    } else if (name == "-o" || name == "--measurements") {
      (name == "-o" ? o.output : o.measurements) = value;
      expected = value.empty() ? "a file" : "";
    } else if (name == "--margin") {
      expected =
          trial::parseNumber(value, o.margin) ? "" : "a number of percent";
    } else if (name == "--time-limit") {
      expected =
          trial::parseNumber(value, o.timeLimit) ? "" : "a number of seconds";
    } else {
      return false;
    }
    return true;
  };
  if (!trial::parseOptions(argc, argv, "norm-tune",
                           {"--device", "--entry", "--dim", "--target",
                            "--seed", "--ordinal", "--help", "--version"},
                           own, o.run, error))
    return false;
  if (o.run.help || o.run.version)
    return true;
  if (o.run.inputs.size() != 1)
    error = "expected one .rmsn or .mlir file, got " +
            std::to_string(o.run.inputs.size());
  else if (o.rows.others.empty() && o.rows.named.empty())
    error = "expected --rows, e.g. --rows=1,4096,32768";
  else if (o.output.empty())
    error = "expected -o for the tuning file, e.g. -o tuning.json";
  else
    error = checkOutput("-o", o.output, o.run.inputs[0]);
  if (error.empty() && !o.measurements.empty())
    error = checkOutput("--measurements", o.measurements, o.run.inputs[0]);
  if (error.empty() && o.measurements == o.output)
    error = "--measurements: expected another file than -o, got " + o.output;
  return error.empty();
}

} // namespace norm_tune
