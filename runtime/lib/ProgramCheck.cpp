//===- ProgramCheck.cpp - the format's rules for programs -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ModuleRules.h"

#include <cstring>

using namespace rmsnorm::runtime;

static rmsnorm_status checkGuard(const rmsn::Guard &guard,
                                 const Arguments &arguments,
                                 const std::string &where) {
  if (guard.kind() > rmsn::GuardKind::InRange)
    return invalidModule(where,
                         formatted("unknown kind %u", unsigned(guard.kind())));
  if (guard.multiple() <= 0)
    return invalidModule(where, formatted("expected a multiple > 0, got %lld",
                                          (long long)guard.multiple()));
  // Also where the kind has no use for it: no expression goes unchecked.
  RMSNORM_TRY(
      checkOptional(guard.expression(), arguments, where, "expression"));
  if (guard.kind() == rmsn::GuardKind::PointerAligned) {
    if (guard.argument() >= arguments.size())
      return invalidModule(where,
                           formatted("expected an argument below %u, got %u",
                                     arguments.size(), guard.argument()));
    return RMSNORM_OK;
  }
  if (!guard.expression())
    return invalidModule(where, "expected an expression");
  return RMSNORM_OK;
}

static rmsnorm_status checkParameter(const rmsn::Parameter &parameter,
                                     const Arguments &arguments,
                                     unsigned numLaunches,
                                     const std::string &where) {
  // Also where the kind has no use for it: no expression goes unchecked.
  RMSNORM_TRY(checkOptional(parameter.expression(), arguments, where,
                            "expression", numLaunches));
  switch (parameter.kind()) {
  case rmsn::ParameterKind::Pointer:
    if (parameter.argument() >= arguments.size())
      return invalidModule(where,
                           formatted("expected an argument below %u, got %u",
                                     arguments.size(), parameter.argument()));
    return RMSNORM_OK;
  case rmsn::ParameterKind::I64:
  case rmsn::ParameterKind::I32:
    if (!parameter.expression())
      return invalidModule(where, "expected an expression");
    return RMSNORM_OK;
  case rmsn::ParameterKind::F32:
  case rmsn::ParameterKind::Workspace:
    return RMSNORM_OK;
  }
  return invalidModule(
      where, formatted("unknown kind %u", unsigned(parameter.kind())));
}

static rmsnorm_status
checkLaunch(const rmsn::Launch &launch, const rmsn::Module &module,
            const rmsn::Program &program, rmsn::Backend backend,
            const Arguments &arguments, unsigned numLaunches,
            const std::string &where) {
  if (launch.image() >= module.images()->size())
    return invalidModule(where,
                         formatted("expected an image below %u, got %u",
                                   module.images()->size(), launch.image()));
  const rmsn::Image &image = *module.images()->Get(launch.image());
  if (std::strcmp(image.target()->c_str(), program.target()->c_str()) != 0)
    return invalidModule(where, formatted("expected an image for the program's "
                                          "target, got one for '%s'",
                                          image.target()->c_str()));
  RMSNORM_TRY(
      checkName(launch.kernel(), where, "kernel name", rmsn::kMaxSymbolBytes));
  RMSNORM_TRY(
      checkOptional(launch.grid_x(), arguments, where, "grid x", numLaunches));
  RMSNORM_TRY(
      checkOptional(launch.grid_y(), arguments, where, "grid y", numLaunches));
  RMSNORM_TRY(
      checkOptional(launch.grid_z(), arguments, where, "grid z", numLaunches));
  RMSNORM_TRY(
      checkOptional(launch.shared_memory(), arguments, where, "shared memory"));
  uint32_t x = launch.block_x(), y = launch.block_y(), z = launch.block_z();
  if (x == 0 || y == 0 || z == 0 || x > 1024 || y > 1024 || z > 1024 ||
      uint64_t(x) * y * z > 1024)
    return invalidModule(where,
                         formatted("expected 1..1024 threads a block, got "
                                   "%u x %u x %u",
                                   x, y, z));
  if (launch.cluster_x() == 0 || launch.cluster_x() > 16)
    return invalidModule(where,
                         formatted("expected 1..16 blocks a cluster, got %u",
                                   launch.cluster_x()));
  uint32_t subgroup = launch.subgroup_size();
  if (subgroup == 0 || subgroup > 64 || (subgroup & (subgroup - 1)))
    return invalidModule(where,
                         formatted("expected a subgroup size that is a power "
                                   "of two <= 64, got %u",
                                   subgroup));
  if (launch.blocks_per_multiprocessor() > rmsn::kMaxBlocksPerMultiprocessor)
    return invalidModule(where,
                         formatted("expected 0..%u blocks a multiprocessor, "
                                   "got %u",
                                   rmsn::kMaxBlocksPerMultiprocessor,
                                   launch.blocks_per_multiprocessor()));
  unsigned count = launch.parameters() ? launch.parameters()->size() : 0;
  if (count > rmsn::kMaxParameters)
    return invalidModule(where,
                         formatted("expected at most %u parameters, got %u",
                                   rmsn::kMaxParameters, count));
  if (backend == rmsn::Backend::Oracle && count != 0)
    return invalidModule(where, formatted("expected no parameters of an oracle "
                                          "function, got %u",
                                          count));
  for (unsigned i = 0; i < count; ++i)
    RMSNORM_TRY(checkParameter(*launch.parameters()->Get(i), arguments,
                               numLaunches,
                               where + formatted(", parameter %u", i)));
  return RMSNORM_OK;
}

rmsnorm_status rmsnorm::runtime::checkProgram(const rmsn::Program &program,
                                              const rmsn::Module &module,
                                              const Arguments &arguments,
                                              const std::string &where) {
  rmsn::Backend backend;
  if (!backendOfTarget(program.target()->c_str(), backend))
    return invalidModule(where,
                         "unknown target, expected sm_*, gfx*, sim, sim:* "
                         "or oracle");
  const auto &variants = *program.variants();
  if (variants.size() == 0 || variants.size() > rmsn::kMaxVariants)
    return invalidModule(where, formatted("expected 1..%u variants, got %u",
                                          rmsn::kMaxVariants, variants.size()));
  for (const rmsn::Variant *variant : variants) {
    RMSNORM_TRY(checkName(variant->name(), where, "variant name"));
    std::string here =
        where + formatted(", variant '%s'", variant->name()->c_str());
    RMSNORM_TRY(checkProse(variant->schedule(), here, "schedule"));
    RMSNORM_TRY(checkProse(variant->tuning_key(), here, "tuning key"));
    if (const auto *guards = variant->guards()) {
      if (guards->size() > rmsn::kMaxGuards)
        return invalidModule(here,
                             formatted("expected at most %u guards, got %u",
                                       rmsn::kMaxGuards, guards->size()));
      for (unsigned i = 0; i < guards->size(); ++i)
        RMSNORM_TRY(checkGuard(*guards->Get(i), arguments,
                               here + formatted(", guard %u", i)));
    }
    const unsigned numLaunches = variant->launches()->size();
    if (numLaunches > rmsn::kMaxLaunches)
      return invalidModule(here,
                           formatted("expected at most %u launches, got %u",
                                     rmsn::kMaxLaunches, numLaunches));
    RMSNORM_TRY(checkOptional(variant->workspace(), arguments, here,
                              "workspace", numLaunches));
    for (unsigned i = 0; i < numLaunches; ++i)
      RMSNORM_TRY(checkLaunch(*variant->launches()->Get(i), module, program,
                              backend, arguments, numLaunches,
                              here + formatted(", launch %u", i)));
  }
  const auto *lastGuards = variants.Get(variants.size() - 1)->guards();
  if (lastGuards && lastGuards->size() != 0)
    return invalidModule(where, "expected a last variant without guards");
  return RMSNORM_OK;
}
