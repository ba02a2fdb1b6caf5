// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimMemory.cpp - checked accesses of simulated kernels -------------===//

#include "SimBuilder.h"

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rmsnorm;

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

/// The constant that describes the accesses of one argument by fragments of one
/// type, as in rmsnorm_sim_access.
static Value getAccess(Operation *op, VectorType fragment, int64_t alignment,
                       SimBuilder &b) {
  auto argument =
      op->getAttrOfType<IntegerAttr>(RMSNormDialect::kSimArgumentAttrName);
  const int32_t fields[] = {
      int32_t(argument.getInt()), int32_t(fragment.getNumElements()),
      int32_t(fragment.getElementTypeBitWidth() / 8), int32_t(alignment)};
  std::string name = "rmsnorm.access";
  for (int32_t field : fields)
    name += "_" + std::to_string(field);
  auto module = op->getParentOfType<gpu::GPUModuleOp>();
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(b.builder);
    b.builder.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(b.i32, std::size(fields));
    LLVM::GlobalOp::create(b.builder, b.loc, type, /*isConstant=*/true,
                           LLVM::Linkage::Private, name,
                           b.builder.getI32TensorAttr(fields));
  }
  return LLVM::AddressOfOp::create(b.builder, b.loc, b.pointer, name);
}

/// Calls the function at `offset` of the table for an access.
template <typename Op>
static Value createGlobalAccess(Op op, typename Op::Adaptor adaptor,
                                VectorType fragment, int64_t offset,
                                SimRewriter &b, ValueRange further = {}) {
  Value base =
      LLVM::PtrToIntOp::create(b.builder, b.loc, b.i64, adaptor.getBase());
  Value valid = adaptor.getValid() ? adaptor.getValid()
                                   : b.constant(b.i32, RMSNORM_SIM_ALL);
  SmallVector<Value> operands{b.kernel.thread,
                              getAccess(op, fragment, op.getAlignment(), b),
                              base,
                              adaptor.getRow(),
                              adaptor.getColumn(),
                              valid};
  llvm::append_range(operands, further);
  return b.callTable(offset, b.pointer, operands).getResult();
}

static LogicalResult lowerGlobalLoad(GlobalLoadOp op,
                                     GlobalLoadOp::Adaptor adaptor,
                                     SimRewriter &b) {
  auto fragment =
      dyn_cast_or_null<VectorType>(b.converter.convertType(op.getType()));
  if (!fragment)
    return failure();
  Value address = createGlobalAccess(
      op, adaptor, fragment, offsetof(rmsnorm_sim_table, global_load), b);
  return b.replace(LLVM::LoadOp::create(b.builder, b.loc, fragment, address,
                                        op.getAlignment()));
}

static LogicalResult lowerGlobalStore(GlobalStoreOp op,
                                      GlobalStoreOp::Adaptor adaptor,
                                      SimRewriter &b) {
  auto fragment = dyn_cast<VectorType>(adaptor.getValue().getType());
  if (!fragment)
    return failure();
  Value place = b.load(b.pointer, b.kernel.thread,
                       offsetof(rmsnorm_sim_thread, fragment));
  LLVM::StoreOp::create(b.builder, b.loc, adaptor.getValue(), place,
                        /*alignment=*/64);
  createGlobalAccess(op, adaptor, fragment,
                     offsetof(rmsnorm_sim_table, global_store), b);
  return b.erase();
}

//===----------------------------------------------------------------------===//
// Workgroup memory
//===----------------------------------------------------------------------===//

static int64_t getElementBytes(Type type) {
  return getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8;
}

static int64_t getNumBytes(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return (vector ? vector.getNumElements() : 1) * getElementBytes(type);
}

/// The checked address of an access.
static Value createWorkgroupAddress(Value offset, Type type, bool isStore,
                                    SimRewriter &b) {
  return b
      .callTable(offsetof(rmsnorm_sim_table, workgroup_access), b.pointer,
                 {b.kernel.thread, offset, b.constant(b.i32, getNumBytes(type)),
                  b.constant(b.i32, isStore)})
      .getResult();
}

static LogicalResult lowerWorkgroupLoad(WorkgroupLoadOp op,
                                        WorkgroupLoadOp::Adaptor adaptor,
                                        SimRewriter &b) {
  Type type = b.converter.convertType(op.getType());
  if (!type)
    return failure();
  Value address = createWorkgroupAddress(adaptor.getOffset(), type,
                                         /*isStore=*/false, b);
  return b.replace(LLVM::LoadOp::create(b.builder, b.loc, type, address,
                                        getElementBytes(type)));
}

static LogicalResult lowerWorkgroupStore(WorkgroupStoreOp,
                                         WorkgroupStoreOp::Adaptor adaptor,
                                         SimRewriter &b) {
  Value value = adaptor.getValue();
  Value address = createWorkgroupAddress(adaptor.getOffset(), value.getType(),
                                         /*isStore=*/true, b);
  LLVM::StoreOp::create(b.builder, b.loc, value, address,
                        getElementBytes(value.getType()));
  return b.erase();
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

static LogicalResult lowerCopy(AsyncCopyOp op, AsyncCopyOp::Adaptor adaptor,
                               SimRewriter &b) {
  auto fragment =
      dyn_cast_or_null<VectorType>(b.converter.convertType(op.getFragment()));
  if (!fragment)
    return failure();
  createGlobalAccess(op, adaptor, fragment,
                     offsetof(rmsnorm_sim_table, async_copy), b,
                     adaptor.getOffset());
  return b.erase();
}

static LogicalResult lowerCommit(CopyCommitOp, CopyCommitOp::Adaptor,
                                 SimRewriter &b) {
  b.callTable(offsetof(rmsnorm_sim_table, copy_commit), b.pointer,
              b.kernel.thread);
  return b.erase();
}

static LogicalResult lowerWait(CopyWaitOp op, CopyWaitOp::Adaptor,
                               SimRewriter &b) {
  b.callTable(offsetof(rmsnorm_sim_table, copy_wait), b.pointer,
              {b.kernel.thread, b.constant(b.i32, op.getPending())});
  return b.erase();
}

void rmsnorm::populateSimMemoryPatterns(const LLVMTypeConverter &converter,
                                        SimKernels &kernels,
                                        RewritePatternSet &patterns) {
  addSimPatterns(patterns, converter, kernels, lowerGlobalLoad,
                 lowerGlobalStore, lowerWorkgroupLoad, lowerWorkgroupStore,
                 lowerCopy, lowerCommit, lowerWait);
}
