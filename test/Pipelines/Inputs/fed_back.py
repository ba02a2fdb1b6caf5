"""Compiles files, reads the schedules that norm-inspect prints for every variant, and
compares the code of each variant with that of the same schedules given by hand.

usage: fed_back.py TARGET KIND FILE...
"""
import re
import subprocess
import sys
import tempfile

target, kind = sys.argv[1:3]


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def variants(path):
    """(entry, variant, schedules) of a file."""
    with tempfile.NamedTemporaryFile(suffix=".rmsn") as module:
        run("norm-compile", path, "--target=" + target, "--ptxas=", "-o", module.name)
        entry = variant = None
        for line in run("norm-inspect", module.name).splitlines():
            if found := re.match(r"entry (\S+)", line):
                entry = found[1]
            elif found := re.match(r"    variant \d+ (\S+)", line):
                variant = found[1]
            elif found := re.match(r"      schedule (.*)", line):
                yield entry, variant, found[1]


count = differ = 0
for path in sys.argv[3:]:
    for entry, variant, schedules in variants(path):
        emit = ["norm-compile", path, "--target=" + target, "--emit=" + kind,
                "--entry=" + entry, "-o", "-"]
        # All sizes get what is given: the class alone has an alignment.
        alignment = variant.split("_")[0]
        chosen = run(*emit, "--variant=" + variant)
        given = run(*emit, "--variant=" + alignment, "--schedule=" + schedules)
        count += 1
        if not chosen or chosen != given:
            differ += 1
            print(f"{path} {entry} {variant} differs: {schedules}")
print(f"{count} variants, {differ} differ")
