#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times models under torch.compile: Inductor alone, and with our kernels (backend="rmsnorm").

    python3 benchmarks/graphs.py qwen3_8b --cases=decode1,prefill --json=graphs.json --commit=...

The models are those of the tests (test/Python/Inputs/torch_blocks.py), four layers at the widths of real ones, in bf16 with random
weights. Forms:

    inductor   torch.compile
    pdl        the same with dependent launches of its Triton kernels
    ours       torch.compile(backend="rmsnorm")

A case is a step without gradients in a CUDA graph (decode*: one token of so many sequences, prefill: 4,096 tokens), the same without a
graph (eager*), or a training step (train). All take turns in rounds; times are medians in milliseconds, differences from `inductor` medians
of those of each round, in percent. Results are compared with the model in f32 first: nobody may be further from it than eager mode by more
than a tenth.

`host` times calls of one row where the host is what all wait for: microseconds of one norm more in a graph, ours and Triton's.

Processes that run beside each other may share a folder (--turns): all compile first, then one after the other measures.
"""
import argparse
import copy
import fcntl
import json
import os
import pathlib
import random
import statistics
import sys
import time

import torch

import record
import rmsnorm.torch
import timing

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "test" / "Python" / "Inputs"))
import torch_blocks  # noqa: E402

Sizes = torch_blocks.Sizes
MODELS = {
    "llama3_8b": ("llama", Sizes(4096, 32, 8, 128, 14336, 4)), "qwen3_8b": ("qwen3", Sizes(4096, 32, 8, 128, 12288, 4)),
    "gemma3_4b": ("gemma3", Sizes(2560, 8, 4, 256, 10240, 4)), "olmo2_7b": ("olmo2", Sizes(4096, 32, 32, 128, 11008, 4)),
    "dit_3072": ("dit", Sizes(3072, 24, 24, 128, 12288, 4)),
}
FORMS = {"inductor": {}, "pdl": {"options": {"triton.enable_pdl": True}},
         "ours": {"backend": "rmsnorm", "options": {"roundings": "fewer"}}}


def make_case(name, model_name):
    """(batch, tokens, whether it trains, whether it is captured)"""
    if name.startswith(("decode", "eager")):
        rows = int(name.lstrip("decodeagr"))
        return (1, rows, False, name.startswith("decode")) if model_name == "dit" else (rows, 1, False, name.startswith("decode"))
    return 1, 4096, name == "train", name != "train"


def make_step(compiled, model, inputs, trains):
    if not trains:
        def infer():
            with torch.no_grad():
                return compiled(*inputs)
        return infer

    def train():
        model.zero_grad(set_to_none=True)
        compiled(*inputs).float().square().mean().backward()
        return [p.grad for p in model.parameters()]
    return train


def capture(step):
    """What replays it, and what must live as long."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        step()
        step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = step()
    return graph.replay, result


def flatten(result):
    return [t for t in (result if isinstance(result, (list, tuple)) else [result]) if t is not None]


def distance(got, wide):
    return statistics.mean(((a.float() - b).norm() / b.norm().clamp(min=1e-30)).item() for a, b in zip(flatten(got), flatten(wide)))


def in_rounds(steps, seconds, inner):
    times = {name: [] for name in steps}
    order, shuffled, end = list(steps), random.Random(1), time.time() + seconds
    while time.time() < end or len(times[order[0]]) < 9:
        shuffled.shuffle(order)
        for name in order:
            begin, done = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            steps[name]()
            begin.record()
            for _ in range(inner):
                steps[name]()
            done.record()
            done.synchronize()
            times[name].append(begin.elapsed_time(done) / inner)
    return times


def compile_all(name, cases, forms):
    """(case, inputs, whether it trains and is captured, steps by form) for each case, and the model"""
    kind, sizes = MODELS[name]
    torch.manual_seed(0)
    with torch.device("cuda"):
        model = torch_blocks.make(kind, sizes).bfloat16()
    ready = []
    for case in cases:
        batch, tokens, trains, captured = make_case(case, kind)
        torch.manual_seed(1)
        inputs = torch_blocks.arguments(kind, sizes, batch, tokens, device="cuda")
        steps = {}
        for form in forms:
            start = time.time()
            steps[form] = make_step(torch.compile(model, dynamic=False, **FORMS[form]), model, inputs, trains)
            steps[form]()
            torch.cuda.synchronize()
            print(f"{name} {case} {form}: compiled in {time.time() - start:.1f} s", flush=True)
        ready.append((case, inputs, trains, captured, steps))
    print(rmsnorm.torch.report(), flush=True)
    return ready, model


def measure(name, ready, model, seconds, run):
    wide = copy.deepcopy(model).float()
    for case, inputs, trains, captured, steps in ready:
        eager = make_step(model, model, inputs, trains)
        exact = make_step(wide, wide, [t.float() if t.is_floating_point() else t for t in inputs], trains)()
        far = {form: distance(step(), exact) for form, step in {**steps, "eager": eager}.items()}
        del exact
        if any(d > 1.1 * far["eager"] for d in far.values()):
            sys.exit(f"error: {name} {case}: further from f32 than eager mode: {far}")
        runs = {form: capture(step)[0] for form, step in steps.items()} if captured else steps
        in_rounds(runs, 1, 1)  # clocks rise
        times = in_rounds(runs, seconds, 1 if trains or case == "prefill" else 20)
        median = {form: 1e3 * statistics.median(t) for form, t in times.items()}
        percent = {form: round(statistics.median(100 * (a / b - 1) for a, b in zip(times["ours"], t)), 2)
                   for form, t in times.items() if form != "ours"}
        run.add_row(program=name, type="bf16", shape=case, microseconds=round(median["ours"], 2),
                    ratio=round(min(t for form, t in median.items() if form != "ours") / median["ours"], 4),
                    theirs={form: round(t, 2) for form, t in median.items() if form != "ours"}, percent=percent,
                    distance={form: float(f"{d:.2e}") for form, d in far.items()})
        print(json.dumps(run.times[-1]), flush=True)


class Chain(torch.nn.Module):
    """Norms of a residual sum with small products in between, so that each is a kernel."""

    def __init__(self, count, width=256):
        super().__init__()
        self.norms = torch.nn.ModuleList(torch_blocks.LlamaNorm(width) for _ in range(count))
        self.products = torch.nn.ModuleList(torch.nn.Linear(width, width, bias=False) for _ in range(17))

    def forward(self, x):
        for i, product in enumerate(self.products):
            y = product(x)
            x = self.norms[i](x + y) if i < len(self.norms) else y
        return x


def measure_host(seconds, run):
    """Microseconds of the host for one norm more: between graphs of one norm and of seventeen, with as many products."""
    x = torch.randn(1, 256, device="cuda").bfloat16()
    steps = {}
    for count in (1, 17):
        model = Chain(count).cuda().bfloat16()
        for form in ("inductor", "ours"):
            steps[form, count] = make_step(torch.compile(model, dynamic=False, **FORMS[form]), model, (x,), False)
            steps[form, count]()
    times = {key: [] for key in steps}
    end = time.time() + seconds
    while time.time() < end or len(times["ours", 1]) < 9:
        for key, step in steps.items():
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(20):
                step()
            times[key].append((time.perf_counter() - start) / 20 * 1e6)
    norm = {form: (statistics.median(times[form, 17]) - statistics.median(times[form, 1])) / 16 for form in ("inductor", "ours")}
    run.add_row(program="host, one norm", type="bf16", shape="1 x 256", microseconds=round(norm["ours"], 2),
                ratio=round(norm["inductor"] / norm["ours"], 3))
    print(json.dumps(run.times[-1]), flush=True)


class Turns:
    """Between processes that share a folder: entered one by one, once all are there."""

    def __init__(self, folder, count):
        self.folder, self.count = folder, count

    def __enter__(self):
        if self.folder:
            os.makedirs(self.folder, exist_ok=True)
            open(os.path.join(self.folder, f"ready{os.getpid()}"), "w").close()
            while len([f for f in os.listdir(self.folder) if f.startswith("ready")]) < self.count:
                time.sleep(0.1)
            self.lock = open(os.path.join(self.folder, "lock"), "w")
            fcntl.flock(self.lock, fcntl.LOCK_EX)

    def __exit__(self, *_):
        if self.folder:
            self.lock.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=[*MODELS, "host"])
    parser.add_argument("--cases", default="decode1,decode16,decode64,prefill,train")
    parser.add_argument("--forms", default=",".join(FORMS))
    parser.add_argument("--seconds", type=float, default=3, help="of each case")
    parser.add_argument("--turns", nargs=2, metavar=("FOLDER", "COUNT"), help="of processes beside this one")
    record.add_options(parser)
    options = parser.parse_args()
    torch._dynamo.config.recompile_limit = 64  # one model, many forms
    run = record.Record(
        "Models under torch.compile", timing.get_facts(), options.commit, ceiling=None,
        method="benchmarks/graphs.py: four layers in bf16 with random weights; decode: one token of so many sequences, prefill: 4096 "
               "tokens, both in a CUDA graph; train: 4096 tokens, forward and backward; rounds of changing order, the median",
        peers="torch.compile, the faster of the modes default and default with dependent launches")
    turns = Turns(*((options.turns[0], int(options.turns[1])) if options.turns else (None, 0)))
    ready = None if options.model == "host" else compile_all(options.model, options.cases.split(","), options.forms.split(","))
    with turns:
        if ready:
            measure(options.model, *ready, options.seconds, run)
        else:
            measure_host(options.seconds, run)
        if options.json:
            run.write(options.json)


if __name__ == "__main__":
    main()
