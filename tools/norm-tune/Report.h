// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Report.h - the tuning file and the table --------------------------===//

#ifndef NORM_TUNE_REPORT_H
#define NORM_TUNE_REPORT_H

#include "Tuner.h"

namespace norm_tune {

/// The tuning file, see RMSNorm/Schedule/TuningFile.h. `findings` of one entry
/// follow one another by rows, ascending. Sets `note` if entries share a
/// program; only the first of them is taken.
std::string makeTuningFile(const std::vector<Finding> &findings,
                           const std::string &target, const std::string &device,
                           std::string &note);

/// The times of all candidates, as norm-regret reads them.
std::string makeMeasurements(const std::vector<Finding> &findings,
                             const std::string &target,
                             const std::string &device);

/// Prints a line for each finding.
void printTable(const std::vector<Finding> &findings);

} // namespace norm_tune

#endif // NORM_TUNE_REPORT_H
