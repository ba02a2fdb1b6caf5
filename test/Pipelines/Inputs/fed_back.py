"""Compiles files, reads the schedules that norm-inspect prints for every variant, and
compares the code of each variant with that of the same schedules given by hand.

usage: fed_back.py TARGET KIND [--alignment=NAME] FILE...    of one alignment, or of all

KIND: what norm-compile emits (ptx, asm), or the IR of the kernels (ir), which takes a fraction of the time.
"""
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays clean
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "forks"))
import forks

target, kind, *paths = sys.argv[1:]
wanted = paths.pop(0).split("=")[1] if paths[0].startswith("--alignment=") else ""


def run(*command, text=""):
    status, output, errors = forks.call(*command, text=text)
    if status:
        sys.exit(f"{' '.join(command)} ended with {status}: {errors}")
    return output


def variants(path):
    """(entry, variant, schedules) of a file."""
    with tempfile.NamedTemporaryFile(suffix=".rmsn") as module:
        # The simulator has the schedules of its chip.
        run("norm-compile", path, "--target=sim:" + target, "-o", module.name)
        entry = variant = None
        for line in run("norm-inspect", module.name).splitlines():
            if found := re.match(r"entry (\S+)", line):
                entry = found[1]
            elif found := re.match(r"    variant \d+ (\S+)", line):
                variant = found[1]
            elif found := re.match(r"      schedule (.*)", line):
                yield entry, variant, found[1]


def kernels(path, entry, variant, printed, given=None):
    """The kernels of an entry for a variant's classes of rows and of N, as IR."""
    alignment = re.search(r"alignment = (\d+)", printed)
    function = re.search(rf"^func\.func @{entry}\(.*?^}}", open(path).read(), re.DOTALL | re.MULTILINE)[0]
    options = f"target={target} alignment={alignment[1] if alignment else 16}"
    for name, bound in re.findall(r"_(rows|columns)_le_(\d+)", variant):
        # All numbers of rows get what is given.
        if name == "columns" or not given:
            options += f" {name}={bound}"
    if variant.startswith("narrow"):
        options += " narrow-columns=true"
    if given:
        options += f' schedule="{given}"'
    return run("norm-opt", "-", "--rmsnorm-tensor-half", f"--rmsnorm-memref-half={options}", text=function)


count = differ = 0
for path in paths:
    for entry, variant, schedules in variants(path):
        if not variant.startswith(wanted):
            continue
        emit = ["norm-compile", path, "--target=" + target, "--emit=" + kind,
                "--entry=" + entry, "-o", "-"]
        if kind == "ir" or "_columns_le_" in variant:
            chosen = kernels(path, entry, variant, schedules)
            given = kernels(path, entry, variant, schedules, schedules)
        else:
            # All sizes get what is given: the class alone has an alignment.
            alignment = variant.split("_")[0]
            chosen = run(*emit, "--variant=" + variant)
            # What is given is for any N.
            given = run(*emit, "--variant=" + alignment.replace("narrow", "element"), "--schedule=" + schedules)
        count += 1
        if not chosen or chosen != given:
            differ += 1
            print(f"{path} {entry} {variant} differs: {schedules}")
print(f"{count} variants, {differ} differ")
