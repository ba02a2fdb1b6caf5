// RUN: norm-opt %s --rmsnorm-attach-target=target=sm_90 | FileCheck %s --check-prefix=NV
// RUN: norm-opt %s --rmsnorm-attach-target=target=gfx942 | FileCheck %s --check-prefix=AMD
// RUN: norm-opt %s --rmsnorm-attach-target=target=sim:gfx942 | FileCheck %s --check-prefix=SIM
// RUN: norm-opt %s --rmsnorm-attach-target=target=sim | FileCheck %s --check-prefix=GENERIC
// RUN: not norm-opt %s --rmsnorm-attach-target=target=sm_91 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not norm-opt %s --rmsnorm-attach-target=target=sim32 2>&1 | FileCheck %s --check-prefix=NOCHIP

// NV: module attributes {rmsnorm.target = #rmsnorm.target<nvvm "sm_90">}
// AMD: module attributes {rmsnorm.target = #rmsnorm.target<rocdl "gfx942">}
// SIM: module attributes {rmsnorm.target = #rmsnorm.target<sim "gfx942">}
// GENERIC: module attributes {rmsnorm.target = #rmsnorm.target<sim "sim32">}
// UNKNOWN: error: expected a target: a chip (sm_75, {{.*}}), 'sim', or 'sim:' and a chip, got 'sm_91'; the nearest older chip is sm_90, whose PTX runs on sm_91{{$}}
// NOCHIP: error: expected target 'sim:sim32', got 'sim32': only the simulator has that chip
module {}
