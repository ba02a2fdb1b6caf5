"""Whether embedded kernels have the alignment that those of modules have: alignments.py INPUT.mlir..."""
import collections
import pathlib
import re
import subprocess
import sys

EMBED = """builtin.module(rmsnorm-embed-tensors,func.func(convert-elementwise-to-linalg),eliminate-empty-tensors,empty-tensor-to-alloc-tensor,
one-shot-bufferize{bufferize-function-boundaries=true function-boundary-type-conversion=identity-layout-map},canonicalize,cse,canonicalize,
rmsnorm-embed-memrefs{target=sm_90})"""


def run(*command, after=None):
    if after:
        command += (f"--mlir-print-ir-after={after}", "--mlir-print-local-scope")
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}:\n{done.stderr}")
    return done.stdout if after is None else done.stderr


def alignments(text):
    """Of each function, those of its schedules: the greatest and the others. 16 is the default and not printed."""
    found = collections.defaultdict(set)
    for line in text.splitlines():
        if named := re.search(r"func\.func (?:private )?@(\w+)", line):
            function = named[1]
        for schedule in re.findall(r"#rmsnorm\.schedule<([^>]*)>", line):
            given = re.search(r"\balignment = (\d+)", schedule)
            found[function].add(int(given[1]) if given else 16)
    return found


wrong = 0
for path in sys.argv[1:]:
    own = alignments(run("norm-compile", path, "--target=sm_90", "--emit=mlir:scheduled", "-o", "-"))  # the first variant
    embedded = alignments(run("norm-opt", path, f"--pass-pipeline={EMBED}", after="rmsnorm-select-variants"))
    for function, expected in own.items():
        if max(expected) != max(embedded[function], default=0):
            wrong += 1
            print(f"{pathlib.Path(path).name}: @{function}: expected an alignment of {max(expected)}, got {sorted(embedded[function])}")
print(f"{len(sys.argv) - 1} programs, {wrong} wrong")
sys.exit(wrong > 0)
