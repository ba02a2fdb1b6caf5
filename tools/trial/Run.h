// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Run.h - runs one entry and compares it with the oracle ------------===//

#ifndef TRIAL_RUN_H
#define TRIAL_RUN_H

#include "Options.h"

#include <memory>
#include <string>
#include <vector>

namespace trial {

/// Sizes of all arguments of an entry.
using Shapes = std::vector<std::vector<int64_t>>;

/// An entry and the arguments of its run.
struct Plan {
  rmsnorm_module *module;
  std::string file;
  size_t entry;
  std::string name;
  std::vector<rmsnorm_argument_info> arguments;
  Shapes shapes;
  /// The argument of the most dimensions, but for those that the program takes
  /// a slice of: its rows are those of the problem.
  size_t widest = 0;
  /// The bound of the elements of an argument that are indices; -1: they are
  /// not.
  std::vector<int64_t> bounds;
};

/// Chooses sizes for the entry's shape symbols. Returns "" or why it cannot.
std::string planEntry(rmsnorm_module *module, size_t entry,
                      const Options &options, Plan &plan);

/// Bytes that a call with arguments as in `plan` reads and writes at least.
double getBytesPerCall(const Plan &plan);

/// Undecided: no element is wrong, but too many cannot be decided.
enum class Verdict { Right, Wrong, Undecided };

/// One line of the table.
struct Result {
  std::string error; // "" if it ran
  std::string note;  // a finding that makes the run fail, e.g. a guard byte
  std::string warning;
  std::string variant, schedule, device;
  size_t launches = 0;
  /// Of the elements that are decided or wrong, see Difference.
  double ulps = 0;
  /// Share of the outputs' elements, of those that the program defines, whose
  /// interval is undecided.
  double undecided = 0;
  /// How many elements the program leaves undefined, or are poison.
  int64_t undefined = 0;
  /// Of the same elements, in order; the same whatever the layout.
  uint64_t hash = 0;
  Verdict verdict = Verdict::Wrong;
  double milliseconds = 0;
  double bytes = 0; // read and written once
};

/// Inputs, and the oracle's results for them.
struct Reference;

/// Runs the oracle, but for inputs that are those of `elsewhere` in another
/// layout, where the module needs none; null after an error, with which `error`
/// is set.
std::shared_ptr<Reference> makeReference(const Plan &plan,
                                         const Options &options,
                                         std::string &error,
                                         const Reference *elsewhere = nullptr);

/// Runs an entry and compares it with `reference`, which was made with an entry
/// of the same definition, the same sizes and options; it is made here if it is
/// null.
Result runEntry(const Plan &plan, rmsnorm_device *device,
                const Options &options, std::shared_ptr<Reference> &reference);

} // namespace trial

#endif // TRIAL_RUN_H
