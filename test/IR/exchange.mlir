// RUN: norm-opt %s | norm-opt | FileCheck %s
// RUN: norm-opt %s --mlir-print-op-generic | norm-opt | FileCheck %s

// CHECK-LABEL: func.func @exchange(
// CHECK-SAME:      %[[X:.+]]: f32, %[[Y:.+]]: f32, %[[N:.+]]: i32, %[[S:.+]]: i32)
func.func @exchange(%x: f32, %y: f32, %n: i32, %s: i32) -> f32 {
  // CHECK: rmsnorm.exchange_init <values = 2, subgroups = 3, cluster = 2, offset = 16>
  rmsnorm.exchange_init <slots = 4, values = 2, subgroups = 3, cluster = 2, offset = 16>
  // CHECK: rmsnorm.exchange_ready <values = 2, subgroups = 3, cluster = 2, offset = 16>
  rmsnorm.exchange_ready <values = 2, subgroups = 3, cluster = 2, offset = 16>
  // CHECK: rmsnorm.exchange_publish %[[X]], %[[Y]] number(%[[N]]) subgroup(%[[S]]) <slots = 8, values = 2, subgroups = 3, cluster = 2> : f32, f32
  rmsnorm.exchange_publish %x, %y number(%n) subgroup(%s) <slots = 8, values = 2, subgroups = 3, cluster = 2> : f32, f32
  // CHECK: rmsnorm.exchange_publish %[[X]] number
  rmsnorm.exchange_publish %x number(%n) subgroup(%s) <slots = 8, values = 2, subgroups = 3, cluster = 2> : f32
  // CHECK: rmsnorm.exchange_await number(%[[N]]) <subgroups = 3, cluster = 16>
  rmsnorm.exchange_await number(%n) <subgroups = 3, cluster = 16>
  // CHECK: rmsnorm.exchange_read number(%[[N]]) publisher(%[[S]]) value(1) <values = 2, subgroups = 3, cluster = 2> : f32
  %z = rmsnorm.exchange_read number(%n) publisher(%s) value(1) <values = 2, subgroups = 3, cluster = 2> : f32
  return %z : f32
}
