// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DeviceOps.cpp - operations that several targets make ---------------===//

#include "DeviceOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

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
