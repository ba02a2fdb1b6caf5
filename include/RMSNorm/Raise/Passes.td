// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.td - from decomposed norms to ours --------------------------===//

#ifndef RMSNORM_RAISE_PASSES_TD
#define RMSNORM_RAISE_PASSES_TD

include "mlir/Pass/PassBase.td"

def Raise : Pass<"rmsnorm-raise"> {
  let summary = "turns decomposed norms into rmsnorm ops";
  let description = [{
    Finds RMSNorms that a front end or an exporter has decomposed into `linalg`,
    `arith` and `math` on tensors, and the gradients that autodiff makes of
    them. Puts an `rmsnorm.forward` or `rmsnorm.backward` in their place. Each
    function is raised for itself.

    A scalar of a `linalg` op is a norm if it computes, by the definition
    of the op, an element of its result. It is read through all ops that produce
    it, so it does not matter over which ops a norm is spread. Its roundings
    must be exactly those of `gemma`, `llama` or `none`. If they are not, the
    largest part that is a norm is raised: where a weight is multiplied after
    another rounding, the norm without weight. docs/from-decomposed.md lists the
    forms that are equal, those of gradients, and those that are never raised.
    For each root of a reduction that is left, a remark says what does not
    match.

    Gradients with other roundings between operands and results are left, with a
    remark. `roundings=fewer` raises them, too: the op computes in f32 and
    rounds each result once, which is nearer to the gradient in f32.

    Norms that are no RMSNorms stay `linalg`: LayerNorms, L2 norms, and RMSNorms
    with other roundings. In a function that holds one of ours, the reductions
    of rows under the roots that are left are marked `rmsnorm.row_wise`, with a
    remark each, so that a kernel begins with them. `row-wise=all` marks all
    reductions along the last dimension (of softmaxes), in all functions, but for
    contractions and those that kernels do not have. Before, a `linalg.softmax`
    becomes what it stands for, and results that nobody uses are taken out:
    PyTorch's maxima come with their index.
    `row-wise=none` marks none. A kernel sums in f32 what is summed in a narrower
    type, and rounds once: such norms are marked with `roundings=fewer` or `all`.

    Afterwards ops that only the norms needed are gone; all else is as it was,
    but for named ops that only partly are a norm: they are generalized. An op
    has the location of what it replaces and, fused with it, those of the ops
    that are gone with that. Before it: `canonicalize`, `cse`. Fuse
    elementwise ops after it: fusion loses the narrow copies of x, and takes
    away neighbours that belong to the norm's kernel.

    Numeric effect: sums and products of f32 may be associated in another way.
    Roundings to narrower types are kept, each one; fast-math flags on them are
    ignored, which is legal.

    ```mlir
    %sum = linalg.generic ... ins(%x : tensor<8x96xf32>) ... // of x * x
    %y = linalg.generic ... ins(%x, %sum, %w : ...) ... // x * rsqrt(...) * w
    ->
    %y = rmsnorm.forward input(%x : tensor<8x96xf32>) weight(%w : tensor<96xf32>)
        output(%e : tensor<8x96xf32>) eps = 1.0e-05 -> tensor<8x96xf32>
    ```
  }];
  let options = [
    Option<"roundings", "roundings", "Roundings", "Roundings::exact",
           "which roundings of a gradient the op keeps",
           [{::llvm::cl::values(
                 clEnumValN(Roundings::exact, "exact", "all"),
                 clEnumValN(Roundings::fewer, "fewer",
                            "those of its operands and results"))}]>,
    Option<"rowWise", "row-wise", "RowWise", "RowWise::norms",
           "which other reductions of rows are marked rmsnorm.row_wise",
           [{::llvm::cl::values(
                 clEnumValN(RowWise::none, "none", "none"),
                 clEnumValN(RowWise::norms, "norms",
                            "those of other norms, beside one of ours"),
                 clEnumValN(RowWise::all, "all", "all"))}]>,
  ];
  let dependentDialects = ["::mlir::rmsnorm::RMSNormDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // RMSNORM_RAISE_PASSES_TD
