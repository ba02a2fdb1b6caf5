// Values that are used twice each are looked at once.
// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s
// CHECK: rmsnorm.rows
func.func @chain(%v0: tensor<?x4x1xf32>) -> tensor<?x4x1xf32> {
  %v1 = arith.mulf %v0, %v0 : tensor<?x4x1xf32>
  %v2 = arith.mulf %v1, %v1 : tensor<?x4x1xf32>
  %v3 = arith.mulf %v2, %v2 : tensor<?x4x1xf32>
  %v4 = arith.mulf %v3, %v3 : tensor<?x4x1xf32>
  %v5 = arith.mulf %v4, %v4 : tensor<?x4x1xf32>
  %v6 = arith.mulf %v5, %v5 : tensor<?x4x1xf32>
  %v7 = arith.mulf %v6, %v6 : tensor<?x4x1xf32>
  %v8 = arith.mulf %v7, %v7 : tensor<?x4x1xf32>
  %v9 = arith.mulf %v8, %v8 : tensor<?x4x1xf32>
  %v10 = arith.mulf %v9, %v9 : tensor<?x4x1xf32>
  %v11 = arith.mulf %v10, %v10 : tensor<?x4x1xf32>
  %v12 = arith.mulf %v11, %v11 : tensor<?x4x1xf32>
  %v13 = arith.mulf %v12, %v12 : tensor<?x4x1xf32>
  %v14 = arith.mulf %v13, %v13 : tensor<?x4x1xf32>
  %v15 = arith.mulf %v14, %v14 : tensor<?x4x1xf32>
  %v16 = arith.mulf %v15, %v15 : tensor<?x4x1xf32>
  %v17 = arith.mulf %v16, %v16 : tensor<?x4x1xf32>
  %v18 = arith.mulf %v17, %v17 : tensor<?x4x1xf32>
  %v19 = arith.mulf %v18, %v18 : tensor<?x4x1xf32>
  %v20 = arith.mulf %v19, %v19 : tensor<?x4x1xf32>
  %v21 = arith.mulf %v20, %v20 : tensor<?x4x1xf32>
  %v22 = arith.mulf %v21, %v21 : tensor<?x4x1xf32>
  %v23 = arith.mulf %v22, %v22 : tensor<?x4x1xf32>
  %v24 = arith.mulf %v23, %v23 : tensor<?x4x1xf32>
  %v25 = arith.mulf %v24, %v24 : tensor<?x4x1xf32>
  %v26 = arith.mulf %v25, %v25 : tensor<?x4x1xf32>
  %v27 = arith.mulf %v26, %v26 : tensor<?x4x1xf32>
  %v28 = arith.mulf %v27, %v27 : tensor<?x4x1xf32>
  %v29 = arith.mulf %v28, %v28 : tensor<?x4x1xf32>
  %v30 = arith.mulf %v29, %v29 : tensor<?x4x1xf32>
  %v31 = arith.mulf %v30, %v30 : tensor<?x4x1xf32>
  %v32 = arith.mulf %v31, %v31 : tensor<?x4x1xf32>
  %v33 = arith.mulf %v32, %v32 : tensor<?x4x1xf32>
  %v34 = arith.mulf %v33, %v33 : tensor<?x4x1xf32>
  %v35 = arith.mulf %v34, %v34 : tensor<?x4x1xf32>
  %v36 = arith.mulf %v35, %v35 : tensor<?x4x1xf32>
  %v37 = arith.mulf %v36, %v36 : tensor<?x4x1xf32>
  %v38 = arith.mulf %v37, %v37 : tensor<?x4x1xf32>
  %v39 = arith.mulf %v38, %v38 : tensor<?x4x1xf32>
  %v40 = arith.mulf %v39, %v39 : tensor<?x4x1xf32>
  return %v40 : tensor<?x4x1xf32>
}