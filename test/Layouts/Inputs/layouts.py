# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs one compiled module on tensors of all layouts and sizes and checks that

- a row has the same bits wherever and beside whatever it lies, and the right ones;
- the variant is taken that the layout allows;
- no layout and no number of rows adds code to the process: nothing is compiled or loaded.

    layouts.py --source                   prints the module
    layouts.py LIBRARY MODULE TARGET      runs it
"""

import math
import sys

from runtime import Error, Runtime, Tensor, executable_mappings, numbers, random_row

COLUMNS = [1, 2, 3, 7, 760, 1128, 4097, 65537, 262144]
EPS = 1e-5
FAR = (1 << 31) + 8  # elements between rows: row bases need 64 bits, in elements and in bytes


def source():
    for n in [*COLUMNS, "?"]:
        rows, weight = f"tensor<?x{n}xbf16>", f"tensor<{n}xbf16>"
        print(f"""
func.func @n{'x' if n == '?' else n}(%x: {rows}, %weight: {weight}, %y: {rows}, %rstd: tensor<?xf32>) -> ({rows}, tensor<?xf32>) {{
  %0:2 = rmsnorm.forward input(%x : {rows}) weight(%weight : {weight}) output(%y : {rows}) rstd(%rstd : tensor<?xf32>)
      eps = {EPS:e} -> {rows}, tensor<?xf32>
  return %0#0, %0#1 : {rows}, tensor<?xf32>
}}""")
    rows = "tensor<?x?x1128xbf16>"
    print(f"""
func.func @rank3(%x: {rows}, %weight: tensor<1128xbf16>, %y: {rows}) -> {rows} {{
  %0 = rmsnorm.forward input(%x : {rows}) weight(%weight : tensor<1128xbf16>) output(%y : {rows}) eps = {EPS:e} -> {rows}
  return %0 : {rows}
}}""")


class Checks:
    def __init__(self):
        self.count = self.failures = 0

    def expect(self, good, text):
        self.count += 1
        if not good:
            self.failures += 1
            print("error: " + text)


checks = Checks()


def check_values(n, x, weight, y, rstd):
    """A dense result against the definition."""
    values, scales = numbers(x), numbers(weight)
    expected = 1 / math.sqrt(math.fsum(v * v for v in values) / n + EPS)
    got = numbers(rstd, "f32")[0]
    checks.expect(abs(got - expected) <= 1e-5 * expected, f"n{n}: rstd {got}, expected {expected}")
    worst = max(abs(g - v * expected * s) / abs(v * expected * s) for g, v, s in zip(numbers(y), values, scales))
    checks.expect(worst <= 2**-8 + 2**-12, f"n{n}: relative error {worst}")


def check_columns(runtime, n, entry=None):
    function = runtime.prepare(entry or f"n{n}")
    rows = [random_row(n, seed=i) for i in range(3)]
    weights = random_row(n, seed=99)

    def run(name, m, x, y, weight=None, source=None, variant=None):
        """x, y: strides and offset; `source`: the row that row i must be like, i itself by default."""
        x, y, rstd = Tensor("bf16", (m, n), *x), Tensor("bf16", (m, n), *y), Tensor("f32", (m,))
        w = Tensor("bf16", (n,), *(weight or ()))
        w.write((), weights)
        for i in range(m):
            x.write((i,), rows[source(i) if source else i % 3])
        taken = function(x, w, y, rstd)
        if variant:
            checks.expect(taken.split("_")[0] == variant, f"n{n} {name}: variant {taken}, expected {variant}")
        for i in range(m):
            like = source(i) if source else i % 3
            checks.expect((y.read((i,)), rstd.read((i,))) == expected[like], f"n{n} {name} {m} rows: other bits in row {i}")
        return y

    # The rows themselves, dense.
    x, w, y, rstd = Tensor("bf16", (3, n)), Tensor("bf16", (n,)), Tensor("bf16", (3, n)), Tensor("f32", (3,))
    w.write((), weights)
    for i in range(3):
        x.write((i,), rows[i])
    dense = function(x, w, y, rstd)
    expected = [(y.read((i,)), rstd.read((i,))) for i in range(3)]
    check_values(n, rows[0], weights, *expected[0])
    whole = n * 2 % 16 == 0
    # Where only the call knows N, one that is no multiple of a vector has variants of its own.
    unaligned = "narrow" if entry and not whole else "element"
    widest = "align16" if whole else unaligned if entry else dense.split("_")[0]
    checks.expect(dense.split("_")[0] == widest and (widest != "element" or n % 2), f"n{n}: variant {dense} of dense rows")

    run("one row with any stride", 1, ((3, 1),), ((5, 1),), variant=widest)
    for m in (2, 5, 11):
        run("dense", m, (), (), variant=widest)
    run("padded", 4, ((n + 8, 1),), ((n + 16, 1),), variant="align16" if whole else None)
    run("padded by one", 4, ((n + 1, 1),), ((n + 3, 1),), variant=unaligned)
    run("sliced columns", 4, ((n + 24, 1), 8), ((n + 40, 1), 16), variant="align16" if whole else None)
    run("sliced columns, odd", 4, ((n + 5, 1), 3), ((n, 1), 1), variant=unaligned)
    run("aligned to an element", 3, ((n, 1), 1), ((n, 1), 1), variant=unaligned)
    run("weight aligned to an element", 3, (), (), ((1,), 1), variant=unaligned)
    run("stride 0", 6, ((0, 1),), (), source=lambda i: 0, variant=widest)
    run("far rows", 3, ((FAR, 1),), ((FAR + 8, 1),), variant="align16" if whole else None)
    run("far rows, odd", 3, ((FAR + 1, 1), 1), ((FAR + 3, 1),), variant=unaligned)
    # Nothing around the rows is written.
    y = run("kept pads", 3, ((n + 8, 1), 8), ((n + 8, 1), 8))
    pads = [y.memory.map[:16]] + [y.memory.map[y.place((i,)) + 2 * n:y.place((i + 1,))] for i in range(2)]
    checks.expect(not any(map(any, pads)), f"n{n}: pads were written")
    # No rows: nothing to do, wherever the tensors lie.
    none = Tensor("bf16", (0, n)), Tensor("bf16", (n,)), Tensor("bf16", (0, n), (n + 1, 1)), Tensor("f32", (0,))
    for tensor in none:
        tensor.dl.data = None if 0 in tensor.shape else tensor.dl.data
    function(*none)


def check_rank3(runtime):
    """Leading dimensions in any order and distance."""
    n, outer, inner = 1128, 3, 4
    function = runtime.prepare("rank3")
    weight = Tensor("bf16", (n,))
    weight.write((), random_row(n, seed=99))
    expected = {}
    layouts = {"dense": (inner * n, n, 1), "transposed": (n, outer * n, 1), "padded": (inner * n + 64, n + 8, 1),
               "odd": (inner * n + 13, n + 3, 1), "far": (FAR, n, 1), "far and transposed": (n, FAR, 1),
               "one for all": (0, n, 1)}
    for name, strides in layouts.items():
        for y_strides in ((inner * n, n, 1), (n, outer * n, 1)):
            x, y = Tensor("bf16", (outer, inner, n), strides), Tensor("bf16", (outer, inner, n), y_strides)
            for i in range(outer):
                for j in range(inner):
                    x.write((i, j), random_row(n, seed=j if name == "one for all" else 10 * i + j))
            taken = function(x, weight, y)
            checks.expect(taken.startswith("element" if name == "odd" else "align16"), f"rank3 {name}: variant {taken}")
            for i in range(outer):
                for j in range(inner):
                    row = y.read((i, j))
                    same = expected.setdefault(j if name == "one for all" else 10 * i + j, row)
                    checks.expect(row == same, f"rank3 {name}: other bits in row {i}, {j}")


def main():
    library, module, target = sys.argv[1:]
    runtime = Runtime(library, module, target)
    # Prepared first: what is loaded, is loaded now.
    for name in [f"n{n}" for n in COLUMNS] + ["nx", "rank3"]:
        runtime.prepare(name)
    code = executable_mappings()
    for n in COLUMNS:
        check_columns(runtime, n)
    for n in (1, 2, 7, 760, 1128, 4097, 65537):
        check_columns(runtime, n, "nx")
    check_rank3(runtime)
    checks.expect(executable_mappings() == code, "the process has other code than when all was prepared")
    # What has no rows to normalise is refused, not computed.
    try:
        empty = Tensor("bf16", (3, 0)), Tensor("bf16", (0,)), Tensor("bf16", (3, 0)), Tensor("f32", (3,))
        runtime.prepare("nx")(*empty)
        checks.expect(False, "rows without columns were accepted")
    except Error as error:
        print(f"no columns: {error}")
    print(f"{target}: {checks.count} checks, {checks.failures} failures")
    sys.exit(1 if checks.failures else 0)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    source() if sys.argv[1:] == ["--source"] else main()
