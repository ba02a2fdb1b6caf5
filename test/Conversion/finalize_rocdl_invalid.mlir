// RUN: norm-opt %s --split-input-file --verify-diagnostics --rmsnorm-finalize-rocdl

// expected-error @below {{rmsnorm-finalize-rocdl: expected an rocdl target, got 'sim:gfx942'}}
module attributes {rmsnorm.target = #rmsnorm.target<sim "gfx942">} {
}

// -----

module attributes {rmsnorm.target = #rmsnorm.target<rocdl "gfx1100">} {
  gpu.module @kernels [#rmsnorm.target<rocdl "gfx1100">] {
    gpu.func @width(%x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
      // expected-error @below {{expected a width up to the subgroup size 32, got 64}}
      %y = rmsnorm.subgroup_reduce add %x width(64) : f32
      gpu.return
    }
  }
}
