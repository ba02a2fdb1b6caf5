// Rows put together of parts that lie one over the other, or of slices that columns do not divide; two sums in one op. More of a row is needed
// at once than some chip can hold.
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir %python %source/scripts/compare.py %s --size=6 --magnitude=64,16 --embed=sim:sm_90,direct | FileCheck %s
// CHECK: {{^}}10 results, 0 wrong

func.func @over(%x: tensor<?x64xf32>, %p: tensor<?x16xf32>, %g: tensor<?x16xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %r = tensor.insert_slice %p into %x[0, 0] [%m, 16] [1, 1] : tensor<?x16xf32> into tensor<?x64xf32>
  %t = tensor.insert_slice %g into %r[0, 8] [%m, 16] [1, 1] : tensor<?x16xf32> into tensor<?x64xf32>
  %s = tensor.extract_slice %t[0, 4] [%m, 8] [1, 1] : tensor<?x64xf32> to tensor<?x8xf32>
  %i = tensor.insert_slice %s into %t[0, 32] [%m, 8] [1, 1] : tensor<?x8xf32> into tensor<?x64xf32>
  %y = rmsnorm.forward input(%i : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  return %y : tensor<?x64xf32>
}

func.func @slice_over_groups(%x: tensor<6x2x32xf32>, %a: tensor<6x64xf32>) -> tensor<6x64xf32> {
  %e = tensor.empty() : tensor<6x64xf32>
  %v = tensor.collapse_shape %x [[0], [1, 2]] : tensor<6x2x32xf32> into tensor<6x64xf32>
  %s = tensor.extract_slice %v[0, 0] [6, 48] [1, 1] : tensor<6x64xf32> to tensor<6x48xf32>
  %i = tensor.insert_slice %s into %a[0, 16] [6, 48] [1, 1] : tensor<6x48xf32> into tensor<6x64xf32>
  %y = rmsnorm.forward input(%i : tensor<6x64xf32>) output(%e : tensor<6x64xf32>) eps = 1.0e-3 -> tensor<6x64xf32>
  return %y : tensor<6x64xf32>
}

func.func @slice_after_norm(%x: tensor<6x2x32xf32>, %a: tensor<6x64xf32>) -> tensor<6x64xf32> {
  %e = tensor.empty() : tensor<6x64xf32>
  %eb = tensor.empty() : tensor<6x2x32xf32>
  %n = linalg.negf ins(%x : tensor<6x2x32xf32>) outs(%eb : tensor<6x2x32xf32>) -> tensor<6x2x32xf32>
  %v = tensor.collapse_shape %n [[0], [1, 2]] : tensor<6x2x32xf32> into tensor<6x64xf32>
  %y = rmsnorm.forward input(%v : tensor<6x64xf32>) output(%e : tensor<6x64xf32>) eps = 1.0e-3 -> tensor<6x64xf32>
  %s = tensor.extract_slice %v[0, 0] [6, 48] [1, 1] : tensor<6x64xf32> to tensor<6x48xf32>
  %i = tensor.insert_slice %s into %a[0, 0] [6, 48] [1, 1] : tensor<6x48xf32> into tensor<6x64xf32>
  %r = linalg.mul ins(%y, %i : tensor<6x64xf32>, tensor<6x64xf32>) outs(%e : tensor<6x64xf32>) -> tensor<6x64xf32>
  return %r : tensor<6x64xf32>
}

func.func @two_sums(%x: tensor<?x64xf32>, %a: tensor<64xf32>) -> (tensor<?x64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %s = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%z : f32) outs(%s : tensor<64xf32>) -> tensor<64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<?x64xf32>) outs(%f, %a : tensor<64xf32>, tensor<64xf32>) {
  ^bb0(%i: f32, %o: f32, %p: f32):
    %q = arith.addf %o, %i : f32
    %t = arith.addf %p, %i : f32
    linalg.yield %q, %t : f32, f32
  } -> (tensor<64xf32>, tensor<64xf32>)
  return %y, %r#0, %r#1 : tensor<?x64xf32>, tensor<64xf32>, tensor<64xf32>
}

func.func @sum_and_maximum(%x: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %s = tensor.empty() : tensor<64xf32>
  %f = linalg.fill ins(%z : f32) outs(%s : tensor<64xf32>) -> tensor<64xf32>
  %ni = arith.constant 0xFF800000 : f32
  %f2 = linalg.fill ins(%ni : f32) outs(%s : tensor<64xf32>) -> tensor<64xf32>
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<?x64xf32>) outs(%f, %f2 : tensor<64xf32>, tensor<64xf32>) {
  ^bb0(%i: f32, %o: f32, %p: f32):
    %q = arith.addf %o, %i : f32
    %t = arith.maximumf %p, %i : f32
    linalg.yield %q, %t : f32, f32
  } -> (tensor<64xf32>, tensor<64xf32>)
  return %y, %r#0, %r#1 : tensor<?x64xf32>, tensor<64xf32>, tensor<64xf32>
}

func.func @many_parts(%x: tensor<?x128xf32>, %dy: tensor<?x128xf32>, %g: tensor<?x12xf32>, %h: tensor<?x16xf32>, %l: tensor<?x68xf32>, %w: tensor<128xf32>) -> tensor<?x128xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x128xf32>
  %e = tensor.empty(%m) : tensor<?x128xf32>
  %we = tensor.empty() : tensor<128xf32>
  %i = tensor.insert_slice %g into %x[0, 48] [%m, 12] [1, 1] : tensor<?x12xf32> into tensor<?x128xf32>
  %j = tensor.insert_slice %h into %i[0, 16] [%m, 16] [1, 1] : tensor<?x16xf32> into tensor<?x128xf32>
  %dx, %dw = rmsnorm.backward dy(%dy : tensor<?x128xf32>) input(%j : tensor<?x128xf32>) weight(%w : tensor<128xf32>) dx(%e : tensor<?x128xf32>) dweight(%we : tensor<128xf32>) eps = 1.0e-3 -> tensor<?x128xf32>, tensor<128xf32>
  return %dx : tensor<?x128xf32>
}
