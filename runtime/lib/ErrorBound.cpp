//===- ErrorBound.cpp - how far an output may be from the oracle's --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ArgumentCheck.h"
#include "Expression.h"

#include <cmath>
#include <utility>

using namespace rmsnorm::runtime;

rmsnorm_status rmsnorm_module_get_error_bound(const rmsnorm_module *module,
                                              size_t entryIndex,
                                              size_t argumentIndex,
                                              DLTensor *const *arguments,
                                              size_t argumentCount,
                                              rmsnorm_error_bound *bound) {
  if (!module || !bound)
    return fail(RMSNORM_INVALID_ARGUMENT, "%s is null",
                module ? "bound" : "module");
  const auto &entries = *module->module->root().entries();
  if (entryIndex >= entries.size())
    return fail(RMSNORM_INVALID_ARGUMENT, "expected an entry below %u, got %zu",
                entries.size(), entryIndex);
  const rmsn::Entry &entry = *entries.Get(entryIndex);
  if (argumentIndex >= entry.arguments()->size())
    return fail(RMSNORM_INVALID_ARGUMENT,
                "expected an argument below %u, got %zu",
                entry.arguments()->size(), argumentIndex);
  const rmsn::Argument &argument = *entry.arguments()->Get(argumentIndex);
  const rmsn::ErrorBound *given = argument.error_bound();
  if (!given)
    return fail(RMSNORM_NOT_FOUND,
                "argument '%s' of entry '%s' has no error bound",
                argument.name()->c_str(), entry.name()->c_str());

  ArgumentRules rules(entry);
  Values values;
  RMSNORM_TRY(rules.check(arguments, argumentCount, {{kDLCPU, 0}},
                          ArgumentRules::Mode::Shapes, values));
  double terms = 1, rows = 1;
  for (auto [expression, value] :
       {std::pair(given->terms(), &terms), std::pair(given->rows(), &rows)}) {
    if (!expression)
      continue;
    ExpressionPool pool;
    ExpressionPool::Ref ref =
        pool.add(expression, rules.slots(), DeviceValues());
    int64_t size = 1;
    EvaluationError error =
        pool.evaluate(ref, values.sizes, values.strides, size);
    if (error != EvaluationError::None)
      return fail(RMSNORM_INVALID_ARGUMENT,
                  "cannot evaluate the error bound of '%s' for these sizes: %s",
                  argument.name()->c_str(), evaluationErrorText(error));
    *value = size > 0 ? double(size) : 0;
  }
  double rootTerms = std::sqrt(terms), rootRows = std::sqrt(rows);
  double chance =
      std::fmin(1, given->flip_chance() +
                       given->flip_chance_per_sqrt_terms() * rootTerms);
  // See module.fbs. No rows, no terms: nothing is moved.
  double flipped = std::fmin(1, 128 * (6 + 6 * std::sqrt(chance * rows)) /
                                    std::fmax(1, rows));
  *bound = {given->ulps(),
            given->relative() + given->relative_per_sqrt_terms() * rootTerms,
            given->magnitude() + given->magnitude_per_sqrt_terms() * rootTerms +
                given->magnitude_per_sqrt_rows() * rootRows +
                given->flip() * flipped,
            text(given->derivation())};
  return RMSNORM_OK;
}
