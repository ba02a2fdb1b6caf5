// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostCalls.cpp - calls of runtime/include/rmsnorm/embed.h ----------===//

#include "HostCalls.h"
#include "RMSNorm/IR/Disjoint.h"
#include "rmsnorm/embed.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace mlir::rmsnorm;

//===----------------------------------------------------------------------===//
// What a launch says
//===----------------------------------------------------------------------===//

FailureOr<int64_t> rmsnorm::getConstantOperand(gpu::LaunchFuncOp launch,
                                               Value value, StringRef what) {
  APInt constant;
  if (!value)
    return 0;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return launch.emitOpError("expected a constant ")
         << what << ", got " << value;
}

FailureOr<std::string> rmsnorm::getParameterKinds(gpu::LaunchFuncOp launch) {
  std::string kinds;
  for (Value operand : launch.getKernelOperands()) {
    Type type = operand.getType();
    if (auto pointer = operand.getDefiningOp<BufferPointerOp>();
        pointer && isConstantBuffer(pointer.getBuffer()))
      kinds += 'c';
    else if (isa<LLVM::LLVMPointerType>(type))
      kinds += 'p';
    else if (type.isIndex() || type.isInteger(64))
      kinds += 'l';
    else if (type.isInteger(32))
      kinds += 'i';
    else if (type.isF32())
      kinds += 'f';
    else
      return launch.emitOpError("expected parameters of type !llvm.ptr, index, "
                                "i64, i32 or f32, got ")
             << type;
  }
  return kinds;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

Value HostCalls::emitCall(Location loc, StringRef callee, Type result,
                          ValueRange arguments) {
  OpBuilder::InsertionGuard guard(builder);
  if (!result)
    result = LLVM::LLVMVoidType::get(builder.getContext());
  FailureOr<LLVM::LLVMFuncOp> function = LLVM::lookupOrCreateFn(
      builder, module, callee, llvm::to_vector(arguments.getTypes()), result);
  if (failed(function)) {
    isFailed = true;
    emitError(loc, "expected '")
        << callee << "' to be the runtime's, see rmsnorm/embed.h";
    return LLVM::UndefOp::create(builder, loc, result);
  }
  auto call = LLVM::CallOp::create(builder, loc, *function, arguments);
  return call.getNumResults() ? call.getResult() : Value();
}

Value HostCalls::emitAddress(Location loc, LLVM::GlobalOp global) {
  return global ? LLVM::AddressOfOp::create(builder, loc, global).getResult()
                : LLVM::ZeroOp::create(builder, loc, pointer).getResult();
}

Value HostCalls::emitI64(Location loc, int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), value);
}

Value HostCalls::emitCast(Location loc, Value value) {
  return value.getType().isIndex()
             ? arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                          value)
             : value;
}

LLVM::GlobalOp HostCalls::createGlobal(Location loc, const Twine &name,
                                       Type type, bool isConstant,
                                       Attribute value) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  auto global = LLVM::GlobalOp::create(builder, loc, type, isConstant,
                                       LLVM::Linkage::Internal, name.str(),
                                       value, /*alignment=*/16);
  symbols.insert(global);
  return global;
}

LLVM::GlobalOp HostCalls::createString(Location loc, const Twine &name,
                                       StringRef text) {
  const std::string ended = text.str() + '\0';
  return createGlobal(
      loc, name, LLVM::LLVMArrayType::get(builder.getI8Type(), ended.size()),
      /*isConstant=*/true, builder.getStringAttr(ended));
}

/// A struct of pointers and integers; null: a zero pointer.
LLVM::GlobalOp HostCalls::createTable(Location loc, const Twine &name,
                                      ArrayRef<Field> fields) {
  SmallVector<Type> types;
  for (const Field &field : fields)
    types.push_back(field.bits ? Type(builder.getIntegerType(field.bits))
                               : pointer);
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
  LLVM::GlobalOp table = createGlobal(loc, name, type, /*isConstant=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&table.getInitializerRegion());
  Value value = LLVM::UndefOp::create(builder, loc, type);
  for (auto [index, field] : llvm::enumerate(fields)) {
    Value element =
        field.bits
            ? LLVM::ConstantOp::create(builder, loc, types[index], field.value)
                  .getResult()
            : emitAddress(loc, field.global);
    value = LLVM::InsertValueOp::create(builder, loc, value, element, index);
  }
  LLVM::ReturnOp::create(builder, loc, value);
  return table;
}

//===----------------------------------------------------------------------===//
// Objects and kernels
//===----------------------------------------------------------------------===//

LogicalResult HostCalls::emitObjects(gpu::CompilationTarget format) {
  for (gpu::GPUModuleOp kernel : kernels) {
    const TargetAttr target = TargetAttr::lookup(kernel);
    Location loc = kernel.getLoc();
    gpu::TargetOptions options({}, {}, {}, {}, format);
    std::optional<SmallVector<char, 0>> bytes =
        cast<gpu::TargetAttrInterface>(Attribute(target))
            .serializeToObject(kernel, options);
    if (!bytes)
      return failure();
    const std::string name = kernel.getName().str();
    LLVM::GlobalOp code = createGlobal(
        loc, name + "_code",
        LLVM::LLVMArrayType::get(builder.getI8Type(), bytes->size()),
        /*isConstant=*/true,
        builder.getStringAttr(StringRef(bytes->data(), bytes->size())));
    LLVM::GlobalOp spelling =
        createString(loc, name + "_target", target.getSpelling());
    objects[name] = createTable(loc, name + "_object",
                                {{64, RMSNORM_GPU_VERSION},
                                 {code},
                                 {64, int64_t(bytes->size())},
                                 {spelling},
                                 {/*state=*/}});
  }
  return success();
}

FailureOr<LLVM::GlobalOp> HostCalls::getKernel(gpu::LaunchFuncOp launch) {
  if (launch.getAsyncToken() || !launch.getAsyncDependencies().empty() ||
      launch.getAsyncObject())
    return launch.emitOpError("expected a launch without tokens and stream for "
                              "host=direct, which has a stream of its own; "
                              "host=gpu takes them");
  LLVM::GlobalOp &table = tables[launch.getKernelAttr()];
  if (table)
    return table;
  gpu::KernelDim3 block = launch.getBlockSizeOperandValues();
  FailureOr<std::string> kinds = getParameterKinds(launch);
  FailureOr<int64_t> x = getConstantOperand(launch, block.x, "block size");
  FailureOr<int64_t> y = getConstantOperand(launch, block.y, "block size");
  FailureOr<int64_t> z = getConstantOperand(launch, block.z, "block size");
  FailureOr<int64_t> bytes = getConstantOperand(
      launch, launch.getDynamicSharedMemorySize(), "workgroup memory");
  FailureOr<int64_t> cluster = 1;
  if (launch.hasClusterSize())
    cluster = getConstantOperand(launch, launch.getClusterSizeOperandValues().x,
                                 "cluster");
  if (failed(kinds) || failed(x) || failed(y) || failed(z) || failed(bytes) ||
      failed(cluster))
    return failure();
  const auto *module = llvm::find_if(kernels, [&](gpu::GPUModuleOp kernel) {
    return kernel.getName() == launch.getKernelModuleName();
  });
  const ChipInfo &chip = TargetAttr::lookup(*module).getChipInfo();
  auto resident = launch->getAttrOfType<IntegerAttr>(
      RMSNormDialect::kBlocksPerMultiprocessorAttrName);
  const bool isDependent =
      launch->hasAttr(RMSNormDialect::kDependentLaunchAttrName);
  Location loc = launch.getLoc();
  const std::string name = launch.getKernelName().str();
  LLVM::GlobalOp text = createString(loc, name + "_name", name);
  LLVM::GlobalOp parameters = createString(loc, name + "_parameters", *kinds);
  table = createTable(loc, name + "_kernel",
                      {{objects.lookup(launch.getKernelModuleName())},
                       {text},
                       {parameters},
                       {32, *x},
                       {32, *y},
                       {32, *z},
                       {32, *cluster},
                       {32, *bytes},
                       {32, resident ? resident.getInt() : 0},
                       {32, chip.subgroupSize},
                       {32, isDependent},
                       {/*state=*/}});
  return table;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// The block that runs once for all iterations of sequential loops around `op`:
/// stack memory that a loop allocates stays until the loop ends.
static Block &getAllocationBlock(Operation *op) {
  Region *region = op->getParentRegion();
  for (Operation *parent = region->getParentOp();
       !isa<FunctionOpInterface>(parent) &&
       !parent->hasTrait<OpTrait::HasParallelRegion>() &&
       !parent->hasTrait<OpTrait::IsIsolatedFromAbove>();
       parent = region->getParentOp())
    region = parent->getParentRegion();
  return region->front();
}

LogicalResult HostCalls::emitLaunch(gpu::LaunchFuncOp launch) {
  FailureOr<LLVM::GlobalOp> kernel = getKernel(launch);
  if (failed(kernel))
    return failure();
  Location loc = launch.getLoc();
  const int64_t count = launch.getNumKernelOperands();
  Type i64 = builder.getI64Type();
  auto allocate = [&](Type type, int64_t number) -> Value {
    return LLVM::AllocaOp::create(builder, loc, pointer, type,
                                  emitI64(loc, number), /*alignment=*/8);
  };
  auto emitPlace = [&](Type type, Value base, int64_t index) -> Value {
    return LLVM::GEPOp::create(builder, loc, pointer, type, base,
                               ArrayRef<LLVM::GEPArg>(int32_t(index)));
  };
  // Once: memory for the values, and their addresses.
  builder.setInsertionPointToStart(&getAllocationBlock(launch));
  Value grid = allocate(i64, 3);
  Value parameters = allocate(pointer, std::max<int64_t>(count, 1));
  Value slots = allocate(i64, std::max<int64_t>(count, 1));
  SmallVector<Value> places;
  for (int64_t i = 0; i < count; ++i) {
    places.push_back(emitPlace(i64, slots, i));
    LLVM::StoreOp::create(builder, loc, places.back(),
                          emitPlace(pointer, parameters, i));
  }

  builder.setInsertionPoint(launch);
  for (auto [operand, place] :
       llvm::zip_equal(launch.getKernelOperands(), places))
    LLVM::StoreOp::create(builder, loc, emitCast(loc, operand), place);
  gpu::KernelDim3 blocks = launch.getGridSizeOperandValues();
  for (auto [index, size] :
       llvm::enumerate(std::array{blocks.x, blocks.y, blocks.z}))
    LLVM::StoreOp::create(builder, loc, emitCast(loc, size),
                          emitPlace(i64, grid, index));
  emitCall(loc, "rmsnorm_gpu_launch", /*result=*/{},
           {emitAddress(loc, *kernel), grid, parameters});
  launch.erase();
  return failure(isFailed);
}

void HostCalls::emitSynchronize(Operation *after) {
  builder.setInsertionPointAfter(after);
  emitCall(after->getLoc(), "rmsnorm_gpu_synchronize", /*result=*/{}, {});
}

LogicalResult HostCalls::emitMultiprocessorCount(MultiprocessorCountOp op) {
  Location loc = op.getLoc();
  builder.setInsertionPoint(op);
  // All objects run on one device.
  LLVM::GlobalOp object =
      objects.empty() ? LLVM::GlobalOp() : objects.begin()->second;
  Value count = emitCall(loc, "rmsnorm_gpu_multiprocessor_count",
                         builder.getI64Type(), emitAddress(loc, object));
  op.replaceAllUsesWith(
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), count)
          .getResult());
  op.erase();
  return failure(isFailed);
}

LogicalResult HostCalls::emitResidentClusters(ResidentClustersOp op,
                                              gpu::LaunchFuncOp launch) {
  FailureOr<LLVM::GlobalOp> kernel = getKernel(launch);
  if (failed(kernel))
    return failure();
  Location loc = op.getLoc();
  builder.setInsertionPoint(op);
  Value count = emitCall(loc, "rmsnorm_gpu_resident_clusters",
                         builder.getI64Type(), emitAddress(loc, *kernel));
  op.replaceAllUsesWith(
      arith::IndexCastOp::create(builder, loc, builder.getIndexType(), count)
          .getResult());
  op.erase();
  return failure(isFailed);
}

FailureOr<Value> HostCalls::emitWorkspace(WorkspaceOp workspace, Value bytes,
                                          Operation *last) {
  Location loc = workspace.getLoc();
  builder.setInsertionPoint(workspace);
  // Of the only device.
  Value memory = emitCall(
      loc, "rmsnorm_gpu_workspace", pointer,
      {emitAddress(loc, objects.begin()->second), emitCast(loc, bytes)});
  builder.setInsertionPointAfter(last);
  emitCall(loc, "rmsnorm_gpu_release_workspace", /*result=*/{}, memory);
  if (isFailed)
    return failure();
  return memory;
}
