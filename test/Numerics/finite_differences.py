# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the oracle's backward with numeric derivatives of the oracle's forward.

With L = sum(dy * y), dx and dw are the derivatives of L. Each is taken from four
forwards: (8 (L(h) - L(-h)) - (L(2h) - L(-2h))) / 12h, whose error is h^4 and what
rounding y to f32 adds, 2^-24 / h. All types are f32, so that no casting mode rounds
more than that.

    finite_differences.py OUTPUT_FOLDER SOURCE_FOLDER LIBRARY
"""
import array
import itertools
import math
import os
import random
import subprocess
import sys

sys.dont_write_bytecode = True
output, source, library = sys.argv[1:]
sys.path.insert(0, os.path.join(source, "benchmarks"))
import capi

H = 2.0**-5
# Of the largest term of a derivative: h^4 = 2^-20 times a fifth derivative over 30,
# and what rounding up to 20 values y adds, 2^-25 sqrt(20) 1.5 / h = 2^-17.2.
ALLOWED = 2.0**-14
CASES = [{"n": n, "casting": casting, "offset": offset, "weight": weight, "rstd": rstd}
         for n, casting, (offset, weight), rstd in itertools.product(
             (1, 3, 20), ("gemma", "llama", "none"), ((0, True), (1, True), (0, False)), (False, True))]
ROWS = 3


def text(i, case):
    n = case["n"]
    rows, vector, scalars = f"tensor<?x{n}xf32>", f"tensor<{n}xf32>", "tensor<?xf32>"
    weight = f" weight(%w : {vector})" if case["weight"] else ""
    rest = " eps = 1.0e-03" + (f" offset = {float(case['offset'])}" if case["offset"] else "")
    rest += f" casting = {case['casting']}"
    rstd = f" rstd(%r : {scalars})" if case["rstd"] else ""
    results = f"({rows}, {vector})" if case["weight"] else rows
    types = f"{rows}, {vector}" if case["weight"] else rows
    dweight = f" dweight(%dw : {vector})" if case["weight"] else ""
    values = "%g#0, %g#1" if case["weight"] else "%g"
    arguments = f"%dy: {rows}, %x: {rows}, %w: {vector}, %r: {scalars}, %dx: {rows}, %dw: {vector}"
    return f"""
func.func @forward{i}(%x: {rows}, %w: {vector}, %y: {rows}, %r: {scalars}) -> ({rows}, {scalars}) {{
  %v:2 = rmsnorm.forward input(%x : {rows}){weight} output(%y : {rows}) rstd(%r : {scalars}){rest}
      -> {rows}, {scalars}
  return %v#0, %v#1 : {rows}, {scalars}
}}
func.func @backward{i}({arguments}) -> {results} {{
  %g{":2" if case["weight"] else ""} = rmsnorm.backward dy(%dy : {rows}) input(%x : {rows}){weight}{rstd}
      dx(%dx : {rows}){dweight}{rest} -> {types}
  return {values} : {types}
}}"""


def worst_error(runtime, i, case):
    n = case["n"]
    rng = random.Random(i)
    shapes = {"x": (ROWS, n), "w": (n,), "dy": (ROWS, n), "y": (ROWS, n), "r": (ROWS,), "dx": (ROWS, n), "dw": (n,)}
    arrays = {name: array.array("f", [rng.gauss(0, 1) for _ in range(math.prod(shape))]) for name, shape in shapes.items()}
    # A row's root mean square is about one, and the step small beside it.
    for k in range(len(arrays["x"])):
        arrays["x"][k] = rng.choice([-1, 1]) * rng.uniform(0.5, 1.5)
    # What the oracle computes with: both ends of each element's interval.
    ends = {name: array.array("d", [0.0] * (2 * len(a))) for name, a in arrays.items()}
    tensors = {name: capi.Tensor(a.buffer_info()[0], shapes[name], capi.INTERVAL, runtime.place) for name, a in ends.items()}
    forward = runtime.prepare(f"forward{i}").bind([tensors[t] for t in ("x", "w", "y", "r")])
    backward = runtime.prepare(f"backward{i}").bind([tensors[t] for t in ("dy", "x", "w", "r", "dx", "dw")])

    def compute(entry, results):
        for name, values in arrays.items():
            ends[name][0::2] = ends[name][1::2] = array.array("d", values)
        entry()
        for name in results:
            arrays[name] = array.array("d", [(lo + hi) / 2 for lo, hi in zip(ends[name][0::2], ends[name][1::2])])

    compute(forward, "yr")
    compute(backward, ("dx", "dw") if case["weight"] else ("dx",))

    def loss():
        compute(forward, "y")
        return math.fsum(a * b for a, b in zip(arrays["dy"], arrays["y"]))

    def derivative(values, k):
        kept, losses = values[k], {}
        for step in (-2, -1, 1, 2):
            values[k] = kept + step * H
            losses[step] = loss()
        values[k] = kept
        near, far = losses[1] - losses[-1], losses[2] - losses[-2]
        return (8 * near - far) / (12 * H)

    largest = max(map(abs, arrays["dy"])) * (1 + max(map(abs, arrays["w"])))
    return max(abs(arrays[gradient][k] - derivative(arrays[name], k)) / largest
               for name, gradient in (("x", "dx"), ("w", "dw"))[: 1 + case["weight"]]
               for k in range(len(arrays[name])))


os.makedirs(output, exist_ok=True)
path = os.path.join(output, "differences")
with open(path + ".mlir", "w") as file:
    file.write("".join(text(i, case) for i, case in enumerate(CASES)))
subprocess.run(["norm-compile", path + ".mlir", "--target=oracle", "-o", path + ".rmsn"], check=True)
runtime = capi.Runtime(library, path + ".rmsn", capi.ORACLE)
errors = [worst_error(runtime, i, case) for i, case in enumerate(CASES)]
for case, error in zip(CASES, errors):
    if not error <= ALLOWED:
        print(f"{case}: {error:.3g}, allowed {ALLOWED:.3g}")
print(f"{len(CASES)} cases, largest error {max(errors):.3g}")
sys.exit(not max(errors) <= ALLOWED)
