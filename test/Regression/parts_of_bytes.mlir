// RUN: norm-opt %s --rmsnorm-tensor-half --split-input-file --verify-diagnostics

// Elements of part of a byte in memory divided by zero in the selection.
func.func @i4(%x: tensor<?x64xf32>, %e: tensor<?x64xf32>, %q0: tensor<?x64xi4>) -> (tensor<?x64xf32>, tensor<?x64xi4>) {
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<?x64xf32>) outs(%q0 : tensor<?x64xi4>) {
  ^bb0(%a: f32, %o: i4):
    // expected-error @below {{'arith.fptosi' op expected i1, i8, i16, i32 or i64, got 'i4'}}
    %c = arith.fptosi %a : f32 to i4
    linalg.yield %c : i4
  } -> tensor<?x64xi4>
  return %y, %q : tensor<?x64xf32>, tensor<?x64xi4>
}

// -----

// Two numbers of f4 are a byte: rows are of whole bytes, at which vectors begin.
func.func @f4_columns(%x: tensor<?x40xf32>, %e: tensor<?x40xf32>, %q0: tensor<?x40xf4E2M1FN>) -> (tensor<?x40xf32>, tensor<?x40xf4E2M1FN>) {
  %y = rmsnorm.forward input(%x : tensor<?x40xf32>) output(%e : tensor<?x40xf32>) eps = 1.0e-5 -> tensor<?x40xf32>
  // expected-error @below {{it writes 'tensor<?x40xf4E2M1FN>', of whose elements two are a byte, in rows of no multiple of 16 columns}}
  %q = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<?x40xf32>) outs(%q0 : tensor<?x40xf4E2M1FN>) {
  ^bb0(%a: f32, %o: f4E2M1FN):
    %c = arith.truncf %a : f32 to f4E2M1FN
    linalg.yield %c : f4E2M1FN
  } -> tensor<?x40xf4E2M1FN>
  return %y, %q : tensor<?x40xf32>, tensor<?x40xf4E2M1FN>
}

// -----

func.func @f4_read(%x: tensor<?x24xf4E2M1FN>, %e: tensor<?x24xf32>) -> tensor<?x24xf32> {
  // expected-error @below {{it reads 'tensor<?x24xf4E2M1FN>', of whose elements two are a byte, in rows of no multiple of 16 columns}}
  %h = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x24xf4E2M1FN>) outs(%e : tensor<?x24xf32>) {
  ^bb0(%a: f4E2M1FN, %o: f32):
    %c = arith.extf %a : f4E2M1FN to f32
    linalg.yield %c : f32
  } -> tensor<?x24xf32>
  %y = rmsnorm.forward input(%h : tensor<?x24xf32>) output(%e : tensor<?x24xf32>) eps = 1.0e-5 -> tensor<?x24xf32>
  return %y : tensor<?x24xf32>
}

// -----

func.func @f4_row(%x: tensor<?x64xf32>, %e: tensor<?x64xf32>, %s: tensor<?xf4E2M1FN>) -> tensor<?x64xf32> {
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  // expected-error @below {{it reads 'tensor<?xf4E2M1FN>', of whose elements two are a byte, one for several columns}}
  %h = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%y, %s : tensor<?x64xf32>, tensor<?xf4E2M1FN>) outs(%e : tensor<?x64xf32>) {
  ^bb0(%a: f32, %b: f4E2M1FN, %o: f32):
    %c = arith.extf %b : f4E2M1FN to f32
    %m = arith.mulf %a, %c : f32
    linalg.yield %m : f32
  } -> tensor<?x64xf32>
  return %h : tensor<?x64xf32>
}

// -----

func.func @i2(%x: tensor<?x64xf32>, %e: tensor<?x64xf32>, %q0: tensor<?x64xi2>) -> (tensor<?x64xf32>, tensor<?x64xi2>) {
  %y = rmsnorm.forward input(%x : tensor<?x64xf32>) output(%e : tensor<?x64xf32>) eps = 1.0e-5 -> tensor<?x64xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<?x64xf32>) outs(%q0 : tensor<?x64xi2>) {
  ^bb0(%a: f32, %o: i2):
    // expected-error @below {{'arith.fptosi' op expected i1, i8, i16, i32 or i64, got 'i2'}}
    %c = arith.fptosi %a : f32 to i2
    linalg.yield %c : i2
  } -> tensor<?x64xi2>
  return %y, %q : tensor<?x64xf32>, tensor<?x64xi2>
}
