//===- EmbedTest.cpp - what other compilers' code calls -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device belongs to the process, so that each test is one of its own.

#include "rmsnorm/embed.h"
#include "FakeCuda.h"
#include "rmsnorm/device.h"

#include <dlfcn.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

extern "C" {
void *mgpuModuleLoad(void *data, size_t size);
void mgpuModuleUnload(void *module);
void *mgpuModuleGetFunction(void *module, const char *name);
void mgpuLaunchKernel(void *function, size_t gridX, size_t gridY, size_t gridZ,
                      size_t blockX, size_t blockY, size_t blockZ,
                      int32_t sharedMemory, void *stream, void **parameters,
                      void **extra, size_t count);
void mgpuLaunchClusterKernel(void *function, size_t clusterX, size_t clusterY,
                             size_t clusterZ, size_t gridX, size_t gridY,
                             size_t gridZ, size_t blockX, size_t blockY,
                             size_t blockZ, int32_t sharedMemory, void *stream,
                             void **parameters, void **extra);
void *mgpuStreamCreate();
void mgpuStreamSynchronize(void *stream);
void mgpuStreamDestroy(void *stream);
void *mgpuMemAlloc(uint64_t bytes, void *stream, bool isHostShared);
void mgpuMemFree(void *memory, void *stream);
void mgpuMemset16(void *memory, uint16_t value, size_t count, void *stream);
void mgpuMemset32(void *memory, uint32_t value, size_t count, void *stream);
}

namespace {

std::string hostCode() {
  std::ifstream in(TEST_KERNELS_PATH, std::ios::binary);
  std::stringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

/// Exits with 0 if `condition` holds, after saying which does not.
void require(bool condition, const char *what) {
  if (condition)
    return;
  std::fprintf(stderr, "not so: %s\n", what);
  _exit(1);
}
#define REQUIRE(condition) require(condition, #condition)

void expectGood(void (*body)()) {
  EXPECT_EXIT(
      {
        body();
        _exit(0);
      },
      testing::ExitedWithCode(0), "");
}

/// Doubles 3 x 5 numbers, or those of no row.
struct Twice {
  float x[15], y[15];
  void *addresses[2] = {x, y};
  int64_t rows = 3, columns = 5, stride = 5;
  void *parameters[6] = {&addresses[0], &addresses[1], &rows,
                         &columns,      &stride,       &stride};

  Twice() {
    for (int i = 0; i < 15; ++i) {
      x[i] = float(i);
      y[i] = -1;
    }
  }
  bool isDone() const {
    for (int i = 0; i < 15; ++i)
      if (y[i] != 2 * x[i])
        return false;
    return true;
  }
};

/// A table as the compiler writes it.
struct Table {
  std::string code;
  rmsnorm_gpu_object object;
  rmsnorm_gpu_kernel kernel = {};

  Table(std::string bytes, const char *target, const char *name,
        const char *parameters)
      : code(std::move(bytes)) {
    object = {RMSNORM_GPU_VERSION, code.data(), code.size(), target, nullptr};
    kernel.object = &object;
    kernel.name = name;
    kernel.parameters = parameters;
    kernel.block[0] = 64;
    kernel.block[1] = kernel.block[2] = kernel.cluster = 1;
    kernel.subgroup_size = 32;
  }
};

const char *const ptx = "//\n.version 8.0\n.target sm_90\n";

/// The fake driver, which takes what is launched.
test::FakeCuda &useFakeCuda() {
  setenv("RMSNORM_CUDA_LIBRARY", FAKE_CUDA_PATH, 1);
  void *library = dlopen(FAKE_CUDA_PATH, RTLD_NOW);
  REQUIRE(library);
  auto get =
      reinterpret_cast<test::FakeCuda *(*)()>(dlsym(library, "fake_cuda"));
  return *get();
}

bool wasCalled(const test::FakeCuda &fake, const std::string &call) {
  for (const std::string &made : fake.calls)
    if (made == call)
      return true;
  for (const std::string &made : fake.calls)
    std::fprintf(stderr, "called: %s\n", made.c_str());
  return false;
}

} // namespace

TEST(EmbedTest, LaunchesWhatATableSays) {
  expectGood([] {
    Table table(hostCode(), "sim:sm_90", "twice_kernel", "ppllll");
    Twice twice;
    const uint64_t none[] = {0, 1, 1}, grid[] = {3, 1, 1};
    rmsnorm_gpu_launch(&table.kernel, none, twice.parameters);
    REQUIRE(twice.y[0] == -1);
    REQUIRE(!table.kernel.state && !table.object.state); // nothing loaded
    rmsnorm_gpu_launch(&table.kernel, grid, twice.parameters);
    rmsnorm_gpu_synchronize();
    REQUIRE(twice.isDone());
    REQUIRE(rmsnorm_gpu_multiprocessor_count(&table.object) == 4);
    REQUIRE(rmsnorm_gpu_resident_clusters(&table.kernel) > 1000);
  });
}

/// The kernel writes 3 rows of 5 to memory for fewer bytes.
static void overrunWhatWasAllocated() {
  std::string code = hostCode();
  void *module = mgpuModuleLoad(code.data(), code.size());
  void *function = mgpuModuleGetFunction(module, "twice_kernel");
  Twice twice;
  twice.addresses[1] = mgpuMemAlloc(59, nullptr, false);
  mgpuLaunchKernel(function, 3, 1, 1, 64, 1, 1, 0, nullptr, twice.parameters,
                   nullptr, 6);
}

TEST(EmbedTest, FindsOverrunsOfWhatWasAllocated) {
  EXPECT_DEATH(overrunWhatWasAllocated(), "parameter 1");
}

TEST(EmbedTest, LaunchesByNameAlone) {
  expectGood([] {
    std::string code = hostCode();
    void *module = mgpuModuleLoad(code.data(), code.size());
    void *function = mgpuModuleGetFunction(module, "twice_kernel");
    REQUIRE(function == mgpuModuleGetFunction(module, "twice_kernel"));
    void *stream = mgpuStreamCreate();
    Twice twice, again;
    mgpuLaunchKernel(function, 0, 1, 1, 64, 1, 1, 0, stream, twice.parameters,
                     nullptr, 6);
    REQUIRE(twice.y[0] == -1);
    mgpuLaunchKernel(function, 3, 1, 1, 64, 1, 1, 0, stream, twice.parameters,
                     nullptr, 6);
    // No number of parameters is passed here.
    mgpuLaunchClusterKernel(function, 1, 1, 1, 3, 1, 1, 128, 1, 1, 16, stream,
                            again.parameters, nullptr);
    mgpuStreamSynchronize(stream);
    mgpuStreamDestroy(stream);
    REQUIRE(twice.isDone() && again.isDone());
    mgpuModuleUnload(module);
  });
}

TEST(EmbedTest, FillsMemory) {
  expectGood([] {
    setenv("RMSNORM_GPU_BACKEND", "sim", 1);
    auto *memory = static_cast<uint32_t *>(mgpuMemAlloc(16, nullptr, true));
    mgpuMemset32(memory, 0x01020304, 4, nullptr);
    REQUIRE(memory[0] == 0x01020304 && memory[3] == 0x01020304);
    mgpuMemset32(memory, 0x05050505, 1, nullptr);
    REQUIRE(memory[0] == 0x05050505 && memory[1] == 0x01020304);
    mgpuMemset16(memory, 0x0102, 2, nullptr);
    REQUIRE(memory[0] == 0x01020102 && memory[1] == 0x01020304);
    mgpuMemFree(memory, nullptr);
  });
}

TEST(EmbedTest, KeepsWorkspaces) {
  expectGood([] {
    Table table(hostCode(), "sim:sm_90", "twice_kernel", "ppllll");
    void *first = rmsnorm_gpu_workspace(&table.object, 1000);
    void *second = rmsnorm_gpu_workspace(&table.object, 1000);
    REQUIRE(first != second);
    REQUIRE(reinterpret_cast<uintptr_t>(first) % 256 == 0);
    rmsnorm_gpu_release_workspace(first);
    REQUIRE(rmsnorm_gpu_workspace(&table.object, 900) == first);
    rmsnorm_gpu_release_workspace(first);
    // Not to one of another stream, whose work may still use it.
    rmsnorm_gpu_set_stream(&table);
    REQUIRE(rmsnorm_gpu_workspace(&table.object, 900) != first);
    rmsnorm_gpu_set_stream(nullptr);
    REQUIRE(rmsnorm_gpu_workspace(&table.object, 900) == first);
  });
}

TEST(EmbedTest, PassesOnWhatUpstreamsCallsLose) {
  expectGood([] {
    test::FakeCuda &fake = useFakeCuda();
    fake.parameterSizes = {8, 4};
    fake.parameterCount = 1;
    Table table(ptx, "sm_90", "k", "pi");
    table.kernel.cluster = 2;
    table.kernel.dependent = 1;
    table.kernel.shared_memory = 100000;
    uint64_t address = 4711;
    int32_t number = 3;
    void *parameters[] = {&address, &number};
    const uint64_t grid[] = {6, 1, 1};
    rmsnorm_gpu_launch_on(&table.kernel, grid, parameters, &table);
    REQUIRE(fake.loadedCode.find(".version") != std::string::npos);
    REQUIRE(fake.parameters == std::vector<uint64_t>{4711});
    REQUIRE(wasCalled(fake,
                      "cuLaunchKernelEx(6 1 1 64 1 1 100000 stream " +
                          std::to_string(reinterpret_cast<uintptr_t>(&table)) +
                          " cluster 2 pdl)"));
    rmsnorm_gpu_set_launch_flags(RMSNORM_NO_EARLY_START);
    rmsnorm_gpu_launch_on(&table.kernel, grid, parameters, nullptr);
    REQUIRE(wasCalled(
        fake, "cuLaunchKernelEx(6 1 1 64 1 1 100000 stream 0 cluster 2)"));
    rmsnorm_gpu_set_launch_flags(0);
    rmsnorm_gpu_launch_on(&table.kernel, grid, parameters, nullptr);
    REQUIRE(wasCalled(
        fake, "cuLaunchKernelEx(6 1 1 64 1 1 100000 stream 0 cluster 2 pdl)"));
    REQUIRE(rmsnorm_gpu_resident_clusters(&table.kernel) ==
            fake.residentClusters);
    REQUIRE(rmsnorm_gpu_multiprocessor_count(nullptr) == fake.multiprocessors);
  });
}

TEST(EmbedTest, FindsTheKernelOfAName) {
  expectGood([] {
    test::FakeCuda &fake = useFakeCuda();
    std::string code = ptx;
    void *module = mgpuModuleLoad(code.data(), code.size());
    Table table(ptx, nullptr, "k", "pi");
    table.kernel.object = nullptr;
    table.kernel.cluster = 4;
    fake.parameterSizes = {8, 4};
    REQUIRE(rmsnorm_gpu_resident_clusters(&table.kernel) ==
            fake.residentClusters);
    mgpuModuleUnload(module);
  });
}

//===- What cannot be done ends the process -------------------------------===//

static void useUnknownObject() {
  Table table("what is this", "sm_90", "k", "p");
  rmsnorm_gpu_multiprocessor_count(&table.object);
}

static void allocateWithoutDevice() {
  setenv("RMSNORM_GPU_BACKEND", "none", 1);
  mgpuMemAlloc(16, nullptr, false);
}

static void useOldTable() {
  Table table(hostCode(), "sim:sm_90", "k", "p");
  table.object.version = 0;
  rmsnorm_gpu_multiprocessor_count(&table.object);
}

static void launchOnGrid(const char *kernel, uint64_t blocks) {
  Table table(hostCode(), "sim:sm_90", kernel, "ppllll");
  const uint64_t grid[] = {blocks, 1, 1};
  rmsnorm_gpu_launch(&table.kernel, grid, nullptr);
}

static void useTwoBackends() {
  Table sim(hostCode(), "sim:sm_90", "k", "p");
  Table cuda(ptx, "sm_90", "k", "p");
  rmsnorm_gpu_multiprocessor_count(&sim.object);
  rmsnorm_gpu_multiprocessor_count(&cuda.object);
}

static void askBeforeLoading() {
  Table table(hostCode(), "sim:sm_90", "k", "p");
  table.kernel.object = nullptr;
  rmsnorm_gpu_resident_clusters(&table.kernel);
}

TEST(EmbedTest, Dies) {
  EXPECT_DEATH(useUnknownObject(),
               "expected an object that is a cubin, PTX, an AMD code object or "
               "simulated kernels");
  EXPECT_DEATH(allocateWithoutDevice(),
               "expected a GPU, an object to be loaded");
  EXPECT_DEATH(useOldTable(),
               "expected tables of kernels of version 1, got 0: compile the "
               "program anew");
  EXPECT_DEATH(launchOnGrid("no_kernel", 1),
               "setting up a kernel: expected a kernel 'no_kernel'");
  EXPECT_DEATH(launchOnGrid("twice_kernel", 1ull << 32),
               "kernel 'twice_kernel': expected a grid of at most 2147483647 "
               "blocks in dimension x, got 4294967296");
  EXPECT_DEATH(useTwoBackends(),
               "expected an object for the device of this process, sim, got "
               "one for cuda");
  EXPECT_DEATH(rmsnorm_gpu_set_launch_flags(2),
               "setting the flags of launches: expected the launch flags 0 or "
               "RMSNORM_NO_EARLY_START \\(0x1\\), got 0x2");
  EXPECT_DEATH(askBeforeLoading(),
               "kernel 'k': expected an object with it to be loaded");
}
