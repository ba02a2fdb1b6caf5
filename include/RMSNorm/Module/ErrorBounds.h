// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ErrorBounds.h - how far outputs may be from the oracle's ----------===//

#ifndef RMSNORM_MODULE_ERRORBOUNDS_H
#define RMSNORM_MODULE_ERRORBOUNDS_H

#include "RMSNorm/Module/ModuleWriter.h"

#include "llvm/ADT/MapVector.h"

namespace mlir::rmsnorm {

/// Derives, by following the tile program of a function on memrefs from its
/// loads to its stores, how far each output may be from the oracle's. Outputs
/// that an operation without a rule feeds are left out. Keys are argument
/// numbers.
///
/// The unit is u = 2^-24, the relative error of one f32 rounding. Relative
/// errors of operands add up to first order.
/// - Loads and constants are exact, extensions keep the error, and so do
///   products of exact values whose significant bits fit.
/// - A product, quotient or sum rounds once: u. In a narrower type T it, or a
///   truncation to T, rounds what the oracle rounds too: nothing if the
///   operands are exact, else the rounding may fall to the other side, one ulp
///   of T.
/// - rsqrt halves its operand's error and adds 2 ulp (rsqrt.approx.f32, v_rsq):
///   4 u.
/// - Terms that are not negative do not cancel: their sum has the relative
///   error of the worst of them. Terms of any sign may, and their error is
///   then relative to the sum of their absolute values, the magnitude of the
///   value (rmsnorm-add-magnitudes), wherever the terms come from. So nothing
///   is assumed about data there; as gradients are about as large as their
///   terms, the bound stays a few u.
/// - A sum of T terms errs by (8 + sqrt(T)) u of its magnitude on top. Term k
///   passes through d_k additions, in each of which a rounding error of at most
///   u relative to a partial sum, itself at most the magnitude, is made. Taken
///   as independent and of mean zero (Higham and Mary, A New Approach to
///   Probabilistic Rounding Error Analysis, 2019), they add up to at most
///   lambda sqrt(d) u with probability 1 - 2 exp(-lambda^2 / 2). d is far below
///   T: a thread adds T / threads terms (dw: a block its rows), the rest is a
///   tree, which leaves lambda to 5 and more for every schedule but the
///   narrowest rows, where the 8 does.
/// - A term of dw that was rounded to a narrow type (`llama`, `none`) may have
///   been moved by an ulp of it. The chance of that is what the errors before
///   it are in those ulps, a few 2^-16, and independent from row to row, which
///   module.fbs turns into the share of the magnitude that moved. This is the
///   one place where something is assumed about data: no term is above 128
///   times the average one.
llvm::MapVector<unsigned, OutputErrorBound>
deriveErrorBounds(func::FuncOp function);

/// The argument that `buffer`, of a program over rows, is outside of it; null
/// if it is none.
BlockArgument getFunctionArgument(Value buffer);

/// The arguments whose rows a thread reads or writes in vectors, in order.
SmallVector<unsigned> getVectorArguments(func::FuncOp function);

} // namespace mlir::rmsnorm

#endif // RMSNORM_MODULE_ERRORBOUNDS_H
