"""Runs a code object of row_norm.py in the AMD emulator (amd_emulate.py) and compares
it with f64. Usage: row_norm_emulate.py EMULATOR_DIR FILE COLUMNS THREADS TYPE
"""
import sys

sys.path.insert(0, sys.argv[1])
import numpy as np
from amd_emulate import Hsaco

path, columns, threads, kind = sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
rows, pitch = 5, columns + (8 if columns % 8 == 0 else 3)


def narrow(values):
    values = values.astype(np.float32)
    if kind == "f32":
        return values
    if kind == "f16":
        return values.astype(np.float16)
    bits = values.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def wide(values):
    if kind == "bf16":
        return (values.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return values.astype(np.float64)


rng = np.random.default_rng(1)
x, w = narrow(rng.standard_normal((rows, pitch))), narrow(1 + 0.1 * rng.standard_normal(columns))
exact = wide(x)[:, :columns]
exact = exact / np.sqrt((exact**2).mean(axis=1, keepdims=True) + 1e-5) * wide(w)
# Half an ulp of the output type, and 2^-20 for rsqrt and the f32 sum.
bound = {"bf16": 2.0**-8, "f16": 2.0**-11, "f32": 0}[kind] + 2.0**-20
seen = set()
for order in ("seq", "reverse", "random"):
    y = narrow(np.full((rows, pitch), 7.0))
    grid_arguments = [x, w, y, np.int64(rows), np.int64(pitch), np.int64(pitch), np.float32(1e-5)]
    Hsaco(path).kernel("row_norm").launch((rows,), (threads,), grid_arguments, dyn_lds=128, readonly=(0, 1), order=order)
    assert (wide(y)[:, columns:] == 7.0).all(), "wrote past a row"
    error = np.abs(wide(y)[:, :columns] - exact) / np.maximum(np.abs(exact), 2.0**-14)
    assert error.max() <= bound, f"{order}: relative error {error.max()}, bound {bound}"
    seen.add(y.tobytes())
assert len(seen) == 1, "the bits depend on the order of the waves"
print(f"agrees: {rows} x {columns} {kind}, worst relative error {error.max():.3g}, bound {bound:.3g}")
