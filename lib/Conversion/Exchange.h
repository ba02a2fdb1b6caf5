// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Exchange.h - exchanges in device code -----------------------------===//

#ifndef RMSNORM_LIB_CONVERSION_EXCHANGE_H
#define RMSNORM_LIB_CONVERSION_EXCHANGE_H

#include "Common.h"

namespace mlir::rmsnorm {

/// The number of a publish, where it lies in the ring and what lies there.
struct ExchangePlace {
  ExchangePlace(ImplicitLocOpBuilder &b, ExchangeAttr exchange, Value number,
                Value group);

  /// Byte offset into workgroup memory of `publisher`'s value number `value`.
  Value getValue(ImplicitLocOpBuilder &b, Value publisher, int64_t value) const;
  /// Byte offset of the barrier of the slot and row group.
  Value getBarrier(ImplicitLocOpBuilder &b) const;
  /// 0 and 1 in turns, from one use of a slot to the next.
  Value getPhase(ImplicitLocOpBuilder &b) const;

private:
  ExchangeAttr exchange;
  Value number, group, slot; // i32
};

/// Replaces the ops of exchanges by mbarriers and, in clusters, st.async.
/// Refuses clusters the chip does not have.
LogicalResult lowerExchangesToMBarriers(gpu::GPUModuleOp module,
                                        const ChipInfo &chip);

/// Replaces them by stores, block barriers and loads. Refuses clusters.
LogicalResult lowerExchangesToBarriers(gpu::GPUModuleOp module,
                                       const ChipInfo &chip);

/// Whether the chip has clusters as large as the exchange's; an error if not.
LogicalResult checkCluster(ExchangeInitOp op, const ChipInfo &chip);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_CONVERSION_EXCHANGE_H
