// The layer norm of a diffusion transformer: of x + residual, which goes on, then
// scaled and shifted by rows of their own, each with a bias of the column's.
#tile = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#each = affine_map<(i) -> (i)>
func.func @dit_ln(%x: tensor<?x3072xbf16>, %residual: tensor<?x3072xbf16>,
                  %scale: tensor<?x3072xbf16>, %shift: tensor<?x3072xbf16>,
                  %scale_bias: tensor<3072xbf16>, %shift_bias: tensor<3072xbf16>)
    -> (tensor<?x3072xbf16>, tensor<?x3072xbf16>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 3072.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x3072xbf16>
  %wide = tensor.empty(%m) : tensor<?x3072xf32>
  %empty = tensor.empty(%m) : tensor<?x3072xbf16>
  %scalars = tensor.empty(%m) : tensor<?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%scalars : tensor<?xf32>) -> tensor<?xf32>
  %h = linalg.generic {indexing_maps = [#tile, #tile, #tile], iterator_types = ["parallel", "parallel"]}
      ins(%x, %residual : tensor<?x3072xbf16>, tensor<?x3072xbf16>) outs(%wide : tensor<?x3072xf32>) {
  ^bb0(%a: bf16, %b: bf16, %out: f32):
    %af = arith.extf %a : bf16 to f32
    %bf = arith.extf %b : bf16 to f32
    %sum = arith.addf %af, %bf : f32
    linalg.yield %sum : f32
  } -> tensor<?x3072xf32>
  %total = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]}
      ins(%h : tensor<?x3072xf32>) outs(%zeros : tensor<?xf32>) attrs = {rmsnorm.row_wise} {
  ^bb0(%value: f32, %sum: f32):
    %next = arith.addf %sum, %value : f32
    linalg.yield %next : f32
  } -> tensor<?xf32>
  %mean = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
      ins(%total : tensor<?xf32>) outs(%scalars : tensor<?xf32>) {
  ^bb0(%sum: f32, %out: f32):
    %quotient = arith.divf %sum, %n : f32
    linalg.yield %quotient : f32
  } -> tensor<?xf32>
  %squares = linalg.generic {indexing_maps = [#tile, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%h, %mean : tensor<?x3072xf32>, tensor<?xf32>) outs(%zeros : tensor<?xf32>) {
  ^bb0(%value: f32, %middle: f32, %sum: f32):
    %distance = arith.subf %value, %middle : f32
    %square = arith.mulf %distance, %distance : f32
    %next = arith.addf %sum, %square : f32
    linalg.yield %next : f32
  } -> tensor<?xf32>
  %rstd = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel"]}
      ins(%squares : tensor<?xf32>) outs(%scalars : tensor<?xf32>) {
  ^bb0(%sum: f32, %out: f32):
    %quotient = arith.divf %sum, %n : f32
    %positive = arith.addf %quotient, %eps : f32
    %root = math.rsqrt %positive : f32
    linalg.yield %root : f32
  } -> tensor<?xf32>
  %y:2 = linalg.generic {
      indexing_maps = [#tile, #row, #row, #tile, #tile, #column, #column, #tile, #tile],
      iterator_types = ["parallel", "parallel"]}
      ins(%h, %mean, %rstd, %scale, %shift, %scale_bias, %shift_bias
          : tensor<?x3072xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?x3072xbf16>, tensor<?x3072xbf16>,
            tensor<3072xbf16>, tensor<3072xbf16>)
      outs(%empty, %empty : tensor<?x3072xbf16>, tensor<?x3072xbf16>) {
  ^bb0(%value: f32, %middle: f32, %r: f32, %s: bf16, %t: bf16, %sb: bf16, %tb: bf16, %o0: bf16, %o1: bf16):
    %one = arith.constant 1.0 : f32
    %sf = arith.extf %s : bf16 to f32
    %tf = arith.extf %t : bf16 to f32
    %sbf = arith.extf %sb : bf16 to f32
    %tbf = arith.extf %tb : bf16 to f32
    %distance = arith.subf %value, %middle : f32
    %normed = arith.mulf %distance, %r : f32
    %biased = arith.addf %sf, %sbf : f32
    %factor = arith.addf %one, %biased : f32
    %scaled = arith.mulf %normed, %factor : f32
    %offset = arith.addf %tf, %tbf : f32
    %shifted = arith.addf %scaled, %offset : f32
    %narrow = arith.truncf %shifted : f32 to bf16
    %stream = arith.truncf %value : f32 to bf16
    linalg.yield %narrow, %stream : bf16, bf16
  } -> (tensor<?x3072xbf16>, tensor<?x3072xbf16>)
  return %y#0, %y#1 : tensor<?x3072xbf16>, tensor<?x3072xbf16>
}
