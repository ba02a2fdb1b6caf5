# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The oracle of ../rope_pairs.mlir, with which its kernels are compared, against the text's formula: the pass that makes
one slice of a slice of pairs is in front of both, and if it took the wrong columns they would agree.

    rope_pairs.py MODULE SOURCE_FOLDER LIBRARY
"""
import array
import math
import os
import random
import sys

sys.dont_write_bytecode = True
module, source, library = sys.argv[1:]
sys.path.insert(0, os.path.join(source, "benchmarks"))
import capi

TOKENS, HEADS, COLUMNS = 3, 8, 128
random.seed(1)


def interval(values, shape):
    """Both ends of each element, as the oracle takes them, and the tensor."""
    ends = array.array("d", [end for value in values for end in (value, value)])
    return ends, capi.Tensor(ends.buffer_info()[0], shape, capi.INTERVAL, capi.PLACES[capi.ORACLE])


def check(runtime, entry, rotated, heads_first):
    """`rotated`: the columns that are rotated, by pairs; the others are normalised only."""
    x, w, cos, sin = ([random.uniform(0.25, 2) for _ in range(math.prod(shape))] for shape in (
        (TOKENS, HEADS, COLUMNS), (COLUMNS,), (TOKENS, rotated // 2), (TOKENS, rotated // 2)))
    shape = (HEADS, TOKENS, COLUMNS) if heads_first else (TOKENS, HEADS, COLUMNS)
    given = [interval(x, (TOKENS, HEADS, COLUMNS)), interval(w, (COLUMNS,)), interval(cos, (TOKENS, rotated // 2)),
             interval(sin, (TOKENS, rotated // 2)), interval([7.0] * len(x), shape)]
    runtime.prepare(entry).bind([tensor for _, tensor in given])()
    ends = given[-1][0]
    wrong = 0
    for token in range(TOKENS):
        for head in range(HEADS):
            row = x[(token * HEADS + head) * COLUMNS:][:COLUMNS]
            rstd = 1 / math.sqrt(sum(v * v for v in row) / COLUMNS + 1e-5)
            y = [v * rstd * weight for v, weight in zip(row, w)]
            for pair in range(rotated // 2):
                c, s = cos[token * rotated // 2 + pair], sin[token * rotated // 2 + pair]
                even, odd = y[2 * pair], y[2 * pair + 1]
                y[2 * pair], y[2 * pair + 1] = even * c - odd * s, odd * c + even * s
            first = (head * TOKENS + token if heads_first else token * HEADS + head) * COLUMNS
            for column, value in enumerate(y):
                low, high = ends[2 * (first + column)], ends[2 * (first + column) + 1]
                step = 2.0**-8 * abs(value) + 2.0**-20  # of a result of bf16, and of f32 where terms cancel
                wrong += not low - step <= value <= high + step
    print(f"{entry}: {wrong} of {len(x)} wrong")


runtime = capi.Runtime(library, module, capi.ORACLE)
check(runtime, "pairs", COLUMNS, False)
check(runtime, "partial", COLUMNS // 2, False)
check(runtime, "transposed", COLUMNS, True)
