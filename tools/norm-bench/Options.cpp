// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Options.cpp - the command line of norm-bench ----------------------===//

#include "Options.h"

namespace norm_bench {

const char helpText[] =
    R"(usage: norm-bench [options] FILE...

Times the entries of compiled modules (.rmsn), or of .mlir files, which it has
norm-compile compile first, beside a copy of as many bytes and, where several
modules have an entry of one name, beside each other. Needs the runtime only.

  norm-bench new.rmsn old.rmsn --device=cuda --rows=1,4096
  norm-bench out.rmsn --device=cuda --json > before.json
  norm-bench out.rmsn --device=cuda --compare=before.json

Each entry first runs on a few rows, as many as it takes to run the kernels that
are timed, and is compared with the oracle in its module: nothing is timed if
one is wrong. A time is the device's for a call whose inputs and outputs lie in
other memory each time, as much as 512 MiB and at most 256 sets, so that large
calls find nothing of theirs in L2: launches recorded into a graph, replayed
between two events, divided by their number. The modules and the copy, which is
the driver's, take turns in rounds. Printed is the median of the rounds and, as
spread, how far apart half of them lie. On the simulator it is the host's time
of one launch, and says nothing about a GPU.

  --rows=[NAME:]M,... rows to measure with, spread over the run-time sizes in
                      front of the last dimension; for the entry NAME alone,
                      or all that are not named (default: as of norm-run)
  --entry=NAME        only this entry
  --device=DEVICE     cuda, hip, sim (default), sim:CHIP
  --rounds=K          rounds (default: 21, 3 on the simulator)
  --json              a JSON object instead of a table, with the time of each
                      round
  --compare=FILE      results of --json to compare with, of the same device
  --margin=PERCENT    how much slower than in FILE an entry may be (default 2)
  --target=TARGET     program to take from the modules; default: what fits the
                      device
  --dim=sK=VALUE      size for shape symbol K, as norm-inspect prints them
  --seed=S            seed of the data (default 1)
  --ordinal=K         which of the driver's devices (default 0)
  --version           print the version

Exit status: 0 if all is right and nothing slower, 1 if not, 2 for a wrong
command line.
)";

bool parseOptions(int argc, char **argv, Options &o, std::string &error) {
  auto own = [&](const std::string &name, const std::string &value,
                 std::string &expected) {
    double number = 0;
    if (name == "--rows") {
      expected = o.rows.add(value) ? "" : trial::RowLists::expected;
    } else if (name == "--rounds") {
      const bool good = trial::parseNumber(value, number) && number >= 1 &&
                        number <= 100000 && number == int(number);
      o.rounds = good ? int(number) : 0;
      expected = good ? "" : "a number from 1 to 100000";
    } else if (name == "--compare") {
      o.baseline = value;
      expected = value.empty() ? "a file that --json has written" : "";
    } else if (name == "--margin") {
      expected =
          trial::parseNumber(value, o.margin) ? "" : "a number of percent";
    } else {
      return false;
    }
    return true;
  };
  if (!trial::parseOptions(argc, argv, "norm-bench",
                           {"--device", "--entry", "--dim", "--target",
                            "--seed", "--ordinal", "--json", "--help",
                            "--version"},
                           own, o.run, error))
    return false;
  if (o.rounds == 0)
    o.rounds = o.run.backend == RMSNORM_SIM ? 3 : 21;
  return true;
}

} // namespace norm_bench
