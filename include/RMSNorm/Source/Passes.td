// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.td - what users write, in fewer forms -----------------------===//

#ifndef RMSNORM_SOURCE_PASSES_TD
#define RMSNORM_SOURCE_PASSES_TD

include "mlir/Pass/PassBase.td"

def GeneralizeElementwise : Pass<"rmsnorm-generalize-elementwise"> {
  let summary = "makes linalg of arith and math on tensors";
  let description = [{
    Each elementwise op on ranked tensors becomes a `linalg.generic`, as by
    upstream's `convert-elementwise-to-linalg`. But its result is computed into a
    `tensor.empty`, never into an operand, which may be a function's argument.
    The pass runs before `rmsnorm-bind-arguments`, which looks at destinations.
    `arith.scaling_truncf` and `scaling_extf` become what upstream's
    `arith-expand` makes of them: a division by the scale and a rounding, an
    extension and a product; a `linalg.softmax` what it stands for. A
    `tensor.concat` whose parts have static sizes becomes insertions into a
    `tensor.empty`, a `tensor.pad` by a constant that begins at a static place
    one into what is filled with it: rows are followed through them. A constant of
    one value that something is put into is filled, too.

    The attribute `rmsnorm.elementwise` says of what is made what it was, for the
    text of errors. With `restorable`, for work of others,
    nothing else is changed, and all that `rmsnorm-restore-elementwise` puts back
    has it.

        %h = arith.addf %x, %r : tensor<?x4096xbf16>
  }];
  let options = [
    Option<"restorable", "restorable", "bool", "false",
           "mark what is made, and change nothing else">,
  ];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::rmsnorm::RMSNormDialect",
                           "::mlir::tensor::TensorDialect"];
}

def RestoreElementwise : Pass<"rmsnorm-restore-elementwise"> {
  let summary = "puts arith and math on tensors, and concatenations, back";
  let description = [{
    Undoes `rmsnorm-generalize-elementwise` (with `restorable`) where an op that
    it made and marked is unchanged.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::rmsnorm::RMSNormDialect"];
}

def GeneralizeGathers
    : Pass<"rmsnorm-generalize-gathers", "::mlir::func::FuncOp"> {
  let summary = "makes linalg of gathers, rmsnorm.scatter of scatters";
  let description = [{
    A gather is a `linalg.generic` whose body reads a table from outside by
    `tensor.extract` at an index that is an operand's. It is made of
    `tensor.gather` and of bodies that read the indices by the numbers of their
    loops. An index outside of the table is undefined behaviour, unless the input
    limits it. A `tensor.scatter` becomes a `rmsnorm.scatter`, which is all that
    happens with `scatters-only`.

        %row = arith.index_cast %id : i64 to index
        %column = linalg.index 1 : index
        %value = tensor.extract %t[%row, %column] : tensor<?x64xf32>
  }];
  let options = [
    Option<"scattersOnly", "scatters-only", "bool", "false",
           "leave gathers as they are">,
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::rmsnorm::RMSNormDialect",
                           "::mlir::tensor::TensorDialect"];
}

def BindArguments : Pass<"rmsnorm-bind-arguments", "::mlir::ModuleOp"> {
  let summary = "makes every result of a public function an argument's contents";
  let description = [{
    A public function computes each tensor that it returns into an argument, as
    a compiled entry allocates nothing. A result whose destination is an argument
    is written in place. One whose destination is a `tensor.empty` gets a new
    argument after the others, of the shape that is returned: it may be reshaped
    once after its computation. A number that linalg ops alone use becomes a
    tensor of rank 0. The function still returns the tensors, until
    bufferization. It is untiled, so that the oracle has the kernels' arguments.

    Each tensor argument gets

    - `rmsnorm.name`: the user's, for a new one that of the result; else, but for
      a new one, its location's; else its role (`input`, `weight`, `output`, ...)
      in the first norm that uses it, or in that which computes it; else `arg3`,
      `result1`. `_1`, `_2`, ... follow where two would be equal;
    - `rmsnorm.role`: `input`, `output` (written, never read) or `inout`;
    - `rmsnorm.dims`: per dimension its size, or -1-k for shape symbol k.
      Dimensions that are equal by the ops have one symbol, or one static size;
    - `rmsnorm.bounds`, if its elements are indices: the sizes they are below;
    - `bufferization.writable` and `bufferization.buffer_layout`: any strides but
      the last, which is 1 (the identity for ranks 0 and 1, and where dimensions
      are collapsed into one).

    The function gets `rmsnorm.sizes`, an integer set of the symbols, if more is
    asked of sizes than that some are equal: `s2 - s0 * s1 == 0` for merged
    dimensions, `s0 mod 4 == 0` for groups of 4 rows, `s0 - s1 >= 0` for a slice.
    The runtime checks it at each call. The sizes of arguments become constants,
    or `tensor.dim` of the first argument with the symbol. Each result gets
    `rmsnorm.argument`, the number of its argument.

    Errors: a returned value that is no tensor, is an argument or a constant as
    it is, is computed by no destination-style op, or is returned twice; two
    results in one argument; dimensions that must be equal and are not; sizes
    that do not follow from arguments' by sums, products, quotients and
    remainders; two equal names; several blocks; a call of a public function.

    ```mlir
    func.func @f(%x: tensor<64xf32>) -> tensor<64xf32> // becomes
    func.func @f(%x: tensor<64xf32> {rmsnorm.name = "input", ...},
                 %y: tensor<64xf32> {rmsnorm.role = "output", ...}) -> ...
    ```
  }];
  let dependentDialects = ["::mlir::rmsnorm::RMSNormDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::bufferization::BufferizationDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ComputeInPlace : Pass<"rmsnorm-compute-in-place", "::mlir::ModuleOp"> {
  let summary = "what goes into a slice of an argument is computed there";
  let description = [{
    A value is computed into a `tensor.empty`, and a `tensor.insert_slice` puts
    it into a function's argument: then that slice takes the place of the
    `tensor.empty`. Upstream's `eliminate-empty-tensors` does so for all
    insertions. Where several values go into one argument, side by side, they go
    there in the order in which they are computed, and each slice is taken out of
    the result of the insertion before it.

        %y = rmsnorm.forward input(%q : ...) output(%empty : tensor<?x8x128xbf16>) ...
        %r = tensor.insert_slice %y into %qkv[0, 0, 0] [%m, 8, 128] [1, 1, 1] : ...
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::tensor::TensorDialect"];
}

def WrapMemRefs : Pass<"rmsnorm-wrap-memrefs"> {
  let summary = "norms on memrefs become norms on tensors that live there";
  let description = [{
    A norm on memrefs reads `bufferization.to_tensor` of them and its results
    are materialized in its destinations. One-shot bufferization makes the
    buffers of it again, in place, without a copy. A buffer that is an operand
    twice becomes one tensor, so that an update in place is seen.

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

def Decompose : Pass<"rmsnorm-decompose"> {
  let summary = "norms become linalg and arith, scatters loops, by definition";
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

    A `rmsnorm.scatter` becomes loops of `scf` around a `tensor.insert_slice`.

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
    Option<"scattersOnly", "scatters-only", "bool", "false",
           "leave norms as they are">,
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect",
    "::mlir::tensor::TensorDialect",
  ];
}

#endif // RMSNORM_SOURCE_PASSES_TD
