#!/usr/bin/env python3
"""Times norms alone on a CUDA device next to those of other libraries, as far as they are installed: Quack, FlashInfer, Liger
and torch.compile.

On a machine with LLVM, for each type (`add` for those after a residual addition):

    for kind in forward add backward; do python3 test/Target/Inputs/norm_shapes.py bf16 $kind 1024 4096; done > bf16.mlir
    norm-compile bf16.mlir --target=sm_90 -o bf16.rmsn

On the machine with the GPU (PyTorch, CuPy and librmsnorm_runtime.so are all that ours needs), for the shapes of a former run:

    python3 benchmarks/peers.py bf16=bf16.rmsn f16=f16.rmsn --like=benchmarks/data/performance/peers.json --json=peers.json

All libraries and the copies are timed in rounds, over more memory than L2 holds; timing.py says how a time is taken. Of what a
library may be called with (dependent launches, modes of torch.compile) the fastest counts. The backward computes dx and the
weight's gradient. All outputs are compared with f64 first. A library that does not run a shape is left out of it, and named.
"""
import argparse
import functools
import importlib
import importlib.metadata
import json
import sys

import torch

import backward
import capi
import record
import timing

EPSILON = 1e-5
DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}
STEP = {torch.bfloat16: 2.0**-8, torch.float16: 2.0**-11, torch.float32: 2.0**-22}
FORWARD, ADD, BACKWARD = "forward", "residual addition and forward", "backward"
ENTRIES = {FORWARD: "n", ADD: "a", BACKWARD: "b"}


class Call:
    """The tensors of one call. `x` and `other`, the residual or dy, are read, `results` written: y; y and the sum; or dx and
    dweight."""

    def __init__(self, program, x, other, weight, first, second):
        self.program, self.x, self.other, self.weight, self.results = program, x, other, weight, (first, second)
        if program == BACKWARD:
            self.rstd = backward.get_rstd(x, EPSILON)

    def find_error(self, results):
        """The largest difference from f64 by what roundings of inputs and outputs explain."""
        worst = 0.0
        dweight = size = 0
        step = max(1, backward.CHUNK // self.x.shape[1])
        weight = self.weight.double()
        for begin in range(0, self.x.shape[0], step):
            rows = slice(begin, begin + step)
            x = self.x[rows].double()
            if self.program == ADD:
                x = x + self.other[rows].double()
            rstd = torch.rsqrt((x * x).mean(1, keepdim=True) + EPSILON)
            xhat = x * rstd
            expected, terms = xhat * weight, (xhat * weight).abs()
            if self.program == BACKWARD:
                dy = self.other[rows].double()
                expected, terms = backward.get_dx(dy * weight, xhat, rstd)
                dweight = dweight + (dy * xhat).sum(0)
                size = size + (dy * xhat).abs().sum(0)
            # xhat may be rounded before it is multiplied, and the sum before it is normalized.
            allowed = 4 * STEP[self.x.dtype] * terms + 1e-5
            worst = max(worst, self.compare(results[0][rows], expected, allowed))
            if self.program == ADD:
                worst = max(worst, self.compare(results[1][rows], x, 2 * STEP[self.x.dtype] * x.abs() + 1e-5))
        if self.program == BACKWARD:
            allowed = 2.0**-8 * dweight.abs() + STEP[self.x.dtype] * size / 16 + 1e-5
            worst = max(worst, self.compare(results[1], dweight, allowed))
        return worst

    @staticmethod
    def compare(got, expected, allowed):
        return ((got.double() - expected).abs() / allowed).nan_to_num(float("inf")).max().item()


class Ours:
    """The kernels of a module."""

    def __init__(self, library, module):
        self.runtime = capi.Runtime(library, module, capi.CUDA)

    def bind(self, call):
        function = self.runtime.prepare(f"{ENTRIES[call.program]}{call.x.shape[1]}")
        tensors = {FORWARD: [call.x, call.weight, call.results[0]],
                   ADD: [call.x, call.other, call.weight, *call.results],
                   BACKWARD: [call.other, call.x, call.weight, getattr(call, "rstd", None), *call.results]}[call.program]
        described = [timing.to_dlpack(t) for t in tensors]
        needed = function.workspace_size(described)
        workspace = torch.empty(max(1, needed), dtype=torch.uint8, device="cuda")
        launch = function.bind(described, workspace.data_ptr(), needed)

        def run(stream):
            launch(stream)
            return call.results

        run.keep_alive = workspace
        return run


# Each yields the ways of calling a library: (name, what makes a call, whether an addition is in place: its inputs lie where
# results do). What it returns was written; it is kept, so that outputs are in rotation, too.
def quack():
    rmsnorm = importlib.import_module("quack.rmsnorm")  # the package has a function of this name

    def call_it(call):
        y, second = call.results
        if call.program == FORWARD:
            rmsnorm._rmsnorm_fwd(call.x, call.weight, y, eps=EPSILON)
        elif call.program == ADD:
            rmsnorm._rmsnorm_fwd(call.x, call.weight, y, residual=call.other, residual_out=second, eps=EPSILON)
        else:
            partial = torch.empty(rmsnorm.get_sm_count(call.x.shape[1], call.x.device), call.x.shape[1], device="cuda")
            rmsnorm._rmsnorm_bwd(call.x, call.weight, call.other, call.rstd, y, partial)
            second = partial.sum(0)
        return y, second

    yield "Quack", call_it, False


def flashinfer():
    from flashinfer.norm.kernels import fused_add_rmsnorm, rmsnorm

    def call_it(call, dependent):
        if call.program == FORWARD:
            rmsnorm.rmsnorm_cute(call.x, call.weight, call.results[0], EPSILON, 0.0, enable_pdl=dependent)
            return call.results
        if call.program == ADD:  # in place
            x, total = call.results
            fused_add_rmsnorm.fused_add_rmsnorm_cute(x, total, call.weight, EPSILON, 0.0, enable_pdl=dependent)
            return call.results
        raise NotImplementedError("no backward")

    for dependent in (False, True):
        yield f"FlashInfer{' dependent' if dependent else ''}", functools.partial(call_it, dependent=dependent), True


def liger():
    from liger_kernel.ops import fused_add_rms_norm, rms_norm

    def call_it(call):
        columns = call.x.shape[1]
        if call.program == FORWARD:
            return rms_norm.rms_norm_forward(call.x, call.weight, EPSILON, 0.0, "gemma", False)[:1]
        if call.program == ADD:
            return fused_add_rms_norm.fused_add_rms_norm_forward(call.x, call.other, call.weight, EPSILON, 0.0, "gemma")[:2]
        block, warps = rms_norm.calculate_settings(columns)
        return rms_norm.rms_norm_backward(call.other, call.x, call.weight, call.rstd, 0.0, rms_norm._CASTING_MODE_GEMMA.value,
                                          block, warps, False, False)

    yield "Liger", call_it, False


def compiled():
    def norm(x, weight):
        x = x.float()
        return x * torch.rsqrt(x.square().mean(1, keepdim=True) + EPSILON) * weight.float()

    def forward(x, other, weight, rstd):
        return (norm(x, weight).to(x.dtype),)

    def add(x, other, weight, rstd):
        total = x.float() + other.float()
        return norm(total, weight).to(x.dtype), total.to(x.dtype)

    def gradients(x, dy, weight, rstd):
        xhat = x.float() * rstd[:, None]
        g = dy.float() * weight.float()
        dx = (g - xhat * (g * xhat).mean(1, keepdim=True)) * rstd[:, None]
        return dx.to(x.dtype), (dy.float() * xhat).sum(0)

    # One kernel a shape; beyond the limit, which all modes share, functions would run uncompiled.
    torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 1 << 20
    for mode in (None, "max-autotune-no-cudagraphs"):
        torch._dynamo.reset()
        functions = {program: torch.compile(plain, mode=mode, dynamic=False)
                     for program, plain in ((FORWARD, forward), (ADD, add), (BACKWARD, gradients))}

        def call_it(call, functions=functions):
            return functions[call.program](call.x, call.other, call.weight, getattr(call, "rstd", None))

        yield f"torch.compile{' max-autotune' if mode else ''}", call_it, False


PEERS = {"Quack": (quack, "quack-kernels"), "FlashInfer": (flashinfer, "flashinfer-python"),
         "Liger": (liger, "liger-kernel"), "torch.compile": (compiled, None)}


def on_stream(call_it, call):
    def launch(stream):
        with torch.cuda.stream(torch.cuda.ExternalStream(stream)):
            launch.results = call_it(call)
        return launch.results

    return launch


def check(call, launch, in_place):
    """The error of a call, whose outputs are poisoned before it; or, in place, hold the inputs."""
    for result, given in zip(call.results, (call.x, call.other)):
        if result is not None:
            result.copy_(given) if in_place else result.fill_(float("nan"))
    results = launch(torch.cuda.current_stream().cuda_stream)
    torch.cuda.synchronize()
    return call.find_error(results)


def measure(program, dtype, rows, columns, ours, peers, pool):
    """({name: microseconds}, {name: why it was left out}); names of copies begin with "copy"."""
    inputs, outputs = {FORWARD: (1, 1), ADD: (2, 2), BACKWARD: (2, 1)}[program]
    sets = pool.sets(rows, columns, inputs + outputs, inputs, DTYPES[dtype])
    weight = (1 + 0.1 * torch.randn(columns, device="cuda")).to(DTYPES[dtype])
    calls = []
    for tensors in sets:
        second = {FORWARD: None, ADD: tensors[-1], BACKWARD: torch.empty(columns, device="cuda")}[program]
        calls.append(Call(program, tensors[0], tensors[1] if inputs == 2 else None, weight, tensors[inputs], second))
    launches, left_out = {}, {}
    for name, call_it, in_place in [("ours", None, False), *peers]:
        try:
            bound = [on_stream(call_it, call) if call_it else ours.bind(call) for call in calls]
            error = check(calls[0], bound[0], in_place and program == ADD)
            if error > 1:
                raise ValueError(f"off by {error:.3g} times the bound")
            launches[name] = bound
        except (Exception, SystemExit) as failure:
            left_out[name] = f"{type(failure).__name__}: {next(iter(str(failure).splitlines()), '')}"
    size = rows * columns * DTYPES[dtype].itemsize
    return timing.in_rounds({**launches, **timing.copies(inputs * size, outputs * size)}), left_out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", nargs="+", metavar="TYPE=FILE", help="with entries nN, aN and bN, as norm_shapes.py writes them")
    parser.add_argument("--like", required=True, metavar="FILE", help="a former run, whose programs and shapes are timed")
    parser.add_argument("--library", default="librmsnorm_runtime.so")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS), help="only these")
    record.add_options(parser)
    options = parser.parse_args()
    torch.manual_seed(1)
    modules = dict(module.split("=", 1) for module in options.modules)
    facts, peers = timing.get_facts(), []
    for name in options.peers:
        find, package = PEERS[name]
        try:
            peers += find()
            if package:
                facts["versions"][name] = importlib.metadata.version(package)
        except ImportError as failure:
            print(f"without {name}: {failure}", file=sys.stderr)
    run = record.Record("Norms alone beside other libraries", facts, options.commit,
                        "the fastest of six kernels that read and write as many tensors of the shape, in the same rounds",
                        "benchmarks/peers.py: CUDA-graph replays in rounds, with all libraries in each round; all outputs are "
                        "compared with f64", ", ".join(peer[0] for peer in peers))
    with open(options.like) as file:
        former = json.load(file)["times"]
    pool, failed = timing.Pool(), False
    for row in former:
        program, dtype, rows, columns = (row[key] for key in ("program", "type", "rows", "columns"))
        if dtype not in modules:
            continue
        ours = Ours(options.library, modules[dtype])
        times, left_out = measure(program, dtype, rows, columns, ours, peers, pool)
        copy = min(time for name, time in times.items() if name.startswith("copy"))
        theirs = {name: time for name, time in times.items() if name != "ours" and not name.startswith("copy")}
        head = f"{program} {dtype} {rows}x{columns}:"
        for name, why in left_out.items():
            print(f"{head} without {name}: {why}", file=sys.stderr)
        if "ours" not in times:
            failed = True
            continue
        run.add(program, dtype, rows, columns, times["ours"], copy, min(theirs.values(), default=None))
        print(head, f"ours {times['ours']:.2f} us, copy {copy:.2f},",
              ", ".join(f"{name} {time:.2f}" for name, time in theirs.items()), flush=True)
        if options.json:
            run.write(options.json)
    sys.exit(failed)


if __name__ == "__main__":
    main()
