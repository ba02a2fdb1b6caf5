#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Turns what `norm-opt --help` (standard input) says of our pipelines to Markdown."""
import re
import sys

lines = sys.stdin.read().partition("Pass Pipelines:\n")[2].splitlines()
ours = False
print("# Pipelines")
for line in lines:
    item = re.match(r"( +)--(\S+) +-\s+(.*)", line)
    value = re.match(r" +=(\S+) +-\s+(.*)", line)
    if value:
        if ours:
            print(f"  - `{value[1]}`: {value[2]}")
        continue
    if not item:
        break
    indent, name, text = len(item[1]), item[2], item[3]
    if indent == 6:
        ours = name.startswith("rmsnorm-")
        if ours:
            print(f"\n## `-{name}`\n\n{text}\n")
    elif ours:
        print(f"- `{name}`: {text}")
