// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Turns.h - which blocks of a launch are whose -----------------------===//

#ifndef RMSNORM_LIB_DISTRIBUTION_TURNS_H
#define RMSNORM_LIB_DISTRIBUTION_TURNS_H

#include "RMSNorm/Target/Targets.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::rmsnorm {

/// A block of a launch, as one of a part of it or of the others.
struct Place {
  /// Whether it is one of the part, and its number there or among the others.
  Value isInPart, numberInPart, numberInRest;
};

/// The first `part` blocks are those of the part. All are indices.
Place emitPlace(ImplicitLocOpBuilder &builder, Value block, Value part);

/// The share that `rest` has of `blocks` blocks, as emitPlaceInTurns takes it:
/// 0 if they are so few that `chip` holds them at once.
Value createShare(ImplicitLocOpBuilder &host, Value rest, Value blocks,
                  const ChipInfo &chip);

/// The rest have their `share` of each run of blocks. Where that is 0, the
/// first `part` blocks are those of the part.
Place emitPlaceInTurns(ImplicitLocOpBuilder &builder, Value block, Value part,
                       Value share);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_DISTRIBUTION_TURNS_H
