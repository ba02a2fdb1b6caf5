// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RMSNormThreadOps.td - thread level: what a GPU thread executes ----===//
//
// The closed list that rmsnorm-distribute emits beside arith, math, vector,
// scf and gpu.{thread_id,block_id,grid_dim}. Each op has three lowerings:
// rmsnorm-finalize-{nvvm,rocdl,sim}. Kernels are 1-D: only x is used.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_IR_RMSNORMTHREADOPS_TD
#define RMSNORM_IR_RMSNORMTHREADOPS_TD

include "RMSNorm/IR/RMSNormHostOps.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

// A thread holds a fragment in registers. It has few elements, since code
// generators unroll vectors.
def RMSNorm_Fragment : ConfinedType<
    VectorOfRankAndType<[1], [AnyFloat, AnyInteger]>,
    [CPred<"::mlir::rmsnorm::isFragment(::llvm::cast<::mlir::VectorType>($_self))">],
    "fragment of 1 to 64 elements of 1, 2, 4 or 8 bytes", "::mlir::VectorType">;
def RMSNorm_Scalar : AnyTypeOf<[AnyFloat, AnySignlessInteger]>;
def RMSNorm_Stored : AnyTypeOf<[RMSNorm_Scalar, RMSNorm_Fragment]>;

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

def RMSNorm_GlobalLoadOp : RMSNorm_Op<"global_load", [
    MemoryEffects<[MemRead]>]> {
  let summary = "reads consecutive elements of a buffer into a fragment";
  let description = [{
    Reads the V elements at `base` + `row` + `column` (both in elements). `row`
    is the 64-bit offset of a row, `column` the non-negative 32-bit offset in
    it. Element e is read if e < `valid` (absent: all are) and is zero
    otherwise; an element that is not read touches no memory of its own.

    `alignment`, in bytes, a power of two up to 16, not below the element
    size: the address is a multiple of it, and so is the size of the `valid`
    elements. Accesses are as wide as that allows.

    When `valid` is given, the address `base` + `row` (column 0) must be
    readable for min(V, row size) elements, or for `alignment` bytes if that
    is more convenient: targets without predicated loads read there instead
    and drop what they read.

    A load with `segment` > 0 is never merged with another one, see
    `rmsnorm.tile_load`.

    ```mlir
    %x = rmsnorm.global_load %p[%row, %col] valid(%n) alignment(16)
        policy(evict_last) : vector<8xbf16>
    ```
  }];
  let arguments = (ins Arg<RMSNorm_GlobalPointer, "buffer">:$base, I64:$row,
                       I32:$column, Optional<I32>:$valid, I64Attr:$alignment,
                       DefaultValuedAttr<I64Attr, "0">:$segment,
                       DefaultValuedAttr<RMSNorm_CachePolicyAttr,
                         "::mlir::rmsnorm::CachePolicy::normal">:$policy);
  let results = (outs RMSNorm_Fragment:$result);
  let assemblyFormat = [{
    $base `[` $row `,` $column `]` (`valid` `(` $valid^ `)`)?
    `alignment` `(` $alignment `)` (`segment` `(` $segment^ `)`)?
    (`policy` `(` custom<Enum>($policy)^ `)`)? attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def RMSNorm_GlobalStoreOp : RMSNorm_Op<"global_store", [
    MemoryEffects<[MemWrite]>]> {
  let summary = "writes a fragment to consecutive elements of a buffer";
  let description = [{
    As `rmsnorm.global_load`: element e is written if e < `valid`. Nothing else
    is touched: a target without predicated stores branches.

    ```mlir
    rmsnorm.global_store %y, %p[%row, %col] valid(%n) alignment(16) : vector<8xbf16>
    ```
  }];
  let arguments = (ins RMSNorm_Fragment:$value,
                       Arg<RMSNorm_GlobalPointer, "buffer">:$base, I64:$row,
                       I32:$column, Optional<I32>:$valid, I64Attr:$alignment,
                       DefaultValuedAttr<RMSNorm_CachePolicyAttr,
                         "::mlir::rmsnorm::CachePolicy::normal">:$policy);
  let assemblyFormat = [{
    $value `,` $base `[` $row `,` $column `]` (`valid` `(` $valid^ `)`)?
    `alignment` `(` $alignment `)` (`policy` `(` custom<Enum>($policy)^ `)`)? attr-dict
    `:` type($value)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Workgroup memory
//===----------------------------------------------------------------------===//

def RMSNorm_WorkgroupLoadOp : RMSNorm_Op<"workgroup_load", [
    MemoryEffects<[MemRead]>]> {
  let summary = "reads a scalar or a fragment of the block's workgroup memory";
  let description = [{
    `offset` is in bytes, a multiple of the value's size, into the one dynamic
    buffer of the block, whose size the launch gives.

    A load with `segment` > 0 is never merged with another one, see
    `rmsnorm.tile_load`.

    ```mlir
    %s = rmsnorm.workgroup_load %offset : f32
    %x = rmsnorm.workgroup_load %offset segment(1) : vector<8xbf16>
    ```
  }];
  let arguments = (ins I32:$offset, DefaultValuedAttr<I64Attr, "0">:$segment);
  let results = (outs RMSNorm_Stored:$result);
  let assemblyFormat = [{
    $offset (`segment` `(` $segment^ `)`)? attr-dict `:` type($result)
  }];
}

def RMSNorm_WorkgroupStoreOp : RMSNorm_Op<"workgroup_store", [
    MemoryEffects<[MemWrite]>]> {
  let summary = "writes a scalar or a fragment to the block's workgroup memory";
  let description = [{
    As `rmsnorm.workgroup_load`.

    ```mlir
    rmsnorm.workgroup_store %s, %offset : f32
    ```
  }];
  let arguments = (ins RMSNorm_Stored:$value, I32:$offset);
  let assemblyFormat = "$value `,` $offset attr-dict `:` type($value)";
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

def RMSNorm_AsyncCopyOp : RMSNorm_Op<"async_copy", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "begins to copy a fragment from global to workgroup memory";
  let description = [{
    Copies the elements that `rmsnorm.global_load %base[%row, %column]
    valid(%valid)` reads to `offset` of workgroup memory, with zeros for those
    that are not valid. The conditions of that op on `alignment` and on column 0
    hold; `offset` is a multiple of the fragment's size.

    The copy is under way until this thread waits for its group
    (`rmsnorm.copy_commit`, `rmsnorm.copy_wait`). Until then nobody touches
    those bytes of workgroup memory, and nobody writes the source. Then they
    are there for this thread; for others, after a barrier.

    Where the chip, or the alignment, has no such copy, it is a load and a store.

    ```mlir
    rmsnorm.async_copy %p[%row, %col] to %offset valid(%n) alignment(16)
        : vector<8xbf16>
    ```
  }];
  let arguments = (ins Arg<RMSNorm_GlobalPointer, "buffer">:$base, I64:$row,
                       I32:$column, I32:$offset, Optional<I32>:$valid,
                       I64Attr:$alignment,
                       TypeAttrOf<RMSNorm_Fragment>:$fragment);
  let assemblyFormat = [{
    $base `[` $row `,` $column `]` `to` $offset (`valid` `(` $valid^ `)`)?
    `alignment` `(` $alignment `)` attr-dict `:` $fragment
  }];
  let hasVerifier = 1;
}

def RMSNorm_CopyCommitOp : RMSNorm_Op<"copy_commit", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "makes the copies since the last commit a group";
  let description = [{
    Groups the copies that this thread has begun since its last commit. At tile
    level, every thread does so. A group may be empty.
  }];
  let assemblyFormat = "attr-dict";
}

def RMSNorm_CopyWaitOp : RMSNorm_Op<"copy_wait", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until at most some of the groups are under way";
  let description = [{
    Groups complete in the order of their commits: after `copy_wait 2` all but
    the last two groups that this thread has committed are complete.

    ```mlir
    rmsnorm.copy_wait 2
    ```

    Constraints: (C1) the number is not negative.
  }];
  let arguments = (ins I64Attr:$pending);
  let assemblyFormat = "$pending attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Between threads
//===----------------------------------------------------------------------===//

def RMSNorm_SubgroupReduceOp : RMSNorm_Op<"subgroup_reduce", [
    AllTypesMatch<["value", "result"]>]> {
  let summary = "reduces over the threads of a part of a subgroup";
  let description = [{
    The subgroup is cut into parts of `width` consecutive threads; each thread
    receives the combination over its part. `width` is a power of two up to the
    subgroup size. The tree is a butterfly: step s combines a thread with the
    one whose number differs in bit s, s = 0, 1, ..., so every thread of
    a part gets the same bits on every target.

    All threads of the subgroup execute it. Not pure: it must not move into
    or out of control flow.

    ```mlir
    %t = rmsnorm.subgroup_reduce add %s width(32) : f32
    ```
  }];
  let arguments = (ins RMSNorm_ReduceKindAttr:$kind, F32:$value,
                       I64Attr:$width);
  let results = (outs F32:$result);
  let assemblyFormat = [{
    custom<Enum>($kind) $value `width` `(` $width `)` attr-dict `:` type($value)
  }];
  let hasVerifier = 1;
}

def RMSNorm_BarrierOp : RMSNorm_Op<"barrier", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits for all threads of the block";
  let description = [{
    Workgroup memory written before it is visible after it. All threads of the
    block execute it equally often.
  }];
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

class RMSNorm_ExchangeOp<string mnemonic>
    : RMSNorm_Op<mnemonic, [MemoryEffects<[MemRead, MemWrite]>]>;

def RMSNorm_ExchangeInitOp : RMSNorm_ExchangeOp<"exchange_init"> {
  let summary = "begins to prepare the cluster's exchange";
  let description = [{
    An exchange lets the blocks of a cluster, which share a row, combine their
    parts without a barrier: each subgroup publishes its values when it has
    them, and waits for those of all others when it needs them; between the two
    it may do other work.

    A kernel has one exchange. Each block executes `exchange_init` once, then
    `exchange_ready` once before it first publishes: what lies between hides the
    latency. Publishes are numbered 0, 1, 2, ...; number n uses slot n mod
    `slots`. Each subgroup, in all blocks of the cluster, executes

        exchange_publish number n          once for each n, in this order
        exchange_await   number n          once for each n, in this order
        exchange_read    of number n       between await n and whichever is
                                           next, await or publish

    A publish of number n must not overtake a read of number n - `slots`. That
    holds by itself for the patterns
    - publish n, await n, read n;
    - publish n + 1, await n, read n (split phase).

    Everything published is awaited, by all threads of all blocks of the
    cluster, before they leave the kernel: nobody then sends to a block that is
    gone, so that no closing operation is needed. All threads of a block execute
    the ops of an exchange equally often. Other workgroup memory is not ordered
    by them.

    NVIDIA: publish is `st.async` to each block, whose mbarrier counts the
    bytes; await is an mbarrier wait. Chips without clusters refuse an exchange.
    The simulator checks the protocol.

    ```mlir
    rmsnorm.exchange_init <subgroups = 8, cluster = 4>
    rmsnorm.exchange_ready <subgroups = 8, cluster = 4>
    rmsnorm.exchange_publish %sum number(%n) subgroup(%s)
        <subgroups = 8, cluster = 4> : f32
    rmsnorm.exchange_await number(%n) <subgroups = 8, cluster = 4>
    %part = rmsnorm.exchange_read number(%n) publisher(%p) value(0)
        <subgroups = 8, cluster = 4> : f32
    ```
  }];
  let arguments = (ins RMSNorm_ExchangeAttr:$exchange);
  let assemblyFormat = "$exchange attr-dict";
}

def RMSNorm_ExchangeReadyOp : RMSNorm_ExchangeOp<"exchange_ready"> {
  let summary = "waits until the exchange is prepared in all blocks";
  let description = [{See `rmsnorm.exchange_init`.}];
  let arguments = (ins RMSNorm_ExchangeAttr:$exchange);
  let assemblyFormat = "$exchange attr-dict";
}

def RMSNorm_ExchangePublishOp : RMSNorm_ExchangeOp<"exchange_publish"> {
  let summary = "gives a subgroup's values to all blocks of the cluster";
  let description = [{
    See `rmsnorm.exchange_init`. Subgroup `subgroup` of this block gives 1 to
    `values` values, the same in all its threads. It is publisher number
    rank * `subgroups` + `subgroup`, where rank is the block's number in its
    cluster.
  }];
  let arguments = (ins Variadic<F32>:$values, I32:$number, I32:$subgroup,
                       RMSNorm_ExchangeAttr:$exchange);
  let assemblyFormat = [{
    $values `number` `(` $number `)` `subgroup` `(` $subgroup `)` $exchange
    attr-dict `:` type($values)
  }];
  let hasVerifier = 1;
}

def RMSNorm_ExchangeAwaitOp : RMSNorm_ExchangeOp<"exchange_await"> {
  let summary = "waits until all publishers have published";
  let description = [{See `rmsnorm.exchange_init`.}];
  let arguments = (ins I32:$number, RMSNorm_ExchangeAttr:$exchange);
  let assemblyFormat = "`number` `(` $number `)` $exchange attr-dict";
}

def RMSNorm_ExchangeReadOp : RMSNorm_Op<"exchange_read", [
    MemoryEffects<[MemRead]>]> {
  let summary = "reads a value that a subgroup published";
  let description = [{
    See `rmsnorm.exchange_init`. Value number `value` of publish `number`, by
    publisher `publisher`.
  }];
  let arguments = (ins I32:$number, I32:$publisher, I64Attr:$value,
                       RMSNorm_ExchangeAttr:$exchange);
  let results = (outs F32:$result);
  let assemblyFormat = [{
    `number` `(` $number `)` `publisher` `(` $publisher `)`
    `value` `(` $value `)` $exchange attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Between grids
//===----------------------------------------------------------------------===//

def RMSNorm_LaunchDependentsOp : RMSNorm_Op<"launch_dependents", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "lets the next kernel of the stream start";
  let description = [{
    Programmatic dependent launch: once every block of the grid has executed it
    or ended, a kernel after this one that was launched that way may start. It
    promises nothing about memory. A second time it does nothing. Nothing on
    targets without such launches.

    It stands after a `rmsnorm.grid_wait` on every path: a kernel that lets the
    next one start while it waits itself has the one after that start, too, and
    so on, until blocks that wait fill the machine.

    ```mlir
    rmsnorm.launch_dependents
    ```
  }];
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def RMSNorm_GridWaitOp : RMSNorm_Op<"grid_wait", [
    MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits until the kernels before this one have ended";
  let description = [{
    What they wrote is visible after it. In a kernel whose launch has
    `rmsnorm.programmatic_dependent_launch` every block with a tile executes it
    before its first access of global memory, but for loads of arguments that
    are `rmsnorm.constant`. A second time it does nothing. All threads of a block
    do, or none: one without a tile touches nothing. One block at least does: the
    next kernel waits for the end of all blocks of this one, and takes that for
    the end of all kernels before. The simulator reports kernels that break
    these rules. A launch may lack the attribute: then it starts after those
    kernels, and the op does nothing. On targets without such launches it does
    nothing, either.

    ```mlir
    rmsnorm.grid_wait
    ```
  }];
  let assemblyFormat = "attr-dict";
}

#endif // RMSNORM_IR_RMSNORMTHREADOPS_TD
