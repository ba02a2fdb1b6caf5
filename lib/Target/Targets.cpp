// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Targets.cpp - the table of chips ----------------------------------===//

#include "RMSNorm/Target/Targets.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir::rmsnorm;

// Sources: CUDA C++ Programming Guide, "Compute Capabilities"; LLVM's AMDGPU
// usage guide; vendors' data sheets for the number of multiprocessors.
static constexpr ChipInfo kChips[] = {
    // name, vendor, subgroup, SMs, threads/SM, registers/SM, threads/block,
    // workgroup memory, L1, access, asynchronous copies, PTX, blocks/cluster,
    // dependent launch, f8
    {"sm_80", Vendor::Nvidia, 32, 108, 2048, 65536, 1024, 163 << 10, 192 << 10,
     16, true, "+ptx80"},
    {"sm_90", Vendor::Nvidia, 32, 132, 2048, 65536, 1024, 227 << 10, 256 << 10,
     16, true, "+ptx81", 16, true, Float8Conversions::Ocp},
    {"sm_100", Vendor::Nvidia, 32, 148, 2048, 65536, 1024, 227 << 10, 256 << 10,
     32, true, "+ptx86", 16, true, Float8Conversions::Ocp},
    // Its code, with instructions that no later chip has, either.
    {"sm_100a", Vendor::Nvidia, 32, 148, 2048, 65536, 1024, 227 << 10,
     256 << 10, 32, true, "+ptx86", 16, true, Float8Conversions::OcpAndF4},
    {"gfx90a", Vendor::Amd, 64, 104, 2048, 131072, 1024, 64 << 10, 16 << 10, 16,
     false, ""},
    {"gfx942", Vendor::Amd, 64, 304, 2048, 131072, 1024, 64 << 10, 32 << 10, 16,
     false, "", 1, false, Float8Conversions::Fnuz},
    {"gfx950", Vendor::Amd, 64, 256, 2048, 131072, 1024, 160 << 10, 32 << 10,
     16, false, "", 1, false, Float8Conversions::OcpAndF4},
    {"gfx1100", Vendor::Amd, 32, 96, 2048, 98304, 1024, 64 << 10, 32 << 10, 16,
     false, ""},
    // Nobody's chip: for tests of either subgroup size on the simulator.
    {"sim32", Vendor::Generic, 32, 4, 2048, 65536, 1024, 64 << 10, 16 << 10, 16,
     false, "", 16},
    {"sim64", Vendor::Generic, 64, 4, 2048, 65536, 1024, 64 << 10, 16 << 10, 16,
     false, "", 16},
};

llvm::ArrayRef<ChipInfo> mlir::rmsnorm::getChips() { return kChips; }

const ChipInfo *mlir::rmsnorm::lookupChip(llvm::StringRef name) {
  const ChipInfo *chip = llvm::find_if(
      kChips, [&](const ChipInfo &chip) { return chip.name == name; });
  return chip == std::end(kChips) ? nullptr : chip;
}

std::string mlir::rmsnorm::getChipNames() {
  return llvm::join(llvm::map_range(kChips,
                                    [](const ChipInfo &chip) -> std::string {
                                      return chip.name.str();
                                    }),
                    ", ");
}
