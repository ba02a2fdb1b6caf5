// norm(x * silu(z)), as in Mamba-2.
func.func @mamba_gated(%x: tensor<?x4096xbf16>, %z: tensor<?x4096xbf16>, %w: tensor<4096xbf16>) -> tensor<?x4096xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %e = tensor.empty(%m) : tensor<?x4096xbf16>
  %h = linalg.generic {indexing_maps=[affine_map<(d0,d1)->(d0,d1)>,affine_map<(d0,d1)->(d0,d1)>,affine_map<(d0,d1)->(d0,d1)>], iterator_types=["parallel","parallel"]} ins(%x, %z : tensor<?x4096xbf16>, tensor<?x4096xbf16>) outs(%e : tensor<?x4096xbf16>) {
    ^bb0(%a: bf16, %g: bf16, %u: bf16):
      %a32 = arith.extf %a : bf16 to f32
      %g32 = arith.extf %g : bf16 to f32
      %ng = arith.negf %g32 : f32
      %ex = math.exp %ng : f32
      %one = arith.constant 1.0 : f32
      %den = arith.addf %one, %ex : f32
      %sg = arith.divf %g32, %den : f32
      %v = arith.mulf %a32, %sg : f32
      %t = arith.truncf %v : f32 to bf16
      linalg.yield %t : bf16
  } -> tensor<?x4096xbf16>
  %y = rmsnorm.forward input(%h : tensor<?x4096xbf16>) weight(%w : tensor<4096xbf16>) output(%e : tensor<?x4096xbf16>) eps = 1.0e-05  -> tensor<?x4096xbf16>
  return %y : tensor<?x4096xbf16>
}
