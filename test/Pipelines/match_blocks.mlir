// Which blocks for few rows become as large as a neighbour's, and which stay.
// RUN: norm-compile %s --target=sm_90 --ptxas= -o %t.rmsn
// RUN: norm-inspect %t.rmsn | FileCheck %s
// RUN: norm-compile %s --target=sm_90 --ptxas= --sm-margin=8 -o %t.margin.rmsn
// RUN: norm-inspect %t.margin.rmsn | FileCheck %s --check-prefix=APART
// RUN: norm-compile %s --target=sm_90 --ptxas= --schedule=vectors_in_flight=2 -o %t.given.rmsn
// RUN: norm-inspect %t.given.rmsn | FileCheck %s --check-prefix=APART
// RUN: printf '{"format": "rmsnorm-tuning", "version": 1, "records": [{"target": "sm_90", "entry": "other", "program": "columns=8,dynamic_columns=0,narrowest_bits=16,live_bits_per_column=16,loaded_bits_per_column=16,stored_bits_per_column=16,column_operand_bits=0,shared_bits_per_column=0,wide_bits_per_column=0,reductions=1,column_sums=0,sums_narrowest_bits=32,independent_sums=0,single_row=0,reduced_values=1,group_reductions=0,operations_before=2,operations_after=2,conversions_before=1,conversions_after=1,integer_conversions=0,float4_conversions=0,functions_before=0,functions_after=0,repeated_functions=0,group_columns=0,part=0,pairs=0", "rows": [0, null], "schedule": "#rmsnorm.schedule<threads_per_row = 32, vector_width = 8, unrolled = 4>", "device": "none", "measured_rows": 1, "microseconds": 1.0}]}' > %t.json
// RUN: norm-compile %s --target=sm_90 --ptxas= --tuning=%t.json -o %t.tuned.rmsn 2>%t.warning
// RUN: norm-inspect %t.tuned.rmsn | FileCheck %s
// RUN: sed 's/columns=8/columns=512/' %t.json > %t.512.json
// RUN: norm-compile %s --target=sm_90 --ptxas= --tuning=%t.512.json -o %t.512.rmsn
// RUN: norm-inspect %t.512.rmsn | FileCheck %s --check-prefix=TUNED

// CHECK-LABEL: entry pair
// CHECK: variant 0 align16_rows_le_{{[0-9]+}}
// CHECK: launch 0 pair_multi_wave_cached_g{{[0-9]+}}u1t{{[0-9]+}}v{{[48]}}f2a16_and_g{{[0-9]+}}u1t32v{{[48]}}f2a16{{(_[0-9]+)?}} of
// APART-LABEL: entry pair
// APART: variant 0 align16_rows_le_{{[0-9]+}}
// APART: launch 0 pair_multi_wave_cached_g{{[0-9]+}}u1t{{[0-9]+}}v{{[48]}}f2a16{{(_[0-9]+)?}} of
// APART: launch 1 pair_multi_wave_cached_g{{[0-9]+}}u1t{{[0-9]+}}v{{[48]}}f2a16{{(_[0-9]+)?}} of
func.func @pair(%x: tensor<?x1536xbf16>, %z: tensor<?x512xbf16>) -> (tensor<?x1536xbf16>, tensor<?x512xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x1536xbf16>
  %xe = tensor.empty(%m) : tensor<?x1536xbf16>
  %xy = rmsnorm.forward input(%x : tensor<?x1536xbf16>) output(%xe : tensor<?x1536xbf16>) eps = 1.0e-06 -> tensor<?x1536xbf16>
  %ze = tensor.empty(%m) : tensor<?x512xbf16>
  %zs = tensor.extract_slice %z[0, 0] [%m, 512] [1, 1] : tensor<?x512xbf16> to tensor<?x512xbf16>
  %zy = rmsnorm.forward input(%zs : tensor<?x512xbf16>) output(%ze : tensor<?x512xbf16>) eps = 1.0e-06 -> tensor<?x512xbf16>
  return %xy, %zy : tensor<?x1536xbf16>, tensor<?x512xbf16>
}

// A cluster is for a row, and its blocks stand in no other grid.
// CHECK-LABEL: entry large
// CHECK: launch 0 large_multi_wave_cached_g1u1t{{[0-9]+}}v8f2a16c{{[0-9]+}} of
// CHECK: launch 1 large_multi_wave_cached_g{{[0-9]+}}u1t{{[0-9]+}}v{{[48]}}f2a16{{(_[0-9]+)?}} of
func.func @large(%x: tensor<?x16384xbf16>, %z: tensor<?x512xbf16>) -> (tensor<?x16384xbf16>, tensor<?x512xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x16384xbf16>
  %xe = tensor.empty(%m) : tensor<?x16384xbf16>
  %xy = rmsnorm.forward input(%x : tensor<?x16384xbf16>) output(%xe : tensor<?x16384xbf16>) eps = 1.0e-06 -> tensor<?x16384xbf16>
  %ze = tensor.empty(%m) : tensor<?x512xbf16>
  %zs = tensor.extract_slice %z[0, 0] [%m, 512] [1, 1] : tensor<?x512xbf16> to tensor<?x512xbf16>
  %zy = rmsnorm.forward input(%zs : tensor<?x512xbf16>) output(%ze : tensor<?x512xbf16>) eps = 1.0e-06 -> tensor<?x512xbf16>
  return %xy, %zy : tensor<?x16384xbf16>, tensor<?x512xbf16>
}

// One writes what the other reads: two launches, whatever their blocks.
// CHECK-LABEL: entry dependent
// CHECK: launch 0 dependent_multi_wave_cached_g{{[0-9]+}}u1t{{[0-9]+}}v{{[48]}}f2a16{{(_[0-9]+)?}} of
// CHECK: launch 1 dependent_multi_wave_cached_g1u1t{{[0-9]+}}v{{[48]}}f2a16{{(_[0-9]+)?}} of
func.func @dependent(%x: tensor<?x1536xbf16>, %y: tensor<?x1536xbf16>) -> (tensor<?x512xbf16>, tensor<?x1536xbf16>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x1536xbf16>
  %z = tensor.extract_slice %y[0, 0] [%m, 512] [1, 1] : tensor<?x1536xbf16> to tensor<?x512xbf16>
  %ze = tensor.empty(%m) : tensor<?x512xbf16>
  %zy = rmsnorm.forward input(%z : tensor<?x512xbf16>) output(%ze : tensor<?x512xbf16>) eps = 1.0e-06 -> tensor<?x512xbf16>
  %xy = rmsnorm.forward input(%x : tensor<?x1536xbf16>) output(%y : tensor<?x1536xbf16>) eps = 1.0e-06 -> tensor<?x1536xbf16>
  return %zy, %xy : tensor<?x512xbf16>, tensor<?x1536xbf16>
}

// Static numbers of rows: few, and so many that the blocks are equal anyway.
// TUNED-LABEL: entry few
// TUNED: launch 0 few_multi_wave_cached_g1u1t{{[0-9]+}}v{{[48]}}f2a16{{(_[0-9]+)?}} of
// TUNED: launch 1 few_multi_wave_cached_g1u1t32v8f2a16n4 of
// CHECK-LABEL: entry few
// CHECK: launch 0 few_multi_wave_cached_g{{[0-9]+}}u1t{{[0-9]+}}v{{[48]}}f2a16_and_g{{[0-9]+}}u1t32v{{[48]}}f2a16{{(_[0-9]+)?}} of
func.func @few(%x: tensor<264x1536xbf16>, %z: tensor<264x512xbf16>) -> (tensor<264x1536xbf16>, tensor<264x512xbf16>) {
  %xe = tensor.empty() : tensor<264x1536xbf16>
  %xy = rmsnorm.forward input(%x : tensor<264x1536xbf16>) output(%xe : tensor<264x1536xbf16>) eps = 1.0e-06 -> tensor<264x1536xbf16>
  %ze = tensor.empty() : tensor<264x512xbf16>
  %zy = rmsnorm.forward input(%z : tensor<264x512xbf16>) output(%ze : tensor<264x512xbf16>) eps = 1.0e-06 -> tensor<264x512xbf16>
  return %xy, %zy : tensor<264x1536xbf16>, tensor<264x512xbf16>
}

// CHECK-LABEL: entry many
// CHECK: launch 0 many_multi_wave_cached_g4u1t32v8f2a16_and_g8u1t16v8f2a16{{(_[0-9]+)?}} of
func.func @many(%x: tensor<50000x896xbf16>, %g: tensor<50000x896xbf16>, %z: tensor<50000x512xbf16>) -> (tensor<50000x896xbf16>, tensor<50000x512xbf16>) {
  %e = tensor.empty() : tensor<50000x896xf32>
  %y = rmsnorm.forward input(%x : tensor<50000x896xbf16>) output(%e : tensor<50000x896xf32>) eps = 1.0e-06 -> tensor<50000x896xf32>
  %oe = tensor.empty() : tensor<50000x896xbf16>
  %o = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%y, %g : tensor<50000x896xf32>, tensor<50000x896xbf16>) outs(%oe : tensor<50000x896xbf16>) {
  ^bb0(%value: f32, %gate: bf16, %out: bf16):
    %one = arith.constant 1.0 : f32
    %wide = arith.extf %gate : bf16 to f32
    %negative = arith.negf %wide : f32
    %exp = math.exp %negative : f32
    %sum = arith.addf %exp, %one : f32
    %silu = arith.divf %wide, %sum : f32
    %product = arith.mulf %value, %silu : f32
    %narrow = arith.truncf %product : f32 to bf16
    linalg.yield %narrow : bf16
  } -> tensor<50000x896xbf16>
  %ze = tensor.empty() : tensor<50000x512xbf16>
  %zy = rmsnorm.forward input(%z : tensor<50000x512xbf16>) output(%ze : tensor<50000x512xbf16>) eps = 1.0e-06 -> tensor<50000x512xbf16>
  return %o, %zy : tensor<50000x896xbf16>, tensor<50000x512xbf16>
}
