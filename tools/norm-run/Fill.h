// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Fill.h - inputs from a seed ---------------------------------------===//

#ifndef NORM_RUN_FILL_H
#define NORM_RUN_FILL_H

#include "Tensor.h"

namespace norm_run {

/// What an input is, told by its shape.
enum class InputKind {
  /// Rank >= 2, or nothing of rank >= 2 is there: about normal, rows scaled
  /// from 2^-10 to 2^8, every eighth one all zero, so that eps and cancelled
  /// scales show.
  Data,
  /// Rank 1 beside data: a weight, around 1, between 0 and 2.
  Weight,
};

/// Fills argument number `index`. The same values whatever the layout. The
/// scales of rows begin at number `shift` of their list: two tensors of which
/// one is small where the other is large.
void fillInput(Tensor &tensor, uint64_t seed, unsigned index, InputKind kind,
               unsigned shift = 0);

/// Fills an input that has a value for each row of `data`: the reciprocal of
/// the row's root mean square, as rstd is for an eps of 1e-5.
void fillRowFactors(Tensor &tensor, const Tensor &data);

/// Fills an output with bits that are NaN in every floating-point type, so that
/// an element that is not written shows.
void poison(Tensor &tensor);

} // namespace norm_run

#endif // NORM_RUN_FILL_H
