// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ToyOps.td - the dialect of a compiler that is not ours ------------===//

include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpBase.td"

def Toy_Dialect : Dialect {
  let name = "toy";
  let cppNamespace = "::toy";
}

class Toy_BinaryOp<string mnemonic, list<Trait> traits = []>
    : Op<Toy_Dialect, mnemonic,
         [Pure, AllTypesMatch<["x", "result"]>] # traits> {
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$y);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x) `,` type($y)";
}

/// x / sqrt(mean(x^2) + 1e-5) * y, the mean over the last dimension.
def Toy_NormOp : Toy_BinaryOp<"norm">;
def Toy_AddOp : Toy_BinaryOp<"add">;
def Toy_MulOp : Toy_BinaryOp<"mul">;
