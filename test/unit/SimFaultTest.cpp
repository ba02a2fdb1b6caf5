// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimFaultTest.cpp - each error a kernel can make -------------------===//

#include "SimHarness.h"

#include <gtest/gtest.h>

#include <regex>

using namespace rmsnorm;
using namespace rmsnorm::test;

/// `body` with each value loaded from workgroup memory written to %sink: a load
/// whose value nobody uses would be removed.
static std::string useLoads(const std::string &body) {
  static const std::regex load(
      R"((%\w+) = rmsnorm.workgroup_load %\w+ : (\w+))");
  return std::regex_replace(
      body, load,
      "$&\n $1_used = vector.broadcast $1 : $2 to vector<1x$2>\n"
      "rmsnorm.global_store $1_used, %sink[%r0, %i0] alignment(4) : "
      "vector<1x$2>\n");
}

/// Runs `body` with 256 bytes of workgroup memory in every order and expects
/// each message to hold `expected`; "" is success.
static void expectWorkgroup(const std::string &body,
                            const std::string &expected) {
  KernelTest test("%sink: !llvm.ptr<1>", useLoads(body));
  std::vector<double> sink(1);
  test.addBuffer("sink", sink, true);
  test.request.workgroupBytes = 256;
  expectInEveryOrder(test, expected);
}

//===----------------------------------------------------------------------===//
// Workgroup memory
//===----------------------------------------------------------------------===//

TEST(SimFault, UninitialisedReadIsFound) {
  expectWorkgroup(R"(
    scf.if %is_first { %v = rmsnorm.workgroup_load %i4 : f32 })",
                  "workgroup memory: 4 bytes at offset 4 are read before "
                  "anything was written there (thread 0 of block 0");
}

TEST(SimFault, PartlyUninitialisedReadIsFound) {
  expectWorkgroup(R"(
    scf.if %is_first {
      %h = arith.constant 1.0 : f16
      rmsnorm.workgroup_store %h, %i4 : f16
      %v = rmsnorm.workgroup_load %i4 : f32
    })",
                  "4 bytes at offset 4 are read before");
}

TEST(SimFault, MemoryIsUninitialisedAgainInTheNextBlock) {
  KernelTest test("%sink: !llvm.ptr<1>", useLoads(R"(
    %is_block0 = arith.cmpi eq, %b, %c0 : index
    scf.if %is_block0 { rmsnorm.workgroup_store %f1, %t_bytes : f32 }
    rmsnorm.barrier
    %v = rmsnorm.workgroup_load %t_bytes : f32)"));
  std::vector<float> sink(1);
  test.addBuffer("sink", sink, true);
  test.request.workgroupBytes = 256;
  test.request.grid = 2;
  EXPECT_NE(test.run().find("of block 1"), std::string::npos);
  test.request.grid = 1;
  EXPECT_EQ(test.run(), "");
}

TEST(SimFault, ReadAfterWriteNeedsABarrier) {
  const char *body = R"(
    rmsnorm.workgroup_store %f1, %t_bytes : f32
    BARRIER
    %other = arith.xori %t_bytes, %i4 : i32
    %v = rmsnorm.workgroup_load %other : f32)";
  expectWorkgroup(replaceAll(body, "BARRIER", "rmsnorm.barrier"), "");
  expectWorkgroup(replaceAll(body, "BARRIER", ""), "races with a ");
  // A subgroup operation orders nothing.
  expectWorkgroup(
      replaceAll(body, "BARRIER",
                 "%s = rmsnorm.subgroup_reduce add %f1 width(32) : f32"),
      "races with a ");
}

TEST(SimFault, WriteAfterReadNeedsABarrier) {
  const char *body = R"(
    rmsnorm.workgroup_store %f1, %t_bytes : f32
    rmsnorm.barrier
    %other = arith.xori %t_bytes, %i4 : i32
    %v = rmsnorm.workgroup_load %other : f32
    BARRIER
    rmsnorm.workgroup_store %f0, %t_bytes : f32)";
  expectWorkgroup(replaceAll(body, "BARRIER", "rmsnorm.barrier"), "");
  expectWorkgroup(replaceAll(body, "BARRIER", ""), "races with a ");
}

TEST(SimFault, TwoWritersOfOneWordRace) {
  expectWorkgroup("rmsnorm.workgroup_store %f1, %i0 : f32",
                  "races with a write by thread ");
}

TEST(SimFault, ManyReadersThenOneWriterRace) {
  expectWorkgroup(R"(
    scf.if %is_first { rmsnorm.workgroup_store %f1, %i0 : f32 }
    rmsnorm.barrier
    %v = rmsnorm.workgroup_load %i0 : f32
    scf.if %is_first { rmsnorm.workgroup_store %f1, %i0 : f32 })",
                  "races with a ");
}

TEST(SimFault, AReaderThatWritesRacesWithTheOtherReaders) {
  // The reduction makes thread 0 write when all of its subgroup have read, in
  // forward order itself first; nobody accesses the word after it.
  expectWorkgroup(R"(
    %in_first = arith.cmpi ult, %t, %c32 : index
    scf.if %is_first { rmsnorm.workgroup_store %f1, %i0 : f32 }
    rmsnorm.barrier
    scf.if %in_first {
      %v = rmsnorm.workgroup_load %i0 : f32
      %s = rmsnorm.subgroup_reduce add %v width(32) : f32
      scf.if %is_first { rmsnorm.workgroup_store %s, %i0 : f32 }
    })",
                  "races with a ");
}

TEST(SimFault, ReadersAndOwnRereadsDoNotRace) {
  expectWorkgroup(R"(
    scf.if %is_first { rmsnorm.workgroup_store %f1, %i0 : f32 }
    rmsnorm.barrier
    %v = rmsnorm.workgroup_load %i0 : f32
    %w = rmsnorm.workgroup_load %i0 : f32
    rmsnorm.barrier
    rmsnorm.workgroup_store %v, %t_bytes : f32
    %u = rmsnorm.workgroup_load %t_bytes : f32
    rmsnorm.workgroup_store %u, %t_bytes : f32)",
                  "");
}

TEST(SimFault, NeighboursInOneWordDoNotRace) {
  expectWorkgroup(R"(
    %two = arith.constant 2 : i32
    %offset = arith.muli %t32, %two : i32
    %h = arith.constant 1.0 : bf16
    rmsnorm.workgroup_store %h, %offset : bf16)",
                  "");
}

TEST(SimFault, HalfOfAWordRacesWithTheWord) {
  const char *body = R"(
    %h = arith.constant 1.0 : f16
    %o = arith.constant OFFSET : i32
    %is_second = arith.cmpi eq, %t, %c1 : index
    scf.if %is_first { rmsnorm.workgroup_store %f1, %i4 : f32 }
    scf.if %is_second { rmsnorm.workgroup_store %h, %o : f16 })";
  for (const char *offset : {"4", "6"})
    expectWorkgroup(replaceAll(body, "OFFSET", offset), "races with a write");
  for (const char *offset : {"2", "8"})
    expectWorkgroup(replaceAll(body, "OFFSET", offset), "");
}

TEST(SimFault, WorkgroupBoundsAndAlignment) {
  expectWorkgroup(R"(
    %o = arith.constant 256 : i32
    rmsnorm.workgroup_store %f1, %o : f32)",
                  "write of 4 bytes at offset 256 is out of bounds of the "
                  "block's 256 bytes");
  expectWorkgroup(R"(
    %o = arith.constant -4 : i32
    %v = rmsnorm.workgroup_load %o : f32)",
                  "read of 4 bytes at offset -4 is out of bounds");
  expectWorkgroup(R"(
    %o = arith.constant 2147483644 : i32
    %v = rmsnorm.workgroup_load %o : f32)",
                  "is out of bounds");
  expectWorkgroup(R"(
    %o = arith.constant 254 : i32
    %v = rmsnorm.workgroup_load %o : f32)",
                  "is out of bounds");
  expectWorkgroup(R"(
    %o = arith.constant 6 : i32
    rmsnorm.workgroup_store %f1, %o : f32)",
                  "write of 4 bytes at offset 6 is misaligned");
}

//===----------------------------------------------------------------------===//
// Waits that not all threads reach
//===----------------------------------------------------------------------===//

TEST(SimFault, DivergentBarrierIsFound) {
  expectWorkgroup("scf.if %is_first { rmsnorm.barrier }",
                  "divergent barrier: expected all threads of the block to "
                  "execute it, but thread 1 has finished (thread 0 of block 0");
  expectWorkgroup(R"(
    scf.if %is_first { rmsnorm.barrier } else { rmsnorm.barrier })",
                  "but thread 1 is at another one (thread 0 of block 0");
  // Not the same number of times: a subgroup makes one trip more.
  expectWorkgroup(R"(
    %s = arith.divui %t, %c32 : index
    %n = arith.addi %s, %c1 : index
    scf.for %i = %c0 to %n step %c1 { rmsnorm.barrier })",
                  "divergent barrier");
}

TEST(SimFault, DivergentReductionIsFound) {
  expectWorkgroup(R"(
    scf.if %is_first { %s = rmsnorm.subgroup_reduce add %f1 width(2) : f32 })",
                  "subgroup_reduce: expected all 32 threads of the subgroup to "
                  "execute it, but thread 1 has finished (thread 0 of block 0");
  expectWorkgroup(R"(
    scf.if %is_first { %s = rmsnorm.subgroup_reduce add %f1 width(2) : f32 }
    rmsnorm.barrier)",
                  "but thread 1 is at a barrier");
  expectWorkgroup(R"(
    scf.if %is_first {
      %s = rmsnorm.subgroup_reduce add %f1 width(32) : f32
    } else {
      %s = rmsnorm.subgroup_reduce add %f1 width(32) : f32
    })",
                  "but thread 1 is at another one");
  // Only whole subgroups may go different ways.
  expectWorkgroup(R"(
    %in_first = arith.cmpi ult, %t, %c32 : index
    scf.if %in_first { %s = rmsnorm.subgroup_reduce add %f1 width(32) : f32 })",
                  "");
}

TEST(SimFault, ReductionWiderThanTheSubgroupIsRefused) {
  KernelTest test("", "%s = rmsnorm.subgroup_reduce add %f1 width(64) : f32");
  EXPECT_EQ(test.run(), "subgroup_reduce: expected a width of at most the "
                        "subgroup size 32, got 64 (thread 0 of block 0, kernel "
                        "'k')");
  test.request.subgroupSize = 64;
  EXPECT_EQ(test.run(), "");
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

/// One thread that accesses %x[%row, %column] of 8 f32, then %y.
static std::string runGlobal(const std::string &access, int64_t row,
                             int32_t column, int32_t valid = 4,
                             int64_t shift = 0) {
  KernelTest test("%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %sink: !llvm.ptr<1>, "
                  "%row: i64, %column: i32, %n: i32",
                  "%v = arith.constant dense<1.0> : vector<4xf32>\n" + access);
  std::vector<float> x(9), y(8), sink(4);
  test.addBuffer("x", x);
  test.addBuffer("y", y, true);
  test.addBuffer("sink", sink, true);
  test.request.parameters[0].slot += shift;
  test.request.parameters[0].begin += shift;
  test.request.parameters[0].end += shift - 4;
  test.addScalar(row);
  test.addScalar(column);
  test.addScalar(valid);
  test.request.blockThreads = 1;
  return test.run();
}

static const char *const kLoad =
    "%l = rmsnorm.global_load %x[%row, %column] alignment(4) : vector<4xf32>\n"
    "rmsnorm.global_store %l, %sink[%r0, %i0] alignment(4) : vector<4xf32>";
static const char *const kPredicatedLoad =
    "%l = rmsnorm.global_load %x[%row, %column] valid(%n) alignment(4) : "
    "vector<4xf32>\n"
    "rmsnorm.global_store %l, %sink[%r0, %i0] alignment(4) : vector<4xf32>";
static const char *const kStore =
    "rmsnorm.global_store %v, %y[%row, %column] alignment(4) : vector<4xf32>";
static const char *const kPredicatedStore =
    "rmsnorm.global_store %v, %y[%row, %column] valid(%n) alignment(4) : "
    "vector<4xf32>";

static void expectContains(const std::string &message,
                           const std::string &expected) {
  EXPECT_NE(message.find(expected), std::string::npos)
      << "expected: " << expected << "\ngot: " << message;
}

TEST(SimFault, GlobalBounds) {
  EXPECT_EQ(runGlobal(kLoad, 0, 4), "");
  EXPECT_EQ(runGlobal(kLoad, 8, -4), "");
  expectContains(runGlobal(kLoad, 0, 5),
                 "read of 16 bytes at byte offset 20 of argument 0 'x', which "
                 "has 32 bytes (thread 0 of block 0, kernel 'k')");
  expectContains(runGlobal(kLoad, -1, 0), "at byte offset -4 of argument 0");
  // Sums that wrap must not look small.
  expectContains(runGlobal(kLoad, int64_t(1) << 61, 0), "out of bounds");
  expectContains(runGlobal(kLoad, -(int64_t(1) << 40), 0), "out of bounds");
  EXPECT_EQ(runGlobal(kStore, 4, 0), "");
  expectContains(runGlobal(kStore, 0, 5),
                 "global_store: out of bounds: write of 16 bytes at byte "
                 "offset 20 of argument 1 'y'");
}

TEST(SimFault, DerivedPointersKeepTheirArgument) {
  std::string load = "%p = llvm.getelementptr %x[4] : (!llvm.ptr<1>) -> "
                     "!llvm.ptr<1>, f32\n" +
                     replaceAll(kLoad, "%x", "%p");
  EXPECT_EQ(runGlobal(load, 0, 0), "");
  EXPECT_EQ(runGlobal(load, 0, -4), "");
  expectContains(runGlobal(load, 0, 1),
                 "at byte offset 20 of argument 0 'x', which has 32 bytes");
}

TEST(SimFault, PredicatedBounds) {
  EXPECT_EQ(runGlobal(kPredicatedLoad, 0, 5, 3), "");
  EXPECT_EQ(runGlobal(kPredicatedLoad, 0, 1000, 0), "");
  EXPECT_EQ(runGlobal(kPredicatedLoad, 0, 1000, -1), "");
  expectContains(runGlobal(kPredicatedLoad, 0, 5, 4), "read of 16 bytes");
  expectContains(runGlobal(kPredicatedLoad, 0, 5, 100), "read of 16 bytes");
  expectContains(runGlobal(kPredicatedLoad, 8, 0, 0),
                 "column 0 of a predicated read, 4 bytes at byte offset 32 of "
                 "argument 0 'x', which has 32 bytes: targets without "
                 "predicated loads read there");
  EXPECT_EQ(runGlobal(kPredicatedStore, 0, 5, 3), "");
  EXPECT_EQ(runGlobal(kPredicatedStore, 1000, 0, 0), "");
  expectContains(runGlobal(kPredicatedStore, 0, 7, 2), "write of 8 bytes");
}

TEST(SimFault, InputsAreNotWritable) {
  expectContains(runGlobal(replaceAll(kStore, "%y", "%x"), 0, 0),
                 "global_store: expected to write only to outputs, got a write "
                 "of 16 bytes at byte offset 0 of argument 0 'x'");
}

TEST(SimFault, AlignmentIsChecked) {
  std::string aligned =
      replaceAll(kLoad, "%column] alignment(4)", "%column] alignment(16)");
  EXPECT_EQ(runGlobal(aligned, 0, 4), "");
  expectContains(runGlobal(aligned, 0, 2),
                 "expected address and size to be multiples of 16 bytes, got "
                 "16 bytes at byte offset 8 of argument 0 'x'");
  expectContains(runGlobal(aligned, 0, 0, 4, 4),
                 "which starts at an address that is 4 modulo 16");
  // The valid elements must fill whole accesses, too.
  std::string tail = replaceAll(kPredicatedLoad, "valid(%n) alignment(4)",
                                "valid(%n) alignment(8)");
  EXPECT_EQ(runGlobal(tail, 0, 0, 2), "");
  expectContains(runGlobal(tail, 0, 0, 3), "multiples of 8 bytes");
}

TEST(SimFault, ErrorsAfterReadingGarbageNameTheGarbage) {
  KernelTest test("%x: !llvm.ptr<1>", R"(
    %o = rmsnorm.workgroup_load %i0 : i32
    %l = rmsnorm.global_load %x[%r0, %o] alignment(4) : vector<1xf32>
    rmsnorm.global_store %l, %x[%r0, %i0] alignment(4) : vector<1xf32>)");
  std::vector<float> x(4);
  test.addBuffer("x", x, true);
  test.request.workgroupBytes = 4;
  test.request.blockThreads = 1;
  expectContains(test.run(), "before that, thread 0 read workgroup memory at "
                             "offset 0 to which nothing had been written");
}

//===----------------------------------------------------------------------===//
// Dependent launches
//===----------------------------------------------------------------------===//

/// Runs `body` on an input, a constant and an output in a dependent launch, in
/// every order; each message must hold `expected`, "" is success.
static void expectDependent(const std::string &body,
                            const std::string &expected,
                            bool dependent = true) {
  KernelTest test("%x: !llvm.ptr<1>, %w: !llvm.ptr<1>, %y: !llvm.ptr<1>", body);
  std::vector<float> x(64), w(64), y(64);
  test.addBuffer("x", x);
  test.addBuffer("weight", w, /*writable=*/false, /*constant=*/true);
  test.addBuffer("y", y, /*writable=*/true);
  test.request.dependentLaunch = dependent;
  test.request.grid = 2;
  expectInEveryOrder(test, expected);
}

static const char *const loadX = R"(
  %from_x = rmsnorm.global_load %x[%r0, %t32] alignment(4) : vector<1xf32>)";
static const char *const loadWeight = R"(
  %from_w = rmsnorm.global_load %w[%r0, %t32] alignment(4) : vector<1xf32>)";
static const char *const storeX = R"(
  rmsnorm.global_store %from_x, %y[%r0, %t32] alignment(4) : vector<1xf32>)";
static const char *const storeWeight = R"(
  rmsnorm.global_store %from_w, %y[%r0, %t32] alignment(4) : vector<1xf32>)";
static const char *const gridWait = "\n rmsnorm.grid_wait";
using Text = std::string;

TEST(SimFault, ReadBeforeTheGridWaitIsFound) {
  expectDependent(Text(loadX) + gridWait + storeX,
                  "global_load: read of 4 bytes at byte offset ");
  expectDependent(Text(loadX) + gridWait + storeX,
                  " of argument 0 'x' before grid_wait: the kernel before this "
                  "one may not have ended, and the argument is not "
                  "rmsnorm.constant (thread ");
  expectDependent(Text(gridWait) + loadX + storeX, "");
  // Nobody is before it.
  expectDependent(Text(loadX) + gridWait + storeX, "", /*dependent=*/false);
  expectDependent(Text(loadX) + storeX, "", /*dependent=*/false);
}

TEST(SimFault, OnlyConstantsAreReadBeforeTheGridWait) {
  expectDependent(Text(loadWeight) + gridWait + storeWeight, "");
  expectDependent(Text(loadWeight) + loadX + gridWait + storeWeight + storeX,
                  "of argument 0 'x' before grid_wait");
}

TEST(SimFault, WriteBeforeTheGridWaitIsFound) {
  expectDependent(Text(loadWeight) + storeWeight + gridWait,
                  "of argument 2 'y' before grid_wait: the kernel before this "
                  "one may not have ended (thread ");
}

TEST(SimFault, WaitInALoopIsEnough) {
  expectDependent("scf.for %i = %c0 to %c1 step %c1 {" + Text(gridWait) +
                      loadX + storeX + "}",
                  "");
}

TEST(SimFault, ABlockThatTouchesNothingNeedNotWait) {
  const Text inBlock0 = R"(
    %is_block0 = arith.cmpi eq, %b, %c0 : index
    scf.if %is_block0 {)" +
                        Text(gridWait) + loadX + storeX + "}";
  expectDependent(inBlock0, "");
  // What it waited for is no other block's.
  expectDependent(inBlock0 + loadX + storeX,
                  " of argument 0 'x' before grid_wait: the kernel before this "
                  "one may not have ended");
}

TEST(SimFault, ThreadsOfABlockWaitForTheGridTogether) {
  expectDependent(R"(
    scf.if %is_first { rmsnorm.grid_wait })",
                  "divergent grid_wait: expected in all threads or in none "
                  "(thread 1 of block");
}

TEST(SimFault, SomeBlockWaitsForTheGrid) {
  expectDependent("", "grid_wait: expected a block of a dependent launch to "
                      "execute it, as the next kernel takes the end of this "
                      "one for the end of all before, but none does (kernel '");
  expectDependent("", "", /*dependent=*/false);
}
