// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Targets.h - the table of chips ------------------------------------===//
//
// The one place that knows chips. Everything else asks for a property.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_TARGET_TARGETS_H
#define RMSNORM_TARGET_TARGETS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace mlir::rmsnorm {

enum class Vendor { Nvidia, Amd, Generic };

/// The f8 and f4 types that a chip has conversions for: none; f8E4M3FN and
/// f8E5M2; f8E4M3FNUZ; those of Ocp, f4E2M1FN and, NVIDIA's, f8E8M0FNU.
enum class Float8Conversions { None, Ocp, Fnuz, OcpAndF4 };

/// The properties of a chip that the compiler uses. Limits are per block,
/// unless said otherwise.
struct ChipInfo {
  llvm::StringLiteral name;
  Vendor vendor;
  /// Threads that execute in lockstep and can shuffle: 32 or 64.
  int64_t subgroupSize;
  /// Typical number of multiprocessors (SM, CU). For choices only: launches
  /// use the device's own count.
  int64_t multiprocessors;
  /// Threads and 32-bit registers of a multiprocessor.
  int64_t threadsPerMultiprocessor;
  int64_t registersPerMultiprocessor;
  int64_t maxThreadsPerBlock;
  /// Bytes of workgroup memory a block can ask for.
  int64_t maxWorkgroupMemory;
  /// Bytes of the cache that a multiprocessor's own accesses go through.
  int64_t l1Bytes;
  /// Bytes of the widest access of a thread.
  int64_t accessBytes;
  /// Bytes that the constant offset of an access to global memory reaches:
  /// accesses further apart have registers for their addresses.
  int64_t offsetBytes;
  /// Copies to workgroup memory that need no registers and run in the
  /// background.
  bool hasAsyncCopies;
  /// PTX ISA version as an LLVM feature ("+ptx80"), empty elsewhere.
  llvm::StringLiteral ptxFeature;
  /// Blocks of the largest cluster a kernel can be launched with; 1: none.
  int64_t maxClusterSize = 1;
  /// A kernel can be launched before the one before it has ended, and wait for
  /// that itself (programmatic dependent launch).
  bool hasDependentLaunch = false;
  Float8Conversions float8 = Float8Conversions::None;
};

/// All chips, by vendor and age.
llvm::ArrayRef<ChipInfo> getChips();

/// The entry named `name`, or null.
const ChipInfo *lookupChip(llvm::StringRef name);

/// "sm_80, sm_90, ..." for messages.
std::string getChipNames();

} // namespace mlir::rmsnorm

#endif // RMSNORM_TARGET_TARGETS_H
