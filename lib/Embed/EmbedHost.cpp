// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EmbedHost.cpp - rmsnorm-embed-host --------------------------------===//

#include "RMSNorm/Embed/Passes.h"
#include "RMSNorm/IR/KernelTarget.h"

#include "HostCalls.h"
#include "HostWaits.h"
#include "SimABI.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_EMBEDHOST
#include "RMSNorm/Embed/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
struct EmbedHost final : rmsnorm::impl::EmbedHostBase<EmbedHost> {
  using EmbedHostBase::EmbedHostBase;

  void runOnOperation() override {
    // A launch finds its kernel in the module around it.
    SmallVector<ModuleOp> modules;
    getOperation().walk([&](ModuleOp module) { modules.push_back(module); });
    for (ModuleOp each : modules) {
      module = each;
      if (failed(collectKernels()) || failed(lower()))
        return signalPassFailure();
    }
    stripAttributes();
    if (failed(verifyNothingLeft()))
      signalPassFailure();
  }

private:
  bool isDirect() { return host == HostLaunches::direct; }
  LogicalResult collectKernels();
  LogicalResult lower();
  LogicalResult lowerDeviceQueries(HostCalls &calls);
  LogicalResult lowerWorkspaces(HostCalls &calls);
  LogicalResult replaceWorkspace(WorkspaceOp workspace, Value pointer);
  void lowerPointers();
  LogicalResult describeSimulatedKernels();
  void stripAttributes();
  LogicalResult verifyNothingLeft();

  /// The ops of `module`, short of modules in it.
  template <typename OpTy> SmallVector<OpTy> collect() {
    SmallVector<OpTy> ops;
    module->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<ModuleOp>(op) && op != module)
        return WalkResult::skip();
      if (auto found = dyn_cast<OpTy>(op))
        ops.push_back(found);
      return WalkResult::advance();
    });
    return ops;
  }

  ModuleOp module;
  SmallVector<gpu::GPUModuleOp> kernels;
  SmallVector<gpu::LaunchFuncOp> launches;
};
} // namespace

LogicalResult EmbedHost::collectKernels() {
  kernels.clear();
  launches.clear();
  for (auto kernel : module.getOps<gpu::GPUModuleOp>()) {
    if (!getKernelTarget(kernel))
      continue;
    for (auto function : kernel.getOps<gpu::GPUFuncOp>()) {
      InFlightDiagnostic error =
          function.emitOpError("expected a finalized kernel");
      error.attachNote() << "rmsnorm-finalize-nvvm, -rocdl and -sim make it so";
      return error;
    }
    kernels.push_back(kernel);
  }
  return success();
}

LogicalResult EmbedHost::lower() {
  HostCalls calls(module, kernels);
  for (auto launch : collect<gpu::LaunchFuncOp>())
    if (calls.isOurs(launch))
      launches.push_back(launch);
  if (isDirect() && failed(calls.emitObjects(format)))
    return failure();
  if (failed(lowerDeviceQueries(calls)))
    return failure();
  if (isDirect() && synchronize)
    for (Operation *last : getLastLaunches(module, launches))
      calls.emitSynchronize(last);
  if (failed(lowerWorkspaces(calls)))
    return failure();
  // While one sees which buffers they take.
  for (gpu::LaunchFuncOp launch : launches)
    if (isDirect() && failed(calls.getKernel(launch)))
      return failure();
  lowerPointers();
  if (!isDirect())
    return describeSimulatedKernels();
  for (gpu::LaunchFuncOp launch : launches)
    if (failed(calls.emitLaunch(launch)))
      return failure();
  for (gpu::GPUModuleOp kernel : kernels)
    kernel.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Device queries
//===----------------------------------------------------------------------===//

LogicalResult EmbedHost::lowerDeviceQueries(HostCalls &calls) {
  // The launch whose grid follows from each.
  DenseMap<Operation *, gpu::LaunchFuncOp> launchOf;
  for (gpu::LaunchFuncOp launch : launches) {
    SetVector<Operation *> slice;
    BackwardSliceOptions options;
    options.omitBlockArguments = true;
    if (launch.hasClusterSize())
      (void)getBackwardSlice(launch.getGridSizeX(), &slice, options);
    for (Operation *op : slice)
      if (isa<ResidentClustersOp>(op))
        launchOf[op] = launch;
  }
  for (auto op : collect<ResidentClustersOp>()) {
    gpu::LaunchFuncOp launch = launchOf.lookup(op);
    if (!launch)
      return op.emitOpError("expected the grid of a launch in clusters to "
                            "follow from it");
    if (failed(calls.emitResidentClusters(op, launch)))
      return failure();
  }
  for (auto op : collect<MultiprocessorCountOp>())
    if (failed(calls.emitMultiprocessorCount(op)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// The last op in the block of `workspace` that uses it or its address.
static Operation *getLastUse(WorkspaceOp workspace) {
  Operation *last = workspace;
  auto visit = [&](Operation *user) {
    Operation *ancestor = workspace->getBlock()->findAncestorOpInBlock(*user);
    if (ancestor && last->isBeforeInBlock(ancestor))
      last = ancestor;
  };
  for (Operation *user : workspace->getUsers()) {
    visit(user);
    if (auto pointer = dyn_cast<BufferPointerOp>(user))
      llvm::for_each(pointer->getUsers(), visit);
  }
  return last;
}

/// The uses of a workspace that lies at `pointer`, a packed buffer.
LogicalResult EmbedHost::replaceWorkspace(WorkspaceOp workspace,
                                          Value pointer) {
  OpBuilder builder(workspace);
  Location loc = workspace.getLoc();
  MemRefType type = cast<MemRefType>(workspace.getType());
  SmallVector<OpFoldResult> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    sizes.push_back(workspace.getMixedSize(dim));
  for (Operation *user : llvm::make_early_inc_range(workspace->getUsers())) {
    if (auto address = dyn_cast<BufferPointerOp>(user)) {
      address.replaceAllUsesWith(LLVM::AddrSpaceCastOp::create(
                                     builder, loc, address.getType(), pointer)
                                     .getResult());
    } else if (auto dim = dyn_cast<memref::DimOp>(user);
               dim && dim.getConstantIndex()) {
      dim.replaceAllUsesWith(getValueOrCreateConstantIndexOp(
          builder, loc, sizes[*dim.getConstantIndex()]));
    } else if (auto metadata = dyn_cast<memref::ExtractStridedMetadataOp>(user);
               metadata && metadata.getBaseBuffer().use_empty()) {
      Value stride = arith::ConstantIndexOp::create(builder, loc, 1);
      metadata.getOffset().replaceAllUsesWith(
          arith::ConstantIndexOp::create(builder, loc, 0));
      for (int64_t d = type.getRank(); d-- > 0;) {
        Value size = getValueOrCreateConstantIndexOp(builder, loc, sizes[d]);
        metadata.getSizes()[d].replaceAllUsesWith(size);
        metadata.getStrides()[d].replaceAllUsesWith(stride);
        stride = arith::MulIOp::create(builder, loc, stride, size);
      }
    } else {
      return user->emitOpError("expected only launches to use a workspace");
    }
    user->erase();
  }
  workspace.erase();
  return success();
}

LogicalResult EmbedHost::lowerWorkspaces(HostCalls &calls) {
  for (auto workspace : collect<WorkspaceOp>()) {
    OpBuilder builder(workspace);
    Location loc = workspace.getLoc();
    Operation *last = getLastUse(workspace);
    auto type = cast<MemRefType>(workspace.getType());
    if (!isDirect()) {
      Value buffer = memref::AllocOp::create(
          builder, loc, type, workspace.getSizes(),
          builder.getI64IntegerAttr(WorkspaceOp::alignment));
      workspace.replaceAllUsesWith(buffer);
      builder.setInsertionPointAfter(last == workspace ? buffer.getDefiningOp()
                                                       : last);
      memref::DeallocOp::create(builder, loc, buffer);
      workspace.erase();
      continue;
    }
    Value bytes = arith::ConstantIndexOp::create(builder, loc,
                                                 *workspace.getStaticBytes());
    for (Value size : workspace.getSizes())
      bytes = arith::MulIOp::create(builder, loc, bytes, size);
    FailureOr<Value> pointer = calls.emitWorkspace(workspace, bytes, last);
    if (failed(pointer) || failed(replaceWorkspace(workspace, *pointer)))
      return failure();
  }
  return success();
}

/// The address of the first element.
void EmbedHost::lowerPointers() {
  for (auto op : collect<BufferPointerOp>()) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    Value buffer = op.getBuffer();
    auto type = cast<MemRefType>(buffer.getType());
    auto emitIndex = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(builder, loc, value);
    };
    Value address =
        memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
    auto [strides, offset] = type.getStridesAndOffset();
    const int64_t unit = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    Value bytes;
    if (ShapedType::isDynamic(offset))
      bytes = arith::MulIOp::create(
          builder, loc,
          memref::ExtractStridedMetadataOp::create(builder, loc, buffer)
              .getOffset(),
          emitIndex(unit));
    else if (offset != 0)
      bytes = emitIndex(offset * unit);
    if (bytes)
      address = arith::AddIOp::create(builder, loc, address, bytes);
    address =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
    op.replaceAllUsesWith(
        LLVM::IntToPtrOp::create(builder, loc, op.getType(), address)
            .getResult());
    op.erase();
  }
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// A driver knows the parameters of kernels, and upstream's calls do not name
/// them. For simulated kernels a description lies beside them.
LogicalResult EmbedHost::describeSimulatedKernels() {
  for (gpu::GPUModuleOp kernel : kernels) {
    const TargetAttr target = TargetAttr::lookup(kernel);
    if (target.getBackend() != Backend::sim)
      continue;
    auto builder = OpBuilder::atBlockBegin(kernel.getBody());
    auto add = [&](StringRef name, Type type, Attribute value) {
      if (!kernel.lookupSymbol(name))
        LLVM::GlobalOp::create(builder, kernel.getLoc(), type,
                               /*isConstant=*/true, LLVM::Linkage::External,
                               name, value);
    };
    add(RMSNORM_SIM_SUBGROUP_SYMBOL, builder.getI32Type(),
        builder.getI32IntegerAttr(target.getChipInfo().subgroupSize));
    for (gpu::LaunchFuncOp launch : launches) {
      if (launch.getKernelModuleName() != kernel.getName())
        continue;
      FailureOr<std::string> kinds = getParameterKinds(launch);
      if (failed(kinds))
        return failure();
      *kinds += '\0';
      add((launch.getKernelName().getValue() + RMSNORM_SIM_PARAMETERS_SUFFIX)
              .str(),
          LLVM::LLVMArrayType::get(builder.getI8Type(), kinds->size()),
          builder.getStringAttr(*kinds));
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// What is left
//===----------------------------------------------------------------------===//

/// Not inside our gpu.modules: their compilation needs attributes there.
static void walkHost(Operation *root, function_ref<void(Operation *)> visit) {
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (getKernelTarget(op))
      return WalkResult::skip();
    visit(op);
    return WalkResult::advance();
  });
}

static bool isOurs(StringAttr name) {
  return name.getValue().split('.').first ==
         RMSNormDialect::getDialectNamespace();
}

void EmbedHost::stripAttributes() {
  walkHost(getOperation(), [](Operation *op) {
    for (NamedAttribute attribute : llvm::to_vector(op->getDiscardableAttrs()))
      if (isOurs(attribute.getName()))
        op->removeDiscardableAttr(attribute.getName());
    auto function = dyn_cast<FunctionOpInterface>(op);
    if (!function)
      return;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      for (NamedAttribute attribute : function.getArgAttrs(i))
        if (isOurs(attribute.getName()))
          function.removeArgAttr(i, attribute.getName());
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      for (NamedAttribute attribute : function.getResultAttrs(i))
        if (isOurs(attribute.getName()))
          function.removeResultAttr(i, attribute.getName());
  });
}

LogicalResult EmbedHost::verifyNothingLeft() {
  Operation *left = nullptr;
  walkHost(getOperation(), [&](Operation *op) {
    if (!left && op->getName().getDialectNamespace() ==
                     RMSNormDialect::getDialectNamespace())
      left = op;
  });
  if (!left)
    return success();
  const bool isNorm = isa<ForwardOp, BackwardOp>(left);
  return left->emitOpError("expected no op of ours to be left in host code: "
                           "run ")
         << (isNorm ? "rmsnorm-embed-tensors, bufferization and " : "")
         << "rmsnorm-embed-memrefs before rmsnorm-embed-host";
}
