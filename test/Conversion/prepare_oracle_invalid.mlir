// RUN: norm-opt %s --split-input-file --rmsnorm-prepare-oracle --verify-diagnostics

// expected-error @below {{expected result 0 to be computed into an argument; run rmsnorm-bind-arguments first}}
func.func @no_destination(%x: memref<4x8xf32>) -> memref<4x8xf32> {
  %0 = memref.alloc() : memref<4x8xf32>
  return %0 : memref<4x8xf32>
}

// -----

// expected-error @below {{expected an entry's arguments to be ranked tensors or memrefs, got 'f32'}}
func.func @scalar_argument(%x: f32) {
  return
}

// -----

// expected-error @below {{expected a body of one block, got 2}}
func.func @blocks() {
  cf.br ^next
^next:
  return
}

// -----

func.func @escaping_buffer(%n: memref<4xf32>, %c: memref<i1>) {
  %b = memref.load %c[] : memref<i1>
  %0 = scf.if %b -> memref<4xf32> {
    // expected-error @below {{expected buffers that live in their block only, got one in a block whose terminator 'scf.yield' passes buffers on}}
    %1 = memref.alloc() : memref<4xf32>
    scf.yield %1 : memref<4xf32>
  } else {
    scf.yield %n : memref<4xf32>
  }
  memref.store %b, %c[] : memref<i1>
  return
}
