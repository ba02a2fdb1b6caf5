// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Space.cpp - the schedules in a module to choose among -------------===//

#include "Space.h"

namespace norm_tune {

/// Fills in schedule and key of a candidate for `target`; false if the entry is
/// none.
static bool readCandidate(rmsnorm_module *module, const std::string &target,
                          Candidate &candidate) {
  rmsnorm_program_info program;
  rmsnorm_variant_info variant;
  const char *key;
  for (size_t p = 0;
       !rmsnorm_module_get_program(module, candidate.entry, p, &program); ++p)
    if (program.target == target &&
        !rmsnorm_module_get_variant(module, candidate.entry, p, 0, &variant) &&
        !rmsnorm_module_get_tuning_key(module, candidate.entry, p, 0, &key) &&
        *key) {
      candidate.schedule = variant.schedule;
      candidate.key = key;
      return true;
    }
  return false;
}

std::string findSpaces(rmsnorm_module *module, const std::string &target,
                       const std::string &only, std::vector<Space> &spaces) {
  rmsnorm_module_info info;
  if (rmsnorm_module_get_info(module, &info))
    return rmsnorm_last_error();
  std::vector<Candidate> candidates;
  std::string names;
  for (size_t i = 0; i < info.entry_count; ++i) {
    rmsnorm_entry_info entry;
    if (rmsnorm_module_get_entry(module, i, &entry))
      return rmsnorm_last_error();
    Candidate one{i, entry.name, "", ""};
    if (readCandidate(module, target, one)) {
      if (!entry.has_oracle)
        return "entry '" + one.name +
               "' has no program for the oracle, with which a schedule is "
               "compared before it is timed: compile the module anew, "
               "norm-compile --schedule-space adds it";
      candidates.push_back(std::move(one));
      continue;
    }
    names += (names.empty() ? "" : ", ") + one.name;
    if (only.empty() || only == one.name)
      spaces.push_back({std::move(one), {}});
  }
  if (spaces.empty())
    return "the module has no entry '" + only + "', it has: " + names;
  for (Candidate &one : candidates) {
    std::string base = one.name.substr(0, one.name.rfind('#'));
    for (Space &space : spaces)
      if (space.plain.name == base)
        space.candidates.push_back(std::move(one));
  }
  for (const Space &space : spaces)
    if (space.candidates.empty())
      return "expected schedules to choose among for entry '" +
             space.plain.name + "' and target " + target +
             ", got none: norm-compile --schedule-space makes them";
  return "";
}

} // namespace norm_tune
