// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Exchange.cpp - exchanges without mbarriers, and what all share ----===//

#include "Exchange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

static Value createI32(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIntOp::create(b, value, 32);
}

static Value createScaled(ImplicitLocOpBuilder &b, Value value, int64_t by) {
  return arith::MulIOp::create(b, value, createI32(b, by));
}

ExchangePlace::ExchangePlace(ImplicitLocOpBuilder &b, ExchangeAttr exchange,
                             Value number, Value group)
    : exchange(exchange), number(number), group(group),
      slot(arith::AndIOp::create(b, number,
                                 createI32(b, exchange.getSlots() - 1))) {}

Value ExchangePlace::getValue(ImplicitLocOpBuilder &b, Value publisher,
                              int64_t value) const {
  // Values of one kind side by side: a subgroup reads them without conflicts.
  Value offset = createScaled(b, slot, exchange.getSlotBytes());
  if (exchange.getRowGroups() > 1)
    offset = arith::AddIOp::create(
        b, offset, createScaled(b, group, exchange.getGroupBytes()));
  offset = arith::AddIOp::create(b, offset, createScaled(b, publisher, 4));
  return arith::AddIOp::create(
      b, offset,
      createI32(b,
                exchange.getOffset() + value * exchange.getPublishers() * 4));
}

Value ExchangePlace::getBarrier(ImplicitLocOpBuilder &b) const {
  Value offset = createScaled(b, slot, exchange.getRowGroups() * 8);
  if (exchange.getRowGroups() > 1)
    offset = arith::AddIOp::create(b, offset, createScaled(b, group, 8));
  return arith::AddIOp::create(b, offset,
                               createI32(b, exchange.getBarrierOffset()));
}

Value ExchangePlace::getPhase(ImplicitLocOpBuilder &b) const {
  Value use = arith::ShRUIOp::create(
      b, number, createI32(b, llvm::Log2_64(exchange.getSlots())));
  return arith::AndIOp::create(b, use, createI32(b, 1));
}

LogicalResult rmsnorm::checkCluster(ExchangeInitOp op, const ChipInfo &chip) {
  if (op.getExchange().getCluster() <= chip.maxClusterSize)
    return success();
  return op.emitError("expected an exchange between at most ")
         << chip.maxClusterSize << " blocks on " << chip.name << ", got "
         << op.getExchange().getCluster();
}

LogicalResult rmsnorm::lowerExchangesToBarriers(gpu::GPUModuleOp module,
                                                const ChipInfo &chip) {
  WalkResult walk = module.walk([&](Operation *op) -> WalkResult {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    if (auto init = dyn_cast<ExchangeInitOp>(op)) {
      if (failed(checkCluster(init, chip)))
        return WalkResult::interrupt();
    } else if (auto publish = dyn_cast<ExchangePublishOp>(op)) {
      ExchangePlace place(b, publish.getExchange(), publish.getNumber(),
                          publish.getGroup());
      Value thread = arith::IndexCastUIOp::create(
          b, b.getI32Type(), gpu::ThreadIdOp::create(b, gpu::Dimension::x));
      Value lane =
          arith::RemUIOp::create(b, thread, createI32(b, chip.subgroupSize));
      Value first = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane,
                                          createI32(b, 0));
      auto branch = scf::IfOp::create(b, first, /*withElseRegion=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
      for (auto [index, value] : llvm::enumerate(publish.getValues()))
        WorkgroupStoreOp::create(
            b, value, place.getValue(b, publish.getSubgroup(), index));
    } else if (isa<ExchangeAwaitOp>(op)) {
      BarrierOp::create(b);
    } else if (auto read = dyn_cast<ExchangeReadOp>(op)) {
      ExchangePlace place(b, read.getExchange(), read.getNumber(),
                          read.getGroup());
      op->replaceAllUsesWith(WorkgroupLoadOp::create(
          b, read.getType(),
          place.getValue(b, read.getPublisher(), read.getValue())));
    } else if (!isa<ExchangeReadyOp>(op)) {
      return WalkResult::advance();
    }
    op->erase();
    return WalkResult::skip();
  });
  return failure(walk.wasInterrupted());
}
