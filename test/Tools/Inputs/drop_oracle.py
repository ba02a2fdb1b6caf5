# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Takes the last program of each entry, the oracle's, out of a module.

    drop_oracle.py MODULE.rmsn OUT.rmsn

No compiler of today writes a module of schedules without it; earlier ones did.
"""
import struct
import sys

MASK = (1 << 64) - 1
data = bytearray(open(sys.argv[1], "rb").read())


def u32(at):
    return struct.unpack_from("<I", data, at)[0]


def field(table, index):
    """Where a field of a FlatBuffer table lies."""
    vtable = table - struct.unpack_from("<i", data, table)[0]
    return table + struct.unpack_from("<H", data, vtable + 4 + 2 * index)[0]


def follow(at):
    return at + u32(at)


def content_hash():
    """As runtime/format/ContentHash.h computes it of data with a hash of zeros."""
    def rotate(v, n):
        return (v << n | v >> (64 - n)) & MASK

    def finish(v):
        v = (v ^ v >> 33) * 0xff51afd7ed558ccd & MASK
        v = (v ^ v >> 33) * 0xc4ceb9fe1a85ec53 & MASK
        return v ^ v >> 33

    low, high = 0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f
    padded = bytes(data) + bytes(-len(data) % 8)
    for (word,) in struct.iter_unpack("<Q", padded):
        low = (rotate(low ^ word * 0x87c37b91114253d5 & MASK, 27) * 5 + 0x52dce729) & MASK
        high = (rotate(high ^ word * 0x4cf5ad432745937f & MASK, 31) * 5 + 0x38495ab5) & MASK
    low = finish(low ^ len(data))
    high = finish((high + low) & MASK)
    return struct.pack("<QQ", (low + high) & MASK, high)


module = follow(0)
entries = follow(field(module, 3))
for i in range(u32(entries)):
    programs = follow(field(follow(entries + 4 + 4 * i), 2))
    last = follow(programs + 4 * u32(programs))
    target = follow(field(last, 0))
    assert data[target + 4:target + 4 + u32(target)] == b"oracle"
    struct.pack_into("<I", data, programs, u32(programs) - 1)
stamp = field(module, 2)
data[stamp:stamp + 16] = bytes(16)
data[stamp:stamp + 16] = content_hash()
open(sys.argv[2], "wb").write(data)
