// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Fill.h - inputs from a seed ---------------------------------------===//

#ifndef NORM_RUN_FILL_H
#define NORM_RUN_FILL_H

#include "Tensor.h"

namespace norm_run {

/// Fills argument number `index`. Tensors of rank >= 2, and any that stand
/// alone, are data: about normal, rows scaled from 2^-10 to 2^8, every eighth
/// one all zero, so that eps and cancelled scales show. Rank-1 tensors beside
/// them are weights or per-row factors: around 1, between 0 and 2. The same
/// values whatever the layout.
void fillInput(Tensor &tensor, uint64_t seed, unsigned index, bool isData);

/// Fills an output with bits that are NaN in every floating-point type, so that
/// an element that is not written shows.
void poison(Tensor &tensor);

} // namespace norm_run

#endif // NORM_RUN_FILL_H
