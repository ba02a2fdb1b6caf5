// Rows that are no power of two. 2880 bf16 (gpt-oss) are a whole number of
// 16-byte vectors, but not of a block's threads; 4097 f16 are not even that:
// such rows are read element by element, in the order of the same columns.
// And a row size that is not known until run time.
//
//   norm-run examples/odd_sizes.mlir --device=sim:gfx942 --dim=s1=777

func.func @n2880(%x: tensor<?x2880xbf16>, %weight: tensor<2880xbf16>)
    -> tensor<?x2880xbf16> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x2880xbf16>
  %empty = tensor.empty(%rows) : tensor<?x2880xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x2880xbf16>)
      weight(%weight : tensor<2880xbf16>)
      output(%empty : tensor<?x2880xbf16>) eps = 1.0e-05
      -> tensor<?x2880xbf16>
  return %y : tensor<?x2880xbf16>
}

func.func @n4097(%x: tensor<?x4097xf16>, %weight: tensor<4097xf32>)
    -> tensor<?x4097xf16> {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x4097xf16>
  %empty = tensor.empty(%rows) : tensor<?x4097xf16>
  %y = rmsnorm.forward input(%x : tensor<?x4097xf16>)
      weight(%weight : tensor<4097xf32>)
      output(%empty : tensor<?x4097xf16>) eps = 1.0e-05
      -> tensor<?x4097xf16>
  return %y : tensor<?x4097xf16>
}

func.func @any_n(%x: tensor<?x?xbf16>, %weight: tensor<?xbf16>)
    -> tensor<?x?xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c0 : tensor<?x?xbf16>
  %columns = tensor.dim %x, %c1 : tensor<?x?xbf16>
  %empty = tensor.empty(%rows, %columns) : tensor<?x?xbf16>
  %y = rmsnorm.forward input(%x : tensor<?x?xbf16>)
      weight(%weight : tensor<?xbf16>)
      output(%empty : tensor<?x?xbf16>) eps = 1.0e-05
      -> tensor<?x?xbf16>
  return %y : tensor<?x?xbf16>
}
