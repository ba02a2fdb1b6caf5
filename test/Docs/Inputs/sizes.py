# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records a time as benchmarks/forward.py and backward.py do: sizes.py FILE DEVICE PROGRAM MICROSECONDS."""
import sys

import record

path, device, program, microseconds = sys.argv[1:]
run = record.Record(facts={"device": device, "driver": "1.2", "versions": {}}, commit="abc", group="alone", **record.SIZES)
run.add(program, "bf16", 4, 8, float(microseconds), 1.0)
run.write(path)
