// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Views.h - layouts through reshapes, slices and casts --------------===//

#ifndef RMSNORM_ACCESS_VIEWS_H
#define RMSNORM_ACCESS_VIEWS_H

#include "RMSNorm/Access/Digits.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::rmsnorm::access {

/// Whether `op` is a reshape, a slice or a cast of a tensor: each element of
/// its result is one of its first operand.
bool isView(Operation *op);

/// The tensor that `value` is a view of, through all views; `value` itself if
/// it is none.
Value getViewSource(Value value);

/// Where in its operand the element of a view lies that is at `layout` of its
/// result. None where offsets are known at run time only, or a division does
/// not come out even.
std::optional<Layout> readThrough(Digits &digits, Operation *view,
                                  const Layout &layout);

/// Where in the result of a view all elements lie that are at `layout` of its
/// operand. None if they are not all in it.
std::optional<Layout> writeThrough(Digits &digits, Operation *view,
                                   const Layout &layout);

/// Where the elements of an inserted slice lie in the tensor that it is
/// inserted into.
std::optional<Layout> writeThrough(tensor::InsertSliceOp op,
                                   const Layout &layout);

/// The layout of the rows of `value` that those at `layout`, columns or parts
/// of them, belong to. Columns that are not all there are new digits. None if
/// an index has rows and a part of the columns.
std::optional<Layout> getWholeLayout(Digits &digits, Value value,
                                     const Layout &layout);

/// The layout of what is inserted into rows that have `layout` with it. Rows
/// are the same; columns that are not all written are new digits. None if rows
/// are put together.
std::optional<Layout> getPartLayout(Digits &digits, tensor::InsertSliceOp op,
                                    const Layout &layout);

/// The layout of the result of a view, or of an insertion, of a tensor that has
/// `layout`. Rows are the same; columns that are not all taken, or to which
/// others come, are new digits. None if rows are taken or put together.
std::optional<Layout> getViewLayout(Digits &digits, Operation *view,
                                    const Layout &layout);

/// Whether the elements at `layout` of the tensor that `slice` cuts, or inserts
/// into, are certainly not part of the slice.
bool isOutside(const Digits &digits, OffsetSizeAndStrideOpInterface slice,
               const Layout &layout);

} // namespace mlir::rmsnorm::access

#endif // RMSNORM_ACCESS_VIEWS_H
