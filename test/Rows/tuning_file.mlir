// What was measured goes before the selector's choice, for the rows it was
// measured for; overrides and schedules in the IR go before both.
// RUN: rm -rf %t && split-file %s %t
// RUN: norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="tuning=%t/good.json rows=16" | FileCheck %s --check-prefixes=CHECK,FEW
// RUN: norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="tuning=%t/good.json rows=17" | FileCheck %s --check-prefixes=CHECK,SELECTED
// RUN: norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="tuning=%t/good.json rows=100" | FileCheck %s --check-prefixes=CHECK,MORE
// RUN: norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="tuning=%t/good.json" | FileCheck %s --check-prefixes=CHECK,ANY
// The alignment is the variant's; the rest of a record stands, overrides apart.
// RUN: norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="tuning=%t/good.json alignment=1 schedule=vectors_in_flight=4" | FileCheck %s --check-prefixes=CHECK,OVERRIDDEN
// A chip's simulator takes its records unless it has some of its own; another
// chip takes none.
// RUN: norm-opt %t/in.mlir --rmsnorm-attach-target=target=sim:sm_90 --rmsnorm-select-schedule="tuning=%t/good.json rows=16" | FileCheck %s --check-prefixes=CHECK,FEW
// RUN: norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_80 --rmsnorm-select-schedule="tuning=%t/good.json rows=16" | FileCheck %s --check-prefixes=CHECK,SELECTED
// RUN: norm-opt %t/in.mlir --rmsnorm-attach-target=target=sim:sm_90 --rmsnorm-select-schedule="tuning=%t/sim.json rows=16" | FileCheck %s --check-prefixes=CHECK,SIM
// RUN: norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule="tuning=%t/sim.json rows=16" | FileCheck %s --check-prefixes=CHECK,SELECTED

// CHECK-LABEL: func.func @tuned
// FEW: #rmsnorm.schedule<row_groups = 2, threads_per_row = 96, vector_width = 8>
// SELECTED: #rmsnorm.schedule<threads_per_row = {{[0-9]+}}, vector_width = 8>
// MORE: #rmsnorm.schedule<row_groups = 16, threads_per_row = 64, vector_width = 4, cache = reload>
// ANY: #rmsnorm.schedule<threads_per_row = 256, vector_width = 8, cache = shared, cluster = 2, blocks_per_sm = 1, stages = 3>
// OVERRIDDEN: #rmsnorm.schedule<threads_per_row = 256, vector_width = 8, vectors_in_flight = 4, cache = shared, alignment = 1, cluster = 2, blocks_per_sm = 1, stages = 3>
// SIM: #rmsnorm.schedule<threads_per_row = 64, vector_width = 8>
// CHECK-LABEL: func.func @given
// CHECK: #rmsnorm.schedule<threads_per_row = 1024, vector_width = 4>

//--- in.mlir
func.func @tuned(%x: memref<?x4096xbf16>, %y: memref<?x4096xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns(4096) buffers(read %x : memref<?x4096xbf16>, write %y : memref<?x4096xbf16>) {
  ^bb0(%M: index, %X: memref<?x4096xbf16>, %Y: memref<?x4096xbf16>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x4096xbf16> -> vector<1x4096xbf16>
      rmsnorm.tile_store tile %0, %Y[%t] : vector<1x4096xbf16>, memref<?x4096xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}
func.func @given(%x: memref<?x4096xbf16>, %y: memref<?x4096xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns(4096) buffers(read %x : memref<?x4096xbf16>, write %y : memref<?x4096xbf16>) schedule(#rmsnorm.schedule<threads_per_row = 1024, vector_width = 4>) {
  ^bb0(%M: index, %X: memref<?x4096xbf16>, %Y: memref<?x4096xbf16>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x4096xbf16> -> vector<1x4096xbf16>
      rmsnorm.tile_store tile %0, %Y[%t] : vector<1x4096xbf16>, memref<?x4096xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}
//--- good.json
{"format": "rmsnorm-tuning", "version": 1, "records": [
  {"target": "sm_90", "program": "columns=4096,dynamic_columns=0,narrowest_bits=16,live_bits_per_column=0,loaded_bits_per_column=16,stored_bits_per_column=16,column_operand_bits=0,shared_bits_per_column=0,wide_bits_per_column=0,reductions=0,column_sums=0,sums_narrowest_bits=32,independent_sums=0,single_row=0,reduced_values=0,group_reductions=0,operations_before=0,operations_after=0,conversions_before=0,conversions_after=0,integer_conversions=0,float4_conversions=0,functions_before=0,functions_after=0,repeated_functions=0,group_columns=0,part=0,pairs=0", "rows": [100, 200],
   "schedule": "#rmsnorm.schedule<row_groups = 16, threads_per_row = 64, vector_width = 4, cache = reload>"},
  {"target": "sm_90", "program": "columns=4096,dynamic_columns=0,narrowest_bits=16,live_bits_per_column=0,loaded_bits_per_column=16,stored_bits_per_column=16,column_operand_bits=0,shared_bits_per_column=0,wide_bits_per_column=0,reductions=0,column_sums=0,sums_narrowest_bits=32,independent_sums=0,single_row=0,reduced_values=0,group_reductions=0,operations_before=0,operations_after=0,conversions_before=0,conversions_after=0,integer_conversions=0,float4_conversions=0,functions_before=0,functions_after=0,repeated_functions=0,group_columns=0,part=0,pairs=0", "rows": [0, 16],
   "schedule": "#rmsnorm.schedule<row_groups = 2, threads_per_row = 96, vector_width = 8>",
   "device": "NVIDIA H200", "entry": "tuned", "measured_rows": 4, "microseconds": 1.5},
  {"target": "sm_90", "program": "columns=4096,dynamic_columns=0,narrowest_bits=16,live_bits_per_column=0,loaded_bits_per_column=16,stored_bits_per_column=16,column_operand_bits=0,shared_bits_per_column=0,wide_bits_per_column=0,reductions=0,column_sums=0,sums_narrowest_bits=32,independent_sums=0,single_row=0,reduced_values=0,group_reductions=0,operations_before=0,operations_after=0,conversions_before=0,conversions_after=0,integer_conversions=0,float4_conversions=0,functions_before=0,functions_after=0,repeated_functions=0,group_columns=0,part=0,pairs=0", "rows": [5000, null],
   "schedule": "#rmsnorm.schedule<threads_per_row = 256, vector_width = 8, cache = shared, cluster = 2, blocks_per_sm = 1, stages = 3>"},
  {"target": "sm_90", "program": "columns=128,dynamic_columns=0,narrowest_bits=16,live_bits_per_column=0,loaded_bits_per_column=16,stored_bits_per_column=16,column_operand_bits=0,shared_bits_per_column=0,wide_bits_per_column=0,reductions=0,column_sums=0,sums_narrowest_bits=32,independent_sums=0,single_row=0,reduced_values=0,group_reductions=0,operations_before=0,operations_after=0,conversions_before=0,conversions_after=0,integer_conversions=0,float4_conversions=0,functions_before=0,functions_after=0,repeated_functions=0,group_columns=0,part=0,pairs=0", "rows": [0, null],
   "schedule": "#rmsnorm.schedule<row_groups = 2, threads_per_row = 16, vector_width = 8>"}
]}
//--- sim.json
{"format": "rmsnorm-tuning", "version": 1, "records": [
  {"target": "sim:sm_90", "program": "columns=4096,dynamic_columns=0,narrowest_bits=16,live_bits_per_column=0,loaded_bits_per_column=16,stored_bits_per_column=16,column_operand_bits=0,shared_bits_per_column=0,wide_bits_per_column=0,reductions=0,column_sums=0,sums_narrowest_bits=32,independent_sums=0,single_row=0,reduced_values=0,group_reductions=0,operations_before=0,operations_after=0,conversions_before=0,conversions_after=0,integer_conversions=0,float4_conversions=0,functions_before=0,functions_after=0,repeated_functions=0,group_columns=0,part=0,pairs=0", "rows": [0, 16],
   "schedule": "#rmsnorm.schedule<threads_per_row = 64, vector_width = 8>"}
]}
