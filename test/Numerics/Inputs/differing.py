# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads norm-run --csv: no more of the bf16 outputs than check.py allows may differ from the oracle's."""
import csv
import os
import sys

sys.dont_write_bytecode = True  # the source tree stays clean
sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import check

rows = list(csv.DictReader(sys.stdin))
assert rows, "expected a line for each entry, got none"
for row in rows:
    print(row["entry"], row["device"], row["ulp"], "ulp,", row["differing"], "differ,", row["result"])
    assert row["types"].endswith("-> bf16"), row["types"]
    assert row["result"] in ("ok", "unchecked"), row["result"]
    assert float(row["differing"]) <= check.DIFFERING["bf16"], "too many elements differ from the oracle's"
