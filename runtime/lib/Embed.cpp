//===- Embed.cpp - what code compiled by other compilers calls ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Embed.h"
#include "Sim/SimABI.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <elf.h>
#include <vector>

using namespace rmsnorm::runtime;
using flatbuffers::DetachedBuffer;
using flatbuffers::FlatBufferBuilder;

namespace {

/// A kernel as it is launched.
struct PreparedKernel {
  DetachedBuffer launch;
  Kernel kernel;
  /// As in rmsnorm_gpu_kernel, "" if unknown.
  std::string parameters;
};

/// An object and its loaded state.
struct LoadedObject {
  DetachedBuffer image;
  std::shared_ptr<LoadedImage> code;
  std::vector<std::unique_ptr<PreparedKernel>> kernels;
};

/// The process's device and objects. Never destroyed, as they may be in use
/// while the process ends.
struct Process {
  std::mutex mutex;
  std::atomic<rmsnorm_device *> device{nullptr};
  int32_t ordinal = 0;
  const bool isTraced = std::getenv("RMSNORM_GPU_TRACE");
  std::vector<rmsnorm_gpu_object *> objects;
};

Process &process() {
  static auto *instance = new Process;
  return *instance;
}

} // namespace

thread_local void *rmsnorm::runtime::currentStream = nullptr;
static thread_local uint32_t currentFlags = 0;

void rmsnorm::runtime::die(const std::string &message) {
  std::fprintf(stderr, "rmsnorm: %s\n", message.c_str());
  std::abort();
}

void rmsnorm::runtime::check(rmsnorm_status status, const char *what) {
  if (status)
    die(formatted("%s: %s", what, rmsnorm_last_error()));
}

//===- Objects ------------------------------------------------------------===//

/// By the first bytes.
static rmsn::BinaryFormat formatOf(const rmsnorm_gpu_object &object) {
  if (object.version != RMSNORM_GPU_VERSION)
    die(formatted("expected tables of kernels of version %d, got %llu: compile "
                  "the program anew",
                  RMSNORM_GPU_VERSION, (unsigned long long)object.version));
  constexpr uint16_t cuda = 190, amdgpu = 224;
  auto *bytes = static_cast<const char *>(object.bytes);
  if (object.size >= sizeof(Elf64_Ehdr) &&
      std::memcmp(bytes, ELFMAG, SELFMAG) == 0) {
    Elf64_Ehdr header;
    std::memcpy(&header, bytes, sizeof(header));
    return header.e_machine == cuda     ? rmsn::BinaryFormat::Cubin
           : header.e_machine == amdgpu ? rmsn::BinaryFormat::Hsaco
                                        : rmsn::BinaryFormat::Elf;
  }
  static constexpr char version[] = ".version";
  const char *end = bytes + std::min<uint64_t>(object.size, 4096);
  if (std::search(bytes, end, version, version + sizeof(version) - 1) == end)
    die("expected an object that is a cubin, PTX, an AMD code object or "
        "simulated kernels");
  return rmsn::BinaryFormat::Ptx;
}

static rmsn::Backend backendOf(rmsn::BinaryFormat format) {
  switch (format) {
  case rmsn::BinaryFormat::Ptx:
  case rmsn::BinaryFormat::Cubin:
    return rmsn::Backend::Cuda;
  case rmsn::BinaryFormat::Hsaco:
    return rmsn::Backend::Hip;
  case rmsn::BinaryFormat::Elf:
    break;
  }
  return rmsn::Backend::Sim;
}

/// Opens the device. `process().mutex` is held.
static Device &openDevice(rmsnorm_backend backend) {
  Process &p = process();
  if (rmsnorm_device *device = p.device)
    return *device->device;
  rmsnorm_device_options options;
  rmsnorm_device_options_init(&options);
  options.ordinal = p.ordinal;
  rmsnorm_device *device = nullptr;
  check(rmsnorm_device_open(backend, &options, &device), "opening a device");
  p.device = device;
  return *device->device;
}

/// The device that runs the object. `process().mutex` is held.
static Device &openDevice(const rmsnorm_gpu_object &object) {
  const rmsn::Backend backend = backendOf(formatOf(object));
  Device &device = openDevice(rmsnorm_backend(backend));
  if (int(device.backend) != int(backend))
    die(formatted("expected an object for the device of this process, %s, got "
                  "one for %s",
                  backendName(rmsn::Backend(device.backend)),
                  backendName(backend)));
  return device;
}

rmsnorm_device &rmsnorm::runtime::getDevice(const rmsnorm_gpu_object &object) {
  std::lock_guard<std::mutex> lock(process().mutex);
  openDevice(object);
  return *process().device;
}

static DetachedBuffer createImage(const rmsnorm_gpu_object &object) {
  const char *target = object.target ? object.target : "";
  rmsn::ImageT image;
  image.target = image.chip = target;
  auto binary = std::make_unique<rmsn::BinaryT>();
  binary->format = formatOf(object);
  image.backend = backendOf(binary->format);
#ifdef __x86_64__
  if (image.backend == rmsn::Backend::Sim)
    image.host_isa = "x86-64-v3"; // what the compiler takes for granted
#endif
  auto *bytes = static_cast<const uint8_t *>(object.bytes);
  binary->bytes.assign(bytes, bytes + object.size);
  image.binaries.push_back(std::move(binary));
  FlatBufferBuilder builder;
  builder.Finish(rmsn::CreateImage(builder, &image));
  return builder.Release();
}

/// `process().mutex` is held.
static LoadedObject &load(rmsnorm_gpu_object &object) {
  if (object.state)
    return *static_cast<LoadedObject *>(object.state);
  Device &device = openDevice(object);
  auto loaded = std::make_unique<LoadedObject>();
  loaded->image = createImage(object);
  std::lock_guard<std::mutex> lock(device.mutex);
  check(device.load(*flatbuffers::GetRoot<rmsn::Image>(loaded->image.data()),
                    loaded->code),
        "loading an object");
  object.state = loaded.get();
  return *loaded.release();
}

void rmsnorm_gpu_add_object(rmsnorm_gpu_object *object) {
  std::lock_guard<std::mutex> lock(process().mutex);
  process().objects.push_back(object);
}

void rmsnorm_gpu_remove_object(rmsnorm_gpu_object *object) {
  std::lock_guard<std::mutex> lock(process().mutex);
  auto &objects = process().objects;
  objects.erase(std::remove(objects.begin(), objects.end(), object),
                objects.end());
  delete static_cast<LoadedObject *>(object->state);
  object->state = nullptr;
}

//===- Kernels ------------------------------------------------------------===//

static std::string parametersOf(const rmsnorm_gpu_kernel &kernel,
                                const LoadedImage &code) {
  const char *parameters = kernel.parameters;
  if (!parameters)
    parameters = static_cast<const char *>(code.data(
        (std::string(kernel.name) + RMSNORM_SIM_PARAMETERS_SUFFIX).c_str()));
  return parameters ? parameters : "";
}

static uint32_t subgroupSizeOf(const rmsnorm_gpu_kernel &kernel,
                               const LoadedImage &code) {
  if (kernel.subgroup_size)
    return kernel.subgroup_size;
  auto *size =
      static_cast<const int32_t *>(code.data(RMSNORM_SIM_SUBGROUP_SYMBOL));
  return size ? *size : 32;
}

/// The format's description of a launch, for the drivers.
static DetachedBuffer describe(const rmsnorm_gpu_kernel &kernel,
                               const LoadedImage &code) {
  rmsn::LaunchT launch;
  launch.kernel = kernel.name;
  launch.grid_x = std::make_unique<rmsn::ExpressionT>(); // not evaluated
  launch.block_x = kernel.block[0];
  launch.block_y = kernel.block[1];
  launch.block_z = kernel.block[2];
  launch.cluster_x = kernel.cluster;
  launch.blocks_per_multiprocessor = kernel.blocks_per_multiprocessor;
  launch.programmatic_dependent_launch = kernel.dependent != 0;
  launch.subgroup_size = subgroupSizeOf(kernel, code);
  for (char kind : parametersOf(kernel, code)) {
    auto parameter = std::make_unique<rmsn::ParameterT>();
    parameter->kind = kind == 'p' || kind == 'c' ? rmsn::ParameterKind::Pointer
                      : kind == 'i'              ? rmsn::ParameterKind::I32
                      : kind == 'f'              ? rmsn::ParameterKind::F32
                                                 : rmsn::ParameterKind::I64;
    launch.parameters.push_back(std::move(parameter));
  }
  if (launch.parameters.size() > rmsn::kMaxParameters)
    die(formatted("kernel '%s': expected at most %u parameters, got %zu",
                  kernel.name, rmsn::kMaxParameters, launch.parameters.size()));
  FlatBufferBuilder builder;
  builder.Finish(rmsn::CreateLaunch(builder, &launch));
  return builder.Release();
}

/// Sets up the kernel of an object. `process().mutex` is held.
static rmsnorm_status setUp(rmsnorm_gpu_kernel &kernel, LoadedObject &object) {
  auto prepared = std::make_unique<PreparedKernel>();
  prepared->parameters = parametersOf(kernel, *object.code);
  prepared->launch = describe(kernel, *object.code);
  KernelRequirement requirement;
  requirement.launch =
      flatbuffers::GetRoot<rmsn::Launch>(prepared->launch.data());
  requirement.sharedMemory = kernel.shared_memory;
  requirement.knowsParameters = kernel.parameters != nullptr;
  std::lock_guard<std::mutex> lock(process().device.load()->device->mutex);
  RMSNORM_TRY(object.code->prepareKernel(requirement, prepared->kernel));
  __atomic_store_n(&kernel.state, prepared.get(), __ATOMIC_RELEASE);
  object.kernels.push_back(std::move(prepared));
  return RMSNORM_OK;
}

/// Loads the object and sets up the kernel, unless that was done.
static PreparedKernel &prepare(rmsnorm_gpu_kernel &kernel) {
  void *prepared = __atomic_load_n(&kernel.state, __ATOMIC_ACQUIRE);
  if (!prepared) {
    std::lock_guard<std::mutex> lock(process().mutex);
    if (!kernel.state)
      check(setUp(kernel, load(*kernel.object)), "setting up a kernel");
    prepared = kernel.state;
  }
  return *static_cast<PreparedKernel *>(prepared);
}

void rmsnorm_gpu_launch_on(rmsnorm_gpu_kernel *kernel, const uint64_t grid[3],
                           void **parameters, void *stream) {
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    return; // nothing to do, and drivers refuse it
  PreparedKernel &prepared = prepare(*kernel);
  Device &device = *process().device.load()->device;
  KernelLaunch launch;
  launch.kernel = &prepared.kernel;
  launch.launch = flatbuffers::GetRoot<rmsn::Launch>(prepared.launch.data());
  uint32_t limits[3];
  device.gridLimits(*launch.launch, limits);
  for (int d = 0; d < 3; ++d) {
    if (grid[d] > limits[d])
      die(formatted("kernel '%s': expected a grid of at most %u blocks in "
                    "dimension %c, got %llu",
                    kernel->name, limits[d], 'x' + d,
                    (unsigned long long)grid[d]));
    launch.grid[d] = uint32_t(grid[d]);
  }
  uint64_t slots[rmsn::kMaxParameters];
  launch.slots = slots;
  launch.slotCount = prepared.parameters.size();
  for (unsigned i = 0; i < launch.slotCount; ++i) {
    const char kind = prepared.parameters[i];
    slots[i] = 0;
    std::memcpy(&slots[i], parameters[i], kind == 'i' || kind == 'f' ? 4 : 8);
  }
  launch.parameters = parameters;
  launch.kinds = prepared.parameters.c_str();
  launch.sharedMemory = kernel->shared_memory;
  launch.early = startsEarly(*launch.launch, currentFlags);
  launch.stream = stream;
  launch.rules = nullptr;
  launch.values = nullptr;
  launch.arguments = nullptr;
  launch.workspace = launch.workspaceBytes = 0;
  if (process().isTraced)
    std::fprintf(stderr, "rmsnorm: launch of %s, %u x %u x %u blocks\n",
                 kernel->name, launch.grid[0], launch.grid[1], launch.grid[2]);
  check(device.launch(launch), "a launch");
}

void rmsnorm_gpu_launch(rmsnorm_gpu_kernel *kernel, const uint64_t grid[3],
                        void **parameters) {
  rmsnorm_gpu_launch_on(kernel, grid, parameters, currentStream);
}

int64_t rmsnorm_gpu_resident_clusters(rmsnorm_gpu_kernel *kernel) {
  if (!kernel->object) {
    std::lock_guard<std::mutex> lock(process().mutex);
    for (rmsnorm_gpu_object *object : process().objects)
      if (!kernel->state)
        (void)setUp(*kernel, load(*object));
    if (!kernel->state)
      die(formatted("kernel '%s': expected an object with it to be loaded "
                    "before it is asked about",
                    kernel->name));
  }
  return prepare(*kernel).kernel.residentClusters;
}

//===- The device ---------------------------------------------------------===//

/// `process().mutex` is held.
static void setOrdinal(int32_t ordinal) {
  rmsnorm_device *device = process().device;
  if (device && device->device->ordinal != ordinal)
    die(formatted("expected device %d, which this process has used before, got "
                  "%d",
                  device->device->ordinal, ordinal));
  process().ordinal = ordinal;
}

void rmsnorm_gpu_use_ordinal(int32_t ordinal) {
  std::lock_guard<std::mutex> lock(process().mutex);
  setOrdinal(ordinal);
}

void rmsnorm_gpu_use(rmsnorm_backend backend, int32_t ordinal) {
  std::lock_guard<std::mutex> lock(process().mutex);
  setOrdinal(ordinal);
  if (openDevice(backend).backend != backend)
    die("expected rmsnorm_gpu_use before anything runs on another device");
}

rmsnorm_device *rmsnorm_gpu_device() {
  Process &p = process();
  if (rmsnorm_device *device = p.device)
    return device;
  std::lock_guard<std::mutex> lock(p.mutex);
  if (!p.objects.empty())
    openDevice(*p.objects.front());
  // Memory is asked for before objects, or other code loads those: on a GPU.
  const char *wanted = std::getenv("RMSNORM_GPU_BACKEND");
  for (rmsnorm_backend backend : {RMSNORM_CUDA, RMSNORM_HIP, RMSNORM_SIM}) {
    rmsnorm_device *device = nullptr;
    const bool isWanted =
        wanted ? !std::strcmp(wanted, backendName(rmsn::Backend(backend)))
               : backend != RMSNORM_SIM;
    if (!p.device && isWanted &&
        !rmsnorm_device_open(backend, nullptr, &device))
      p.device = device;
  }
  if (!p.device)
    die("expected a GPU, an object to be loaded, or a device to be chosen by "
        "rmsnorm_gpu_use or RMSNORM_GPU_BACKEND=cuda, hip or sim");
  return p.device;
}

int64_t rmsnorm_gpu_multiprocessor_count(const rmsnorm_gpu_object *object) {
  if (object) {
    std::lock_guard<std::mutex> lock(process().mutex);
    return openDevice(*object).multiprocessorCount;
  }
  return rmsnorm_gpu_device()->device->multiprocessorCount;
}

void rmsnorm_gpu_set_stream(void *stream) { currentStream = stream; }

void rmsnorm_gpu_set_launch_flags(uint32_t flags) {
  check(checkLaunchFlags(flags), "setting the flags of launches");
  currentFlags = flags;
}

void rmsnorm_gpu_synchronize() {
  // Without a device nothing was launched.
  if (rmsnorm_device *device = process().device)
    check(device->device->synchronize(currentStream), "waiting for a stream");
}
