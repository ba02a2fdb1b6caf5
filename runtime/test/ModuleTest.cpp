//===- ModuleTest.cpp - opening and inspecting modules --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Json.h"
#include "Tensor.h"
#include "TestModule.h"
#include "rmsnorm/rmsnorm.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace test;

namespace {

struct Opened {
  ~Opened() { rmsnorm_module_close(module); }
  rmsnorm_module *module = nullptr;
};

Module good() {
  return forwardModule("sm_90", rmsn::Backend::Cuda, rmsn::BinaryFormat::Ptx,
                       ".version 8.0");
}

rmsnorm_status open(const std::string &file, Opened &opened) {
  return rmsnorm_module_open_memory(file.data(), file.size(), &opened.module);
}

/// Expects that the module is refused with this message.
void refused(const Module &module, const std::string &message) {
  Opened opened;
  EXPECT_EQ(open(module.file(), opened), RMSNORM_INVALID_MODULE);
  EXPECT_EQ(rmsnorm_last_error(), "invalid module: " + message);
  EXPECT_EQ(opened.module, nullptr);
}

TEST(ModuleTest, Inspects) {
  Opened opened;
  ASSERT_EQ(open(good().file(), opened), RMSNORM_OK) << rmsnorm_last_error();
  rmsnorm_module_info info;
  ASSERT_EQ(rmsnorm_module_get_info(opened.module, &info), RMSNORM_OK);
  EXPECT_STREQ(info.producer, "TestModule");
  EXPECT_EQ(info.entry_count, 1u);
  EXPECT_EQ(info.image_count, 1u);

  size_t index = 9;
  ASSERT_EQ(rmsnorm_module_find_entry(opened.module, "forward", &index),
            RMSNORM_OK);
  EXPECT_EQ(index, 0u);
  rmsnorm_entry_info entry;
  ASSERT_EQ(rmsnorm_module_get_entry(opened.module, 0, &entry), RMSNORM_OK);
  EXPECT_EQ(entry.argument_count, 3u);
  EXPECT_EQ(entry.program_count, 1u);
  EXPECT_FALSE(entry.has_oracle);

  rmsnorm_argument_info y;
  ASSERT_EQ(rmsnorm_module_get_argument(opened.module, 0, 2, &y), RMSNORM_OK);
  EXPECT_STREQ(y.name, "y");
  EXPECT_EQ(y.role, RMSNORM_OUTPUT);
  EXPECT_STREQ(y.dtype_name, "bf16");
  ASSERT_EQ(y.rank, 2);
  EXPECT_EQ(y.dims[0], -1);
  EXPECT_EQ(y.dims[1], 4096);
  EXPECT_EQ(y.alignment, 2u);
  EXPECT_EQ(y.bound_count, 0);

  rmsnorm_program_info program;
  ASSERT_EQ(rmsnorm_module_get_program(opened.module, 0, 0, &program),
            RMSNORM_OK);
  EXPECT_EQ(program.backend, RMSNORM_CUDA);
  EXPECT_EQ(program.variant_count, 2u);
  rmsnorm_variant_info variant;
  ASSERT_EQ(rmsnorm_module_get_variant(opened.module, 0, 0, 0, &variant),
            RMSNORM_OK);
  EXPECT_STREQ(variant.name, "align16");
  EXPECT_EQ(variant.guard_count, 5u);
  const char *key = nullptr;
  ASSERT_EQ(rmsnorm_module_get_tuning_key(opened.module, 0, 0, 0, &key),
            RMSNORM_OK);
  EXPECT_STREQ(key, "");
  EXPECT_EQ(rmsnorm_module_get_tuning_key(opened.module, 0, 0, 2, &key),
            RMSNORM_INVALID_ARGUMENT);
  EXPECT_STREQ(rmsnorm_last_error(), "expected a variant below 2, got 2");
  EXPECT_EQ(rmsnorm_module_get_tuning_key(opened.module, 0, 0, 0, nullptr),
            RMSNORM_INVALID_ARGUMENT);
  rmsnorm_binary_info binary;
  ASSERT_EQ(rmsnorm_module_get_binary(opened.module, 0, 0, &binary),
            RMSNORM_OK);
  EXPECT_STREQ(binary.format, "ptx");
  EXPECT_EQ(std::string(static_cast<const char *>(binary.bytes), binary.size),
            ".version 8.0");

  EXPECT_EQ(rmsnorm_module_get_entry(opened.module, 1, &entry),
            RMSNORM_INVALID_ARGUMENT);
  EXPECT_STREQ(rmsnorm_last_error(), "expected an entry below 1, got 1");
  EXPECT_EQ(rmsnorm_module_find_entry(opened.module, "backward", &index),
            RMSNORM_NOT_FOUND);
  EXPECT_STREQ(rmsnorm_last_error(),
               "the module has no entry 'backward', it has: forward");
}

TEST(ModuleTest, Describes) {
  Opened opened;
  ASSERT_EQ(open(good().file(), opened), RMSNORM_OK);
  char *text = nullptr;
  ASSERT_EQ(rmsnorm_module_describe(opened.module, &text), RMSNORM_OK);
  std::string all = text;
  rmsnorm_free(text);
  for (const char *part :
       {"entry forward\n  argument 0 x: input bf16[s0, 4096]\n"
        "  argument 1 weight: input bf16[4096], dense\n"
        "  argument 2 y: output bf16[s0, 4096]\n",
        "  program sm_90\n    variant 0 align16 when x aligned to 16, weight "
        "aligned to 16, y aligned to 16, stride(x, 0) a multiple of 8, "
        "stride(y, 0) a multiple of 8\n      schedule schedule of a test\n",
        "      launch 0 forward_kernel of image 0\n        grid "
        "min(ceildiv(size(x, 0), 4), 8 * multiprocessors)\n        block "
        "128 threads, subgroup 32\n        parameters pointer x, pointer "
        "weight, pointer y, i64 stride(x, 0), i64 stride(y, 0), i64 "
        "size(x, 0), f32 9.99999975e-06\n",
        "    variant 1 element otherwise\n",
        "image 0 for sm_90: cuda, chip sm_90, ptx of 12 bytes\n"})
    EXPECT_NE(all.find(part), std::string::npos) << part << "\nin\n" << all;
}

TEST(ModuleTest, DescribesBlocksPerMultiprocessor) {
  Module module = good();
  Launch &launch = module.entries[0].programs[0].variants[0].launches[0];
  launch.blocksPerMultiprocessor = 64; // the most
  launch.pdl = true;
  Opened opened;
  ASSERT_EQ(open(module.file(), opened), RMSNORM_OK) << rmsnorm_last_error();
  char *text = nullptr;
  ASSERT_EQ(rmsnorm_module_describe(opened.module, &text), RMSNORM_OK);
  std::string all = text;
  rmsnorm_free(text);
  EXPECT_NE(all.find("block 128 threads, subgroup 32, 64 per multiprocessor, "
                     "programmatic dependent launch\n"),
            std::string::npos)
      << all;
}

TEST(ModuleTest, DescribesParts) {
  Opened opened;
  ASSERT_EQ(open(good().file(), opened), RMSNORM_OK);
  auto describe = [&](const char *entry, const char *target, bool json) {
    rmsnorm_describe_options options = {entry, target, json};
    char *text = nullptr;
    if (rmsnorm_module_describe_with(opened.module, &options, &text))
      return std::string(rmsnorm_last_error());
    std::string all = text;
    rmsnorm_free(text);
    return all;
  };
  char *text = nullptr;
  ASSERT_EQ(rmsnorm_module_describe_with(opened.module, nullptr, &text),
            RMSNORM_OK);
  EXPECT_EQ(text, describe("forward", "sm_90", /*json=*/false));
  rmsnorm_free(text);
  EXPECT_EQ(describe("backward", nullptr, false),
            "the module has no entry 'backward', it has: forward");
  EXPECT_EQ(describe(nullptr, "sm_80", true),
            "the module has no program for target 'sm_80', it has: sm_90");
  std::string json = describe(nullptr, nullptr, /*json=*/true);
  for (const char *part :
       {"{\n  \"format_version\": 3,\n  \"producer\": \"",
        "          \"dims\": [\"s0\", 4096],\n", "\"grid\": [\"min(ceildiv(",
        "\"block\": [128, 1, 1],\n", "\"f32 9.99999975e-06\"\n",
        "          \"format\": \"ptx\",\n          \"size\": 12\n"})
    EXPECT_NE(json.find(part), std::string::npos) << part << "\nin\n" << json;
  EXPECT_EQ(json.substr(json.size() - 4), "]\n}\n");
}

TEST(ModuleTest, KnowsImagesOfLaunches) {
  Opened opened;
  ASSERT_EQ(open(good().file(), opened), RMSNORM_OK);
  rmsnorm_launch_info launch;
  ASSERT_EQ(rmsnorm_module_get_launch(opened.module, 0, 0, 0, 0, &launch),
            RMSNORM_OK);
  EXPECT_STREQ(launch.kernel, "forward_kernel");
  EXPECT_EQ(launch.image, 0u);
  EXPECT_EQ(rmsnorm_module_get_launch(opened.module, 0, 0, 0, 1, &launch),
            RMSNORM_INVALID_ARGUMENT);
  EXPECT_STREQ(rmsnorm_last_error(), "expected a launch below 1, got 1");
}

TEST(ModuleTest, QuotesForJson) {
  using rmsnorm::json::quote;
  EXPECT_EQ(quote("a\"b\\c\n\x01"), "\"a\\\"b\\\\c\\n\\u0001\"");
  EXPECT_EQ(quote("\xc3\xa9"), "\"\\u00E9\"");
  EXPECT_EQ(quote("a\xff\xfe"), "\"a??\"");
}

TEST(ModuleTest, OpensFiles) {
  std::string path = testing::TempDir() + "rmsnorm_module_test_" +
                     std::to_string(getpid()) + ".rmsn";
  std::string file = good().file();
  auto write = [&](const std::string &bytes) {
    std::FILE *out = std::fopen(path.c_str(), "wb");
    std::fwrite(bytes.data(), 1, bytes.size(), out);
    std::fclose(out);
  };
  write(file);
  Opened opened;
  EXPECT_EQ(rmsnorm_module_open_file(path.c_str(), &opened.module), RMSNORM_OK)
      << rmsnorm_last_error();
  Opened none;
  write(file.substr(0, file.size() / 2));
  EXPECT_EQ(rmsnorm_module_open_file(path.c_str(), &none.module),
            RMSNORM_INVALID_MODULE);
  EXPECT_EQ(rmsnorm_last_error(),
            "module '" + path + "': the module is damaged or cut short: its " +
                std::to_string(file.size() / 2) +
                " bytes are not a valid FlatBuffer");
  write("");
  EXPECT_EQ(rmsnorm_module_open_file(path.c_str(), &none.module),
            RMSNORM_INVALID_MODULE);
  EXPECT_EQ(rmsnorm_last_error(),
            "module '" + path +
                "': expected an rmsnorm module, got 0 bytes, fewer than any "
                "module has");
  std::remove(path.c_str());
  EXPECT_EQ(rmsnorm_module_open_file(path.c_str(), &none.module),
            RMSNORM_NOT_FOUND);
  EXPECT_EQ(rmsnorm_last_error(),
            "cannot open module '" + path + "': No such file or directory");
  EXPECT_EQ(rmsnorm_module_open_file("/tmp", &none.module),
            RMSNORM_INVALID_MODULE);
  EXPECT_STREQ(rmsnorm_last_error(),
               "cannot open module '/tmp': expected a regular file");
}

TEST(ModuleTest, AnyAlignmentInMemory) {
  std::string file = "x" + good().file();
  for (size_t shift = 1; shift < 8; ++shift) {
    Opened opened;
    EXPECT_EQ(rmsnorm_module_open_memory(file.data() + shift,
                                         file.size() - shift, &opened.module),
              shift == 1 ? RMSNORM_OK : RMSNORM_INVALID_MODULE);
  }
}

TEST(ModuleTest, NotAModule) {
  Opened opened;
  EXPECT_EQ(open("#!/bin/sh\necho this is not it\n", opened),
            RMSNORM_INVALID_MODULE);
  EXPECT_STREQ(
      rmsnorm_last_error(),
      "expected an rmsnorm module, which has \"RMSN\" at byte 4, got a "
      "file that begins 23 21 2f 62 69 6e 2f 73");
}

TEST(ModuleTest, DamagedCode) {
  std::string file = good().file();
  size_t code = file.find(".version");
  ASSERT_NE(code, std::string::npos);
  file[code] = 'x'; // a valid FlatBuffer still
  Opened opened;
  EXPECT_EQ(open(file, opened), RMSNORM_INVALID_MODULE);
  EXPECT_EQ(std::string(rmsnorm_last_error())
                .rfind("the module is damaged: expected content hash ", 0),
            0u);
}

TEST(ModuleTest, Version) {
  Module module = good();
  module.version = 1;
  Opened opened;
  EXPECT_EQ(open(module.file(), opened), RMSNORM_INVALID_MODULE);
  EXPECT_STREQ(rmsnorm_last_error(),
               "expected module format version 3, got 1: compile it anew");
}

TEST(ModuleTest, RefusesWhatBreaksARule) {
  auto change = [](auto edit) {
    Module module = good();
    edit(module);
    return module;
  };
  auto &&variant = [](Module &m) -> Variant & {
    return m.entries[0].programs[0].variants[0];
  };
  const std::string launch =
      "entry 'forward', program 'sm_90', variant 'align16', launch 0";
  refused(change([&](Module &m) { variant(m).launches[0].image = 1; }),
          launch + ": expected an image below 1, got 1");
  refused(change([&](Module &m) { variant(m).launches[0].blockX = 1025; }),
          launch + ": expected 1..1024 threads a block, got 1025 x 1 x 1");
  refused(change([&](Module &m) { variant(m).launches[0].clusterX = 0; }),
          launch + ": expected 1..16 blocks a cluster, got 0");
  refused(change([&](Module &m) {
            variant(m).launches[0].blocksPerMultiprocessor = 65;
          }),
          launch + ": expected 0..64 blocks a multiprocessor, got 65");
  refused(change([&](Module &m) {
            variant(m).launches[0].gridX = {residentClusters(1)};
          }),
          launch +
              ": grid x: expected the clusters of a launch below 1, got 1");
  refused(change([&](Module &m) {
            variant(m).launches[0].sharedMemory = {residentClusters(0)};
          }),
          launch +
              ": shared memory: expected the clusters of a launch below 0, "
              "got 0");
  refused(change([&](Module &m) { variant(m).launches[0].subgroup = 48; }),
          launch + ": expected a subgroup size that is a power of two <= 64, "
                   "got 48");
  refused(change([&](Module &m) { variant(m).launches[0].kernel = ""; }),
          launch + ": expected a kernel name of 1..2048 bytes, got 0");
  refused(change([&](Module &m) {
            variant(m).launches[0].gridX = {op(rmsn::ExpressionOpcode::Add)};
          }),
          launch + ": grid x: operation Add expected 2 values on the stack, "
                   "got 0");
  refused(change([&](Module &m) {
            variant(m).launches[0].parameters[0].argument = 3;
          }),
          launch + ", parameter 0: expected an argument below 3, got 3");
  refused(change([&](Module &m) {
            variant(m).launches[0].parameters[3].expression = {};
          }),
          launch + ", parameter 3: expected an expression");
  refused(change([&](Module &m) {
            variant(m).launches[0].parameters[0].kind =
                rmsn::ParameterKind(200);
          }),
          launch + ", parameter 0: unknown kind 200");
  refused(change([&](Module &m) {
            variant(m).launches[0].parameters.resize(
                129, variant(m).launches[0].parameters[0]);
          }),
          launch + ": expected at most 128 parameters, got 129");
  // Where the kind has no use for an expression it is checked all the same.
  refused(change([&](Module &m) {
            variant(m).launches[0].parameters[0].expression = {size(7, 0)};
          }),
          launch + ", parameter 0: expression: expected an argument below 3, "
                   "got 7");
  refused(change([&](Module &m) {
            variant(m).guards[0].expression = {size(7, 0)};
          }),
          "entry 'forward', program 'sm_90', variant 'align16', guard 0: "
          "expression: expected an argument below 3, got 7");
  refused(change([&](Module &m) { variant(m).guards[3].multiple = 0; }),
          "entry 'forward', program 'sm_90', variant 'align16', guard 3: "
          "expected a multiple > 0, got 0");
  refused(
      change([&](Module &m) { m.entries[0].programs[0].variants.pop_back(); }),
      "entry 'forward', program 'sm_90': expected a last variant without "
      "guards");
  refused(
      change([&](Module &m) { m.entries[0].programs[0].target = "mps"; }),
      "entry 'forward', program 'mps': unknown target, expected sm_*, gfx*, "
      "sim, sim:* or oracle");
  auto withRule = [&](SizeRule rule) {
    return change([&](Module &m) { m.entries[0].sizes = {std::move(rule)}; });
  };
  using rmsn::SizeRelation;
  refused(withRule({3, 0, SizeRelation::Equal, {constant(1)}}),
          "entry 'forward', rule 0 of sizes: expected an argument below 3, got "
          "3");
  refused(withRule({1, 1, SizeRelation::Equal, {constant(1)}}),
          "entry 'forward', rule 0 of sizes: expected a dimension below 1, got "
          "1");
  refused(withRule({0, 0, SizeRelation(3), {constant(1)}}),
          "entry 'forward', rule 0 of sizes: unknown relation 3");
  refused(withRule({0, 0, SizeRelation::Equal, {size(0, 2)}}),
          "entry 'forward', rule 0 of sizes: expected a dimension below 2, got "
          "2");
  refused(withRule({0, 0, SizeRelation::Equal, {stride(0, 0)}}),
          "entry 'forward', rule 0 of sizes: expected an expression of sizes, "
          "got Stride");
  refused(withRule({0, 0, SizeRelation::Equal, {multiprocessors()}}),
          "entry 'forward', rule 0 of sizes: expected an expression of sizes, "
          "got DeviceAttribute");
  refused(change([&](Module &m) {
            m.entries[0].sizes.resize(
                257, {0, 0, SizeRelation::Equal, {constant(1)}});
          }),
          "entry 'forward': expected at most 256 rules of sizes, got 257");
  refused(change([&](Module &m) { m.images[0].target = "sm_80"; }),
          launch + ": expected an image for the program's target, got one for "
                   "'sm_80'");
  refused(change([&](Module &m) { m.images[0].backend = rmsn::Backend::Hip; }),
          "image 0: expected backend cuda for target 'sm_90'");
  refused(change([&](Module &m) {
            m.images[0].binaries[0].first = rmsn::BinaryFormat::Elf;
          }),
          "image 0: a binary of format elf is not for backend cuda");
  refused(change([&](Module &m) { m.entries.push_back(m.entries[0]); }),
          "module: entry 'forward' stands there twice");
  refused(change([&](Module &m) { m.entries[0].arguments[1].name = "x"; }),
          "entry 'forward': argument 'x' stands there twice");
  refused(change([&](Module &m) {
            m.entries[0].arguments[0].dims = std::vector<int64_t>(9, 1);
          }),
          "entry 'forward': argument 'x': expected rank <= 8, got 9");
  refused(change([&](Module &m) {
            m.entries[0].arguments[0].dims = {-65, 1};
          }),
          "entry 'forward', argument 'x': expected a size >= 0 or a symbol "
          "-64..-1, got -65");
  refused(change([&](Module &m) {
            m.entries[0].arguments[0].bounds = {64, -65};
          }),
          "entry 'forward', argument 'x': expected a size >= 0 or a symbol "
          "-64..-1, got -65");
  refused(change([&](Module &m) { m.entries[0].arguments[0].alignment = 24; }),
          "entry 'forward', argument 'x': expected an alignment that is a "
          "power of two <= 4096, got 24");
  refused(change([&](Module &m) { m.entries[0].name = "a\nb"; }),
          "module: expected a printable entry name, got byte 0x0a");
}

TEST(ModuleTest, NullParameters) {
  Opened opened;
  EXPECT_EQ(rmsnorm_module_open_file(nullptr, &opened.module),
            RMSNORM_INVALID_ARGUMENT);
  EXPECT_STREQ(rmsnorm_last_error(), "path is null");
  EXPECT_EQ(rmsnorm_module_open_memory("", 0, nullptr),
            RMSNORM_INVALID_ARGUMENT);
  EXPECT_EQ(rmsnorm_module_get_info(nullptr, nullptr),
            RMSNORM_INVALID_ARGUMENT);
  rmsnorm_module_close(nullptr);
  rmsnorm_device_close(nullptr);
  rmsnorm_function_release(nullptr);
}

} // namespace
