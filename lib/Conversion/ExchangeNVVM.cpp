// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExchangeNVVM.cpp - exchanges through mbarriers --------------------===//

#include "DeviceOps.h"
#include "NVVM.h"
#include "WorkgroupMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {

Value createI32(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIntOp::create(b, value, 32);
}

Value createThread(ImplicitLocOpBuilder &b) {
  return arith::IndexCastUIOp::create(
      b, b.getI32Type(), gpu::ThreadIdOp::create(b, gpu::Dimension::x));
}

Value createEqual(ImplicitLocOpBuilder &b, Value value, int64_t constant) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, value,
                               createI32(b, constant));
}

/// The lane's number; blocks are 1-D.
Value createLane(ImplicitLocOpBuilder &b) {
  return arith::AndIOp::create(b, createThread(b), createI32(b, 31));
}

Value createScaled(ImplicitLocOpBuilder &b, Value value, int64_t by) {
  return arith::MulIOp::create(b, value, createI32(b, by));
}

/// The number of a publish, with its place in the ring and that place's
/// contents.
class Place {
public:
  Place(ImplicitLocOpBuilder &b, ExchangeAttr exchange, Value number)
      : exchange(exchange), number(number),
        slot(arith::AndIOp::create(b, number,
                                   createI32(b, exchange.getSlots() - 1))) {}

  /// Byte offset into workgroup memory of `publisher`'s value number `value`.
  Value getValue(ImplicitLocOpBuilder &b, Value publisher,
                 int64_t value) const {
    // Values of one kind side by side: a subgroup reads them without conflicts.
    Value offset = createScaled(b, slot, exchange.getSlotBytes());
    offset = arith::AddIOp::create(b, offset, createScaled(b, publisher, 4));
    return arith::AddIOp::create(
        b, offset,
        createI32(b,
                  exchange.getOffset() + value * exchange.getPublishers() * 4));
  }

  /// Byte offset of the slot's barrier.
  Value getBarrier(ImplicitLocOpBuilder &b) const {
    Value offset = createScaled(b, slot, 8);
    return arith::AddIOp::create(b, offset,
                                 createI32(b, exchange.getBarrierOffset()));
  }

  /// 0 and 1 in turns, from one use of a slot to the next.
  Value getPhase(ImplicitLocOpBuilder &b) const {
    Value use = arith::ShRUIOp::create(
        b, number, createI32(b, llvm::Log2_64(exchange.getSlots())));
    return arith::AndIOp::create(b, use, createI32(b, 1));
  }

private:
  ExchangeAttr exchange;
  Value number, slot; // i32
};

/// The 32-bit shared address of `offset` in the block's workgroup memory.
Value createAddress(ImplicitLocOpBuilder &b, gpu::GPUModuleOp module,
                    Value offset) {
  Value base = LLVM::PtrToIntOp::create(
      b, b.getI32Type(),
      LLVM::AddressOfOp::create(b, getWorkgroupBuffer(module)));
  return arith::AddIOp::create(b, base, offset);
}

/// The address of the same place in the block of rank `rank`.
Value createMapToRank(ImplicitLocOpBuilder &b, Value address, Value rank) {
  return createAsm(b, b.getI32Type(), {address, rank},
                   "mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r",
                   /*sideEffects=*/false)
      .getRes();
}

void createEffect(ImplicitLocOpBuilder &b, ValueRange operands, StringRef text,
                  StringRef constraints) {
  createAsm(b, Type(), operands, text, (constraints + ",~{memory}").str(),
            /*sideEffects=*/true);
}

void lowerInit(ExchangeInitOp op, gpu::GPUModuleOp module) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  ExchangeAttr exchange = op.getExchange();
  Value thread = createThread(b);
  Value mine = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, thread,
                                     createI32(b, exchange.getSlots()));
  const int64_t begin = exchange.getBarrierOffset();
  Value first =
      arith::AddIOp::create(b, createScaled(b, thread, 8), createI32(b, begin));
  Value end = createI32(b, begin + exchange.getSlots() * 8);
  // One thread of the block arrives, with the number of bytes to come.
  // compute-sanitizer counts an mbarrier.init even if its predicate switches it
  // off. Hence a branch, around something that ptxas cannot predicate: a loop,
  // though it has one round. The fence costs more in the branch.
  const int64_t stride = 8 * 1024; // no block has more threads
  createEffect(
      b, {createAddress(b, module, first), createAddress(b, module, end), mine},
      "{\n\t.reg .b32 at;\n\t.reg .pred more;\n\t"
      "mov.b32 at, $0;\n\t"
      "@!$2 bra DONE_${:uid};\n"
      "INIT_${:uid}:\n\t"
      "mbarrier.init.shared::cta.b64 [at], 1;\n\t"
      "add.u32 at, at, " +
          std::to_string(stride) +
          ";\n\t"
          "setp.lt.u32 more, at, $1;\n\t"
          "@more bra INIT_${:uid};\n"
          "DONE_${:uid}:\n\t}\n\t"
          "@$2 fence.mbarrier_init.release.cluster;",
      "r,r,b");
  NVVM::ClusterArriveRelaxedOp::create(b, /*aligned=*/b.getUnitAttr());
  op.erase();
}

void lowerReady(ExchangeReadyOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  NVVM::ClusterWaitOp::create(b, /*aligned=*/b.getUnitAttr());
  op.erase();
}

void lowerPublish(ExchangePublishOp op, gpu::GPUModuleOp module) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  ExchangeAttr exchange = op.getExchange();
  Place place(b, exchange, op.getNumber());
  Value lane = createLane(b);
  Value barrier = createAddress(b, module, place.getBarrier(b));
  // Bytes may come before the block says how many it expects: this phase is
  // not complete without its arrival.
  const int64_t bytes = op.getValues().size() * exchange.getPublishers() * 4;
  Value firstLane = createEqual(b, lane, 0);
  Value first =
      arith::AndIOp::create(b, firstLane, createEqual(b, op.getSubgroup(), 0));
  createEffect(b, {barrier, first},
               "@$1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], " +
                   std::to_string(bytes) + ";",
               "r,b");
  // Lane r sends to the block of rank r.
  Value sends = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, lane,
                                      createI32(b, exchange.getCluster()));
  auto branch = scf::IfOp::create(b, sends, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
  Value rank = NVVM::ClusterId::create(b, b.getI32Type());
  Value publisher = arith::AddIOp::create(
      b, createScaled(b, rank, exchange.getSubgroups()), op.getSubgroup());
  Value remote = createMapToRank(
      b, createAddress(b, module, place.getValue(b, publisher, 0)), lane);
  Value remoteBarrier = createMapToRank(b, barrier, lane);
  for (auto [index, value] : llvm::enumerate(op.getValues()))
    createEffect(
        b, {remote, value, remoteBarrier},
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [$0+" +
            std::to_string(index * exchange.getPublishers() * 4) +
            "], $1, [$2];",
        "r,f,r");
  op.erase();
}

void lowerAwait(ExchangeAwaitOp op, gpu::GPUModuleOp module) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Place place(b, op.getExchange(), op.getNumber());
  Value barrier = createAddress(b, module, place.getBarrier(b));
  // With the long suspend hint the subgroup sleeps instead of spinning;
  // acquiring at cluster scope would invalidate L1 at every wait.
  createEffect(b, {barrier, place.getPhase(b)},
               "{\n\t.reg .pred complete;\n"
               "AWAIT_${:uid}:\n\t"
               "mbarrier.try_wait.parity.shared::cta.b64 complete, [$0], $1, "
               "10000000;\n\t"
               "@!complete bra AWAIT_${:uid};\n\t}",
               "r,r");
  op.erase();
}

void lowerRead(ExchangeReadOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Place place(b, op.getExchange(), op.getNumber());
  Value loaded = WorkgroupLoadOp::create(
      b, op.getType(), place.getValue(b, op.getPublisher(), op.getValue()));
  op.replaceAllUsesWith(loaded);
  op.erase();
}

} // namespace

void rmsnorm::lowerExchangesToMBarriers(gpu::GPUModuleOp module) {
  module.walk([&](Operation *op) {
    if (auto init = dyn_cast<ExchangeInitOp>(op))
      lowerInit(init, module);
    else if (auto ready = dyn_cast<ExchangeReadyOp>(op))
      lowerReady(ready);
    else if (auto publish = dyn_cast<ExchangePublishOp>(op))
      lowerPublish(publish, module);
    else if (auto await = dyn_cast<ExchangeAwaitOp>(op))
      lowerAwait(await, module);
    else if (auto read = dyn_cast<ExchangeReadOp>(op))
      lowerRead(read);
  });
}
