#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares all programs of the repository with the oracle on a GPU, or measures
their schedules.

    programs.py compile FOLDER [--target=CHIP] [--widths=N,...] [--jobs=K] [NAME...]
    programs.py run FOLDER [--device=cuda] [--jobs=K] [--rows=M,...] [NAME...]
    programs.py compile FOLDER --schedule-space [--target=CHIP] [--widths=N,...] [--jobs=K] [NAME...]
    programs.py measure FOLDER -o FILE.jsonl.gz [--device=cuda] [--rows=M,...] [--time-limit=S] [NAME...]

`compile` needs norm-compile, `run` norm-trials, `measure` norm-tune, in PATH. So
one can compile here and run there: FOLDER holds all that the device needs.

The programs are those of examples and benchmarks/forms. Each is compiled as it is,
and with N columns in place of its own where that is a program; with inputs of bf16,
f16 and f32 in place of bf16; with cubins and as PTX only. Each module runs with 1,
11 and 300 rows; aligned, strided, unaligned and both. `run` prints a line for each
program, then what is wrong, and exits 1 if anything is.

With --schedule-space each module has the schedules worth measuring; it is compiled
once, as it is written but for its columns. `measure` times them and adds the
points that are not in FILE yet, which scripts/fit_schedules.py reads.
"""

import argparse
import collections
import concurrent.futures
import glob
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True  # the source tree stays clean
sys.path.insert(0, os.path.join(ROOT, "test", "forks"))
import forks

FOLDERS = ["examples", "examples/linalg", "examples/models", "examples/quantised", "benchmarks/forms"]
LAYOUTS = ["", "--strided", "--unaligned", "--strided --unaligned"]


def with_columns(text, columns):
    """`text` with so many columns in place of the widest rows'."""
    own = max(int(size) for size in re.findall(r"tensor<(?:[0-9?]+x)*(\d+)x[a-z]", text))
    return re.sub(rf"(?<![\d.]){own}(?=\D)", str(columns), text)


def with_type(text, type):
    """`text` with `type` in place of bf16; a conversion of f32 to f32 is none."""
    text = re.sub(r"\bbf16\b|(?<=x)bf16\b", type, text)
    return re.sub(r"arith\.(?:extf|truncf) (%\w+) : f32 to f32", r"arith.bitcast \1 : f32 to f32", text)


def compile_one(job):
    text, path, options = job
    status, _, errors = forks.call("norm-compile", "-", "-o", path, *options, text=text)
    if status < 0 or (status and "error: " not in errors):
        return f"{path}: norm-compile ended with {status}: {errors}"
    return "" if status == 0 else None


def compile_all(options):
    jobs = []
    for folder in FOLDERS:
        for path in sorted(glob.glob(os.path.join(ROOT, folder, "*.mlir"))):
            name = os.path.splitext(os.path.basename(path))[0]
            if options.names and name not in options.names:
                continue
            program = open(path).read()
            texts = {"own": program}
            for n in options.widths:
                text = with_columns(program, n)
                if text not in texts.values():
                    texts[str(n)] = text
            if options.schedule_space:
                for columns, text in texts.items():
                    module = os.path.join(options.folder, f"{name}.{columns}.space.rmsn")
                    jobs.append((text, module, [f"--target={options.target}", "--schedule-space"]))
                continue
            for columns, text in texts.items():
                for type in ["bf16", "f16", "f32"] if "bf16" in text else ["own"]:
                    variant = with_type(text, type) if type != "own" else text
                    module = os.path.join(options.folder, f"{name}.{columns}.{type}")
                    jobs.append((variant, module + ".cubin.rmsn", [f"--target={options.target}", "--target=oracle"]))
                    jobs.append((variant, module + ".ptx.rmsn", [f"--target={options.target}", "--ptxas="]))
    os.makedirs(options.folder, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(compile_one, jobs))
    crashes = [result for result in results if result]
    refused = collections.Counter(os.path.basename(job[1]).split(".")[0] for job, result in zip(jobs, results) if result is None)
    print("\n".join(crashes))
    print(f"{results.count('')} modules, {sum(refused.values())} are no programs: "
          + ", ".join(f"{name} {count}" for name, count in sorted(refused.items())))
    return 1 if crashes else 0


def run_several(job):
    """Runs each of the modules in all ways, one process for all: [path, launches, what is wrong]."""
    paths, options = job
    lines = {path: [f"{module} --device={options.device} --rows={rows} --repeat=1 {layout}"
                    for rows in options.rows for module in [path, path.replace(".cubin.rmsn", ".ptx.rmsn")]
                    if os.path.exists(module) for layout in LAYOUTS] for path in paths}
    text = "\n\n".join("\n".join(own) for own in lines.values())
    done = subprocess.run(["norm-trials"], input=text + "\n", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    statuses = re.findall(r"^status (\d)", done.stdout, re.M)
    results = []
    for path, own in lines.items():
        wrong = [line for i, line in enumerate(own) if i >= len(statuses) or statuses[i] != "0"]
        results.append((path, len(own), wrong))
        statuses = statuses[len(own):]
    return results, "\n".join(line for line in done.stdout.splitlines() if "error" in line)


def run_all(options):
    paths = sorted(glob.glob(os.path.join(options.folder, "*.cubin.rmsn")))
    paths = [path for path in paths if not options.names or os.path.basename(path).split(".")[0] in options.names]
    if not paths:
        sys.exit(f"programs.py: error: expected modules of 'programs.py compile' in {options.folder}, found none")
    trials, failed, texts = collections.Counter(), collections.Counter(), []
    widths = collections.defaultdict(set)
    jobs = [(paths[i : i + 8], options) for i in range(0, len(paths), 8)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for results, errors in pool.map(run_several, jobs):
            for path, count, wrong in results:
                name, columns, type = os.path.basename(path).split(".")[:3]
                trials[name] += count
                failed[name] += len(wrong)
                widths[name].add(f"{columns}:{type}")
                texts += wrong
            texts += [errors] if errors else []
    print(f"{'program':24} {'widths and types':>16} {'launches':>8} {'wrong':>6}")
    for name in sorted(trials):
        print(f"{name:24} {len(widths[name]):16} {trials[name]:8} {failed[name]:6}")
    print(f"{'all':24} {sum(map(len, widths.values())):16} {sum(trials.values()):8} {sum(failed.values()):6}")
    print("\n".join(texts))
    return 1 if sum(failed.values()) else 0


def measure_all(options):
    paths = sorted(glob.glob(os.path.join(options.folder, "*.space.rmsn")))
    paths = [path for path in paths if not options.names or os.path.basename(path).split(".")[0] in options.names]
    if not paths or not options.output:
        sys.exit("programs.py: error: expected -o and modules of 'programs.py compile --schedule-space' in "
                 f"{options.folder}, found {len(paths)} modules")
    head, lines, known = None, [], collections.defaultdict(set)
    if os.path.exists(options.output):
        head, *lines = [json.loads(line) for line in gzip.open(options.output, "rt")]
    for line in lines:
        known[line["program"], line["facts"]].update(line["rows"])
    start, wrong = time.time(), 0
    for path in paths:
        left = options.time_limit - (time.time() - start)
        if left <= 0:
            print(f"time is up at {path}")
            break
        with tempfile.TemporaryDirectory() as folder:
            times = os.path.join(folder, "times.jsonl")
            done = subprocess.run(["norm-tune", path, f"--device={options.device}", f"--time-limit={left}",
                                   f"--rows={','.join(map(str, options.rows))}", "-o", os.path.join(folder, "tuning.json"),
                                   f"--measurements={times}"], capture_output=True, text=True)
            wrong += done.returncode not in (0, 3)
            print(f"{os.path.basename(path)}: exit {done.returncode}, {time.time() - start:.0f} s")
            print("".join(line + "\n" for line in done.stderr.splitlines() if "error" in line or "warning" in line), end="")
            if not os.path.exists(times):
                continue
            own, *measured = [json.loads(line) for line in open(times)]
        head = head or own
        for line in measured:
            line["program"] = os.path.basename(path).split(".")[0]
            new = [i for i, rows in enumerate(line["rows"]) if rows not in known[line["program"], line["facts"]]]
            line["rows"], line["us"] = [line["rows"][i] for i in new], [line["us"][i] for i in new]
            lines += [line] if new else []
    if not lines:
        return 1
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in [head] + lines)
    with open(options.output, "wb") as file:
        file.write(gzip.compress(text.encode(), mtime=0))
    print(f"{options.output}: {sum(len(line['rows']) for line in lines)} points")
    return 1 if wrong else 0


def numbers(text):
    return [int(number) for number in text.split(",")]


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("action", choices=["compile", "run", "measure"])
parser.add_argument("folder")
parser.add_argument("names", nargs="*")
parser.add_argument("--target", default="sm_90")
parser.add_argument("--widths", type=numbers, default=[4096, 4097, 1000, 33])
parser.add_argument("--device", default="cuda")
parser.add_argument("--rows", type=numbers)
parser.add_argument("--schedule-space", action="store_true")
parser.add_argument("-o", dest="output")
parser.add_argument("--time-limit", type=float, default=3600)
parser.add_argument("--jobs", type=int, default=os.cpu_count())
options = parser.parse_intermixed_args()
options.rows = options.rows or ([1, 11, 300] if options.action == "run" else
                                [1, 3, 12, 48, 100, 200, 400, 800, 1500, 3000])
sys.exit({"compile": compile_all, "run": run_all, "measure": measure_all}[options.action](options))
