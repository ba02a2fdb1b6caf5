// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rings.cpp - tiles in workgroup memory -----------------------------===//

#include "Rings.h"

#include "RMSNorm/IR/AccessMap.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rmsnorm;

Rings::Rings(Kernel &kernel, TilesOp tiles) : kernel(kernel), tiles(tiles) {
  const int64_t slots = tiles.getStages();
  for (size_t ring = 0; ring < tiles.getCopies().size(); ++ring)
    offsets.push_back(kernel.workgroup.reserve(
        slots * kernel.layout.getSlotBytes(getElementBytes(ring)),
        /*alignment=*/128));
}

int64_t Rings::getElementBytes(int64_t ring) const {
  TilesOp op = tiles;
  return rmsnorm::getElementBytes(op.getCopies()[ring]);
}

Value Rings::emitSlot(Value slot, int64_t distance) const {
  ImplicitLocOpBuilder &builder = kernel.builder;
  TilesOp op = tiles;
  Value limit = kernel.emitIndex(op.getStages() - distance);
  Value below =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, slot, limit);
  Value up = arith::AddIOp::create(builder, slot, kernel.emitIndex(distance));
  Value down = arith::SubIOp::create(builder, slot, limit);
  return arith::SelectOp::create(builder, below, up, down);
}

Value Rings::emitOffset(int64_t ring, Value slot) const {
  ImplicitLocOpBuilder &builder = kernel.builder;
  const int64_t bytes = getElementBytes(ring);
  auto scale = [&](Value value, int64_t factor) -> Value {
    return arith::MulIOp::create(builder, value, kernel.emitI32(factor));
  };
  Value slotBegin =
      scale(kernel.emitCast(slot), kernel.layout.getSlotBytes(bytes));
  Value part =
      scale(kernel.threads.thread, kernel.layout.getVectorWidth() * bytes);
  return kernel.emitColumnSum(kernel.emitColumnSum(part, slotBegin),
                              kernel.emitI32(offsets[ring]));
}

void Rings::emitAddresses(Addresses &addresses) const {
  TilesOp op = tiles;
  for (Value buffer : op.getCopies()) {
    const int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
    AffineMap plain = AccessMap::getPlain(op.getContext(), rank - 1,
                                          /*hasColumn=*/true);
    addresses.emitAccess(buffer, AccessMap(plain, /*hasColumn=*/true));
  }
}

void Rings::emitCopies(Tile &tile, Value slot) const {
  const Layout &layout = kernel.layout;
  TilesOp op = tiles;
  for (auto [ring, buffer] : llvm::enumerate(op.getCopies())) {
    Value pointer = kernel.getPointer(buffer);
    Value offset = emitOffset(ring, slot);
    auto fragment = VectorType::get({layout.getVectorWidth()},
                                    getElementTypeOrSelf(buffer));
    const VectorType whole = getTileType(1, RowsOp(kernel.rows).getDigits(),
                                         fragment.getElementType());
    for (int64_t row = 0; row < layout.getRowsPerGroup(); ++row)
      for (int64_t index = 0; index < layout.getNumVectors(); ++index) {
        VectorPosition position =
            emitPosition(kernel, kernel.threads.firstColumn, index,
                         !layout.isFull(index), tile.addresses.getColumns());
        const int64_t number = row * layout.getNumVectors() + index;
        Value to = kernel.emitColumnSum(
            offset,
            kernel.emitI32(number * layout.getSlotStep(getElementBytes(ring))));
        AsyncCopyOp::create(
            kernel.builder, pointer, tile.addresses.getOffset(buffer, row),
            position.column, to, position.valid,
            kernel.getAlignment(buffer, whole, bool(position.valid)), fragment);
      }
  }
}

void Rings::emitLoad(SlotLoadOp load, Value slot, int64_t begin,
                     int64_t count) const {
  const Layout &layout = kernel.layout;
  // After the tile's number.
  const int64_t ring = cast<BlockArgument>(load.getSlot()).getArgNumber() - 1;
  Value offset = emitOffset(ring, slot);
  SmallVector<Value> vectors;
  for (int64_t row = 0; row < kernel.getNumRows(load.getType()); ++row)
    for (int64_t index = 0; index < count; ++index) {
      const int64_t number = row * layout.getNumVectors() + begin + index;
      Value from = kernel.emitColumnSum(
          offset,
          kernel.emitI32(number * layout.getSlotStep(getElementBytes(ring))));
      vectors.push_back(WorkgroupLoadOp::create(
          kernel.builder, load.getLoc(), kernel.getFragmentType(load.getType()),
          from, load.getAgain()));
    }
  kernel.fragments[load] = std::move(vectors);
}

void Rings::release() {
  if (offsets.empty())
    return;
  kernel.workgroup.release(*llvm::min_element(offsets));
  offsets.clear();
  BarrierOp::create(kernel.builder);
}
