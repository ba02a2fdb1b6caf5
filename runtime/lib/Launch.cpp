//===- Launch.cpp - from tensors to kernels on a stream -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hot path: everything that can be resolved was resolved by Prepare.cpp,
// and nothing here allocates unless it fails.

#include "Function.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

using namespace rmsnorm::runtime;

static rmsnorm_status cannotEvaluate(const char *what, const char *where,
                                     EvaluationError error) {
  return fail(RMSNORM_INVALID_ARGUMENT,
              "cannot evaluate the %s of '%s' for these sizes: %s", what, where,
              evaluationErrorText(error));
}

/// Whether the variant's guards hold; those on addresses hold by assumption
/// when `assumeAligned`. A guard that cannot be evaluated does not hold.
static bool guardsHold(const Function &function, const PreparedVariant &variant,
                       const Values &values, bool assumeAligned) {
  for (const PreparedGuard &guard : variant.guards) {
    if (guard.kind == rmsn::GuardKind::PointerAligned) {
      // An empty tensor's address does not matter.
      if (!assumeAligned && values.extents[guard.argument] != 0 &&
          values.addresses[guard.argument] % uint64_t(guard.multiple) != 0)
        return false;
      continue;
    }
    int64_t value;
    if (function.expressions.evaluate(guard.expression, values.sizes,
                                      values.strides,
                                      value) != EvaluationError::None)
      return false;
    if (guard.kind == rmsn::GuardKind::MultipleOf
            ? value % guard.multiple != 0
            : value < guard.lower || value > guard.upper)
      return false;
  }
  return true;
}

/// The last variant has no guards, so one is always found.
static size_t selectVariant(const Function &function, const Values &values) {
  size_t index = 0;
  while (!guardsHold(function, function.variants[index], values,
                     /*assumeAligned=*/false))
    ++index;
  return index;
}

static rmsnorm_status workspaceBytes(const Function &function,
                                     const PreparedVariant &variant,
                                     const Values &values, int64_t &bytes) {
  bytes = 0;
  if (!variant.workspace)
    return RMSNORM_OK;
  EvaluationError error = function.expressions.evaluate(
      variant.workspace, values.sizes, values.strides, bytes);
  if (error != EvaluationError::None)
    return cannotEvaluate("workspace", variant.name, error);
  if (bytes < 0)
    return fail(
        RMSNORM_INVALID_MODULE,
        "variant '%s': expected a workspace of >= 0 bytes, got %" PRId64,
        variant.name, bytes);
  return RMSNORM_OK;
}

static rmsnorm_status evaluateGrid(const Function &function,
                                   const PreparedLaunch &launch,
                                   const Values &values, uint32_t grid[3]) {
  for (int d = 0; d < 3; ++d) {
    grid[d] = 1;
    if (!launch.grid[d])
      continue;
    int64_t blocks;
    EvaluationError error = function.expressions.evaluate(
        launch.grid[d], values.sizes, values.strides, blocks);
    if (error != EvaluationError::None)
      return cannotEvaluate("grid", launch.launch->kernel()->c_str(), error);
    if (blocks < 0 || blocks > launch.gridLimits[d])
      return fail(RMSNORM_INVALID_ARGUMENT,
                  "kernel '%s': expected a grid of 0..%u blocks in dimension "
                  "%c, got %" PRId64,
                  launch.launch->kernel()->c_str(), launch.gridLimits[d],
                  'x' + d, blocks);
    grid[d] = blocks;
  }
  if (launch.cluster > 1 && grid[0] % launch.cluster != 0)
    return fail(RMSNORM_INVALID_MODULE,
                "kernel '%s': expected a grid that is a multiple of the "
                "cluster of %u blocks, got %u",
                launch.launch->kernel()->c_str(), launch.cluster, grid[0]);
  return RMSNORM_OK;
}

static rmsnorm_status marshal(const Function &function,
                              const PreparedLaunch &launch,
                              const Values &values, uint64_t workspace,
                              uint64_t *slots) {
  for (const PreparedParameter &parameter : launch.parameters) {
    uint64_t &slot = *slots++;
    int64_t value = 0;
    if (parameter.expression) {
      EvaluationError error = function.expressions.evaluate(
          parameter.expression, values.sizes, values.strides, value);
      if (error != EvaluationError::None)
        return cannotEvaluate("parameters", launch.launch->kernel()->c_str(),
                              error);
    }
    switch (parameter.kind) {
    case rmsn::ParameterKind::Pointer:
      slot = values.addresses[parameter.argument] + uint64_t(value);
      break;
    case rmsn::ParameterKind::I64:
      slot = uint64_t(value);
      break;
    case rmsn::ParameterKind::I32: {
      // Sizes beyond it would be cut in the kernel, silently.
      if (value != int32_t(value))
        return fail(RMSNORM_INVALID_ARGUMENT,
                    "kernel '%s': expected a parameter that fits 32 bits, got "
                    "%" PRId64,
                    launch.launch->kernel()->c_str(), value);
      int32_t narrow = int32_t(value);
      slot = 0;
      std::memcpy(&slot, &narrow, sizeof(narrow));
      break;
    }
    case rmsn::ParameterKind::F32:
      slot = 0;
      std::memcpy(&slot, &parameter.f32, sizeof(parameter.f32));
      break;
    case rmsn::ParameterKind::Workspace:
      slot = workspace + uint64_t(value);
      break;
    }
  }
  return RMSNORM_OK;
}

static rmsnorm_status launchVariant(const Function &function,
                                    const PreparedVariant &variant,
                                    const Values &values,
                                    DLTensor *const *arguments,
                                    uint64_t workspace, uint64_t workspaceBytes,
                                    void *stream, uint32_t flags) {
  for (const PreparedLaunch &prepared : variant.launches) {
    KernelLaunch launch;
    RMSNORM_TRY(evaluateGrid(function, prepared, values, launch.grid));
    if (launch.grid[0] == 0 || launch.grid[1] == 0 || launch.grid[2] == 0)
      continue; // nothing to do, and drivers refuse it
    int64_t sharedMemory = 0;
    if (prepared.sharedMemory) {
      EvaluationError error = function.expressions.evaluate(
          prepared.sharedMemory, values.sizes, values.strides, sharedMemory);
      if (error != EvaluationError::None)
        return cannotEvaluate("shared memory",
                              prepared.launch->kernel()->c_str(), error);
      if (sharedMemory < 0 || sharedMemory > prepared.kernel.sharedMemoryLimit)
        return fail(RMSNORM_UNSUPPORTED,
                    "kernel '%s': expected 0..%" PRId64
                    " bytes of shared memory, which this device has for it, "
                    "got %" PRId64,
                    prepared.launch->kernel()->c_str(),
                    prepared.kernel.sharedMemoryLimit, sharedMemory);
    }
    uint64_t slots[rmsn::kMaxParameters];
    RMSNORM_TRY(marshal(function, prepared, values, workspace, slots));
    launch.kernel = &prepared.kernel;
    launch.launch = prepared.launch;
    launch.sharedMemory = uint32_t(sharedMemory);
    launch.early = startsEarly(*prepared.launch, flags);
    launch.slots = slots;
    launch.slotCount = prepared.parameters.size();
    launch.stream = stream;
    launch.rules = &function.rules;
    launch.values = &values;
    launch.arguments = arguments;
    launch.workspace = workspace;
    launch.workspaceBytes = workspaceBytes;
    RMSNORM_TRY(function.device->launch(launch));
  }
  return RMSNORM_OK;
}

rmsnorm_status rmsnorm_launch(const rmsnorm_function *handle,
                              DLTensor *const *arguments, size_t argumentCount,
                              void *workspace, uint64_t workspaceGiven,
                              void *stream) {
  return rmsnorm_launch_with_flags(handle, arguments, argumentCount, workspace,
                                   workspaceGiven, stream, /*flags=*/0);
}

rmsnorm_status rmsnorm_launch_with_flags(const rmsnorm_function *handle,
                                         DLTensor *const *arguments,
                                         size_t argumentCount, void *workspace,
                                         uint64_t workspaceGiven, void *stream,
                                         uint32_t flags) {
  if (!handle)
    return fail(RMSNORM_INVALID_ARGUMENT, "function is null");
  RMSNORM_TRY(checkLaunchFlags(flags));
  const Function &function = handle->function;
  Values values;
  RMSNORM_TRY(function.rules.check(arguments, argumentCount,
                                   function.device->place,
                                   ArgumentRules::Mode::Launch, values));
  const PreparedVariant &variant =
      function.variants[selectVariant(function, values)];
  int64_t needed;
  RMSNORM_TRY(workspaceBytes(function, variant, values, needed));
  if (needed > 0) {
    if (!workspace || workspaceGiven < uint64_t(needed))
      return fail(RMSNORM_INVALID_ARGUMENT,
                  "expected a workspace of %" PRId64 " bytes, got %" PRIu64
                  " at %p",
                  needed, workspaceGiven, workspace);
    if (reinterpret_cast<uintptr_t>(workspace) % rmsn::kWorkspaceAlignment != 0)
      return fail(RMSNORM_INVALID_ARGUMENT,
                  "expected a workspace aligned to %u bytes, got %p",
                  rmsn::kWorkspaceAlignment, workspace);
    RMSNORM_TRY(function.rules.checkWorkspace(
        reinterpret_cast<uintptr_t>(workspace), uint64_t(needed), values));
  }
  return launchVariant(function, variant, values, arguments,
                       reinterpret_cast<uintptr_t>(workspace), needed, stream,
                       flags);
}

rmsnorm_status rmsnorm_select_variant(const rmsnorm_function *handle,
                                      DLTensor *const *arguments,
                                      size_t argumentCount, size_t *variant) {
  if (!handle || !variant)
    return fail(RMSNORM_INVALID_ARGUMENT, "%s is null",
                handle ? "variant" : "function");
  const Function &function = handle->function;
  Values values;
  RMSNORM_TRY(function.rules.check(arguments, argumentCount,
                                   function.device->place,
                                   ArgumentRules::Mode::Launch, values));
  *variant = selectVariant(function, values);
  return RMSNORM_OK;
}

rmsnorm_status rmsnorm_workspace_size(const rmsnorm_function *handle,
                                      DLTensor *const *arguments,
                                      size_t argumentCount, uint64_t *bytes) {
  if (!handle || !bytes)
    return fail(RMSNORM_INVALID_ARGUMENT, "%s is null",
                handle ? "bytes" : "function");
  const Function &function = handle->function;
  Values values;
  RMSNORM_TRY(function.rules.check(arguments, argumentCount,
                                   function.device->place,
                                   ArgumentRules::Mode::Shapes, values));
  int64_t most = 0;
  for (const PreparedVariant &variant : function.variants) {
    if (!guardsHold(function, variant, values, /*assumeAligned=*/true))
      continue;
    int64_t needed;
    RMSNORM_TRY(workspaceBytes(function, variant, values, needed));
    most = std::max(most, needed);
    // Whatever the addresses are, no later variant can be reached.
    if (std::none_of(variant.guards.begin(), variant.guards.end(),
                     [](const PreparedGuard &guard) {
                       return guard.kind == rmsn::GuardKind::PointerAligned;
                     }))
      break;
  }
  *bytes = uint64_t(most);
  return RMSNORM_OK;
}
