//===- ModuleRules.cpp - rules for the parts of a module ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ModuleRules.h"
#include "Expression.h"

using namespace rmsnorm::runtime;

rmsnorm_status rmsnorm::runtime::invalidModule(const std::string &where,
                                               const std::string &problem) {
  return failWith(RMSNORM_INVALID_MODULE,
                  "invalid module: " + where + ": " + problem);
}

rmsnorm_status rmsnorm::runtime::checkName(const flatbuffers::String *string,
                                           const std::string &where,
                                           const char *what, unsigned limit) {
  if (!string || string->size() == 0 || string->size() > limit)
    return invalidModule(where,
                         formatted("expected a %s of 1..%u bytes, got %u", what,
                                   limit, string ? string->size() : 0));
  for (char c : *string)
    if (!rmsn::isPrintable(c))
      return invalidModule(where,
                           formatted("expected a printable %s, got byte 0x%02x",
                                     what, uint8_t(c)));
  return RMSNORM_OK;
}

rmsnorm_status rmsnorm::runtime::checkProse(const flatbuffers::String *string,
                                            const std::string &where,
                                            const char *what) {
  if (!string)
    return RMSNORM_OK;
  if (string->size() > rmsn::kMaxProseBytes)
    return invalidModule(where,
                         formatted("expected a %s of at most %u bytes, got %u",
                                   what, rmsn::kMaxProseBytes, string->size()));
  for (char c : *string)
    if (!rmsn::isPrintable(c) && c != '\n' && c != '\t')
      return invalidModule(where,
                           formatted("expected a printable %s, got byte 0x%02x",
                                     what, uint8_t(c)));
  return RMSNORM_OK;
}

rmsnorm_status rmsnorm::runtime::checkOptional(
    const rmsn::Expression *expression, const Arguments &arguments,
    const std::string &where, const char *what, unsigned numLaunches) {
  std::string why;
  if (expression && !checkExpression(*expression, arguments, numLaunches, why))
    return invalidModule(where, std::string(what) + ": " + why);
  return RMSNORM_OK;
}
