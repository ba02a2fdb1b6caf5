// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.td - kernels in somebody else's host code ------------------===//

#ifndef RMSNORM_EMBED_PASSES_TD
#define RMSNORM_EMBED_PASSES_TD

include "mlir/Pass/PassBase.td"

def SelectVariants : Pass<"rmsnorm-select-variants"> {
  let summary = "chooses schedules of each rmsnorm.rows and guards them";
  let description = [{
    Writes variants into the IR, as norm-compile writes them into a module: copies
    of a `rmsnorm.rows` in the branches of `scf.if`, each with a schedule. The
    first copy is for buffers whose rows all begin at multiples of 16 bytes, or
    of 8 or 4 if rows are shorter multiples (address, strides of dimensions of
    more than one element, a size of rows that only a call knows), the last for
    any buffers. Buffers with a value for each row or group of columns, such as
    scales, may lie anywhere. Few rows have a copy of
    their own if they want another schedule than many; so have narrow rows where
    N is known only at a call. A copy that no call would take is left out. So is
    a condition that always holds: 16 bytes of a static offset, stride or row
    size, of a `memref.alloc` or `memref.global` with an `alignment`.

    Several programs share the branches of one guard, where
    `rmsnorm-merge-launches` finds them, if they do not depend on each other, no
    op with an effect is between them, their alignments are the same, and N is
    static. They are then at the place of the last one.

    A `rmsnorm.rows` that has a schedule keeps it, guarded.

    Requires: `rmsnorm-strided-buffers`, `rmsnorm.target` on the module.
    Numeric effect: that of rmsnorm-select-schedule; a row may be summed in
    another order where its address is another one.

    ```mlir
    rmsnorm.rows sizes [%m] columns(1024) buffers(read %x : ..., ...) {
    ```
    becomes
    ```mlir
    %address = memref.extract_aligned_pointer_as_index %x : ...
    %low = arith.andi %address, %c15 : index
    %aligned = arith.cmpi eq, %low, %c0 : index
    scf.if %aligned {
      rmsnorm.rows ... schedule(#rmsnorm.schedule<..., vector_width = 8>) {
    } else {
      rmsnorm.rows ... schedule(#rmsnorm.schedule<..., alignment = 1>) {
    }
    ```
  }];
  let options = [
    Option<"schedule", "schedule", "std::string", "\"\"",
           "overrides of the choice, as of rmsnorm-select-schedule">,
    Option<"batchInvariant", "batch-invariant", "bool", "false",
           "a row is summed in the same order whatever the number of rows">,
    Option<"tuning", "tuning", "std::string", "\"\"",
           "a file of norm-tune, whose records replace the choice">,
    Option<"smMargin", "sm-margin", "int64_t", "0",
           "multiprocessors to leave to other work">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::rmsnorm::RMSNormDialect"];
}

def SimplifyOurs : Pass<"rmsnorm-simplify"> {
  let summary = "canonicalize and cse inside of our ops and kernels";
  let description = [{
    Runs upstream's canonicalize and cse in each `rmsnorm.rows` and in the
    gpu.modules whose target is `#rmsnorm.target`. The code around them belongs to
    another compiler and stays as it is.
  }];
  let options = [
    Option<"canonicalize", "canonicalize", "bool", "true",
           "not only common subexpressions">,
  ];
  let dependentDialects = ["::mlir::rmsnorm::RMSNormDialect"];
}

def EmbedHost : Pass<"rmsnorm-embed-host", "::mlir::ModuleOp"> {
  let summary = "lowers our launches and their operands to upstream's dialects";
  let description = [{
    The last of our passes on host code. Afterwards nothing outside of our
    gpu.modules has an op or attribute of ours. Buffers become bare pointers
    here, which hide their uses: deallocations come before (`bufferization`'s
    passes see that `rmsnorm.buffer_pointer` is a view). With `host=direct` a pass
    that frees buffers at the end of blocks may come after it, too
    (`buffer-deallocation-pipeline`). A pass that frees a buffer after the last
    use that it sees would do so before a launch (`optimize-allocation-liveness`).

    Without this pass the translation to LLVM IR is an error.

    `host=gpu`: gpu.launch_func stay, for gpu-module-to-binary, gpu-async-region
    and gpu-to-llvm. `rmsnorm.workspace` becomes a memref.alloc, aligned to 256
    bytes, and a memref.dealloc after its last launch: memory that the device
    must reach, as that of all buffers. Upstream's calls have no place for
    programmatic dependent launch and for the blocks that share a
    multiprocessor: kernels start one after the other.

    `host=direct`: launches become calls of `rmsnorm_gpu_launch`
    (runtime/include/rmsnorm/embed.h) and each of our gpu.modules a constant with
    its machine code (`format=isa`: text) beside a table of its kernels, so that
    nothing is lost; no stack is taken in loops. `rmsnorm.workspace` becomes
    memory that the runtime keeps. Launches with tokens or a stream are errors.
    The host waits after each run of launches, before the next op with an effect
    (`synchronize=false`: nowhere, the program does).

    `rmsnorm.multiprocessor_count` and `rmsnorm.resident_clusters` become calls
    of `rmsnorm_gpu_multiprocessor_count` and `rmsnorm_gpu_resident_clusters`.

    Requires: finalized kernels (`rmsnorm-finalize-nvvm`, `-rocdl`, `-sim`);
    for `direct`, registerSerialization. Numeric effect: none.
  }];
  let options = [
    Option<"host", "host", "HostLaunches", "HostLaunches::direct",
           "who launches",
           [{::llvm::cl::values(
                 clEnumValN(HostLaunches::direct, "direct",
                            "calls of our runtime"),
                 clEnumValN(HostLaunches::gpu, "gpu",
                            "upstream's gpu dialect"))}]>,
    Option<"synchronize", "synchronize", "bool", "true",
           "direct: wait after launches">,
    Option<"format", "format", "gpu::CompilationTarget",
           "gpu::CompilationTarget::Fatbin",
           "direct: machine code, as of gpu-module-to-binary",
           [{::llvm::cl::values(
                 clEnumValN(gpu::CompilationTarget::Assembly, "isa", "text"),
                 clEnumValN(gpu::CompilationTarget::Binary, "bin",
                            "machine code"),
                 clEnumValN(gpu::CompilationTarget::Fatbin, "fatbin",
                            "as bin; without ptxas as isa"))}]>,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::LLVM::LLVMDialect"];
}

#endif // RMSNORM_EMBED_PASSES_TD
