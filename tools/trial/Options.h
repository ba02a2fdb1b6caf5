// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Options.h - the options of a trial -------------------------------===//

#ifndef TRIAL_OPTIONS_H
#define TRIAL_OPTIONS_H

#include "rmsnorm/rmsnorm.h"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace trial {

/// How results are printed.
enum class ResultFormat { table, csv, json };

struct Options {
  std::vector<std::string> inputs;
  std::string entry; // empty: all
  rmsnorm_backend backend = RMSNORM_SIM;
  std::string deviceText = "sim";
  /// Target to compile for or to take from a module; empty: the device's.
  std::string target;
  std::string schedule;
  /// The host optimization of .mlir files; empty: norm-compile's default.
  std::string hostOptimization;
  int64_t rows = -1;
  /// Sizes of shape symbols, by number.
  std::map<int, int64_t> dims;
  uint64_t seed = 1;
  rmsnorm_thread_order order = RMSNORM_ORDER_FORWARD;
  int multiprocessors = 0;
  int ordinal = 0;
  bool strided = false;
  bool unaligned = false;
  int repeat = 0; // 0: chosen by the device
  ResultFormat format = ResultFormat::table;
  /// Instead of everything else.
  bool help = false, version = false;
};

/// Numbers of rows as given, of entries by name and of the others.
struct RowLists {
  std::map<std::string, std::vector<int64_t>> named;
  std::vector<int64_t> others;

  static constexpr char expected[] =
      "numbers of rows >= 1, e.g. 1,4096,32768, or those of an entry, "
      "NAME:1,4096";
  /// Adds "[NAME:]M,..."; false if it is none.
  bool add(const std::string &value);
  const std::vector<int64_t> &find(const std::string &entry) const;
};

/// Takes the value of an option of a tool's own. False if there is no such
/// option; `expected` says what is, if it is not the value.
using OwnOptions = std::function<bool(
    const std::string &name, const std::string &value, std::string &expected)>;

/// Reads a command line of options, "--name=value" or "--name value", of flags
/// and of `inputs`. On an error returns false and sets `error`, which names
/// `program`.
bool readCommandLine(int argc, char **argv, const std::string &program,
                     const std::map<std::string, bool *> &flags,
                     const OwnOptions &take, std::vector<std::string> &inputs,
                     std::string &error);

/// Reads a command line of these options. `own` is asked first, so that a tool
/// may take more for one of them.
bool parseOptions(int argc, char **argv, const std::string &program,
                  Options &options, std::string &error,
                  const OwnOptions &own = nullptr);

/// The same, of a tool which has some of these options, those in `shared`, and
/// its own.
bool parseOptions(int argc, char **argv, const std::string &program,
                  const std::vector<std::string> &shared, const OwnOptions &own,
                  Options &options, std::string &error);

/// Prints `help`, or the version of `program`, where one of them is asked for
/// instead of everything else; else returns false.
bool printAbout(const Options &options, const char *program, const char *help);

bool parseNumber(const std::string &text, double &value);

} // namespace trial

#endif // TRIAL_OPTIONS_H
