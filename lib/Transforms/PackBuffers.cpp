// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PackBuffers.cpp - buffers whose columns lie side by side ----------===//

#include "PackBuffers.h"

#include "RMSNorm/IR/AccessMap.h"
#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// The buffers whose columns `op` accesses, and whether it writes them.
static SmallVector<std::pair<Value, bool>, 2> getColumnsBuffers(Operation &op) {
  if (auto load = dyn_cast<TileLoadOp>(op);
      load && load.getKind() != TileKind::row)
    return {{load.getBase(), false}};
  if (auto store = dyn_cast<TileStoreOp>(op);
      store && store.getAccess().hasColumnLast())
    return {{store.getBase(), true}};
  if (auto sum = dyn_cast<AccumulateOp>(op))
    return {{sum.getDest(), true}, {sum.getInit(), false}};
  return {};
}

static void copyAround(scf::ForallOp loop, Value buffer, bool isWritten) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(memref::DimOp::create(builder, loc, buffer, dim));
  Value packed = memref::AllocOp::create(
      builder, loc,
      MemRefType::get(type.getShape(), type.getElementType(),
                      MemRefLayoutAttrInterface(), type.getMemorySpace()),
      sizes);
  // Also where it is only written: not all of it may be.
  memref::CopyOp::create(builder, loc, buffer, packed);
  buffer.replaceUsesWithIf(packed, [&](OpOperand &use) {
    return loop->isProperAncestor(use.getOwner());
  });
  builder.setInsertionPointAfter(loop);
  if (isWritten)
    memref::CopyOp::create(builder, loc, packed, buffer);
  memref::DeallocOp::create(builder, loc, packed);
}

LogicalResult rmsnorm::packBuffers(scf::ForallOp loop, bool copies) {
  llvm::MapVector<Value, bool> strided;
  for (Operation &op : *loop.getBody())
    for (auto [buffer, isWritten] : getColumnsBuffers(op)) {
      auto type =
          buffer ? dyn_cast<MemRefType>(buffer.getType()) : MemRefType();
      if (!type || type.isLastDimUnitStride() ||
          loop->isAncestor(buffer.getParentBlock()->getParentOp()))
        continue;
      if (!copies) {
        InFlightDiagnostic error =
            op.emitOpError("expected a buffer with an inner stride of 1, got ")
            << type;
        error.attachNote()
            << "one-shot-bufferize{function-boundary-type-conversion="
               "identity-layout-map} or bufferization.buffer_layout gives "
               "arguments one; rmsnorm-outline-rows{pack} copies";
        return error;
      }
      strided[buffer] |= isWritten;
    }
  for (auto [buffer, isWritten] : strided)
    copyAround(loop, buffer, isWritten);
  return success();
}
