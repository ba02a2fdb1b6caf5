// norm-run compiles .mlir files itself, chooses sizes, lays tensors out as
// asked, and takes the variant that fits.
// RUN: norm-run %s | FileCheck %s --check-prefix=DEFAULT
// DEFAULT: entry {{ *}}shape {{ *}}types
// DEFAULT-NEXT: tokens 2x151x64 {{ *}}bf16 f32 -> bf16 {{ *}}align16{{.*}} sim:sim32 {{.*}} ok
// DEFAULT-NEXT: columns 301x1000 {{ *}}f32 -> f32 {{ *}}align16_columns_le_1024{{.*}} sim:sim32 {{.*}} ok
// DEFAULT-NOT: {{.}}
// RUN: norm-run %s --device=sim:gfx942 --rows=12 --strided | FileCheck %s --check-prefix=STRIDED
// STRIDED: tokens 2x6x64 {{.*}}align16{{.*}} sim:gfx942 {{.*}} ok
// STRIDED: columns 12x1000 {{.*}}align16_columns_le_1024{{.*}} sim:gfx942 {{.*}} ok
// RUN: norm-run %s --entry=tokens --unaligned | FileCheck %s --check-prefix=UNALIGNED
// UNALIGNED: tokens 2x151x64 {{.*}}element{{.*}} ok
// UNALIGNED-NOT: columns
// RUN: norm-run %s --entry columns --dim=s0=3 --dim=s1=7 | FileCheck %s --check-prefix=DIMS
// DIMS: columns 3x7 {{.*}}narrow_columns_le_64{{.*}}{{.*}} ok
// RUN: norm-run %s --entry=columns --rows=0 --csv | FileCheck %s --check-prefix=CSV
// CSV: entry,shape,types,variant,"schedule (rows, threads)",device,ulp,undecided,ms,GB/s,hash,result
// CSV-NEXT: columns,0x1000,f32 -> f32,align16_columns_le_1024{{[a-z0-9_]*}},"{{.*}}",sim:sim32,0,0.0000,{{.*}},ok

// Several chips, each with the bits that it has alone.
// RUN: norm-run %s --device=sim:sm_90,sim:gfx942 --rows=12 --csv | tail -n +2 > %t.both
// RUN: FileCheck %s --check-prefix=BOTH < %t.both
// BOTH: tokens,{{.*}},sim:sm_90,{{.*}},ok
// BOTH-NEXT: tokens,{{.*}},sim:gfx942,{{.*}},ok
// BOTH-NEXT: columns,{{.*}},sim:sm_90,{{.*}},ok
// BOTH-NEXT: columns,{{.*}},sim:gfx942,{{.*}},ok
// BOTH-NOT: {{.}}
// RUN: norm-run %s --device=sim:sm_90 --rows=12 --csv | tail -n +2 > %t.alone
// RUN: norm-run %s --device=sim:gfx942 --rows=12 --csv | tail -n +2 >> %t.alone
// RUN: sort %t.alone | awk -F, '{print $1, $4, $7, $(NF-1), $NF}' > %t.sorted
// RUN: sort %t.both | awk -F, '{print $1, $4, $7, $(NF-1), $NF}' | diff - %t.sorted

// Each column begins where its header does, however long schedules are.
// RUN: norm-run %examples/train_step.mlir --device=sim:sm_90 --rows=3 > %t.table
// RUN: awk '{ print index($0, NR == 1 ? "device" : "sim:sm_90") }' %t.table | uniq | count 1

// The same seed gives the same bits, whatever the order of threads.
// RUN: norm-compile %s --target=sim,oracle -o %t.rmsn
// RUN: norm-run %t.rmsn --seed=5 --csv | cut -d, -f1-10,13-14 > %t.forward
// RUN: norm-run %t.rmsn --seed=5 --order=shuffled --multiprocessors=1 --csv | cut -d, -f1-10,13-14 > %t.shuffled
// RUN: diff %t.forward %t.shuffled
func.func @tokens(%x: tensor<?x?x64xbf16>, %w: tensor<64xf32>, %y0: tensor<?x?x64xbf16>) -> tensor<?x?x64xbf16> {
  %y = rmsnorm.forward input(%x : tensor<?x?x64xbf16>) weight(%w : tensor<64xf32>) output(%y0 : tensor<?x?x64xbf16>) eps = 1.0e-05 -> tensor<?x?x64xbf16>
  return %y : tensor<?x?x64xbf16>
}
func.func @columns(%x: tensor<?x?xf32>, %y0: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = rmsnorm.forward input(%x : tensor<?x?xf32>) output(%y0 : tensor<?x?xf32>) eps = 1.0e-05 -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
