// The gradient that rounds at every step (casting = none) is raised if it is that,
// step by step. Each line below changes one: a product that is summed unrounded, a
// mean that is not rounded or that something is added to, another sign, a difference
// or its second term that is not rounded, rstd instead of the mean, dy * w instead of
// xhat.
// RUN: norm-opt %s --rmsnorm-raise --canonicalize --cse | FileCheck %s --check-prefix=RAISED
// RUN: sed '/SUM/s/%19/%17/' %s | norm-opt --rmsnorm-raise --canonicalize --cse | FileCheck %s --check-prefix=LEFT
// RUN: sed '/MEAN/s/%10/%8/' %s | norm-opt --rmsnorm-raise --canonicalize --cse | FileCheck %s --check-prefix=LEFT
// RUN: sed '/^ .*MEAN/s/.*/%70 = arith.addf %10, %cst : f32\n linalg.yield %70 : f32/' %s | norm-opt --rmsnorm-raise --canonicalize --cse | FileCheck %s --check-prefix=LEFT
// RUN: sed '/REST/s/subf/addf/' %s | norm-opt --rmsnorm-raise --canonicalize --cse | FileCheck %s --check-prefix=LEFT
// RUN: sed '/REST/s/%19/%17/' %s | norm-opt --rmsnorm-raise --canonicalize --cse | FileCheck %s --check-prefix=LEFT
// RUN: sed '/SCALED/s/%22/%20/' %s | norm-opt --rmsnorm-raise --canonicalize --cse | FileCheck %s --check-prefix=LEFT
// RUN: sed '/ALONG/s/%in_5/%in_3/' %s | norm-opt --rmsnorm-raise --canonicalize --cse | FileCheck %s --check-prefix=LEFT
// RUN: sed '/ALONG/s/%16/%13/' %s | norm-opt --rmsnorm-raise --canonicalize --cse | FileCheck %s --check-prefix=LEFT
// RAISED: rmsnorm.backward {{.*}} casting = none
// LEFT-NOT: rmsnorm.backward
// LEFT: func.func @none
// LEFT-NOT: rmsnorm.backward

#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
#map2 = affine_map<(d0) -> (d0)>
#map3 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @none(%arg0: tensor<8x96xbf16>, %arg1: tensor<8x96xbf16>, %arg2: tensor<96xbf16>) -> tensor<8x96xbf16> {
    %cst = arith.constant 9.99999974E-6 : f32
    %cst_0 = arith.constant 0.010416667 : f32
    %cst_1 = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<8x96xbf16>
    %1 = tensor.empty() : tensor<8xf32>
    %2 = linalg.fill ins(%cst_1 : f32) outs(%1 : tensor<8xf32>) -> tensor<8xf32>
    %3 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg1 : tensor<8x96xbf16>) outs(%2 : tensor<8xf32>) {
    ^bb0(%in: bf16, %out: f32):
      %8 = arith.extf %in : bf16 to f32
      %9 = arith.mulf %8, %8 : f32
      %10 = arith.truncf %9 : f32 to bf16
      %11 = arith.extf %10 : bf16 to f32
      %12 = arith.addf %out, %11 : f32
      linalg.yield %12 : f32
    } -> tensor<8xf32>
    %4 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%3 : tensor<8xf32>) outs(%1 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %8 = arith.mulf %in, %cst_0 : f32
      %9 = arith.truncf %8 : f32 to bf16
      %10 = arith.extf %9 : bf16 to f32
      %11 = arith.addf %10, %cst : f32
      %12 = arith.truncf %11 : f32 to bf16
      %13 = arith.extf %12 : bf16 to f32
      %14 = math.rsqrt %13 : f32
      %15 = arith.truncf %14 : f32 to bf16
      %16 = arith.extf %15 : bf16 to f32
      linalg.yield %16 : f32
    } -> tensor<8xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map, #map1, #map3, #map1], iterator_types = ["parallel", "reduction"]} ins(%arg0, %arg1, %4, %arg2 : tensor<8x96xbf16>, tensor<8x96xbf16>, tensor<8xf32>, tensor<96xbf16>) outs(%2 : tensor<8xf32>) {
    ^bb0(%in: bf16, %in_2: bf16, %in_3: f32, %in_4: bf16, %out: f32):
      %8 = arith.extf %in_2 : bf16 to f32
      %9 = arith.extf %in : bf16 to f32
      %10 = arith.extf %in_4 : bf16 to f32
      %11 = arith.mulf %9, %10 : f32
      %12 = arith.truncf %11 : f32 to bf16
      %13 = arith.extf %12 : bf16 to f32
      %14 = arith.mulf %8, %in_3 : f32
      %15 = arith.truncf %14 : f32 to bf16
      %16 = arith.extf %15 : bf16 to f32
      %17 = arith.mulf %13, %16 : f32
      %18 = arith.truncf %17 : f32 to bf16
      %19 = arith.extf %18 : bf16 to f32
      %20 = arith.addf %out, %19 : f32 // SUM
      linalg.yield %20 : f32
    } -> tensor<8xf32>
    %6 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel"]} ins(%5 : tensor<8xf32>) outs(%1 : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %8 = arith.mulf %in, %cst_0 : f32
      %9 = arith.truncf %8 : f32 to bf16
      %10 = arith.extf %9 : bf16 to f32
      linalg.yield %10 : f32 // MEAN
    } -> tensor<8xf32>
    %7 = linalg.generic {indexing_maps = [#map, #map, #map1, #map3, #map1, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0, %arg1, %4, %arg2, %6 : tensor<8x96xbf16>, tensor<8x96xbf16>, tensor<8xf32>, tensor<96xbf16>, tensor<8xf32>) outs(%0 : tensor<8x96xbf16>) {
    ^bb0(%in: bf16, %in_2: bf16, %in_3: f32, %in_4: bf16, %in_5: f32, %out: bf16):
      %8 = arith.extf %in_2 : bf16 to f32
      %9 = arith.extf %in : bf16 to f32
      %10 = arith.extf %in_4 : bf16 to f32
      %11 = arith.mulf %9, %10 : f32
      %12 = arith.truncf %11 : f32 to bf16
      %13 = arith.extf %12 : bf16 to f32
      %14 = arith.mulf %8, %in_3 : f32
      %15 = arith.truncf %14 : f32 to bf16
      %16 = arith.extf %15 : bf16 to f32
      %17 = arith.mulf %16, %in_5 : f32 // ALONG
      %18 = arith.truncf %17 : f32 to bf16
      %19 = arith.extf %18 : bf16 to f32
      %20 = arith.subf %13, %19 : f32 // REST
      %21 = arith.truncf %20 : f32 to bf16
      %22 = arith.extf %21 : bf16 to f32
      %23 = arith.mulf %22, %in_3 : f32 // SCALED
      %24 = arith.truncf %23 : f32 to bf16
      linalg.yield %24 : bf16
    } -> tensor<8x96xbf16>
    return %7 : tensor<8x96xbf16>
  }
}

