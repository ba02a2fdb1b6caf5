// What has no elements is inserted nowhere: no kernel copies it, again and again.
// RUN: norm-opt %s --rmsnorm-tensor-half | FileCheck %s
// CHECK-LABEL: func.func @none(
// CHECK-NEXT: return
func.func @none(%x: tensor<0x64xf32>, %t: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %y = tensor.insert_slice %x into %t[0,0][0,64][1,1] : tensor<0x64xf32> into tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}
