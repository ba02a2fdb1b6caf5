//===- SizeRules.cpp - sizes that follow from others ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SizeRules.h"
#include "Status.h"

#include <algorithm>
#include <cinttypes>

using namespace rmsnorm::runtime;
using rmsn::SizeRelation;

std::vector<uint16_t> rmsnorm::runtime::slotsOf(const rmsn::Entry &entry) {
  std::vector<uint16_t> slots;
  uint16_t slot = 0;
  for (const rmsn::Argument *argument : *entry.arguments()) {
    slots.push_back(slot);
    slot += argument->dims() ? argument->dims()->size() : 0;
  }
  return slots;
}

SizeRules::SizeRules(const rmsn::Entry &entry,
                     const std::vector<uint16_t> &slots)
    : entry(&entry) {
  if (!entry.sizes())
    return;
  for (const rmsn::SizeRule *rule : *entry.sizes())
    rules.push_back({rule,
                     uint16_t(slots[rule->argument()] + rule->dimension()),
                     pool.add(rule->expression(), slots, DeviceValues())});
}

rmsnorm_status SizeRules::evaluate(const Rule &rule, const int64_t *sizes,
                                   int64_t &value) const {
  EvaluationError error = pool.evaluate(rule.value, sizes, nullptr, value);
  if (error == EvaluationError::None)
    return RMSNORM_OK;
  return fail(
      RMSNORM_INVALID_ARGUMENT,
      "argument '%s': cannot evaluate the size of dimension %u, %s, for these "
      "sizes: %s",
      entry->arguments()->Get(rule.rule->argument())->name()->c_str(),
      rule.rule->dimension(),
      expressionText(*rule.rule->expression(), *entry->arguments()).c_str(),
      evaluationErrorText(error));
}

rmsnorm_status SizeRules::compare(const Rule &rule, int64_t value,
                                  int64_t size) const {
  const SizeRelation relation = rule.rule->relation();
  if (relation == SizeRelation::Equal    ? size == value
      : relation == SizeRelation::AtMost ? size <= value
                                         : size >= value)
    return RMSNORM_OK;
  return fail(
      RMSNORM_INVALID_ARGUMENT,
      "argument '%s': expected %s %" PRId64
      " in dimension %u, %s, got %" PRId64,
      entry->arguments()->Get(rule.rule->argument())->name()->c_str(),
      relation == SizeRelation::Equal    ? "size"
      : relation == SizeRelation::AtMost ? "a size of at most"
                                         : "a size of at least",
      value, rule.rule->dimension(),
      expressionText(*rule.rule->expression(), *entry->arguments()).c_str(),
      size);
}

rmsnorm_status SizeRules::check(const int64_t *sizes) const {
  for (const Rule &rule : rules) {
    int64_t value;
    RMSNORM_TRY(evaluate(rule, sizes, value));
    RMSNORM_TRY(compare(rule, value, sizes[rule.slot]));
  }
  return RMSNORM_OK;
}

/// As in Argument.dims.
int64_t SizeRules::dim(const rmsn::SizeRule &rule) const {
  return entry->arguments()
      ->Get(rule.argument())
      ->dims()
      ->Get(rule.dimension());
}

/// Whether the value of `rule` has a size `dim`.
bool SizeRules::usesDim(const rmsn::SizeRule &rule, int64_t dim) const {
  const auto &ops = *rule.expression()->ops();
  return std::any_of(ops.begin(), ops.end(), [&](const rmsn::ExpressionOp *op) {
    return op->opcode() == rmsn::ExpressionOpcode::Size &&
           entry->arguments()
                   ->Get(op->argument())
                   ->dims()
                   ->Get(op->dimension()) == dim;
  });
}

uint64_t SizeRules::derivedSymbols() const {
  uint64_t derived = 0;
  for (const Rule &rule : rules)
    if (int64_t size = dim(*rule.rule);
        size < 0 && rule.rule->relation() == SizeRelation::Equal &&
        !usesDim(*rule.rule, size))
      derived |= uint64_t(1) << (-1 - size);
  return derived;
}

rmsnorm_status SizeRules::infer(int64_t *symbols) const {
  auto isKnown = [&](const Rule &rule) {
    for (int k = 0; k < int(rmsn::kMaxSymbols); ++k)
      if (symbols[k] < 0 && usesDim(*rule.rule, -1 - k))
        return false;
    return true;
  };
  bool changed = true;
  while (changed) {
    changed = false;
    std::vector<int64_t> sizes;
    for (const rmsn::Argument *argument : *entry->arguments())
      for (unsigned d = 0; argument->dims() && d < argument->dims()->size();
           ++d) {
        int64_t size = argument->dims()->Get(d);
        sizes.push_back(size >= 0 ? size : symbols[-1 - size]);
      }
    for (const Rule &rule : rules) {
      if (!isKnown(rule))
        continue;
      int64_t value;
      RMSNORM_TRY(evaluate(rule, sizes.data(), value));
      if (sizes[rule.slot] >= 0) {
        RMSNORM_TRY(compare(rule, value, sizes[rule.slot]));
      } else if (rule.rule->relation() == SizeRelation::Equal) {
        // Other rules about it are applied the next time.
        symbols[-1 - dim(*rule.rule)] = value;
        changed = value >= 0;
        if (!changed)
          return compare(rule, value, 0);
        break;
      }
    }
  }
  return RMSNORM_OK;
}
