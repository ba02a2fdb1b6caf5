// Parts, groups, layouts and tables that kernels take, and what they do not,
// which stays outside and computes the same: groups of 24 columns, a reduction
// over groups, a norm of a part, parts of seven columns.
// RUN: env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir RMSNORM_GPU_TRACE=1 %python %source/scripts/compare.py %s --magnitude=64,8 --embed=sim:sm_90,direct | FileCheck %s
// CHECK-COUNT-7: launched
// CHECK: {{^}}12 results, 0 wrong

#e3 = affine_map<(i,j,k)->(i,j,k)>
#g3 = affine_map<(i,j,k)->(i,j)>
#c3 = affine_map<(i,j,k)->(k)>
#id = affine_map<(i,j)->(i,j)>
#row = affine_map<(i,j)->(i)>

func.func @two_sizes(%x: tensor<6x512xf32>) -> (tensor<6x4xf32>, tensor<6x16xf32>) {
  %e = tensor.empty() : tensor<6x512xf32>
  %y = rmsnorm.forward input(%x : tensor<6x512xf32>) output(%e : tensor<6x512xf32>) eps = 1.0e-05 -> tensor<6x512xf32>
  %g = tensor.expand_shape %y [[0], [1, 2]] output_shape [6, 4, 128] : tensor<6x512xf32> into tensor<6x4x128xf32>
  %z = arith.constant 0.0 : f32
  %eg = tensor.empty() : tensor<6x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%eg : tensor<6x4xf32>) -> tensor<6x4xf32>
  %m = linalg.generic {indexing_maps = [#e3, #g3], iterator_types = ["parallel","parallel","reduction"]} ins(%g : tensor<6x4x128xf32>) outs(%f : tensor<6x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = math.absf %a : f32
    %c = arith.maximumf %b, %o : f32
    linalg.yield %c : f32
  } -> tensor<6x4xf32>
  %g2 = tensor.expand_shape %y [[0], [1, 2]] output_shape [6, 16, 32] : tensor<6x512xf32> into tensor<6x16x32xf32>
  %z2 = arith.constant 0.0 : f32
  %eg2 = tensor.empty() : tensor<6x16xf32>
  %f2 = linalg.fill ins(%z2 : f32) outs(%eg2 : tensor<6x16xf32>) -> tensor<6x16xf32>
  %m2 = linalg.generic {indexing_maps = [#e3, #g3], iterator_types = ["parallel","parallel","reduction"]} ins(%g2 : tensor<6x16x32xf32>) outs(%f2 : tensor<6x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = math.absf %a : f32
    %c = arith.maximumf %b, %o : f32
    linalg.yield %c : f32
  } -> tensor<6x16xf32>
  return %m, %m2 : tensor<6x4xf32>, tensor<6x16xf32>
}

func.func @computed_elsewhere(%x: tensor<6x512xf32>, %other: tensor<6x4x128xf32>, %oth2: tensor<128x6x4xf32>) -> tensor<6x4x128xf32> {
  %e = tensor.empty() : tensor<6x512xf32>
  %y = rmsnorm.forward input(%x : tensor<6x512xf32>) output(%e : tensor<6x512xf32>) eps = 1.0e-05 -> tensor<6x512xf32>
  %g = tensor.expand_shape %y [[0], [1, 2]] output_shape [6, 4, 128] : tensor<6x512xf32> into tensor<6x4x128xf32>
  %z = arith.constant 0.0 : f32
  %eg = tensor.empty() : tensor<6x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%eg : tensor<6x4xf32>) -> tensor<6x4xf32>
  %m = linalg.generic {indexing_maps = [#e3, #g3], iterator_types = ["parallel","parallel","reduction"]} ins(%g : tensor<6x4x128xf32>) outs(%f : tensor<6x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = math.absf %a : f32
    %c = arith.maximumf %b, %o : f32
    linalg.yield %c : f32
  } -> tensor<6x4xf32>
  %eo = tensor.empty() : tensor<6x4x128xf32>
  %h = linalg.exp ins(%other : tensor<6x4x128xf32>) outs(%eo : tensor<6x4x128xf32>) -> tensor<6x4x128xf32>
  %t0 = tensor.empty() : tensor<128x6x4xf32>
  %t1 = tensor.empty() : tensor<6x4x128xf32>
  %tt = linalg.transpose ins(%oth2 : tensor<128x6x4xf32>) outs(%t1 : tensor<6x4x128xf32>) permutation = [1, 2, 0]
  %q = linalg.generic {indexing_maps = [#e3, #g3, #e3, #e3, #e3], iterator_types = ["parallel","parallel","parallel"]} ins(%g, %m, %h, %tt : tensor<6x4x128xf32>, tensor<6x4xf32>, tensor<6x4x128xf32>, tensor<6x4x128xf32>) outs(%eo : tensor<6x4x128xf32>) {
  ^bb0(%a: f32, %s: f32, %u: f32, %v: f32, %o: f32):
    %d = arith.divf %a, %s : f32
    %d1 = arith.addf %d, %u : f32
    %d2 = arith.addf %d1, %v : f32
    linalg.yield %d2 : f32
  } -> tensor<6x4x128xf32>
  return %q : tensor<6x4x128xf32>
}

func.func @odd_groups(%x: tensor<6x96xf32>, %w: tensor<24xf32>) -> (tensor<6x4x24xf32>, tensor<6xf32>) {
  %e = tensor.empty() : tensor<6x96xf32>
  %y = rmsnorm.forward input(%x : tensor<6x96xf32>) output(%e : tensor<6x96xf32>) eps = 1.0e-05 -> tensor<6x96xf32>
  %g = tensor.expand_shape %y [[0], [1, 2]] output_shape [6, 4, 24] : tensor<6x96xf32> into tensor<6x4x24xf32>
  %eo = tensor.empty() : tensor<6x4x24xf32>
  %q = linalg.generic {indexing_maps = [#e3, #c3, #e3], iterator_types = ["parallel","parallel","parallel"]} ins(%g, %w : tensor<6x4x24xf32>, tensor<24xf32>) outs(%eo : tensor<6x4x24xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %d = arith.mulf %a, %s : f32
    linalg.yield %d : f32
  } -> tensor<6x4x24xf32>
  %z = arith.constant 0.0 : f32
  %eg = tensor.empty() : tensor<6x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%eg : tensor<6x4xf32>) -> tensor<6x4xf32>
  %m = linalg.generic {indexing_maps = [#e3, #g3], iterator_types = ["parallel","parallel","reduction"]} ins(%g : tensor<6x4x24xf32>) outs(%f : tensor<6x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = arith.addf %a, %o : f32
    linalg.yield %c : f32
  } -> tensor<6x4xf32>
  %er = tensor.empty() : tensor<6xf32>
  %fr = linalg.fill ins(%z : f32) outs(%er : tensor<6xf32>) -> tensor<6xf32>
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel","reduction"]} ins(%m : tensor<6x4xf32>) outs(%fr : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %c = arith.maximumf %a, %o : f32
    linalg.yield %c : f32
  } -> tensor<6xf32>
  return %q, %r : tensor<6x4x24xf32>, tensor<6xf32>
}

func.func @odd_parts(%x: tensor<6x512xf32>, %z: tensor<6x512xf32>) -> (tensor<6x512xf32>, tensor<6x256xf32>) {
  %e = tensor.empty() : tensor<6x512xf32>
  %y = rmsnorm.forward input(%x : tensor<6x512xf32>) output(%e : tensor<6x512xf32>) eps = 1.0e-05 -> tensor<6x512xf32>
  %a = tensor.extract_slice %y[0, 7] [6, 101] [1, 1] : tensor<6x512xf32> to tensor<6x101xf32>
  %ea = tensor.empty() : tensor<6x101xf32>
  %b = linalg.exp ins(%a : tensor<6x101xf32>) outs(%ea : tensor<6x101xf32>) -> tensor<6x101xf32>
  %i = tensor.insert_slice %b into %z[0, 3] [6, 101] [1, 1] : tensor<6x101xf32> into tensor<6x512xf32>
  %h = tensor.extract_slice %y[0, 0] [6, 256] [1, 1] : tensor<6x512xf32> to tensor<6x256xf32>
  %eh = tensor.empty() : tensor<6x256xf32>
  %n2 = rmsnorm.forward input(%h : tensor<6x256xf32>) output(%eh : tensor<6x256xf32>) eps = 1.0e-05 -> tensor<6x256xf32>
  return %i, %n2 : tensor<6x512xf32>, tensor<6x256xf32>
}

func.func @stored_into(%x: tensor<6x512xf32>, %dst: tensor<4x6xf32>, %big: tensor<4x10xf32>) -> (tensor<4x6xf32>, tensor<4x10xf32>, tensor<6x512xf32>) {
  %e = tensor.empty() : tensor<6x512xf32>
  %y = rmsnorm.forward input(%x : tensor<6x512xf32>) output(%e : tensor<6x512xf32>) eps = 1.0e-05 -> tensor<6x512xf32>
  %g = tensor.expand_shape %y [[0], [1, 2]] output_shape [6, 4, 128] : tensor<6x512xf32> into tensor<6x4x128xf32>
  %z = arith.constant 0.0 : f32
  %eg = tensor.empty() : tensor<6x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%eg : tensor<6x4xf32>) -> tensor<6x4xf32>
  %m = linalg.generic {indexing_maps = [#e3, #g3], iterator_types = ["parallel","parallel","reduction"]} ins(%g : tensor<6x4x128xf32>) outs(%f : tensor<6x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %b = math.absf %a : f32
    %c = arith.maximumf %b, %o : f32
    linalg.yield %c : f32
  } -> tensor<6x4xf32>
  %t = linalg.transpose ins(%m : tensor<6x4xf32>) outs(%dst : tensor<4x6xf32>) permutation = [1, 0]
  %sl = tensor.extract_slice %big[0, 2] [4, 6] [1, 1] : tensor<4x10xf32> to tensor<4x6xf32>
  %t2 = linalg.transpose ins(%m : tensor<6x4xf32>) outs(%sl : tensor<4x6xf32>) permutation = [1, 0]
  %b2 = tensor.insert_slice %t2 into %big[0, 2] [4, 6] [1, 1] : tensor<4x6xf32> into tensor<4x10xf32>
  return %t, %b2, %y : tensor<4x6xf32>, tensor<4x10xf32>, tensor<6x512xf32>
}

func.func @table_in_place(%ids: tensor<7xi32>, %t: tensor<7x64xf32>) -> (tensor<7x64xf32>, tensor<7x64xf32>) {
  %e = tensor.empty() : tensor<7x64xf32>
  %gth = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel","parallel"]} ins(%ids : tensor<7xi32>) outs(%e : tensor<7x64xf32>) {
  ^bb0(%a: i32, %o: f32):
    %k = arith.index_cast %a : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%k, %j] : tensor<7x64xf32>
    linalg.yield %v : f32
  } -> tensor<7x64xf32>
  %y = rmsnorm.forward input(%gth : tensor<7x64xf32>) output(%t : tensor<7x64xf32>) eps = 1.0e-05 -> tensor<7x64xf32>
  %w = linalg.generic {indexing_maps = [#row, #id, #id], iterator_types = ["parallel","parallel"]} ins(%ids, %y : tensor<7xi32>, tensor<7x64xf32>) outs(%e : tensor<7x64xf32>) {
  ^bb0(%a: i32, %b: f32, %o: f32):
    %k = arith.index_cast %a : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %y[%k, %j] : tensor<7x64xf32>
    %r = arith.addf %v, %b : f32
    linalg.yield %r : f32
  } -> tensor<7x64xf32>
  return %y, %w : tensor<7x64xf32>, tensor<7x64xf32>
}
