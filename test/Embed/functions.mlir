// Functions that no other test has, each with what it computes without us:
// calls, loops and branches around norms, in place, of constants, of many types.
// DEFINE: %{compare} = env LLVM_LIBDIR=%llvm_libdir LIBDIR=%libdir RMSNORM_GPU_TRACE=1 %python %source/scripts/compare.py %s --magnitude=64,8
// RUN: %{compare} --embed=sim:sm_90,direct | FileCheck %s
// The same as functions of what is one kernel, and calls of them.
// RUN: %{compare} --outline | FileCheck %s --check-prefix=OUTLINE
// OUTLINE: {{^}}23 results, 0 wrong
// CHECK-COUNT-19: launched
// CHECK: {{^}}23 results, 0 wrong

// Recursion.
func.func @recur(%x: tensor<?x96xf32>, %w: tensor<96xf32>) -> tensor<?x96xf32> {
  %n = arith.constant 3 : i32
  %r = call @rec(%x, %w, %n) : (tensor<?x96xf32>, tensor<96xf32>, i32) -> tensor<?x96xf32>
  return %r : tensor<?x96xf32>
}
func.func private @rec(%x: tensor<?x96xf32>, %w: tensor<96xf32>, %n: i32) -> tensor<?x96xf32> {
  %z = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %c0 = arith.constant 0 : index
  %c = arith.cmpi eq, %n, %z : i32
  %r = scf.if %c -> tensor<?x96xf32> {
    scf.yield %x : tensor<?x96xf32>
  } else {
    %m = tensor.dim %x, %c0 : tensor<?x96xf32>
    %e = tensor.empty(%m) : tensor<?x96xf32>
    %y = rmsnorm.forward input(%x : tensor<?x96xf32>) weight(%w : tensor<96xf32>) output(%e : tensor<?x96xf32>) eps = 1.0e-05 -> tensor<?x96xf32>
    %k = arith.subi %n, %one : i32
    %q = func.call @rec(%y, %w, %k) : (tensor<?x96xf32>, tensor<96xf32>, i32) -> tensor<?x96xf32>
    scf.yield %q : tensor<?x96xf32>
  }
  return %r : tensor<?x96xf32>
}

// A loop of unknown length, in place.
func.func @whil(%x: tensor<?x100xf16>) -> tensor<?x100xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r:2 = scf.while (%i = %c0, %t = %x) : (index, tensor<?x100xf16>) -> (index, tensor<?x100xf16>) {
    %c = arith.cmpi slt, %i, %c4 : index
    scf.condition(%c) %i, %t : index, tensor<?x100xf16>
  } do {
  ^bb0(%i: index, %t: tensor<?x100xf16>):
    %y = rmsnorm.forward input(%t : tensor<?x100xf16>) output(%t : tensor<?x100xf16>) eps = 1.0e-05 -> tensor<?x100xf16>
    %k = arith.addi %i, %c1 : index
    scf.yield %k, %y : index, tensor<?x100xf16>
  }
  return %r#1 : tensor<?x100xf16>
}

// Constants as weights, which are read before the kernel in front has ended; two
// types; a norm that nobody uses; a cast.
func.func @consts(%x: tensor<?x8xf32>, %z: tensor<?x8xbf16>) -> (tensor<?x8xf32>, tensor<?x8xbf16>, tensor<?x?xf32>) {
  %w = arith.constant dense<[1.0, 2.0, 0.5, -1.0, 3.0, 0.25, 1.5, -2.0]> : tensor<8xf32>
  %ws = arith.constant dense<1.5> : tensor<8xbf16>
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x8xf32>
  %m2 = tensor.dim %z, %c0 : tensor<?x8xbf16>
  %e = tensor.empty(%m) : tensor<?x8xf32>
  %e2 = tensor.empty(%m2) : tensor<?x8xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x8xf32>) weight(%w : tensor<8xf32>) output(%e : tensor<?x8xf32>) eps = 1.0e-05 -> tensor<?x8xf32>
  %y2 = rmsnorm.forward input(%z : tensor<?x8xbf16>) weight(%ws : tensor<8xbf16>) output(%e2 : tensor<?x8xbf16>) eps = 1.0e-05 -> tensor<?x8xbf16>
  %unused = rmsnorm.forward input(%x : tensor<?x8xf32>) weight(%w : tensor<8xf32>) output(%e : tensor<?x8xf32>) eps = 1.0e-03 -> tensor<?x8xf32>
  %c = tensor.cast %y : tensor<?x8xf32> to tensor<?x?xf32>
  %c8 = arith.constant 8 : index
  %e3 = tensor.empty(%m, %c8) : tensor<?x?xf32>
  %v = rmsnorm.forward input(%c : tensor<?x?xf32>) output(%e3 : tensor<?x?xf32>) eps = 1.0e-05 -> tensor<?x?xf32>
  return %y, %y2, %v : tensor<?x8xf32>, tensor<?x8xbf16>, tensor<?x?xf32>
}

// Sizes and columns that only a call knows, blocks of their own.
func.func @dyn(%x: tensor<?x?xf32>, %r: tensor<?x?xf32>, %w: tensor<?xf32>, %p: tensor<?x?xf32>, %eps: f32) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %n = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %h = linalg.add ins(%x, %r : tensor<?x?xf32>, tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = rmsnorm.forward input(%h : tensor<?x?xf32>) weight(%w : tensor<?xf32>) output(%e : tensor<?x?xf32>) eps = 1.0e-05 -> tensor<?x?xf32>
  %k = tensor.dim %p, %c1 : tensor<?x?xf32>
  %z = arith.constant 0.0 : f32
  %e2 = tensor.empty(%m, %k) : tensor<?x?xf32>
  %f = linalg.fill ins(%z : f32) outs(%e2 : tensor<?x?xf32>) -> tensor<?x?xf32>
  %q = linalg.matmul ins(%y, %p : tensor<?x?xf32>, tensor<?x?xf32>) outs(%f : tensor<?x?xf32>) -> tensor<?x?xf32>
  %big = arith.cmpi sgt, %m, %c1 : index
  cf.cond_br %big, ^a(%q : tensor<?x?xf32>), ^b(%q : tensor<?x?xf32>)
^a(%t: tensor<?x?xf32>):
  %y2 = rmsnorm.forward input(%t : tensor<?x?xf32>) output(%e2 : tensor<?x?xf32>) eps = 1.0e-05 -> tensor<?x?xf32>
  cf.br ^b(%y2 : tensor<?x?xf32>)
^b(%u: tensor<?x?xf32>):
  return %u, %h : tensor<?x?xf32>, tensor<?x?xf32>
}

// On a slice of a buffer, in place.
func.func private @subnorm(%b: memref<12x64xf32>, %w: memref<32xf32>) attributes {llvm.emit_c_interface} {
  %s = memref.subview %b[2, 16] [7, 32] [1, 1] : memref<12x64xf32> to memref<7x32xf32, strided<[64, 1], offset: 144>>
  rmsnorm.forward input(%s : memref<7x32xf32, strided<[64, 1], offset: 144>>) weight(%w : memref<32xf32>) output(%s : memref<7x32xf32, strided<[64, 1], offset: 144>>) eps = 1.0e-05
  return
}
func.func @onsub(%x: tensor<12x64xf32>, %w: tensor<32xf32>) -> tensor<12x64xf32> {
  %b = memref.alloc() : memref<12x64xf32>
  %wb = memref.alloc() : memref<32xf32>
  bufferization.materialize_in_destination %x in restrict writable %b : (tensor<12x64xf32>, memref<12x64xf32>) -> ()
  bufferization.materialize_in_destination %w in restrict writable %wb : (tensor<32xf32>, memref<32xf32>) -> ()
  call @subnorm(%b, %wb) : (memref<12x64xf32>, memref<32xf32>) -> ()
  %t = bufferization.to_tensor %b restrict : memref<12x64xf32> to tensor<12x64xf32>
  %e = tensor.empty() : tensor<12x64xf32>
  %cp = linalg.copy ins(%t : tensor<12x64xf32>) outs(%e : tensor<12x64xf32>) -> tensor<12x64xf32>
  return %cp : tensor<12x64xf32>
}

// rstd alone, no rows at all, a norm of a norm.
func.func @rs(%x: tensor<5x48xbf16>, %w: tensor<48xf32>) -> (tensor<5xf32>, tensor<5x48xf32>, tensor<0x48xf32>) {
  %e = tensor.empty() : tensor<5x48xbf16>
  %er = tensor.empty() : tensor<5xf32>
  %y, %rstd = rmsnorm.forward input(%x : tensor<5x48xbf16>) weight(%w : tensor<48xf32>) output(%e : tensor<5x48xbf16>) rstd(%er : tensor<5xf32>) eps = 1.0e-05 -> tensor<5x48xbf16>, tensor<5xf32>
  %ez = arith.constant dense<0.0> : tensor<0x48xf32>
  %z = rmsnorm.forward input(%ez : tensor<0x48xf32>) weight(%w : tensor<48xf32>) output(%ez : tensor<0x48xf32>) eps = 1.0e-05 -> tensor<0x48xf32>
  %e1 = tensor.empty() : tensor<5x48xf32>
  %a = rmsnorm.forward input(%x : tensor<5x48xbf16>) output(%e1 : tensor<5x48xf32>) eps = 1.0e-05 casting = llama -> tensor<5x48xf32>
  %b = rmsnorm.forward input(%a : tensor<5x48xf32>) weight(%w : tensor<48xf32>) output(%e1 : tensor<5x48xf32>) eps = 1.0e-05 -> tensor<5x48xf32>
  return %rstd, %b, %z : tensor<5xf32>, tensor<5x48xf32>, tensor<0x48xf32>
}

// Layers in a loop, their weights stacked.
func.func @layers(%x: tensor<9x64xf32>, %ws: tensor<3x64xf32>, %ps: tensor<3x64x64xf32>) -> tensor<9x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %z = arith.constant 0.0 : f32
  %r = scf.for %l = %c0 to %c3 step %c1 iter_args(%h = %x) -> (tensor<9x64xf32>) {
    %w = tensor.extract_slice %ws[%l, 0] [1, 64] [1, 1] : tensor<3x64xf32> to tensor<64xf32>
    %p = tensor.extract_slice %ps[%l, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<3x64x64xf32> to tensor<64x64xf32>
    %e = tensor.empty() : tensor<9x64xf32>
    %n = rmsnorm.forward input(%h : tensor<9x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<9x64xf32>) eps = 1.0e-05 offset = 1.0 -> tensor<9x64xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<9x64xf32>) -> tensor<9x64xf32>
    %q = linalg.matmul ins(%n, %p : tensor<9x64xf32>, tensor<64x64xf32>) outs(%f : tensor<9x64xf32>) -> tensor<9x64xf32>
    %s = linalg.add ins(%h, %q : tensor<9x64xf32>, tensor<9x64xf32>) outs(%h : tensor<9x64xf32>) -> tensor<9x64xf32>
    scf.yield %s : tensor<9x64xf32>
  }
  %y = rmsnorm.forward input(%r : tensor<9x64xf32>) output(%r : tensor<9x64xf32>) eps = 1.0e-05 -> tensor<9x64xf32>
  return %y : tensor<9x64xf32>
}

// Branches, a number as an argument, one element written in between.
func.func @sw(%x: tensor<?x72xf32>, %w: tensor<72xf32>, %a: f32) -> (tensor<?x72xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c00 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?x72xf32>
  %k = arith.remui %m, %c3 : index
  %e = tensor.empty(%m) : tensor<?x72xf32>
  %r = scf.index_switch %k -> tensor<?x72xf32>
  case 0 {
    scf.yield %x : tensor<?x72xf32>
  }
  case 1 {
    %n = rmsnorm.forward input(%x : tensor<?x72xf32>) weight(%w : tensor<72xf32>) output(%e : tensor<?x72xf32>) eps = 1.0e-05 -> tensor<?x72xf32>
    %n2 = linalg.generic {indexing_maps = [affine_map<(i,j)->(i,j)>, affine_map<(i,j)->()>, affine_map<(i,j)->(i,j)>], iterator_types = ["parallel","parallel"]} ins(%n, %a : tensor<?x72xf32>, f32) outs(%e : tensor<?x72xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %t = arith.mulf %p, %q : f32
      linalg.yield %t : f32
    } -> tensor<?x72xf32>
    scf.yield %n2 : tensor<?x72xf32>
  }
  default {
    scf.yield %e : tensor<?x72xf32>
  }
  %n3 = rmsnorm.forward input(%r : tensor<?x72xf32>) output(%e : tensor<?x72xf32>) eps = 1.0e-05 -> tensor<?x72xf32>
  %first = tensor.extract %n3[%c00, %c3] : tensor<?x72xf32>
  %up = tensor.insert %a into %n3[%c00, %c00] : tensor<?x72xf32>
  %n4 = rmsnorm.forward input(%up : tensor<?x72xf32>) weight(%w : tensor<72xf32>) output(%e : tensor<?x72xf32>) eps = 1.0e-05 -> tensor<?x72xf32>
  %fe = tensor.from_elements %first : tensor<f32>
  return %n4, %fe : tensor<?x72xf32>, tensor<f32>
}

// Five dimensions.
func.func @rank5(%x: tensor<2x?x1x3x32xbf16>, %w: tensor<32xf16>, %s: tensor<?x32xf32>) -> (tensor<2x?x1x3x32xbf16>, tensor<2x?x1x3xf32>) {
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c1 : tensor<2x?x1x3x32xbf16>
  %e = tensor.empty(%m) : tensor<2x?x1x3x32xbf16>
  %er = tensor.empty(%m) : tensor<2x?x1x3xf32>
  %y, %r = rmsnorm.forward input(%x : tensor<2x?x1x3x32xbf16>) weight(%w : tensor<32xf16>) output(%e : tensor<2x?x1x3x32xbf16>) rstd(%er : tensor<2x?x1x3xf32>) eps = 1.0e-05 -> tensor<2x?x1x3x32xbf16>, tensor<2x?x1x3xf32>
  %z = linalg.generic {indexing_maps = [affine_map<(a,b,c,d,e)->(a,b,c,d,e)>, affine_map<(a,b,c,d,e)->(b,e)>, affine_map<(a,b,c,d,e)->(a,b,c,d,e)>], iterator_types = ["parallel","parallel","parallel","parallel","parallel"]} ins(%y, %s : tensor<2x?x1x3x32xbf16>, tensor<?x32xf32>) outs(%e : tensor<2x?x1x3x32xbf16>) {
  ^bb0(%p: bf16, %q: f32, %o: bf16):
    %a = arith.extf %p : bf16 to f32
    %t = arith.mulf %a, %q : f32
    %u = arith.truncf %t : f32 to bf16
    linalg.yield %u : bf16
  } -> tensor<2x?x1x3x32xbf16>
  return %z, %r : tensor<2x?x1x3x32xbf16>, tensor<2x?x1x3xf32>
}

// In place on what is read later, a weight that is changed.
func.func @alias(%x: tensor<8x64xf32>, %w: tensor<64xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %y = rmsnorm.forward input(%x : tensor<8x64xf32>) weight(%w : tensor<64xf32>) output(%x : tensor<8x64xf32>) eps = 1.0e-05 -> tensor<8x64xf32>
  %w2 = tensor.insert %one into %w[%c0] : tensor<64xf32>
  %y2 = rmsnorm.forward input(%x : tensor<8x64xf32>) weight(%w2 : tensor<64xf32>) output(%y : tensor<8x64xf32>) eps = 1.0e-05 -> tensor<8x64xf32>
  %s = linalg.sub ins(%x, %y : tensor<8x64xf32>, tensor<8x64xf32>) outs(%y2 : tensor<8x64xf32>) -> tensor<8x64xf32>
  return %y2, %s : tensor<8x64xf32>, tensor<8x64xf32>
}

// Slices of one tensor that overlap.
func.func @rows(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %a = tensor.extract_slice %x[0, 0] [4, 64] [1, 1] : tensor<16x64xf32> to tensor<4x64xf32>
  %b = tensor.extract_slice %x[2, 0] [4, 64] [1, 1] : tensor<16x64xf32> to tensor<4x64xf32>
  %y = rmsnorm.forward input(%a : tensor<4x64xf32>) output(%b : tensor<4x64xf32>) eps = 1.0e-05 -> tensor<4x64xf32>
  %z = tensor.insert_slice %y into %x[2, 0] [4, 64] [1, 1] : tensor<4x64xf32> into tensor<16x64xf32>
  %a2 = tensor.extract_slice %z[8, 0] [4, 64] [2, 1] : tensor<16x64xf32> to tensor<4x64xf32>
  %y2 = rmsnorm.forward input(%a2 : tensor<4x64xf32>) output(%a2 : tensor<4x64xf32>) eps = 1.0e-05 -> tensor<4x64xf32>
  %z2 = tensor.insert_slice %y2 into %z[8, 0] [4, 64] [2, 1] : tensor<4x64xf32> into tensor<16x64xf32>
  return %z2 : tensor<16x64xf32>
}

// Transposed before, padded at the end, a weight that is computed, a sum over rows.
func.func @mix(%x: tensor<64x8xf32>, %v: tensor<64x64xf32>, %u: tensor<64xf32>) -> (tensor<10x66xf32>, tensor<64xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x64xf32>
  %t = linalg.transpose ins(%x : tensor<64x8xf32>) outs(%e : tensor<8x64xf32>) permutation = [1, 0]
  %ew = tensor.empty() : tensor<64xf32>
  %fw = linalg.fill ins(%z : f32) outs(%ew : tensor<64xf32>) -> tensor<64xf32>
  %w = linalg.matvec ins(%v, %u : tensor<64x64xf32>, tensor<64xf32>) outs(%fw : tensor<64xf32>) -> tensor<64xf32>
  %y = rmsnorm.forward input(%t : tensor<8x64xf32>) weight(%w : tensor<64xf32>) output(%e : tensor<8x64xf32>) eps = 1.0e-05 -> tensor<8x64xf32>
  %p = tensor.pad %y low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<8x64xf32> to tensor<10x66xf32>
  %s = linalg.reduce {arith.addf} ins(%y : tensor<8x64xf32>) outs(%fw : tensor<64xf32>) dimensions = [0]
  return %p, %s : tensor<10x66xf32>, tensor<64xf32>
}

// One row, and its largest element.
func.func @vec(%x: tensor<?xf32>, %w: tensor<?xf32>) -> (tensor<?xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %y = rmsnorm.forward input(%x : tensor<?xf32>) weight(%w : tensor<?xf32>) output(%e : tensor<?xf32>) eps = 1.0e-05 -> tensor<?xf32>
  %e0 = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %m = linalg.reduce {arith.maximumf} ins(%y : tensor<?xf32>) outs(%f : tensor<f32>) dimensions = [0]
  return %y, %m : tensor<?xf32>, tensor<f32>
}
