#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times rmsnorm.torch.RMSNorm, the drop-in for torch.nn.RMSNorm, beside it, torch.compile of it and, where it is installed, Liger.

On a machine with LLVM:

    python3 -c "import rmsnorm.torch, torch; print(rmsnorm.torch.source(4096, 1e-5, torch.bfloat16))" > norm.mlir
    norm-compile norm.mlir --target=sm_90 -o norm.rmsn

On the machine with the GPU (PyTorch, the package and the module are all that ours needs):

    python3 benchmarks/dropin.py norm.rmsn --rows=4096 --columns=4096

Three times of each, the median of rounds in which all take turns:

    host    microseconds that Python is busy with a call of 1 row, as nobody waits for the GPU
    wall    a call of all rows, and the wait for it
    graph   the device's time of it, recorded in a CUDA graph

of inference, and of a training step: forward and backward, with the gradients of x and of the weight. All results are compared
with f64 first.
"""
import argparse
import statistics
import time

import torch

import rmsnorm
import rmsnorm.torch

EPSILON = 1e-5
ROUNDS = 9


def make_norms(columns, module):
    torch_norm = torch.nn.RMSNorm(columns, eps=EPSILON, dtype=torch.bfloat16, device="cuda")
    norms = {"rmsnorm": rmsnorm.torch.RMSNorm(columns, eps=EPSILON, dtype=torch.bfloat16, device="cuda", module=module),
             "torch.nn": torch_norm}
    for mode in (None, "max-autotune-no-cudagraphs"):
        norms[f"torch.compile{f' ({mode})' if mode else ''}"] = torch.compile(
            torch.nn.RMSNorm(columns, eps=EPSILON, dtype=torch.bfloat16, device="cuda"), dynamic=False, mode=mode)
    try:
        from liger_kernel.transformers import LigerRMSNorm
        norms["Liger"] = LigerRMSNorm(columns, eps=EPSILON).to("cuda", torch.bfloat16)
    except ImportError:
        print("Liger is not installed")
    weight = torch.randn(columns, device="cuda", dtype=torch.bfloat16)
    for norm in norms.values():
        norm.weight.data.copy_(weight)
    return norms


def make_step(norm, x, dy, training):
    if not training:
        def infer():
            with torch.no_grad():
                return norm(x)
        return infer

    def train():
        y = norm(x)
        return y, *torch.autograd.grad(y, (x, norm.weight), dy)
    return train


def check(name, norm, x, dy):
    """All results of a training step, by what roundings of bf16 explain."""
    wide = torch.nn.RMSNorm(x.shape[1], eps=EPSILON, dtype=torch.float64, device=x.device)
    wide.weight.data.copy_(norm.weight)
    expected = make_step(wide, x.detach().double().requires_grad_(), dy.double(), training=True)()
    for got, want in zip(make_step(norm, x, dy, training=True)(), expected):
        error = (got.double() - want).norm() / want.norm()
        assert error < 1e-2, f"{name}: {error:.2e} from f64"


def time_host(step, count=200):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(count):
        step()
    elapsed = time.perf_counter() - begin
    torch.cuda.synchronize()
    return elapsed / count * 1e6


def time_wall(step, count=20):
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(count):
        step()
        torch.cuda.synchronize()
    return (time.perf_counter() - begin) / count * 1e6


class Graph:
    def __init__(self, step, count=20):
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            step()
        torch.cuda.current_stream().wait_stream(stream)
        self.graph, self.count = torch.cuda.CUDAGraph(), count
        with torch.cuda.graph(self.graph):
            for _ in range(count):
                step()

    def time(self):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        self.graph.replay()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / self.count * 1e3


def measure(norms, rows, columns, training):
    def tensors(count):
        return [torch.randn(count, columns, device="cuda", dtype=torch.bfloat16).requires_grad_(training and i == 0)
                for i in range(2)]

    few, all_rows = tensors(1), tensors(rows)
    ways = {}
    for name, norm in norms.items():
        host, wall = make_step(norm, *few, training), make_step(norm, *all_rows, training)
        for _ in range(20):
            host(), wall()
        graph = Graph(wall)
        ways[name] = (lambda host=host: time_host(host), lambda wall=wall: time_wall(wall), graph.time)
    times = {name: ([], [], []) for name in ways}
    for _ in range(ROUNDS):
        for name, functions in ways.items():
            for list_, function in zip(times[name], functions):
                list_.append(function())
    return {name: [statistics.median(one) for one in lists] for name, lists in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", help="compiled from what rmsnorm.torch.source prints")
    parser.add_argument("--rows", type=int, default=4096)
    parser.add_argument("--columns", type=int, default=4096)
    options = parser.parse_args()
    norms = make_norms(options.columns, rmsnorm.load(options.module))
    x = torch.randn(options.rows, options.columns, device="cuda", dtype=torch.bfloat16).requires_grad_()
    for name, norm in norms.items():
        check(name, norm, x, torch.randn_like(x))
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, {options.rows} x {options.columns} bf16, microseconds")
    for training in (False, True):
        print(f"{'training step' if training else 'inference':42} {'host':>8} {'wall':>8} {'graph':>8}")
        for name, values in measure(norms, options.rows, options.columns, training).items():
            print(f"  {name:40} " + " ".join(f"{value:8.1f}" for value in values))


main()
