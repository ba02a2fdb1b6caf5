// LayerNorm in linalg, as a front end may write it. `rmsnorm.row_wise` on its
// first reduction asks for one kernel of everything that is row-wise around it.

#tile = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
#each_row = affine_map<(d0) -> (d0)>

func.func @layer_norm(%x: tensor<?x1024xbf16>, %weight: tensor<1024xbf16>,
                      %bias: tensor<1024xbf16>) -> tensor<?x1024xbf16> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 1024.0 : f32
  %eps = arith.constant 1.0e-05 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x1024xbf16>
  %per_row = tensor.empty(%m) : tensor<?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%per_row : tensor<?xf32>) -> tensor<?xf32>

  %sum = linalg.generic {indexing_maps = [#tile, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x1024xbf16>) outs(%zeros : tensor<?xf32>) attrs = {rmsnorm.row_wise} {
  ^bb0(%xi: bf16, %acc: f32):
    %xf = arith.extf %xi : bf16 to f32
    %next = arith.addf %acc, %xf : f32
    linalg.yield %next : f32
  } -> tensor<?xf32>
  %mean = linalg.generic {indexing_maps = [#each_row, #each_row], iterator_types = ["parallel"]}
      ins(%sum : tensor<?xf32>) outs(%per_row : tensor<?xf32>) {
  ^bb0(%s: f32, %o: f32):
    %q = arith.divf %s, %n : f32
    linalg.yield %q : f32
  } -> tensor<?xf32>
  %squares = linalg.generic {indexing_maps = [#tile, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %mean : tensor<?x1024xbf16>, tensor<?xf32>) outs(%zeros : tensor<?xf32>) {
  ^bb0(%xi: bf16, %mi: f32, %acc: f32):
    %xf = arith.extf %xi : bf16 to f32
    %d = arith.subf %xf, %mi : f32
    %dd = arith.mulf %d, %d : f32
    %next = arith.addf %acc, %dd : f32
    linalg.yield %next : f32
  } -> tensor<?xf32>
  %rstd = linalg.generic {indexing_maps = [#each_row, #each_row], iterator_types = ["parallel"]}
      ins(%squares : tensor<?xf32>) outs(%per_row : tensor<?xf32>) {
  ^bb0(%s: f32, %o: f32):
    %q = arith.divf %s, %n : f32
    %e = arith.addf %q, %eps : f32
    %r = math.rsqrt %e : f32
    linalg.yield %r : f32
  } -> tensor<?xf32>
  %empty = tensor.empty(%m) : tensor<?x1024xbf16>
  %y = linalg.generic {indexing_maps = [#tile, #row, #row, #column, #column, #tile], iterator_types = ["parallel", "parallel"]}
      ins(%x, %mean, %rstd, %weight, %bias : tensor<?x1024xbf16>, tensor<?xf32>, tensor<?xf32>, tensor<1024xbf16>, tensor<1024xbf16>)
      outs(%empty : tensor<?x1024xbf16>) {
  ^bb0(%xi: bf16, %mi: f32, %ri: f32, %wi: bf16, %bi: bf16, %o: bf16):
    %xf = arith.extf %xi : bf16 to f32
    %d = arith.subf %xf, %mi : f32
    %h = arith.mulf %d, %ri : f32
    %wf = arith.extf %wi : bf16 to f32
    %p = arith.mulf %h, %wf : f32
    %bf = arith.extf %bi : bf16 to f32
    %s = arith.addf %p, %bf : f32
    %t = arith.truncf %s : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<?x1024xbf16>
  return %y : tensor<?x1024xbf16>
}
