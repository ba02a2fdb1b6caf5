//===- Prepare.cpp - binding an entry to a device -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Function.h"

#include <cstring>

using namespace rmsnorm::runtime;

/// Picks the program that suits the device best.
static rmsnorm_status selectProgram(const rmsn::Module &module,
                                    const rmsn::Entry &entry,
                                    const Device &device, size_t &index) {
  int best = 0;
  std::string targets;
  for (size_t i = 0; i < entry.programs()->size(); ++i) {
    const rmsn::Program &program = *entry.programs()->Get(i);
    const char *target = program.target()->c_str();
    targets += (i ? ", " : "") + std::string(target);
    if (!device.target.empty() && device.target != target)
      continue;
    int score = device.suitability(module, program);
    if (score > best) {
      best = score;
      index = i;
    }
  }
  if (best > 0)
    return RMSNORM_OK;
  std::string wanted = device.name;
  if (!device.chip.empty())
    wanted += " (" + device.chip + ")";
  if (!device.target.empty())
    wanted += ", target " + device.target;
  return fail(RMSNORM_NOT_FOUND,
              "entry '%s' has no program for %s; it has programs for: %s",
              entry.name()->c_str(), wanted.c_str(),
              targets.empty() ? "none" : targets.c_str());
}

/// Loads the launch's kernel, and sets its limits now, not at the launch.
static rmsnorm_status prepareKernel(Function &function,
                                    const rmsn::Launch &launch,
                                    const DeviceValues &device,
                                    PreparedLaunch &prepared) {
  ExpressionPool &pool = function.expressions;
  prepared.launch = &launch;
  prepared.sharedMemory =
      pool.add(launch.shared_memory(), function.rules.slots(), device);
  KernelRequirement requirement{&launch, 0};
  if (prepared.sharedMemory) {
    int64_t &bytes = requirement.sharedMemory;
    if (!pool.isConstant(prepared.sharedMemory))
      bytes = -1;
    else if (pool.evaluate(prepared.sharedMemory, nullptr, nullptr, bytes);
             bytes < 0)
      return fail(RMSNORM_INVALID_MODULE,
                  "kernel '%s': expected shared memory >= 0 bytes, got %lld",
                  launch.kernel()->c_str(), (long long)bytes);
  }
  std::shared_ptr<LoadedImage> image;
  RMSNORM_TRY(
      function.device->loadOnce(*function.module, launch.image(), image));
  {
    std::lock_guard<std::mutex> lock(function.device->mutex);
    RMSNORM_TRY(image->prepareKernel(requirement, prepared.kernel));
  }
  function.binary = binaryFormatName(image->format);
  if (!image->warning.empty() &&
      function.warning.find(image->warning) == std::string::npos)
    function.warning += (function.warning.empty() ? "" : "\n") + image->warning;
  function.images.push_back(std::move(image));
  return RMSNORM_OK;
}

/// The launch's grid and parameters.
static void prepareLaunch(Function &function, const rmsn::Launch &launch,
                          const DeviceValues &device,
                          PreparedLaunch &prepared) {
  ExpressionPool &pool = function.expressions;
  const std::vector<uint16_t> &slots = function.rules.slots();
  const rmsn::Expression *grid[3] = {launch.grid_x(), launch.grid_y(),
                                     launch.grid_z()};
  for (int d = 0; d < 3; ++d)
    prepared.grid[d] = pool.add(grid[d], slots, device);
  function.device->gridLimits(launch, prepared.gridLimits);
  prepared.cluster = launch.cluster_x();
  if (launch.parameters())
    for (const rmsn::Parameter *parameter : *launch.parameters())
      prepared.parameters.push_back(
          {parameter->kind(), parameter->argument(), parameter->f32_constant(),
           pool.add(parameter->expression(), slots, device)});
}

static rmsnorm_status prepareVariant(Function &function,
                                     const rmsn::Variant &variant,
                                     PreparedVariant &prepared) {
  ExpressionPool &pool = function.expressions;
  const std::vector<uint16_t> &slots = function.rules.slots();
  DeviceValues device;
  device.multiprocessors = function.device->multiprocessorCount;
  prepared.name = variant.name()->c_str();
  // Grids, and through them workspaces, may depend on the kernels' needs.
  const unsigned numLaunches = variant.launches()->size();
  prepared.launches.resize(numLaunches);
  for (unsigned i = 0; i < numLaunches; ++i) {
    RMSNORM_TRY(prepareKernel(function, *variant.launches()->Get(i), device,
                              prepared.launches[i]));
    device.residentClusters.push_back(
        prepared.launches[i].kernel.residentClusters);
  }
  for (unsigned i = 0; i < numLaunches; ++i)
    prepareLaunch(function, *variant.launches()->Get(i), device,
                  prepared.launches[i]);
  if (variant.guards())
    for (const rmsn::Guard *guard : *variant.guards())
      prepared.guards.push_back({guard->kind(), guard->argument(),
                                 pool.add(guard->expression(), slots, device),
                                 guard->multiple(), guard->lower(),
                                 guard->upper()});
  prepared.workspace = pool.add(variant.workspace(), slots, device);
  return RMSNORM_OK;
}

rmsnorm_status rmsnorm_prepare(rmsnorm_module *module, const char *entryName,
                               rmsnorm_device *device,
                               rmsnorm_function **result) {
  if (!module || !entryName || !device || !result)
    return fail(RMSNORM_INVALID_ARGUMENT, "%s is null",
                !module      ? "module"
                : !entryName ? "entry"
                : !device    ? "device"
                             : "function");
  size_t entryIndex = 0;
  RMSNORM_TRY(rmsnorm_module_find_entry(module, entryName, &entryIndex));
  const rmsn::Module &root = module->module->root();
  const rmsn::Entry &entry = *root.entries()->Get(entryIndex);
  auto prepared = std::make_unique<rmsnorm_function>(rmsnorm_function{
      Function(entry, device->device->backend == RMSNORM_ORACLE)});
  Function &function = prepared->function;
  function.module = module->module;
  function.device = device->device;
  function.entryIndex = entryIndex;
  RMSNORM_TRY(
      selectProgram(root, entry, *function.device, function.programIndex));
  const rmsn::Program &program = *entry.programs()->Get(function.programIndex);
  function.target = program.target()->c_str();
  function.variants.resize(program.variants()->size());
  for (size_t i = 0; i < function.variants.size(); ++i) {
    const rmsn::Variant &variant = *program.variants()->Get(i);
    if (rmsnorm_status status =
            prepareVariant(function, variant, function.variants[i]))
      return fail(status, "entry '%s', target %s, variant '%s': %s", entryName,
                  function.target, variant.name()->c_str(),
                  rmsnorm_last_error());
  }
  *result = prepared.release();
  return RMSNORM_OK;
}

void rmsnorm_function_release(rmsnorm_function *function) { delete function; }

rmsnorm_status rmsnorm_function_get_info(const rmsnorm_function *function,
                                         rmsnorm_function_info *info) {
  if (!function || !info)
    return fail(RMSNORM_INVALID_ARGUMENT, "%s is null",
                function ? "info" : "function");
  const Function &f = function->function;
  *info = {f.entryIndex, f.programIndex, f.target, f.binary, f.warning.c_str()};
  return RMSNORM_OK;
}
