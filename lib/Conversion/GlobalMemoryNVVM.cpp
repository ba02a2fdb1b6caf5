// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GlobalMemoryNVVM.cpp - global memory as PTX ------------------------===//

#include "DeviceOps.h"
#include "Fragments.h"
#include "NVVM.h"
#include "RMSNorm/Target/Instructions.h"
#include "WorkgroupMemory.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {

/// One access as a PTX instruction: its registers and their spelling.
struct PtxAccess {
  PtxAccess(MLIRContext *context, int64_t bytes) {
    count = std::max<int64_t>(bytes / 4, 1);
    // There is no 8-bit register: bytes travel in 16-bit ones.
    reg = IntegerType::get(context, bytes >= 4 ? 32 : 16);
    constraint = bytes >= 4 ? "r" : "h";
    suffix = (count > 1 ? ".v" + std::to_string(count) : std::string()) + ".b" +
             std::to_string(std::min<int64_t>(bytes * 8, 32));
  }

  /// "{$0,$1,$2,$3}" or "$0", from operand `first`.
  std::string registers(int64_t first) const {
    std::string text;
    for (int64_t i = 0; i < count; ++i)
      text += (i ? ",$" : "$") + std::to_string(first + i);
    return count > 1 ? "{" + text + "}" : text;
  }

  int64_t count;
  Type reg;
  std::string constraint, suffix;
};

/// The cache policies of a function, each created once, at its entry.
class Policies {
public:
  /// The spelling of `policy` in an instruction, and the register with it.
  static StringRef modifiers(CachePolicy policy) {
    return policy == CachePolicy::evict_last
               ? ".L1::evict_last.L2::cache_hint"
               : ".L1::evict_first.L2::cache_hint";
  }

  Value get(Operation *op, CachePolicy policy) {
    auto function = op->getParentOfType<gpu::GPUFuncOp>();
    Value &value = values[{function, static_cast<int>(policy)}];
    if (!value) {
      auto b = ImplicitLocOpBuilder::atBlockBegin(op->getLoc(),
                                                  &function.getBody().front());
      std::string text =
          ("createpolicy.fractional.L2::" + stringifyCachePolicy(policy) +
           ".b64 $0, 1.0;")
              .str();
      value = createAsm(b, b.getI64Type(), {}, text, "=l",
                        /*sideEffects=*/false)
                  .getRes();
    }
    return value;
  }

private:
  llvm::DenseMap<std::pair<Operation *, int>, Value> values;
};

/// The bits of one piece as the registers of its access.
SmallVector<Value> toRegisters(ImplicitLocOpBuilder &b, const PtxAccess &ptx,
                               Value piece) {
  if (ptx.reg.isInteger(32))
    return toWords(b, piece);
  auto type = cast<VectorType>(piece.getType());
  int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
  Value value = LLVM::BitcastOp::create(b, b.getIntegerType(bits), piece);
  if (bits < 16)
    value = LLVM::ZExtOp::create(b, ptx.reg, value);
  return {value};
}

Value fromRegisters(ImplicitLocOpBuilder &b, const PtxAccess &ptx,
                    ValueRange registers, VectorType piece) {
  if (ptx.reg.isInteger(32))
    return fromWords(b, registers, piece);
  int64_t bits = piece.getNumElements() * piece.getElementTypeBitWidth();
  Value value = registers.front();
  if (bits < 16)
    value = LLVM::TruncOp::create(b, b.getIntegerType(bits), value);
  return LLVM::BitcastOp::create(b, piece, value);
}

/// Ends the text of an access with `outputs` results: the policy as its last
/// operand, and the predicate in front of it all. Operands are numbered after
/// the results.
void endPtxAccess(std::string &text, std::string &constraints,
                  SmallVectorImpl<Value> &operands, int64_t outputs,
                  Value policyValue, Value predicate) {
  if (policyValue) {
    text += ", $" + std::to_string(outputs + operands.size());
    constraints += ",l";
    operands.push_back(policyValue);
  }
  text += ";";
  if (predicate) {
    text = "@$" + std::to_string(outputs + operands.size()) + " " + text;
    constraints += ",b";
    operands.push_back(predicate);
  }
}

/// One load as inline PTX. It is volatile: with the plain kind LLVM may
/// reorder it with a store to the same row.
Value createPtxLoad(ImplicitLocOpBuilder &b, Value address, VectorType piece,
                    int64_t bytes, CachePolicy policy, Value policyValue,
                    Value predicate) {
  PtxAccess ptx(b.getContext(), bytes);
  SmallVector<Value> operands{address};
  std::string constraints;
  for (int64_t i = 0; i < ptx.count; ++i)
    constraints += "=" + ptx.constraint + ",";
  constraints += "l";
  std::string text = "ld.global";
  if (policyValue)
    text += Policies::modifiers(policy);
  text += ptx.suffix + " " + ptx.registers(0) + ", [$" +
          std::to_string(ptx.count) + "]";
  endPtxAccess(text, constraints, operands, ptx.count, policyValue, predicate);
  if (predicate) {
    // Zeros in the same registers: elements that are not read stay zero.
    Value zero = LLVM::ConstantOp::create(b, b.getIntegerAttr(ptx.reg, 0));
    for (int64_t i = 0; i < ptx.count; ++i) {
      constraints += "," + std::to_string(i);
      operands.push_back(zero);
    }
  }
  if (ptx.count == 1) {
    Value reg =
        createAsm(b, ptx.reg, operands, text, constraints, true).getRes();
    return fromRegisters(b, ptx, reg, piece);
  }
  Type result = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(ptx.count, ptx.reg));
  Value packed =
      createAsm(b, result, operands, text, constraints, true).getRes();
  SmallVector<Value> registers;
  for (int64_t i = 0; i < ptx.count; ++i)
    registers.push_back(LLVM::ExtractValueOp::create(b, packed, i));
  return fromRegisters(b, ptx, registers, piece);
}

void createPtxStore(ImplicitLocOpBuilder &b, Value address, Value piece,
                    int64_t bytes, CachePolicy policy, Value policyValue,
                    Value predicate) {
  PtxAccess ptx(b.getContext(), bytes);
  SmallVector<Value> operands{address};
  llvm::append_range(operands, toRegisters(b, ptx, piece));
  std::string constraints = "l";
  for (int64_t i = 0; i < ptx.count; ++i)
    constraints += "," + ptx.constraint;
  std::string text = "st.global";
  if (policyValue)
    text += Policies::modifiers(policy);
  text += ptx.suffix + " [$0], " + ptx.registers(1);
  endPtxAccess(text, constraints, operands, /*outputs=*/0, policyValue,
               predicate);
  createAsm(b, Type(), operands, text, constraints + ",~{memory}", true);
}

void lowerLoad(GlobalLoadOp op, Policies &policies) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  AccessPlan plan(op.getType(), op.getAlignment());
  FragmentAddress address(b, op.getBase(), op.getRow(), op.getColumn(),
                          op.getType().getElementType(),
                          /*inBounds=*/!op.getValid());
  Value policy;
  if (op.getPolicy() != CachePolicy::normal)
    policy = policies.get(op, op.getPolicy());
  bool plain = !policy && !op.getValid() && op.getSegment() == 0;
  SmallVector<Value> pieces;
  for (int64_t i = 0; i < plan.count; ++i) {
    Value pointer = address.get(b, i * plan.bytes);
    if (plain) {
      pieces.push_back(
          LLVM::LoadOp::create(b, plan.piece, pointer, plan.bytes));
      continue;
    }
    Value predicate =
        op.getValid() ? plan.predicate(b, op.getValid(), i) : Value();
    pieces.push_back(createPtxLoad(b, pointer, plan.piece, plan.bytes,
                                   op.getPolicy(), policy, predicate));
  }
  op.replaceAllUsesWith(plan.assemble(b, pieces));
  op.erase();
}

void lowerStore(GlobalStoreOp op, Policies &policies) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = cast<VectorType>(op.getValue().getType());
  AccessPlan plan(type, op.getAlignment());
  FragmentAddress address(b, op.getBase(), op.getRow(), op.getColumn(),
                          type.getElementType(), /*inBounds=*/!op.getValid());
  Value policy;
  if (op.getPolicy() != CachePolicy::normal)
    policy = policies.get(op, op.getPolicy());
  for (int64_t i = 0; i < plan.count; ++i) {
    Value pointer = address.get(b, i * plan.bytes);
    Value piece = plan.extract(b, op.getValue(), i);
    if (!policy && !op.getValid()) {
      LLVM::StoreOp::create(b, piece, pointer, plan.bytes);
      continue;
    }
    Value predicate =
        op.getValid() ? plan.predicate(b, op.getValid(), i) : Value();
    createPtxStore(b, pointer, piece, plan.bytes, op.getPolicy(), policy,
                   predicate);
  }
  op.erase();
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

/// cp.async copies 4, 8 or 16 bytes.
bool isPlainCopy(AsyncCopyOp op) {
  return AccessPlan(cast<VectorType>(op.getFragment()), op.getAlignment())
             .bytes < 4;
}

void lowerCopy(AsyncCopyOp op, gpu::GPUModuleOp module) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = cast<VectorType>(op.getFragment());
  AccessPlan plan(type, op.getAlignment());
  FragmentAddress source(b, op.getBase(), op.getRow(), op.getColumn(),
                         type.getElementType(), /*inBounds=*/!op.getValid());
  Value target = createWorkgroupAddress(b, module, op.getOffset());
  // Past L1, which has little room beside workgroup memory; smaller pieces
  // cannot.
  auto modifier = plan.bytes == 16 ? NVVM::LoadCacheModifierKind::CG
                                   : NVVM::LoadCacheModifierKind::CA;
  for (int64_t i = 0; i < plan.count; ++i) {
    Value to = target;
    if (i > 0)
      to = LLVM::GEPOp::create(b, to.getType(), b.getI8Type(), to,
                               ArrayRef<LLVM::GEPArg>{int32_t(i * plan.bytes)},
                               LLVM::GEPNoWrapFlags::inbounds);
    // Of a copy of no bytes nothing is read, and zeros are written.
    Value bytes;
    if (op.getValid()) {
      auto constant = [&](int64_t value) -> Value {
        return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
      };
      bytes = arith::SelectOp::create(b, plan.predicate(b, op.getValid(), i),
                                      constant(plan.bytes), constant(0));
    }
    NVVM::CpAsyncOp::create(b, to, source.get(b, i * plan.bytes), plan.bytes,
                            modifier, bytes);
  }
  op.erase();
}

void lowerCopies(gpu::GPUModuleOp module) {
  module.walk([&](AsyncCopyOp op) { lowerCopy(op, module); });
  module.walk([](CopyCommitOp op) {
    OpBuilder b(op);
    NVVM::CpAsyncCommitGroupOp::create(b, op.getLoc());
    op.erase();
  });
  module.walk([](CopyWaitOp op) {
    OpBuilder b(op);
    NVVM::CpAsyncWaitGroupOp::create(b, op.getLoc(), op.getPending());
    op.erase();
  });
}

/// A policy is a hint: the results are the same without it.
void dropPolicies(gpu::GPUModuleOp module) {
  module.walk([](GlobalLoadOp op) { op.setPolicy(CachePolicy::normal); });
  module.walk([](GlobalStoreOp op) { op.setPolicy(CachePolicy::normal); });
}

} // namespace

void rmsnorm::lowerGlobalMemoryToPTX(gpu::GPUModuleOp module,
                                     const ChipInfo &chip) {
  if (chip.hasAsyncCopies) {
    expandCopies(module, isPlainCopy);
    lowerCopies(module);
  } else {
    expandAllCopies(module);
  }
  if (!getInstructions(chip).hasCachePolicies)
    dropPolicies(module);
  Policies policies;
  module.walk([&](GlobalLoadOp op) { lowerLoad(op, policies); });
  module.walk([&](GlobalStoreOp op) { lowerStore(op, policies); });
}
