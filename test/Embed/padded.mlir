// A norm's result that is padded, among work of others: kernels store the padding. Groups of a padded row are left to
// others, with a remark that names what they are.
// RUN: norm-opt %s --rmsnorm-embed-tensors=remarks 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir RMSNORM_GPU_TRACE=1 %python %source/scripts/compare.py %s --embed=sim:sm_90,direct --size=131 | FileCheck %s
// RUN: not norm-opt %s --rmsnorm-tensor-half 2>&1 | FileCheck %s --check-prefix=OWN
// CHECK-DAG: launched columns_high_{{.*}}_and_{{.*}} 1 times
// CHECK-DAG: launched padded_{{.*}}_and_{{.*}} 1 times
// CHECK: {{^}}4 results, 0 wrong
// REMARK: remark: 'linalg.generic' op not tiled with the norm next to it: it works on more elements for each row than the norm has columns
// REMARK-NOT: remark
// REMARK: func.func @padded(
// REMARK: %[[P:.*]] = rmsnorm.rows sizes [8] columns(24) buffers(write
// REMARK: rmsnorm.rows sizes [8] columns(40) buffers(read %{{.*}}, write %{{.*}}, write %[[P]]
// OWN: error: 'linalg.generic' op is in no kernel{{.*}}: it works on more elements for each row than the norm has columns
// OWN-NOT: error:
#e = affine_map<(i, j, k) -> (i, j, k)>
#g = affine_map<(i, j, k) -> (i, j)>
func.func @padded(%x: tensor<8x40xf32>) -> (tensor<8x40xf32>, tensor<8x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %f = tensor.empty() : tensor<8x40xf32>
  %y = rmsnorm.forward input(%x : tensor<8x40xf32>) output(%f : tensor<8x40xf32>) eps = 1.0e-05 -> tensor<8x40xf32>
  %p = tensor.pad %y low[0, 0] high[0, 24] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<8x40xf32> to tensor<8x64xf32>
  %b = tensor.expand_shape %p [[0], [1, 2]] output_shape [8, 2, 32] : tensor<8x64xf32> into tensor<8x2x32xf32>
  %es = tensor.empty() : tensor<8x2xf32>
  %z = linalg.fill ins(%zero : f32) outs(%es : tensor<8x2xf32>) -> tensor<8x2xf32>
  %a = linalg.generic {indexing_maps = [#e, #g], iterator_types = ["parallel", "parallel", "reduction"]} ins(%b : tensor<8x2x32xf32>) outs(%z : tensor<8x2xf32>) {
  ^bb0(%v: f32, %o: f32):
    %t = math.absf %v : f32
    %l = arith.maximumf %t, %o : f32
    linalg.yield %l : f32
  } -> tensor<8x2xf32>
  return %y, %a : tensor<8x40xf32>, tensor<8x2xf32>
}
func.func @columns_high(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> (tensor<?x96xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %p = tensor.pad %y low[0, 0] high[0, 32] {
  ^bb0(%ip0: index, %ip1: index):
    tensor.yield %zero : f32
  } : tensor<?x64xf32> to tensor<?x96xf32>
  return %p : tensor<?x96xf32>
}
func.func @rows_multiple(%x: tensor<?x64xf32>, %w: tensor<64xf32>) -> (tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %c128 = arith.constant 128 : index
  %t = arith.ceildivui %m, %c128 : index
  %t1 = arith.muli %t, %c128 : index
  %h = arith.subi %t1, %m : index
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-05 -> tensor<?x64xf32>
  %p = tensor.pad %y low[0, 0] high[%h, 0] {
  ^bb0(%ip0: index, %ip1: index):
    tensor.yield %zero : f32
  } : tensor<?x64xf32> to tensor<?x64xf32>
  return %p : tensor<?x64xf32>
}
