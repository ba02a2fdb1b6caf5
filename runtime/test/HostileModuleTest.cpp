//===- HostileModuleTest.cpp - thousands of broken modules ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whatever the bytes, opening either refuses with a message or yields a module
// that can be inspected, prepared and launched without crashing. Hashes are
// corrected after most changes, since they are no defence against an author.

#include "Tensor.h"
#include "TestModule.h"
#include "rmsnorm/rmsnorm.h"

#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace test;

namespace {

struct Counts {
  int opened = 0, refused = 0, prepared = 0;
};

class HostileModuleTest : public testing::Test {
protected:
  static void SetUpTestSuite() {
    rmsnorm_device_options options;
    rmsnorm_device_options_init(&options);
    options.driver_library = FAKE_CUDA_PATH;
    ASSERT_EQ(rmsnorm_device_open(RMSNORM_CUDA, &options, &device), RMSNORM_OK)
        << rmsnorm_last_error();
  }
  static void TearDownTestSuite() { rmsnorm_device_close(device); }

  /// Opens, and where that works uses, everything in `file`.
  void use(const std::string &file) {
    rmsnorm_module *module = nullptr;
    rmsnorm_status status =
        rmsnorm_module_open_memory(file.data(), file.size(), &module);
    if (status != RMSNORM_OK) {
      ++counts.refused;
      ASSERT_NE(*rmsnorm_last_error(), 0);
      ASSERT_EQ(module, nullptr);
      return;
    }
    ++counts.opened;
    char *text = nullptr;
    EXPECT_EQ(rmsnorm_module_describe(module, &text), RMSNORM_OK);
    rmsnorm_free(text);
    rmsnorm_describe_options json = {nullptr, nullptr, true};
    EXPECT_EQ(rmsnorm_module_describe_with(module, &json, &text), RMSNORM_OK);
    rmsnorm_free(text);
    rmsnorm_module_info info;
    rmsnorm_module_get_info(module, &info);
    for (size_t e = 0; e < info.entry_count; ++e)
      launch(module, e);
    rmsnorm_module_close(module);
  }

  void launch(rmsnorm_module *module, size_t index) {
    rmsnorm_entry_info entry;
    ASSERT_EQ(rmsnorm_module_get_entry(module, index, &entry), RMSNORM_OK);
    int64_t symbols[RMSNORM_MAX_SYMBOLS] = {7};
    std::fill(symbols + 1, std::end(symbols), -1);
    rmsnorm_module_infer_sizes(module, index, symbols);
    std::vector<Tensor> tensors;
    for (size_t a = 0; a < entry.argument_count; ++a) {
      rmsnorm_argument_info argument;
      ASSERT_EQ(rmsnorm_module_get_argument(module, index, a, &argument),
                RMSNORM_OK);
      std::vector<int64_t> sizes;
      for (int d = 0; d < argument.rank; ++d)
        sizes.push_back(argument.dims[d] < 0 ? 5 : argument.dims[d]);
      tensors.emplace_back(reinterpret_cast<void *>((a + 1) << 24), CUDA0,
                           argument.dtype, sizes);
    }
    std::vector<DLTensor *> arguments;
    for (Tensor &tensor : tensors)
      arguments.push_back(&tensor);
    rmsnorm_function *function = nullptr;
    if (rmsnorm_prepare(module, entry.name, device, &function) != RMSNORM_OK)
      return;
    ++counts.prepared;
    uint64_t bytes = 0;
    rmsnorm_workspace_size(function, arguments.data(), arguments.size(),
                           &bytes);
    rmsnorm_launch(function, arguments.data(), arguments.size(),
                   reinterpret_cast<void *>(0x1000), bytes, nullptr);
    rmsnorm_function_release(function);
  }

  static std::string sample() {
    Module module = forwardModule("sm_90", rmsn::Backend::Cuda,
                                  rmsn::BinaryFormat::Ptx, "fake ptx");
    Variant &variant = module.entries[0].programs[0].variants[0];
    variant.workspace = {size(0, 0), constant(256),
                         op(rmsn::ExpressionOpcode::Mul)};
    variant.launches[0].parameters.push_back(
        {rmsn::ParameterKind::Workspace, 0, {constant(64)}});
    variant.launches[0].sharedMemory = {constant(1024)};
    module.entries[0].sizes = {
        {2,
         0,
         rmsn::SizeRelation::AtLeast,
         {size(0, 0), constant(2), op(rmsn::ExpressionOpcode::FloorDiv)}}};
    return module.file();
  }

  void report(const char *what) {
    std::printf("  %s: %d refused, %d opened, %d prepared\n", what,
                counts.refused, counts.opened, counts.prepared);
  }

  static rmsnorm_device *device;
  Counts counts;
  /// --gtest_random_seed=N draws other modules.
  std::mt19937_64 random{
      20261121 + uint64_t(testing::UnitTest::GetInstance()->random_seed())};
};

rmsnorm_device *HostileModuleTest::device = nullptr;

/// Whether the hash field can be found, so that it can be corrected.
bool restampIfPossible(std::string &file) {
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t *>(file.data()),
                                 file.size());
  if (file.size() < 16 || !rmsn::VerifyModuleBuffer(verifier))
    return false;
  restamp(file);
  return true;
}

TEST_F(HostileModuleTest, TheSampleItselfWorks) {
  use(sample());
  EXPECT_EQ(counts.prepared, 1);
}

TEST_F(HostileModuleTest, Truncated) {
  const std::string good = sample();
  for (size_t size = 0; size < good.size(); ++size) {
    std::string cut = good.substr(0, size);
    restampIfPossible(cut);
    use(cut);
  }
  report("truncated");
  EXPECT_GT(counts.refused, 1000);
}

TEST_F(HostileModuleTest, EveryByteChanged) {
  const std::string good = sample();
  for (size_t i = 0; i < good.size(); ++i)
    for (int value : {0, 1, 0x7f, 0x80, 0xff}) {
      std::string file = good;
      file[i] = char(value);
      restampIfPossible(file);
      use(file);
    }
  report("one byte changed");
  EXPECT_GT(counts.opened, 1000); // the hash does not hide the deeper checks
}

TEST_F(HostileModuleTest, ManyBytesChanged) {
  const std::string good = sample();
  for (int round = 0; round < 10000; ++round) {
    std::string file = good;
    for (int change = 1 + random() % 8; change > 0; --change) {
      size_t at = random() % file.size();
      switch (random() % 3) {
      case 0:
        file[at] = char(random());
        break;
      case 1: { // an offset or a number
        uint32_t word = random() % 2 ? random() % file.size() : random();
        at &= ~size_t(3);
        std::memcpy(&file[at], &word, std::min<size_t>(4, file.size() - at));
        break;
      }
      case 2: { // a piece of the file elsewhere
        size_t from = random() % file.size(), length = random() % 64;
        length = std::min({length, file.size() - from, file.size() - at});
        std::memmove(&file[at], &good[from], length);
        break;
      }
      }
    }
    restampIfPossible(file);
    use(file);
  }
  report("several bytes changed");
}

TEST_F(HostileModuleTest, Random) {
  for (int round = 0; round < 2000; ++round) {
    std::string file(random() % 2048, 0);
    for (char &c : file)
      c = char(random());
    if (file.size() >= 8)
      std::memcpy(&file[4], "RMSN", 4);
    restampIfPossible(file);
    use(file);
  }
  report("random");
  EXPECT_EQ(counts.opened, 0);
}

/// Files that are well formed and mostly keep the rules, so that strange
/// expressions, guards and parameters reach the launch.
TEST_F(HostileModuleTest, StrangeDescriptions) {
  auto pick = [&](std::initializer_list<int64_t> values) {
    return *(values.begin() + random() % values.size());
  };
  auto strangeOps = [&](unsigned limit) {
    Ops ops;
    int depth = 0;
    for (unsigned i = 0; i < limit || depth != 1; ++i) {
      if (depth < 2 || (i < limit && random() % 2)) {
        ops.push_back(
            Op(pick({0, 1, -1, 2, 4096, INT64_MAX, INT64_MIN, 1 << 30}),
               rmsn::ExpressionOpcode(random() % 3), random() % 2,
               random() % 20 ? pick({0, 0, 2}) : random() % 5));
        ++depth;
      } else {
        ops.push_back(op(rmsn::ExpressionOpcode(4 + random() % 8)));
        --depth;
      }
    }
    return ops;
  };
  for (int round = 0; round < 5000; ++round) {
    Module module = forwardModule("sm_90", rmsn::Backend::Cuda,
                                  rmsn::BinaryFormat::Ptx, "fake ptx");
    Variant &variant = module.entries[0].programs[0].variants[0];
    variant.guards.clear();
    for (int g = random() % 3; g > 0; --g)
      variant.guards.push_back(
          {rmsn::GuardKind(random() % 3), unsigned(random() % 3), strangeOps(5),
           pick({1, 2, 16, INT64_MAX}), pick({INT64_MIN, 0, 1}),
           pick({INT64_MAX, 0, 1})});
    if (random() % 2)
      variant.workspace = strangeOps(4);
    Launch &launch = variant.launches[0];
    launch.gridX = strangeOps(1 + random() % 20);
    if (random() % 4 == 0)
      launch.gridY = strangeOps(3);
    if (random() % 2)
      launch.sharedMemory = strangeOps(3);
    launch.blockX = pick({1, 128, 1024});
    launch.blocksPerMultiprocessor = pick({0, 0, 1, 64, 65, UINT32_MAX});
    for (Parameter &parameter : launch.parameters)
      parameter = {rmsn::ParameterKind(random() % 5), unsigned(random() % 3),
                   strangeOps(1 + random() % 9)};
    use(module.file());
  }
  report("strange descriptions");
  EXPECT_GT(counts.prepared, 1000);
}

/// Sharing one table everywhere unfolds a few hundred kilobytes into 10^12
/// tables; that must be refused at once, not visited.
TEST_F(HostileModuleTest, SharedTablesDoNotUnfold) {
  flatbuffers::FlatBufferBuilder fb;
  constexpr size_t many = 10000;
  Ops one = {constant(1)};
  auto launch = rmsn::CreateLaunchDirect(
      fb, 0, "k", rmsn::CreateExpressionDirect(fb, &one));
  std::vector<flatbuffers::Offset<rmsn::Launch>> launches(many, launch);
  auto variant =
      rmsn::CreateVariantDirect(fb, "v", nullptr, nullptr, 0, &launches);
  std::vector<flatbuffers::Offset<rmsn::Variant>> variants(many, variant);
  auto program = rmsn::CreateProgramDirect(fb, "sm_90", &variants);
  std::vector<flatbuffers::Offset<rmsn::Program>> programs(many, program);
  std::vector<flatbuffers::Offset<rmsn::Argument>> arguments;
  auto entry = rmsn::CreateEntryDirect(fb, "e", &arguments, &programs);
  std::vector<flatbuffers::Offset<rmsn::Entry>> entries = {entry};
  std::vector<flatbuffers::Offset<rmsn::Image>> images;
  rmsn::ContentHash hash(0, 0);
  rmsn::FinishModuleBuffer(
      fb, rmsn::CreateModuleDirect(fb, 1, "", &hash, &entries, &images));
  rmsn::stampContentHash(fb.GetBufferPointer(), fb.GetSize());
  use(std::string(reinterpret_cast<char *>(fb.GetBufferPointer()),
                  fb.GetSize()));
  EXPECT_EQ(counts.refused, 1);
}

} // namespace
