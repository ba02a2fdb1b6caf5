//===- SizeRules.h - sizes that follow from others ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_SIZERULES_H
#define RMSNORM_RUNTIME_SIZERULES_H

#include "Expression.h"
#include "Module.h"

namespace rmsnorm::runtime {

/// For each argument of an entry, the slot of its dimension 0 where the sizes
/// of all stand one after the other.
std::vector<uint16_t> slotsOf(const rmsn::Entry &entry);

/// The conditions on the sizes of an entry's arguments, beside static sizes and
/// symbols.
class SizeRules {
public:
  SizeRules(const rmsn::Entry &entry, const std::vector<uint16_t> &slots);

  /// That `sizes` fit. No allocation on success.
  rmsnorm_status check(const int64_t *sizes) const;

  /// Fills in the unknown ones, which are negative, of the `symbols` that
  /// follow from others; fails if known ones do not fit.
  rmsnorm_status infer(int64_t *symbols) const;

  /// Bit k: symbol k follows from others.
  uint64_t derivedSymbols() const;

private:
  struct Rule {
    const rmsn::SizeRule *rule;
    uint16_t slot;
    ExpressionPool::Ref value;
  };
  int64_t dim(const rmsn::SizeRule &rule) const;
  bool usesDim(const rmsn::SizeRule &rule, int64_t dim) const;
  rmsnorm_status evaluate(const Rule &rule, const int64_t *sizes,
                          int64_t &value) const;
  rmsnorm_status compare(const Rule &rule, int64_t value, int64_t size) const;

  const rmsn::Entry *entry;
  ExpressionPool pool;
  std::vector<Rule> rules;
};

} // namespace rmsnorm::runtime

#endif // RMSNORM_RUNTIME_SIZERULES_H
