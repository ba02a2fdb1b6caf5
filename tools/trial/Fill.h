// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Fill.h - inputs from a seed ---------------------------------------===//

#ifndef TRIAL_FILL_H
#define TRIAL_FILL_H

#include "Run.h"
#include "Tensor.h"

namespace trial {

/// The kind of an input, by its shape.
enum class InputKind {
  /// Rank >= 2, or nothing of rank >= 2 is there: about normal, rows scaled
  /// from 2^-10 to 2^8, every eighth one all zero, so that eps and cancelled
  /// scales show. A few rows in 64 are special: with a NaN, an infinity or a
  /// subnormal, of ties alone, tiny where the other tensors are zero.
  Data,
  /// The same without NaNs and infinities, for rows that are summed up.
  FiniteData,
  /// Rank 1 beside data: a weight, around 1, between 0 and 2.
  Weight,
};

/// Fills argument number `index`, the data's number `ordinal`. The same values
/// whatever the layout. The scales of rows of four tensors of data differ: one
/// is small where another is large, or special.
void fillInput(Tensor &tensor, uint64_t seed, unsigned index, InputKind kind,
               unsigned ordinal = 0);

/// Fills argument number `index` with indices below `bound`.
void fillIndices(Tensor &tensor, uint64_t seed, unsigned index, int64_t bound,
                 bool distinct);

/// Fills an input that has a value for each row of `data`: the reciprocal of
/// the row's root mean square, as rstd is for an eps of 1e-5.
void fillRowFactors(Tensor &tensor, const Tensor &data);

/// Fills an output with bits that are NaN in every floating-point type, so that
/// an element that is not written shows.
void poison(Tensor &tensor);

/// Adds tensors of the plan's shapes in the layout asked for, of any contents.
/// False, with `error`, if one cannot be made.
bool makeTensors(const Plan &plan, const Options &options,
                 std::vector<Tensor> &tensors, std::string &error);

/// Inputs from the seed, poisoned outputs.
void fillTensors(const Plan &plan, const Options &options,
                 std::vector<Tensor> &tensors);

/// As makeTensors, with the contents of `from`.
bool copyTensors(const Plan &plan, const std::vector<Tensor> &from,
                 const Options &options, std::vector<Tensor> &copies,
                 std::string &error);

} // namespace trial

#endif // TRIAL_FILL_H
