// Qwen3-VL: q and k of packed qkv, a norm for each head and a rotation by halves:
// sections of 24, 20 and 20 columns by the positions of time, height and width.
func.func @rope_sections(%qkv: tensor<?x40x128xbf16>, %wq: tensor<128xbf16>, %wk: tensor<128xbf16>, %cos_sin: tensor<?x128xf32>, %pt: tensor<?xi64>, %ph: tensor<?xi64>, %pw: tensor<?xi64>) -> (tensor<?x32x128xbf16>, tensor<?x4x128xbf16>) {
  %c108 = arith.constant 108 : index
  %c44 = arith.constant 44 : index
  %c88 = arith.constant 88 : index
  %c24 = arith.constant 24 : index
  %c64 = arith.constant 64 : index
  %c0 = arith.constant 0 : index
  %m = tensor.dim %qkv, %c0 : tensor<?x40x128xbf16>
  %pmax = tensor.dim %cos_sin, %c0 : tensor<?x128xf32>
  %v1 = tensor.empty(%m) : tensor<?x64xf32>
  %v2 = tensor.empty(%m) : tensor<?x64xf32>
  %v4 = tensor.empty(%m) : tensor<?x24xf32>
  %v3 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]} ins(%pt : tensor<?xi64>) outs(%v4 : tensor<?x24xf32>) {
  ^bb0(%p: i64, %z: f32):
    %i = arith.index_cast %p : i64 to index
    %j = linalg.index 1 : index
    %t = tensor.extract %cos_sin[%i, %j] : tensor<?x128xf32>
    linalg.yield %t : f32
  } -> tensor<?x24xf32>
  %v5 = tensor.insert_slice %v3 into %v1[0, 0] [%m, 24] [1, 1] : tensor<?x24xf32> into tensor<?x64xf32>
  %v7 = tensor.empty(%m) : tensor<?x24xf32>
  %v6 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]} ins(%pt : tensor<?xi64>) outs(%v7 : tensor<?x24xf32>) {
  ^bb0(%p: i64, %z: f32):
    %i = arith.index_cast %p : i64 to index
    %j = linalg.index 1 : index
    %jj = arith.addi %j, %c64 : index
    %t = tensor.extract %cos_sin[%i, %jj] : tensor<?x128xf32>
    linalg.yield %t : f32
  } -> tensor<?x24xf32>
  %v8 = tensor.insert_slice %v6 into %v2[0, 0] [%m, 24] [1, 1] : tensor<?x24xf32> into tensor<?x64xf32>
  %v10 = tensor.empty(%m) : tensor<?x20xf32>
  %v9 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]} ins(%ph : tensor<?xi64>) outs(%v10 : tensor<?x20xf32>) {
  ^bb0(%p: i64, %z: f32):
    %i = arith.index_cast %p : i64 to index
    %j = linalg.index 1 : index
    %jj = arith.addi %j, %c24 : index
    %t = tensor.extract %cos_sin[%i, %jj] : tensor<?x128xf32>
    linalg.yield %t : f32
  } -> tensor<?x20xf32>
  %v11 = tensor.insert_slice %v9 into %v5[0, 24] [%m, 20] [1, 1] : tensor<?x20xf32> into tensor<?x64xf32>
  %v13 = tensor.empty(%m) : tensor<?x20xf32>
  %v12 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]} ins(%ph : tensor<?xi64>) outs(%v13 : tensor<?x20xf32>) {
  ^bb0(%p: i64, %z: f32):
    %i = arith.index_cast %p : i64 to index
    %j = linalg.index 1 : index
    %jj = arith.addi %j, %c88 : index
    %t = tensor.extract %cos_sin[%i, %jj] : tensor<?x128xf32>
    linalg.yield %t : f32
  } -> tensor<?x20xf32>
  %v14 = tensor.insert_slice %v12 into %v8[0, 24] [%m, 20] [1, 1] : tensor<?x20xf32> into tensor<?x64xf32>
  %v16 = tensor.empty(%m) : tensor<?x20xf32>
  %v15 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]} ins(%pw : tensor<?xi64>) outs(%v16 : tensor<?x20xf32>) {
  ^bb0(%p: i64, %z: f32):
    %i = arith.index_cast %p : i64 to index
    %j = linalg.index 1 : index
    %jj = arith.addi %j, %c44 : index
    %t = tensor.extract %cos_sin[%i, %jj] : tensor<?x128xf32>
    linalg.yield %t : f32
  } -> tensor<?x20xf32>
  %v17 = tensor.insert_slice %v15 into %v11[0, 44] [%m, 20] [1, 1] : tensor<?x20xf32> into tensor<?x64xf32>
  %v19 = tensor.empty(%m) : tensor<?x20xf32>
  %v18 = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m)>, affine_map<(m, k) -> (m, k)>], iterator_types = ["parallel", "parallel"]} ins(%pw : tensor<?xi64>) outs(%v19 : tensor<?x20xf32>) {
  ^bb0(%p: i64, %z: f32):
    %i = arith.index_cast %p : i64 to index
    %j = linalg.index 1 : index
    %jj = arith.addi %j, %c108 : index
    %t = tensor.extract %cos_sin[%i, %jj] : tensor<?x128xf32>
    linalg.yield %t : f32
  } -> tensor<?x20xf32>
  %v20 = tensor.insert_slice %v18 into %v14[0, 44] [%m, 20] [1, 1] : tensor<?x20xf32> into tensor<?x64xf32>
  %v21 = tensor.extract_slice %qkv[0, 0, 0] [%m, 32, 128] [1, 1, 1] : tensor<?x40x128xbf16> to tensor<?x32x128xbf16>
  %v22 = tensor.empty(%m) : tensor<?x32x128xf32>
  %v23 = rmsnorm.forward input(%v21 : tensor<?x32x128xbf16>) weight(%wq : tensor<128xbf16>) output(%v22 : tensor<?x32x128xf32>) eps = 1.000000000e-06 -> tensor<?x32x128xf32>
  %v24 = tensor.extract_slice %v23[0, 0, 0] [%m, 32, 64] [1, 1, 1] : tensor<?x32x128xf32> to tensor<?x32x64xf32>
  %v25 = tensor.extract_slice %v23[0, 0, 64] [%m, 32, 64] [1, 1, 1] : tensor<?x32x128xf32> to tensor<?x32x64xf32>
  %v26 = tensor.empty(%m) : tensor<?x32x64xbf16>
  %v27 = linalg.generic {indexing_maps = [affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, h, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v24, %v25, %v17, %v20 : tensor<?x32x64xf32>, tensor<?x32x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%v26 : tensor<?x32x64xbf16>) {
  ^bb0(%i0: f32, %i1: f32, %i2: f32, %i3: f32, %o0: bf16):
    %b1 = arith.mulf %i0, %i2 : f32
    %b2 = arith.mulf %i1, %i3 : f32
    %b3 = arith.subf %b1, %b2 : f32
    %b4 = arith.truncf %b3 : f32 to bf16
    linalg.yield %b4 : bf16
  } -> tensor<?x32x64xbf16>
  %v28 = tensor.empty(%m) : tensor<?x32x64xbf16>
  %v29 = linalg.generic {indexing_maps = [affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, h, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v24, %v25, %v17, %v20 : tensor<?x32x64xf32>, tensor<?x32x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%v28 : tensor<?x32x64xbf16>) {
  ^bb0(%i0: f32, %i1: f32, %i2: f32, %i3: f32, %o0: bf16):
    %b1 = arith.mulf %i1, %i2 : f32
    %b2 = arith.mulf %i0, %i3 : f32
    %b3 = arith.addf %b1, %b2 : f32
    %b4 = arith.truncf %b3 : f32 to bf16
    linalg.yield %b4 : bf16
  } -> tensor<?x32x64xbf16>
  %v30 = tensor.empty(%m) : tensor<?x32x128xbf16>
  %v31 = tensor.insert_slice %v27 into %v30[0, 0, 0] [%m, 32, 64] [1, 1, 1] : tensor<?x32x64xbf16> into tensor<?x32x128xbf16>
  %v32 = tensor.insert_slice %v29 into %v31[0, 0, 64] [%m, 32, 64] [1, 1, 1] : tensor<?x32x64xbf16> into tensor<?x32x128xbf16>
  %v33 = tensor.extract_slice %qkv[0, 32, 0] [%m, 4, 128] [1, 1, 1] : tensor<?x40x128xbf16> to tensor<?x4x128xbf16>
  %v34 = tensor.empty(%m) : tensor<?x4x128xf32>
  %v35 = rmsnorm.forward input(%v33 : tensor<?x4x128xbf16>) weight(%wk : tensor<128xbf16>) output(%v34 : tensor<?x4x128xf32>) eps = 1.000000000e-06 -> tensor<?x4x128xf32>
  %v36 = tensor.extract_slice %v35[0, 0, 0] [%m, 4, 64] [1, 1, 1] : tensor<?x4x128xf32> to tensor<?x4x64xf32>
  %v37 = tensor.extract_slice %v35[0, 0, 64] [%m, 4, 64] [1, 1, 1] : tensor<?x4x128xf32> to tensor<?x4x64xf32>
  %v38 = tensor.empty(%m) : tensor<?x4x64xbf16>
  %v39 = linalg.generic {indexing_maps = [affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, h, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v36, %v37, %v17, %v20 : tensor<?x4x64xf32>, tensor<?x4x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%v38 : tensor<?x4x64xbf16>) {
  ^bb0(%i0: f32, %i1: f32, %i2: f32, %i3: f32, %o0: bf16):
    %b1 = arith.mulf %i0, %i2 : f32
    %b2 = arith.mulf %i1, %i3 : f32
    %b3 = arith.subf %b1, %b2 : f32
    %b4 = arith.truncf %b3 : f32 to bf16
    linalg.yield %b4 : bf16
  } -> tensor<?x4x64xbf16>
  %v40 = tensor.empty(%m) : tensor<?x4x64xbf16>
  %v41 = linalg.generic {indexing_maps = [affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, h, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, k)>, affine_map<(m, h, k) -> (m, h, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v36, %v37, %v17, %v20 : tensor<?x4x64xf32>, tensor<?x4x64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) outs(%v40 : tensor<?x4x64xbf16>) {
  ^bb0(%i0: f32, %i1: f32, %i2: f32, %i3: f32, %o0: bf16):
    %b1 = arith.mulf %i1, %i2 : f32
    %b2 = arith.mulf %i0, %i3 : f32
    %b3 = arith.addf %b1, %b2 : f32
    %b4 = arith.truncf %b3 : f32 to bf16
    linalg.yield %b4 : bf16
  } -> tensor<?x4x64xbf16>
  %v42 = tensor.empty(%m) : tensor<?x4x128xbf16>
  %v43 = tensor.insert_slice %v39 into %v42[0, 0, 0] [%m, 4, 64] [1, 1, 1] : tensor<?x4x64xbf16> into tensor<?x4x128xbf16>
  %v44 = tensor.insert_slice %v41 into %v43[0, 0, 64] [%m, 4, 64] [1, 1, 1] : tensor<?x4x64xbf16> into tensor<?x4x128xbf16>
  return %v32, %v44 : tensor<?x32x128xbf16>, tensor<?x4x128xbf16>
}
