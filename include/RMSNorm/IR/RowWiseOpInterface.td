// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowWiseOpInterface.td - ops that work row by row ------------------===//

#ifndef RMSNORM_IR_ROWWISEOPINTERFACE_TD
#define RMSNORM_IR_ROWWISEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def RMSNorm_RowWiseOpInterface : OpInterface<"RowWiseOpInterface"> {
  let cppNamespace = "::mlir::rmsnorm";
  let description = [{
    What `rmsnorm-tile-rows` asks of an op that it may put into a loop over
    rows. Such an op is also a `TilingInterface` and a
    `DestinationStyleOpInterface` on tensors, and the first `rowDims`
    dimensions of its iteration space are the rows; at most one more follows,
    the columns, or two: groups of columns and the columns in a group. A reshape
    that divides columns into groups is one, too, without a destination. `rowDims` is that of the cluster the op is to join: a linalg
    op of two loops may be one value a row for two row dimensions, or a row
    of columns for one.

    Our norms implement it, and so do all linalg ops, as an external model
    (`registerRowWiseExternalModels`).
  }];
  let methods = [
    InterfaceMethod<[{
      The row dimensions of the loop that the op asks for by itself, or none
      if it only joins the loop of another: a norm asks always, a linalg op
      with `rmsnorm.row_wise`.
    }], "::std::optional<int64_t>", "getAnchorRowDims">,
    InterfaceMethod<[{
      Why the op does not work row by row with `rowDims` row dimensions, to
      follow "not tiled: "; empty if it does.
    }], "::std::string", "whyNotRowWise", (ins "int64_t":$rowDims)>,
    InterfaceMethod<[{
      The sizes of the first `rowDims` dimensions, as far as types tell.
    }], "::llvm::SmallVector<int64_t>", "getRowSizes",
    (ins "int64_t":$rowDims)>,
    InterfaceMethod<[{
      Whether an iteration needs of `operand` just the row that it works on;
      if not, it needs all of it, a weight, one value a column, or, of a
      linalg op, what it has for some of the row dimensions.
    }], "bool", "usesRow", (ins "::mlir::OpOperand &":$operand,
                                "int64_t":$rowDims)>,
    InterfaceMethod<[{
      Whether result `number` is a sum over all rows, or over those of some of
      the row dimensions, one value a column or one of all; or a maximum or a
      minimum. The tiled op then computes the f32 summand of its row into a new
      tensor.
    }], "bool", "sumsOverRows", (ins "unsigned":$number, "int64_t":$rowDims)>,
    InterfaceMethod<[{
      Whether what `init`, a destination, holds before is looked at.
    }], "bool", "readsInit", (ins "::mlir::OpOperand &":$init)>,
  ];
}

#endif // RMSNORM_IR_ROWWISEOPINTERFACE_TD
