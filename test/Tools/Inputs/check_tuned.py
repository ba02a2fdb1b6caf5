# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that a module compiled with a tuning file has the schedules of its records.

    check_tuned.py TUNING.json INSPECTED.txt    the latter printed by norm-inspect
"""
import json
import re
import sys

records = json.load(open(sys.argv[1]))["records"]
text = open(sys.argv[2]).read()
wanted = []
for record in records:
    # Neighbours of one schedule are one class.
    if wanted and wanted[-1][1] == record["schedule"]:
        wanted.pop()
    wanted.append((record["rows"][1], record["schedule"]))
found = re.findall(r"variant \d+ align16(?:_rows_le_(\d+))? when .*\n\s+schedule (.*)", text)
got = [(int(rows) if rows else None, schedule) for rows, schedule in found]
print(f"{len(records)} records, {len(wanted)} classes of rows")
sys.exit(0 if got == wanted else f"expected {wanted}, got {got}")
