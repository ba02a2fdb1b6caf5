#!/usr/bin/env python3
"""Checks on a CUDA device that a dependent launch reads what the kernel before it has just written.

On a machine with LLVM, with and without a weight that is declared constant:

    python3 test/Target/Inputs/norm_shapes.py bf16 128 1024 4096 16384 > shapes.mlir
    norm-compile shapes.mlir --target=sm_90 -o shapes.rmsn

On the machine with the GPU (PyTorch, CuPy and librmsnorm_runtime.so are all it needs):

    python3 benchmarks/pdl_check.py shapes.rmsn --library=lib/librmsnorm_runtime.so

A writer lets its dependents start, waits a while and only then writes x and the weight, to one of three sets of values in
turn; the norm follows it in the same stream, hundreds of times, and every output is compared with that of the values just
written. A weight that is declared constant stays as it is. Three ways: through the runtime, in the stream and as a CUDA graph;
the module's PTX, launched here; and that PTX without its wait, which must read old values: else this check could not see a
missing wait, and fails. Prints the launches with wrong rows of each.
"""
import argparse
import ctypes
import re
import sys

import cupy
import torch

import capi
from forward import RELATIVE_BOUND
from timing import Driver, to_dlpack

WRITER = r"""
extern "C" __global__ void write(const uint4 *new_x, uint4 *x, long x_vectors, const uint4 *new_weight, uint4 *weight,
                                 long weight_vectors, long nanoseconds) {
  asm volatile("griddepcontrol.launch_dependents;");
  long begin, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  while (now - begin < nanoseconds);
  long thread = blockIdx.x * (long)blockDim.x + threadIdx.x, threads = gridDim.x * (long)blockDim.x;
  for (long i = thread; i < x_vectors; i += threads)
    x[i] = new_x[i];
  for (long i = thread; i < weight_vectors; i += threads)
    weight[i] = new_weight[i];
}
"""
SETS = 3


class Describer:
    """The launch of an entry's first variant, as the module's description has it."""

    def __init__(self, runtime, entry):
        api = runtime.api
        body = runtime.describe(entry)
        self.arguments = re.findall(r"^  argument \d+ (\w+):", body, re.M)
        self.constants = re.findall(r"^  argument \d+ (\w+):.*, constant", body, re.M)
        launch = re.search(r"launch 0 (\w+) of image (\d+)\n\s*grid (.*) x 1 x 1\n\s*block (\d+) threads.*?(programmatic.*)?\n"
                           r"(?:\s*shared memory (.*) bytes\n)?\s*parameters (.*)\n", body)
        self.kernel, image, self.grid, threads, self.dependent, self.shared, parameters = launch.groups()
        self.threads, self.parameters = int(threads), re.split(r", (?=i64|i32|f32|pointer)", parameters)

        class Binary(ctypes.Structure):
            _fields_ = [("format", ctypes.c_char_p), ("bytes", ctypes.c_void_p), ("size", ctypes.c_size_t)]

        binary, self.ptx = Binary(), None
        for index in range(2):
            if api.rmsnorm_module_get_binary(runtime.module, ctypes.c_size_t(int(image)), ctypes.c_size_t(index),
                                             ctypes.byref(binary)) == 0 and binary.format == b"ptx":
                self.ptx = ctypes.string_at(binary.bytes, binary.size).decode()

    def evaluate(self, expression, tensors):
        named = dict(zip(self.arguments, tensors))
        for name, tensor in named.items():
            expression = re.sub(rf"size\({name}, (\d+)\)", lambda m: str(tensor.shape[int(m[1])]), expression)
            expression = re.sub(rf"stride\({name}, (\d+)\)", lambda m: str(tensor.stride(int(m[1]))), expression)
        functions = {"min": min, "max": max, "ceildiv": lambda a, b: -(-a // b)}
        expression = re.sub(r"multiprocessor\w*(\(\))?", str(torch.cuda.get_device_properties(0).multi_processor_count), expression)
        return int(eval(expression, {"__builtins__": {}}, functions))


class PtxKernel:
    """A variant's PTX, launched as the runtime would, but for what is taken out of it."""

    def __init__(self, described, ptx):
        self.described, self.driver = described, Driver()
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        self.driver.check(self.driver.api.cuModuleLoadData(ctypes.byref(module), ptx.encode() + b"\0"))
        self.driver.check(self.driver.api.cuModuleGetFunction(ctypes.byref(self.function), module, described.kernel.encode()))

    def bind(self, *tensors):
        d = self.described
        named = dict(zip(d.arguments, tensors))
        slots = []
        for parameter in d.parameters:
            kind, value = parameter.split(" ", 1)
            if kind == "pointer":
                slots.append(ctypes.c_uint64(named[value].data_ptr()))
            else:
                slots.append({"i64": ctypes.c_int64, "i32": ctypes.c_int32}[kind](d.evaluate(value, tensors)))
        shared = d.evaluate(d.shared, tensors) if d.shared else 0
        return self.driver.dependent_launch(self.function.value, d.evaluate(d.grid, tensors), d.threads, shared, slots)


def count_wrong(make, rows, columns, constant, launches, graph):
    """How many of the launches left a wrong row."""
    generator = torch.Generator("cuda").manual_seed(rows + columns)
    xs = torch.randn(SETS, rows, columns, device="cuda", generator=generator).bfloat16()
    weights = (1 + torch.rand(SETS, columns, device="cuda", generator=generator)).bfloat16()
    if constant:
        weights[:] = weights[0].clone()
    x, weight = xs[SETS - 1].clone(), weights[SETS - 1].clone()
    y = torch.empty_like(x)
    expected = torch.stack([(v * torch.rsqrt((v * v).mean(1, keepdim=True) + 1e-5) * w)
                            for v, w in zip(xs.double(), weights.double())]).float()
    write = cupy.RawKernel(WRITER, "write")
    norm = make(x, weight, y)
    wrong = torch.zeros((), dtype=torch.int64, device="cuda")
    stream = torch.cuda.Stream()

    def body(i):
        y.fill_(float("nan"))
        with cupy.cuda.ExternalStream(stream.cuda_stream):
            # Few blocks: the norm's must find room beside them.
            write((32,), (256,), (xs[i % SETS].data_ptr(), x.data_ptr(), x.numel() // 8, weights[i % SETS].data_ptr(),
                                  weight.data_ptr(), 0 if constant else columns // 8, 20000 + 7000 * (i % 5)))
        norm(stream.cuda_stream)
        off = (y.float() - expected[i % SETS]).abs() > RELATIVE_BOUND * expected[i % SETS].abs()
        wrong.add_((off | y.isnan()).any().long())

    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        body(0)
    torch.cuda.synchronize()
    wrong.zero_()
    if graph:
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured, stream=stream):
            for i in range(3 * SETS):
                body(i)
        for _ in range(-(-launches // (3 * SETS))):
            captured.replay()
    else:
        with torch.cuda.stream(stream):
            for i in range(launches):
                body(i)
    torch.cuda.synchronize()
    return wrong.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module", help="compiled with entries nN, bf16, as norm_shapes.py writes them")
    parser.add_argument("--library", default="librmsnorm_runtime.so")
    parser.add_argument("--columns", type=int, nargs="*", default=[128, 1024, 4096, 16384])
    parser.add_argument("--rows", type=int, nargs="*", default=[1, 64, 1000])
    parser.add_argument("--launches", type=int, default=300)
    options = parser.parse_args()
    torch.cuda.init()
    torch.cuda.current_stream()
    runtime = capi.Runtime(options.library, options.module, capi.CUDA)
    print(f"{torch.cuda.get_device_name()}, launches with wrong rows of {options.launches}")
    print(f"{'shape':>14} {'constant':>9} {'stream':>7} {'graph':>6} {'PTX':>5} {'PTX without wait':>17}")
    failed = False
    for columns in options.columns:
        entry = f"n{columns}"
        described = Describer(runtime, entry)
        if not described.dependent or not described.ptx:
            sys.exit(f"error: @{entry} has no dependent launch, or no PTX")
        without, count = re.subn(r"griddepcontrol\.wait;", "", described.ptx)
        if count != 1:
            sys.exit(f"error: expected one wait in the PTX of @{entry}, found {count}")
        function = runtime.prepare(entry)

        def bind(*tensors):
            return function.bind([to_dlpack(tensor) for tensor in tensors])

        ways = [(bind, False), (bind, True), (PtxKernel(described, described.ptx).bind, False),
                (PtxKernel(described, without).bind, False)]
        constant = "weight" in described.constants
        for rows in options.rows:
            wrong = [count_wrong(make, rows, columns, constant, options.launches, graph) for make, graph in ways]
            verdict = "" if not any(wrong[:3]) else "  FAILED"
            if not wrong[3]:
                verdict += "  FAILED: a missing wait is not seen"
            failed |= bool(verdict)
            print(f"{rows:>7}x{columns:<6} {'weight' if constant else '-':>9} {wrong[0]:7} {wrong[1]:6} {wrong[2]:5} {wrong[3]:17}"
                  f"{verdict}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
