// RUN: norm-opt %s --rmsnorm-outline=report=%t.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t.json
// RUN: norm-opt %s --rmsnorm-outline=drop-rest | FileCheck %s --check-prefix=REST --implicit-check-not="func.func @{{(layer|parts|loop)}}("
// RUN: norm-opt %s --rmsnorm-outline=drop-rest | norm-compile - --target=sim:sm_90,oracle --rows=24 -o %t.rmsn
// RUN: norm-run %t.rmsn --device=sim:sm_90 --rows=24
// RUN: not norm-opt %s --rmsnorm-outline=report=%t.none/report 2>&1 | FileCheck %s --check-prefix=FILE
// FILE: error: {{.*}}none/report

// A norm with what is row-wise around it, between products: what others use is a result.
// CHECK-LABEL: func.func @layer(
// CHECK:         %[[P:.*]] = linalg.matmul
// CHECK:         %[[Y:.*]]:2 = call @layer_rows(%[[P]], %arg2, %arg3) : (tensor<?x64xf32>, tensor<?x64xf32>, tensor<64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>)
// CHECK:         linalg.matmul ins(%[[Y]]#1
// CHECK:         return {{.*}}, %[[Y]]#0
// CHECK-LABEL: func.func @layer_rows(
// CHECK-SAME:    %[[P:.*]]: tensor<?x64xf32>, %[[R:.*]]: tensor<?x64xf32>, %[[W:.*]]: tensor<64xf32>)
// CHECK:         tensor.dim %[[P]]
// CHECK:         tensor.empty
// CHECK:         %[[S:.*]] = arith.addf %[[P]], %[[R]]
// CHECK:         %[[Y:.*]] = rmsnorm.forward input(%[[S]]
// CHECK:         return %[[S]], %[[Y]]
// REST: func.func @layer_rows(
// REPORT:      "function": "layer_rows"
// REPORT-NEXT: "members": [
// REPORT:        "sum"
// REPORT:        "op": "arith.addf"
// REPORT:        "norm"
// REPORT:        "op": "rmsnorm.forward"
// REPORT:      "operands": [
// REPORT:        outline.mlir:{{[0-9]+}}:{{[0-9]+}}
// REPORT-NEXT: ],
// REPORT-NEXT: "type": "tensor<?x64xf32>"
// REPORT:      "results": [
// REPORT:        "sum"
// REPORT:        "norm"
func.func @layer(%a: tensor<?x64xf32>, %b: tensor<64x64xf32>, %r: tensor<?x64xf32>, %w: tensor<64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x64xf32>
  %e = tensor.empty(%m) : tensor<?x64xf32>
  %p = linalg.matmul ins(%a, %b : tensor<?x64xf32>, tensor<64x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  %s = arith.addf %p, %r : tensor<?x64xf32> loc("sum")
  %y = rmsnorm.forward input(%s : tensor<?x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32> loc("norm")
  %q = linalg.matmul ins(%y, %b : tensor<?x64xf32>, tensor<64x64xf32>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32> loc("product")
  return %q, %s : tensor<?x64xf32>, tensor<?x64xf32>
}

// What others read a view of is a view of the call's result: nothing is computed twice.
// CHECK-LABEL: func.func @viewed(
// CHECK-NOT:     rmsnorm.forward
// CHECK:         %[[Y:.*]] = call @viewed_rows({{.*}}) : (tensor<2x?x64xf32>, tensor<64xf32>) -> tensor<2x?x64xf32>
// CHECK-NEXT:    %[[V:.*]] = tensor.collapse_shape %[[Y]]
// CHECK:         linalg.matmul ins(%[[V]]
// REPORT:      "function": "viewed_rows"
func.func @viewed(%x: tensor<2x?x64xf32>, %w: tensor<64xf32>, %b: tensor<64x64xf32>) -> tensor<?x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %m = tensor.dim %x, %c1 : tensor<2x?x64xf32>
  %e = tensor.empty(%m) : tensor<2x?x64xf32>
  %y = rmsnorm.forward input(%x : tensor<2x?x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<2x?x64xf32>) eps = 1.0e-5 -> tensor<2x?x64xf32>
  %v = tensor.collapse_shape %y [[0, 1], [2]] : tensor<2x?x64xf32> into tensor<?x64xf32>
  %n = arith.muli %m, %c2 : index
  %f = tensor.empty(%n) : tensor<?x64xf32>
  %q = linalg.matmul ins(%v, %b : tensor<?x64xf32>, tensor<64x64xf32>) outs(%f : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %q : tensor<?x64xf32>
}

// Of one row every operand has all rows: the sum is stored, not added up again from all that it is made of.
// CHECK-LABEL: func.func @single(
// CHECK:         %[[A:.*]]:2 = call @single_rows(%arg0, %arg1, {{.*}}) : ({{.*}}) -> (tensor<1x64xf32>, tensor<1x64xf32>)
// CHECK:         %[[Q:.*]] = linalg.matmul ins(%[[A]]#1
// CHECK:         call @single_rows_0(%[[A]]#0, %[[Q]], {{.*}}) : ({{.*}}) -> tensor<1x64xf32>
// REPORT:      "function": "single_rows"
func.func @single(%x: tensor<1x64xf32>, %p: tensor<1x64xf32>, %w: tensor<64xf32>, %b: tensor<64x64xf32>) -> tensor<1x64xf32> {
  %e = tensor.empty() : tensor<1x64xf32>
  %s = arith.addf %x, %p : tensor<1x64xf32>
  %y = rmsnorm.forward input(%s : tensor<1x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<1x64xf32>) eps = 1.0e-5 -> tensor<1x64xf32>
  %q = linalg.matmul ins(%y, %b : tensor<1x64xf32>, tensor<64x64xf32>) outs(%e : tensor<1x64xf32>) -> tensor<1x64xf32>
  %t = arith.addf %s, %q : tensor<1x64xf32>
  %z = rmsnorm.forward input(%t : tensor<1x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<1x64xf32>) eps = 1.0e-5 -> tensor<1x64xf32>
  return %z : tensor<1x64xf32>
}

// Two parts of a new tensor: the second one is written into what the first call gives.
// CHECK-LABEL: func.func @stack(
// CHECK-NOT:     rmsnorm.forward
// CHECK:         %[[A:.*]] = call @stack_rows{{.*}}(%arg0, %arg3)
// CHECK-NEXT:    %[[B:.*]] = call @stack_rows{{.*}}(%arg1, %arg3, %[[A]])
// CHECK-NEXT:    tensor.insert_slice %arg2 into %[[B]]
// REPORT:      "function": "stack_rows
func.func @stack(%q: tensor<8x4x64xf32>, %k: tensor<8x4x64xf32>, %v: tensor<8x4x64xf32>, %w: tensor<64xf32>, %b: tensor<768x64xf32>) -> tensor<8x64xf32> {
  %e = tensor.empty() : tensor<8x4x64xf32>
  %s = tensor.empty() : tensor<8x12x64xf32>
  %y = rmsnorm.forward input(%q : tensor<8x4x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<8x4x64xf32>) eps = 1.0e-5 -> tensor<8x4x64xf32>
  %z = rmsnorm.forward input(%k : tensor<8x4x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<8x4x64xf32>) eps = 1.0e-5 -> tensor<8x4x64xf32>
  %1 = tensor.insert_slice %y into %s[0, 0, 0] [8, 4, 64] [1, 1, 1] : tensor<8x4x64xf32> into tensor<8x12x64xf32>
  %2 = tensor.insert_slice %z into %1[0, 4, 0] [8, 4, 64] [1, 1, 1] : tensor<8x4x64xf32> into tensor<8x12x64xf32>
  %3 = tensor.insert_slice %v into %2[0, 8, 0] [8, 4, 64] [1, 1, 1] : tensor<8x4x64xf32> into tensor<8x12x64xf32>
  %c = tensor.collapse_shape %3 [[0], [1, 2]] : tensor<8x12x64xf32> into tensor<8x768xf32>
  %f = tensor.empty() : tensor<8x64xf32>
  %m = linalg.matmul ins(%c, %b : tensor<8x768xf32>, tensor<768x64xf32>) outs(%f : tensor<8x64xf32>) -> tensor<8x64xf32>
  return %m : tensor<8x64xf32>
}

// A sum over rows, which the kernel stores in the type that others convert it to.
// CHECK-LABEL: func.func @summed(
// CHECK-NEXT:    %[[S:.*]] = call @summed_rows({{.*}}) : (tensor<8x64xbf16>, tensor<64xbf16>) -> tensor<64xbf16>
// CHECK-NEXT:    return %[[S]]
// REPORT:      "function": "summed_rows"
func.func @summed(%x: tensor<8x64xbf16>, %w: tensor<64xbf16>) -> tensor<64xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x64xbf16>
  %f = tensor.empty() : tensor<64xf32>
  %g = tensor.empty() : tensor<64xbf16>
  %y = rmsnorm.forward input(%x : tensor<8x64xbf16>) weight(%w : tensor<64xbf16>) output(%e : tensor<8x64xbf16>) eps = 1.0e-5 -> tensor<8x64xbf16>
  %z = linalg.fill ins(%zero : f32) outs(%f : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%y : tensor<8x64xbf16>) outs(%z : tensor<64xf32>) {
  ^bb0(%a: bf16, %b: f32):
    %c = arith.extf %a : bf16 to f32
    %d = arith.addf %c, %b : f32
    linalg.yield %d : f32
  } -> tensor<64xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%s : tensor<64xf32>) outs(%g : tensor<64xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %c = arith.truncf %a : f32 to bf16
    linalg.yield %c : bf16
  } -> tensor<64xbf16>
  return %t : tensor<64xbf16>
}

// A part of a tensor is read and written: the views are in the function, a constant of several values is none.
// CHECK-LABEL: func.func @parts(
// CHECK:         call @parts_rows({{.*}}) : (tensor<?x3x4xf32>, tensor<4xf32>) -> tensor<?x3x4xf32>
// CHECK-LABEL: func.func @parts_rows(
// CHECK:         tensor.extract_slice %arg0[0, 1, 0]
// CHECK:         rmsnorm.forward
// CHECK:         tensor.insert_slice {{.*}} into %arg0[0, 1, 0]
// REST: func.func @parts_rows(
// REPORT:      "function": "parts_rows"
func.func @parts(%x: tensor<?x3x4xf32>) -> tensor<?x3x4xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x3x4xf32>
  %w = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %q = tensor.extract_slice %x[0, 1, 0] [%m, 1, 4] [1, 1, 1] : tensor<?x3x4xf32> to tensor<?x4xf32>
  %e = tensor.empty(%m) : tensor<?x4xf32>
  %y = rmsnorm.forward input(%q : tensor<?x4xf32>) weight(%w : tensor<4xf32>) output(%e : tensor<?x4xf32>) eps = 1.0e-5 -> tensor<?x4xf32>
  %r = tensor.insert_slice %y into %x[0, 1, 0] [%m, 1, 4] [1, 1, 1] : tensor<?x4xf32> into tensor<?x3x4xf32>
  return %r : tensor<?x3x4xf32>
}

// In a loop; the offset of the slice is none that a module knows.
// CHECK-LABEL: func.func @loop(
// CHECK:         scf.for
// CHECK:           tensor.extract_slice
// CHECK:           call @loop_rows
// CHECK-LABEL: func.func @loop_rows(
// CHECK-SAME:    %{{.*}}: tensor<2x64xf32>) -> tensor<2x64xf32>
// REST: func.func @loop_rows(
func.func @loop(%x: tensor<8x64xf32>, %y0: tensor<2x64xf32>) -> tensor<2x64xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %i = %c0 to %c8 step %c2 iter_args(%z = %y0) -> tensor<2x64xf32> {
    %s = tensor.extract_slice %x[%i, 0] [2, 64] [1, 1] : tensor<8x64xf32> to tensor<2x64xf32>
    %e = tensor.empty() : tensor<2x64xf32>
    %y = rmsnorm.forward input(%s : tensor<2x64xf32>) output(%e : tensor<2x64xf32>) eps = 1.0e-5 -> tensor<2x64xf32>
    scf.yield %y : tensor<2x64xf32>
  }
  return %r : tensor<2x64xf32>
}

// REPORT:      "refusals": [
// REPORT:        "product"
// REPORT-NEXT: ],
// REPORT-NEXT: "op": "linalg.matmul"
// REPORT-NEXT: "reason": "multiplies rows by a matrix"
// REPORT-NEXT: "what": "not tiled with the norm next to it: it"
// What computes in no function; nothing that only the functions need.
// REPORT:      "rest": [
// REPORT-NOT:  "op": "rmsnorm
// REPORT-NOT:  "op": "tensor
// REPORT:        "product"
// REPORT:        "op": "linalg.matmul"
// REPORT-NOT:  "op": "rmsnorm
