// RUN: norm-opt %s --rmsnorm-to-oracle | FileCheck %s

// Each entry by its name, from an array of pointers to descriptors (the
// arguments, then the destinations that rmsnorm-bind-arguments adds) and the
// table of the runtime's functions. All else is internal, and nothing is
// declared.

// CHECK:         llvm.mlir.global external constant @rmsnorm_oracle_abi_version(
// CHECK:         llvm.mlir.global internal @rmsnorm_oracle_functions() {{.*}} : !llvm.ptr
// CHECK-NOT:     llvm.func @
// CHECK:         llvm.func internal @_mlir_memref_to_llvm_free(
// CHECK:         llvm.func internal @_mlir_memref_to_llvm_alloc(
// CHECK:         llvm.func internal @rmsnorm_oracle_mul(%[[X:.*]]: !llvm.struct<(f64, f64)>, %[[Y:.*]]: !llvm.struct<(f64, f64)>) -> !llvm.struct<(f64, f64)>
// CHECK-NEXT:      %[[GLOBAL:.*]] = llvm.mlir.addressof @rmsnorm_oracle_functions
// CHECK-NEXT:      %[[TABLE:.*]] = llvm.load %[[GLOBAL]]
// CHECK-NEXT:      %[[SLOT:.*]] = llvm.getelementptr %[[TABLE]][2]
// CHECK-NEXT:      %[[MUL:.*]] = llvm.load %[[SLOT]]
// CHECK-NEXT:      %[[RESULT:.*]] = llvm.call %[[MUL]](%[[X]], %[[Y]])
// CHECK-NEXT:      llvm.return %[[RESULT]]
// CHECK:         llvm.func internal @entry(
// CHECK:         llvm.func internal @_mlir_ciface_entry(
// CHECK-NOT:     llvm.func @
// CHECK:         llvm.func @oracle_entry(%[[A:.*]]: !llvm.ptr, %[[F:.*]]: !llvm.ptr) {
// CHECK-NEXT:      %[[G:.*]] = llvm.mlir.addressof @rmsnorm_oracle_functions
// CHECK-NEXT:      llvm.store %[[F]], %[[G]]
// CHECK-NEXT:      %[[P0:.*]] = llvm.getelementptr %[[A]][0] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
// CHECK-NEXT:      %[[D0:.*]] = llvm.load %[[P0]]
// CHECK-NEXT:      %[[P1:.*]] = llvm.getelementptr %[[A]][1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
// CHECK-NEXT:      %[[D1:.*]] = llvm.load %[[P1]]
// CHECK-NEXT:      %[[P2:.*]] = llvm.getelementptr %[[A]][2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
// CHECK-NEXT:      %[[D2:.*]] = llvm.load %[[P2]]
// CHECK-NEXT:      llvm.call @_mlir_ciface_entry(%[[D0]], %[[D1]], %[[D2]])
// CHECK-NEXT:      llvm.return
// CHECK-NOT:     llvm.func
func.func @entry(%x: tensor<?x64xbf16>, %gate: tensor<?x64xbf16>)
    -> tensor<?x64xbf16> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x64xbf16>
  %e = tensor.empty(%m) : tensor<?x64xbf16>
  %n = rmsnorm.forward input(%x : tensor<?x64xbf16>)
      output(%e : tensor<?x64xbf16>) eps = 1.0e-05 -> tensor<?x64xbf16>
  %y = linalg.map ins(%n, %gate : tensor<?x64xbf16>, tensor<?x64xbf16>)
      outs(%e : tensor<?x64xbf16>)
    (%a: bf16, %b: bf16, %out: bf16) {
      %t = math.tanh %b : bf16
      %p = arith.mulf %a, %t : bf16
      linalg.yield %p : bf16
    }
  return %y : tensor<?x64xbf16>
}
