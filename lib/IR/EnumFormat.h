// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EnumFormat.h - enum attributes as bare keywords in op syntax -------===//
//
// An EnumAttr prints a space of its own in front of its keyword, because it is
// also printed as #rmsnorm<casting llama>. In an op's format that makes two
// spaces, or one after a parenthesis; custom<Enum>($attr) prints none.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_LIB_IR_ENUMFORMAT_H
#define RMSNORM_LIB_IR_ENUMFORMAT_H

#include "mlir/IR/DialectImplementation.h"

namespace mlir::rmsnorm {

template <typename AttrTy>
ParseResult parseEnum(OpAsmParser &parser, AttrTy &attr) {
  using EnumTy = decltype(attr.getValue());
  FailureOr<EnumTy> value = FieldParser<EnumTy>::parse(parser);
  if (failed(value))
    return failure();
  attr = AttrTy::get(parser.getContext(), *value);
  return success();
}

template <typename AttrTy>
void printEnum(OpAsmPrinter &printer, Operation *, AttrTy attr) {
  printer << stringifyEnum(attr.getValue());
}

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_IR_ENUMFORMAT_H
