//===- Function.h - an entry prepared for a device ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_FUNCTION_H
#define RMSNORM_RUNTIME_FUNCTION_H

#include "ArgumentCheck.h"
#include "Expression.h"
#include "drivers/Device.h"

namespace rmsnorm::runtime {

using ExpressionRef = ExpressionPool::Ref;

struct PreparedParameter {
  rmsn::ParameterKind kind;
  uint16_t argument;
  float f32;
  ExpressionRef expression;
};

struct PreparedLaunch {
  Kernel kernel;
  const rmsn::Launch *launch;
  ExpressionRef grid[3]; // absent: 1
  uint32_t gridLimits[3];
  uint32_t cluster;
  ExpressionRef sharedMemory;
  std::vector<PreparedParameter> parameters;
};

struct PreparedGuard {
  rmsn::GuardKind kind;
  uint16_t argument;
  ExpressionRef expression;
  int64_t multiple, lower, upper;
};

struct PreparedVariant {
  const char *name;
  std::vector<PreparedGuard> guards;
  ExpressionRef workspace;
  std::vector<PreparedLaunch> launches;
};

/// Immutable once prepared, so that threads may launch it at the same time.
struct Function {
  Function(const rmsn::Entry &entry, bool ofIntervals)
      : rules(entry, ofIntervals) {}

  std::shared_ptr<Module> module;
  std::shared_ptr<Device> device;
  std::vector<std::shared_ptr<LoadedImage>> images; // kept alive
  ArgumentRules rules;
  ExpressionPool expressions;
  std::vector<PreparedVariant> variants;

  size_t entryIndex = 0;
  size_t programIndex = 0;
  const char *target = "";
  const char *binary = "";
  std::string warning;
};

} // namespace rmsnorm::runtime

struct rmsnorm_function {
  rmsnorm::runtime::Function function;
};

#endif // RMSNORM_RUNTIME_FUNCTION_H
