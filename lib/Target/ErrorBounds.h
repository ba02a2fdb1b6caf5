// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ErrorBounds.h - how far outputs may be from the oracle's ----------===//

#ifndef RMSNORM_LIB_TARGET_ERRORBOUNDS_H
#define RMSNORM_LIB_TARGET_ERRORBOUNDS_H

#include "RMSNorm/Target/ModuleWriter.h"

#include "llvm/ADT/MapVector.h"

namespace mlir::rmsnorm {

/// Derives, by following the tile program of a function on memrefs from its
/// loads to its stores, how far each output may be from the oracle's. Outputs
/// that an operation without a rule feeds are left out. Keys are argument
/// numbers.
///
/// The unit is u = 2^-24, the relative error of one f32 rounding. Relative
/// errors of operands add up to first order.
/// - Loads and constants are exact, extensions keep the error.
/// - A product, quotient or sum rounds once: u. In a narrower type T it, or a
///   truncation to T, rounds what the oracle rounds too: nothing if the
///   operands are exact, else the rounding may fall to the other side, one ulp
///   of T.
/// - A sum of terms that are not negative errs by (8 + sqrt(N)) u, on top of
///   the terms' own error: a thread adds N / threads terms one after another,
///   the rest is a tree, and its depth is below that for every schedule.
/// - rsqrt halves its operand's error and adds 2 ulp (rsqrt.approx.f32, v_rsq):
///   4 u.
/// - A sum of values of any sign may cancel: the error of an operand counts
///   absolutely, with the size a normalised value can have: sqrt(N) times a
///   weight, which is taken to be at most 4.
llvm::MapVector<unsigned, OutputErrorBound>
deriveErrorBounds(func::FuncOp function);

/// The arguments whose rows a thread reads or writes in vectors, in order.
SmallVector<unsigned> getVectorArguments(func::FuncOp function);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_TARGET_ERRORBOUNDS_H
