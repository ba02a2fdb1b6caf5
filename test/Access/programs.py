# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs as rmsnorm-print-accesses writes them."""

import json
import os
import re
import subprocess
import sys

PIPELINE = ("builtin.module(rmsnorm-raise,symbol-dce,func.func(rmsnorm-generalize-elementwise,"
            "rmsnorm-generalize-gathers),rmsnorm-print-accesses{json})")
# Programs that are a pattern for two.
VARIANTS = {"qk_rope_in_place": [("64", "1"), ("1", "2")], "qk_one_launch": [("32", "1"), ("1", "2")]}


def read_programs(paths, made):
    """All programs as one input; a function that is named after it ends each file."""
    files = []
    for path in paths:
        found = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names] if os.path.isdir(path) else [path]
        files += sorted(file for file in found if file.endswith(".mlir"))
    chunks, names = [], []
    for file in files:
        with open(file) as opened:
            text = opened.read()
        stem = os.path.splitext(os.path.basename(file))[0]
        for second, stride in VARIANTS.get(stem, [("SECOND", "STRIDE")]):
            chunks += [text.replace("SECOND", second).replace("STRIDE", stride), f"func.func @file_{len(names)}_ends() {{ return }}\n"]
            names.append(os.path.relpath(file))
    for program in made:
        chunks += [program.text(), f"func.func @file_{len(names)}_ends() {{ return }}\n"]
        names.append("random")
    done = subprocess.run(["norm-opt", "--split-input-file", f"--pass-pipeline={PIPELINE}", "-o", os.devnull],
                          input="\n// -----\n".join(chunks), capture_output=True, text=True)
    if done.returncode < 0 or "Stack dump" in done.stderr:
        sys.exit("norm-opt: " + done.stderr[-2000:])
    programs = []
    waiting = []
    for line in done.stdout.splitlines():
        program = json.loads(line)
        end = re.fullmatch(r"file_(\d+)_ends", program["name"])
        if not end:
            waiting.append(program)
            continue
        programs += [(names[int(end[1])], program) for program in waiting]
        waiting = []
    return programs, len(re.findall(r"error: ", done.stderr))
