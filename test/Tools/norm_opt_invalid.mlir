// RUN: not norm-opt %s -o %t.out 2>&1 | FileCheck %s
// RUN: not ls %t.out

// CHECK: norm_opt_invalid.mlir:[[#@LINE+2]]:{{[0-9]+}}: error: use of undeclared SSA value name
func.func @undeclared() -> index {
  return %nothing : index
}
