// RUN: norm-opt %s --rmsnorm-finalize-sim --split-input-file | FileCheck %s

// The coroutine's frame: a pointer to launch, one to the thread. The start makes
// the thread; resumed, it reads the arguments.

// CHECK-LABEL: gpu.module @empty_module
// CHECK-NEXT:    llvm.mlir.global external constant @rmsnorm_sim_abi_version([[#]] : i32)
// CHECK-NEXT:    llvm.func @empty(%[[LAUNCH:.+]]: !llvm.ptr, %[[THREAD:.+]]: !llvm.ptr) -> !llvm.ptr
// CHECK-SAME:      gpu.kernel
// CHECK-SAME:      passthrough = ["presplitcoroutine", "no-builtins"]
// CHECK:         %[[ID:.+]] = llvm.intr.coro.id
// CHECK:         %[[SIZE:.+]] = llvm.intr.coro.size
// CHECK:         %[[TABLE:.+]] = llvm.load %[[LAUNCH]]
// CHECK:         %[[ALLOCATE:.+]] = llvm.load %[[TABLE]]
// CHECK:         %[[MEMORY:.+]] = llvm.call %[[ALLOCATE]](%[[THREAD]], %[[SIZE]])
// CHECK:         %[[HANDLE:.+]] = llvm.intr.coro.begin %[[ID]], %[[MEMORY]]
// CHECK:         %[[NEXT:.+]] = llvm.intr.coro.suspend
// CHECK:         llvm.switch %[[NEXT]] : i8, ^[[EXIT:.+]] [
// CHECK-NEXT:      0: ^[[BEGIN:.+]],
// CHECK-NEXT:      1: ^[[EXIT]]
// CHECK:       ^[[BEGIN]]:
// CHECK:         %[[ARGUMENTS_AT:.+]] = llvm.getelementptr %[[LAUNCH]][8]
// CHECK:         %[[ARGUMENTS:.+]] = llvm.load %[[ARGUMENTS_AT]]
// CHECK:         llvm.load %[[ARGUMENTS]] : !llvm.ptr -> !llvm.ptr<1>
// CHECK:         %[[N_AT:.+]] = llvm.getelementptr %[[ARGUMENTS]][8]
// CHECK:         llvm.load %[[N_AT]] : !llvm.ptr -> i64
// CHECK:         llvm.br ^[[START:.+]]
// CHECK:       ^[[START]]:
// CHECK:         %[[FINISHED:.+]] = llvm.mlir.constant(3 : i32)
// CHECK:         %[[WAIT:.+]] = llvm.getelementptr %[[THREAD]][16]
// CHECK:         llvm.store %[[FINISHED]], %[[WAIT]]
// CHECK:         llvm.br ^[[EXIT]]
// CHECK:       ^[[EXIT]]:
// CHECK:         llvm.intr.coro.end %[[HANDLE]]
// CHECK:         llvm.return %[[HANDLE]]
gpu.module @empty_module [#rmsnorm.target<sim "sim32">] {
  gpu.func @empty(%x: !llvm.ptr<1>, %n: i64) kernel {
    gpu.return
  }
}

// -----

// A barrier suspends; the one after it is another site.

// CHECK-LABEL: llvm.func @barriers(
// CHECK-SAME:      %{{.+}}: !llvm.ptr, %[[THREAD:.+]]: !llvm.ptr)
// CHECK:         %[[BARRIER:.+]] = llvm.mlir.constant(1 : i32)
// CHECK:         llvm.store %[[BARRIER]], %{{.+}}
// CHECK:         %[[SITE0:.+]] = llvm.mlir.constant(0 : i32)
// CHECK:         llvm.store %[[SITE0]], %{{.+}}
// CHECK:         %[[NEXT:.+]] = llvm.intr.coro.suspend
// CHECK:         llvm.switch %[[NEXT]] : i8, ^[[EXIT:.+]] [
// CHECK-NEXT:      0: ^[[RESUME:.+]],
// CHECK-NEXT:      1: ^[[EXIT]]
// CHECK:       ^[[RESUME]]:
// CHECK:         %[[SITE1:.+]] = llvm.mlir.constant(1 : i32)
// CHECK:         llvm.store %[[SITE1]], %{{.+}}
// CHECK:         llvm.intr.coro.suspend
gpu.module @barriers_module [#rmsnorm.target<sim "sim32">] {
  gpu.func @barriers() kernel {
    rmsnorm.barrier
    rmsnorm.barrier
    gpu.return
  }
}

// -----

// CHECK-LABEL: llvm.func @reduce(
// CHECK-SAME:      %{{.+}}: !llvm.ptr, %[[THREAD:.+]]: !llvm.ptr)
// CHECK:         %[[S:.+]] = llvm.load %{{.+}} : !llvm.ptr -> f32
// CHECK:         %[[IN:.+]] = llvm.getelementptr %[[THREAD]][32]
// CHECK:         llvm.store %[[S]], %[[IN]] : f32
// CHECK:         %[[KIND:.+]] = llvm.mlir.constant(1 : i32)
// CHECK:         llvm.store %[[KIND]], %{{.+}}
// CHECK:         %[[WIDTH:.+]] = llvm.mlir.constant(16 : i32)
// CHECK:         llvm.store %[[WIDTH]], %{{.+}}
// CHECK:         llvm.intr.coro.suspend
// CHECK:         %[[OUT:.+]] = llvm.getelementptr %[[THREAD]][32]
// CHECK:         llvm.load %[[OUT]] : !llvm.ptr -> f32
gpu.module @reduce_module [#rmsnorm.target<sim "sim32">] {
  gpu.func @reduce(%s: f32) kernel {
    %t = rmsnorm.subgroup_reduce maximumf %s width(16) : f32
    %u = arith.addf %t, %t : f32
    gpu.return
  }
}

// -----

// A load through the second argument: 8 elements of 2 bytes, aligned to 16, all
// of them. A store is of the same kind, through the first one; its value goes to
// the thread's fragment, at 48. bf16 is i16. Neither returns from an error.

// CHECK-LABEL: gpu.module @load_module
// CHECK-DAG:     llvm.mlir.global private constant @[[OF_X:.+]](dense<[0, 8, 2, 16]> : tensor<4xi32>)
// CHECK-DAG:     llvm.mlir.global private constant @[[OF_W:.+]](dense<[1, 8, 2, 16]> : tensor<4xi32>)
// CHECK-NOT:     llvm.mlir.global private
// CHECK:       llvm.func @load(
// CHECK-SAME:      %[[LAUNCH:.+]]: !llvm.ptr, %[[THREAD:.+]]: !llvm.ptr)
// CHECK:         %[[TABLE:.+]] = llvm.load %[[LAUNCH]]
// CHECK:         %[[ROW:.+]] = llvm.load %{{.+}} : !llvm.ptr -> i64
// CHECK:         %[[COLUMN:.+]] = llvm.load %{{.+}} : !llvm.ptr -> i32
// CHECK:         %[[BASE:.+]] = llvm.ptrtoint
// CHECK:         %[[ALL:.+]] = llvm.mlir.constant(2147483647 : i32)
// CHECK:         %[[ACCESS:.+]] = llvm.mlir.addressof @[[OF_W]]
// CHECK:         %[[LOAD_AT:.+]] = llvm.getelementptr %[[TABLE]][8]
// CHECK:         %[[LOAD:.+]] = llvm.load %[[LOAD_AT]]
// CHECK:         %[[P:.+]] = llvm.call %[[LOAD]](%[[THREAD]], %[[ACCESS]], %[[BASE]], %[[ROW]], %[[COLUMN]], %[[ALL]])
// CHECK-NEXT:    %[[V:.+]] = llvm.load %[[P]] {alignment = 16 : i64} : !llvm.ptr -> vector<8xi16>
// CHECK:         %[[PLACE_AT:.+]] = llvm.getelementptr %[[THREAD]][48]
// CHECK:         %[[PLACE:.+]] = llvm.load %[[PLACE_AT]]
// CHECK:         llvm.store %[[V]], %[[PLACE]] {alignment = 64 : i64} : vector<8xi16>
// CHECK:         %[[STORE_AT:.+]] = llvm.getelementptr %[[TABLE]][16]
// CHECK:         %[[STORE:.+]] = llvm.load %[[STORE_AT]]
// CHECK:         llvm.call %[[STORE]](%[[THREAD]]
// CHECK-NOT:     llvm.cond_br
gpu.module @load_module [#rmsnorm.target<sim "sim32">] {
  gpu.func @load(%x: !llvm.ptr<1>, %w: !llvm.ptr<1>, %row: i64, %column: i32) kernel {
    %v = rmsnorm.global_load %w[%row, %column] alignment(16) : vector<8xbf16>
    rmsnorm.global_store %v, %x[%row, %column] alignment(16) : vector<8xbf16>
    gpu.return
  }
}

// -----

// A predicated store passes on which elements there are.

// CHECK-LABEL: llvm.func @store(
// CHECK:         %[[COLUMN:.+]] = llvm.load %{{.+}} : !llvm.ptr -> i32
// CHECK:         %[[VALID:.+]] = llvm.load %{{.+}} : !llvm.ptr -> i32
// CHECK:         llvm.call %{{.+}}(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %[[COLUMN]], %[[VALID]])
gpu.module @store_module [#rmsnorm.target<sim "sim32">] {
  gpu.func @store(%y: !llvm.ptr<1>, %row: i64, %column: i32, %n: i32, %s: f32) kernel {
    %v = vector.broadcast %s : f32 to vector<4xf32>
    rmsnorm.global_store %v, %y[%row, %column] valid(%n) alignment(4) : vector<4xf32>
    gpu.return
  }
}

// -----

// exp2 comes from the table, the others are instructions; no function is
// declared.

// CHECK-LABEL: llvm.func @math(
// CHECK-NOT:     llvm.func
// CHECK:         llvm.intr.sqrt
// CHECK:         llvm.fdiv
// CHECK:         llvm.intr.fma
// CHECK:         %[[ENTRY:.+]] = llvm.getelementptr %{{.+}}[80]
// CHECK:         %[[FUNCTION:.+]] = llvm.load %[[ENTRY]]
// CHECK:         llvm.call %[[FUNCTION]](%{{.+}}) : !llvm.ptr, (f32) -> f32
// CHECK-NOT:     llvm.func
gpu.module @math_module [#rmsnorm.target<sim "sim32">] {
  gpu.func @math(%s: f32, %y: !llvm.ptr<1>, %row: i64, %column: i32) kernel {
    %a = math.rsqrt %s : f32
    %b = math.fma %a, %a, %s : f32
    %c = math.tanh %b : f32
    %v = vector.broadcast %c : f32 to vector<1xf32>
    rmsnorm.global_store %v, %y[%row, %column] alignment(4) : vector<1xf32>
    gpu.return
  }
}

// -----

// No bf16 type is left, odd vectors of it are converted by functions, one for each
// type, and keep is its value.

// CHECK-LABEL: gpu.module @narrow_module
// CHECK-NOT:     bf16
// CHECK:       llvm.func internal @[[TRUNC:.+]](%{{.+}}: vector<3xf32>) -> vector<3xi16> {
// CHECK-NOT:     bf16
// CHECK:         llvm.trunc %{{.+}} : vector<3xi32> to vector<3xi16>
// CHECK-NOT:     bf16
// CHECK:       llvm.func internal @[[EXT:.+]](%{{.+}}: vector<3xi16>) -> vector<3xf32> {
// CHECK-NOT:     bf16
// CHECK:         llvm.zext %{{.+}} : vector<3xi16> to vector<3xi32>
// CHECK-NOT:     {{bf16|internal}}
// CHECK:       llvm.func @narrow(
// CHECK-NOT:     {{bf16|rmsnorm.keep|llvm.zext}}
// CHECK:         llvm.call @[[EXT]]
// CHECK:         llvm.fadd
// CHECK:         llvm.call @[[TRUNC]]
// CHECK-NOT:     {{bf16|rmsnorm.keep|llvm.zext}}
// CHECK:         llvm.return
gpu.module @narrow_module [#rmsnorm.target<sim "sim32">] {
  gpu.func @narrow(%x: !llvm.ptr<1>, %row: i64, %column: i32, %s: f32) kernel {
    %v = rmsnorm.global_load %x[%row, %column] alignment(2) : vector<3xbf16>
    %k = rmsnorm.keep %v after %s : vector<3xbf16>, f32
    %e = arith.extf %k : vector<3xbf16> to vector<3xf32>
    %m = arith.addf %e, %e : vector<3xf32>
    %t = arith.truncf %m : vector<3xf32> to vector<3xbf16>
    %c = arith.constant dense<2.0> : vector<3xbf16>
    %u = arith.mulf %t, %c : vector<3xbf16>
    rmsnorm.global_store %u, %x[%row, %column] alignment(2) : vector<3xbf16>
    gpu.return
  }
}

// -----

// The grids' ops: a thread that has waited says so.

// CHECK-LABEL: llvm.func @grids(
// CHECK-SAME:      %{{.+}}: !llvm.ptr, %[[THREAD:.+]]: !llvm.ptr)
// CHECK:         llvm.br
// CHECK:         %[[ONE:.+]] = llvm.mlir.constant(1 : i32)
// CHECK-NEXT:    %[[WAITED_AT:.+]] = llvm.getelementptr %[[THREAD]][40]
// CHECK-NEXT:    llvm.store %[[ONE]], %[[WAITED_AT]] : i32
gpu.module @grids_module [#rmsnorm.target<sim "sim32">] {
  gpu.func @grids() kernel {
    rmsnorm.grid_wait
    rmsnorm.launch_dependents
    gpu.return
  }
}

// -----

// The host keeps its launch.

// CHECK-LABEL: func.func @host
// CHECK:         gpu.launch_func @kernels::@launched
// CHECK:       llvm.func @launched(
module attributes {gpu.container_module, rmsnorm.target = #rmsnorm.target<sim "gfx942">} {
  func.func @host(%x: memref<?xf32>) {
    %c1 = arith.constant 1 : index
    %p = rmsnorm.buffer_pointer %x : memref<?xf32>
    gpu.launch_func @kernels::@launched blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%p : !llvm.ptr<1>)
    return
  }
  gpu.module @kernels [#rmsnorm.target<sim "gfx942">] {
    gpu.func @launched(%x: !llvm.ptr<1>) kernel {
      gpu.return
    }
  }
}
