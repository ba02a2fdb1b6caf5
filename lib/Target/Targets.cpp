// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Targets.cpp - the table of chips ----------------------------------===//

#include "RMSNorm/Target/Targets.h"
#include "RMSNorm/Target/Instructions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <array>
#include <optional>

using namespace mlir::rmsnorm;

namespace {

/// A line of the table. Each function sets the field that it names.
struct Row {
  ChipInfo info;
  ChipInstructions instructions;

#define FIELD(FUNCTION, TYPE, PLACE, VALUE)                                    \
  constexpr Row FUNCTION(TYPE value) const {                                   \
    Row row = *this;                                                           \
    row.PLACE = VALUE;                                                         \
    return row;                                                                \
  }
#define FLAG(FUNCTION, PLACE)                                                  \
  constexpr Row FUNCTION() const {                                             \
    Row row = *this;                                                           \
    row.PLACE = true;                                                          \
    return row;                                                                \
  }
  FIELD(multiprocessors, int64_t, info.multiprocessors, value)
  /// Threads of a multiprocessor, and its registers in units of 1024.
  FIELD(threads, int64_t, info.threadsPerMultiprocessor, value)
  FIELD(registersK, int64_t, info.registersPerMultiprocessor, value << 10)
  /// Workgroup memory of a block and L1 of a multiprocessor, in KiB.
  FIELD(workgroupKiB, int64_t, info.maxWorkgroupMemory, value << 10)
  FIELD(l1KiB, int64_t, info.l1Bytes, value << 10)
  FIELD(access, int64_t, info.accessBytes, value)
  FIELD(offsetBits, int64_t, info.offsetBytes, int64_t(1) << (value - 1))
  FIELD(ptx, llvm::StringLiteral, info.ptxFeature, value)
  FIELD(clusters, int64_t, info.maxClusterSize, value)
  FIELD(float8, Float8Conversions, info.float8, value)
  FLAG(asyncCopies, info.hasAsyncCopies)
  FLAG(dependentLaunch, info.hasDependentLaunch)
  FLAG(thisChipOnly, instructions.runsOnThisChipOnly)
  FLAG(cachePolicies, instructions.hasCachePolicies)
  FLAG(permlaneX16, instructions.hasPermlaneX16)
  FLAG(true16, instructions.hasTrue16)
#undef FIELD
#undef FLAG
};

/// The properties of all chips: 1024 threads a block, accesses of 16 bytes with
/// signed offsets of 24 bits.
constexpr Row base(llvm::StringLiteral name, Vendor vendor, int64_t subgroup) {
  return {{name, vendor, subgroup, /*multiprocessors=*/0,
           /*threadsPerMultiprocessor=*/0, /*registersPerMultiprocessor=*/65536,
           /*maxThreadsPerBlock=*/1024, /*maxWorkgroupMemory=*/0,
           /*l1Bytes=*/0, /*accessBytes=*/16, /*offsetBytes=*/1 << 23,
           /*hasAsyncCopies=*/false,
           /*ptxFeature=*/""},
          {}};
}

//===----------------------------------------------------------------------===//
// Generations, for what all their chips have
//===----------------------------------------------------------------------===//

// PTX ISA, "Target ISA Notes": cp.async and createpolicy have come with sm_80,
// griddepcontrol and clusters with sm_90, ld.v8.b32 with sm_100, cvt to e4m3x2
// with sm_89. CUDA C++ Programming Guide, "Thread Block Clusters": 8 blocks
// everywhere.
constexpr Row turing(llvm::StringLiteral name) {
  return base(name, Vendor::Nvidia, 32).registersK(64);
}

constexpr Row ampere(llvm::StringLiteral name) {
  return turing(name).asyncCopies().cachePolicies();
}

constexpr Row ada(llvm::StringLiteral name) {
  return ampere(name).float8(Float8Conversions::Ocp);
}

constexpr Row hopper(llvm::StringLiteral name) {
  return ada(name).clusters(8).dependentLaunch();
}

constexpr Row blackwell(llvm::StringLiteral name) {
  return hopper(name).access(32);
}

// LLVM's AMDGPU usage guide, "Processors", and AMD's manuals of each ISA: code
// of a chip runs on that chip. Subgroups are of 64 threads on CDNA. offsetBits:
// LLVM, AMDGPUBaseInfo.cpp, getNumFlatOffsetBits.
constexpr Row cdna(llvm::StringLiteral name) {
  return base(name, Vendor::Amd, 64).thisChipOnly().offsetBits(13);
}

/// RDNA: subgroups of 32. A multiprocessor is a compute unit, but blocks are on
/// workgroup processors, of two units (LLVM's default): `threads` is of both.
constexpr Row rdna(llvm::StringLiteral name) {
  return base(name, Vendor::Amd, 32)
      .thisChipOnly()
      .permlaneX16()
      .threads(2048)
      .workgroupKiB(64);
}

/// LLVM uses true16 by default for RDNA 3 alone.
constexpr Row rdna3(llvm::StringLiteral name) {
  return rdna(name).offsetBits(13).true16();
}

constexpr Row rdna4(llvm::StringLiteral name) {
  return rdna(name).float8(Float8Conversions::Ocp);
}

constexpr Row generic(llvm::StringLiteral name, int64_t subgroup) {
  return base(name, Vendor::Generic, subgroup).clusters(16).thisChipOnly();
}

} // namespace

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

// NVIDIA: threads, workgroupKiB and l1KiB are of the CUDA C++ Programming
// Guide, "Compute Capabilities"; the first two are in CCCL's arch_traits.h,
// too. Clusters of 16: Hopper and Blackwell Tuning Guides, "Thread Block
// Clusters". ptx is the version that has the chip and all its instructions
// (LLVM, NVPTX.td), 8.0 at least. multiprocessors: the data sheet of the
// product at the end of the line. AMD: threads are waves of a SIMD by SIMDs,
// registersK those of the SIMDs (LLVM, AMDGPUBaseInfo.cpp, getMaxWavesPerEU
// and getTotalNumVGPRs). workgroupKiB is LDS of a block (AMDGPU usage guide).
// l1KiB and multiprocessors are of AMD's data sheets and white papers of each
// architecture.
// clang-format off
static constexpr Row kRows[] = {
    turing("sm_75").multiprocessors(68).threads(1024).workgroupKiB(64).l1KiB(96).ptx("+ptx80"), // RTX 2080 Ti
    ampere("sm_80").multiprocessors(108).threads(2048).workgroupKiB(163).l1KiB(192).ptx("+ptx80"), // A100
    ampere("sm_86").multiprocessors(82).threads(1536).workgroupKiB(99).l1KiB(128).ptx("+ptx80"), // RTX 3090
    ampere("sm_87").multiprocessors(16).threads(1536).workgroupKiB(163).l1KiB(192).ptx("+ptx80"), // Jetson AGX Orin
    ada("sm_89").multiprocessors(128).threads(1536).workgroupKiB(99).l1KiB(128).ptx("+ptx81"), // RTX 4090
    hopper("sm_90").multiprocessors(132).threads(2048).workgroupKiB(227).l1KiB(256).clusters(16).ptx("+ptx81"), // H100
    hopper("sm_90a").multiprocessors(132).threads(2048).workgroupKiB(227).l1KiB(256).clusters(16).ptx("+ptx81").thisChipOnly(), // H100
    blackwell("sm_100").multiprocessors(148).threads(2048).workgroupKiB(227).l1KiB(256).clusters(16).ptx("+ptx86"), // B200
    blackwell("sm_100a").multiprocessors(148).threads(2048).workgroupKiB(227).l1KiB(256).clusters(16).ptx("+ptx86").float8(Float8Conversions::OcpAndF4).thisChipOnly(), // B200
    blackwell("sm_103").multiprocessors(148).threads(2048).workgroupKiB(227).l1KiB(256).clusters(16).ptx("+ptx88"), // B300
    blackwell("sm_110").multiprocessors(20).threads(1536).workgroupKiB(227).l1KiB(256).ptx("+ptx90"), // Jetson Thor
    blackwell("sm_120").multiprocessors(170).threads(1536).workgroupKiB(99).l1KiB(128).ptx("+ptx87"), // RTX 5090
    blackwell("sm_121").multiprocessors(48).threads(1536).workgroupKiB(99).l1KiB(128).ptx("+ptx88"), // GB10 (DGX Spark)

    cdna("gfx908").multiprocessors(120).threads(2560).registersK(64).workgroupKiB(64).l1KiB(16), // MI100
    cdna("gfx90a").multiprocessors(104).threads(2048).registersK(128).workgroupKiB(64).l1KiB(16), // MI210
    cdna("gfx942").multiprocessors(304).threads(2048).registersK(128).workgroupKiB(64).l1KiB(32).float8(Float8Conversions::Fnuz), // MI300X
    cdna("gfx950").multiprocessors(256).threads(2048).registersK(128).workgroupKiB(160).l1KiB(32).float8(Float8Conversions::OcpAndF4), // MI350X
    rdna("gfx1030").offsetBits(12).multiprocessors(80).registersK(64).l1KiB(16), // RX 6900 XT
    rdna3("gfx1100").multiprocessors(96).registersK(96).l1KiB(32), // RX 7900 XTX
    rdna3("gfx1101").multiprocessors(60).registersK(96).l1KiB(32), // RX 7800 XT
    rdna3("gfx1102").multiprocessors(32).registersK(64).l1KiB(32), // RX 7600
    rdna3("gfx1103").multiprocessors(12).registersK(64).l1KiB(32), // Radeon 780M
    rdna3("gfx1150").multiprocessors(16).registersK(64).l1KiB(32), // Radeon 890M
    rdna3("gfx1151").multiprocessors(40).registersK(96).l1KiB(32), // Radeon 8060S
    rdna4("gfx1200").multiprocessors(32).registersK(96).l1KiB(32), // RX 9060 XT
    rdna4("gfx1201").multiprocessors(64).registersK(96).l1KiB(32), // RX 9070 XT

    // Nobody's chip: for tests of either subgroup size on the simulator.
    generic("sim32", 32).multiprocessors(4).threads(2048).registersK(64).workgroupKiB(64).l1KiB(16),
    generic("sim64", 64).multiprocessors(4).threads(2048).registersK(64).workgroupKiB(64).l1KiB(16),
};
// clang-format on

template <size_t... I>
static constexpr std::array<ChipInfo, sizeof...(I)>
takeInfos(std::index_sequence<I...>) {
  return {{kRows[I].info...}};
}

static constexpr auto kChips =
    takeInfos(std::make_index_sequence<std::size(kRows)>());

llvm::ArrayRef<ChipInfo> mlir::rmsnorm::getChips() { return kChips; }

const ChipInfo *mlir::rmsnorm::lookupChip(llvm::StringRef name) {
  const ChipInfo *chip = llvm::find_if(
      kChips, [&](const ChipInfo &chip) { return chip.name == name; });
  return chip == kChips.end() ? nullptr : chip;
}

const ChipInstructions &mlir::rmsnorm::getInstructions(const ChipInfo &chip) {
  const Row *row = llvm::find_if(
      kRows, [&](const Row &row) { return row.info.name == chip.name; });
  assert(row != std::end(kRows) && "expected a chip of the table");
  return row->instructions;
}

std::string mlir::rmsnorm::getChipNames() {
  return llvm::join(llvm::map_range(kChips,
                                    [](const ChipInfo &chip) -> std::string {
                                      return chip.name.str();
                                    }),
                    ", ");
}

//===----------------------------------------------------------------------===//
// Chips that are not in it
//===----------------------------------------------------------------------===//

/// 89 of "sm_89", 90 of "sm_90a".
static std::optional<int> getCapability(llvm::StringRef name) {
  int number;
  if (!name.consume_front("sm_") || name.consumeInteger(10, number) ||
      name.size() > 1)
    return std::nullopt;
  return number;
}

std::string mlir::rmsnorm::getAdvice(llvm::StringRef name) {
  name.consume_front("sim:");
  if (name.starts_with("gfx"))
    return "; code for a chip of AMD's runs on no other";
  std::optional<int> capability = getCapability(name);
  if (!capability)
    return "";
  // The table is by age.
  const Row *nearest = nullptr, *oldest = nullptr;
  for (const Row &row : kRows) {
    std::optional<int> other = getCapability(row.info.name);
    if (!other || row.instructions.runsOnThisChipOnly)
      continue;
    if (!oldest)
      oldest = &row;
    if (*other <= *capability)
      nearest = &row;
  }
  if (nearest)
    return ("; the nearest older chip is " + nearest->info.name +
            ", whose PTX runs on " + name)
        .str();
  return ("; the oldest chip of NVIDIA's is " + oldest->info.name).str();
}
