// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.td - from ops on tensors to programs over rows --------------===//

#ifndef RMSNORM_TILING_PASSES_TD
#define RMSNORM_TILING_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileClusters : Pass<"rmsnorm-tile-clusters"> {
  let summary = "makes an rmsnorm.rows on tensors of each cluster";
  let description = [{
    A cluster is a norm, or another op that asks for one (`rmsnorm.row_wise`),
    with the ops around it that work on the same rows. Layouts find it: where rows
    and columns lie in what is read and computed (`rmsnorm-print-accesses` prints
    them). One `rmsnorm.rows` takes the place of each cluster. Its program
    computes a row of all members, in the order of the block; a norm is in it as
    `rmsnorm-decompose` writes it.

    - A tensor that no member computes becomes an operand. Views of it are in the
      map of the `rmsnorm.tile_load` that reads it.
    - A tensor that others use becomes a result. Its operand is the tensor that
      members' results are inserted into, or computed into; views and insertions
      are in the map of the `rmsnorm.tile_store`.
    - A sum over rows becomes an `rmsnorm.accumulate`.
    - An elementwise op that is no member is computed where it is used, if
      members read the elements of some rows only.
    - Where rows are put into what a constant fills, as by a `tensor.pad`, the
      kernel stores the rows. A `linalg.fill` of what is around them, or of all of
      it, asks for a cluster (`rmsnorm.row_wise`) and becomes another kernel.
    - Without `required`, a member whose result others compute from fewer bytes than
      they would read stays for them: x in f32, x times a value of its row. Only
      exact arithmetic does; the kernel computes it again if it needs it. With
      `required` a member stays if others use its result and nobody has a tensor
      for it.

    The rows of an op next to a cluster may hold those of the cluster, as those of
    a LayerNorm over all heads hold those of a norm of each head. Then the cluster
    begins at that op, if it has all members and a kernel holds it. A reduction
    along the last dimension can be such an op, with a remark.

    With `required`, all other work in a public function begins clusters, too:
    reductions of rows first, then other reductions, elementwise ops, and fills
    that somebody needs, those with the most loops and elements first. What is
    inserted as it is becomes a copy. The columns of an op are the last dimension
    of its first operand of the most dimensions, whatever the order of its loops;
    where a cluster has no program with them and nothing is reduced, each element
    is a row. An op that has no place in the kernel next to it says so in a remark.

    An op next to a kernel that is no member stays as it is, with a remark that
    names it and says why; so does a member that no kernel computes. Where no
    kernel holds all members together, they join the first one one by one, and
    what does not fit in is left out. Two ops are next to each other if one uses
    what the other computes, or both use the same tensor, directly or by views.

    With `required` a norm or a row-wise op that is in no kernel is an error, and
    so is an op on tensors that is neither a norm, a view nor of linalg, and a new
    tensor that one kernel writes and another one reads. Without it they stay as
    they are, and no program is made that only some chips can hold.

    ```mlir
    %1 = rmsnorm.forward ins(%0, %w : ...) outs(%d : ...) // a slice of %qkv
    // becomes
    %1 = rmsnorm.rows sizes [%n, 32] columns(128)
        buffers(read %qkv : tensor<?x48x128xbf16>, read %w : tensor<128xbf16>,
                write %d : tensor<?x32x128xbf16>) -> tensor<?x32x128xbf16> {
      ... // loads %qkv and %w, stores %d
    }
    ```
  }];
  let options = [
    Option<"required", "required", "bool", "true",
           "all row-wise work begins kernels, or is an error">,
    Option<"remarks", "remarks", "bool", "true",
           "say of each neighbour of a cluster why it is no member">,
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::rmsnorm::RMSNormDialect", "::mlir::tensor::TensorDialect",
    "::mlir::vector::VectorDialect"];
}

def OutlineClusters
    : Pass<"rmsnorm-outline-clusters", "::mlir::ModuleOp"> {
  let summary = "makes a function of each cluster that has a kernel";
  let description = [{
    Finds the clusters that `rmsnorm-tile-clusters` without `required` makes
    kernels of. The ops of each become a function behind the one that has them,
    which calls it: a program that `norm-compile` makes a kernel of. It is for
    compilers that have a launch of their own.

    A tensor that the cluster reads or writes in place is an argument; views of
    it, sizes, constants and new tensors are in the function. What others use is
    a result. An op whose result others compute from fewer bytes stays for them.
    Locations of ops, arguments and results are those that they had.

    `report` names a file that gets what was done, as JSON: `functions`, each with
    its name as `function`, its `members` (`op`, `location`), and `operands` and
    `results` in their order (`type`, `location`); `rest`, the ops that compute in
    none (`op`, `location`); `refusals`, the ops next to a function that are in
    none and those that asked for one (`op`, `location`, `what` was done, the
    `reason`). A location is the list of the names and of the
    places (`file:line:column`) that it has, as an importer gave them. `-` is
    standard output.

    ```mlir
    %s = linalg.add ins(%x, %r : ...) outs(%e : ...) -> tensor<?x64xf32>
    %y = rmsnorm.forward input(%s : tensor<?x64xf32>) ...
    // becomes
    %y = call @main_rows(%x, %r) : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
    ```
  }];
  let options = [
    Option<"report", "report", "std::string", "\"\"",
           "a file for a description of the functions and of what is in none">,
    Option<"dropRest", "drop-rest", "bool", "false",
           "erase all functions but those that were made">,
  ];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::bufferization::BufferizationDialect",
    "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::rmsnorm::RMSNormDialect",
    "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect"];
}

def OrderRows : Pass<"rmsnorm-order-rows"> {
  let summary = "puts programs over rows that can be one launch side by side";
  let description = [{
    Two `rmsnorm.rows` on tensors that do not need each other, such as the norms
    of q and k, often stand apart: the projection of k or a gradient is computed
    in between. The first one is moved to the place in front of the second, and
    what uses it in between is moved after the second, so that
    `rmsnorm-merge-launches` finds them side by side.

    - Only neighbours among the programs of a block are looked at: work of
      others does not move far, and its results do not live much longer.
    - Nothing is moved over what has effects, or over what is computed in place
      into something that it reads: that would cost a copy.
    - A program that sums over rows stays where it is. Others move over one such,
      not over two, also where they meet others in between.
  }];
  let dependentDialects = ["::mlir::rmsnorm::RMSNormDialect"];
}

def ResolveDims : Pass<"rmsnorm-resolve-dims"> {
  let summary = "replaces dimensions of views that MLIR takes for others";
  let description = [{
    A `memref.subview` may drop one of several dimensions of one element. MLIR 22
    takes the first of them for the dropped one where strides are not known: the
    folder of `memref.dim` then finds the size of another dimension, or reads
    past the last one. After bufferization, and before anything is folded, this
    pass makes of the `memref.dim` of such a view the size that the view says.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def DropResults : Pass<"rmsnorm-drop-results", "::mlir::func::FuncOp"> {
  let summary = "drops results that are arguments";
  let description = [{
    After bufferization a public function returns buffers that the caller gave
    it. Upstream's `drop-equivalent-buffer-results` does the same for private
    functions only, as it has to see all callers; a compiled entry has none in
    its module.

    A function may return an input as it is. Such a result is not in the argument
    that it is to be computed into (`rmsnorm.argument`): an `rmsnorm.rows` copies
    it there.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect",
                           "::mlir::rmsnorm::RMSNormDialect"];
}

def CheckBuffers : Pass<"rmsnorm-check-buffers", "::mlir::func::FuncOp"> {
  let summary = "makes sure that bufferization allocated and copied nothing";
  let description = [{
    An entry is `rmsnorm.rows` on its arguments and index arithmetic. A
    `memref.alloc`, `memref.alloca` or `memref.copy`, a tensor, a returned value,
    a `linalg` or operator-level op that is part of no `rmsnorm.rows`, and other
    ops with effects are an error that says which value is to blame, one for a
    function: notes say what else is wrong.
  }];
}

#endif // RMSNORM_TILING_PASSES_TD
