// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PackFloat4.cpp - f4 in memory -------------------------------------===//

#include "ExpandFloat8.h"
#include "Fragments.h"

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// The bytes of `numbers`, by words of eight, which are integers of 4 bits.
static Value pack(ImplicitLocOpBuilder &b, Value numbers) {
  const int64_t count = cast<VectorType>(numbers.getType()).getNumElements();
  auto wordsOf = [&](int64_t n) {
    return VectorType::get({n}, b.getI32Type());
  };
  auto bytesOf = [&](int64_t n) { return VectorType::get({n}, b.getI8Type()); };
  Value wide = arith::ExtUIOp::create(b, wordsOf(count), numbers);
  SmallVector<Value> words;
  for (int64_t i = 0; i < count; ++i) {
    Value number = vector::ExtractOp::create(b, wide, i);
    if (i % 8 == 0) {
      words.push_back(number);
      continue;
    }
    Value place =
        arith::ConstantOp::create(b, b.getI32IntegerAttr(int32_t(4 * (i % 8))));
    words.back() = arith::OrIOp::create(
        b, words.back(), arith::ShLIOp::create(b, number, place));
  }
  const int64_t numWords = words.size();
  Value bytes = vector::BitCastOp::create(
      b, bytesOf(4 * numWords),
      vector::FromElementsOp::create(b, wordsOf(numWords), words));
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
  auto type = cast<VectorType>(store.getValue().getType());
  Value numbers = arith::BitcastOp::create(
      b, withElement(type, b.getIntegerType(4)), store.getValue());
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
      b, pack(b, numbers), store.getBase(), halve(b, store.getRow()), column,
      valid, std::max<int64_t>(1, store.getAlignment() / 2), store.getPolicy());
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
