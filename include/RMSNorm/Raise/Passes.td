// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.td - from decomposed norms to ours --------------------------===//

#ifndef RMSNORM_RAISE_PASSES_TD
#define RMSNORM_RAISE_PASSES_TD

include "mlir/Pass/PassBase.td"

def Raise : Pass<"rmsnorm-raise"> {
  let summary = "turns decomposed norms into rmsnorm ops";
  let description = [{
    Recognises RMSNorms that a front end or an exporter has decomposed into
    `linalg`, `arith` and `math` on tensors, and the gradients that autodiff
    makes of those, and puts an `rmsnorm.forward` or `rmsnorm.backward` in their
    place. Runs on anything; each function in it is raised for itself.

    A scalar of a `linalg.generic` is a norm if what it computes is, by the
    definition of the op, an element of its result. What it computes is read
    through all ops that produce it, so it does not matter how the norm is
    spread over ops: unfused, fused, the gate or the residual in the same body,
    dimensions of size 1 by reshape or by map, x computed twice. Taken as equal:

    - x * x, `powf` 2 and `fpowi` 2; a division and a multiplication by the
      inverse; rsqrt, 1 / sqrt, `powf` -0.5; constants in bodies, captured,
      as splats and fills; any order of factors and operands;
    - weights in front of and behind the cast, constants, any expression of the
      column only (a tensor is made of it), weight + constant (`offset`), none;
    - any number of row dimensions in any order, the column last in x.

    Roundings are read exactly: those in the program must be those that
    `gemma`, `llama` or `none` makes, else it is not raised. Then the largest
    part that is a norm is: where a weight is multiplied after another
    rounding, the norm without weight.

    Where others use the rstd of a norm that was raised, the op returns it.

    A gradient is dx = dy * w * r - (1/N) * x * r^3 * sum(x * dy * w), in any
    order, with terms that occur twice or products of sums, and with r computed
    or given: any f32 tensor of the rows (the op's eps is 1e-5 then, and not
    used). What else is added before the sum is rounded, a residual's gradient,
    is added to a dx in f32. With `none` it is the definition step by step.

    A tensor that is sum(dy * x * r) over all rows, or sum(dy * round_T(x * r)),
    is its dweight; the latter makes it `llama`. Where the gradient of y is
    rounded on its way through the weight, dy is that product, without
    weight, and the weight's gradient stays a sum of its own; so it does where
    dx is not wanted.

    With `roundings=fewer` a gradient is also raised if it is one but for
    roundings between its operands and its results: dx added from two rounded
    terms, dy * w rounded, a dweight summed in a narrow type. The op computes
    these in f32 and rounds each result once. So an element of dx differs from
    the program's by those roundings, in bf16 by up to 2^-8 of each rounded
    term and of the sum; a dweight by all that its narrow sum lost. Either is
    nearer to the gradient in f32. With `exact` a remark says which rounding it
    is, and dweight is not raised without dx.

    Never raised: x minus its mean; eps outside of the root, or none; a sum that
    is not divided by its own length, in a narrower type than f32, not from 0;
    another summand than x * x; a factor that depends on the row in place of
    the weight. For each root of a reduction that is left, in f32 or narrower, a
    remark says what does not match.

    With `row-wise` the reductions along the last dimension that are left, of
    LayerNorms, L2 norms, softmaxes and others, are marked `rmsnorm.row_wise`,
    with a remark each: `rmsnorm-tile-rows` begins a loop with them. Contractions
    are not, nor what kernels do not have. A kernel sums in f32 what is summed in
    a narrower type, and rounds once.

    After it, what only the norms needed is gone, inputs of bodies that are
    not read any more included; all else is as it was. A function without norms
    is not changed.

    Numeric effect: sums and products of f32 may be associated in another way.
    Roundings to narrower types are kept, each one; `contract` and other
    fast-math flags on them are ignored, which is legal.

    arith and math on tensors are read as the `linalg` that
    `rmsnorm-generalize-elementwise` makes of them, and are as they were
    afterwards where no norm was made of them.

    Before it: `linalg-generalize-named-ops`, `canonicalize`, `cse`. Fuse
    elementwise ops after it: fusion loses the narrow copies of x and takes
    neighbours away that are to be fused with the norm.

    ```mlir
    %sum = linalg.generic {iterator_types = ["parallel", "reduction"], ...}
        ins(%x : tensor<8x96xf32>) outs(%zeros : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.mulf %in, %in : f32
      %1 = arith.addf %out, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<8xf32>
    %y = linalg.generic {iterator_types = ["parallel", "parallel"], ...}
        ins(%x, %sum, %w : ...) outs(%e : tensor<8x96xf32>) {
    ^bb0(%in: f32, %s: f32, %weight: f32, %out: f32):
      %0 = arith.divf %s, %n : f32
      %1 = arith.addf %0, %eps : f32
      %2 = math.rsqrt %1 : f32
      %3 = arith.mulf %in, %2 : f32
      %4 = arith.mulf %3, %weight : f32
      linalg.yield %4 : f32
    } -> tensor<8x96xf32>
    ->
    %y = rmsnorm.forward input(%x : tensor<8x96xf32>)
        weight(%w : tensor<96xf32>) output(%e : tensor<8x96xf32>)
        eps = 1.0e-05 -> tensor<8x96xf32>
    ```
  }];
  let options = [
    Option<"roundings", "roundings", "Roundings", "Roundings::exact",
           "which roundings of a gradient the op keeps",
           [{::llvm::cl::values(
                 clEnumValN(Roundings::exact, "exact", "all"),
                 clEnumValN(Roundings::fewer, "fewer",
                            "those of its operands and results"))}]>,
    Option<"rowWise", "row-wise", "bool", "false",
           "mark reductions of rows that are no norms with rmsnorm.row_wise">,
  ];
  let dependentDialects = ["::mlir::rmsnorm::RMSNormDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // RMSNORM_RAISE_PASSES_TD
