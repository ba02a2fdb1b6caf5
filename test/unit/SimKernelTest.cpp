// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimKernelTest.cpp - whole kernels, and what breaks them -----------===//

#include "SimHarness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace rmsnorm;
using namespace rmsnorm::test;

/// Sums the rows of %x (%rows x 1024 f32) by blocks of 256 threads: four
/// values per thread, a subgroup reduction, an exchange through workgroup
/// memory. SUBGROUP is the subgroup size, COUNT the number of subgroups.
static const char *const kRowSum = R"(
    %lane = arith.remui %t, %cSUBGROUP : index
    %subgroup = arith.divui %t, %cSUBGROUP : index
    %subgroup32 = arith.index_cast %subgroup : index to i32
    %slot = arith.muli %subgroup32, %i4 : i32
    %is_lane0 = arith.cmpi eq, %lane, %c0 : index
    %count = arith.constant COUNT : index
    %grid = gpu.grid_dim x
    %rows_index = arith.index_cast %rows : i64 to index
    scf.for %i = %b to %rows_index step %grid {
      %i64 = arith.index_cast %i : index to i64
      %n = arith.constant 1024 : i64
      %row = arith.muli %i64, %n : i64
      %x0 = rmsnorm.global_load %x[%row, %t_elements] alignment(16) : vector<4xf32>
      %part = vector.reduction <add>, %x0 : vector<4xf32> into f32
      %sum = rmsnorm.subgroup_reduce add %part width(SUBGROUP) : f32
      scf.if %is_lane0 {
        rmsnorm.workgroup_store %sum, %slot : f32
      }
      BARRIER
      %total = scf.for %j = %c0 to %count step %c1 iter_args(%acc = %f0) -> f32 {
        %j32 = arith.index_cast %j : index to i32
        %offset = arith.muli %j32, %i4 : i32
        %other = rmsnorm.workgroup_load %offset : f32
        %next = arith.addf %acc, %other : f32
        scf.yield %next : f32
      }
      rmsnorm.barrier
      %y0 = vector.broadcast %total : f32 to vector<1xf32>
      %only_first = arith.select %is_first, %i1, %i0 : i32
      rmsnorm.global_store %y0, %y[%i64, %i0] valid(%only_first) alignment(4) : vector<1xf32>
    })";

static std::string getRowSum(int subgroup, bool withBarrier) {
  std::string body = "%t_elements = arith.muli %t32, %i4 : i32\n";
  body += kRowSum;
  body = replaceAll(body, "SUBGROUP", std::to_string(subgroup));
  body = replaceAll(body, "COUNT", std::to_string(256 / subgroup));
  return replaceAll(body, "BARRIER", withBarrier ? "rmsnorm.barrier" : "");
}

static constexpr int kRows = 37;
static constexpr const char *kRowSumArguments =
    "%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %rows: i64";

/// What the kernel computes, in its order.
static float sumRow(const float *x, int subgroup) {
  std::vector<float> lanes(256);
  for (int t = 0; t < 256; ++t)
    lanes[t] = ((x[4 * t] + x[4 * t + 1]) + x[4 * t + 2]) + x[4 * t + 3];
  float total = 0;
  for (int first = 0; first < 256; first += subgroup) {
    for (int step = 1; step < subgroup; step *= 2) {
      std::vector<float> next = lanes;
      for (int i = 0; i < subgroup; ++i)
        next[first + i] = lanes[first + i] + lanes[first + (i ^ step)];
      lanes = next;
    }
    total += lanes[first];
  }
  return total;
}

TEST(SimKernel, RowSumIsTheSameInEveryOrder) {
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  std::vector<float> x(kRows * 1024);
  for (float &value : x)
    value = normal(generator);
  for (int subgroup : {32, 64}) {
    std::vector<float> y(kRows);
    KernelTest test(kRowSumArguments, getRowSum(subgroup, true));
    test.addBuffer("x", x);
    test.addBuffer("y", y, true);
    test.addScalar<int64_t>(kRows);
    test.request.blockThreads = 256;
    test.request.subgroupSize = subgroup;
    test.request.workgroupBytes = 256 / subgroup * 4;
    for (int64_t grid : {1, 5, kRows})
      for (int hostThreads : {1, 3})
        for (OrderAndSeed order : kOrders) {
          test.request.grid = grid;
          test.request.hostThreads = hostThreads;
          test.request.order = order.order;
          test.request.seed = order.seed;
          std::fill(y.begin(), y.end(), NAN);
          ASSERT_EQ(test.run(), "");
          for (int row = 0; row < kRows; ++row)
            ASSERT_EQ(y[row], sumRow(&x[row * 1024], subgroup))
                << "row " << row << ", subgroup size " << subgroup;
        }
  }
}

TEST(SimKernel, RemovedBarrierIsARaceInEveryOrder) {
  std::vector<float> x(kRows * 1024, 1), y(kRows);
  for (int subgroup : {32, 64}) {
    KernelTest test(kRowSumArguments, getRowSum(subgroup, false));
    test.addBuffer("x", x);
    test.addBuffer("y", y, true);
    test.addScalar<int64_t>(1);
    test.request.blockThreads = 256;
    test.request.subgroupSize = subgroup;
    test.request.workgroupBytes = 256 / subgroup * 4;
    for (OrderAndSeed order : kOrders) {
      test.request.order = order.order;
      test.request.seed = order.seed;
      std::string message = test.run();
      EXPECT_NE(message.find("races with a "), std::string::npos) << message;
      EXPECT_NE(message.find("no barrier between them"), std::string::npos);
    }
  }
}

TEST(SimKernel, ReadPastAnArgumentNamesIt) {
  // One row less than the kernel is told.
  std::vector<float> x((kRows - 1) * 1024, 1), y(kRows);
  KernelTest test(kRowSumArguments, getRowSum(32, true));
  test.addBuffer("input", x);
  test.addBuffer("y", y, true);
  test.addScalar<int64_t>(kRows);
  test.request.blockThreads = 256;
  test.request.workgroupBytes = 32;
  test.request.grid = kRows;
  EXPECT_EQ(test.run(),
            "global_load: out of bounds: read of 16 bytes at byte offset "
            "147456 of argument 0 'input', which has 147456 bytes (thread 0 of "
            "block 36, kernel 'k')");
}

TEST(SimKernel, OverrunOfWorkgroupMemoryIsFound) {
  std::vector<float> x(kRows * 1024, 1), y(kRows);
  KernelTest test(kRowSumArguments, getRowSum(32, true));
  test.addBuffer("x", x);
  test.addBuffer("y", y, true);
  test.addScalar<int64_t>(kRows);
  test.request.blockThreads = 256;
  test.request.workgroupBytes = 28; // one slot too few
  EXPECT_EQ(test.run(),
            "workgroup memory: write of 4 bytes at offset 28 is out of bounds "
            "of the block's 28 bytes (thread 224 of block 0, kernel 'k')");
}

TEST(SimKernel, FirstErrorDoesNotDependOnHostThreads) {
  // Blocks 20 and later fail.
  std::vector<float> x(20 * 1024, 1), y(kRows);
  KernelTest test(kRowSumArguments, getRowSum(32, true));
  test.addBuffer("x", x);
  test.addBuffer("y", y, true);
  test.addScalar<int64_t>(kRows);
  test.request.blockThreads = 256;
  test.request.workgroupBytes = 32;
  test.request.grid = kRows;
  for (OrderAndSeed order : kOrders) {
    test.request.order = order.order;
    test.request.seed = order.seed;
    test.request.hostThreads = 1;
    std::string message = test.run();
    EXPECT_NE(message, "");
    test.request.hostThreads = 4;
    for (int repeat = 0; repeat < 20; ++repeat)
      ASSERT_EQ(test.run(), message);
  }
}

TEST(SimKernel, EveryBlockRunsOnce) {
  for (int64_t grid : {0, 1, 2, 97, 1000}) {
    std::vector<int32_t> y(grid + 1, 0);
    KernelTest test("%y: !llvm.ptr<1>", R"(
      %row = arith.index_cast %b : index to i64
      %only = arith.select %is_first, %i1, %i0 : i32
      %old = rmsnorm.global_load %y[%row, %i0] valid(%only) alignment(4) : vector<1xi32>
      %one = arith.constant dense<1> : vector<1xi32>
      %new = arith.addi %old, %one : vector<1xi32>
      rmsnorm.global_store %new, %y[%row, %i0] valid(%only) alignment(4) : vector<1xi32>)");
    test.addBuffer("y", y, true);
    test.request.grid = grid;
    test.request.hostThreads = 2;
    int runs = 0;
    for (OrderAndSeed order : kOrders) {
      test.request.order = order.order;
      test.request.seed = order.seed;
      ASSERT_EQ(test.run(), "");
      ++runs;
    }
    for (int64_t i = 0; i < grid; ++i)
      ASSERT_EQ(y[i], runs) << i;
    EXPECT_EQ(y[grid], 0);
  }
}

/// Each block stores what VALUE says, and z[READ] more, to y[PLACE].
static std::string getStores(const char *value, const char *place,
                             const char *read) {
  std::string body = R"(
      %block = arith.index_cast %b : index to i64
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %next = arith.addi %block, %one : i64
      %only = arith.select %is_first, %i1, %i0 : i32
      %old = rmsnorm.global_load %z[READ, %i0] valid(%only) alignment(4) : vector<1xi32>
      %number = arith.trunci VALUE : i64 to i32
      %given = vector.broadcast %number : i32 to vector<1xi32>
      %new = arith.addi %given, %old : vector<1xi32>
      rmsnorm.global_store %new, %y[PLACE, %i0] valid(%only) alignment(4) : vector<1xi32>)";
  body = replaceAll(body, "VALUE", value);
  return replaceAll(replaceAll(body, "PLACE", place), "READ", read);
}

TEST(SimKernel, BlocksThatTouchOnePlaceAreARace) {
  auto run = [](std::string body, bool inPlace, int32_t cluster,
                const char *expected) {
    std::vector<int32_t> y(8, 0), z(8, 0);
    KernelTest test("%y: !llvm.ptr<1>, %z: !llvm.ptr<1>", body);
    test.addBuffer("y", y, true);
    test.addBuffer("z", inPlace ? y : z, inPlace);
    test.request.grid = 4;
    test.request.cluster = cluster;
    expectInEveryOrder(test, expected);
  };
  const char *race = "race in global memory";
  // Each its own element, or all the same value.
  run(getStores("%block", "%block", "%block"), false, 1, "");
  run(getStores("%one", "%zero", "%block"), false, 1, "");
  run(getStores("%block", "%block", "%block"), true, 1, "");
  // Another value to one place; what another block stores is read.
  run(getStores("%block", "%zero", "%block"), false, 1, race);
  run(getStores("%block", "%block", "%next"), true, 1, race);
  run(getStores("%one", "%block", "%zero"), true, 1, race);
  // Blocks of a cluster wait for one another.
  run(getStores("%block", "%zero", "%block"), false, 4, "");
  run(getStores("%block", "%zero", "%block"), false, 2, race);
}

TEST(SimKernel, PartsOfAVectorRaceWithTheVector) {
  const std::string first = R"(
      %is_block0 = arith.cmpi eq, %b, %c0 : index
      %v = arith.constant dense<1> : vector<4xi32>
      %w = arith.constant dense<2> : vector<1xi32>
      %column = arith.constant COLUMN : i32
      scf.if %is_block0 {
        rmsnorm.global_store %v, %y[%r0, %i0] alignment(16) : vector<4xi32>
      } else {
        OTHER
      })";
  const char *store =
      "rmsnorm.global_store %w, %y[%r0, %column] alignment(4) : vector<1xi32>";
  const char *load =
      "%l = rmsnorm.global_load %y[%r0, %column] alignment(4) : vector<1xi32>\n"
      "rmsnorm.global_store %l, %z[%r0, %i0] alignment(4) : vector<1xi32>";
  for (const char *other : {store, load})
    for (int column = 0; column < 6; ++column) {
      KernelTest test("%y: !llvm.ptr<1>, %z: !llvm.ptr<1>",
                      replaceAll(replaceAll(first, "OTHER", other), "COLUMN",
                                 std::to_string(column)));
      std::vector<int32_t> y(8, 0), z(1);
      test.addBuffer("y", y, true);
      test.addBuffer("z", z, true);
      test.request.grid = 2;
      expectInEveryOrder(test, column < 4 ? "race in global memory" : "");
    }
}

TEST(SimKernel, BadRequestsAreRefused) {
  auto expect = [](auto change, const char *message) {
    KernelTest test("%y: !llvm.ptr<1>", "");
    std::vector<int32_t> y(1);
    test.addBuffer("y", y);
    change(test.request);
    EXPECT_EQ(test.run(), message);
  };
  expect([](sim::LaunchRequest &r) { r.kernel = nullptr; },
         "simulator: expected a kernel, got none");
  expect([](sim::LaunchRequest &r) { r.grid = -1; },
         "simulator: expected a number of blocks >= 0, got -1");
  expect([](sim::LaunchRequest &r) { r.blockThreads = 0; },
         "simulator: expected a number of threads in a block from 1 to 1024, "
         "got 0");
  expect([](sim::LaunchRequest &r) { r.blockThreads = 1025; },
         "simulator: expected a number of threads in a block from 1 to 1024, "
         "got 1025");
  expect([](sim::LaunchRequest &r) { r.subgroupSize = 16; },
         "simulator: expected a subgroup size of 32 or 64, got 16");
  expect([](sim::LaunchRequest &r) { r.workgroupBytes = (1 << 20) + 1; },
         "simulator: expected workgroup memory from 0 to 1048576 bytes, got "
         "1048577");
  expect([](sim::LaunchRequest &r) { r.parameters[0].end = 0; },
         "simulator: expected a buffer to end after its begin, got argument "
         "'y'");
}
