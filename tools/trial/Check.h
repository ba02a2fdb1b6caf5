// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Check.h - whether what is timed computes what it should -----------===//

#ifndef TRIAL_CHECK_H
#define TRIAL_CHECK_H

#include "Run.h"

namespace trial {

/// The rows of the widest argument, as planEntry spreads them, and its columns.
/// `fixedRows`: they depend on no run-time size.
int64_t countRows(const Plan &plan, bool &fixedRows, int64_t &columns);

/// Runs an entry with a few rows and compares it with the oracle. `reference`
/// is made if it is null, and serves all entries of the same definition. ""
/// if all is right. More rows if fewer would take another variant than those of
/// `timed`, unless that is null.
std::string checkFewRows(rmsnorm_module *module, size_t entry,
                         rmsnorm_device *device, const Options &options,
                         std::shared_ptr<Reference> &reference, Result &result,
                         const Plan *timed = nullptr);

/// The variant that a call of packed arguments takes. "" or why it cannot be
/// told.
std::string findVariant(const Plan &plan, rmsnorm_device *device,
                        rmsnorm_variant_info &variant);

} // namespace trial

#endif // TRIAL_CHECK_H
