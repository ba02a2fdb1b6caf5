// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimCopyTest.cpp - asynchronous copies, and their misuse -----------===//

#include "SimHarness.h"

#include <gtest/gtest.h>

using namespace rmsnorm;
using namespace rmsnorm::test;

/// Copies what lies in "source" to workgroup memory around `body` and on to
/// "sink", 32 threads with an f32 each, in every order. Returns the message of
/// the last order; they must agree in whether there is one.
static std::string run(const std::string &body, std::vector<float> &sink) {
  KernelTest test("%source: !llvm.ptr<1>, %sink: !llvm.ptr<1>", body);
  std::vector<float> source(32);
  for (int i = 0; i < 32; ++i)
    source[i] = float(i + 1);
  const std::vector<float> original = source;
  test.addBuffer("source", source, true);
  sink.assign(32, -1);
  test.addBuffer("sink", sink, true);
  test.request.blockThreads = 32;
  test.request.workgroupBytes = 256;
  std::string message;
  bool first = true;
  for (OrderAndSeed order : kOrders) {
    source = original;
    test.request.order = order.order;
    test.request.seed = order.seed;
    std::string next = test.run();
    if (!first)
      EXPECT_EQ(message.empty(), next.empty()) << message << "\n" << next;
    message = next;
    first = false;
  }
  return message;
}

static void expectFault(const std::string &body, const std::string &expected) {
  std::vector<float> sink;
  std::string message = run(body, sink);
  EXPECT_NE(message.find(expected), std::string::npos)
      << "expected: " << expected << "\ngot: " << message;
}

// The first element of %source at the thread's own place, in one group.
static const std::string kCopy = R"(
    rmsnorm.async_copy %source[%r0, %t32] to %t_bytes alignment(4)
        : vector<1xf32>
    rmsnorm.copy_commit)";
static const std::string kLoad = R"(
    %v = rmsnorm.workgroup_load %t_bytes : vector<1xf32>
    rmsnorm.global_store %v, %sink[%r0, %t32] alignment(4) : vector<1xf32>)";

TEST(SimCopy, LandsAtItsWait) {
  std::vector<float> sink;
  EXPECT_EQ(run(kCopy + "\nrmsnorm.copy_wait 0" + kLoad, sink), "");
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(sink[i], float(i + 1));
}

TEST(SimCopy, WhatIsNotValidIsZero) {
  std::vector<float> sink;
  EXPECT_EQ(run(R"(
    rmsnorm.async_copy %source[%r0, %t32] to %t_bytes valid(%i0) alignment(4)
        : vector<1xf32>
    rmsnorm.copy_commit
    rmsnorm.copy_wait 0)" +
                    kLoad,
                sink),
            "");
  EXPECT_EQ(sink, std::vector<float>(32, 0));
}

TEST(SimCopy, EarlierThanItsWaitNothingIsThere) {
  expectFault(kCopy + kLoad, "while an asynchronous copy to it is under way");
}

TEST(SimCopy, AWaitForFewerGroupsLeavesTheLast) {
  // The copy is the last group: one may still be under way.
  expectFault(kCopy + "\nrmsnorm.copy_wait 1" + kLoad, "is under way");
  std::vector<float> sink;
  EXPECT_EQ(run(kCopy + R"(
    rmsnorm.copy_commit
    rmsnorm.copy_wait 1)" +
                    kLoad,
                sink),
            "");
}

TEST(SimCopy, WithoutACommitThereIsNothingToWaitFor) {
  expectFault(R"(
    rmsnorm.async_copy %source[%r0, %t32] to %t_bytes alignment(4)
        : vector<1xf32>
    rmsnorm.copy_wait 0)" +
                  kLoad,
              "is under way");
}

TEST(SimCopy, NobodyWritesWhereItWillLand) {
  expectFault(kCopy + R"(
    rmsnorm.workgroup_store %f1, %t_bytes : f32)",
              "write of 4 bytes at offset");
  expectFault(kCopy + kCopy, "asynchronous copy of 4 bytes at offset");
}

TEST(SimCopy, OthersNeedABarrierBehindTheWait) {
  const std::string body = kCopy + R"(
    rmsnorm.copy_wait 0
    BARRIER
    %other = arith.xori %t_bytes, %i4 : i32
    %v = rmsnorm.workgroup_load %other : vector<1xf32>
    rmsnorm.global_store %v, %sink[%r0, %t32] alignment(4) : vector<1xf32>)";
  std::vector<float> sink;
  EXPECT_EQ(run(replaceAll(body, "BARRIER", "rmsnorm.barrier"), sink), "");
  EXPECT_EQ(sink[0], 2.0f);
  std::string message = run(replaceAll(body, "BARRIER", ""), sink);
  EXPECT_NE(message, "");
}

TEST(SimCopy, TheSourceIsNotWrittenMeanwhile) {
  expectFault(kCopy + R"(
    %zero = vector.broadcast %f0 : f32 to vector<1xf32>
    rmsnorm.global_store %zero, %source[%r0, %t32] alignment(4) : vector<1xf32>
    rmsnorm.copy_wait 0)",
              "its source is written while it is under way");
}

TEST(SimCopy, BoundsOfBothSidesAreChecked) {
  expectFault(R"(
    %far = arith.constant 32 : i32
    rmsnorm.async_copy %source[%r0, %far] to %t_bytes alignment(4)
        : vector<1xf32>)",
              "out of bounds: read of 4 bytes at byte offset 128 of argument 0 "
              "'source'");
  expectFault(R"(
    %far = arith.constant 256 : i32
    rmsnorm.async_copy %source[%r0, %t32] to %far alignment(4)
        : vector<1xf32>)",
              "asynchronous copy of 4 bytes at offset 256 is out of bounds");
}
