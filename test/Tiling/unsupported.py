# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Puts ops that no kernel holds beside norms.

    unsupported.py [--print]

Each op uses what a norm computes, or what it reads, or computes what it reads,
or stands between two norms, or among others that a kernel can hold. Embedded,
every norm is in a kernel, with all the others, and remarks name the op alone.
In a module of its own there is one error, which names the op. norm-opt is taken from the
PATH. With --print the programs are printed.
"""

import collections
import re
import subprocess
import sys

T = "tensor<64x64xf32>"

Op = collections.namedtuple("Op", "names text type before", defaults=(T, ""))

# The names of the op (a scatter of columns), what makes %out of %in, the type of %out, what stands beside the function.
OPS = {
    "scatter": Op("tensor.scatter", """
      %unit = tensor.expand_shape %in [[0], [1, 2]] output_shape [64, 64, 1] : tensor<64x64xf32> into tensor<64x64x1xf32>
      %out = tensor.scatter %unit into %other[%at] scatter_dims([1]) unique
          : (tensor<64x64x1xf32>, tensor<64x64xf32>, tensor<64x1xi64>) -> tensor<64x64xf32>"""),
    "matmul": Op("linalg.matmul", f"%out = linalg.matmul ins(%in, %other : {T}, {T}) outs(%e : {T}) -> {T}"),
    "conv": Op("linalg.conv_2d", f"""
      %ec = tensor.empty() : tensor<62x62xf32>
      %out = linalg.conv_2d ins(%in, %kernel : {T}, tensor<3x3xf32>) outs(%ec : tensor<62x62xf32>) -> tensor<62x62xf32>""",
               "tensor<62x62xf32>"),
    "transpose": Op("linalg.transpose", f"%out = linalg.transpose ins(%in : {T}) outs(%e : {T}) permutation = [1, 0]"),
    "pad": Op("tensor.pad", f"""
      %out = tensor.pad %in low[0, 0] high[0, 64] {{
      ^bb0(%i: index, %j: index):
        %v = tensor.extract %row[%i] : tensor<64xf32>
        tensor.yield %v : f32
      }} : {T} to tensor<64x128xf32>""", "tensor<64x128xf32>"),
    "sort": Op("scf.for", f"""
      %out = scf.for %i = %c0 to %c63 step %c1 iter_args(%t = %in) -> ({T}) {{
        %next = arith.addi %i, %c1 : index
        %a = tensor.extract %t[%c0, %i] : {T}
        %b = tensor.extract %t[%c0, %next] : {T}
        %low = arith.minimumf %a, %b : f32
        %high = arith.maximumf %a, %b : f32
        %t1 = tensor.insert %low into %t[%c0, %i] : {T}
        %t2 = tensor.insert %high into %t1[%c0, %next] : {T}
        scf.yield %t2 : {T}
      }}"""),
    "branch": Op("scf.if", f"""
      %is = arith.constant true
      %out = scf.if %is -> ({T}) {{
        %v = linalg.exp ins(%in : {T}) outs(%e : {T}) -> {T}
        scf.yield %v : {T}
      }} else {{
        scf.yield %other : {T}
      }}"""),
    "call": Op("func.call", f"%out = func.call @other(%in) : ({T}) -> {T}", T, f"func.func private @other({T}) -> {T}"),
    "unknown": Op("other.op", f'%out = "other.op"(%in) : ({T}) -> {T}'),
    "alloc": Op("bufferization.alloc_tensor", f"%out = bufferization.alloc_tensor() copy(%in) : {T}"),
    "buffer": Op("bufferization.to_buffer|bufferization.to_tensor", f"""
      %buffer = bufferization.to_buffer %in : {T} to memref<64x64xf32>
      %out = bufferization.to_tensor %buffer restrict : memref<64x64xf32> to {T}"""),
    "generate": Op("tensor.generate", f"""
      %out = tensor.generate {{
      ^bb0(%i: index, %j: index):
        %v = tensor.extract %in[%j, %i] : {T}
        tensor.yield %v : f32
      }} : {T}"""),
    "product_of_rows": Op("linalg.reduce",
                          f"%out = linalg.reduce {{arith.mulf}} ins(%in : {T}) outs(%row : tensor<64xf32>) dimensions = [0]",
                          "tensor<64xf32>"),
    "mixed_rows": Op("linalg.exp", f"""
      %all = tensor.collapse_shape %in [[0, 1]] : {T} into tensor<4096xf32>
      %some = tensor.extract_slice %all[0] [4080] [1] : tensor<4096xf32> to tensor<4080xf32>
      %mixed = tensor.expand_shape %some [[0, 1]] output_shape [48, 85] : tensor<4080xf32> into tensor<48x85xf32>
      %em = tensor.empty() : tensor<48x85xf32>
      %out = linalg.exp ins(%mixed : tensor<48x85xf32>) outs(%em : tensor<48x85xf32>) -> tensor<48x85xf32>""",
                     "tensor<48x85xf32>"),
    "reshape": Op("tensor.reshape", f"""
      %shape = arith.constant dense<[64, 64]> : tensor<2xindex>
      %out = tensor.reshape %in(%shape) : ({T}, tensor<2xindex>) -> {T}"""),
    "insert": Op("tensor.insert", f"%out = tensor.insert %number into %in[%c0, %c1] : {T}"),
    "pack": Op("linalg.pack", f"""
      %ep = tensor.empty() : tensor<8x8x8x8xf32>
      %out = linalg.pack %in inner_dims_pos = [0, 1] inner_tiles = [8, 8] into %ep : {T} -> tensor<8x8x8x8xf32>""",
               "tensor<8x8x8x8xf32>"),
    "function": Op("linalg.generic|math.ipowi", f"""
      %out = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}} ins(%in : {T}) outs(%e : {T}) {{
      ^bb0(%a: f32, %o: f32):
        %i = arith.fptosi %a : f32 to i32
        %p = math.ipowi %i, %i : i32
        %v = arith.sitofp %p : i32 to f32
        linalg.yield %v : f32
      }} -> {T}"""),
    "f64": Op("linalg.generic|arith.extf", f"""
      %ed = tensor.empty() : tensor<64x64xf64>
      %out = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}} ins(%in : {T}) outs(%ed : tensor<64x64xf64>) {{
      ^bb0(%a: f32, %o: f64):
        %v = arith.extf %a : f32 to f64
        linalg.yield %v : f64
      }} -> tensor<64x64xf64>""", "tensor<64x64xf64>"),
    "index": Op("linalg.generic", f"""
      %out = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}} ins(%in : {T}) outs(%e : {T}) {{
      ^bb0(%a: f32, %o: f32):
        %0 = linalg.index 1 : index
        %1 = arith.index_cast %0 : index to i32
        %2 = arith.sitofp %1 : i32 to f32
        %v = arith.addf %a, %2 : f32
        linalg.yield %v : f32
      }} -> {T}"""),
    "stencil": Op("linalg.generic", f"""
      %es = tensor.empty() : tensor<64x62xf32>
      %out = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j + 2)>, #id], iterator_types = ["parallel", "parallel"]}} ins(%in : {T}) outs(%es : tensor<64x62xf32>) {{
      ^bb0(%a: f32, %o: f32):
        linalg.yield %a : f32
      }} -> tensor<64x62xf32>""", "tensor<64x62xf32>"),
    # Groups of a row that is padded for them.
    "groups": Op("linalg.generic|tensor.pad", f"""
      %p = tensor.pad %in low[0, 0] high[0, 20] {{
      ^bb0(%i: index, %j: index):
        tensor.yield %number : f32
      }} : {T} to tensor<64x84xf32>
      %g = tensor.expand_shape %p [[0], [1, 2]] output_shape [64, 12, 7] : tensor<64x84xf32> into tensor<64x12x7xf32>
      %eg = tensor.empty() : tensor<64x12xf32>
      %zeros = linalg.fill ins(%number : f32) outs(%eg : tensor<64x12xf32>) -> tensor<64x12xf32>
      %out = linalg.generic {{indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}}
          ins(%g : tensor<64x12x7xf32>) outs(%zeros : tensor<64x12xf32>) {{
      ^bb0(%a: f32, %o: f32):
        %v = arith.maximumf %a, %o : f32
        linalg.yield %v : f32
      }} -> tensor<64x12xf32>""", "tensor<64x12xf32>"),
}
# Beside the norm these are of its rows, or compute what it reads as they do elsewhere.
TAKEN = {"groups_beside", "mixed_rows_beside"}
# In a module a kernel of its own may hold them, if all it reads is in arguments.
OWN = {"transpose", "mixed_rows"}


def norm(result, operand):
    return f"""
      {result}e = tensor.empty() : {T}
      {result} = rmsnorm.forward input({operand} : {T}) output({result}e : {T}) eps = 1.0e-05 -> {T}"""


def programs():
    """Names of ops, the number of norms, and text."""
    for name, op in OPS.items():
        def of(operand):
            return "\n      " + re.sub(r"%in\b", operand, op.text)
        out, y = ("%out", op.type), ("%y", T)
        places = {
            "consumer": (1, norm("%y", "%x") + of("%y"), [y, out]),
            "only_consumer": (1, norm("%y", "%x") + of("%y"), [out]),
            "beside": (1, norm("%y", "%x") + of("%x"), [y, out]),
            "among_others": (1, norm("%y", "%x") + of("%y") + f"""
      %ze = tensor.empty() : {T}
      %z = linalg.exp ins(%y : {T}) outs(%ze : {T}) -> {T}""", [("%z", T), out]),
        }
        if op.type == T:
            places["producer"] = (1, of("%x") + norm("%y", "%out"), [y])
            places["between"] = (2, norm("%w", "%x") + of("%w") + norm("%y", "%out"), [y])
        for place, (norms, body, results) in places.items():
            values, types = (", ".join(part) for part in zip(*results))
            yield f"{name}_{place}", op.names.split("|"), norms, f"""{op.before}
    #id = affine_map<(i, j) -> (i, j)>
    func.func @{name}_{place}(%x: {T}, %other: {T}, %at: tensor<64x1xi64>, %row: tensor<64xf32>, %kernel: tensor<3x3xf32>) -> ({types}) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c63 = arith.constant 63 : index
      %number = arith.constant 0.0 : f32
      %e = tensor.empty() : {T}{body}
      return {values} : {types}
    }}
"""


def run(text, *passes):
    """What norm-opt prints, program by program, and its (line, kind, text)."""
    result = subprocess.run(["norm-opt", "-", "--split-input-file", "--allow-unregistered-dialect", *passes],
                            input=text, capture_output=True, text=True)
    if result.returncode < 0:
        sys.exit(f"norm-opt {passes}: {result.stderr[-2000:]}")
    said = [(int(line), kind, text)
            for line, kind, text in re.findall(r"^[^\n:]*:(\d+):\d+: (error|remark): (.*)$", result.stderr, re.M)]
    return result.stdout.split("// -----"), said


def main():
    cases = list(programs())
    text = "// -----\n".join(case[3] for case in cases)
    if "--print" in sys.argv:
        return print(text)
    ends, line = [], 0
    for case in cases:
        line += case[3].count("\n") + 1
        ends.append(line)

    def by_case(said, kind):
        texts = [[] for _ in cases]
        for line, found, what in said:
            if found == kind:
                texts[next(i for i, end in enumerate(ends) if line <= end)].append(what)
        return texts
    wrong = errors = 0

    def fail(name, what):
        nonlocal wrong
        wrong += 1
        print(f"{name}: {what}")
    outputs, said = run(text, "--rmsnorm-embed-tensors=remarks")
    outputs = {name: part for part in outputs for name in re.findall(r"func\.func @(\w+)\(%arg0", part)}
    for (name, ops, norms, _), remarks in zip(cases, by_case(said, "remark")):
        output = outputs.get(name, "")
        if output.count("rmsnorm.rows ") < norms or "rmsnorm.forward" in output:
            fail(name, f"embedded: expected {norms} norms in kernels, got {remarks or output}")
        if not all(any(f"'{op}' op not tiled" in remark for op in ops) for remark in remarks):
            fail(name, f"embedded: expected remarks on {ops}, got {remarks}")
        if not remarks and name not in TAKEN and not name.endswith("_producer") and name not in ("branch_beside", "generate_beside"):
            fail(name, "embedded: expected a remark, got none")
    _, said = run(text, "--rmsnorm-tensor-half")
    for (name, ops, norms, _), texts in zip(cases, by_case(said, "error")):
        errors += len(texts)
        if not texts and any(name.startswith(own + "_") for own in OWN):
            continue
        if len(texts) != 1 or not any(f"'{op}'" in texts[0] for op in ops):
            fail(name, f"own: expected one error that names {ops}, got {texts}")
    print(f"{len(cases)} programs, {errors} errors, {wrong} wrong")


main()
