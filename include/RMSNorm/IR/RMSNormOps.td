// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RMSNormOps.td - operator level: forward and backward --------------===//

#ifndef RMSNORM_IR_RMSNORMOPS_TD
#define RMSNORM_IR_RMSNORMOPS_TD

include "RMSNorm/IR/RMSNormAttrs.td"
include "RMSNorm/IR/RMSNormNormOp.td"

def RMSNorm_Buffer : AnyTypeOf<[AnyRankedTensor, AnyMemRef]>;
def RMSNorm_BufferOrTile
    : AnyTypeOf<[AnyMemRef, RMSNorm_F32Tile]>;
def RMSNorm_TileOrRow
    : AnyTypeOf<[RMSNorm_F32Tile, RankedTensorOf<[F32]>]>;

def RMSNorm_ForwardOp : RMSNorm_NormOp<"forward"> {
  let summary = "y = x * rsqrt(mean(x^2) + eps) * (weight + offset)";
  let description = [{
    Normalises the rows of `input` by their root mean square. N is the size of
    the last dimension; the leading dimensions, any number of them, are rows.
    With w' = weight + offset (no weight: 1),

        rstd[i] = rsqrt((1/N) * sum_j x[i,j]^2 + eps)
        y[i,j]  = x[i,j] * rstd[i] * w'[j]

    `output` and, if present, `rstd` (one value per row, for the backward) are
    destinations: overwritten, never read. On tensors the results are their
    new values, on memrefs there are none.

    ```mlir
    %y, %r = rmsnorm.forward input(%x : tensor<?x4096xbf16>)
        weight(%w : tensor<4096xf32>) output(%y0 : tensor<?x4096xbf16>)
        rstd(%r0 : tensor<?xf32>) eps = 1.0e-05 casting = llama
        -> tensor<?x4096xbf16>, tensor<?xf32>
    ```

    `casting` says where values are rounded; models break on it. T is the
    element type of `input`, round_T rounds to it (nearest, ties to even) and
    goes on in f32, round_y rounds to the element type of `output`. All
    arithmetic is f32, and w' is added in f32, except where said:

    - `gemma` (default): y = round_y(x * rstd * w'). As torch's `rms_norm`.
    - `llama`: y = round_y(round_T(x * rstd) * w'). As Hugging Face's Llama.
    - `none`: elementwise arithmetic rounds to T, the sum accumulates in f32 and
      the mean is rounded once:

          ms   = round_T(round_T((1/N) * sum_j round_T(x * x)) + eps)
          rstd = round_T(rsqrt(ms))
          w'   = round_T(weight + offset)
          y    = round_y(round_T(round_T(x * rstd) * w'))

    The `rstd` destination receives rstd as f32, in `none` the rounded one. The
    order of summation and the last bits of rsqrt are the lowering's; what it
    may differ by is bounded, see `rmsnorm-decompose` for the definition it is
    compared with.

    NaN and Inf stay in their row. Zero rows: nothing is done. A dynamic N is at
    least 1. Sizes that are dynamic in one type and equal by a constraint are
    equal at run time, else the behaviour is undefined.

    On memrefs `output` may be `input` itself, the same elements in the same
    place, since a row is read before it is written; any other overlap of
    a destination with another operand is undefined.

    Constraints:
    - (C1) operands are all ranked tensors without encoding, or all memrefs.
    - (C2) `input`, `weight` and `output` have element type f16, bf16 or f32,
      each its own; `rstd` has f32.
    - (C3) `input` has rank >= 1 and its last dimension is not 0.
    - (C4) `output` has the shape of `input`.
    - (C5) `weight` has rank 1 and size N.
    - (C6) `rstd` has the shape of `input` without its last dimension.
    - (C7) memrefs are strided, and all but `rstd` have an inner stride of 1;
      the other strides are free, static or not.
    - (C8) `eps` is finite and > 0.
    - (C9) `offset` is finite, and 0 without `weight`.
    - (C10) the results have the types of the destinations if those are
      tensors; there are none if they are memrefs.

    Not here: residual addition, gating, modulation, quantisation of the
    result. They are ordinary IR around the op, which the passes fuse with it.
  }];
  let arguments = (ins RMSNorm_Buffer:$input, Optional<RMSNorm_Buffer>:$weight,
                       RMSNorm_Buffer:$output, Optional<RMSNorm_Buffer>:$rstd,
                       F32Attr:$eps,
                       DefaultValuedAttr<F32Attr, "0.0f">:$offset,
                       DefaultValuedAttr<RMSNorm_CastingAttr,
                         "::mlir::rmsnorm::Casting::gemma">:$casting);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `input` `(` $input `:` type($input) `)`
    (`weight` `(` $weight^ `:` type($weight) `)`)?
    `output` `(` $output `:` type($output) `)`
    (`rstd` `(` $rstd^ `:` type($rstd) `)`)?
    `eps` `=` $eps
    oilist(`offset` `=` $offset | `casting` `=` custom<Enum>($casting))
    attr-dict (`->` type($results)^)?
  }];
  let extraClassDeclaration = normDeclaration # [{
    /// None: what both norms have in common asks for it.
    ::mlir::Value getDweight() { return {}; }
  }];
}

def RMSNorm_BackwardOp : RMSNorm_NormOp<"backward"> {
  let summary = "the gradients of rmsnorm.forward";
  let description = [{
    The gradient of the forward with respect to `input` (`dx`) and, if asked
    for, to `weight` (`dweight`), given the gradient `dy` of its output and its
    `input`, `weight`, `eps`, `offset` and `casting`. With w' as there,

        xhat   = x * rstd        g = dy * w'
        c[i]   = (1/N) * sum_j g[i,j] * xhat[i,j]
        dx     = (g - xhat * c) * rstd
        dw[j]  = sum_i dy[i,j] * xhat[i,j]

    which follows from d rstd / d x = -rstd^3 * x / N: with y = x * rstd * w',
    dx = g * rstd - x * rstd^3 * (1/N) * sum_j g * x.

    `rstd` is what the forward wrote; without it, it is computed again. `dx`
    and `dweight` are destinations: overwritten, never read.

    ```mlir
    %dx, %dw = rmsnorm.backward dy(%dy : tensor<?x4096xbf16>)
        input(%x : tensor<?x4096xbf16>) weight(%w : tensor<4096xbf16>)
        rstd(%r : tensor<?xf32>) dx(%dx0 : tensor<?x4096xbf16>)
        dweight(%dw0 : tensor<4096xf32>) eps = 1.0e-05
        -> tensor<?x4096xbf16>, tensor<4096xf32>
    ```

    `casting`, with T the element type of `input`, all arithmetic in f32 except
    where said, dx and dw rounded once to the type of their destination:

    - `gemma`: the formulas as they stand.
    - `llama`: dw[j] = sum_i dy * round_T(xhat), as autograd does, which saves
      the rounded value. g, c and dx use the unrounded xhat.
    - `none`: elementwise arithmetic rounds to T, sums accumulate in f32:

          r    = round_T(rstd)  (given or computed as in the forward)
          w'   = round_T(weight + offset)
          xhat = round_T(x * r)    dy' = round_T(dy)    g = round_T(dy' * w')
          c    = round_T((1/N) * sum_j round_T(g * xhat))
          dx   = round_dx(round_T(round_T(g - round_T(xhat * c)) * r))
          dw   = round_dw(sum_i round_T(dy' * xhat))

    dw sums over all rows in an order that does not change from run to run.
    Zero rows: dw is zero. Dynamic N and dynamic sizes: as in the forward.

    On memrefs `dx` may be `dy` or `input` itself, the same elements in the same
    place; any other overlap of a destination with another operand is
    undefined.

    Constraints:
    - (C1) operands are all ranked tensors without encoding, or all memrefs.
    - (C2) `dy`, `input`, `weight` and `dx` have element type f16, bf16 or f32,
      each its own; `rstd` has f32; `dweight` has f32 or the type of `weight`.
    - (C3) `input` has rank >= 1 and its last dimension is not 0.
    - (C4) `dy` and `dx` have the shape of `input`.
    - (C5) `weight` and `dweight` have rank 1 and size N.
    - (C6) `rstd` has the shape of `input` without its last dimension.
    - (C7) memrefs are strided, and all but `rstd` have an inner stride of 1;
      the other strides are free, static or not.
    - (C8) `eps` is finite and > 0.
    - (C9) `offset` is finite, and 0 without `weight`.
    - (C10) the results have the types of the destinations if those are
      tensors; there are none if they are memrefs.
    - (C11) `dweight` is only present with `weight`.

    Tiling: the iteration domain is the leading dimensions. They are parallel
    unless `dweight` is present; then they are reductions, a tile computes the
    f32 sum over its own rows into a new tensor, and who tiles adds those
    up. That result has no position in `dweight`, so the
    upstream drivers refuse it.
  }];
  let arguments = (ins RMSNorm_Buffer:$dy, RMSNorm_Buffer:$input,
                       Optional<RMSNorm_Buffer>:$weight,
                       Optional<RMSNorm_Buffer>:$rstd, RMSNorm_Buffer:$dx,
                       Optional<RMSNorm_Buffer>:$dweight, F32Attr:$eps,
                       DefaultValuedAttr<F32Attr, "0.0f">:$offset,
                       DefaultValuedAttr<RMSNorm_CastingAttr,
                         "::mlir::rmsnorm::Casting::gemma">:$casting);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    `dy` `(` $dy `:` type($dy) `)` `input` `(` $input `:` type($input) `)`
    (`weight` `(` $weight^ `:` type($weight) `)`)?
    (`rstd` `(` $rstd^ `:` type($rstd) `)`)?
    `dx` `(` $dx `:` type($dx) `)`
    (`dweight` `(` $dweight^ `:` type($dweight) `)`)?
    `eps` `=` $eps
    oilist(`offset` `=` $offset | `casting` `=` custom<Enum>($casting))
    attr-dict (`->` type($results)^)?
  }];
}

//===----------------------------------------------------------------------===//
// Rows at indices that are known at run time
//===----------------------------------------------------------------------===//

def RMSNorm_ScatterOp : RMSNorm_Op<"scatter", [
    Pure, DestinationStyleOpInterface, AllTypesMatch<["dest", "result"]>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
      ["reifyResultShapes"]>]> {
  let summary = "puts slices into a destination, at indices known at run time";
  let description = [{
    Stores rows into a cache: for all b, the indices of `at`, and all w, those of
    the other dimensions of `dest`,

        dest[.., at_k[b], .., w] = source[b, w]

    where at_k is the index of dimension `dims`[k] of `dest`. All else of `dest`
    stays. Indices are signed. It is `tensor.scatter` with an operand for each
    index (`rmsnorm-generalize-gathers` makes it of that), and `skip_negative`:
    where an index is negative nothing is stored, as serving systems have it for
    tokens that fill up a batch.

    An index that is not below the size of its dimension, a negative one without
    `skip_negative`, and two slices at the same place are undefined behaviour.
    The simulator finds what is stored outside of `dest`, and what two blocks of
    a kernel store at one place.

    ```mlir
    %c = rmsnorm.scatter %k into %cache at(%slots : tensor<?xi64>) dims [0]
        skip_negative : tensor<?x8x128xbf16> into tensor<?x8x128xbf16>
    %p = rmsnorm.scatter %k into %pages
        at(%block, %offset : tensor<?xi32>, tensor<?xi32>) dims [0, 1]
        : tensor<?x128xbf16> into tensor<?x16x128xbf16>
    ```

    Where no kernel takes it, it becomes loops (`rmsnorm-decompose`): it is on
    tensors only.

    Constraints:
    - (C1) the tensors have no encoding.
    - (C2) `dims` are dimensions of `dest`, ascending, as many as there are
      indices, at least one.
    - (C3) all of `at` have one shape; `source` has that, then the dimensions of
      `dest` without `dims`. Its elements are of the type of those of `dest`.
  }];
  let arguments = (ins
      AnyRankedTensor:$source, AnyRankedTensor:$dest,
      Variadic<RankedTensorOf<[Index, I8, I16, I32, I64]>>:$indices,
      DenseI64ArrayAttr:$dims, UnitAttr:$skip_negative);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source `into` $dest `at` `(` $indices `:` type($indices) `)` `dims` $dims
    (`skip_negative` $skip_negative^)? attr-dict
    `:` type($source) `into` type($dest)
  }];
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getDestMutable(); }
    /// Of the indices: how many of the first dimensions of `source` they have.
    int64_t getNumBatchDims();
    /// `at[number]` is the index of this dimension of `dest`, the others are
    /// those of `source` after the first ones, in their order.
    bool isIndexed(int64_t dim) { return ::llvm::is_contained(getDims(), dim); }
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Sums over rows
//===----------------------------------------------------------------------===//

def RMSNorm_AccumulateOp : RMSNorm_Op<"accumulate", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "adds the rows of a tile to a sum over all iterations";
  let description = [{
    Stands in a loop over tiles of rows, at its outermost level. After the loop
    `dest` holds the sum of the rows of `source` over all iterations, in f32 and
    in an order fixed by the schedule, rounded once to the element type of
    `dest`. If there is an `init`, it is added in f32 before the sum is rounded;
    `init` may be `dest`. Otherwise the old contents of `dest` do not count. No
    iterations give zeros. During the loop the contents of `dest` are
    unspecified, so nothing else may access it.

    `kind` is the operation in place of the addition: a maximum or a minimum,
    exact in any order. No iterations then give `start` or, without one, the
    value that changes nothing: an infinity, or NaN for maxnumf and minnumf.

    `map` leads from the indices of a row and the column to those of the element
    of `dest` that is added to; absent, all rows are added to one. The row
    dimensions in it are `dims`: each of their elements has a sum over its own
    rows. One value a row has no columns in `dest`, or one.

    `rmsnorm-carry-sums` turns the op into an accumulator of `rmsnorm.tiles`.
    Then `dest` is a vector GxN, and the result is `dest` with row u * G + g of
    `source` added to its row g, for u = 0, 1, ... in turn. Rows of a tile that
    do not exist contribute nothing.

    ```mlir
    rmsnorm.accumulate %p into %dw : vector<1x4096xf32> into memref<4096xbf16>
    %b = rmsnorm.accumulate %p into %a
        : vector<4x4096xf32> into vector<2x4096xf32> -> vector<2x4096xf32>
    rmsnorm.accumulate %d into %ds map(r0, r1, c) -> (r0, c)
        : vector<1x4096xf32> into memref<?x4096xf32>
    ```

    Constraints:
    - (C1) a memref `dest` has element type f16, bf16 or f32, and a dimension for
      each of `dims`, then that of its columns, which one value a row may lack.
    - (C2) `source` is a vector RxN of f32.
    - (C3) into a memref: N is its size, or in `rmsnorm.rows` as many as there,
      or 1.
    - (C4) into a vector GxN: G divides R, there is no `init`, `start` or `map`.
    - (C5) there is a result, of the type of `dest`, if and only if `dest` is
      a vector.
    - (C6) `init` has the shape of `dest`, and element type f16, bf16 or f32;
      `kind` is not `mul`; there is no `start` if it is `add`.
    - (C7) `map` has rows' indices, increasing, then the column where `dest` has
      columns.
  }];
  let arguments = (ins RMSNorm_F32Tile:$source,
                       RMSNorm_BufferOrTile:$dest,
                       Optional<AnyMemRef>:$init,
                       DefaultValuedAttr<RMSNorm_ReduceKindAttr,
                         "::mlir::rmsnorm::ReduceKind::add">:$kind,
                       OptionalAttr<F32Attr>:$start,
                       OptionalAttr<AffineMapAttr>:$map);
  let results = (outs Optional<RMSNorm_F32Tile>:$result);
  let assemblyFormat = [{
    $source `into` $dest (`init` `(` $init^ `:` type($init) `)`)?
    (`kind` `(` custom<Enum>($kind)^ `)`)? (`start` `(` $start^ `)`)?
    (`map` `` custom<AccessMap>($map)^)? attr-dict
    `:` type($source) `into` type($dest) (`->` type($result)^)?
  }];
  let extraClassDeclaration = [{
    /// The leading sizes that `dest` has a row for each of.
    SmallVector<int64_t> getDims();
  }];
  let hasVerifier = 1;
}

#endif // RMSNORM_IR_RMSNORMOPS_TD
