"""What the benchmarks share: tensors in rotation, timing with CUDA graphs, and ceilings.

Method: every figure is the median of nine CUDA-graph replays, divided by the launches in the graph, over as many buffers
as it takes to exceed L2 several times, outputs included. A ceiling is the best of four elementwise kernels of the same bytes
in the same run: 16 bytes a thread, 256 and 512 threads a block, plain and streaming.
"""
import statistics

import cupy
import torch

import capi

KERNELS = r"""
extern "C" __global__ void copy_plain(const uint4 *from, uint4 *to) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  to[i] = from[i];
}
extern "C" __global__ void copy_streaming(const uint4 *from, uint4 *to) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  __stcs(to + i, __ldcs(from + i));
}
__device__ uint4 mix(uint4 a, uint4 b) { return make_uint4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w); }
extern "C" __global__ void mix_plain(const uint4 *a, const uint4 *b, uint4 *to) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  to[i] = mix(a[i], b[i]);
}
extern "C" __global__ void mix_streaming(const uint4 *a, const uint4 *b, uint4 *to) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  __stcs(to + i, mix(__ldcs(a + i), __ldcs(b + i)));
}
"""
POOL_BYTES = 13 << 30  # two of the largest shapes; the norms need nothing else
ROTATED_BYTES = 1 << 30  # several times L2


def to_dlpack(tensor):
    dtype = {torch.bfloat16: capi.BF16, torch.float16: capi.F16, torch.float32: capi.F32}[tensor.dtype]
    return capi.Tensor(tensor.data_ptr(), tensor.shape, dtype, capi.PLACES[capi.CUDA])


class Pool:
    """bf16 tensors one behind the other in one block of memory, which every shape uses anew."""

    def __init__(self):
        self.memory = torch.empty(POOL_BYTES // 2, dtype=torch.bfloat16, device="cuda")
        self.random = torch.randn(1 << 27, device="cuda").bfloat16()

    def sets(self, rows, columns, per_set, inputs):
        """Sets of `per_set` tensors in rotation, of which the first `inputs` are filled."""
        size = rows * columns
        bytes_per_set = 2 * per_set * size
        count = max(1, min(16, ROTATED_BYTES // bytes_per_set, POOL_BYTES // bytes_per_set))
        sets = []
        for i in range(count):
            tensors = [self.memory[(per_set * i + k) * size :][:size] for k in range(per_set)]
            for k, tensor in enumerate(tensors[:inputs]):
                shift = 977 * k  # no two inputs alike
                for begin in range(0, size, self.random.numel() - shift):
                    part = tensor[begin : begin + self.random.numel() - shift]
                    part.copy_(self.random[shift : shift + part.numel()])
            sets.append([tensor.view(rows, columns) for tensor in tensors])
        return sets


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


def ceiling(kind, sets):
    """Microseconds of the best kernel `kind`, "copy" or "mix", over these sets of tensors."""

    def bind(kernel, threads, tensors):
        blocks = tensors[0].numel() * 2 // 16 // threads
        pointers = tuple(tensor.data_ptr() for tensor in tensors)

        def launch(stream):
            with cupy.cuda.ExternalStream(stream):
                kernel((blocks,), (threads,), pointers)

        return launch

    kernels = [cupy.RawKernel(KERNELS, f"{kind}_{policy}") for policy in ("plain", "streaming")]
    return min(microseconds([bind(kernel, threads, tensors) for tensors in sets])
               for kernel in kernels for threads in (256, 512))
