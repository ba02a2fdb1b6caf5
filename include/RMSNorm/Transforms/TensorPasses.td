// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TensorPasses.td - from the op to programs over rows ----------------===//

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

def TileClusters : Pass<"rmsnorm-tile-clusters"> {
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
    with a remark that says why; so does a member that no kernel computes. A norm
    that is in no kernel is an error. Without `required` it stays as it is, too,
    and a program that only some chips can hold is in no kernel.

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
  let options = [
    Option<"required", "required", "bool", "true",
           "a norm that is in no kernel is an error">,
    Option<"remarks", "remarks", "bool", "true",
           "say of each neighbour of a cluster why it is no member">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::rmsnorm::RMSNormDialect",
    "::mlir::tensor::TensorDialect", "::mlir::vector::VectorDialect"];
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
    into (`rmsnorm.argument`), the identity of an input, is copied there by an
    `rmsnorm.rows`.
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
    ops with effects are errors that say which value is to blame.
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
    where the formulas stand: in f32, in the programs of kernels, they are
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
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect",
  ];
}

#endif // RMSNORM_TRANSFORMS_TENSORPASSES_TD
