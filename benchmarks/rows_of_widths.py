#!/usr/bin/env python3
"""Times the programs of benchmarks/widths that have a reference in PyTorch, in rounds with torch.compile.

On a machine with LLVM:

    norm-compile benchmarks/widths/dyt.mlir --target=sm_90 -o modules/dyt.rmsn

On the machine with the GPU:

    python3 benchmarks/rows_of_widths.py modules OTHER_MODULES --library=lib/librmsnorm_runtime.so --rows 64 4096

All outputs are compared with the reference before they are timed. Modules of other folders are timed beside the first ones.
"""
import argparse
import importlib.util
import os
import pathlib

import torch

import capi
import timing

spec = importlib.util.spec_from_file_location("references", pathlib.Path(__file__).parent / "widths/references.py")
references = importlib.util.module_from_spec(spec)
spec.loader.exec_module(references)

MODES = {"compile": None, "max-autotune": "max-autotune-no-cudagraphs"}
ROTATED_BYTES = 400 << 20


def list_of(outputs):
    return list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]


def size(tensors):
    return sum(t.numel() * t.element_size() for t in tensors)


def differs(outputs, expected):
    """The greatest difference over what rounding to the output's type and sums of f32 allow."""
    worst = 0
    for one, other in zip(outputs, expected, strict=True):
        step = 2**-7 if one.dtype == torch.bfloat16 else 2**-15
        error = (one.double() - other.double()).abs()
        worst = max(worst, (error / (step * (1 + other.double().abs()))).max().item())
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="+", help="of modules, named as the programs")
    parser.add_argument("--library", default="librmsnorm_runtime.so")
    parser.add_argument("--rows", type=int, nargs="+", default=[64, 4096])
    parser.add_argument("--programs", nargs="+", default=list(references.REFERENCES))
    parser.add_argument("--compile-only", action="store_true", help="fill torch.compile's caches and time nothing")
    options = parser.parse_args()
    print(torch.cuda.get_device_name(), torch.__version__)
    for program in options.programs:
        reference, arguments = references.REFERENCES[program]
        for rows in options.rows:
            torch._dynamo.reset()
            torch.manual_seed(1)
            first = arguments(rows, "cuda")
            expected = list_of(reference(*first))
            compiled = {name: torch.compile(reference, mode=mode, dynamic=False) for name, mode in MODES.items()}
            for function in compiled.values():
                function(*first)
            torch.cuda.synchronize()
            if options.compile_only:
                continue
            count = max(2, min(64, ROTATED_BYTES // (size(first) + size(expected))))
            sets = [first] + [[t.clone() for t in first] for _ in range(count - 1)]
            keep, candidates, notes = [], {}, {}

            def bind(function, inputs, keep=keep):
                def launch(stream):
                    keep.append(function(*inputs))  # so that no output is written to the same memory twice

                return launch

            for name, function in compiled.items():
                notes[name] = differs(list_of(function(*first)), expected)
                candidates[name] = [bind(function, inputs) for inputs in sets]
            for folder in options.folders:
                runtime = capi.Runtime(options.library, os.path.join(folder, program + ".rmsn"), capi.CUDA)
                function = runtime.prepare(program)
                launches = []
                for inputs in sets:
                    outputs = [torch.full_like(t, float("nan")) for t in expected]
                    tensors = [timing.to_dlpack(t) for t in [*inputs, *outputs]]
                    needed = function.workspace_size(tensors)
                    workspace = torch.empty(max(needed, 16), dtype=torch.uint8, device="cuda")
                    keep.append((outputs, workspace))
                    launches.append(function.bind(tensors, workspace.data_ptr(), needed))
                launches[0](torch.cuda.current_stream().cuda_stream)
                torch.cuda.synchronize()
                notes[folder] = differs(keep[-count][0], expected)
                candidates[folder] = launches
            times = timing.in_rounds(candidates, rounds=11)
            peer = min(times[name] for name in MODES)
            print(f"{program} {rows}: " + ", ".join(f"{name} {us:.2f} us" for name, us in times.items()) +
                  f"; torch.compile / ours {peer / times[options.folders[0]]:.3f}; errors " +
                  ", ".join(f"{worst:.2f}" for worst in notes.values()), flush=True)
            del candidates, keep[:], sets


if __name__ == "__main__":
    main()
