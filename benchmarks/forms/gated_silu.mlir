// norm(x) * silu(z), as in Qwen3-Next.
func.func @gated_silu(%x: tensor<?x4096xbf16>, %z: tensor<?x4096xbf16>, %w: tensor<4096xbf16>) -> tensor<?x4096xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x4096xbf16>
  %e = tensor.empty(%m) : tensor<?x4096xf32>
  %y = rmsnorm.forward input(%x : tensor<?x4096xbf16>) weight(%w : tensor<4096xbf16>) output(%e : tensor<?x4096xf32>) eps = 1.0e-05  -> tensor<?x4096xf32>
  %o = tensor.empty(%m) : tensor<?x4096xbf16>
  %q = linalg.generic {indexing_maps=[affine_map<(d0,d1)->(d0,d1)>,affine_map<(d0,d1)->(d0,d1)>,affine_map<(d0,d1)->(d0,d1)>], iterator_types=["parallel","parallel"]} ins(%y, %z : tensor<?x4096xf32>, tensor<?x4096xbf16>) outs(%o : tensor<?x4096xbf16>) {
    ^bb0(%a: f32, %g: bf16, %u: bf16):
      %g32 = arith.extf %g : bf16 to f32
      %ng = arith.negf %g32 : f32
      %ex = math.exp %ng : f32
      %one = arith.constant 1.0 : f32
      %den = arith.addf %one, %ex : f32
      %sg = arith.divf %g32, %den : f32
      %v = arith.mulf %a, %sg : f32
      %t = arith.truncf %v : f32 to bf16
      linalg.yield %t : bf16
  } -> tensor<?x4096xbf16>
  return %q : tensor<?x4096xbf16>
}
