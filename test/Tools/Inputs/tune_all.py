# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tunes programs for the simulator and checks that the compiler takes what norm-tune writes.

    tune_all.py FOLDER FILE.mlir...    the tools in PATH

Measurements are made up, as those of the simulator say nothing: of each entry the last schedule that
the compiler does not choose itself is the fastest.
"""
import json
import os
import re
import sys

sys.dont_write_bytecode = True  # the source tree stays clean
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "forks"))
import forks

DEVICE = "sim:sm_90"


def run(*command, statuses=(0,)):
    """The status, the output, the errors."""
    done = forks.call(*command)
    if done[0] not in statuses:
        sys.exit(f"expected {' '.join(command)} to end with {statuses}, got {done[0]}: {done[2]}")
    return done


def schedules(module):
    """The schedules in a module, by entry."""
    entries = {}
    for line in run("norm-inspect", module)[1].splitlines():
        if entry := re.match(r"entry (\S+)$", line):
            found = entries.setdefault(entry[1], [])
        elif schedule := re.match(r"\s+schedule (.*)$", line):
            found += schedule[1].split("; ")
    return entries


def make_up(partial, entries):
    """Says of each candidate of the entries that norm-tune has begun how long it took."""
    lines = [line.split("\t") for line in open(partial).read().splitlines()]
    measured = {tuple(line[:3]) for line in lines}
    with open(partial, "a") as file:
        for _, rows, entry in [key for key in measured if key[0] == "0" and "#" not in key[2]]:
            own = [name for name in entries if name.startswith(entry + "#")]
            better = [name for name in own if entries[name][0] not in entries[entry]]
            # Those of other classes of N are not measured: the last one that is.
            times = {name: 0.001 / (i + 1) for i, name in enumerate(better)}
            for name in own:
                if ("0", rows, name) not in measured:
                    file.write(f"0\t{rows}\t{name}\t{times.get(name, 1000)}\n")


def tune(source, folder):
    """The number of records for a program, all of them used."""
    stem = os.path.join(folder, os.path.basename(source))
    space, tuning, tuned = stem + ".space.rmsn", stem + ".json", stem + ".rmsn"
    compile = ["norm-compile", source, "--target=" + DEVICE]
    run(*compile, "--schedule-space", "-o", space)
    entries = schedules(space)
    measure = ["norm-tune", space, "--device=" + DEVICE, "--rows=1", "--time-limit=0", "-o", tuning]
    while run(*measure, statuses=(0, 3))[0] == 3:
        make_up(tuning + ".partial", entries)
    records = json.load(open(tuning))["records"]
    if said := run(*compile, "--tuning=" + tuning, "-o", tuned)[2]:
        sys.exit(f"expected nothing to be said of {tuning}, got {said}")
    got = schedules(tuned)
    for record in records:
        entry, schedule = record["entry"], record["schedule"]
        if schedule in entries[entry] or schedule not in got[entry]:
            sys.exit(f"expected {source}, entry {entry}, to have {schedule} if tuned, got {got[entry]}")
    return len(records)


folder, sources = sys.argv[1], sys.argv[2:]
records = [tune(source, folder) for source in sources]
assert all(records), dict(zip(sources, records))
print(f"{len(sources)} programs, {sum(records)} records, all used")
