// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ToyOps.td - the dialect of a compiler that is not ours ------------===//

include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpBase.td"

def Toy_Dialect : Dialect {
  let name = "toy";
  let cppNamespace = "::toy";
}

class Toy_Op<string mnemonic> : Op<Toy_Dialect, mnemonic,
    [Pure, AllTypesMatch<["x", "result"]>]>;

def Toy_NormOp : Toy_Op<"norm"> {
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$weight);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$x `,` $weight attr-dict `:` type($x) `,` type($weight)";
}

def Toy_AddOp : Toy_Op<"add"> {
  let arguments = (ins AnyRankedTensor:$x, AnyRankedTensor:$y);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x) `,` type($y)";
}

def Toy_ReluOp : Toy_Op<"relu"> {
  let arguments = (ins AnyRankedTensor:$x);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
