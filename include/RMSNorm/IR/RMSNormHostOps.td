// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RMSNormHostOps.td - what a host function passes to its launches ---===//
//
// A host function has these ops, index arithmetic and gpu.launch_func, and
// nothing else. The runtime evaluates them at a call (lib/Module).
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_IR_RMSNORMHOSTOPS_TD
#define RMSNORM_IR_RMSNORMHOSTOPS_TD

include "RMSNorm/IR/RMSNormAttrs.td"
include "mlir/Dialect/LLVMIR/LLVMOpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/Interfaces/ViewLikeInterface.td"

def RMSNorm_GlobalPointer : LLVM_PointerInAddressSpace<1>;

def RMSNorm_BufferPointerOp
    : RMSNorm_Op<"buffer_pointer",
                 [Pure, DeclareOpInterfaceMethods<ViewLikeOpInterface>]> {
  let summary = "the address of a buffer's first element";
  let description = [{
    A launch passes bare global pointers, never memref descriptors. The
    address includes the buffer's offset. It is a view of the buffer, so that a
    pass that looks for a buffer's last use finds the launch.
  }];
  let arguments = (ins AnyMemRef:$buffer);
  let results = (outs RMSNorm_GlobalPointer:$result);
  let assemblyFormat = "$buffer attr-dict `:` type($buffer)";
  let extraClassDefinition = [{
    ::mlir::Value $cppClass::getViewSource() { return getBuffer(); }
  }];
}

def RMSNorm_WorkspaceOp : RMSNorm_Op<"workspace", []> {
  let summary = "a buffer in the workspace that the caller owns";
  let description = [{
    Device memory between the kernels of one call: written by an earlier launch
    of the host function, read by a later one. Its contents are undefined before
    and after the call. The operands are the sizes of the dynamic
    dimensions, index arithmetic that the runtime evaluates at a call, none
    negative; like any buffer it reaches a kernel through
    `rmsnorm.buffer_pointer`.

    It is aligned to 256 bytes. The workspaces of a function lie one after
    the other in the order of these ops. `rmsnorm_workspace_size` of the C API
    returns their sum. Two ops are two buffers:
    they are never merged. Nothing is allocated at run time.

    ```mlir
    %partials = rmsnorm.workspace(%blocks) : memref<?x4096xf32>
    ```

    Constraints:
    - (C1) as many operands as dynamic dimensions.
    - (C2) the memref is packed (no layout) and has no memory space; its
      elements take whole bytes.
    - (C3) the static sizes and the element take fewer than 2^62 bytes.
  }];
  let arguments = (ins Variadic<Index>:$sizes);
  let results = (outs Res<AnyMemRef, "", [MemAlloc]>:$result);
  let assemblyFormat = "`(` $sizes `)` attr-dict `:` type($result)";
  let extraClassDeclaration = [{
    /// Where a workspace begins, in bytes from the caller's.
    static constexpr int64_t alignment = 256;

    /// Bytes of an element times the static sizes; times the operands that is
    /// the size of the buffer. None if that is too much, see (C3).
    std::optional<int64_t> getStaticBytes();

    /// The size of a dimension: an operand, or a static size.
    OpFoldResult getMixedSize(int64_t dim);
  }];
  let hasVerifier = 1;
}

def RMSNorm_MultiprocessorCountOp
    : RMSNorm_Op<"multiprocessor_count", [Pure]> {
  let summary = "multiprocessors of the device the kernel is launched on";
  let description = [{
    Evaluated by the runtime when it prepares: chips of one name differ, so it
    is never folded to the number in the target table.
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

// Not Pure: it stands for one launch, and two of them are not one.
def RMSNorm_ResidentClustersOp : RMSNorm_Op<"resident_clusters"> {
  let summary = "clusters of a launch that the device holds at once";
  let description = [{
    The launch is the only one whose grid follows from this op. A cluster does
    not span the device's groups of multiprocessors, so fewer are resident than
    the multiprocessors have room for. A persistent grid of more clusters would
    leave some for a second wave. Evaluated by the runtime when it prepares;
    a large number where the device knows no such limit.
  }];
  let results = (outs Index:$result);
  let assemblyFormat = "attr-dict";
}

#endif // RMSNORM_IR_RMSNORMHOSTOPS_TD
