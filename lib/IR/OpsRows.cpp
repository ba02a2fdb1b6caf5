// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpsRows.cpp - RowWiseOpInterface of the norms ---------------------===//

#include "RMSNorm/IR/RMSNorm.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::rmsnorm;

#include "RMSNorm/IR/RowWiseOpInterface.cpp.inc"

template <typename OpTy> static int64_t getNumRowDims(OpTy norm) {
  return cast<ShapedType>(norm.getInput().getType()).getRank() - 1;
}

template <typename OpTy>
static std::optional<int64_t> getNormAnchorRowDims(OpTy norm) {
  if (!norm.hasPureTensorSemantics())
    return std::nullopt;
  return getNumRowDims(norm);
}

template <typename OpTy>
static std::string whyNormNotRowWise(OpTy norm, int64_t rowDims) {
  if (getNumRowDims(norm) == rowDims)
    return "";
  return llvm::formatv("it has {0} row dimensions", getNumRowDims(norm));
}

template <typename OpTy>
static SmallVector<int64_t> getNormRowSizes(OpTy norm, int64_t rowDims) {
  auto type = cast<ShapedType>(norm.getInput().getType());
  return SmallVector<int64_t>(type.getShape().take_front(rowDims));
}

//===----------------------------------------------------------------------===//
// forward
//===----------------------------------------------------------------------===//

std::optional<int64_t> ForwardOp::getAnchorRowDims() {
  return getNormAnchorRowDims(*this);
}

std::string ForwardOp::whyNotRowWise(int64_t rowDims) {
  return whyNormNotRowWise(*this, rowDims);
}

SmallVector<int64_t> ForwardOp::getRowSizes(int64_t rowDims) {
  return getNormRowSizes(*this, rowDims);
}

bool ForwardOp::usesRow(OpOperand &operand, int64_t rowDims) {
  return rowDims == 0 || operand.get() != getWeight();
}

bool ForwardOp::sumsOverRows(unsigned, int64_t) { return false; }

bool ForwardOp::readsInit(OpOperand &) { return false; }

//===----------------------------------------------------------------------===//
// backward
//===----------------------------------------------------------------------===//

std::optional<int64_t> BackwardOp::getAnchorRowDims() {
  return getNormAnchorRowDims(*this);
}

std::string BackwardOp::whyNotRowWise(int64_t rowDims) {
  return whyNormNotRowWise(*this, rowDims);
}

SmallVector<int64_t> BackwardOp::getRowSizes(int64_t rowDims) {
  return getNormRowSizes(*this, rowDims);
}

bool BackwardOp::usesRow(OpOperand &operand, int64_t rowDims) {
  if (getDweight() && &operand == &getDweightMutable()[0])
    return false;
  return rowDims == 0 || operand.get() != getWeight();
}

bool BackwardOp::sumsOverRows(unsigned number, int64_t) { return number == 1; }

bool BackwardOp::readsInit(OpOperand &) { return false; }
