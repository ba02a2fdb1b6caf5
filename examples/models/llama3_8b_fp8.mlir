// Llama 3 served in fp8 with a scale for each token.
func.func @llama3_8b_fp8(%x: tensor<?x4096xbf16>, %residual: tensor<?x4096xbf16>, %weight: tensor<4096xbf16>)
    -> (tensor<?x4096xf8E4M3FN>, tensor<?xf32>, tensor<?x4096xbf16>) {
  %c00 = arith.constant 0 : index
  %rr = tensor.dim %x, %c00 : tensor<?x4096xbf16>
  %hb = tensor.empty(%rr) : tensor<?x4096xbf16>
  %h = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %residual : tensor<?x4096xbf16>, tensor<?x4096xbf16>) outs(%hb : tensor<?x4096xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %a32 = arith.extf %a : bf16 to f32
    %b32 = arith.extf %b : bf16 to f32
    %s32 = arith.addf %a32, %b32 : f32
    %s16 = arith.truncf %s32 : f32 to bf16
    linalg.yield %s16 : bf16
  } -> tensor<?x4096xbf16>
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %f32 = tensor.empty(%rows) : tensor<?x4096xf32>
  %y = rmsnorm.forward input(%h : tensor<?x4096xbf16>)
      weight(%weight : tensor<4096xbf16>)
      output(%f32 : tensor<?x4096xf32>) eps = 1.0e-05 -> tensor<?x4096xf32>
  %zero = arith.constant 0.0 : f32
  %scalars = tensor.empty(%rows) : tensor<?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%scalars : tensor<?xf32>)
      -> tensor<?xf32>
  %largest = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%y : tensor<?x4096xf32>) outs(%zeros : tensor<?xf32>) {
  ^bb0(%value: f32, %most: f32):
    %size = math.absf %value : f32
    %larger = arith.maximumf %size, %most : f32
    linalg.yield %larger : f32
  } -> tensor<?xf32>
  %scale = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%largest : tensor<?xf32>) outs(%scalars : tensor<?xf32>) {
  ^bb0(%size: f32, %out: f32):
    %floor = arith.constant 1.0e-12 : f32
    %most = arith.constant 448.0 : f32
    %share = arith.divf %size, %most : f32
    %positive = arith.maximumf %share, %floor : f32
    linalg.yield %positive : f32
  } -> tensor<?xf32>
  %bytes = tensor.empty(%rows) : tensor<?x4096xf8E4M3FN>
  %q = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%y, %scale : tensor<?x4096xf32>, tensor<?xf32>)
      outs(%bytes : tensor<?x4096xf8E4M3FN>) {
  ^bb0(%value: f32, %s: f32, %out: f8E4M3FN):
    %one = arith.constant 1.0 : f32
    %reciprocal = arith.divf %one, %s : f32
    %scaled = arith.mulf %value, %reciprocal : f32
    %least = arith.constant -448.0 : f32
    %most = arith.constant 448.0 : f32
    %low = arith.maximumf %scaled, %least : f32
    %clamped = arith.minimumf %low, %most : f32
    %byte = arith.truncf %clamped : f32 to f8E4M3FN
    linalg.yield %byte : f8E4M3FN
  } -> tensor<?x4096xf8E4M3FN>
  return %q, %scale, %h : tensor<?x4096xf8E4M3FN>, tensor<?xf32>, tensor<?x4096xbf16>
}
