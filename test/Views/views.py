# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs random programs with views around norms, against a reference of its own.

    views.py [--seed=S] [--count=N] [--embed=TARGET] [--gpu=CHIP] [--mutate] [--step=NAME]
             [--minimise] [--keep=DIR]

A program is a list of steps on one tensor: norms, transposes, slices, groups,
interleaved columns, operands that are broadcast, several results, rows stored at
indices of an argument. Each step writes IR and computes, in plain Python, what it
means; of the compiler it knows nothing. Program S depends on S alone, and so does
each step: a program with steps left out is a program, which is what --minimise
tries. Where it is embedded, its indices are made in the program.

Each program is compiled for two chips and the oracle. Then

- norm-run must find all elements in the oracle's intervals, in some layout;
- kernels must give what the reference says, on sizes of the reference. That is
  about places, not roundings, which are the oracle's: what lies elsewhere
  differs by far more than the tolerance;
- a program may be refused, by one error with a location. The table at the end
  says how often and why.

With --gpu=CHIP, such as sm_90, norm-run launches them on the GPU of this machine, too.
With --embed=TARGET programs become kernels among host code instead, and
compare.py compares them with upstream's lowering. None may be refused there.
With --mutate the reference and the program differ in a place: all that are
compiled must be seen to be wrong. With --step=scatter all programs are left out
that have no step of that name. --keep=DIR leaves programs that fail in DIR.

norm-compile and norm-run are taken from the PATH; LIBDIR and, with --embed,
LLVM_LIBDIR are the folders of libraries.
"""

import argparse
import array
import collections
import math
import os
import random
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # the source tree stays clean
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "benchmarks"), os.path.join(HERE, "..", "forks")]
import capi
import forks
from program import Program, TYPES

COMPARE = os.path.join(HERE, "..", "..", "scripts", "compare.py")
CHIPS = ["sm_90", "gfx942"]
# Programs that compare.py and, on a GPU, norm-run get at once.
BATCH = 16
OK, REFUSED, WRONG, CRASH = "ok", "refused", "WRONG", "CRASH"
SEVERAL, LOST = "refused by SEVERAL errors", "refused by an error WITHOUT a location"


def call(*command):
    """The exit status, and all that was printed."""
    status, output, errors = forks.call(*command, seconds=120)
    return status, output + errors


def failed(status, text):
    """The verdict on a compiler that gave up."""
    errors = re.findall(r"^.*\berror: .*$", text, re.M)
    if status < 0 or status > 2 or "Stack dump" in text:
        where = re.findall(r" (\S+) /\S*?/((?:lib|tools|runtime)/\S+:\d+)", text)
        said = re.findall(r"^(?:rmsnorm|LLVM ERROR): .*", text, re.M)
        return CRASH, said[0] if said else " ".join(where[0]) if where else text.strip()[-200:]
    if not errors or not all(re.match(r"\S+:\d+:\d+: error: ", error) for error in errors):
        return LOST, "; ".join(errors) or text.strip()[-300:]
    return REFUSED if len(errors) == 1 else SEVERAL, "; ".join(re.sub(r"^\S+ ", "", error) for error in errors)


def in_child(work):
    """What `work` says, in a process of its own: wrong kernels may end it."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            text = work()
        except BaseException as error:
            text = str(error) or repr(error)
        os.write(write, text.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    status = os.waitpid(child, 0)[1]
    return f"ended by signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else text


def launch(program, path):
    """How the kernels' results differ from the reference's."""
    runtime = capi.Runtime(os.path.join(os.environ["LIBDIR"], "librmsnorm_runtime.so"), path, capi.SIM)
    function = runtime.prepare(program.name)
    new = [result for result in program.results if result.home is None]
    count = len(re.findall(r"^  argument ", runtime.describe(program.name), re.M))
    if count != len(program.arguments) + len(new):
        return f"expected {len(program.arguments) + len(new)} arguments, got {count}"
    # What is not written differs from all that is expected.
    buffers = [TYPES[value.kind].encode(value.data) for value in program.arguments]
    buffers += [TYPES[value.kind].encode([TYPES[value.kind].unwritten] * len(value.data)) for value in new]
    tensors, shifts = [], []
    # Each lies at a multiple of 16 bytes, or one element after it.
    rng = random.Random(program.seed)
    for value, buffer in zip(program.arguments + new, buffers):
        shifts.append(rng.randrange(2))
        buffer[:0] = buffer[:shifts[-1]]
        address = buffer.buffer_info()[0] + shifts[-1] * buffer.itemsize
        tensors.append(capi.Tensor(address, value.sizes, TYPES[value.kind].dlpack, runtime.place))
    workspace = array.array("d", bytes(8 + function.workspace_size(tensors) // 8 * 8 + 256))
    address = workspace.buffer_info()[0] + 255 & ~255
    function.bind(tensors, address, 8 * len(workspace) - 256)()
    for number, result in enumerate(program.results):
        place = len(program.arguments) + new.index(result) if result.home is None else result.home
        got = TYPES[result.kind].decode(buffers[place][shifts[place]:])
        tolerance = TYPES[result.precise].tolerance
        wrong = [i for i, (a, b) in enumerate(zip(got, result.data)) if not abs(a - b) <= tolerance * max(1.0, abs(b))]
        if wrong:
            i = wrong[0]
            return f"result {number}: {len(wrong)} of {len(got)} wrong, first at {i}: expected {result.data[i]:.6}, got {got[i]:.6}"
    return ""


def run_modules(paths, device, rng):
    """What norm-run says of the modules on the device, in some layout: the verdict, and why."""
    ways = rng.choice([["--unaligned"], ["--strided"], ["--strided", "--unaligned"], []])
    if device.startswith("sim") and len(ways) == 2:
        ways.append("--order=reverse")
    rows = f"--rows={rng.choice([0, 1, 2, 12, 16, 24, 48, 67])}"
    status, text = call("norm-run", *paths, f"--device={device}", rows, *ways)
    if not status:
        return OK, ""
    reason = text.strip().split("\n")[-1] if status > 0 else f"signal {-status}"
    return WRONG if status > 0 else CRASH, f"norm-run --device={device} {rows} {' '.join(ways)}: {reason}"


def judge(program, folder, options):
    """The verdict on a program that is a module, and why."""
    path = program.write(folder)
    compiled = path + ".rmsn"
    rng = random.Random(program.seed)
    chips = rng.sample(CHIPS, 2)  # the reference is for the first
    targets = [f"--target=sim:{chip}" for chip in chips] + ["--target=oracle"]
    if options.gpu:
        targets.append(f"--target={options.gpu}")
    status, text = call("norm-compile", path, *targets, "-o", compiled)
    if status:
        return failed(status, text)
    for chip in () if options.mutate or program.own_sizes else chips:
        verdict, reason = run_modules([compiled], f"sim:{chip}", rng)
        if verdict != OK:
            return verdict, reason
    difference = in_child(lambda: launch(program, compiled))
    return (WRONG, f"reference, sim:{chips[0]}: {difference}") if difference else (OK, "")


def on_gpu(some, folder):
    """Launches the programs that were compiled on the GPU: all at once, and one by one if that fails."""
    paths = {program: os.path.join(folder, f"{program.name}.mlir.rmsn") for program, (verdict, _) in some
             if verdict == OK and not program.own_sizes}
    seed = some[0][0].seed
    failed = paths and run_modules(list(paths.values()), "cuda", random.Random(seed))[0] != OK
    for program, verdict in some:
        if failed and program in paths:
            verdict = run_modules([paths[program]], "cuda", random.Random(seed))
        yield program, verdict


def embed(programs, folder, target):
    """Yields each program with its verdict; those of a batch that fails are looked at one by one."""
    programs = [program for program in programs if not program.is_for_modules()]
    if not programs:
        return
    path = os.path.join(folder, "batch.mlir")
    with open(path, "w") as file:
        file.write("".join(program.text() for program in programs))
    # A size may be halved three times; a result may be rounded five times, one after another.
    status, text = call(sys.executable, "-S", "-B", COMPARE, path, f"--embed=sim:{target},direct", "--size=8", "--magnitude=64,16",
                        "--share=0.15", "--rounded-sums")
    if status and len(programs) > 1:
        for program in programs:
            yield from embed([program], folder, target)
        return
    verdict = (OK, "")
    if status and "WRONG" in text:
        verdict = WRONG, re.search(r".*WRONG", text)[0]
    elif status:
        # compare.py ends with what a tool printed, and not with its status.
        verdict = failed(-1 if "Stack dump" in text or "failed:\n\n" in text or "LLVM ERROR" in text else 1, text)
    for program in programs:
        yield program, verdict


def minimise(program, verdict, reason, test):
    """The program with as few steps as fail alike, and why it fails."""
    for step in list(program.steps):
        fewer = Program(program.seed, [other for other in program.steps if other != step], program.mutating, program.embedded)
        other, why = test(fewer)
        if other == verdict and (verdict == WRONG or class_of(other, why) == class_of(verdict, reason)):
            program, reason = fewer, why
    return program, reason


def class_of(verdict, reason):
    """Of like failures one name."""
    reason = re.sub(r"^(norm-run|reference).*?sim:.*?: ", r"\1: ", reason)
    reason = re.sub(r"norm-run: error: \S+: entry \S+ ", "", reason)
    return f"{verdict}: " + re.sub(r"'[^']*'|-?\b(nan|[\d.]+(e-?\d+)?)\b", "_", reason)[:150]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--embed")
    parser.add_argument("--gpu")
    parser.add_argument("--mutate", action="store_true")
    parser.add_argument("--step")
    parser.add_argument("--minimise", action="store_true")
    parser.add_argument("--keep")
    options = parser.parse_args()
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
    bad = (WRONG, CRASH, LOST, SEVERAL) + ((REFUSED,) if options.embed else ())
    table, failures = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        def verdicts(programs):
            if options.embed:
                for first in range(0, len(programs), BATCH):
                    yield from embed(programs[first:first + BATCH], folder, options.embed)
            else:
                for first in range(0, len(programs), BATCH):
                    some = [(program, judge(program, folder, options)) for program in programs[first:first + BATCH]]
                    yield from on_gpu(some, folder) if options.gpu else some

        programs = [Program(seed, None, options.mutate, bool(options.embed)) for seed in range(options.seed, options.seed + options.count)]
        if options.step:
            programs = [program for program in programs if any(step.endswith(":" + options.step) for step in program.steps)]
        if options.mutate:
            programs = [program for program in programs if program.mutated and all(map(math.prod, (r.sizes for r in program.results)))]
        for program, (verdict, reason) in verdicts(programs):
            table[class_of(verdict, reason)] += 1
            if verdict not in ((OK, CRASH) if options.mutate else bad):
                continue
            failures += 1
            if options.minimise:
                program, reason = minimise(program, verdict, reason, lambda fewer: next(verdicts([fewer]), (fewer, (OK, "")))[1])
            print(f"seed {program.seed}, steps {program.steps}: {verdict}: {reason}\n{program.text()}", flush=True)
            if options.keep:
                program.write(options.keep, f"// {verdict}: {reason!r}\n")
    for name, count in table.most_common():
        print(f"{count:6} {name}")
    print(f"{sum(table.values())} programs, {failures} failures")
    sys.exit(failures > 0 or not programs)


if __name__ == "__main__":
    main()
