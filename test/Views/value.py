# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of random programs. See views.py.

Their elements are flat lists. Every view is a list of places in one: sizes and,
for each, how far apart.
"""

import array
import math
import struct

import capi


def bf16(value):
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return bits + 0x7FFF + (bits >> 16 & 1) >> 16


class Type:
    """Elements of tensors: how bytes stand for them, and how far off a right result may be."""

    def __init__(self, code, dlpack, tolerance, to_bits, from_bits, unwritten=math.nan):
        self.code, self.dlpack, self.tolerance, self.unwritten = code, dlpack, tolerance, unwritten
        self.to_bits, self.from_bits = to_bits, from_bits

    def encode(self, values):
        return array.array(self.code, map(self.to_bits, values))

    def decode(self, bits):
        return list(map(self.from_bits, bits))

    def round(self, value):
        return self.from_bits(self.to_bits(value))


TYPES = {
    # What is computed of f32 is not rounded here, and elements are about 1.
    "f32": Type("f", capi.F32, 2.0**-10, float, float),
    "f16": Type("H", capi.F16, 2.0**-6, lambda v: struct.unpack("<H", struct.pack("<e", v))[0],
                lambda b: struct.unpack("<e", struct.pack("<H", b))[0]),
    "bf16": Type("H", capi.BF16, 2.0**-4, lambda v: 0x7FC0 if v != v else bf16(v),
                 lambda b: struct.unpack("<f", struct.pack("<I", b << 16))[0]),
    # Next to a tie either integer is right.
    "i8": Type("b", capi.I8, 1.0, int, float, -128),
    **{f"i{bits}": Type(code, (0, bits), 0.0, int, int, -1) for bits, code in ((16, "h"), (32, "i"), (64, "q"))},
    "index": Type("q", capi.I64, 0.0, int, int, -1),
}


class Dim:
    """A size, and the value that it is in the program if that is not static. `most` is as large as tests make it that
    choose sizes."""

    def __init__(self, size, name=None, most=None):
        self.size, self.name = size, name
        self.most = most or max(size, 1) if name else size
        self.text = name or str(size)

    def __eq__(self, other):
        return self.text == other.text


class Value:
    """A tensor. `home` is the number of the argument that it is, with other elements, and `source` that of which it is a
    reshape. Its elements are right as far as `precise`, a type, tells numbers apart."""

    def __init__(self, name, dims, kind, data, normed=False, home=None):
        self.name, self.dims, self.kind, self.data, self.normed, self.home = name, list(dims), kind, data, normed, home
        self.precise, self.source = kind, home

    sizes = property(lambda self: [dim.size for dim in self.dims])
    type = property(lambda self: f"tensor<{''.join('?x' if d.name else f'{d.size}x' for d in self.dims)}{self.kind}>")

    def strides(self):
        return [math.prod(self.sizes[i + 1:]) for i in range(len(self.dims))]


def places(sizes, strides, start=0):
    """Where the elements of a view lie, in order."""
    found = [start]
    for size, stride in zip(sizes, strides):
        found = [place + i * stride for place in found for i in range(size)]
    return found


def texts(items):
    return ", ".join(str(item) for item in items)
