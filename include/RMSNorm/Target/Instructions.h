// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Instructions.h - what code generation asks of a chip ---------------===//
//
// The part of the table of chips that schedules do not depend on. It has a
// header of its own because Targets.h reaches nearly every file.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_TARGET_INSTRUCTIONS_H
#define RMSNORM_TARGET_INSTRUCTIONS_H

#include "RMSNorm/Target/Targets.h"

namespace mlir::rmsnorm {

/// Instructions that some chips of a vendor have and others do not.
struct ChipInstructions {
  /// Its code runs on no other chip. Other chips' PTX the driver compiles for
  /// later ones, too.
  bool runsOnThisChipOnly = false;
  /// PTX `createpolicy`, and loads and stores with `.L2::cache_hint`.
  bool hasCachePolicies = false;
  /// `v_permlanex16_b32`: an exchange between the halves of 32 threads.
  bool hasPermlaneX16 = false;
  /// LLVM names 16-bit halves of registers ("true16").
  bool hasTrue16 = false;
};

/// Those of an entry of the table.
const ChipInstructions &getInstructions(const ChipInfo &chip);

/// The chip to compile for instead of `name`, which is no entry of the table:
/// "; the nearest older chip is sm_87, whose PTX runs on sm_88". Empty where
/// nothing is known.
std::string getAdvice(llvm::StringRef name);

} // namespace mlir::rmsnorm

#endif // RMSNORM_TARGET_INSTRUCTIONS_H
