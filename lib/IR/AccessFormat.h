// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AccessFormat.h - the maps of accesses in op syntax -----------------===//

#ifndef RMSNORM_LIB_IR_ACCESSFORMAT_H
#define RMSNORM_LIB_IR_ACCESSFORMAT_H

#include "RMSNorm/IR/AccessMap.h"
#include "RMSNorm/IR/RMSNorm.h"

namespace mlir::rmsnorm {

/// `map(r0, r1, c)[i] -> (r0, i, c)`: any names are read.
inline ParseResult parseAccessMap(OpAsmParser &parser, AffineMapAttr &attr) {
  AffineMap map;
  if (parser.parseAffineMap(map))
    return failure();
  attr = AffineMapAttr::get(map);
  return success();
}

inline void printAccessMap(OpAsmPrinter &printer, Operation *op,
                           AffineMapAttr map) {
  auto kind = op->getAttrOfType<TileKindAttr>("kind"); // Sums have columns.
  const bool hasColumn = !kind || kind.getValue() != TileKind::row;
  const bool isGroup = kind && kind.getValue() == TileKind::group;
  printer << AccessMap(map.getValue(), hasColumn).getText(isGroup ? "g" : "c");
}

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_IR_ACCESSFORMAT_H
