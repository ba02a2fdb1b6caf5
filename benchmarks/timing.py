"""What the benchmarks share: tensors in rotation, timing with CUDA graphs, and ceilings.

Method: every figure is the median of nine CUDA-graph replays, divided by the launches in the graph, over as many buffers
as it takes to exceed L2 several times, outputs included. A ceiling is the best of four elementwise kernels of the same bytes
in the same run: 16 bytes a thread, 256 and 512 threads a block, plain and streaming.

Dependent launches (PDL) hide part of a launch behind the kernel before. Norms that a module launches that way can be compared
with both ceilings: kernels launched plainly, and the same ones launched as the norms are, which wait and then let the next one
start, as the norms do. The edges of the graphs are counted: a graph that lost its programmatic edges is an error, not a slow norm.
"""
import ctypes
import random
import statistics
import subprocess
import sys

import cupy
import torch

import capi

KERNELS = r"""
#ifdef DEPENDENT
#define WAIT asm volatile("griddepcontrol.wait;\n griddepcontrol.launch_dependents;" ::: "memory");
#else
#define WAIT
#endif
extern "C" __global__ void copy_plain(const uint4 *from, uint4 *to) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  WAIT
  to[i] = from[i];
}
extern "C" __global__ void copy_streaming(const uint4 *from, uint4 *to) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  WAIT
  __stcs(to + i, __ldcs(from + i));
}
__device__ uint4 mix(uint4 a, uint4 b) { return make_uint4(a.x ^ b.x, a.y ^ b.y, a.z ^ b.z, a.w ^ b.w); }
extern "C" __global__ void mix_plain(const uint4 *a, const uint4 *b, uint4 *to) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  WAIT
  to[i] = mix(a[i], b[i]);
}
extern "C" __global__ void mix_streaming(const uint4 *a, const uint4 *b, uint4 *to) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  WAIT
  __stcs(to + i, mix(__ldcs(a + i), __ldcs(b + i)));
}
"""
PROGRAMMATIC_STREAM_SERIALIZATION = 6  # a launch attribute
PROGRAMMATIC_EDGE = 1  # a type of a graph's edges
POOL_BYTES = 13 << 30  # two of the largest shapes; the norms need nothing else
ROTATED_BYTES = 1 << 30  # several times L2


def get_facts():
    """What a record (record.py) says of the machine."""
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    driver = subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]
    return {"device": torch.cuda.get_device_name(), "driver": driver,
            "versions": {"PyTorch": torch.__version__, "CUDA": torch.version.cuda, "CuPy": cupy.__version__}}


def to_dlpack(tensor):
    dtype = {torch.bfloat16: capi.BF16, torch.float16: capi.F16, torch.float32: capi.F32, torch.int8: capi.I8,
             torch.float8_e4m3fn: capi.E4M3FN}[tensor.dtype]
    return capi.Tensor(tensor.data_ptr(), tensor.shape, dtype, capi.PLACES[capi.CUDA])


class Pool:
    """bf16 tensors one after the other in one block of memory, which every shape uses anew."""

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


class LaunchAttribute(ctypes.Structure):
    _fields_ = [("id", ctypes.c_int), ("pad", ctypes.c_char * 4), ("value", ctypes.c_int), ("rest", ctypes.c_char * 60)]


class LaunchConfig(ctypes.Structure):
    _fields_ = [
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(LaunchAttribute)),
        ("count", ctypes.c_uint),
    ]


class Driver:
    """libcuda, for what neither CuPy nor PyTorch have."""

    def __init__(self):
        self.api = ctypes.CDLL("libcuda.so.1")

    def check(self, status):
        if status:
            sys.exit(f"error: the CUDA driver returned {status}")

    def dependent_launch(self, function, grid, threads, shared, slots):
        """Launches `function`, a CUfunction, on a stream; `slots` are ctypes values."""
        values = (ctypes.c_void_p * len(slots))(*(ctypes.cast(ctypes.pointer(slot), ctypes.c_void_p) for slot in slots))
        attribute = LaunchAttribute(PROGRAMMATIC_STREAM_SERIALIZATION, b"", 1, b"")
        config = LaunchConfig((grid, 1, 1), (threads, 1, 1), shared, None, ctypes.pointer(attribute), 1)

        def launch(stream):
            config.stream = stream
            self.check(self.api.cuLaunchKernelEx(ctypes.byref(config), ctypes.c_void_p(function), values, None))

        launch.keep_alive = slots, attribute
        return launch

    def count_edges(self, graph):
        """(programmatic edges, edges) of a CUgraph; None if this driver does not tell."""
        get = getattr(self.api, "cuGraphGetEdges_v2", None)
        if not get:
            return None
        count = ctypes.c_size_t(0)
        self.check(get(ctypes.c_void_p(graph), None, None, None, ctypes.byref(count)))
        nodes = [(ctypes.c_void_p * count.value)() for _ in range(2)]
        data = (ctypes.c_ubyte * (8 * count.value))()  # from port, to port, type, five reserved
        self.check(get(ctypes.c_void_p(graph), *nodes, data, ctypes.byref(count)))
        return sum(data[8 * i + 2] == PROGRAMMATIC_EDGE for i in range(count.value)), count.value


def capture(launches, dependent=None):
    """A graph of at least 40 launches in turn, each of which takes a stream, and how many; `dependent`: whether they must
    be dependent launches."""
    stream = torch.cuda.Stream()
    launches = launches * max(1, 40 // len(launches))
    launches[0](stream.cuda_stream)
    torch.cuda.synchronize()
    try:
        graph = torch.cuda.CUDAGraph(keep_graph=True)
    except TypeError:  # before PyTorch 2.8
        graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for launch in launches:
            launch(stream.cuda_stream)
    if dependent is not None and hasattr(graph, "raw_cuda_graph"):
        programmatic, edges = Driver().count_edges(graph.raw_cuda_graph()) or (0, 0)
        if edges and bool(programmatic) != dependent:
            sys.exit(f"error: {programmatic} of the graph's {edges} edges are programmatic, expected "
                     f"{'all' if dependent else 'none'}")
    graph.replay()
    return graph, len(launches)


def replay(graph, launches, times=9):
    """Microseconds of a launch: the median of so many replays."""
    results = []
    for _ in range(times):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        results.append(begin.elapsed_time(end) * 1e3 / launches)
    return statistics.median(results)


def microseconds(launches, dependent=None):
    """Per launch; `launches` take a stream and are captured in turn."""
    return replay(*capture(launches, dependent))


def in_rounds(candidates, rounds=9):
    """The median of `rounds` figures of each of a dictionary of launches. The order is another in each round: what ran
    before, and how much power that took, is worth 1% (the same kernel twice in one fixed order: 127.8 and 129.0 us)."""
    graphs = {name: capture(launches) for name, launches in candidates.items()}
    times = {name: [] for name in candidates}
    order, shuffled = list(candidates), random.Random(1)
    for _ in range(rounds):
        shuffled.shuffle(order)
        for name in order:
            times[name].append(replay(*graphs[name], times=3))
    return {name: statistics.median(several) for name, several in times.items()}


def ceiling(kind, sets, dependent=False):
    """Microseconds of the best kernel `kind`, "copy" or "mix", over these sets of tensors; `dependent`: launched that way."""

    def bind(kernel, threads, tensors):
        blocks = tensors[0].numel() * 2 // 16 // threads
        pointers = tuple(tensor.data_ptr() for tensor in tensors)

        def launch(stream):
            with cupy.cuda.ExternalStream(stream):
                kernel((blocks,), (threads,), pointers)

        if dependent:
            slots = [ctypes.c_uint64(pointer) for pointer in pointers]
            return Driver().dependent_launch(kernel.kernel.ptr, blocks, threads, 0, slots)
        return launch

    flags = ("-DDEPENDENT",) if dependent else ()
    kernels = [cupy.RawKernel(KERNELS, f"{kind}_{policy}", options=flags) for policy in ("plain", "streaming")]
    return min(microseconds([bind(kernel, threads, tensors) for tensors in sets], dependent)
               for kernel in kernels for threads in (256, 512))
