#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names the kernels the compiler makes, so that two commits can be compared.

Prints a line for each entry, chip and variant:

    CODE CALL TARGET PROGRAM VARIANT KERNELS

CODE is a hash of the PTX or of the AMD code object, CALL one of what else decides
how it runs: guards, workspace, launches and their grids, blocks and parameters. The
text of a schedule is in neither. PROGRAM is input/entry, ENTRY#K the schedule K of
`--schedule-space`. The tools of another commit are measured by naming their build folder:

    scripts/kernels.sh OTHER/build > a; scripts/kernels.sh build > b; diff a b
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True  # the source tree stays clean
sys.path.insert(0, str(SOURCE / "test/Numerics"))
import generate
import generate_backward

CHIPS = ["sm_90", "gfx942", "gfx1100"]
OTHER_CHIPS = ["sm_80", "sm_100", "gfx950"]
# The widths that are measured (docs/performance.md).
WIDTHS = [128, 256, 512, 760, 1024, 1128, 2048, 4096, 5120, 7168, 8192, 16384, 32768, 65536, 131072, 262144]
ODD_WIDTHS = [1, 2, 7, 127, 1023, 1100, 2050, 4094, 4095, 8190, 16383, 32767, 65535, 131071, 262143]
# Rows of part of a subgroup, of one, of a block; wide ones read again or in clusters.
FEW_WIDTHS = [128, 1024, 4096, 16384, 131072]


def shapes(element, widths, *backward):
    tool = SOURCE / "test/Target/Inputs/norm_shapes.py"
    return subprocess.run([sys.executable, "-S", tool, element, *backward, *map(str, widths)],
                          capture_output=True, text=True, check=True).stdout


def dynamic_widths():
    """With a number of columns that a call brings: a dozen variants each."""
    forward = [generate.case(n="?", kind=kind) for kind in ("residual_both", "amax")]
    backward = [generate_backward.case(n="?", x="f32", dy="f32", dx="f32")]
    return "\n".join([generate.emit(c, f"f{i}") for i, c in enumerate(forward)] +
                     [generate_backward.emit(c, f"b{i}") for i, c in enumerate(backward)])


def inputs(quick):
    """(name, chip, text, options of norm-compile) of what is compiled."""
    few = [(f"{name}{'_backward' if direction else ''}", text) for direction in ((), ("backward",))
           for name, text in [("few", shapes("bf16", FEW_WIDTHS, *direction))]]
    examples = [(path.stem, path.read_text()) for path in sorted((SOURCE / "examples").glob("*.mlir"))]
    for chip in CHIPS if quick else CHIPS + OTHER_CHIPS:
        for name, text in examples + few:
            yield name, chip, text, []
    if quick:
        return
    for chip in CHIPS:
        for name, text in examples + few:
            yield name + "_space", chip, text, ["--schedule-space"]
        for element, widths in (("bf16", WIDTHS), ("f32", WIDTHS), ("bf16", ODD_WIDTHS)):
            for direction in ((), ("backward",)):
                name = f"{element}_{'odd_' if widths is ODD_WIDTHS else ''}{'backward' if direction else 'forward'}"
                # One by one, as an input with a program that is refused prints no line.
                for width in widths:
                    yield name, chip, shapes(element, [width], *direction), []
        yield "dynamic", chip, dynamic_widths(), []
        yield "llama_invariant", chip, (SOURCE / "examples/llama3_8b.mlir").read_text(), ["--batch-invariant"]
        yield "train_margin", chip, (SOURCE / "examples/train_step.mlir").read_text(), ["--sm-margin=8"]
    # What the simulator runs in test/Numerics: all kinds, types and schedules, but for
    # the product of types and castings, which is half of all variants.
    for direction, suite in (("forward", generate), ("backward", generate_backward)):
        for module in suite.modules(CHIPS + OTHER_CHIPS):
            if module.name.startswith("product_"):
                continue
            for chip in module.chips:
                if chip.startswith(("sm_", "gfx")):
                    schedule = [f"--schedule={module.schedule}"] if module.schedule else []
                    yield f"numerics_{direction}_{module.name}", chip, module.text(), [*schedule, *module.options]


def short(data, digits):
    return hashlib.sha256(data).hexdigest()[:digits]


class Tools:
    def __init__(self, build, folder):
        self.build, self.folder = build, pathlib.Path(folder)
        # A module holds PTX and what ptxas makes of it, which takes longer than all else.
        self.ptxas = self.folder / "ptxas"
        self.ptxas.write_text('#!/bin/sh\nfor last; do :; done\necho none > "$last"\n')
        self.ptxas.chmod(0o755)

    def compile(self, number, job):
        """The lines of a module, which is compiled and removed."""
        name, chip, text, options = job
        path = self.folder / f"{number}.mlir"
        path.write_text(text)
        module, contents = path.with_suffix(".rmsn"), path.with_suffix(".json")
        done = subprocess.run([self.build / "bin/norm-compile", path, f"--target={chip}", f"--ptxas={self.ptxas}", *options,
                               "-o", module], capture_output=True, text=True)
        if done.returncode:
            return None, f"{name} for {chip} {' '.join(options)}: {done.stderr.rstrip()}"
        subprocess.run(["flatc", "--json", "--strict-json", "--raw-binary", "-o", self.folder,
                        SOURCE / "runtime/format/module.fbs", "--", module], check=True)
        lines = list(describe(name, chip, json.loads(contents.read_bytes())))
        for file in (path, module, contents):
            file.unlink()
        return lines, None


def describe(name, chip, module):
    images = []
    for image in module["images"]:
        codes = [bytes(binary["bytes"]) for binary in image["binaries"] if binary.get("format", "Ptx") != "Cubin"]
        images.append(short(b"".join(codes), 16))
    for entry in module["entries"]:
        for program in entry["programs"]:
            if program["target"] != chip:
                continue  # the oracle
            for variant in program["variants"]:
                [image] = {launch.pop("image", 0) for launch in variant["launches"]}
                call = {key: value for key, value in variant.items() if key not in ("schedule", "tuning_key", "name")}
                kernels = "+".join(launch["kernel"] for launch in variant["launches"])
                yield " ".join([images[image], short(json.dumps(call, sort_keys=True).encode(), 8), chip,
                                f"{name}/{entry['name']}", variant["name"], kernels])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", type=pathlib.Path, default=SOURCE / "build", help="the build folder of the tools")
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="these .mlir files alone")
    parser.add_argument("--quick", action="store_true", help="the examples and a few widths alone")
    options = parser.parse_args()
    jobs = [(path.stem, chip, path.read_text(), []) for path in options.files for chip in CHIPS] or list(inputs(options.quick))
    count, errors = 0, []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        tools = Tools(options.build.resolve(), folder)
        for lines, error in pool.map(tools.compile, range(len(jobs)), jobs):
            if error:
                errors.append(error)
                continue
            count += len(lines)
            print("\n".join(lines), flush=True)
    for error in errors:
        print(f"kernels.py: error: {error}", file=sys.stderr)
    print(f"{len(jobs)} inputs, {count} variants, {len(errors)} errors", file=sys.stderr)
    sys.exit(1 if errors or not count else 0)


if __name__ == "__main__":
    main()
