// RUN: norm-opt %s --split-input-file --verify-diagnostics --allow-unregistered-dialect

// expected-error @below {{expected slots to be a power of two from 4 to 32, got 2}}
"test.attr"() {x = #rmsnorm.exchange<slots = 2, subgroups = 1, cluster = 2>} : () -> ()

// -----

// expected-error @below {{expected slots to be a power of two from 4 to 32, got 12}}
"test.attr"() {x = #rmsnorm.exchange<slots = 12, subgroups = 1, cluster = 2>} : () -> ()

// -----

// expected-error @below {{expected values from 1 to 64, got 0}}
"test.attr"() {x = #rmsnorm.exchange<values = 0, subgroups = 1, cluster = 2>} : () -> ()

// -----

// expected-error @below {{expected subgroups from 1 to 32, got 0}}
"test.attr"() {x = #rmsnorm.exchange<subgroups = 0, cluster = 2>} : () -> ()

// -----

// A block alone has nobody to exchange with.
// expected-error @below {{expected cluster to be a power of two from 2 to 16, got 1}}
"test.attr"() {x = #rmsnorm.exchange<subgroups = 1, cluster = 1>} : () -> ()

// -----

// expected-error @below {{expected cluster to be a power of two from 2 to 16, got 6}}
"test.attr"() {x = #rmsnorm.exchange<subgroups = 1, cluster = 6>} : () -> ()

// -----

// expected-error @below {{expected cluster to be a power of two from 2 to 16, got 32}}
"test.attr"() {x = #rmsnorm.exchange<subgroups = 1, cluster = 32>} : () -> ()

// -----

// expected-error @below {{expected offset to be a multiple of 16, got 8}}
"test.attr"() {x = #rmsnorm.exchange<subgroups = 1, cluster = 2, offset = 8>} : () -> ()

// -----

func.func @publish(%x: f32, %n: i32) {
  // expected-error @below {{'rmsnorm.exchange_publish' op expected 1 to 1 values, got 2}}
  rmsnorm.exchange_publish %x, %x number(%n) subgroup(%n) <subgroups = 2, cluster = 2> : f32, f32
  return
}

// -----

func.func @read(%n: i32) -> f32 {
  // expected-error @below {{'rmsnorm.exchange_read' op expected a value number below 1, got 1}}
  %x = rmsnorm.exchange_read number(%n) publisher(%n) value(1) <subgroups = 2, cluster = 2> : f32
  return %x : f32
}
