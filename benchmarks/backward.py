#!/usr/bin/env python3
"""Times compiled backward norms on a CUDA device next to elementwise kernels of the same bytes.

On a machine with LLVM:

    python3 test/Target/Inputs/norm_shapes.py bf16 backward 128 4096 65536 > shapes.mlir
    norm-compile shapes.mlir --target=sm_90 -o shapes.rmsn

On the machine with the GPU (PyTorch, CuPy and librmsnorm_runtime.so are all it needs):

    python3 benchmarks/backward.py shapes.rmsn --library=lib/librmsnorm_runtime.so 32768x128 32768x4096

The ceiling is the best kernel that reads two tensors of the shape and writes one, as dy, x and dx; dweight, its partial sums
and rstd come on top. timing.py says how times are taken. Outputs are compared with f64 before they are timed, poisoned before
that, and must be the same bits in ten runs.
"""
import argparse
import sys

import torch

import capi
import record
import timing

F32 = 2.0**-24
RUNS = 10
CHUNK = 1 << 25  # elements that are f64 at once


def bits_hash(tensor):
    """Of the bits and their places."""
    bits = tensor.view(-1).view(torch.int16)
    total = torch.zeros((), dtype=torch.int64, device="cuda")
    for begin in range(0, bits.numel(), CHUNK):
        part = bits[begin : begin + CHUNK].long()
        places = torch.arange(begin, begin + part.numel(), device="cuda")
        total = total * 31 + (part * (places * 0x9E3779B97F4A7C1 | 1)).sum()
    return total.item()


def get_rstd(x, eps=1e-5):
    """Of each row, in f32."""
    step = max(1, CHUNK // x.shape[1])
    return torch.rsqrt(torch.cat([part.float().square().mean(1) for part in x.split(step)]) + eps)


def get_dx(g, xhat, rstd):
    """dx and the size of its terms, of dy * weight."""
    dx = (g - xhat * (g * xhat).mean(1, keepdim=True)) * rstd
    return dx, (g.abs() + xhat.abs() * (g * xhat).abs().mean(1, keepdim=True)) * rstd


def reference_chunks(dy, x, weight, rstd):
    """(first row, g, xhat, rstd), in f64."""
    step = max(1, CHUNK // x.shape[1])
    for begin in range(0, x.shape[0], step):
        r = rstd[begin : begin + step].double().unsqueeze(1)
        d = dy[begin : begin + step].double()
        yield begin, d, d * weight.double(), x[begin : begin + step].double() * r, r


def errors(dy, x, weight, rstd, dx, dweight):
    """The largest errors of dx and dweight, as a share of what rounding explains: half an ulp of bf16 for dx, and of each
    term and sum of f32 a few roundings (include/RMSNorm/Conversion/Passes.td, ToIntervals)."""
    rows, columns = x.shape
    total = torch.zeros(columns, dtype=torch.float64, device="cuda")
    size = torch.zeros_like(total)
    worst = 0.0
    for begin, d, g, xhat, r in reference_chunks(dy, x, weight, rstd):
        expected, terms = get_dx(g, xhat, r)
        allowed = 2.0**-8 * expected.abs() + (16 + columns**0.5) * F32 * terms + 1e-30
        got = dx[begin : begin + expected.shape[0]].double()
        worst = max(worst, ((got - expected).abs() / allowed).nan_to_num(float("inf")).max().item())
        total += (d * xhat).sum(0)
        size += (d * xhat).abs().sum(0)
    allowed = (16 + rows**0.5) * F32 * size + 1e-30
    return worst, ((dweight.double() - total).abs() / allowed).nan_to_num(float("inf")).max().item()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module", help="compiled with entries bN, bf16, as norm_shapes.py writes them")
    parser.add_argument("shapes", nargs="+", metavar="MxN")
    parser.add_argument("--library", default="librmsnorm_runtime.so")
    record.add_options(parser)
    options = parser.parse_args()

    torch.manual_seed(1)
    runtime = capi.Runtime(options.library, options.module, capi.CUDA)
    pool = timing.Pool()
    print(torch.cuda.get_device_name())
    print(f"{'shape':>14} {'ceiling us':>11} {'norm us':>9} {'of ceiling':>10} {'GB/s':>6} {'workspace':>10} {'dx':>6} {'dweight':>8}")
    run = record.Record(facts=timing.get_facts(), commit=options.commit, **record.SIZES)
    failed = False
    for shape in options.shapes:
        rows, columns = map(int, shape.split("x"))
        sets = pool.sets(rows, columns, 3, inputs=2)
        weight = (1 + 0.1 * torch.randn(columns, device="cuda")).bfloat16()
        dweight = torch.empty(columns, device="cuda")
        rstds = [get_rstd(x) for _, x, _ in sets]
        ceiling = timing.ceiling(4 * rows * columns, 2 * rows * columns)
        function = runtime.prepare(f"b{columns}")

        def tensors(dy, x, dx, rstd):
            return [timing.to_dlpack(t) for t in (dy, x, weight, rstd, dx, dweight)]

        needed = function.workspace_size(tensors(*sets[0], rstds[0]))
        workspace = torch.full((max(1, needed),), 255, dtype=torch.uint8, device="cuda")

        def bind(dy, x, dx, rstd):
            return function.bind(tensors(dy, x, dx, rstd), workspace.data_ptr(), needed)

        (dy, x, dx), rstd = sets[0], rstds[0]
        first = bind(dy, x, dx, rstd)
        hashes = set()
        for _ in range(RUNS):
            dx.fill_(float("nan"))
            dweight.fill_(float("nan"))
            first(torch.cuda.current_stream().cuda_stream)
            hashes.add((bits_hash(dx), bits_hash(dweight)))
        dx_error, dw_error = errors(dy, x, weight, rstd, dx, dweight)
        if len(hashes) != 1 or not max(dx_error, dw_error) <= 1:
            failed = True
            print(f"{shape:>14} {len(hashes)} different results in {RUNS} runs, error of dx {dx_error:.3g} and of dweight "
                  f"{dw_error:.3g} times the bound: not timed")
            continue
        time = timing.microseconds([bind(*tensors_of_set, r) for tensors_of_set, r in zip(sets, rstds)])
        run.add("backward", "bf16", rows, columns, time, ceiling)
        moved = 6 * rows * columns
        print(f"{shape:>14} {ceiling:11.2f} {time:9.2f} {ceiling / time:10.3f} {moved / time / 1e3:6.0f} {needed:10d} "
              f"{dx_error:6.2f} {dw_error:8.2f}", flush=True)
    if options.json:
        run.write(options.json)
    sys.exit(failed)


if __name__ == "__main__":
    main()
