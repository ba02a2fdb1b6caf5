// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WorkspaceTest.cpp - rmsnorm.workspace, from IR to a launch --------===//
//
// Two kernels and a host function by hand: column sums of x, [M x 64], through
// one row of partial sums and one count of rows per block. It goes through the
// module writer and the file format to the runtime and the simulator.
//
//===----------------------------------------------------------------------===//

#include "RMSNorm/Conversion/Passes.h"
#include "RMSNorm/InitAll.h"
#include "RMSNorm/Module/ModuleWriter.h"
#include "RMSNorm/Target/Serialize.h"
#include "rmsnorm/rmsnorm.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mlir::rmsnorm;

// The first kernel writes the partial row that is the sum of LAST: "%b, %none"
// in a good one.
static const char *const kSource = R"(
module attributes {gpu.container_module, rmsnorm.target = #rmsnorm.target<sim "sm_90">} {
  gpu.module @kernels [#rmsnorm.target<sim "sm_90">] {
    gpu.func @partial(%rows: index, %x: !llvm.ptr<1>, %sums: !llvm.ptr<1>,
                      %counts: !llvm.ptr<1>, %unused: !llvm.ptr<1>) kernel
        attributes {known_block_size = array<i32: 64, 1, 1>} {
      %t = gpu.thread_id x
      %b = gpu.block_id x
      %grid = gpu.grid_dim x
      %column = arith.index_cast %t : index to i32
      %width = arith.constant 64 : index
      %none = arith.constant 0 : index
      %one_row = arith.constant 1 : index
      %minus_row = arith.constant -1 : index
      %i0 = arith.constant 0 : i32
      %i1 = arith.constant 1 : i32
      %zero = arith.constant dense<0.0> : vector<1xf32>
      %one = arith.constant dense<1.0> : vector<1xf32>
      %sum, %count = scf.for %i = %b to %rows step %grid
          iter_args(%acc = %zero, %n = %zero) -> (vector<1xf32>, vector<1xf32>) {
        %start = arith.muli %i, %width : index
        %row = arith.index_cast %start : index to i64
        %v = rmsnorm.global_load %x[%row, %column] alignment(4) : vector<1xf32>
        %next = arith.addf %acc, %v : vector<1xf32>
        %m = arith.addf %n, %one : vector<1xf32>
        scf.yield %next, %m : vector<1xf32>, vector<1xf32>
      }
      %last = arith.addi LAST : index
      %start = arith.muli %last, %width : index
      %row = arith.index_cast %start : index to i64
      rmsnorm.global_store %sum, %sums[%row, %column] alignment(4) : vector<1xf32>
      %is_first = arith.cmpi eq, %column, %i0 : i32
      %only_first = arith.select %is_first, %i1, %i0 : i32
      %b64 = arith.index_cast %b : index to i64
      rmsnorm.global_store %count, %counts[%b64, %i0] valid(%only_first) alignment(4) : vector<1xf32>
      gpu.return
    }
    gpu.func @total(%blocks: index, %stride: index, %sums: !llvm.ptr<1>,
                    %counts: !llvm.ptr<1>, %y: !llvm.ptr<1>, %n: !llvm.ptr<1>) kernel
        attributes {known_block_size = array<i32: 64, 1, 1>} {
      %t = gpu.thread_id x
      %column = arith.index_cast %t : index to i32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r0 = arith.constant 0 : i64
      %i0 = arith.constant 0 : i32
      %zero = arith.constant dense<0.0> : vector<1xf32>
      %sum, %count = scf.for %b = %c0 to %blocks step %c1
          iter_args(%acc = %zero, %m = %zero) -> (vector<1xf32>, vector<1xf32>) {
        %start = arith.muli %b, %stride : index
        %row = arith.index_cast %start : index to i64
        %b64 = arith.index_cast %b : index to i64
        %v = rmsnorm.global_load %sums[%row, %column] alignment(4) : vector<1xf32>
        %c = rmsnorm.global_load %counts[%b64, %i0] alignment(4) : vector<1xf32>
        %next = arith.addf %acc, %v : vector<1xf32>
        %more = arith.addf %m, %c : vector<1xf32>
        scf.yield %next, %more : vector<1xf32>, vector<1xf32>
      }
      rmsnorm.global_store %sum, %y[%r0, %column] alignment(4) : vector<1xf32>
      rmsnorm.global_store %count, %n[%r0, %column] alignment(4) : vector<1xf32>
      gpu.return
    }
  }
  func.func @f(%x: memref<?x64xf32, strided<[?, 1]>>
        {rmsnorm.name = "x", rmsnorm.role = "input", rmsnorm.dims = array<i64: -1, 64>},
      %y: memref<64xf32>
        {rmsnorm.name = "y", rmsnorm.role = "output", rmsnorm.dims = array<i64: 64>},
      %n: memref<64xf32>
        {rmsnorm.name = "n", rmsnorm.role = "output", rmsnorm.dims = array<i64: 64>}) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %threads = arith.constant 64 : index
    %rows = memref.dim %x, %zero : memref<?x64xf32, strided<[?, 1]>>
    %sms = rmsnorm.multiprocessor_count
    %most = arith.muli %sms, %two : index
    %blocks = arith.minui %rows, %most : index
    %counts = rmsnorm.workspace(%blocks) : memref<?xf32>
    %unused = rmsnorm.workspace() : memref<3x5xbf16>
    %sums = rmsnorm.workspace(%blocks) : memref<?x64xf32>
    %px = rmsnorm.buffer_pointer %x : memref<?x64xf32, strided<[?, 1]>>
    %py = rmsnorm.buffer_pointer %y : memref<64xf32>
    %pn = rmsnorm.buffer_pointer %n : memref<64xf32>
    %pc = rmsnorm.buffer_pointer %counts : memref<?xf32>
    %pu = rmsnorm.buffer_pointer %unused : memref<3x5xbf16>
    %ps = rmsnorm.buffer_pointer %sums : memref<?x64xf32>
    gpu.launch_func @kernels::@partial blocks in (%blocks, %one, %one)
        threads in (%threads, %one, %one)
        args(%rows : index, %px : !llvm.ptr<1>, %ps : !llvm.ptr<1>, %pc : !llvm.ptr<1>, %pu : !llvm.ptr<1>)
    // As distribution asks for a buffer's size and stride.
    %count = memref.dim %sums, %zero : memref<?x64xf32>
    %base, %offset, %sizes:2, %strides:2 = memref.extract_strided_metadata %sums
        : memref<?x64xf32> -> memref<f32>, index, index, index, index, index
    gpu.launch_func @kernels::@total blocks in (%one, %one, %one)
        threads in (%threads, %one, %one)
        args(%count : index, %strides#0 : index, %ps : !llvm.ptr<1>, %pc : !llvm.ptr<1>, %py : !llvm.ptr<1>, %pn : !llvm.ptr<1>)
    return
  }
})";

namespace {

std::string compile(std::string last) {
  static MLIRContext *context = [] {
    DialectRegistry registry;
    registerAllDialects(registry);
    registerAllExtensions(registry);
    registerSerialization(registry);
    return new MLIRContext(registry, MLIRContext::Threading::DISABLED);
  }();
  std::string source = kSource;
  source.replace(source.find("LAST"), 4, last);
  auto module = parseSourceString<ModuleOp>(source, context);
  if (!module)
    return "";
  PassManager passes(context);
  passes.addPass(createFinalizeSim());
  if (failed(passes.run(*module)))
    return "";
  FailureOr<Blob> blob =
      serializeHost(*module->getOps<gpu::GPUModuleOp>().begin());
  auto host = module->lookupSymbol<func::FuncOp>("f");
  ModuleWriter writer;
  if (failed(blob) || failed(writer.addEntry(host)))
    return "";
  unsigned image =
      writer.addImage(TargetAttr::lookup(host),
                      {{BinaryKind::HostELF, {blob->data(), blob->size()}}});
  if (failed(writer.addVariant(host, {"only", "", {}},
                               [&](StringRef) { return image; })))
    return "";
  return writer.finish();
}

/// A compiled module on a simulator of 3 multiprocessors: at most 6 blocks.
class WorkspaceTest : public testing::Test {
protected:
  void open(const std::string &last) {
    std::string bytes = compile(last);
    ASSERT_FALSE(bytes.empty());
    ASSERT_EQ(rmsnorm_module_open_memory(bytes.data(), bytes.size(), &module),
              RMSNORM_OK)
        << rmsnorm_last_error();
    rmsnorm_device_options options;
    rmsnorm_device_options_init(&options);
    options.multiprocessor_count = 3;
    ASSERT_EQ(rmsnorm_device_open(RMSNORM_SIM, &options, &device), RMSNORM_OK);
    ASSERT_EQ(rmsnorm_prepare(module, "f", device, &function), RMSNORM_OK)
        << rmsnorm_last_error();
  }
  ~WorkspaceTest() override {
    rmsnorm_function_release(function);
    rmsnorm_device_close(device);
    rmsnorm_module_close(module);
  }

  void setRows(int64_t rows) {
    x.resize(rows * 64);
    for (int64_t i = 0; i < rows * 64; ++i)
      x[i] = float(i % 64 + i / 64);
    shapes[0][0] = rows;
    float *data[] = {x.data(), y, n};
    for (int i = 0; i < 3; ++i) {
      tensors[i] = {};
      tensors[i].data = data[i];
      tensors[i].device = {kDLCPU, 0};
      tensors[i].ndim = i == 0 ? 2 : 1;
      tensors[i].dtype = {kDLFloat, 32, 1};
      tensors[i].shape = shapes[i];
      arguments[i] = &tensors[i];
    }
    std::fill(y, y + 64, NAN);
    std::fill(n, n + 64, NAN);
  }

  uint64_t query() {
    uint64_t bytes = ~uint64_t(0);
    EXPECT_EQ(rmsnorm_workspace_size(function, arguments, 3, &bytes),
              RMSNORM_OK)
        << rmsnorm_last_error();
    return bytes;
  }
  rmsnorm_status launch(void *workspace, uint64_t bytes) {
    return rmsnorm_launch(function, arguments, 3, workspace, bytes, nullptr);
  }
  void expectRefused(void *workspace, uint64_t bytes, const char *message) {
    EXPECT_EQ(launch(workspace, bytes), RMSNORM_INVALID_ARGUMENT);
    EXPECT_NE(std::string(rmsnorm_last_error()).find(message),
              std::string::npos)
        << rmsnorm_last_error();
    EXPECT_TRUE(std::isnan(y[0])) << "something ran";
  }

  rmsnorm_module *module = nullptr;
  rmsnorm_device *device = nullptr;
  rmsnorm_function *function = nullptr;
  std::vector<float> x;
  float y[64], n[64];
  int64_t shapes[3][2] = {{0, 64}, {64}, {64}};
  DLTensor tensors[3];
  DLTensor *arguments[3];
  // Room after the largest workspace shows whether anybody strays there.
  static constexpr int64_t bytes = 4096;
  alignas(256) unsigned char memory[bytes];
};

} // namespace

TEST_F(WorkspaceTest, SumsThroughTheWorkspace) {
  ASSERT_NO_FATAL_FAILURE(open("%b, %none"));
  for (int64_t rows : {1, 2, 5, 6, 7, 100}) {
    setRows(rows);
    int64_t blocks = std::min<int64_t>(rows, 6);
    // A count per block, rounded up; 30 bytes, rounded up; a row per block.
    uint64_t expected = 256 + 256 + blocks * 256;
    ASSERT_EQ(query(), expected) << rows << " rows";
    std::memset(memory, 0xff, sizeof memory);
    ASSERT_EQ(launch(memory, expected), RMSNORM_OK) << rmsnorm_last_error();
    for (int64_t column = 0; column < 64; ++column) {
      EXPECT_EQ(y[column], float(rows * column + rows * (rows - 1) / 2));
      EXPECT_EQ(n[column], float(rows));
    }
    for (uint64_t i = expected; i < bytes; ++i)
      ASSERT_EQ(memory[i], 0xff) << "byte " << i;
  }
}

TEST_F(WorkspaceTest, ZeroRowsStillWrite) {
  ASSERT_NO_FATAL_FAILURE(open("%b, %none"));
  setRows(0);
  // Of the parts with no rows nothing is left; one of the three is static.
  ASSERT_EQ(query(), 256u);
  ASSERT_EQ(launch(memory, 256), RMSNORM_OK) << rmsnorm_last_error();
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(n[63], 0);
}

TEST_F(WorkspaceTest, RefusesWhatIsTooSmallMisalignedOrAbsent) {
  ASSERT_NO_FATAL_FAILURE(open("%b, %none"));
  setRows(3);
  ASSERT_EQ(query(), 1280u);
  expectRefused(memory, 1279, "expected a workspace of 1280 bytes, got 1279");
  expectRefused(nullptr, 1280, "expected a workspace of 1280 bytes, got 1280");
  expectRefused(nullptr, 0, "expected a workspace of 1280 bytes, got 0");
  expectRefused(memory + 128, 1280,
                "expected a workspace aligned to 256 bytes");
}

TEST_F(WorkspaceTest, SimulatorBoundsEachPart) {
  // One row too far: past the end of the workspace.
  ASSERT_NO_FATAL_FAILURE(open("%b, %one_row"));
  setRows(3);
  EXPECT_EQ(launch(memory, bytes), RMSNORM_KERNEL_FAULT);
  EXPECT_NE(std::string(rmsnorm_last_error()).find("workspace"),
            std::string::npos)
      << rmsnorm_last_error();
}

TEST_F(WorkspaceTest, SimulatorKeepsPartsApart) {
  // A row too early: still in the workspace, in the part before.
  ASSERT_NO_FATAL_FAILURE(open("%b, %minus_row"));
  setRows(3);
  EXPECT_EQ(launch(memory, bytes), RMSNORM_KERNEL_FAULT);
  EXPECT_NE(std::string(rmsnorm_last_error()).find("workspace"),
            std::string::npos)
      << rmsnorm_last_error();
}

TEST_F(WorkspaceTest, IsDescribed) {
  ASSERT_NO_FATAL_FAILURE(open("%b, %none"));
  char *text = nullptr;
  ASSERT_EQ(rmsnorm_module_describe(module, &text), RMSNORM_OK);
  std::string description = text;
  rmsnorm_free(text);
  for (const char *part :
       {"workspace ((ceildiv(min(size(x, 0), multiprocessors * 2) * 4, 256) * "
        "256) + 256) + (min(size(x, 0), multiprocessors * 2) * 256) bytes",
        "pointer x, workspace + ", ", workspace, workspace + ", "i64 64"})
    EXPECT_NE(description.find(part), std::string::npos) << description;
}
