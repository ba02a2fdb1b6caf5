"""What the benchmarks share: tensors in rotation, timing with CUDA graphs, and ceilings.

Method: every figure is the median of nine CUDA-graph replays, divided by the launches in the graph, over as many buffers
as it takes to exceed L2 several times, outputs included. A ceiling is the best of six elementwise kernels of the same bytes
in the same run: 16 bytes of each tensor a thread, 128, 256 and 512 threads a block, plain and streaming.

Dependent launches (PDL) hide part of a launch behind the kernel before. Norms that a module launches that way can be compared
with both ceilings: kernels launched plainly, and the same ones launched as the norms are, which wait and then let the next one
start, as the norms do. The edges of the graphs are counted: a graph that lost its programmatic edges is an error, not a slow norm.
"""
import ctypes
import itertools
import random
import statistics
import subprocess
import sys

import cupy
import torch

import capi

COPY = r"""
#ifdef STREAMING
#define LOAD __ldcs
#define STORE(p, v) __stcs(p, v)
#else
#define LOAD *
#define STORE(p, v) *(p) = (v)
#endif
extern "C" __global__ void copy(const uint4 *from, uint4 *to, long long part) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
#ifdef DEPENDENT
  asm volatile("griddepcontrol.wait;\n griddepcontrol.launch_dependents;" ::: "memory");
#endif
  if (i >= part) return;
  uint4 v[READS], x = {0, 0, 0, 0};
  for (int k = 0; k < READS; ++k) v[k] = LOAD(from + k * part + i);
  for (int k = 0; k < READS; ++k) { x.x ^= v[k].x; x.y ^= v[k].y; x.z ^= v[k].z; x.w ^= v[k].w; }
  for (int k = 0; k < WRITES; ++k) STORE(to + k * part + i, k < READS && READS <= WRITES ? v[k] : x);
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
             torch.int64: capi.I64, torch.float8_e4m3fn: capi.E4M3FN}[tensor.dtype]
    return capi.Tensor(tensor.data_ptr(), tensor.shape, dtype, capi.PLACES[capi.CUDA])


class Pool:
    """Tensors one after the other in one block of memory, which every shape uses anew."""

    def __init__(self):
        self.memory = torch.empty(POOL_BYTES, dtype=torch.uint8, device="cuda")
        self.random = torch.randn(1 << 27, device="cuda").bfloat16()

    def sets(self, rows, columns, per_set, inputs, dtype=torch.bfloat16):
        """Sets of `per_set` tensors in rotation, of which the first `inputs` are filled."""
        size = rows * columns
        memory = self.memory.view(dtype)
        bytes_per_set = memory.element_size() * per_set * size
        count = max(1, min(16, ROTATED_BYTES // bytes_per_set, POOL_BYTES // bytes_per_set))
        sets = []
        for i in range(count):
            tensors = [memory[(per_set * i + k) * size :][:size] for k in range(per_set)]
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


def copies(read, written, dependent=False):
    """Launches, by name, of the kernels that read and write so many bytes, of other memory each time; `dependent`: launched
    as dependent launches."""
    ratio = min(((r, w) for r in range(1, 9) for w in range(1, 9)), key=lambda p: (abs(p[0] / p[1] - read / written), sum(p)))
    part = (read + written) // 16 // sum(ratio)
    step = 16 * part * sum(ratio)
    memory = torch.zeros(max(ROTATED_BYTES, 2 * step), dtype=torch.uint8, device="cuda")
    places = [memory.data_ptr() + k * step for k in range(min(16, memory.numel() // step))]
    launches = {}
    for threads, policy in itertools.product((128, 256, 512), ((), ("-DSTREAMING",))):
        flags = (f"-DREADS={ratio[0]}", f"-DWRITES={ratio[1]}", *policy, *(("-DDEPENDENT",) if dependent else ()))
        kernel = cupy.RawKernel(COPY, "copy", options=flags)

        def bind(place, kernel=kernel, threads=threads):
            blocks, to = -(-part // threads), place + 16 * part * ratio[0]

            def launch(stream):
                with cupy.cuda.ExternalStream(stream):
                    kernel((blocks,), (threads,), (place, to, cupy.int64(part)))

            if dependent:
                slots = [ctypes.c_uint64(place), ctypes.c_uint64(to), ctypes.c_int64(part)]
                launch = Driver().dependent_launch(kernel.kernel.ptr, blocks, threads, 0, slots)
                launch.keep_kernel = kernel
            launch.keep_memory = memory
            return launch

        launches[f"copy by {threads}{' streaming' if policy else ''}"] = [bind(place) for place in places]
    return launches


def ceiling(read, written, dependent=False):
    """Microseconds of the fastest of these kernels."""
    return min(microseconds(launches, dependent) for launches in copies(read, written, dependent).values())
