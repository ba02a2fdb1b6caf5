#!/usr/bin/env python3
"""Times compiled forward norms on a CUDA device next to copies of the same bytes.

On a machine with LLVM:

    python3 test/Target/Inputs/norm_shapes.py bf16 128 4096 65536 > shapes.mlir
    norm-compile shapes.mlir --target=sm_90 -o shapes.rmsn

On the machine with the GPU (PyTorch, CuPy and librmsnorm_runtime.so are all it needs):

    python3 benchmarks/forward.py shapes.rmsn --library=lib/librmsnorm_runtime.so 32768x128 32768x4096

Method: every figure is the median of nine CUDA-graph replays, divided by the launches in the graph, over as many buffers
as it takes to exceed L2 several times, outputs included. The ceiling is the best of four copies of the same bytes in the
same run: 16 bytes a thread, 256 and 512 threads a block, plain and streaming. Outputs are compared with f64 before they
are timed, and poisoned before that.
"""
import argparse
import ctypes
import statistics
import sys

import cupy
import torch

COPIES = r"""
extern "C" __global__ void copy_plain(const uint4 *from, uint4 *to) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  to[i] = from[i];
}
extern "C" __global__ void copy_streaming(const uint4 *from, uint4 *to) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  __stcs(to + i, __ldcs(from + i));
}
"""
POOL_BYTES = 9 << 30  # two of the largest shapes; the norms need nothing else
ROTATED_BYTES = 1 << 30  # several times L2
RELATIVE_BOUND = 2**-8 + 2**-12  # half a bf16 ulp, and what f32 adds to it


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int),
        ("device_id", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


def to_dlpack(tensor):
    shape = (ctypes.c_int64 * tensor.dim())(*tensor.shape)
    result = DLTensor(tensor.data_ptr(), 2, 0, tensor.dim(), 4, 16, 1, shape, None, 0)
    result.keep_alive = shape
    return result


class Runtime:
    """The C API, as far as it is needed here."""

    def __init__(self, library, module):
        self.api = ctypes.CDLL(library)
        self.api.rmsnorm_last_error.restype = ctypes.c_char_p
        self.module, self.device = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.api.rmsnorm_module_open_file(module.encode(), ctypes.byref(self.module)))
        self.check(self.api.rmsnorm_device_open(0, None, ctypes.byref(self.device)))

    def check(self, status):
        if status:
            sys.exit(f"error: {self.api.rmsnorm_last_error().decode()}")

    def prepare(self, entry):
        function = ctypes.c_void_p()
        self.check(self.api.rmsnorm_prepare(self.module, entry.encode(), self.device, ctypes.byref(function)))

        def bind(*tensors):
            tensors = [to_dlpack(tensor) for tensor in tensors]
            pointers = (ctypes.POINTER(DLTensor) * len(tensors))(*map(ctypes.pointer, tensors))
            pointers.keep_alive = tensors
            return lambda stream: self.check(
                self.api.rmsnorm_launch(
                    function, pointers, ctypes.c_size_t(len(tensors)), None, ctypes.c_uint64(0), ctypes.c_void_p(stream)
                )
            )

        return bind


def microseconds(launches):
    """Per launch; `launches` take a stream and are captured in turn."""
    stream = torch.cuda.Stream()
    launches = launches * max(1, 40 // len(launches))
    launches[0](stream.cuda_stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for launch in launches:
            launch(stream.cuda_stream)
    graph.replay()
    times = []
    for _ in range(9):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / len(launches))
    return statistics.median(times)


def copy_launches(kernel, threads, pairs):
    def launch(stream, source, target):
        with cupy.cuda.ExternalStream(stream):
            vectors = source.numel() * 2 // 16
            kernel((vectors // threads,), (threads,), (source.data_ptr(), target.data_ptr()))

    return [lambda stream, pair=pair: launch(stream, *pair) for pair in pairs]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module", help="compiled with entries nN, bf16, as norm_shapes.py writes them")
    parser.add_argument("shapes", nargs="+", metavar="MxN")
    parser.add_argument("--library", default="librmsnorm_runtime.so")
    options = parser.parse_args()

    torch.manual_seed(1)
    runtime = Runtime(options.library, options.module)
    kernels = [cupy.RawKernel(COPIES, name) for name in ("copy_plain", "copy_streaming")]
    pool = torch.empty(POOL_BYTES // 2, dtype=torch.bfloat16, device="cuda")
    random = torch.randn(1 << 27, device="cuda").bfloat16()
    print(torch.cuda.get_device_name())
    print(f"{'shape':>14} {'ceiling us':>11} {'norm us':>9} {'of ceiling':>10} {'GB/s':>6}")
    failed = False
    for shape in options.shapes:
        rows, columns = map(int, shape.split("x"))
        size = rows * columns
        count = max(1, min(16, ROTATED_BYTES // (4 * size), POOL_BYTES // (4 * size)))
        pairs = []
        for i in range(count):
            x, y = (pool[(2 * i + k) * size : (2 * i + k + 1) * size] for k in (0, 1))
            for begin in range(0, size, random.numel()):
                x[begin : begin + random.numel()] = random[: min(random.numel(), size - begin)]
            pairs.append((x.view(rows, columns), y.view(rows, columns)))
        weight = (1 + 0.1 * torch.randn(columns, device="cuda")).bfloat16()

        ceiling = min(microseconds(copy_launches(k, threads, pairs)) for k in kernels for threads in (256, 512))
        bind = runtime.prepare(f"n{columns}")
        x, y = pairs[0]
        y.fill_(float("nan"))
        bind(x, weight, y)(torch.cuda.current_stream().cuda_stream)
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
        time = microseconds([bind(x, weight, y) for x, y in pairs])
        print(f"{shape:>14} {ceiling:11.2f} {time:9.2f} {ceiling / time:10.3f} {4 * size / time / 1e3:6.0f}", flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
