// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimHarness.cpp - compiles kernels from text and runs them ---------===//

#include "SimHarness.h"

#include "RMSNorm/Conversion/Passes.h"
#include "RMSNorm/InitAll.h"
#include "RMSNorm/Target/Serialize.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace rmsnorm::test;

static mlir::MLIRContext &getContext() {
  static mlir::MLIRContext *context = [] {
    mlir::DialectRegistry registry;
    mlir::rmsnorm::registerAllDialects(registry);
    mlir::rmsnorm::registerAllExtensions(registry);
    mlir::rmsnorm::registerSerialization(registry);
    return new mlir::MLIRContext(registry,
                                 mlir::MLIRContext::Threading::DISABLED);
  }();
  return *context;
}

Code::Code(const std::string &functions, bool device) {
  std::string text = device ? "module attributes {rmsnorm.target = "
                              "#rmsnorm.target<sim \"sim32\">} {\n"
                              "gpu.module @device "
                              "[#rmsnorm.target<sim \"sim32\">] {\n" +
                                  functions + "}\n}\n"
                            : "module {\n" + functions + "}\n";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &getContext());
  if (!module) {
    ADD_FAILURE() << "the kernel does not parse:\n" << text;
    return;
  }
  mlir::Operation *root = module.get();
  if (device) {
    mlir::PassManager manager(&getContext());
    manager.addPass(mlir::rmsnorm::createFinalizeSim());
    if (mlir::failed(manager.run(*module))) {
      ADD_FAILURE() << "rmsnorm-finalize-sim fails on:\n" << text;
      return;
    }
    root = *module->getOps<mlir::gpu::GPUModuleOp>().begin();
  }
  mlir::FailureOr<mlir::rmsnorm::Blob> blob =
      mlir::rmsnorm::serializeHost(root);
  if (mlir::failed(blob)) {
    ADD_FAILURE() << "no host code for:\n" << text;
    return;
  }
  int file = memfd_create("kernel", MFD_CLOEXEC);
  EXPECT_EQ(write(file, blob->data(), blob->size()), ssize_t(blob->size()));
  std::string path = "/proc/self/fd/" + std::to_string(file);
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_TRUE(library) << dlerror();
  close(file);
}

Code::~Code() {
  if (library)
    dlclose(library);
}

void *Code::get(const std::string &name) const {
  return library ? dlsym(library, name.c_str()) : nullptr;
}

static std::string makeKernel(const std::string &arguments,
                              const std::string &body) {
  return "gpu.func @k(" + arguments + R"() kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %r0 = arith.constant 0 : i64
    %i0 = arith.constant 0 : i32
    %i1 = arith.constant 1 : i32
    %i4 = arith.constant 4 : i32
    %f0 = arith.constant 0.0 : f32
    %f1 = arith.constant 1.0 : f32
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %t32 = arith.index_cast %t : index to i32
    %t_f32 = arith.sitofp %t32 : i32 to f32
    %t_bytes = arith.muli %t32, %i4 : i32
    %is_first = arith.cmpi eq, %t, %c0 : index
)" + body +
         "\n gpu.return\n}\n";
}

KernelTest::KernelTest(const std::string &arguments, const std::string &body)
    : code(makeKernel(arguments, body)) {
  request.kernelName = "k";
  request.kernel = reinterpret_cast<rmsnorm_sim_kernel>(code.get("k"));
  request.blockThreads = 64;
  request.hostThreads = 1;
}

std::string KernelTest::run() {
  bool ok = sim::runGrid(request, report);
  EXPECT_EQ(ok, report.ok);
  EXPECT_EQ(ok, report.message.empty());
  return report.message;
}

void rmsnorm::test::expectInEveryOrder(KernelTest &test,
                                       const std::string &expected) {
  for (OrderAndSeed order : kOrders) {
    test.request.order = order.order;
    test.request.seed = order.seed;
    std::string message = test.run();
    if (expected.empty())
      EXPECT_EQ(message, "");
    else
      EXPECT_NE(message.find(expected), std::string::npos)
          << "expected: " << expected << "\ngot: " << message;
  }
}

std::string rmsnorm::test::replaceAll(std::string text, const std::string &from,
                                      const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size())
    text.replace(at, from.size(), to);
  return text;
}
