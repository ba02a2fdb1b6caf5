# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs an entry with quantised outputs on the simulator and as the oracle, on rows of all sizes and with zeros, infinities
and NaN, and compares: bytes may be neighbours, seldom, where the exact value is within the error of f32 of the middle
between two; f32 may differ in the last places; NaN must meet NaN.

    quantised.py LIBRARY MODULE ENTRY SIZES "TYPE SHAPE"...

The tensors are the entry's arguments in their order: "bf16 M,4096", outputs with a ">" in front; SIZES is M=67.
"""
import array
import math
import os
import random
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../benchmarks"))
import capi

library, module, entry, sizes = sys.argv[1:5]
TYPES = {"bf16": ((4, 16), "H"), "f32": ((2, 32), "f"), "i8": ((0, 8), "b"), "f8e4m3fn": ((10, 8), "B"),
         "f8e4m3fnuz": ((11, 8), "B"), "f8e5m2": ((12, 8), "B"), "bool": ((6, 8), "B")}
NAN = {"f8e4m3fn": lambda b: b & 0x7F == 0x7F, "f8e4m3fnuz": lambda b: b == 0x80, "f8e5m2": lambda b: b & 0x7F > 0x7C}
# Shares of the elements that may differ, and places of f32.
DIFFERING, PLACES = 0.02, 16
symbols = {name: int(size) for name, size in (item.split("=") for item in sizes.split(","))}


def bf16(value):
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return bits >> 16 if math.isnan(value) or math.isinf(value) else (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def fill(number, name, shape):
    rng = random.Random(number)
    count = math.prod(shape)
    columns = shape[-1] if len(shape) > 1 else 1
    values = []
    for i in range(count):
        scale = [1, 2.0**-10, 64, 2.0**-3, 2.0**10, 0][i // columns % 6] if len(shape) > 1 else 1
        values.append(rng.gauss(0 if len(shape) > 1 else 1, 0.25 if len(shape) == 1 else 1) * scale)
    # An integer of NaN is anything.
    if len(shape) > 1 and shape[0] > 8 and not any(text.startswith(">i8") for text in sys.argv[5:]):
        for row, special in ((6, math.inf), (7, math.nan), (8, -math.inf)):
            values[row * columns + 13] = special
    if name == "bool":
        return [rng.getrandbits(1) for _ in values]
    if name.startswith("f8"):
        bytes_ = [rng.getrandbits(8) for _ in values]
        return [0 if NAN[name](b) or b & 0x7F > 0x7B else b for b in bytes_]
    return [bf16(v) for v in values] if name == "bf16" else values


def run(backend):
    runtime = capi.Runtime(library, module, backend)
    tensors, arrays, outputs = [], [], []
    for number, text in enumerate(sys.argv[5:]):
        name, shape = text.lstrip(">").split() if " " in text else (text.lstrip(">"), "")
        shape = [symbols.get(s) or int(s) for s in shape.split(",") if s]
        dtype, letter = TYPES[name]
        count = math.prod(shape)
        data = array.array(letter, bytes(count * array.array(letter).itemsize)) if text[0] == ">" else \
            array.array(letter, fill(number, name, shape))
        arrays.append(data)
        tensors.append(capi.Tensor(data.buffer_info()[0], shape, dtype, runtime.place))
        if text[0] == ">":
            outputs.append((name, data))
    runtime.prepare(entry).bind(tensors)()
    return outputs


def ordered(name, value):
    """Numbers that are neighbours where their values are."""
    bits = {"bf16": 15, "f32": 31}.get(name, 7)
    if name == "f32":
        value = struct.unpack("<I", struct.pack("<f", value))[0]
    return -(value & (1 << bits) - 1) if value >> bits else value


def is_nan(name, value):
    if name == "f32":
        return math.isnan(value)
    if name == "bf16":
        return value & 0x7FFF > 0x7F80
    return name in NAN and NAN[name](value)


def main():
    good = True
    for number, ((name, got), (_, expected)) in enumerate(zip(run(capi.SIM), run(capi.ORACLE))):
        differing = worst = 0
        for a, b in zip(got, expected):
            if is_nan(name, a) or is_nan(name, b):
                distance = 0 if is_nan(name, a) and is_nan(name, b) else math.inf
            else:
                distance = abs(a - b) if name == "i8" else abs(ordered(name, a) - ordered(name, b))
            differing += distance != 0
            worst = max(worst, distance)
        share = differing / max(1, len(got))
        ok = worst <= PLACES if name == "f32" else worst <= 1 and share <= DIFFERING
        distinct = len(set(expected))
        good &= ok and distinct > 3
        print(f"{entry} output {number} {name}: {distinct} values, {share:.4f} differ by up to {worst}", "ok" if ok else "WRONG")
    sys.exit(not good)


main()
