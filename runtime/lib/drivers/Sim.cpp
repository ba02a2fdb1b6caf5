//===- Sim.cpp - the simulator as a device --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Host.h"
#include "Sim/Simulator.h"

#include <algorithm>

using namespace rmsnorm::runtime;
namespace sim = rmsnorm::sim;

namespace {

class SimImage : public LoadedImage {
public:
  rmsnorm_status open(const rmsn::Image &image);
  rmsnorm_status prepareKernel(const KernelRequirement &requirement,
                               Kernel &kernel) override;
  const void *data(const char *name) const override {
    return library.symbol(name);
  }

private:
  HostLibrary library;
};

class SimDevice : public HostDevice {
public:
  int suitability(const rmsn::Module &,
                  const rmsn::Program &program) const override;
  void gridLimits(const rmsn::Launch &, uint32_t limits[3]) const override {
    limits[0] = 0x7fffffff;
    limits[1] = limits[2] = 1;
  }
  rmsnorm_status load(const rmsn::Image &image,
                      std::shared_ptr<LoadedImage> &loaded) override {
    auto opened = std::make_shared<SimImage>();
    RMSNORM_TRY(opened->open(image));
    loaded = std::move(opened);
    return RMSNORM_OK;
  }
  rmsnorm_status launch(const KernelLaunch &launch) override;
  rmsnorm_status allocate(uint64_t bytes, void *&memory) override;
  rmsnorm_status release(void *memory) override;

  sim::Order order = sim::Order::Forward;
  uint64_t seed = 0;
  int32_t workerThreads = 0;

private:
  void setBounds(sim::Parameter &parameter);

  /// Memory that was allocated here: address and bytes.
  std::mutex blocksMutex;
  std::map<uint64_t, uint64_t> blocks;
};

} // namespace

rmsnorm_status SimImage::open(const rmsn::Image &image) {
  RMSNORM_TRY(library.open(image));
  auto *version =
      static_cast<const int32_t *>(library.symbol(RMSNORM_SIM_ABI_SYMBOL));
  if (!version || *version != RMSNORM_SIM_ABI_VERSION)
    return fail(RMSNORM_UNSUPPORTED,
                "expected simulated kernels of version %d, got version %d: "
                "compile the module anew",
                RMSNORM_SIM_ABI_VERSION, version ? *version : 0);
  return RMSNORM_OK;
}

rmsnorm_status SimImage::prepareKernel(const KernelRequirement &requirement,
                                       Kernel &kernel) {
  const rmsn::Launch &launch = *requirement.launch;
  const char *name = launch.kernel()->c_str();
  kernel.handle = library.symbol(name);
  if (!kernel.handle)
    return fail(RMSNORM_INVALID_MODULE,
                "expected a kernel '%s' in the simulator's code", name);
  if (launch.block_y() != 1 || launch.block_z() != 1)
    return fail(RMSNORM_UNSUPPORTED,
                "kernel '%s': the simulator runs one-dimensional blocks", name);
  if (launch.subgroup_size() != 32 && launch.subgroup_size() != 64)
    return fail(RMSNORM_UNSUPPORTED,
                "kernel '%s': the simulator has subgroups of 32 or 64, got %u",
                name, launch.subgroup_size());
  kernel.sharedMemoryLimit = 1 << 20;
  return RMSNORM_OK;
}

int SimDevice::suitability(const rmsn::Module &,
                           const rmsn::Program &program) const {
  rmsn::Backend backend;
  return backendOfTarget(program.target()->c_str(), backend) &&
         backend == rmsn::Backend::Sim;
}

rmsnorm_status SimDevice::allocate(uint64_t bytes, void *&memory) {
  RMSNORM_TRY(HostDevice::allocate(bytes, memory));
  std::lock_guard<std::mutex> lock(blocksMutex);
  blocks[reinterpret_cast<uintptr_t>(memory)] = bytes;
  return RMSNORM_OK;
}

rmsnorm_status SimDevice::release(void *memory) {
  {
    std::lock_guard<std::mutex> lock(blocksMutex);
    blocks.erase(reinterpret_cast<uintptr_t>(memory));
  }
  return HostDevice::release(memory);
}

/// Those of the block that was allocated here, if it is one; else none.
void SimDevice::setBounds(sim::Parameter &parameter) {
  parameter.begin = 0;
  parameter.end = INT64_MAX;
  std::lock_guard<std::mutex> lock(blocksMutex);
  auto next = blocks.upper_bound(parameter.slot);
  if (next == blocks.begin())
    return;
  auto [begin, bytes] = *std::prev(next);
  if (parameter.slot > begin + bytes)
    return;
  parameter.begin = begin;
  parameter.end = begin + bytes;
}

rmsnorm_status SimDevice::launch(const KernelLaunch &launch) {
  sim::LaunchRequest request;
  const rmsn::Launch &constants = *launch.launch;
  request.kernelName = constants.kernel()->str();
  request.kernel = reinterpret_cast<rmsnorm_sim_kernel>(launch.kernel->handle);
  request.grid = launch.grid[0];
  request.cluster = int32_t(constants.cluster_x());
  request.blockThreads = constants.block_x();
  request.subgroupSize = constants.subgroup_size();
  request.workgroupBytes = launch.sharedMemory;
  request.dependentLaunch = launch.early;
  request.order = order;
  request.seed = seed;
  request.hostThreads = workerThreads;
  request.parameters.resize(launch.slotCount);
  for (unsigned i = 0; i < launch.slotCount; ++i) {
    sim::Parameter &parameter = request.parameters[i];
    const rmsn::Parameter &given = *constants.parameters()->Get(i);
    parameter.slot = launch.slots[i];
    if (given.kind() == rmsn::ParameterKind::Pointer && !launch.rules) {
      parameter.name = formatted("parameter %u", i);
      parameter.constant = launch.kinds && launch.kinds[i] == 'c';
      parameter.writable = !parameter.constant;
      setBounds(parameter);
    } else if (given.kind() == rmsn::ParameterKind::Pointer) {
      const ArgumentRule &rule = (*launch.rules)[given.argument()];
      parameter.name = rule.name;
      parameter.begin = launch.values->addresses[given.argument()];
      parameter.end =
          parameter.begin + launch.values->extents[given.argument()];
      parameter.writable = rule.role != rmsn::Role::Input;
      parameter.constant = rule.constant;
    } else if (given.kind() == rmsn::ParameterKind::Workspace) {
      // From its own begin to that of the kernel's next one: a kernel that
      // strays from one buffer into another is found too.
      parameter.name = "workspace";
      parameter.begin = parameter.slot;
      parameter.end = launch.workspace + launch.workspaceBytes;
      for (unsigned other = 0; other < launch.slotCount; ++other)
        if (constants.parameters()->Get(other)->kind() ==
                rmsn::ParameterKind::Workspace &&
            launch.slots[other] > parameter.begin)
          parameter.end = std::min(parameter.end, launch.slots[other]);
      parameter.writable = true;
    }
  }
  sim::Report report;
  if (sim::runGrid(request, report))
    return RMSNORM_OK;
  return failWith(RMSNORM_KERNEL_FAULT, report.message);
}

rmsnorm_status rmsnorm::runtime::openSim(const rmsnorm_device_options &options,
                                         std::shared_ptr<Device> &device) {
  if (options.ordinal != 0)
    return fail(RMSNORM_NO_DEVICE, "expected simulator device number 0, got %d",
                options.ordinal);
  auto opened = std::make_shared<SimDevice>();
  opened->name = "SIMT simulator";
  // Few, so that small tests make blocks walk over several tiles.
  opened->multiprocessorCount = 4;
  opened->place = {{kDLCPU, 0}};
  opened->order =
      options.thread_order == RMSNORM_ORDER_REVERSE    ? sim::Order::Reverse
      : options.thread_order == RMSNORM_ORDER_SHUFFLED ? sim::Order::Shuffled
                                                       : sim::Order::Forward;
  opened->seed = options.seed;
  opened->workerThreads = options.worker_threads;
  device = std::move(opened);
  return RMSNORM_OK;
}
