"""Compiles files, reads the schedules that norm-inspect prints for every variant, and
compares the code of each variant with that of the same schedules given by hand.

usage: fed_back.py TARGET KIND [--alignment=NAME] FILE...    of one alignment, or of all
"""
import re
import subprocess
import sys
import tempfile

target, kind, *paths = sys.argv[1:]
wanted = paths.pop(0).split("=")[1] if paths[0].startswith("--alignment=") else ""


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


def kernels_up_to(path, entry, columns, printed, given=None):
    """The kernels of an entry whose N only a call knows for the class of N up to `columns`."""
    alignment = re.search(r"alignment = (\d+)", printed)
    function = re.search(rf"^func\.func @{entry}\(.*?^}}", open(path).read(), re.DOTALL | re.MULTILINE)[0]
    options = f"target={target} columns={columns} alignment={alignment[1] if alignment else 16}"
    if given:
        options += f' schedule="{given}"'
    return subprocess.run(["norm-opt", "-", "--rmsnorm-tensor-half", f"--rmsnorm-memref-half={options}"],
                          check=True, capture_output=True, text=True, input=function).stdout


count = differ = 0
for path in paths:
    for entry, variant, schedules in variants(path):
        if not variant.startswith(wanted):
            continue
        emit = ["norm-compile", path, "--target=" + target, "--emit=" + kind,
                "--entry=" + entry, "-o", "-"]
        if bound := re.search(r"_columns_le_(\d+)", variant):
            chosen = kernels_up_to(path, entry, bound[1], schedules)
            given = kernels_up_to(path, entry, bound[1], schedules, schedules)
        else:
            # All sizes get what is given: the class alone has an alignment.
            alignment = variant.split("_")[0]
            chosen = run(*emit, "--variant=" + variant)
            given = run(*emit, "--variant=" + alignment, "--schedule=" + schedules)
        count += 1
        if not chosen or chosen != given:
            differ += 1
            print(f"{path} {entry} {variant} differs: {schedules}")
print(f"{count} variants, {differ} differ")
