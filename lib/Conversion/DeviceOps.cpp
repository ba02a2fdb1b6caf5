// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DeviceOps.cpp - operations that several targets make ---------------===//

#include "DeviceOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::rmsnorm;

Value rmsnorm::createCombine(ImplicitLocOpBuilder &b, ReduceKind kind,
                             Value lhs, Value rhs) {
  switch (kind) {
  case ReduceKind::add:
    return arith::AddFOp::create(b, lhs, rhs);
  case ReduceKind::maximumf:
    return arith::MaximumFOp::create(b, lhs, rhs);
  case ReduceKind::minimumf:
    return arith::MinimumFOp::create(b, lhs, rhs);
  case ReduceKind::mul:
    return arith::MulFOp::create(b, lhs, rhs);
  case ReduceKind::maxnumf:
    return arith::MaxNumFOp::create(b, lhs, rhs);
  case ReduceKind::minnumf:
    return arith::MinNumFOp::create(b, lhs, rhs);
  }
  llvm_unreachable("all kinds handled");
}

Value rmsnorm::createIntrinsic(ImplicitLocOpBuilder &b, Type result,
                               const Twine &name, ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(b, result, b.getStringAttr(name),
                                       operands)
      .getResult(0);
}

LLVM::InlineAsmOp rmsnorm::createAsm(ImplicitLocOpBuilder &b, Type result,
                                     ValueRange operands, StringRef text,
                                     StringRef constraints, bool sideEffects) {
  return LLVM::InlineAsmOp::create(
      b, result ? TypeRange(result) : TypeRange(), operands, text, constraints,
      sideEffects, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
}

/// bf16 to f32 is a shift of its bits. Of two in a word the upper one has them
/// where they belong: a mask, where ptxas moves it down and up again.
void rmsnorm::widenPairs(gpu::GPUModuleOp module) {
  module.walk([](arith::ExtFOp op) {
    auto narrow = dyn_cast<VectorType>(op.getIn().getType());
    auto wide = dyn_cast<VectorType>(op.getType());
    if (!narrow || !narrow.getElementType().isBF16() || narrow.getRank() != 1 ||
        narrow.getNumElements() % 2 != 0 || !wide.getElementType().isF32())
      return;
    ImplicitLocOpBuilder b(op.getLoc(), op);
    auto words = VectorType::get({narrow.getNumElements() / 2}, b.getI32Type());
    auto word = [&](uint32_t value) {
      return arith::ConstantOp::create(
          b, SplatElementsAttr::get(words, APInt(32, value)));
    };
    auto number = [&](Value value) {
      return arith::BitcastOp::create(
          b, VectorType::get(words.getShape(), b.getF32Type()), value);
    };
    Value pairs = vector::BitCastOp::create(b, words, op.getIn());
    Value lower = number(arith::ShLIOp::create(b, pairs, word(16)));
    Value upper = number(arith::AndIOp::create(b, pairs, word(0xffff0000)));
    op.replaceAllUsesWith(
        vector::InterleaveOp::create(b, lower, upper).getResult());
    op.erase();
  });
}
