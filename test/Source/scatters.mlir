// RUN: norm-opt %s --pass-pipeline='builtin.module(func.func(rmsnorm-generalize-gathers{scatters-only}))' | FileCheck %s
// RUN: norm-opt %s --pass-pipeline='builtin.module(func.func(rmsnorm-generalize-gathers))' | FileCheck %s
// RUN: norm-opt %s --pass-pipeline='builtin.module(func.func(rmsnorm-generalize-gathers),rmsnorm-decompose{scatters-only})' | FileCheck %s --check-prefix=LOOPS

// Each index is an operand of its own, dimensions of size 1 are dropped.
// CHECK-LABEL: func.func @scatter(
// CHECK-SAME:    %[[X:.*]]: tensor<?x1x1x64xf32>, %[[C:.*]]: tensor<?x16x64xf32>, %[[I:.*]]: tensor<?x2xi32>
// CHECK-DAG:     %[[A:.*]] = tensor.extract_slice %[[I]][0, 0] [%{{.*}}, 1] [1, 1] : tensor<?x2xi32> to tensor<?xi32>
// CHECK-DAG:     %[[B:.*]] = tensor.extract_slice %[[I]][0, 1] [%{{.*}}, 1] [1, 1] : tensor<?x2xi32> to tensor<?xi32>
// CHECK:         %[[S:.*]] = tensor.extract_slice %[[X]][0, 0, 0, 0] [%{{.*}}, 1, 1, 64] [1, 1, 1, 1] : tensor<?x1x1x64xf32> to tensor<?x64xf32>
// CHECK:         %[[R:.*]] = rmsnorm.scatter %[[S]] into %[[C]] at(%[[A]], %[[B]] : tensor<?xi32>, tensor<?xi32>) dims [0, 1] {rmsnorm.elementwise = "tensor.scatter"} : tensor<?x64xf32> into tensor<?x16x64xf32>
// CHECK:         return %[[R]]

// A slice is stored as often as all its indices are those of an element: once or
// never.
// LOOPS-LABEL: func.func @scatter
// LOOPS:         scf.for %[[T:.*]] = %{{.*}} iter_args(%[[D:.*]] = %{{.*}}) -> (tensor<?x16x64xf32>)
// LOOPS:           tensor.extract %{{.*}}[%[[T]]] : tensor<?xi32>
// LOOPS:           %[[I0:.*]] = arith.index_cast
// LOOPS:           arith.muli
// LOOPS:           tensor.extract %{{.*}}[%[[T]]] : tensor<?xi32>
// LOOPS:           %[[I1:.*]] = arith.index_cast
// LOOPS:           %[[N:.*]] = arith.muli
// LOOPS:           scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[E:.*]] = %[[D]])
// LOOPS:             %[[O:.*]] = tensor.extract_slice %{{.*}}[%[[T]], 0] [1, 64] [1, 1] : tensor<?x64xf32> to tensor<64xf32>
// LOOPS:             %[[N:.*]] = tensor.insert_slice %[[O]] into %[[E]][%[[I0]], %[[I1]], 0] [1, 1, 64] [1, 1, 1]
// LOOPS:             scf.yield %[[N]]
// LOOPS-NOT:     scatter
func.func @scatter(%x: tensor<?x1x1x64xf32>, %cache: tensor<?x16x64xf32>, %i: tensor<?x2xi32>) -> tensor<?x16x64xf32> {
  %r = tensor.scatter %x into %cache[%i] scatter_dims([0, 1]) unique : (tensor<?x1x1x64xf32>, tensor<?x16x64xf32>, tensor<?x2xi32>) -> tensor<?x16x64xf32>
  return %r : tensor<?x16x64xf32>
}
