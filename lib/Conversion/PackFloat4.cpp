// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PackFloat4.cpp - f4 in memory -------------------------------------===//

#include "ExpandFloat8.h"
#include "Fragments.h"

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// Numbers of f4 before they are packed, as words of 32 bits.
struct Unpacked {
  /// The size in the lowest three bits, the others as in `base`.
  Value sizes;
  uint32_t base;
  /// The sign in the highest bit, the others anything.
  Value signs;
};
} // namespace

static Unpacked unpack(ImplicitLocOpBuilder &b, Value numbers) {
  auto type = cast<VectorType>(numbers.getType());
  Type words = withElement(type, b.getI32Type());
  auto word = [&](int64_t value) {
    return createScalarOrSplatConstant(b, b.getLoc(), words, value);
  };
  // What is rounded here needs no masks.
  if (auto truncation = numbers.getDefiningOp<arith::TruncFOp>()) {
    Value wide = toF32(b, truncation.getIn());
    return {roundToFloat4(b, wide), kFloat4Base,
            arith::BitcastOp::create(b, words, wide)};
  }
  Value bits = arith::ExtUIOp::create(
      b, words,
      arith::BitcastOp::create(b, withElement(type, b.getIntegerType(4)),
                               numbers));
  return {arith::AndIOp::create(b, bits, word(7)), 0,
          arith::ShLIOp::create(b, bits, word(28))};
}

/// A word of up to eight numbers, from element `first` on.
static Value packWord(ImplicitLocOpBuilder &b, const Unpacked &numbers,
                      int64_t first, int64_t count) {
  auto word = [&](uint32_t value) {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(int32_t(value)));
  };
  auto shifted = [&](Value value, bool left) -> Value {
    return left ? arith::ShLIOp::create(b, value, word(4)).getResult()
                : arith::ShRUIOp::create(b, value, word(4)).getResult();
  };
  Value sizes;
  uint32_t base = 0;
  for (int64_t i = count - 1; i >= 0; --i) {
    Value size = vector::ExtractOp::create(b, numbers.sizes, first + i);
    sizes =
        sizes ? arith::AddIOp::create(b, shifted(sizes, true), size).getResult()
              : size;
    base = base * 16 + numbers.base;
  }
  // Two signs at a time, in bits 15 and 31.
  auto halves = VectorType::get({2}, b.getI16Type());
  Value zero = arith::ConstantOp::create(b, b.getI16IntegerAttr(0));
  auto getHigh = [&](int64_t i) -> Value {
    if (i >= count)
      return zero;
    Value sign = vector::ExtractOp::create(b, numbers.signs, first + i);
    sign = arith::ShRUIOp::create(b, sign, word(16));
    return arith::TruncIOp::create(b, b.getI16Type(), sign);
  };
  Value signs;
  for (int64_t i = 0; i < 4; ++i) {
    Value two = vector::FromElementsOp::create(
        b, halves, ValueRange{getHigh(i), getHigh(i + 4)});
    two = vector::ExtractOp::create(
        b,
        vector::BitCastOp::create(b, VectorType::get({1}, b.getI32Type()), two),
        int64_t(0));
    two = arith::AndIOp::create(b, two, word(0x80008000));
    signs =
        signs ? arith::OrIOp::create(b, shifted(signs, false), two).getResult()
              : two;
  }
  return arith::AddIOp::create(
      b, arith::AddIOp::create(b, sizes, word(0 - base)), signs);
}

/// The bytes of `numbers`, f4, by words of eight.
static Value pack(ImplicitLocOpBuilder &b, Value numbers) {
  const int64_t count = cast<VectorType>(numbers.getType()).getNumElements();
  const Unpacked unpacked = unpack(b, numbers);
  SmallVector<Value> words;
  for (int64_t i = 0; i < count; i += 8)
    words.push_back(packWord(b, unpacked, i, std::min<int64_t>(8, count - i)));
  const int64_t numWords = words.size();
  Value bytes = vector::BitCastOp::create(
      b, VectorType::get({4 * numWords}, b.getI8Type()),
      vector::FromElementsOp::create(
          b, VectorType::get({numWords}, b.getI32Type()), words));
  if (count == 8 * numWords)
    return bytes;
  return vector::ExtractStridedSliceOp::create(b, bytes, ArrayRef<int64_t>{0},
                                               ArrayRef<int64_t>{count / 2},
                                               ArrayRef<int64_t>{1});
}

static Value halve(ImplicitLocOpBuilder &b, Value value) {
  Value one =
      arith::ConstantOp::create(b, b.getIntegerAttr(value.getType(), 1));
  return arith::ShRUIOp::create(b, value, one);
}

static void packStore(GlobalStoreOp store) {
  ImplicitLocOpBuilder b(store.getLoc(), store);
  // A constant stays one, for the instruction to add it.
  Value column = store.getColumn();
  const int64_t constant = peelConstant(column);
  column = halve(b, column);
  if (constant)
    column = arith::AddIOp::create(
        b, column,
        arith::ConstantOp::create(b, b.getI32IntegerAttr(constant / 2)),
        arith::IntegerOverflowFlags::nuw);
  Value valid = store.getValid() ? halve(b, store.getValid()) : Value();
  // Alignments count a byte for each number.
  auto packed = GlobalStoreOp::create(
      b, pack(b, store.getValue()), store.getBase(), halve(b, store.getRow()),
      column, valid, std::max<int64_t>(1, store.getAlignment() / 2),
      store.getPolicy());
  packed->setDiscardableAttrs(store->getDiscardableAttrDictionary());
  store.erase();
}

LogicalResult rmsnorm::packFloat4(gpu::GPUModuleOp module) {
  auto isFloat4 = [](Type type) {
    return isa<Float4E2M1FNType>(getElementTypeOrSelf(type));
  };
  SmallVector<GlobalStoreOp> stores;
  WalkResult walk = module.walk([&](Operation *op) -> WalkResult {
    if (!isa_and_present<RMSNormDialect>(op->getDialect()) ||
        !(llvm::any_of(op->getOperandTypes(), isFloat4) ||
          llvm::any_of(op->getResultTypes(), isFloat4)))
      return WalkResult::advance();
    auto store = dyn_cast<GlobalStoreOp>(op);
    if (!store)
      return op->emitOpError("expected f4E2M1FN, of which two are a byte, in "
                             "stores to global memory only");
    auto type = cast<VectorType>(store.getValue().getType());
    if (type.getNumElements() % 2 != 0)
      return op->emitOpError(
                 "expected an even number of f4E2M1FN, of which two "
                 "are a byte, got ")
             << type;
    stores.push_back(store);
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  llvm::for_each(stores, packStore);
  return success();
}
