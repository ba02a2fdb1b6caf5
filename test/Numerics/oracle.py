# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The oracle of rmsnorm.forward and rmsnorm.backward in their casting modes against
numbers that were computed with numpy in f64 by the formulas of the ops' text, where
round_bf16(v) is ldexp(rint(ldexp(m, 8)), e - 8) with m, e = frexp(v). They must lie in
the intervals, and these hold one value each, or for f32 be a few 2^-24 wide.

A kernel whose sum leaves out the last column is found: what it computes for the others is
what ours computes where that column is zero.

Forward: strided rows of bf16, an f32 weight with offset 1, the row statistic. Backward:
f16 values, a bf16 weight, its gradient; `none` is given rstd, the others compute it.

    oracle.py OUTPUT_FOLDER SOURCE_FOLDER LIBRARY
"""
import array
import os
import random
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
output, source, library = sys.argv[1:]
sys.path.insert(0, os.path.join(source, "benchmarks"))
import capi

PAD = 99.0  # the last column of each row, which stays
X = [-1.078125, 3.609375, 4.1875, 0.953125, 1.2421875, PAD, -1.46875, -2.75, -2.703125, -3.0, 2.78125, PAD]
W = [-0.0560000017285347, 0.12800000607967377, -0.6399999856948853, -1.0880000591278076, -1.2020000219345093]
Y = {"gemma": [-0.388672, 1.55469, 0.578125, -0.0319824, -0.0961914, PAD, -0.535156, -1.19531, -0.375, 0.101562, -0.21582, PAD],
     "llama": [-0.388672, 1.5625, 0.578125, -0.0322266, -0.0957031, PAD, -0.535156, -1.1875, -0.375, 0.101562, -0.21582, PAD],
     "none": [-0.388672, 1.55469, 0.574219, -0.0319824, -0.0957031, PAD, -0.535156, -1.1875, -0.373047, 0.101562, -0.216797, PAD]}
RSTD = {"gemma": [0.38249, 0.384832], "llama": [0.38249, 0.384832], "none": [0.382812, 0.384766]}
BACK_DY = [-2.55078125, -1.4072265625, -0.7236328125, 0.1165771484375, -1.71484375, PAD,
           -0.2352294921875, -0.0284271240234375, 0.1705322265625, -2.388671875, 0.646484375, PAD]
BACK_X = [-2.525390625, 1.7978515625, 0.055328369140625, -1.3701171875, -0.7177734375, PAD,
          -4.28125, 3.69140625, -3.6484375, 0.127197265625, 6.41015625, PAD]
BACK_W = [1.59375, 0.4375, -0.72265625, -0.61328125, -2.640625]
BACK_RSTD = [0.4000000059604645, 0.30000001192092896]
DX = {"gemma": [-1.80371, -0.980469, 0.31958, 0.398438, 3.1543, PAD, -0.19458, 0.0869751, -0.11853, 0.355469, -0.254639, PAD],
      "none": [-1.43066, -0.38501, 0.204834, 0.0771484, 1.86523, PAD, -0.314697, 0.170654, -0.209351, 0.445557, -0.209229, PAD]}
DX["llama"] = DX["gemma"]
DW = {"gemma": [4.39948, -1.65798, -0.175534, -0.176181, 1.79141],
      "llama": [4.39983, -1.65785, -0.175553, -0.176202, 1.79108],
      "none": [2.87817, -1.04321, -0.202652, -0.155029, 1.73657]}


def text(casting):
    rstd, given = (" rstd(%r : tensor<?xf32>)", "%r: tensor<?xf32>, ") if casting == "none" else ("", "")
    return f"""
func.func @forward_{casting}(%x: tensor<?x?xbf16>, %w: tensor<?xf32>, %y: tensor<?x?xbf16>, %r: tensor<?xf32>)
    -> (tensor<?x?xbf16>, tensor<?xf32>) {{
  %0:2 = rmsnorm.forward input(%x : tensor<?x?xbf16>) weight(%w : tensor<?xf32>) output(%y : tensor<?x?xbf16>)
      rstd(%r : tensor<?xf32>) eps = 1.0e-05 offset = 1.0 casting = {casting} -> tensor<?x?xbf16>, tensor<?xf32>
  return %0#0, %0#1 : tensor<?x?xbf16>, tensor<?xf32>
}}
func.func @backward_{casting}(%dy: tensor<?x?xf16>, %x: tensor<?x?xf16>, %w: tensor<?xbf16>, {given}%dx: tensor<?x?xf16>,
    %dw: tensor<?xf32>) -> (tensor<?x?xf16>, tensor<?xf32>) {{
  %0:2 = rmsnorm.backward dy(%dy : tensor<?x?xf16>) input(%x : tensor<?x?xf16>) weight(%w : tensor<?xbf16>){rstd}
      dx(%dx : tensor<?x?xf16>) dweight(%dw : tensor<?xf32>) eps = 1.0e-05 casting = {casting}
      -> tensor<?x?xf16>, tensor<?xf32>
  return %0#0, %0#1 : tensor<?x?xf16>, tensor<?xf32>
}}"""


def run(runtime, entry, inputs, expected):
    """The worst relative width of an interval; complains of what is not in its own."""
    values = inputs + [[PAD] * len(e) for e in expected]
    arrays = [array.array("d", [v for v in one for _ in range(2)]) for one in values]
    tensors = []
    for one, buffer in zip(values, arrays):
        shape = (2, 5) if len(one) == 12 else (len(one),)
        tensors.append(capi.Tensor(buffer.buffer_info()[0], shape, capi.INTERVAL, runtime.place))
        if len(shape) == 2:
            tensors[-1].set_strides((6, 1))
    runtime.prepare(entry).bind(tensors)()
    worst = 0.0
    for wanted, buffer in zip(expected, arrays[len(inputs):]):
        for i, value in enumerate(wanted):
            lo, hi = buffer[2 * i:2 * i + 2]
            # The numbers above have six digits.
            assert lo - 1e-5 * abs(value) <= value <= hi + 1e-5 * abs(value), f"@{entry}: {value} at {i}, got {lo} to {hi}"
            worst = max(worst, (hi - lo) / abs(value))
    return worst


ROWS, COLUMNS = 16, 512


def bf16(value):
    return struct.unpack("<I", struct.pack("<f", value))[0] >> 16


def number(bits):
    return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


def columns_text(casting):
    x, w, y = f"tensor<?x{COLUMNS}xbf16>", f"tensor<{COLUMNS}xf32>", f"tensor<?x{COLUMNS}xbf16>"
    return f"""
func.func @columns_{casting}(%x: {x}, %w: {w}, %y: {y}) -> {y} {{
  %0 = rmsnorm.forward input(%x : {x}) weight(%w : {w}) output(%y : {y}) eps = 1.0e-05 offset = 1.0 casting = {casting} -> {y}
  return %0 : {y}
}}"""


def wrong_elements(oracle, simulator, casting, leaves_out):
    """How many elements, of the last column none, are not in their interval."""
    rng = random.Random(1)
    x = array.array("H", [bf16(rng.gauss(0, 1)) for _ in range(ROWS * COLUMNS)])
    w = array.array("f", [rng.uniform(-0.5, 0.5) for _ in range(COLUMNS)])
    ends = [array.array("d", [v for one in values for v in (one, one)])
            for values in (map(number, x), w, [0.0] * len(x))]
    if leaves_out:
        x[COLUMNS - 1::COLUMNS] = array.array("H", [0] * ROWS)
    got = [x, w, array.array("H", [0] * len(x))]
    shapes, types = [(ROWS, COLUMNS), (COLUMNS,), (ROWS, COLUMNS)], [capi.BF16, capi.F32, capi.BF16]
    for runtime, arrays, kinds in ((oracle, ends, [capi.INTERVAL] * 3), (simulator, got, types)):
        runtime.prepare(f"columns_{casting}").bind(
            [capi.Tensor(a.buffer_info()[0], s, k, runtime.place) for a, s, k in zip(arrays, shapes, kinds)])()
    y = ends[2]
    return sum(not y[2 * i] <= number(got[2][i]) <= y[2 * i + 1] for i in range(len(x)) if i % COLUMNS != COLUMNS - 1)


def compile_and_open(name, texts, targets):
    path = os.path.join(output, name)
    with open(path + ".mlir", "w") as file:
        file.write("".join(texts))
    subprocess.run(["norm-compile", path + ".mlir", f"--target={targets}", "-o", path + ".rmsn"], check=True)
    return [capi.Runtime(library, path + ".rmsn", getattr(capi, target.upper())) for target in targets.split(",")]


os.makedirs(output, exist_ok=True)
(runtime,) = compile_and_open("oracle", map(text, Y), "oracle")
for casting in Y:
    given = [BACK_RSTD] if casting == "none" else []
    for entry, inputs, expected in ((f"forward_{casting}", [X, W], [Y[casting], RSTD[casting]]),
                                    (f"backward_{casting}", [BACK_DY, BACK_X, BACK_W] + given, [DX[casting], DW[casting]])):
        width = run(runtime, entry, inputs, expected)
        print(f"@{entry}: intervals of {width:.2g} at most")
        assert width < 2**-18, "expected narrower ones"
runtime, simulator = compile_and_open("columns", map(columns_text, Y), "oracle,sim")
for casting in Y:
    right, wrong = (wrong_elements(runtime, simulator, casting, leaves_out) for leaves_out in (False, True))
    print(f"@columns_{casting}: {right} elements wrong, without the last column {wrong}")
    assert right == 0 and wrong > 0
