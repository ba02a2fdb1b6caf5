// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.td - accesses as text ---------------------------------------===//

#ifndef RMSNORM_ACCESS_PASSES_TD
#define RMSNORM_ACCESS_PASSES_TD

include "mlir/Pass/PassBase.td"

def PrintAccesses : Pass<"rmsnorm-print-accesses", "::mlir::ModuleOp"> {
  let summary = "prints clusters and where their members read and write";
  let description = [{
    Prints, for each function and each cluster of ops that work on the same
    rows (`RMSNorm/Access/Cluster.h`), its members and all that they access, as
    affine maps. Changes nothing. It is for tests, and to see what a program's
    layouts are: run it after `rmsnorm-raise` and the two generalize passes.

    The dimensions of a map are those of the rows, as the norm has them, then
    the columns of the member. Its symbols are the index operands of a gather,
    then sizes that are known at run time only.

    ```
    func @halves
      cluster of rmsnorm.forward: rows (?, 32)
        rmsnorm.forward: columns (128)
          load %arg0: (d0, d1, d2) -> (d0, d1, d2)
        linalg.generic: columns (64)
          member rmsnorm.forward, part: (d0, d1, d2) -> (d0, d1, d2 + 64)
          store 0: (d0, d1, d2) -> (d0, d1, d2 + 64)
    ```

    With `json` it prints one line for each function: the ops, and the clusters.
    test/Access/trace.py reads it, and checks each access by moving numbered
    elements through the ops.
  }];
  let options = [
    Option<"json", "json", "bool", "false", "The ops and the clusters as JSON.">
  ];
}

#endif // RMSNORM_ACCESS_PASSES_TD
