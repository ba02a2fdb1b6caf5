//===- Oracle.cpp - the ops' definition, on the CPU -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Host.h"
#include "Oracle/Interval.h"

#include <algorithm>

using namespace rmsnorm::runtime;

namespace {

/// MLIR's descriptor of a memref; sizes and strides follow, `rank` of each.
struct MemRefDescriptor {
  void *allocated;
  void *aligned;
  int64_t offset; // elements
  int64_t sizesAndStrides[2 * rmsn::kMaxRank];
};

using OracleFunction = void (*)(void *const *descriptors,
                                void *const *functions);

class OracleImage : public LoadedImage {
public:
  rmsnorm_status prepareKernel(const KernelRequirement &requirement,
                               Kernel &kernel) override {
    const char *name = requirement.launch->kernel()->c_str();
    kernel.handle = library.symbol(name);
    if (!kernel.handle)
      return fail(RMSNORM_INVALID_MODULE,
                  "expected a function '%s' in the oracle's code", name);
    return RMSNORM_OK;
  }

  HostLibrary library;
};

class OracleDevice : public HostDevice {
public:
  int suitability(const rmsn::Module &,
                  const rmsn::Program &program) const override {
    rmsn::Backend backend;
    return backendOfTarget(program.target()->c_str(), backend) &&
           backend == rmsn::Backend::Oracle;
  }
  void gridLimits(const rmsn::Launch &, uint32_t limits[3]) const override {
    limits[0] = limits[1] = limits[2] = 0x7fffffff;
  }
  rmsnorm_status load(const rmsn::Image &image,
                      std::shared_ptr<LoadedImage> &loaded) override {
    auto opened = std::make_shared<OracleImage>();
    RMSNORM_TRY(opened->library.open(image));
    auto *version = static_cast<const int32_t *>(
        opened->library.symbol(RMSNORM_ORACLE_ABI_SYMBOL));
    if (!version || *version != RMSNORM_ORACLE_ABI_VERSION)
      return fail(RMSNORM_UNSUPPORTED,
                  "expected an oracle of version %d, got version %d: compile "
                  "the module anew",
                  RMSNORM_ORACLE_ABI_VERSION, version ? *version : 0);
    loaded = std::move(opened);
    return RMSNORM_OK;
  }
  rmsnorm_status launch(const KernelLaunch &launch) override;
};

} // namespace

/// What a result has before the program writes it.
static void setUndefined(const ArgumentRule &rule, const Values &values,
                         uint64_t address) {
  const int64_t *sizes = values.sizes + rule.slot;
  const int64_t *strides = values.strides + rule.slot;
  if (std::any_of(sizes, sizes + rule.rank, [](int64_t n) { return n == 0; }))
    return;
  auto *elements = reinterpret_cast<oracle::Interval *>(address);
  int64_t index[rmsn::kMaxRank] = {}, offset = 0;
  for (;;) {
    elements[offset] = oracle::poison;
    unsigned d = rule.rank;
    while (d > 0 && ++index[d - 1] == sizes[d - 1]) {
      --d;
      offset -= (sizes[d] - 1) * strides[d];
      index[d] = 0;
    }
    if (d == 0)
      return;
    offset += strides[d - 1];
  }
}

rmsnorm_status OracleDevice::launch(const KernelLaunch &launch) {
  const ArgumentRules &rules = *launch.rules;
  MemRefDescriptor descriptors[rmsn::kMaxArguments];
  void *pointers[rmsn::kMaxArguments];
  for (size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].role == rmsn::Role::Output)
      setUndefined(rules[i], *launch.values, launch.values->addresses[i]);
    MemRefDescriptor &descriptor = descriptors[i];
    unsigned rank = rules[i].rank, slot = rules[i].slot;
    descriptor.allocated = descriptor.aligned =
        reinterpret_cast<void *>(launch.values->addresses[i]);
    descriptor.offset = 0;
    for (unsigned d = 0; d < rank; ++d) {
      descriptor.sizesAndStrides[d] = launch.values->sizes[slot + d];
      descriptor.sizesAndStrides[rank + d] = launch.values->strides[slot + d];
    }
    pointers[i] = &descriptor;
  }
  int64_t bytes = 0;
  if (!oracle::runEntry(reinterpret_cast<OracleFunction>(launch.kernel->handle),
                        pointers, bytes))
    return fail(RMSNORM_OUT_OF_MEMORY,
                "no host memory for %lld bytes more of the oracle's",
                (long long)bytes);
  return RMSNORM_OK;
}

rmsnorm_status
rmsnorm::runtime::openOracle(const rmsnorm_device_options &options,
                             std::shared_ptr<Device> &device) {
  if (options.ordinal != 0)
    return fail(RMSNORM_NO_DEVICE, "expected oracle device number 0, got %d",
                options.ordinal);
  device = std::make_shared<OracleDevice>();
  device->name = "the oracle";
  device->multiprocessorCount = 1;
  device->place = {{kDLCPU, 0}};
  return RMSNORM_OK;
}
