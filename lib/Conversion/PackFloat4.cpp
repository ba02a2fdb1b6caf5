// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PackFloat4.cpp - f4 in memory -------------------------------------===//

#include "ExpandFloat8.h"
#include "Fragments.h"

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

#include <numeric>

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
  // Numbers that are rounded here need no masks.
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
static Value pack(ImplicitLocOpBuilder &b, Value numbers,
                  const std::optional<Float8Instructions> &chip) {
  if (auto truncation = numbers.getDefiningOp<arith::TruncFOp>();
      truncation && chip)
    if (Value bytes = truncateByInstructions(*chip, truncation))
      return bytes;
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

//===----------------------------------------------------------------------===//
// From bytes
//===----------------------------------------------------------------------===//

/// The numbers, `type` of f32, that `bytes` are.
static Value extend(ImplicitLocOpBuilder &b, Value bytes, VectorType type) {
  const int64_t count = type.getNumElements();
  const int64_t perWord = std::gcd(count, 8);
  Value words = vector::BitCastOp::create(
      b,
      VectorType::get({count / perWord},
                      b.getIntegerType(4 * unsigned(perWord))),
      bytes);
  auto eight = VectorType::get({perWord}, b.getI32Type());
  SmallVector<int32_t> shifts;
  for (int64_t i = 0; i < perWord; ++i)
    shifts.push_back(int32_t(28 - 4 * i));
  Value amounts = arith::ConstantOp::create(
      b, DenseElementsAttr::get(eight, ArrayRef<int32_t>(shifts)));
  Value numbers;
  for (int64_t i = 0; i < count / perWord; ++i) {
    Value word = vector::ExtractOp::create(b, words, i);
    if (perWord < 8)
      word = arith::ExtUIOp::create(b, b.getI32Type(), word);
    Value top = arith::ShLIOp::create(
        b, vector::BroadcastOp::create(b, eight, word), amounts);
    Value some = extendFloat4(b, top);
    if (perWord == count)
      return some;
    if (!numbers)
      numbers = arith::ConstantOp::create(b, type, b.getZeroAttr(type));
    numbers = vector::InsertStridedSliceOp::create(
        b, some, numbers, ArrayRef<int64_t>{i * perWord}, ArrayRef<int64_t>{1});
  }
  return numbers;
}

//===----------------------------------------------------------------------===//
// In memory
//===----------------------------------------------------------------------===//

static Value halve(ImplicitLocOpBuilder &b, Value value) {
  Value one =
      arith::ConstantOp::create(b, b.getIntegerAttr(value.getType(), 1));
  return arith::ShRUIOp::create(b, value, one);
}

static VectorType toBytes(VectorType type) {
  return VectorType::get({type.getNumElements() / 2},
                         IntegerType::get(type.getContext(), 8));
}

/// Counts the begin, the valid elements and the alignment of `access` in bytes.
/// Before, a byte was counted for each number.
template <typename OpTy> static void halvePlace(OpTy access) {
  ImplicitLocOpBuilder b(access.getLoc(), access);
  // A constant stays one, for the instruction to add it.
  Value column = access.getColumn();
  const int64_t constant = peelConstant(column);
  column = halve(b, column);
  if (constant)
    column = arith::AddIOp::create(
        b, column,
        arith::ConstantOp::create(b, b.getI32IntegerAttr(constant / 2)),
        arith::IntegerOverflowFlags::nuw);
  access.getColumnMutable().assign(column);
  access.getRowMutable().assign(halve(b, access.getRow()));
  // Less than none where a thread has no column.
  if (Value valid = access.getValid())
    access.getValidMutable().assign(arith::ShRSIOp::create(
        b, valid, arith::ConstantOp::create(b, b.getI32IntegerAttr(1))));
  access.setAlignment(std::max<int64_t>(1, access.getAlignment() / 2));
}

/// Makes the users of `value`, f4, take bytes of two numbers each.
static LogicalResult takeBytes(Value value,
                               const std::optional<Float8Instructions> &chip) {
  const auto numbers = cast<VectorType>(value.getType());
  value.setType(toBytes(numbers));
  for (Operation *user : llvm::make_early_inc_range(value.getUsers())) {
    ImplicitLocOpBuilder b(user->getLoc(), user);
    if (auto keep = dyn_cast<KeepOp>(user)) {
      if (failed(takeBytes(keep.getResult(), chip)))
        return failure();
    } else if (auto extension = dyn_cast<arith::ExtFOp>(user)) {
      auto f32 = cast<VectorType>(withElement(numbers, b.getF32Type()));
      Value wide;
      if (chip)
        wide = extendByInstructions(
            *chip, b, value, cast<FloatType>(numbers.getElementType()), f32);
      if (!wide)
        wide = extend(b, value, f32);
      extension.replaceAllUsesWith(fromF32(b, wide, extension.getType()));
      extension.erase();
    } else if (!isa<GlobalStoreOp>(user)) {
      return user->emitOpError("expected f4E2M1FN, of which two are a byte, to "
                               "be extended or stored once it is loaded");
    }
  }
  return success();
}

LogicalResult
rmsnorm::packFloat4(gpu::GPUModuleOp module,
                    const std::optional<Float8Instructions> &instructions) {
  auto isFloat4 = [](Type type) {
    return isa<Float4E2M1FNType>(getElementTypeOrSelf(type));
  };
  // What is computed is kept as it is.
  module.walk([&](KeepOp keep) {
    if (isFloat4(keep.getType()) &&
        !isa_and_present<GlobalLoadOp, WorkgroupLoadOp, KeepOp>(
            keep.getValue().getDefiningOp())) {
      keep.replaceAllUsesWith(keep.getValue());
      keep.erase();
    }
  });
  SmallVector<Operation *> accesses;
  WalkResult walk = module.walk([&](Operation *op) -> WalkResult {
    auto copy = dyn_cast<AsyncCopyOp>(op);
    if (!isa_and_present<RMSNormDialect>(op->getDialect()) ||
        !(llvm::any_of(op->getOperandTypes(), isFloat4) ||
          llvm::any_of(op->getResultTypes(), isFloat4) ||
          (copy && isFloat4(copy.getFragment()))))
      return WalkResult::advance();
    if (!isa<GlobalLoadOp, GlobalStoreOp, WorkgroupLoadOp, KeepOp>(op) && !copy)
      return op->emitOpError(
          "expected f4E2M1FN, of which two are a byte, to be "
          "loaded, copied and stored only");
    auto type =
        cast<VectorType>(copy                  ? copy.getFragment()
                         : op->getNumResults() ? op->getResult(0).getType()
                                               : op->getOperand(0).getType());
    if (type.getNumElements() % 2 != 0)
      return op->emitOpError(
                 "expected an even number of f4E2M1FN, of which two "
                 "are a byte, got ")
             << type;
    accesses.push_back(op);
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  for (Operation *op : accesses) {
    if (auto load = dyn_cast<GlobalLoadOp>(op))
      halvePlace(load);
    if (isa<GlobalLoadOp, WorkgroupLoadOp>(op) &&
        failed(takeBytes(op->getResult(0), instructions)))
      return failure();
    if (auto copy = dyn_cast<AsyncCopyOp>(op)) {
      halvePlace(copy);
      copy.setFragment(toBytes(cast<VectorType>(copy.getFragment())));
    }
  }
  // A stored value may have been loaded: then it is bytes already.
  for (Operation *op : accesses) {
    auto store = dyn_cast<GlobalStoreOp>(op);
    if (!store)
      continue;
    ImplicitLocOpBuilder b(store.getLoc(), store);
    if (isFloat4(store.getValue().getType()))
      store.getValueMutable().assign(pack(b, store.getValue(), instructions));
    halvePlace(store);
  }
  return success();
}
