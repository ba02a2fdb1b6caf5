# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds stores of 1 and 2 bytes out of registers that f32 instructions write.

    narrow_stores.py [--break] [--schedule=S] MLIR...

ptxas 13.0 converts such a number to u8 or u16 where PTX says that the register's
lowest bits are stored. Looks at the PTX of variants that access single elements.
With --break, stores have the register in front of the instruction that keeps ptxas
from it.
"""

import os
import re
import sys

sys.dont_write_bytecode = True  # the source tree stays clean
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "forks"))
import forks

PREDICATE = r"^\s*(?:@!?%p\d+\s+)?"
WRITE = re.compile(PREDICATE + r"([a-z][\w.:]*)\s+(%r\d+),")
STORE = re.compile(PREDICATE + r"(st\.[\w.:]*\.[bsu](?:8|16))\s+\[[^]]*\],\s*(.*);")
NARROW = re.compile(r"cvt\.u16\.u32\s+(%rs\d+), (%r\d+);")
MOVE = re.compile(r"mov\.b16 (%rs\d+), (%rs\d+);")


def isolate(lines):
    """The lines, with stores of what was cut off out of the register it is in."""
    sources = {}
    for line in lines:
        if match := NARROW.search(line):
            sources[match[1]] = match[2]
        elif (match := MOVE.search(line)) and match[2] in sources:
            sources[match[1]] = sources[match[2]]
        if STORE.match(line):
            line = re.sub(r"%rs\d+", lambda match: sources.get(match[0], match[0]), line)
        yield line


options = [arg for arg in sys.argv[1:] if arg.startswith("--schedule=")]
narrow = wrong = 0
for path in sys.argv[1:]:
    if path.startswith("--"):
        continue
    status, output, errors = forks.call("norm-compile", path, "--target=sm_90", "--variant=element", "--emit=ptx", "-o", "-", *options)
    if status:
        sys.exit(f"{path}: norm-compile ended with {status}: {errors}")
    lines = output.splitlines()
    kernel, writers = "", {}
    for line in isolate(lines) if "--break" in sys.argv else lines:
        if match := re.search(r"\.entry (\w+)", line):
            kernel, writers = match[1], {}
        if match := WRITE.match(line):
            # Conversions write an integer, two numbers or, rounded, a number.
            is_f32 = match[1].endswith(".f32") and not match[1].startswith(("cvt.r", "set")) or match[1] == "cvt.rni.f32.f32"
            writers[match[2]] = match[1] if is_f32 else ""
        if match := STORE.match(line):
            narrow += 1
            for register in re.findall(r"%r\d+", match[2]):
                if writers.get(register):
                    wrong += 1
                    print(f"{kernel}: error: '{match[1]}' of what '{writers[register]}' writes")
print(f"{narrow} narrow stores, {wrong} wrong")
sys.exit(wrong > 0)
