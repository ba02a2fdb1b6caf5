# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the entry @norm of a module with each number of rows, the rows all different, and prints
in how many variants it was and whether a row's bits depend on how many there are.

    batch_invariant.py LIBRARY MODULE TARGET COLUMNS ROWS...
"""

import sys

from runtime import Runtime, Tensor, random_row

library, module, target = sys.argv[1:4]
columns, *counts = map(int, sys.argv[4:])
function = Runtime(library, module, target).prepare("norm")
weight = Tensor("bf16", (columns,))
weight.write((), random_row(columns, seed=99))
KINDS = 4
rows = [random_row(columns, seed=i) for i in range(KINDS)]
variants, bits = [], [set() for _ in rows]
for count in counts:
    # Rows repeat, so that there may be many: row i is one of four.
    x, y, rstd = Tensor("bf16", (count, columns)), Tensor("f32", (count, columns)), Tensor("f32", (count,))
    for i in range(count):
        x.write((i,), rows[i % KINDS])
    variants.append(function(x, weight, y, rstd))
    for i in range(count):
        bits[i % KINDS].add((y.read((i,)), rstd.read((i,))))
print(f"variants: {' '.join(variants)}")
print(f"{target}: {'same' if all(len(b) == 1 for b in bits) else 'other'} bits with {len(set(variants))} variants")
