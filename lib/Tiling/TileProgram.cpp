// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileProgram.cpp - what a kernel can hold --------------------------===//

#include "TileProgram.h"

#include "RMSNorm/IR/ElementOps.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using linalg::LinalgOp;

/// The text that is streamed.
template <typename... Args> static std::string format(Args &&...args) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  (stream << ... << args);
  return text;
}

//===----------------------------------------------------------------------===//
// What has a tile program
//===----------------------------------------------------------------------===//

std::optional<ReduceKind> rmsnorm::getReduceKind(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<ReduceKind>>(op)
      .Case<arith::AddFOp>([](auto) { return ReduceKind::add; })
      .Case<arith::MulFOp>([](auto) { return ReduceKind::mul; })
      .Case<arith::MaximumFOp>([](auto) { return ReduceKind::maximumf; })
      .Case<arith::MinimumFOp>([](auto) { return ReduceKind::minimumf; })
      .Case<arith::MaxNumFOp>([](auto) { return ReduceKind::maxnumf; })
      .Case<arith::MinNumFOp>([](auto) { return ReduceKind::minnumf; })
      .Default([](Operation *) { return std::nullopt; });
}

Operation *rmsnorm::getCombiner(LinalgOp op, OpOperand &init) {
  unsigned number = init.getOperandNumber() - op.getNumDpsInputs();
  return op.getBlock()->getTerminator()->getOperand(number).getDefiningOp();
}

static std::string whyNoReduction(LinalgOp op, OpOperand &init) {
  BlockArgument accumulator = op.getMatchingBlockArgument(&init);
  Operation *combiner = getCombiner(op, init);
  if (!accumulator.hasOneUse() || !combiner ||
      *accumulator.getUsers().begin() != combiner || !combiner->hasOneUse() ||
      !getReduceKind(combiner)) {
    std::string reason = "expected a reduction that combines its accumulator "
                         "once, by arith.addf, mulf, maximumf, minimumf, "
                         "maxnumf or minnumf";
    return combiner ? format(reason, ", got '", combiner->getName(), "'")
                    : reason;
  }
  Type type = accumulator.getType();
  if (!type.isF32() && !type.isF16() && !type.isBF16())
    return format("expected a reduction in f16, bf16 or f32, got '", type, "'");
  return "";
}

/// Whether `op` reads a table or counts its columns: how is another matter
/// (`whyNoGathers`).
static bool isOfGather(Operation *op) {
  return isa<tensor::ExtractOp, linalg::IndexOp, affine::AffineApplyOp>(op);
}

Operation *rmsnorm::findNotComputable(LinalgOp op) {
  for (Operation &payload : op.getBlock()->without_terminator())
    if (!isOfGather(&payload) && !whyNotComputable(&payload).empty())
      return &payload;
  return nullptr;
}

static std::string whyNotVectorizable(LinalgOp op) {
  if (op.getNumReductionLoops() > 0)
    for (OpOperand &init : op.getDpsInitsMutable())
      if (std::string reason = whyNoReduction(op, init); !reason.empty())
        return reason;
  Operation *payload = findNotComputable(op);
  return payload ? format("'", payload->getName(), "' op ",
                          whyNotComputable(payload))
                 : "";
}

//===----------------------------------------------------------------------===//
// What a kernel can hold
//===----------------------------------------------------------------------===//

/// A kernel's parameters: what is computed from them is computed in the kernel
/// if it is of floats, on the host otherwise.
static bool isParameter(Value value) {
  Type type = value.getType();
  Operation *def = value.getDefiningOp();
  if (def && def->hasTrait<OpTrait::ConstantLike>())
    return true;
  if (def && !type.isIntOrIndex() && isPure(def) && def->getNumRegions() == 0 &&
      whyNotComputable(def).empty())
    return llvm::all_of(def->getOperands(), isParameter);
  return type.isF32() || type.isInteger(32) || type.isInteger(64) ||
         type.isIndex();
}

static std::string whyNoOperands(LinalgOp op) {
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type) {
      if (!isParameter(operand.get()))
        return format("a kernel has no parameters of type '",
                      operand.get().getType(), "'");
      continue;
    }
    if (op.payloadUsesValueFromOperand(&operand) &&
        operand.get().getDefiningOp<tensor::EmptyOp>())
      return "it reads a tensor without contents";
  }
  return "";
}

bool rmsnorm::isDeviceCode(Operation *op) {
  for (; op; op = op->getParentOp()) {
    if (isa<gpu::GPUModuleOp, gpu::LaunchOp>(op))
      return true;
    // Mapped to blocks or threads of a kernel to be.
    if (auto forall = dyn_cast<scf::ForallOp>(op))
      if (forall.getMapping() && !forall.getMapping()->empty())
        return true;
  }
  return false;
}

std::string rmsnorm::whyNoKernel(LinalgOp op, bool everywhere) {
  if (std::string reason = whyNotVectorizable(op);
      !reason.empty() || !everywhere)
    return reason;
  if (std::string reason = whyNoOperands(op); !reason.empty())
    return reason;
  Block *body = op.getBlock();
  for (Operation &payload : *body) {
    if (auto extract = dyn_cast<tensor::ExtractOp>(payload);
        extract && (!isStorable(extract.getType()) ||
                    extract.getTensor().getType().getEncoding()))
      return format("a kernel reads no tables of type '",
                    extract.getTensor().getType(), "'");
    if (isOfGather(&payload))
      continue;
    for (Value operand : payload.getOperands())
      if (operand.getParentBlock() != body && !isParameter(operand))
        return format("a kernel has no parameters of type '", operand.getType(),
                      "'");
  }
  return "";
}

std::string rmsnorm::whyNotStorable(TileKind kind, ShapedType type,
                                    bool isLoad) {
  Type element = type.getElementType();
  if (!isa<Float4E2M1FNType>(element))
    return isStorable(element) ? ""
                               : format("elements of type '", element, "'");
  // Two numbers a byte: no thread may write half of one.
  const int64_t columns = type.getRank() ? type.getShape().back() : 1;
  const bool isWhole =
      kind == TileKind::tile || (isLoad && kind == TileKind::column);
  if (isWhole && !ShapedType::isDynamic(columns) && columns % 16 == 0)
    return "";
  return format("'", type, "', of whose elements two are a byte, ",
                isWhole ? "in rows of no multiple of 16 columns"
                        : "one for several columns");
}
