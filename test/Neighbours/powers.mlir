// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s --implicit-check-not="{{rmsnorm.rows|linalg.generic}}"
// RUN: norm-compile %s --target=sim:sm_90,sim:gfx942,oracle --rows=67 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90,sim:gfx942 --rows=67
// RUN: sed 's/%a, %c3/%a, %e/;s/%w: tensor<256xf32>)/%w: tensor<256xf32>, %e: i64)/' %s | norm-opt --rmsnorm-embed-tensors=remarks=true 2>&1 | FileCheck %s --check-prefix=ANY

// A power that is constant is multiplied, as of torch.pow(x, 3) in a GELU.
// CHECK: rmsnorm.rows sizes [%{{.*}}] columns(256)
// CHECK: math.fpowi %{{.*}} : vector<1x256xf32>, vector<1x256xi64>
// Another is 2^(e log2|x|), of the same kernel.
// ANY-NOT: {{remark|linalg.generic}}
// ANY: rmsnorm.rows sizes
// ANY-NOT: {{remark|linalg.generic}}
// ANY: math.fpowi
// ANY-NOT: linalg.generic
#id = affine_map<(t, c) -> (t, c)>
func.func @powers(%x: tensor<?x256xf32>, %w: tensor<256xf32>) -> tensor<?x256xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : i64
  %m = tensor.dim %x, %c0 : tensor<?x256xf32>
  %e0 = tensor.empty(%m) : tensor<?x256xf32>
  %n = rmsnorm.forward input(%x : tensor<?x256xf32>) weight(%w : tensor<256xf32>) output(%e0 : tensor<?x256xf32>) eps = 1.0e-6 -> tensor<?x256xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%n : tensor<?x256xf32>) outs(%e0 : tensor<?x256xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.fpowi %a, %c3 : f32, i64
    linalg.yield %0 : f32
  } -> tensor<?x256xf32>
  return %y : tensor<?x256xf32>
}
