// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileParts.cpp - parts of rows in a loop over rows -----------------===//

#include "TileParts.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::rmsnorm;

Value rmsnorm::tilePart(RewriterBase &rewriter, Operation *op, Value source,
                        Value row) {
  auto slice = cast<OffsetSizeAndStrideOpInterface>(op);
  const int64_t rowDims = slice.getMixedSizes().size() - 1;
  SmallVector<OpFoldResult> offsets(rowDims, rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> sizes(rowDims, rewriter.getIndexAttr(1));
  offsets.push_back(slice.getMixedOffsets()[rowDims]);
  sizes.push_back(slice.getMixedSizes()[rowDims]);
  if (row)
    return tensor::InsertSliceOp::create(rewriter, op->getLoc(), source, row,
                                         offsets, sizes,
                                         slice.getMixedStrides());
  return tensor::ExtractSliceOp::create(rewriter, op->getLoc(), source, offsets,
                                        sizes, slice.getMixedStrides());
}
