// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ModuleWriterTest.cpp - host functions that a module cannot hold ---===//

#include "RMSNorm/Module/ModuleWriter.h"
#include "RMSNorm/InitAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
class ModuleWriterTest : public ::testing::Test {
protected:
  ModuleWriterTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
      message += diagnostic.str() + "\n";
      return success();
    });
  }

  /// A module whose host function has `body` around its launch.
  std::string text(StringRef body, StringRef grid = "%one",
                   StringRef parameter = "%p : !llvm.ptr<1>",
                   StringRef parameterType = "!llvm.ptr<1>") {
    return (R"(module attributes {gpu.container_module,
                 rmsnorm.target = #rmsnorm.target<sim "sm_90">} {
      gpu.module @kernels {
        gpu.func @kernel(%x: )" +
            parameterType + R"() kernel { gpu.return }
      }
      func.func @f(%x: memref<?x64xf32, strided<[?, 1]>>
          {rmsnorm.name = "x", rmsnorm.role = "inout",
           rmsnorm.dims = array<i64: -1, 64>}) {
        %one = arith.constant 1 : index
        %zero = arith.constant 0 : index
        %m = memref.dim %x, %zero : memref<?x64xf32, strided<[?, 1]>>
        %p = rmsnorm.buffer_pointer %x : memref<?x64xf32, strided<[?, 1]>>
        )" + body +
            "\n gpu.launch_func @kernels::@kernel blocks in (" + grid +
            ", %one, %one) threads in (%one, %one, %one) args(" + parameter +
            ")\n return\n}\n}")
        .str();
  }

  LogicalResult write(const std::string &source) {
    message.clear();
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(source, &context);
    if (!module) {
      ADD_FAILURE() << message << source;
      return failure();
    }
    auto host = module->lookupSymbol<func::FuncOp>("f");
    ModuleWriter writer;
    if (failed(writer.addEntry(host)))
      return failure();
    unsigned image = writer.addImage(TargetAttr::lookup(host),
                                     {{BinaryKind::HostELF, "code"}});
    if (failed(writer.addVariant(host, {"only", "", {}},
                                 [&](StringRef) { return image; })))
      return failure();
    EXPECT_FALSE(writer.finish().empty());
    return success();
  }

  void expectError(const std::string &source, StringRef part) {
    EXPECT_TRUE(failed(write(source)));
    EXPECT_NE(message.find(part.str()), std::string::npos) << message;
  }

  MLIRContext context;
  std::string message;
};
} // namespace

TEST_F(ModuleWriterTest, ClustersAreConstantAndAlongX) {
  auto launch = [&](StringRef cluster) {
    std::string source = text("%four = arith.constant 4 : index", "%m");
    size_t at = source.find(" blocks in");
    source.insert(at, (" clusters in (" + cluster + ")").str());
    return source;
  };
  EXPECT_TRUE(succeeded(write(launch("%four, %one, %one")))) << message;
  expectError(launch("%m, %one, %one"),
              "expected a constant size of clusters along x");
  expectError(launch("%one, %four, %one"),
              "expected a constant size of clusters along x");
}

TEST_F(ModuleWriterTest, ResidentClustersBelongToOneLaunch) {
  const std::string body = R"(
    %four = arith.constant 4 : index
    %resident = rmsnorm.resident_clusters
    %clusters = arith.minui %m, %resident : index
    %grid = arith.muli %clusters, %four : index)";
  std::string source = text(body, "%grid");
  const std::string clusters = " clusters in (%four, %one, %one)";
  expectError(source, "'rmsnorm.resident_clusters' op expected the grid of one "
                      "launch in clusters to follow from it, got none");
  size_t at = source.find(" blocks in");
  source.insert(at, clusters);
  EXPECT_TRUE(succeeded(write(source))) << message;
  // The same launch once more.
  size_t begin = source.find("gpu.launch_func");
  size_t end = source.find("return", begin);
  source.insert(end, source.substr(begin, end - begin));
  expectError(source, "'rmsnorm.resident_clusters' op expected the grid of one "
                      "launch in clusters to follow from it, got several");
}

TEST_F(ModuleWriterTest, TakesLaunchesAndIndexArithmetic) {
  EXPECT_TRUE(succeeded(write(text(R"(
    %sms = rmsnorm.multiprocessor_count
    %four = arith.constant 4 : index
    %tiles = arith.ceildivui %m, %four : index
    %grid = arith.minui %tiles, %sms : index
    %b, %o, %s:2, %t:2 = memref.extract_strided_metadata %x
      : memref<?x64xf32, strided<[?, 1]>> -> memref<f32>, index, index, index, index, index
    %stride = arith.index_cast %t#0 : index to i64
    %a = affine.apply affine_map<(d)[s] -> (d floordiv 4 + s mod 3)>(%m)[%grid]
  )",
                                   "%a", "%stride : i64", "i64"))))
      << message;
}

TEST_F(ModuleWriterTest, NamesTheOperationThatIsMore) {
  expectError(text("%buffer = memref.alloc() : memref<4xf32>"),
              "'memref.alloc' op expected only kernel launches and index "
              "arithmetic in a host function");
  expectError(text("%n = memref.load %x[%zero, %zero] : memref<?x64xf32, "
                   "strided<[?, 1]>>"),
              "'memref.load' op expected only kernel launches");
}

TEST_F(ModuleWriterTest, NamesTheExpressionItHasNot) {
  expectError(text("%big = arith.shli %m, %one : index", "%big"),
              "'arith.shli' op a module has no expression for this operation");
  expectError(text(R"(%b, %o, %s:2, %t:2 = memref.extract_strided_metadata %x
      : memref<?x64xf32, strided<[?, 1]>> -> memref<f32>, index, index, index, index, index)",
                   "%o"),
              "expected uses of its sizes and strides only");
}

TEST_F(ModuleWriterTest, BoundsTheSizeOfExpressions) {
  std::string body = "%v0 = arith.addi %m, %m : index\n";
  for (int i = 1; i <= 8; ++i)
    body += "%v" + std::to_string(i) + " = arith.muli %v" +
            std::to_string(i - 1) + ", %v" + std::to_string(i - 1) +
            " : index\n";
  expectError(text(body, "%v8"), "at most 256 operations, got 511");
}

TEST_F(ModuleWriterTest, BoundsTheSizeOfWorkspaces) {
  // Each offset repeats the size of those before.
  std::string body;
  for (int i = 0; i < 33; ++i)
    body += "%w" + std::to_string(i) +
            " = rmsnorm.workspace(%m) : memref<?x3xf32>\n";
  EXPECT_TRUE(succeeded(write(text(body.substr(0, body.find("%w32"))))))
      << message;
  expectError(text(body), "expected an index expression of at most 256 "
                          "operations, got 263");
}

TEST_F(ModuleWriterTest, NamesTheBufferItHasNot) {
  expectError(text(R"(%s = memref.cast %x
    : memref<?x64xf32, strided<[?, 1]>> to memref<*xf32>)"),
              "'memref.cast' op expected only kernel launches");
}

TEST_F(ModuleWriterTest, ChecksParameters) {
  expectError(text("%f = arith.constant 1.0 : f64", "%one", "%f : f64", "f64"),
              "expected parameters of type !llvm.ptr<1>, i64, index, i32 or "
              "f32, got 'f64'");
  expectError(
      text("%q = llvm.mlir.zero : !llvm.ptr<1>", "%one", "%q : !llvm.ptr<1>"),
      "'llvm.mlir.zero' op expected only kernel launches");
}

TEST_F(ModuleWriterTest, ChecksArguments) {
  std::string source = text("");
  auto without = [&](StringRef what, const std::string &with) {
    std::string changed = source;
    changed.replace(changed.find(what.str()), what.size(), with);
    return changed;
  };
  expectError(without("rmsnorm.role = \"inout\",", ""),
              "argument 0: expected rmsnorm.role");
  expectError(without(",\n           rmsnorm.dims = array<i64: -1, 64>", ""),
              "argument 0: expected rmsnorm.dims with 2 sizes");
  // What the runtime would refuse.
  expectError(without("array<i64: -1, 64>", "array<i64: -65, 64>"),
              "argument 0: expected at most 64 different run-time sizes");
  expectError(without("\"x\"", '"' + std::string(1025, 'x') + '"'),
              "argument 0: expected a name of 1..1024 bytes, got 1025");
  expectError(without("\"x\"", "\"" + std::string(1025, 'x') + "\""),
              "argument 0: expected a name of 1..1024 bytes, got 1025");
  expectError(without("\"x\"", "\"a\\0Ab\""),
              "argument 0: expected a printable name, got byte 0x0a");
}

TEST_F(ModuleWriterTest, BoundsTheStackOfExpressions) {
  // m + (m + (m + ...)) keeps all of them until the end.
  std::string body = "%v0 = arith.addi %m, %m : index\n";
  for (int i = 1; i <= 31; ++i)
    body += "%v" + std::to_string(i) + " = arith.addi %m, %v" +
            std::to_string(i - 1) + " : index\n";
  EXPECT_TRUE(succeeded(write(text(body, "%v30")))) << message;
  expectError(text(body, "%v31"), "at most 32 values at a time, got 33");
}

TEST_F(ModuleWriterTest, BoundsTheKernelsOfAnEntry) {
  std::string source = text("");
  const size_t begin = source.find("gpu.launch_func");
  const std::string launch =
      source.substr(begin, source.find("return", begin) - begin);
  for (int i = 0; i < 63; ++i)
    source.insert(begin, launch);
  EXPECT_TRUE(succeeded(write(source))) << message;
  source.insert(begin, launch);
  expectError(source, "expected at most 64 kernels for an entry, got 65");
}
