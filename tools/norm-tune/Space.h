// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Space.h - the schedules in a module to choose among ---------------===//

#ifndef NORM_TUNE_SPACE_H
#define NORM_TUNE_SPACE_H

#include "rmsnorm/rmsnorm.h"

#include <string>
#include <vector>

namespace norm_tune {

/// One entry of the module.
struct Candidate {
  size_t entry;
  std::string name;
  /// As the compiler prints it; "" for the entry the others are candidates of.
  std::string schedule;
  /// The program's key in tuning files.
  std::string key;
};

/// An entry and the candidates for it.
struct Space {
  Candidate plain;
  std::vector<Candidate> candidates;
};

/// The spaces of a module for a target, or those of one entry if `only` is not
/// empty. Returns "" or an error.
std::string findSpaces(rmsnorm_module *module, const std::string &target,
                       const std::string &only, std::vector<Space> &spaces);

} // namespace norm_tune

#endif // NORM_TUNE_SPACE_H
