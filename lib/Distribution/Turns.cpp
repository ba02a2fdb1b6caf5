// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Turns.cpp - which blocks of a launch are whose ---------------------===//

#include "Turns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// Blocks take turns where there are as many as this for each multiprocessor,
/// so that they are not there at the same time anyway. Of fewer blocks all are
/// there at once, and turns cost more than they gain.
static constexpr int64_t kBlocksAtOnce = 8;

Place rmsnorm::emitPlace(ImplicitLocOpBuilder &builder, Value block,
                         Value part) {
  Value isInPart =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, block, part);
  return {isInPart, block, arith::SubIOp::create(builder, block, part)};
}

/// Shares of a grid are fractions of so many bits: blocks have as many.
static constexpr int64_t kShareBits = 31;

Value rmsnorm::createShare(ImplicitLocOpBuilder &host, Value rest, Value blocks,
                           const ChipInfo &chip) {
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(host, value);
  };
  Value areMany = arith::MinUIOp::create(
      host,
      arith::DivUIOp::create(host, blocks,
                             constant(kBlocksAtOnce * chip.multiprocessors)),
      constant(1));
  Value scaled =
      arith::MulIOp::create(host, rest, constant(int64_t(1) << kShareBits));
  return arith::CeilDivUIOp::create(
      host, arith::MulIOp::create(host, scaled, areMany),
      arith::MaxUIOp::create(host, blocks, constant(1)));
}

/// Before a block, its number times `share` are of the rest, rounded down: of
/// all blocks as many as there are, as the error of `share` is less than one.
/// Where that is 0, those after `part` blocks.
Place rmsnorm::emitPlaceInTurns(ImplicitLocOpBuilder &builder, Value block,
                                Value part, Value share) {
  Type i32 = builder.getI32Type();
  auto narrow = [&](Value value) {
    return arith::IndexCastUIOp::create(builder, i32, value);
  };
  auto widen = [&](Value value) {
    return arith::IndexCastUIOp::create(builder, builder.getIndexType(), value);
  };
  auto constant = [&](int64_t value) {
    return arith::ConstantIntOp::create(builder, i32, value);
  };
  block = narrow(block);
  part = narrow(part);
  share = narrow(share);
  auto getRest = [&](Value blocks) {
    Value scaled =
        arith::ShLIOp::create(builder, blocks, constant(32 - kShareBits));
    Value inTurns =
        arith::MulUIExtendedOp::create(builder, scaled, share).getHigh();
    Value after = arith::MaxSIOp::create(
        builder, arith::SubIOp::create(builder, blocks, part), constant(0));
    return arith::MaxSIOp::create(builder, inTurns, after).getResult();
  };
  Value before = getRest(block);
  Value after = getRest(arith::AddIOp::create(builder, block, constant(1)));
  return {
      arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, before, after),
      widen(arith::SubIOp::create(builder, block, before)), widen(before)};
}
