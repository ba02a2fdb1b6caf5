// A tuning file that cannot be meant is refused; file and record are named.
// RUN: rm -rf %t && split-file %s %t
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/truncated.json 2>&1 | FileCheck %s --check-prefix=TRUNCATED
// TRUNCATED: error: {{.*}}truncated.json: expected the JSON of a tuning file: [2:0, byte={{[0-9]+}}]: Expected object key
// RUN: %python -c "print('[' * 100000)" > %t/deep.json
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/deep.json 2>&1 | FileCheck %s --check-prefix=DEEP
// DEEP: error: {{.*}}deep.json: expected the JSON of a tuning file: arrays or objects are nested more than 16 deep
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/array.json 2>&1 | FileCheck %s --check-prefix=ARRAY
// ARRAY: error: {{.*}}array.json: expected the JSON of a tuning file: expected object
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/empty.json 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: error: {{.*}}empty.json: expected the JSON of a tuning file: {{.*}}Unexpected EOF
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/version.json 2>&1 | FileCheck %s --check-prefix=VERSION
// VERSION: error: {{.*}}version.json: expected the JSON of a tuning file: expected 1, the only version this compiler reads at tuning file.version
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/no_records.json 2>&1 | FileCheck %s --check-prefix=NO_RECORDS
// NO_RECORDS: error: {{.*}}no_records.json: expected the JSON of a tuning file: expected array at tuning file.records
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/top_field.json 2>&1 | FileCheck %s --check-prefix=TOP_FIELD
// TOP_FIELD: error: {{.*}}top_field.json: expected the JSON of a tuning file: unknown field at tuning file.chip
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/not_object.json 2>&1 | FileCheck %s --check-prefix=NOT_OBJECT
// NOT_OBJECT: error: {{.*}}not_object.json: expected the JSON of a tuning file: expected object at tuning file.records[0]
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/field.json 2>&1 | FileCheck %s --check-prefix=FIELD
// FIELD: error: {{.*}}field.json: expected the JSON of a tuning file: unknown field at tuning file.records[1].seconds
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/missing.json 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: {{.*}}missing.json: expected the JSON of a tuning file: missing value at tuning file.records[0].program
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/no_rows.json 2>&1 | FileCheck %s --check-prefix=NO_ROWS
// NO_ROWS: error: {{.*}}no_rows.json: expected the JSON of a tuning file: missing value at tuning file.records[0].rows
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/type.json 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: {{.*}}type.json: expected the JSON of a tuning file: expected string at tuning file.records[0].target
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/time.json 2>&1 | FileCheck %s --check-prefix=TIME
// TIME: error: {{.*}}time.json: expected the JSON of a tuning file: expected number at tuning file.records[0].microseconds
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/rows.json 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: error: {{.*}}rows.json: expected the JSON of a tuning file: expected [first, last] with 0 <= first <= last, or [first, null] at tuning file.records[0].rows
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/rows_fraction.json 2>&1 | FileCheck %s --check-prefix=ROWS_FRACTION
// ROWS_FRACTION: error: {{.*}}rows_fraction.json: expected the JSON of a tuning file: expected [first, last]
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/rows_huge.json 2>&1 | FileCheck %s --check-prefix=ROWS_HUGE
// ROWS_HUGE: error: {{.*}}rows_huge.json: expected the JSON of a tuning file: expected [first, last]
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/rows_one.json 2>&1 | FileCheck %s --check-prefix=ROWS_ONE
// ROWS_ONE: error: {{.*}}rows_one.json: expected the JSON of a tuning file: expected [first, last]
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/facts.json 2>&1 | FileCheck %s --check-prefix=FACTS
// FACTS: error: {{.*}}facts.json: record 0: expected program to be like 'columns=1,{{.*}}', got 'columns=65536': tune again with this version
// RUN: sed 's/single_row=0/single_row=no/' %t/schedule.json > %t/value.json
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/value.json 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: error: {{.*}}value.json: record 0: expected program to be like 'columns=1,{{.*}}', got '{{.*}},single_row=no,{{.*}}': tune again with this version
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/schedule.json 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// SCHEDULE: error: {{.*}}schedule.json: record 0: expected schedule to be a #rmsnorm.schedule of this version, got '#rmsnorm.schedule<threads = 3>': {{.*}}threads
// RUN: sed 's/threads = 3/threads_per_row = 64, vector_width = 8, pdl = true/' %t/schedule.json > %t/pdl.json
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/pdl.json 2>&1 | FileCheck %s --check-prefix=PDL
// PDL: error: {{.*}}pdl.json: record 0: expected schedule to be a #rmsnorm.schedule of this version, got '{{.*}}': expected a field of the schedule ({{.*}}), got 'pdl'
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/other_attribute.json 2>&1 | FileCheck %s --check-prefix=OTHER_ATTRIBUTE
// OTHER_ATTRIBUTE: error: {{.*}}other_attribute.json: record 0: expected schedule to be a #rmsnorm.schedule of this version, got 'unit'
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/illegal.json 2>&1 | FileCheck %s --check-prefix=ILLEGAL
// ILLEGAL: error: {{.*}}illegal.json: record 0: expected schedule {{.*}}: expected vector_width to be a power of two up to 16, got 3
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/overlap.json 2>&1 | FileCheck %s --check-prefix=OVERLAP
// OVERLAP: error: {{.*}}overlap.json: record 1: expected rows that no other record of this target and program is for, got some of {{.*}}overlap.json: record 0
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/unfit.json 2>&1 | FileCheck %s --check-prefix=UNFIT
// UNFIT: error: 'rmsnorm.rows' op schedule: {{.*}}unfit.json: record 0: expected rows in registers to take at most half of a thread's 256 registers on sm_90, got {{[0-9]+}}{{$}}
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=%t/none.json 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: {{.*}}none.json: cannot read the tuning file: No such file
// A device without end, not read to its end.
// RUN: not norm-opt %t/in.mlir --rmsnorm-attach-target=target=sm_90 --rmsnorm-select-schedule=tuning=/dev/zero 2>&1 | FileCheck %s --check-prefix=ENDLESS
// ENDLESS: error: /dev/zero: expected a regular file of at most 67108864 bytes as tuning file

//--- in.mlir
func.func @wide(%x: memref<?x65536xbf16>, %y: memref<?x65536xbf16>, %m: index) {
  rmsnorm.rows sizes [%m] columns(65536) buffers(read %x : memref<?x65536xbf16>, write %y : memref<?x65536xbf16>) {
  ^bb0(%M: index, %X: memref<?x65536xbf16>, %Y: memref<?x65536xbf16>):
    rmsnorm.tiles body {
    ^bb0(%t: index):
      %0 = rmsnorm.tile_load tile %X[%t] : memref<?x65536xbf16> -> vector<1x65536xbf16>
      %1 = arith.extf %0 : vector<1x65536xbf16> to vector<1x65536xf32>
      %2 = rmsnorm.row_reduce add(%1) : vector<1x65536xf32> -> vector<1x1xf32>
      %3 = vector.broadcast %2 : vector<1x1xf32> to vector<1x65536xf32>
      %4 = arith.mulf %1, %3 : vector<1x65536xf32>
      %5 = arith.truncf %4 : vector<1x65536xf32> to vector<1x65536xbf16>
      rmsnorm.tile_store tile %5, %Y[%t] : vector<1x65536xbf16>, memref<?x65536xbf16>
      rmsnorm.yield
    }
    rmsnorm.yield
  }
  return
}
//--- truncated.json
{"format": "rmsnorm-tuning", "version": 1,
//--- array.json
[]
//--- empty.json

//--- version.json
{"format": "rmsnorm-tuning", "version": 2, "records": [
  
]}
//--- no_records.json
{"format": "rmsnorm-tuning", "version": 1, "records": {}}
//--- top_field.json
{"format": "rmsnorm-tuning", "version": 1, "chip": "sm_90", "records": [
  
]}
//--- not_object.json
{"format": "rmsnorm-tuning", "version": 1, "records": [
  3
]}
//--- field.json
{"format": "rmsnorm-tuning", "version": 1, "records": [
  {"target": "sm_90", "program": "columns=65536,dynamic_columns=0,narrowest_bits=16,live_bits_per_column=16,loaded_bits_per_column=16,stored_bits_per_column=16,column_operand_bits=0,shared_bits_per_column=0,wide_bits_per_column=0,reductions=1,column_sums=0,sums_narrowest_bits=32,independent_sums=0,single_row=0,reduced_values=1,group_reductions=0,operations_before=1,operations_after=2,conversions_before=1,conversions_after=1,integer_conversions=0,float4_conversions=0,functions_before=0,functions_after=0,repeated_functions=0,group_columns=0,part=0,pairs=0", "rows": [0, null], "schedule": "#rmsnorm.schedule<threads_per_row = 1024, vector_width = 8, cache = reload>"},
  {"target": "sm_90", "program": "columns=65536,dynamic_columns=0,narrowest_bits=16,live_bits_per_column=16,loaded_bits_per_column=16,stored_bits_per_column=16,column_operand_bits=0,shared_bits_per_column=0,wide_bits_per_column=0,reductions=1,column_sums=0,sums_narrowest_bits=32,independent_sums=0,single_row=0,reduced_values=1,group_reductions=0,operations_before=1,operations_after=2,conversions_before=1,conversions_after=1,integer_conversions=0,float4_conversions=0,functions_before=0,functions_after=0,repeated_functions=0,group_columns=0,part=0,pairs=0", "rows": [0, null], "schedule": "#rmsnorm.schedule<threads_per_row = 1024, vector_width = 8, cache = reload>", "seconds": 3}
]}
//--- missing.json
{"format": "rmsnorm-tuning", "version": 1, "records": [
  {"target": "sm_90", "rows": [0, null], "schedule": "#rmsnorm.schedule<threads_per_row = 1024, vector_width = 8, cache = reload>"}
]}
//--- no_rows.json
{"format": "rmsnorm-tuning", "version": 1, "records": [
  {"target": "sm_90", "program": "columns=65536,dynamic_columns=0,narrowest_bits=16,live_bits_per_column=16,loaded_bits_per_column=16,stored_bits_per_column=16,column_operand_bits=0,shared_bits_per_column=0,wide_bits_per_column=0,reductions=1,column_sums=0,sums_narrowest_bits=32,independent_sums=0,single_row=0,reduced_values=1,group_reductions=0,operations_before=1,operations_after=2,conversions_before=1,conversions_after=1,integer_conversions=0,float4_conversions=0,functions_before=0,functions_after=0,repeated_functions=0,group_columns=0,part=0,pairs=0", "schedule": "#rmsnorm.schedule<threads_per_row = 1024, vector_width = 8, cache = reload>"}
]}
//--- type.json
{"format": "rmsnorm-tuning", "version": 1, "records": [
  {"target": 90, "program": "columns=65536,dynamic_columns=0,narrowest_bits=16,live_bits_per_column=16,loaded_bits_per_column=16,stored_bits_per_column=16,column_operand_bits=0,shared_bits_per_column=0,wide_bits_per_column=0,reductions=1,column_sums=0,sums_narrowest_bits=32,independent_sums=0,single_row=0,reduced_values=1,group_reductions=0,operations_before=1,operations_after=2,conversions_before=1,conversions_after=1,integer_conversions=0,float4_conversions=0,functions_before=0,functions_after=0,repeated_functions=0,group_columns=0,part=0,pairs=0", "rows": [0, null], "schedule": "#rmsnorm.schedule<threads_per_row = 1024, vector_width = 8, cache = reload>"}
]}
//--- time.json
{"format": "rmsnorm-tuning", "version": 1, "records": [
  {"target": "sm_90", "program": "columns=65536,dynamic_columns=0,narrowest_bits=16,live_bits_per_column=16,loaded_bits_per_column=16,stored_bits_per_column=16,column_operand_bits=0,shared_bits_per_column=0,wide_bits_per_column=0,reductions=1,column_sums=0,sums_narrowest_bits=32,independent_sums=0,single_row=0,reduced_values=1,group_reductions=0,operations_before=1,operations_after=2,conversions_before=1,conversions_after=1,integer_conversions=0,float4_conversions=0,functions_before=0,functions_after=0,repeated_functions=0,group_columns=0,part=0,pairs=0", "rows": [0, null], "schedule": "#rmsnorm.schedule<threads_per_row = 1024, vector_width = 8, cache = reload>", "microseconds": "fast"}
]}
//--- rows.json
{"format": "rmsnorm-tuning", "version": 1, "records": [
  {"target": "sm_90", "program": "columns=65536,dynamic_columns=0,narrowest_bits=16,live_bits_per_column=16,loaded_bits_per_column=16,stored_bits_per_column=16,column_operand_bits=0,shared_bits_per_column=0,wide_bits_per_column=0,reductions=1,column_sums=0,sums_narrowest_bits=32,independent_sums=0,single_row=0,reduced_values=1,group_reductions=0,operations_before=1,operations_after=2,conversions_before=1,conversions_after=1,integer_conversions=0,float4_conversions=0,functions_before=0,functions_after=0,repeated_functions=0,group_columns=0,part=0,pairs=0", "rows": [16, 1], "schedule": "#rmsnorm.schedule<threads_per_row = 1024, vector_width = 8, cache = reload>"}
]}
//--- rows_fraction.json
{"format": "rmsnorm-tuning", "version": 1, "records": [
  {"target": "sm_90", "program": "columns=65536,dynamic_columns=0,narrowest_bits=16,live_bits_per_column=16,loaded_bits_per_column=16,stored_bits_per_column=16,column_operand_bits=0,shared_bits_per_column=0,wide_bits_per_column=0,reductions=1,column_sums=0,sums_narrowest_bits=32,independent_sums=0,single_row=0,reduced_values=1,group_reductions=0,operations_before=1,operations_after=2,conversions_before=1,conversions_after=1,integer_conversions=0,float4_conversions=0,functions_before=0,functions_after=0,repeated_functions=0,group_columns=0,part=0,pairs=0", "rows": [0.5, 1], "schedule": "#rmsnorm.schedule<threads_per_row = 1024, vector_width = 8, cache = reload>"}
]}
//--- rows_huge.json
{"format": "rmsnorm-tuning", "version": 1, "records": [
  {"target": "sm_90", "program": "columns=65536,dynamic_columns=0,narrowest_bits=16,live_bits_per_column=16,loaded_bits_per_column=16,stored_bits_per_column=16,column_operand_bits=0,shared_bits_per_column=0,wide_bits_per_column=0,reductions=1,column_sums=0,sums_narrowest_bits=32,independent_sums=0,single_row=0,reduced_values=1,group_reductions=0,operations_before=1,operations_after=2,conversions_before=1,conversions_after=1,integer_conversions=0,float4_conversions=0,functions_before=0,functions_after=0,repeated_functions=0,group_columns=0,part=0,pairs=0", "rows": [0, 1e+30], "schedule": "#rmsnorm.schedule<threads_per_row = 1024, vector_width = 8, cache = reload>"}
]}
//--- rows_one.json
{"format": "rmsnorm-tuning", "version": 1, "records": [
  {"target": "sm_90", "program": "columns=65536,dynamic_columns=0,narrowest_bits=16,live_bits_per_column=16,loaded_bits_per_column=16,stored_bits_per_column=16,column_operand_bits=0,shared_bits_per_column=0,wide_bits_per_column=0,reductions=1,column_sums=0,sums_narrowest_bits=32,independent_sums=0,single_row=0,reduced_values=1,group_reductions=0,operations_before=1,operations_after=2,conversions_before=1,conversions_after=1,integer_conversions=0,float4_conversions=0,functions_before=0,functions_after=0,repeated_functions=0,group_columns=0,part=0,pairs=0", "rows": 7, "schedule": "#rmsnorm.schedule<threads_per_row = 1024, vector_width = 8, cache = reload>"}
]}
//--- facts.json
{"format": "rmsnorm-tuning", "version": 1, "records": [
  {"target": "sm_90", "program": "columns=65536", "rows": [0, null], "schedule": "#rmsnorm.schedule<threads_per_row = 1024, vector_width = 8, cache = reload>"}
]}
//--- schedule.json
{"format": "rmsnorm-tuning", "version": 1, "records": [
  {"target": "sm_90", "program": "columns=65536,dynamic_columns=0,narrowest_bits=16,live_bits_per_column=16,loaded_bits_per_column=16,stored_bits_per_column=16,column_operand_bits=0,shared_bits_per_column=0,wide_bits_per_column=0,reductions=1,column_sums=0,sums_narrowest_bits=32,independent_sums=0,single_row=0,reduced_values=1,group_reductions=0,operations_before=1,operations_after=2,conversions_before=1,conversions_after=1,integer_conversions=0,float4_conversions=0,functions_before=0,functions_after=0,repeated_functions=0,group_columns=0,part=0,pairs=0", "rows": [0, null], "schedule": "#rmsnorm.schedule<threads = 3>"}
]}
//--- other_attribute.json
{"format": "rmsnorm-tuning", "version": 1, "records": [
  {"target": "sm_90", "program": "columns=65536,dynamic_columns=0,narrowest_bits=16,live_bits_per_column=16,loaded_bits_per_column=16,stored_bits_per_column=16,column_operand_bits=0,shared_bits_per_column=0,wide_bits_per_column=0,reductions=1,column_sums=0,sums_narrowest_bits=32,independent_sums=0,single_row=0,reduced_values=1,group_reductions=0,operations_before=1,operations_after=2,conversions_before=1,conversions_after=1,integer_conversions=0,float4_conversions=0,functions_before=0,functions_after=0,repeated_functions=0,group_columns=0,part=0,pairs=0", "rows": [0, null], "schedule": "unit"}
]}
//--- illegal.json
{"format": "rmsnorm-tuning", "version": 1, "records": [
  {"target": "sm_90", "program": "columns=65536,dynamic_columns=0,narrowest_bits=16,live_bits_per_column=16,loaded_bits_per_column=16,stored_bits_per_column=16,column_operand_bits=0,shared_bits_per_column=0,wide_bits_per_column=0,reductions=1,column_sums=0,sums_narrowest_bits=32,independent_sums=0,single_row=0,reduced_values=1,group_reductions=0,operations_before=1,operations_after=2,conversions_before=1,conversions_after=1,integer_conversions=0,float4_conversions=0,functions_before=0,functions_after=0,repeated_functions=0,group_columns=0,part=0,pairs=0", "rows": [0, null], "schedule": "#rmsnorm.schedule<threads_per_row = 64, vector_width = 3>"}
]}
//--- overlap.json
{"format": "rmsnorm-tuning", "version": 1, "records": [
  {"target": "sm_90", "program": "columns=65536,dynamic_columns=0,narrowest_bits=16,live_bits_per_column=16,loaded_bits_per_column=16,stored_bits_per_column=16,column_operand_bits=0,shared_bits_per_column=0,wide_bits_per_column=0,reductions=1,column_sums=0,sums_narrowest_bits=32,independent_sums=0,single_row=0,reduced_values=1,group_reductions=0,operations_before=1,operations_after=2,conversions_before=1,conversions_after=1,integer_conversions=0,float4_conversions=0,functions_before=0,functions_after=0,repeated_functions=0,group_columns=0,part=0,pairs=0", "rows": [0, 16], "schedule": "#rmsnorm.schedule<threads_per_row = 1024, vector_width = 8, cache = reload>"},
  {"target": "sm_90", "program": "columns=65536,dynamic_columns=0,narrowest_bits=16,live_bits_per_column=16,loaded_bits_per_column=16,stored_bits_per_column=16,column_operand_bits=0,shared_bits_per_column=0,wide_bits_per_column=0,reductions=1,column_sums=0,sums_narrowest_bits=32,independent_sums=0,single_row=0,reduced_values=1,group_reductions=0,operations_before=1,operations_after=2,conversions_before=1,conversions_after=1,integer_conversions=0,float4_conversions=0,functions_before=0,functions_after=0,repeated_functions=0,group_columns=0,part=0,pairs=0", "rows": [16, null], "schedule": "#rmsnorm.schedule<threads_per_row = 1024, vector_width = 8, cache = reload>"}
]}
//--- unfit.json
{"format": "rmsnorm-tuning", "version": 1, "records": [
  {"target": "sm_90", "program": "columns=65536,dynamic_columns=0,narrowest_bits=16,live_bits_per_column=16,loaded_bits_per_column=16,stored_bits_per_column=16,column_operand_bits=0,shared_bits_per_column=0,wide_bits_per_column=0,reductions=1,column_sums=0,sums_narrowest_bits=32,independent_sums=0,single_row=0,reduced_values=1,group_reductions=0,operations_before=1,operations_after=2,conversions_before=1,conversions_after=1,integer_conversions=0,float4_conversions=0,functions_before=0,functions_after=0,repeated_functions=0,group_columns=0,part=0,pairs=0", "rows": [0, 16], "schedule": "#rmsnorm.schedule<threads_per_row = 64, vector_width = 8>"}
]}
