// RUN: norm-opt %s --rmsnorm-decompose --canonicalize --cse | FileCheck %s

// gemma: one rounding, at the end.

// CHECK-DAG:   #[[$ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG:   #[[$ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG:   #[[$COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func.func @gemma(
// CHECK-SAME:    %[[X:[^ ]*]]: tensor<?x?xbf16>, %[[W:[^ ]*]]: tensor<?xf16>, %[[Y:[^ ]*]]: tensor<?x?xbf16>
// CHECK:         %[[ZERO:.*]] = linalg.fill {{.*}} -> tensor<?xf32>
// CHECK:         %[[SUM:.*]] = linalg.generic {indexing_maps = [#[[$ALL]], #[[$ROW]]], iterator_types = ["parallel", "reduction"]} ins(%[[X]] : {{.*}}) outs(%[[ZERO]] :
// CHECK:           %[[X1:.*]] = arith.extf
// CHECK-NEXT:      %[[SQ:.*]] = arith.mulf %[[X1]], %[[X1]]
// CHECK-NEXT:      %[[ADD:.*]] = arith.addf %{{.*}}, %[[SQ]]
// CHECK-NEXT:      linalg.yield %[[ADD]]
// CHECK:         %[[N:.*]] = arith.sitofp %{{.*}} : i32 to f32
// CHECK:         %[[RSTD:.*]] = linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%[[SUM]] :
// CHECK:           %[[MEAN:.*]] = arith.divf %{{.*}}, %[[N]]
// CHECK-NEXT:      %[[MS:.*]] = arith.addf %[[MEAN]], %{{.*}}
// CHECK-NEXT:      %[[INV:.*]] = math.rsqrt %[[MS]]
// CHECK-NEXT:      linalg.yield %[[INV]]
// CHECK:         %[[RES:.*]] = linalg.generic {indexing_maps = [#[[$ALL]], #[[$ROW]], #[[$COLUMN]], #[[$ALL]]], iterator_types = ["parallel", "parallel"]} ins(%[[X]], %[[RSTD]], %[[W]] : {{.*}}) outs(%[[Y]] :
// CHECK-NEXT:    ^bb0(%[[XI:.*]]: bf16, %[[RI:.*]]: f{{[0-9]+}}, %[[WI:.*]]: f16,
// CHECK-NEXT:      %[[X2:.*]] = arith.extf %[[XI]]
// CHECK-NEXT:      %[[XHAT:.*]] = arith.mulf %[[X2]], %[[RI]]
// CHECK-NEXT:      %[[W1:.*]] = arith.extf %[[WI]]
// CHECK-NEXT:      %[[Y1:.*]] = arith.mulf %[[XHAT]], %[[W1]]
// CHECK-NEXT:        %[[Y2:.*]] = arith.truncf %[[Y1]] : f32 to bf16
// CHECK-NEXT:      linalg.yield %[[Y2]]
// CHECK:         return %[[RES]]
func.func @gemma(%x: tensor<?x?xbf16>, %w: tensor<?xf16>, %y: tensor<?x?xbf16>)
    -> tensor<?x?xbf16> {
  %0 = rmsnorm.forward input(%x : tensor<?x?xbf16>) weight(%w : tensor<?xf16>)
      output(%y : tensor<?x?xbf16>) eps = 1.0 -> tensor<?x?xbf16>
  return %0 : tensor<?x?xbf16>
}

// llama: x * rstd is rounded to x's type, f16, y to its own, bf16.

// CHECK-LABEL: func.func @llama(
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]}
// CHECK:           %[[XHAT:.*]] = arith.mulf
// CHECK-NEXT:      %[[T:.*]] = arith.truncf %[[XHAT]] : f{{32|64}} to f16
// CHECK-NEXT:      %[[E:.*]] = arith.extf %[[T]] : f16 to f{{32|64}}
// CHECK:           arith.mulf %[[E]], %{{.*}}
// CHECK-NEXT:      arith.truncf %{{.*}} : f{{32|64}} to bf16
func.func @llama(%x: tensor<4x8xf16>, %w: tensor<8xf32>, %y: tensor<4x8xbf16>)
    -> tensor<4x8xbf16> {
  %0 = rmsnorm.forward input(%x : tensor<4x8xf16>) weight(%w : tensor<8xf32>)
      output(%y : tensor<4x8xbf16>) eps = 1.0 casting = llama -> tensor<4x8xbf16>
  return %0 : tensor<4x8xbf16>
}

// none: square, mean, mean + eps, rstd, xhat, w', y: each is rounded; the sum is
// not. The row statistic of a single row has no dimension.

// CHECK-LABEL: func.func @none(
// CHECK-SAME:    %{{[^ ]*}}: tensor<8xbf16>, %{{[^ ]*}}: tensor<8xf32>, %[[Y:[^ ]*]]: tensor<8xf32>, %[[R:[^ ]*]]: tensor<f32>
// CHECK:         linalg.generic {{.*}} iterator_types = ["reduction"]}
// CHECK:           %[[SQ:.*]] = arith.mulf
// CHECK-NEXT:      %[[SQT:.*]] = arith.truncf %[[SQ]] {{.*}} to bf16
// CHECK-NEXT:      %[[SQE:.*]] = arith.extf %[[SQT]]
// CHECK-NEXT:      %[[ADD:.*]] = arith.addf %{{.*}}, %[[SQE]]
// CHECK-NEXT:      linalg.yield %[[ADD]]
// CHECK:         linalg.generic {{.*}} iterator_types = []}
// CHECK-SAME:      outs(%{{.*}}, %[[R]] :
// N is static: a product with 1/N.
// CHECK:           arith.mulf %{{.*}}, %cst
// CHECK-NEXT:      arith.truncf {{.*}} to bf16
// CHECK-NEXT:      arith.extf
// CHECK-NEXT:      arith.addf
// CHECK-NEXT:      arith.truncf {{.*}} to bf16
// CHECK-NEXT:      arith.extf
// CHECK-NEXT:      math.rsqrt
// CHECK-NEXT:      arith.truncf {{.*}} to bf16
// CHECK-NEXT:      %[[RSTD:.*]] = arith.extf
// CHECK-NEXT:        linalg.yield %[[RSTD]], %[[RSTD]] : f32, f32
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel"]} {{.*}} outs(%[[Y]] :
// CHECK:           arith.mulf
// CHECK-NEXT:      arith.truncf {{.*}} to bf16
// CHECK:           arith.addf
// CHECK-NEXT:      arith.truncf {{.*}} to bf16
// CHECK:           arith.mulf
// CHECK-NEXT:      arith.truncf {{.*}} to bf16
// CHECK-NEXT:      arith.extf
func.func @none(%x: tensor<8xbf16>, %w: tensor<8xf32>, %y: tensor<8xf32>,
                %r: tensor<f32>) -> (tensor<8xf32>, tensor<f32>) {
  %0:2 = rmsnorm.forward input(%x : tensor<8xbf16>) weight(%w : tensor<8xf32>)
      output(%y : tensor<8xf32>) rstd(%r : tensor<f32>) eps = 1.0 offset = 1.0
      casting = none -> tensor<8xf32>, tensor<f32>
  return %0#0, %0#1 : tensor<8xf32>, tensor<f32>
}

// The backward: sum of g * xhat along the row, dx, and the sum over rows, which
// stands in dweight where that is f32.

// CHECK-LABEL: func.func @backward(
// CHECK-SAME:    %[[DY:[^ ]*]]: tensor<?x8xbf16>, %[[X:[^ ]*]]: tensor<?x8xbf16>, %[[W:[^ ]*]]: tensor<8xbf16>, %[[R:[^ ]*]]: tensor<?xf32>, %[[DX:[^ ]*]]: tensor<?x8xbf16>, %[[DW:[^ ]*]]: tensor<8xf32>
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[DY]], %[[X]],
// The sum over rows comes first: dx may take the place of what it reads.
// CHECK:         %[[ZERO:.*]] = linalg.fill {{.*}} outs(%[[DW]] :
// CHECK:         %[[SUM:.*]] = linalg.generic {indexing_maps = [{{.*}}, #[[$COLUMN]]], iterator_types = ["reduction", "parallel"]}
// CHECK-SAME:      outs(%[[ZERO]] : tensor<8xf32>)
// The rounded xhat, as autograd has it.
// CHECK:           %[[XHAT2:.*]] = arith.mulf
// CHECK-NEXT:      %[[T:.*]] = arith.truncf %[[XHAT2]] {{.*}} to bf16
// CHECK-NEXT:      %[[E:.*]] = arith.extf %[[T]]
// CHECK:           arith.mulf %{{.*}}, %[[E]]
// CHECK:         %[[DXR:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} {{.*}} outs(%[[DX]] :
// CHECK:           %[[G:.*]] = arith.mulf
// CHECK:           %[[XHAT:.*]] = arith.mulf
// CHECK-NEXT:      %[[ALONG:.*]] = arith.mulf %[[XHAT]], %{{.*}}
// CHECK-NEXT:      %[[REST:.*]] = arith.subf %[[G]], %[[ALONG]]
// CHECK-NEXT:      %[[DX1:.*]] = arith.mulf %[[REST]], %{{.*}}
// CHECK-NEXT:      %[[DX2:.*]] = arith.truncf %[[DX1]]
// CHECK-NEXT:      linalg.yield %[[DX2]]
// CHECK:         return %[[DXR]], %[[SUM]]
func.func @backward(%dy: tensor<?x8xbf16>, %x: tensor<?x8xbf16>,
    %w: tensor<8xbf16>, %r: tensor<?xf32>, %dx: tensor<?x8xbf16>,
    %dw: tensor<8xf32>) -> (tensor<?x8xbf16>, tensor<8xf32>) {
  %0:2 = rmsnorm.backward dy(%dy : tensor<?x8xbf16>) input(%x : tensor<?x8xbf16>)
      weight(%w : tensor<8xbf16>) rstd(%r : tensor<?xf32>)
      dx(%dx : tensor<?x8xbf16>) dweight(%dw : tensor<8xf32>) eps = 1.0
      casting = llama -> tensor<?x8xbf16>, tensor<8xf32>
  return %0#0, %0#1 : tensor<?x8xbf16>, tensor<8xf32>
}
