// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WorkgroupMemory.cpp - a block's dynamic workgroup memory -----------===//

#include "WorkgroupMemory.h"
#include "DeviceOps.h"
#include "Fragments.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::rmsnorm;

LLVM::GlobalOp rmsnorm::getWorkgroupBuffer(gpu::GPUModuleOp module) {
  constexpr llvm::StringLiteral name = "rmsnorm_workgroup";
  if (auto global = module.lookupSymbol<LLVM::GlobalOp>(name))
    return global;
  // External and of size 0: the launch says how large it is. A static buffer
  // would stop at 48 KB on NVIDIA chips; without an alignment vector accesses
  // would be split.
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  return LLVM::GlobalOp::create(
      b, module.getLoc(), LLVM::LLVMArrayType::get(b.getI8Type(), 0),
      /*isConstant=*/false, LLVM::Linkage::External, name, Attribute(),
      /*alignment=*/16, /*addrSpace=*/3);
}

Value rmsnorm::createWorkgroupAddress(ImplicitLocOpBuilder &b,
                                      gpu::GPUModuleOp module, Value offset) {
  Value base = LLVM::AddressOfOp::create(b, getWorkgroupBuffer(module));
  // A constant part becomes the immediate of the access.
  int64_t constant = peelConstant(offset);
  auto advance = [&](Value address, LLVM::GEPArg bytes) -> Value {
    return LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), address,
                               ArrayRef<LLVM::GEPArg>{bytes},
                               LLVM::GEPNoWrapFlags::inbounds);
  };
  Value address = advance(base, offset);
  return constant ? advance(address, int32_t(constant)) : address;
}

/// `offset` through an asm that does nothing, another one for each segment: the
/// optimiser does not see that segments load from the same place.
static Value hideOffset(ImplicitLocOpBuilder &b, Value offset, int64_t segment,
                        StringRef registerClass) {
  int64_t constant = peelConstant(offset);
  // A comment in the assembly of all targets.
  std::string text = "// segment " + std::to_string(segment);
  Value hidden =
      createAsm(b, offset.getType(), offset, text,
                ("=" + registerClass + ",0").str(), /*sideEffects=*/false)
          .getRes();
  if (constant == 0)
    return hidden;
  return arith::AddIOp::create(
      b, hidden, arith::ConstantOp::create(b, b.getI32IntegerAttr(constant)),
      arith::IntegerOverflowFlags::nuw);
}

void rmsnorm::lowerWorkgroupAccesses(gpu::GPUModuleOp module,
                                     StringRef registerClass) {
  // A fragment goes in accesses of up to 16 bytes, the alignment of the buffer.
  auto plan = [](Type type) -> std::optional<AccessPlan> {
    if (auto fragment = dyn_cast<VectorType>(type))
      return AccessPlan(fragment, 16);
    return std::nullopt;
  };
  auto advance = [](ImplicitLocOpBuilder &b, Value address, int64_t bytes) {
    if (bytes == 0)
      return address;
    return LLVM::GEPOp::create(b, address.getType(), b.getI8Type(), address,
                               ArrayRef<LLVM::GEPArg>{int32_t(bytes)},
                               LLVM::GEPNoWrapFlags::inbounds)
        .getResult();
  };
  module.walk([&](WorkgroupLoadOp op) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Value offset = op.getOffset();
    if (op.getSegment() > 0)
      offset = hideOffset(b, offset, op.getSegment(), registerClass);
    Value pointer = createWorkgroupAddress(b, module, offset);
    if (auto access = plan(op.getType())) {
      SmallVector<Value> pieces;
      for (int64_t i = 0; i < access->count; ++i)
        pieces.push_back(LLVM::LoadOp::create(
            b, access->piece, advance(b, pointer, i * access->bytes),
            access->bytes));
      op.replaceAllUsesWith(access->assemble(b, pieces));
    } else {
      op.replaceAllUsesWith(
          LLVM::LoadOp::create(b, op.getType(), pointer).getResult());
    }
    op.erase();
  });
  module.walk([&](WorkgroupStoreOp op) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Value pointer = createWorkgroupAddress(b, module, op.getOffset());
    if (auto access = plan(op.getValue().getType()))
      for (int64_t i = 0; i < access->count; ++i) {
        Value place = advance(b, pointer, i * access->bytes);
        LLVM::StoreOp::create(b, access->extract(b, op.getValue(), i), place,
                              access->bytes);
      }
    else
      LLVM::StoreOp::create(b, op.getValue(), pointer);
    op.erase();
  });
}

void rmsnorm::expandCopies(gpu::GPUModuleOp module,
                           function_ref<bool(AsyncCopyOp)> isPlain) {
  module.walk([&](AsyncCopyOp op) {
    if (!isPlain(op))
      return;
    OpBuilder b(op);
    Value loaded = GlobalLoadOp::create(
        b, op.getLoc(), op.getFragment(), op.getBase(), op.getRow(),
        op.getColumn(), op.getValid(), op.getAlignment());
    WorkgroupStoreOp::create(b, op.getLoc(), loaded, op.getOffset());
    op.erase();
  });
}

void rmsnorm::expandAllCopies(gpu::GPUModuleOp module) {
  expandCopies(module, [](AsyncCopyOp) { return true; });
  module.walk([](Operation *op) {
    if (isa<CopyCommitOp, CopyWaitOp>(op))
      op->erase();
  });
}
