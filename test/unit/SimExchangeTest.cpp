// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimExchangeTest.cpp - exchanges, and breaches of their protocol ---===//

#include "SimHarness.h"

#include <gtest/gtest.h>

using namespace rmsnorm;
using namespace rmsnorm::test;

/// Each thread sums what the subgroups of its cluster publish, in the order of
/// publishers, and thread 0 of each block adds the sums of all trips up in
/// %y[block]. The values are whole numbers: any order would give the same sum.
/// Trip n publishes n + 1 + subgroup + 100 * block.
static const char *const kPrologue = R"(
    %size = arith.constant SUBGROUP : i32
    %s = arith.divui %t32, %size : i32
    %b32 = arith.index_cast %b : index to i32
    %trips = arith.constant TRIPS : i32
    %publishers = arith.constant PUBLISHERS : i32
    %hundred = arith.constant 100 : i32
    rmsnorm.exchange_init EXCHANGE
)";
static const char *const kValue = R"(
      %v0 = arith.addi %NUMBER, %s : i32
      %b100 = arith.muli %b32, %hundred : i32
      %v1 = arith.addi %v0, %b100 : i32
      %v2 = arith.addi %v1, %i1 : i32
      %value = arith.sitofp %v2 : i32 to f32
      %twice = arith.addf %value, %value : f32
      rmsnorm.exchange_publish %value, %twice number(%NUMBER) subgroup(%s) EXCHANGE : f32, f32
)";
static const char *const kSum = R"(
      rmsnorm.exchange_await number(%n) EXCHANGE
      %sum = scf.for %p = %i0 to %publishers step %i1 iter_args(%acc = %total) -> f32 : i32 {
        %one = rmsnorm.exchange_read number(%n) publisher(%p) value(0) EXCHANGE : f32
        %two = rmsnorm.exchange_read number(%n) publisher(%p) value(1) EXCHANGE : f32
        %difference = arith.subf %two, %one : f32
        %next = arith.addf %acc, %difference : f32
        scf.yield %next : f32
      }
)";
static const char *const kStore = R"(
    %owner = arith.cmpi eq, %t32, %i0 : i32
    %valid = arith.extui %owner : i1 to i32
    %y0 = vector.broadcast %end : f32 to vector<1xf32>
    rmsnorm.global_store %y0, %y[%r0, %b32] valid(%valid) alignment(4) : vector<1xf32>
)";

struct Plan {
  int subgroup = 32, subgroups = 2, cluster = 2, trips = 9;
};

static std::string fill(std::string text, const Plan &plan) {
  std::string exchange =
      "<values = 2, subgroups = " + std::to_string(plan.subgroups) +
      ", cluster = " + std::to_string(plan.cluster) + ", offset = 16>";
  text = replaceAll(text, "EXCHANGE", exchange);
  text = replaceAll(text, "SUBGROUP", std::to_string(plan.subgroup));
  text = replaceAll(text, "PUBLISHERS",
                    std::to_string(plan.subgroups * plan.cluster));
  return replaceAll(text, "TRIPS", std::to_string(plan.trips));
}

/// Publish n, await n, read n.
static std::string inStep() {
  return std::string(kPrologue) + R"(
    rmsnorm.exchange_ready EXCHANGE
    %end = scf.for %n = %i0 to %trips step %i1 iter_args(%total = %f0) -> f32 : i32 {)" +
         replaceAll(kValue, "NUMBER", "n") + kSum + R"(
      scf.yield %sum : f32
    })" + kStore;
}

/// Publish n + 1, await n, read n.
static std::string splitPhase() {
  return std::string(kPrologue) + R"(
    rmsnorm.exchange_ready EXCHANGE
    scf.if %true {)" +
         replaceAll(kValue, "NUMBER", "i0") + R"(
    }
    %end = scf.for %n = %i0 to %trips step %i1 iter_args(%total = %f0) -> f32 : i32 {
      %m = arith.addi %n, %i1 : i32
      %more = arith.cmpi ult, %m, %trips : i32
      scf.if %more {)" +
         replaceAll(kValue, "NUMBER", "m") + "      }" + kSum + R"(
      scf.yield %sum : f32
    })" + kStore;
}

static float expected(const Plan &plan, int block) {
  double sum = 0;
  int first = block / plan.cluster * plan.cluster;
  for (int trip = 0; trip < plan.trips; ++trip)
    for (int rank = 0; rank < plan.cluster; ++rank)
      for (int s = 0; s < plan.subgroups; ++s)
        sum += trip + 1 + s + 100 * (first + rank);
  return float(sum);
}

static void expectSums(const std::string &body, const Plan &plan) {
  const int blocks = 3 * plan.cluster;
  std::vector<float> y(blocks);
  KernelTest test("%y: !llvm.ptr<1>",
                  fill("%true = arith.constant true\n" + body, plan));
  test.addBuffer("y", y, true);
  test.request.subgroupSize = plan.subgroup;
  test.request.blockThreads = plan.subgroup * plan.subgroups;
  test.request.workgroupBytes = 64 << 10;
  test.request.cluster = plan.cluster;
  test.request.grid = blocks;
  for (int hostThreads : {1, 3})
    for (OrderAndSeed order : kOrders) {
      test.request.order = order.order;
      test.request.seed = order.seed;
      test.request.hostThreads = hostThreads;
      std::fill(y.begin(), y.end(), 0.f);
      ASSERT_EQ(test.run(), "");
      for (int block = 0; block < blocks; ++block)
        ASSERT_EQ(y[block], expected(plan, block)) << "block " << block;
    }
}

TEST(SimExchange, Clusters) {
  for (const std::string &body : {inStep(), splitPhase()}) {
    expectSums(body, {32, 3, 2, 9});
    expectSums(body, {64, 2, 4, 5});
    expectSums(body, {32, 1, 16, 5});
  }
}

//===----------------------------------------------------------------------===//
// Breaches
//===----------------------------------------------------------------------===//

/// Runs `body` in a cluster of two blocks of two subgroups, in every order, and
/// expects each message to hold `expected`.
static void expectBreach(const std::string &body, const std::string &expected) {
  std::vector<float> y(2);
  KernelTest test("%y: !llvm.ptr<1>",
                  fill("%true = arith.constant true\n" + body, Plan()));
  test.addBuffer("y", y, true);
  test.request.workgroupBytes = 1024;
  test.request.cluster = 2;
  test.request.grid = 2;
  expectInEveryOrder(test, expected);
}

/// `body` after the preparation.
static std::string prepared(const std::string &body) {
  return std::string(kPrologue) + "    rmsnorm.exchange_ready EXCHANGE\n" +
         body;
}
static std::string publish(const std::string &number,
                           const std::string &subgroup = "s",
                           const std::string &value = "f1") {
  return "rmsnorm.exchange_publish %" + value + " number(%" + number +
         ") subgroup(%" + subgroup + ") EXCHANGE : f32\n";
}
static std::string await(const std::string &number) {
  return "rmsnorm.exchange_await number(%" + number + ") EXCHANGE\n";
}
/// A value that is read is used: a load nobody uses would be removed.
static std::string read(const std::string &number, const std::string &publisher,
                        int value = 0) {
  return "{\n%r = rmsnorm.exchange_read number(%" + number + ") publisher(%" +
         publisher + ") value(" + std::to_string(value) +
         ") EXCHANGE : f32\n"
         "%rv = vector.broadcast %r : f32 to vector<1xf32>\n"
         "rmsnorm.global_store %rv, %y[%r0, %i0] alignment(4) : vector<1xf32>\n"
         "}\n";
}

/// Publish n follows await n - 3: when number 1 is complete nobody need have
/// read number 0, whose slot number 4 takes.
TEST(SimExchange, PublishTooFarAheadIsFound) {
  std::string ahead = R"(
    %i3 = arith.constant 3 : i32
    scf.for %n = %i0 to %trips step %i1 : i32 {
      %late = arith.cmpi uge, %n, %i3 : i32
      scf.if %late {
        %m = arith.subi %n, %i3 : i32
        rmsnorm.exchange_await number(%m) EXCHANGE
      })" + publish("n") +
                      "}\n";
  expectBreach(prepared(ahead), " overtakes number ");
}

TEST(SimExchange, ReadBeforeAwaitIsFound) {
  expectBreach(prepared(publish("i0") + "scf.if %true " + read("i0", "i0") +
                        await("i0")),
               "exchange_read: expected to read what the thread awaited last");
}

TEST(SimExchange, ReadAfterTheNextPublishIsFound) {
  expectBreach(prepared(publish("i0") + await("i0") + publish("i1") +
                        "scf.if %true " + read("i0", "i0") + await("i1")),
               "and before it publishes again, got number 0");
}

TEST(SimExchange, ReadOfNothingIsFound) {
  expectBreach(prepared(publish("i0") + await("i0") + "scf.if %true " +
                        read("i0", "i4")),
               "exchange_read: expected a publisher below ");
  expectBreach(
      prepared(publish("i0") + await("i0") + "scf.if %true " +
               read("i0", "i0", 1)),
      "expected one of the 1 values that were published, got number 1");
}

TEST(SimExchange, WrongNumbersAreFound) {
  expectBreach(prepared(publish("i1")),
               "exchange_publish: expected number 0, got 1");
  expectBreach(prepared(publish("i0") + publish("i1") + await("i1")),
               "exchange_await: expected number 0, got 1");
  expectBreach(prepared(publish("i0", "i1")),
               "exchange_publish: expected subgroup 0, got 1");
}

TEST(SimExchange, DifferentValuesInASubgroupAreFound) {
  expectBreach(prepared(publish("i0", "s", "t_f32") + await("i0")),
               "expected the same value in all threads of the subgroup");
}

TEST(SimExchange, MissingPublishIsFound) {
  expectBreach(prepared("%second = arith.cmpi eq, %s, %i1 : i32\n"
                        "scf.if %second {" +
                        publish("i0") + "}\n" + await("i0")),
               "exchange_await: not all subgroups make publish 0 (thread ");
}

TEST(SimExchange, LeavingBeforeAwaitIsFound) {
  expectBreach(prepared(publish("i0")),
               "exchange: expected every publish to be awaited, but thread 0 "
               "of rank 0 has awaited 0 of 1");
}

TEST(SimExchange, PublishBeforeReadyIsFound) {
  expectBreach(std::string(kPrologue) + publish("i0"),
               "exchange_publish: expected exchange_ready before it");
}

TEST(SimExchange, ReadyWithoutInitIsFound) {
  std::string body =
      std::string(kPrologue) + "rmsnorm.exchange_ready EXCHANGE\n";
  body = replaceAll(body, "rmsnorm.exchange_init EXCHANGE",
                    "scf.if %is_first { rmsnorm.exchange_init EXCHANGE }");
  expectBreach(body, "exchange_ready: not all threads execute exchange_init");
}

TEST(SimExchange, DivergentAwaitIsFound) {
  expectBreach(prepared(publish("i0") +
                        "%low = arith.cmpi ult, %t, %c4 : "
                        "index\nscf.if %low {" +
                        await("i0") + "}\n"),
               "exchange_await: expected all threads of the subgroup to "
               "execute it, but thread ");
}

TEST(SimExchange, ItsMemoryIsItsOwn) {
  expectBreach(prepared("scf.if %is_first { %o = arith.constant 16 : i32\n"
                        "rmsnorm.workgroup_store %f1, %o : f32 }"),
               "workgroup memory: write of 4 bytes at offset 16 is in the "
               "memory of the exchange");
}

TEST(SimExchange, LaunchesThatDoNotFitAreRefused) {
  KernelTest test("", fill(prepared(""), Plan()));
  test.request.workgroupBytes = 1024;
  EXPECT_NE(test.run().find("exchange_init: expected the launch's clusters of "
                            "1 blocks, got 2"),
            std::string::npos);
  test.request.cluster = 2;
  EXPECT_NE(test.run().find("expected clusters of 1 to 16 blocks that divide "
                            "the grid, got 2"),
            std::string::npos);
  test.request.grid = 2;
  EXPECT_EQ(test.run(), "");
  test.request.workgroupBytes = 128;
  EXPECT_NE(test.run().find("exchange_init: expected 160 bytes of workgroup "
                            "memory at offset 16, the block has 128"),
            std::string::npos);
  test.request.workgroupBytes = 1024;
  test.request.blockThreads = 128;
  EXPECT_NE(test.run().find("expected the block's 4 subgroups, got 2"),
            std::string::npos);
}
