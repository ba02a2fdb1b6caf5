// A LayerNorm without a weight, modulated by a scale and a shift for each batch.
#id = affine_map<(b, t, c) -> (b, t, c)>
#row = affine_map<(b, t, c) -> (b, t)>
#batch = affine_map<(b, t, c) -> (b, c)>
#each = affine_map<(b, t) -> (b, t)>
func.func @layer_norm_modulated(%x: tensor<?x?x3584xbf16>, %scale: tensor<?x3584xbf16>, %shift: tensor<?x3584xbf16>) -> tensor<?x?x3584xbf16> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 3584.0 : f32
  %eps = arith.constant 1.0e-06 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x3584xbf16>
  %m = tensor.dim %x, %c1 : tensor<?x?x3584xbf16>
  %scalars = tensor.empty(%b, %m) : tensor<?x?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%scalars : tensor<?x?xf32>) -> tensor<?x?xf32>
  %total = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<?x?x3584xbf16>) outs(%zeros : tensor<?x?xf32>) attrs = {rmsnorm.row_wise} {
  ^bb0(%value: bf16, %sum: f32):
    %f = arith.extf %value : bf16 to f32
    %next = arith.addf %sum, %f : f32
    linalg.yield %next : f32
  } -> tensor<?x?xf32>
  %mean = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel"]}
      ins(%total : tensor<?x?xf32>) outs(%scalars : tensor<?x?xf32>) {
  ^bb0(%sum: f32, %out: f32):
    %quotient = arith.divf %sum, %n : f32
    linalg.yield %quotient : f32
  } -> tensor<?x?xf32>
  %squares = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %mean : tensor<?x?x3584xbf16>, tensor<?x?xf32>) outs(%zeros : tensor<?x?xf32>) {
  ^bb0(%value: bf16, %middle: f32, %sum: f32):
    %f = arith.extf %value : bf16 to f32
    %distance = arith.subf %f, %middle : f32
    %square = arith.mulf %distance, %distance : f32
    %next = arith.addf %sum, %square : f32
    linalg.yield %next : f32
  } -> tensor<?x?xf32>
  %rstd = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel"]}
      ins(%squares : tensor<?x?xf32>) outs(%scalars : tensor<?x?xf32>) {
  ^bb0(%sum: f32, %out: f32):
    %quotient = arith.divf %sum, %n : f32
    %positive = arith.addf %quotient, %eps : f32
    %root = math.rsqrt %positive : f32
    linalg.yield %root : f32
  } -> tensor<?x?xf32>
  %oe = tensor.empty(%b, %m) : tensor<?x?x3584xbf16>
  %o = linalg.generic {indexing_maps = [#id, #row, #row, #batch, #batch, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %mean, %rstd, %scale, %shift : tensor<?x?x3584xbf16>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x3584xbf16>, tensor<?x3584xbf16>)
      outs(%oe : tensor<?x?x3584xbf16>) {
  ^bb0(%value: bf16, %middle: f32, %r: f32, %s: bf16, %h: bf16, %z: bf16):
    %one = arith.constant 1.0 : f32
    %f = arith.extf %value : bf16 to f32
    %sf = arith.extf %s : bf16 to f32
    %hf = arith.extf %h : bf16 to f32
    %distance = arith.subf %f, %middle : f32
    %normed = arith.mulf %distance, %r : f32
    %factor = arith.addf %one, %sf : f32
    %scaled = arith.mulf %normed, %factor : f32
    %shifted = arith.addf %scaled, %hf : f32
    %v = arith.truncf %shifted : f32 to bf16
    linalg.yield %v : bf16
  } -> tensor<?x?x3584xbf16>
  return %o : tensor<?x?x3584xbf16>
}
