#!/usr/bin/env python3
"""Times compiled forward norms on a CUDA device next to copies of the same bytes.

On a machine with LLVM:

    python3 test/Target/Inputs/norm_shapes.py bf16 128 4096 65536 > shapes.mlir
    norm-compile shapes.mlir --target=sm_90 -o shapes.rmsn

On the machine with the GPU (PyTorch, CuPy and librmsnorm_runtime.so are all it needs):

    python3 benchmarks/forward.py shapes.rmsn --library=lib/librmsnorm_runtime.so 32768x128 32768x4096

The ceiling is the best copy of the same bytes in the same run; timing.py says how times are taken, and what the ceiling of
dependent launches (PDL) is. Outputs are compared with f64 before they are timed, and poisoned before that.
"""
import argparse
import sys

import torch

import capi
import record
import timing

RELATIVE_BOUND = 2**-8 + 2**-12  # half a bf16 ulp, and what f32 adds to it


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module", help="compiled with entries nN, bf16, as norm_shapes.py writes them")
    parser.add_argument("shapes", nargs="+", metavar="MxN")
    parser.add_argument("--library", default="librmsnorm_runtime.so")
    record.add_options(parser)
    options = parser.parse_args()

    torch.manual_seed(1)
    runtime = capi.Runtime(options.library, options.module, capi.CUDA)
    pool = timing.Pool()
    print(torch.cuda.get_device_name())
    print(f"{'shape':>14} {'ceiling us':>11} {'norm us':>9} {'of ceiling':>10} {'GB/s':>6} {'PDL ceiling':>12} {'of it':>6}")
    run = record.Record(facts=timing.get_facts(), commit=options.commit, **record.SIZES)
    failed = False
    for shape in options.shapes:
        rows, columns = map(int, shape.split("x"))
        pairs = pool.sets(rows, columns, 2, inputs=1)
        weight = (1 + 0.1 * torch.randn(columns, device="cuda")).bfloat16()
        size = 2 * rows * columns
        ceiling = timing.ceiling(size, size)
        function = runtime.prepare(f"n{columns}")
        pdl = "programmatic dependent launch" in runtime.describe(f"n{columns}")
        pdl_ceiling = timing.ceiling(size, size, dependent=True) if pdl else None

        def bind(x, y):
            return function.bind([timing.to_dlpack(t) for t in (x, weight, y)])

        x, y = pairs[0]
        y.fill_(float("nan"))
        bind(x, y)(torch.cuda.current_stream().cuda_stream)
        torch.cuda.synchronize()
        wrong = 0.0
        for begin in {0, max(0, rows - 64)}:
            part = x[begin : begin + 64].double()
            expected = part * torch.rsqrt((part * part).mean(1, keepdim=True) + 1e-5) * weight.double()
            wrong = max(wrong, ((y[begin : begin + 64].double() - expected).abs() / expected.abs().clamp(min=1e-30)).max().item())
        if not wrong <= RELATIVE_BOUND or y.isnan().any():
            failed = True
            print(f"{shape:>14} relative error {wrong:.3g}, bound {RELATIVE_BOUND:.3g}, or rows not written: not timed")
            continue
        time = timing.microseconds([bind(x, y) for x, y in pairs], pdl)
        run.add("forward", "bf16", rows, columns, time, ceiling)
        moved = 4 * rows * columns
        print(f"{shape:>14} {ceiling:11.2f} {time:9.2f} {ceiling / time:10.3f} {moved / time / 1e3:6.0f}"
              + (f" {pdl_ceiling:12.2f} {pdl_ceiling / time:6.3f}" if pdl else f" {'-':>12} {'-':>6}"), flush=True)
    if options.json:
        run.write(options.json)
    sys.exit(failed)


if __name__ == "__main__":
    main()
