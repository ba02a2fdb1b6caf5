// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reduce.h - the sum of a subgroup, and its like --------------------===//

#ifndef RMSNORM_SIM_REDUCE_H
#define RMSNORM_SIM_REDUCE_H

#include <cstdint>

namespace rmsnorm::sim {

/// Replaces the values of `count` lanes by the combination over their part of
/// `width`. The butterfly gives all threads of a part the root of one and the
/// same tree, so it is enough to compute that. At step s the value of lanes
/// [i, i + 2^s) is combined with that of the next 2^s lanes, lower lanes on the
/// left. Lanes that the last subgroup of a block lacks contribute nothing.
void reduceLanes(float *values, int32_t count, int32_t width, int32_t kind);

} // namespace rmsnorm::sim

#endif // RMSNORM_SIM_REDUCE_H
