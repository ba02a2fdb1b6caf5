// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TensorPasses.td - from the op to loops over rows -------------------===//

#ifndef RMSNORM_TRANSFORMS_TENSORPASSES_TD
#define RMSNORM_TRANSFORMS_TENSORPASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Tensor half: once per module, knows neither target nor schedule
//===----------------------------------------------------------------------===//

def WrapMemRefs : Pass<"rmsnorm-wrap-memrefs"> {
  let summary = "norms on memrefs become norms on tensors that live there";
  let description = [{
    A norm on memrefs reads `bufferization.to_tensor` of them and its results
    are materialized in its destinations. One-shot bufferization makes the
    buffers of it again, in place, without a copy. Of a buffer that is an
    operand twice there is one tensor, so that an update in place is seen.

    As for `rmsnorm.rows`, two operands are the same buffer, row by row, or
    disjoint.

    ```mlir
    rmsnorm.forward input(%x : memref<?x64xf32>) output(%y : memref<?x64xf32>) eps = 1.0e-5
    ->
    %a = bufferization.to_tensor %x restrict : memref<?x64xf32> to tensor<?x64xf32>
    %b = bufferization.to_tensor %y restrict writable : memref<?x64xf32> to tensor<?x64xf32>
    %c = rmsnorm.forward input(%a : tensor<?x64xf32>) output(%b : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
    bufferization.materialize_in_destination %c in writable %y : (tensor<?x64xf32>, memref<?x64xf32>) -> ()
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect"];
}

def TileClusters : Pass<"rmsnorm-tile-clusters", "::mlir::func::FuncOp"> {
  let summary = "makes an rmsnorm.rows on tensors of each cluster";
  let description = [{
    A cluster is a norm, or another op that asks for one (`rmsnorm.row_wise`),
    with the ops around it that work on the same rows. Layouts find it: where rows
    and columns lie in what is read and computed (`rmsnorm-print-accesses` prints
    them). The pass puts one `rmsnorm.rows` in the place of each cluster. Its
    program computes a row of all members, in the order of the block; of a norm it
    has what `rmsnorm-decompose` makes of it.

    - A tensor that no member computes becomes an operand. Views of it are not
      made: they are in the map of the `rmsnorm.tile_load` that reads it.
    - A tensor that leaves becomes a result. Its operand is what members'
      results are inserted into, or computed into; views and insertions are in
      the map of the `rmsnorm.tile_store`.
    - A sum over rows becomes an `rmsnorm.accumulate`.
    - An elementwise op outside of which members read some rows' elements only is
      computed where it is used.

    An op that works on the rows of a cluster and is no member stays as it is,
    with a remark that says why; so does a member without a tile program. A norm
    that is in no kernel is an error.

    ```mlir
    %0 = tensor.extract_slice %qkv[0, 0, 0] [%n, 32, 128] [1, 1, 1]
        : tensor<?x48x128xbf16> to tensor<?x32x128xbf16>
    %1 = rmsnorm.forward ins(%0, %w : tensor<?x32x128xbf16>, tensor<128xbf16>)
        outs(%d : tensor<?x32x128xbf16>) ...
    // becomes
    %1 = rmsnorm.rows sizes [%n, 32] columns(128)
        buffers(read %qkv : tensor<?x48x128xbf16>, read %w : tensor<128xbf16>,
                write %d : tensor<?x32x128xbf16>) -> tensor<?x32x128xbf16> {
    ^bb0(%N: index, %QKV: memref<?x48x128xbf16>, %W: memref<128xbf16>,
         %D: memref<?x32x128xbf16>):
      rmsnorm.tiles body {
      ^bb0(%t: index):
        %x = rmsnorm.tile_load tile %QKV[%t] : memref<?x48x128xbf16>
            -> vector<1x128xbf16>
        ...
        rmsnorm.tile_store tile %y, %D[%t] : vector<1x128xbf16>,
            memref<?x32x128xbf16>
        rmsnorm.yield
      }
      rmsnorm.yield
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::rmsnorm::RMSNormDialect",
    "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect"];
}

def TileRows : Pass<"rmsnorm-tile-rows"> {
  let summary = "one loop over rows for a norm and the row-wise work around it";
  let description = [{
    Collects the cluster of ops connected with a norm that work row by row and
    makes one `scf.forall` over the flattened rows of it: M iterations, the
    product of the leading dimensions. `rmsnorm.rows` marks the loop as ours and
    says how many of those there are. Each op's own `TilingInterface` gives its
    implementation for one row; a row that another op of the cluster computes is
    used directly. A result used outside of the cluster becomes a `shared_outs`.

    A `linalg` op is taken for a norm where it is asked for by the unit
    attribute `rmsnorm.row_wise`: an op whose last loop is along the rows. With
    it on its first reduction a LayerNorm, an L2 norm or a softmax written in
    `linalg` is one loop, too.

    ```mlir
    %sum = linalg.generic {iterator_types = ["parallel", "reduction"], ...}
        ins(%x : tensor<?x64xf32>) outs(%zero : tensor<?xf32>)
        attrs = {rmsnorm.row_wise} { ... } -> tensor<?xf32>
    ```

    An op belongs to the cluster if it is a norm, or a `linalg` op whose
    iteration space is the rows and at most one more dimension, and each of
    whose indexing maps has row dimensions, in any order, as its leading
    results: those of inits all of them, those of inputs any ([B, N], [B, 1, N],
    [T] or [T, B, N] beside rows of [B, T]); it must use rows of the cluster as rows. Elementwise
    work on an operand with some of them (a batch's scale plus one) becomes part
    of the op that uses it. A `linalg` op that knows no rows (a weight plus one)
    is repeated in each iteration. Slices belong to it that take columns out of
    rows of the cluster or put them in (`tensor.extract_slice`, `insert_slice`:
    all rows, columns side by side or every other of all, static), and sums,
    maxima and minima in f32 over all rows, or those of each index of the first
    or the last dimensions of rows: for each column or of all. Reshapes and
    transposes of a value for each group of columns that put groups in front of
    rows, or of parts of them, say where the loop stores it: transposed, or as
    tensor cores read scales. A neighbour that looks row-wise and is not is named
    in a remark.

    The body of an op may gather: read of a table that the cluster does not
    compute, by `tensor.extract`, the row of an index that all columns share and
    columns side by side, in the last dimension, or one. A slice of what is
    gathered is one of the table, or of the indices. Not with `embedded`.

    An op outside that uses the cluster and feeds it splits it, with a remark.

    The weight's gradient of `rmsnorm.backward` is the sum of a summand a row,
    which leaves the loop through `rmsnorm.column_sum`; so do other sums over
    rows, and maxima and minima. Who uses one is no part of the cluster, but for
    ops that only add a tensor to it, or combine it as rows are, or round it,
    which the sum does then.

    Reads of a tensor that also is the destination of a result go through the
    loop's block argument, so that bufferization sees that an exact in-place
    update reads each row before it writes it.

    ```mlir
    %y = scf.forall (%row) in (%m) shared_outs(%out = %dest) -> tensor<?x8x64xf32> {
      %i:2 = affine.delinearize_index %row into (%b, 8)
      %x1 = tensor.extract_slice %x[%i#0, %i#1, 0] [1, 1, 64] [1, 1, 1] : ...
      %o1 = tensor.extract_slice %out[%i#0, %i#1, 0] [1, 1, 64] [1, 1, 1] : ...
      %y1 = rmsnorm.forward input(%x1 : ...) output(%o1 : ...) eps = 1.0e-5 -> ...
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %y1 into %out[%i#0, %i#1, 0] [1, 1, 64] [1, 1, 1] : ...
      }
    } {mapping = [#gpu.block<x>], rmsnorm.rows = 2 : i64}
    ```

    What each op says of its rows is `RowWiseOpInterface`. The mapping keeps the loop a loop where it has one iteration.

    With `embedded` what no kernel can hold (see `rmsnorm-vectorize`, and the
    types and math ops that the back ends take) is no part of a cluster and
    stays outside, as it was: an op, a norm in device code, an op behind a
    call that the cluster would have to move over. Without it such an op is an
    error, here or in a later pass. arith and math on tensors are read as the
    `linalg` that `rmsnorm-generalize-elementwise` makes of them; what of it no
    loop takes is put back.
  }];
  let options = [
    Option<"embedded", "embedded", "bool", "false",
           "among other work: what no kernel can hold is left outside">,
    Option<"remarks", "remarks", "bool", "true",
           "say of each neighbour of a cluster why it is none of it">,
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def Vectorize : Pass<"rmsnorm-vectorize"> {
  let summary = "makes the body of a loop over rows a tile program";
  let description = [{
    Replaces the `linalg` ops on tensors of one row by `arith`, `math` and
    `vector` ops on rank-2 vectors between `rmsnorm.tile_load` and `tile_store`;
    a reduction along the row becomes `rmsnorm.row_reduce`. All stores stand at
    the end. A row size that is not static is 2^30 columns in the types and a
    `columns` operand. What only a `rmsnorm.column_sum` needs stands behind the
    rest, what is one value a column where it is used first.

    A body may hold elementwise `arith` and `math` ops, and use scalars from
    outside; a reduction must be a single add, mul, maximumf or minimumf of floats
    with the accumulator. Anything else is an error. A division by a value of
    a row with `arcp` becomes a multiplication with its reciprocal.

    Requires: the loops of `rmsnorm-tile-rows`, which are marked `rmsnorm.rows`;
    no norms in them (`rmsnorm-decompose`). A tile program stays as it is.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::rmsnorm::RMSNormDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::vector::VectorDialect"];
}

def SimplifyLoops : Pass<"rmsnorm-simplify-loops"> {
  let summary = "canonicalization and CSE in loops over rows only";
  let description = [{
    Runs the canonicalization patterns of all loaded dialects, and CSE, in the
    loops of `rmsnorm-tile-rows`. What stands around them, which may be somebody
    else's, stays as it is.
  }];
}

def FactorSums : Pass<"rmsnorm-factor-sums"> {
  let summary = "takes factors that are the same along a row out of its sum or maximum";
  let description = [{
    In tile programs

        row_reduce add(a * (b * r))            ->  row_reduce add(a * b) * r
        row_reduce maximumf(|(a * r) * b|)     ->  row_reduce maximumf(|a * b|) * |r|

    where r is one value a row. The sum then does not wait for r: the backward's
    sum(g * xhat), xhat = x * rstd, becomes sum(g * x) * rstd, and where rstd
    is computed from the row, too, both sums take one traversal
    (`rmsnorm-fuse-reductions`).

    Where the element types that a and b are computed from prove that no product
    and no sum leaves the range in which f32 is as precise as it gets, and where
    both come from elements of 16 bits. f32 is left as it is: there a * b may be
    infinite, or lost below the smallest f32, where a * (b * r) is an ordinary
    number. bf16 could be so from values of 1e18 on; a multiply more for each
    element costs it up to a quarter of its speed.

    A maximum, as of the scale of a quantised row or group, then takes one
    traversal with the sum of squares that rstd is computed from. It is taken
    where a and b come from elements of at most 16 bits, or there is no b.
    Roundings differ: it may be some ulps of f32 off the largest |(a * r) * b|.
    So may the elements, which become (a * b) * r where they are used behind it.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::rmsnorm::RMSNormDialect",
                           "::mlir::vector::VectorDialect"];
}

def FuseReductions : Pass<"rmsnorm-fuse-reductions"> {
  let summary = "merges row reductions that can share a traversal";
  let description = [{
    Reductions of one loop body with the same shape and `columns`, none of
    which depends on another, become one `rmsnorm.row_reduce`: one traversal of
    the row, one tree of shuffles, one barrier. Each joins the earliest it can,
    so two norms of one input take one traversal and a norm of a norm two. An
    input reduced twice in the same way is reduced once; results without a use
    are dropped.
  }];
  let dependentDialects = ["::mlir::rmsnorm::RMSNormDialect"];
}

def DropResults : Pass<"rmsnorm-drop-results", "::mlir::func::FuncOp"> {
  let summary = "drops results that are arguments";
  let description = [{
    After bufferization a public function returns buffers that the caller gave
    it. Upstream's `drop-equivalent-buffer-results` does the same for private
    functions only, as it has to see all callers; a compiled entry has none in
    its module.

    A result that is another argument than the one that it is to be computed
    into (`rmsnorm.argument`), the identity of an input, is copied there by a
    loop over rows.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::rmsnorm::RMSNormDialect",
                           "::mlir::scf::SCFDialect"];
}

def CheckBuffers : Pass<"rmsnorm-check-buffers", "::mlir::func::FuncOp"> {
  let summary = "makes sure that bufferization allocated and copied nothing";
  let description = [{
    The last step of the tensor half: an entry is loops over rows on its
    arguments. A `memref.alloc`, `memref.alloca` or `memref.copy`, a tensor, a
    returned value, a `linalg` or operator-level op that is no part of a loop
    over rows, a loop that `rmsnorm-tile-rows` did not make, and a tile that is
    not the whole row of the iteration, has more than 2^29 columns or elements
    of part of a byte are errors that say which value is to blame.
  }];
}

//===----------------------------------------------------------------------===//
// The definition
//===----------------------------------------------------------------------===//

def Decompose : Pass<"rmsnorm-decompose"> {
  let summary = "norms become linalg and arith, by definition";
  let description = [{
    Replaces `rmsnorm.forward` and `rmsnorm.backward` on tensors by what their
    text says, one `linalg.generic` per formula: a sum along the row, the row
    statistic, the elementwise rest, for `dweight` a sum over rows. Nothing is
    reassociated; sums run in the order of the elements. This is the one place
    where the formulas stand: in f32, inside of the loops over rows, they are
    what kernels compute, so the result of a sum over rows is the summand of
    the loop's row there.

    The mean is the sum times the number nearest to 1/N where N is static (in
    f32 at most 1.5 ulp from the exact quotient), and a division where it is
    not.

    Requires: tensors; a norm on memrefs is an error. Leaves all else alone.

    ```mlir
    %y = rmsnorm.forward input(%x : tensor<?x64xf32>)
        output(%y0 : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
    ```
    becomes
    ```mlir
    %sum = linalg.generic {iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<?x64xf32>) outs(%zero : tensor<?xf32>) ...
    %rstd = linalg.generic {iterator_types = ["parallel"]}
        ins(%sum : tensor<?xf32>) outs(%empty : tensor<?xf32>) ...
    %y = linalg.generic {iterator_types = ["parallel", "parallel"]}
        ins(%x, %rstd : tensor<?x64xf32>, tensor<?xf32>)
        outs(%y0 : tensor<?x64xf32>) ...
    ```
  }];
  let options = [
    Option<"inLoops", "in-loops", "bool", "false",
           "only the norms in the loops of rmsnorm-tile-rows">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect",
  ];
}

#endif // RMSNORM_TRANSFORMS_TENSORPASSES_TD
