# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conversions to and from f8 and f4, compiled, against the definition of the types:

- from f32: every number of the type, the middle between any two, the f32 next to each of these, what over- and
  underflows, zeros, infinities, NaN and some random bits, of both signs; as they are and clamped, or, to powers of two
  (f8E8M0FNU), rounded upward;
- from bf16: all 2^16 patterns; to powers of two rounded downward;
- to f32: all patterns.

f4E2M1FN is two a byte. Its numbers are negated on their way, to be rounded and extended once more in the kernel.

    float8.py LIBRARY TYPE OUTPUT BACKEND:TARGET...

norm-compile is taken from the PATH. Any NaN will do for NaN.
"""
import array
import bisect
import math
import os
import random
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
library, name, output = sys.argv[1:4]
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../benchmarks"))
import capi

# Exponent bits, mantissa bits, bias, DLPack's code.
EXPONENT, MANTISSA, BIAS, CODE = {"f8E4M3FN": (4, 3, 7, 10), "f8E5M2": (5, 2, 15, 12), "f8E4M3FNUZ": (4, 3, 8, 11),
                                  "f8E8M0FNU": (8, 0, 127, 14), "f4E2M1FN": (2, 1, 1, 17)}[name]
POWERS = name == "f8E8M0FNU"
PACKED = name == "f4E2M1FN"
SIGN = 8 if PACKED else 0x80
COLUMNS = 256
LARGEST_EXPONENT = 2**EXPONENT - 1


def decode(byte):
    """The number that a byte stands for, by definition."""
    if POWERS:
        return math.nan if byte == 0xFF else math.ldexp(1, byte - BIAS)
    sign = -1.0 if byte & SIGN else 1.0
    exponent, mantissa = byte >> MANTISSA & LARGEST_EXPONENT, byte & (2**MANTISSA - 1)
    if name == "f8E4M3FNUZ" and byte == 0x80:
        return math.nan
    if name == "f8E4M3FN" and byte & 0x7F == 0x7F:
        return math.nan
    if name == "f8E5M2" and exponent == LARGEST_EXPONENT:
        return math.nan if mantissa else sign * math.inf
    if exponent == 0:
        return sign * math.ldexp(mantissa, 1 - BIAS - MANTISSA)
    return sign * math.ldexp(2**MANTISSA + mantissa, exponent - BIAS - MANTISSA)


POSITIVE = [decode(byte) for byte in range(256 if POWERS else SIGN) if math.isfinite(decode(byte))]
assert POSITIVE == sorted(POSITIVE) and all(decode(byte) == value for byte, value in enumerate(POSITIVE))
LARGEST = POSITIVE[-1]
# The number that would follow the largest one: rounding to it is to overflow.
BEHIND = 2 * LARGEST if POWERS else LARGEST + (LARGEST - POSITIVE[-2])
INFINITE = "E5M2" in name


def encode_power(value, mode):
    """That of the powers of two around `value`, the upper one if both are as near; NaN if negative."""
    if math.isnan(value) or value < 0:
        return math.nan
    numbers = POSITIVE + [BEHIND]
    above = bisect.bisect_left(numbers, min(max(value, POSITIVE[0]), BEHIND))
    exact = value <= numbers[above] if above == 0 else value >= numbers[above]
    if not exact and (mode == "downward" or mode == "" and value < (numbers[above - 1] + numbers[above]) / 2):
        above -= 1
    return math.nan if above == len(POSITIVE) else above


def encode(value, mode=""):
    """The byte nearest to `value`, that with an even mantissa of two; what overflows as LLVM's APFloat has it."""
    if POWERS:
        return encode_power(value, mode)
    if math.isnan(value):
        return math.nan
    size, sign = abs(value), SIGN if math.copysign(1, value) < 0 else 0
    numbers = POSITIVE + [BEHIND]
    above = bisect.bisect_left(numbers, min(size, BEHIND))
    byte = above
    if numbers[above] != size and above > 0:
        middle = (numbers[above - 1] + numbers[above]) / 2
        if size < middle or size == middle and above % 2:
            byte = above - 1
    if byte == len(POSITIVE):
        if PACKED:
            return byte - 1 | sign
        if not INFINITE:
            return math.nan
        return byte | sign
    return 0 if name == "f8E4M3FNUZ" and byte == 0 else byte | sign


def to_f32(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def to_bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def boundaries():
    numbers = POSITIVE + [BEHIND]
    points = numbers + [(a + b) / 2 for a, b in zip(numbers, numbers[1:])]
    points = [point for point in points if point < 2**128]
    bits = {0, 1, 0x007FFFFF, 0x00800000, 0x7F7FFFFF, 0x7F800000, 0x7F800001, 0x7FC00000, 0x7FFFFFFF}
    for point in points:
        bits |= {max(to_bits(point) + step, 0) for step in (-2, -1, 0, 1, 2)}
    rng = random.Random(1)
    both = sorted(bits) + [b | 0x80000000 for b in sorted(bits)]
    return both + [rng.getrandbits(32) for _ in range(256 * COLUMNS - len(both))]


def module():
    x, b, q = (f"tensor<?x{COLUMNS}x{t}>" for t in ("f32", "bf16", name))
    last = f"%3 = arith.extf %vp : {name} to f32"
    if PACKED:
        last = f"""%wide = arith.extf %vp : {name} to f32
    %negative = arith.negf %wide : f32
    %narrow = arith.truncf %negative : f32 to {name}
    %3 = arith.extf %narrow : {name} to f32"""
    results = f"{q}, {q}, {q}, {x}"
    modes = ["upward", "downward"] if POWERS else ["", ""]
    source = "%vx" if POWERS else "%clamped"
    return f"""
#rows = affine_map<(d0, d1) -> (d0, d1)>
func.func @convert(%x: {x}, %b: {b}, %p: {q}) -> ({x}, {results}) {{
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : {x}
  %e = tensor.empty(%m) : {x}
  %y = rmsnorm.forward input(%x : {x}) output(%e : {x}) eps = 1.0e-05 -> {x}
  %q = tensor.empty(%m) : {q}
  %r:4 = linalg.generic {{indexing_maps = [{", ".join(["#rows"] * 7)}], iterator_types = ["parallel", "parallel"]}}
      ins(%x, %b, %p : {x}, {b}, {q}) outs(%q, %q, %q, %e : {results}) {{
  ^bb0(%vx: f32, %vb: bf16, %vp: {name}, %o0: {name}, %o1: {name}, %o2: {name}, %o3: f32):
    %least = arith.constant -{LARGEST} : f32
    %most = arith.constant {LARGEST} : f32
    %low = arith.maximumf %vx, %least : f32
    %clamped = arith.minimumf %low, %most : f32
    %0 = arith.truncf %vx : f32 to {name}
    %1 = arith.truncf {source} {modes[0]} : f32 to {name}
    %2 = arith.truncf %vb {modes[1]} : bf16 to {name}
    {last}
    linalg.yield %0, %1, %2, %3 : {name}, {name}, {name}, f32
  }} -> ({results})
  return %y, %r#0, %r#1, %r#2, %r#3 : {x}, {results}
}}
"""


def show(value):
    return "NaN" if math.isnan(value) else f"{value:#x}"


failures = checked = 0


def check(what, source, got, expected):
    global failures, checked
    checked += 1
    if PACKED and math.isnan(expected):
        return  # there is nothing it could become
    same = got == expected or math.isnan(expected) and math.isnan(decode(got) if isinstance(got, int) else got)
    if isinstance(got, float) and got == expected:
        same = math.copysign(1, got) == math.copysign(1, expected)
    if not same:
        failures += 1
        if failures < 10:
            print(f"{what}: {source:#x} becomes {got:#x}, expected {show(expected)}" if isinstance(got, int)
                  else f"{what}: {source:#x} becomes {got}, expected {expected}")


def run(kind, target):
    path = f"{output}.{target.replace(':', '_')}"
    with open(path + ".mlir", "w") as file:
        file.write(module())
    subprocess.run(["norm-compile", path + ".mlir", f"--target={target}", "-o", path + ".rmsn"],
                   check=True)
    runtime = capi.Runtime(library, path + ".rmsn", {"sim": capi.SIM, "oracle": capi.ORACLE}[kind])
    count, shape = 256 * COLUMNS, (256, COLUMNS)
    f32, f8 = (capi.F32, (CODE, 4 if PACKED else 8))
    inputs = [array.array("I", boundaries()), array.array("H", range(count)), array.array("B", list(range(256)) * 256)]
    outputs = [array.array("f", bytes(4 * count)), *(array.array("B", bytes(count)) for _ in range(3)),
               array.array("f", bytes(4 * count))]
    types = [f32, capi.BF16, f8, f32, f8, f8, f8, f32]
    tensors = [capi.Tensor(a.buffer_info()[0], shape, t, runtime.place) for a, t in zip(inputs + outputs, types)]
    runtime.prepare("convert").bind(tensors)()
    x, b, p = inputs
    if PACKED:
        for k in (1, 2, 3):
            outputs[k] = [byte >> shift & 15 for byte in outputs[k][:count // 2] for shift in (0, 4)]
        p = [byte >> shift & 15 for byte in p for shift in (0, 4)]
    for i in range(count):
        value = to_f32(x[i])
        check("f32", x[i], outputs[1][i], encode(value))
        clamped = value if POWERS or math.isnan(value) else max(-LARGEST, min(LARGEST, value))
        check("f32 upward" if POWERS else "f32 clamped", x[i], outputs[2][i], encode(clamped, "upward"))
        check("bf16", b[i], outputs[3][i], encode(to_f32(b[i] << 16), "downward"))
    for i in range(2 * 256 if PACKED else 256):
        check("to f32", p[i], outputs[4][i], decode(p[i] ^ SIGN if PACKED else p[i]))


for target in sys.argv[4:]:
    run("oracle" if target == "oracle" else "sim", target)
print(f"{name}: {checked} conversions, {failures} wrong")
sys.exit(failures > 0)
