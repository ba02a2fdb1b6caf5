// Lumina-Image 2.0 scales what it normalises by the step of diffusion that an
// image is in: one row of scales for all of its tokens.
#token = affine_map<(b, t, n) -> (b, t, n)>
#image = affine_map<(b, t, n) -> (b, n)>
func.func @lumina_image2(%x: tensor<?x?x2304xbf16>, %scale: tensor<?x2304xbf16>,
                         %weight: tensor<2304xbf16>) -> tensor<?x?x2304xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %images = tensor.dim %x, %c0 : tensor<?x?x2304xbf16>
  %tokens = tensor.dim %x, %c1 : tensor<?x?x2304xbf16>
  %f32 = tensor.empty(%images, %tokens) : tensor<?x?x2304xf32>
  %y = rmsnorm.forward input(%x : tensor<?x?x2304xbf16>)
      weight(%weight : tensor<2304xbf16>)
      output(%f32 : tensor<?x?x2304xf32>) eps = 1.0e-05 -> tensor<?x?x2304xf32>
  %empty = tensor.empty(%images, %tokens) : tensor<?x?x2304xbf16>
  %scaled = linalg.generic {
      indexing_maps = [#token, #image, #token],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y, %scale : tensor<?x?x2304xf32>, tensor<?x2304xbf16>)
      outs(%empty : tensor<?x?x2304xbf16>) {
  ^bb0(%a: f32, %s: bf16, %out: bf16):
    %one = arith.constant 1.0 : f32
    %s32 = arith.extf %s : bf16 to f32
    %factor = arith.addf %one, %s32 : f32
    %product = arith.mulf %a, %factor : f32
    %rounded = arith.truncf %product : f32 to bf16
    linalg.yield %rounded : bf16
  } -> tensor<?x?x2304xbf16>
  return %scaled : tensor<?x?x2304xbf16>
}
