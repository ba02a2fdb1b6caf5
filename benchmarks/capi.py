"""The C API of the runtime for Python, as far as the benchmarks and tests need it: ctypes, nothing else.

    runtime = Runtime("lib/librmsnorm_runtime.so", "norm.rmsn", CUDA)
    forward = runtime.prepare("forward")
    forward.bind([Tensor(x.data_ptr(), x.shape, BF16, runtime.place), ...], workspace)(stream)
"""
import ctypes
import math
import re

CUDA, HIP, SIM, ORACLE = range(4)
NO_EARLY_START = 1  # a flag of a launch
# Code and bits of a DLPack data type.
F16, BF16, F32, F64 = (2, 16), (4, 16), (2, 32), (2, 64)
I8, I64, E4M3FN, E8M0FNU, E2M1FN = (0, 8), (0, 64), (10, 8), (14, 8), (17, 4)
INTERVAL = (5, 128)  # complex: what the oracle takes and makes
PLACES = {CUDA: 2, HIP: 10, SIM: 1, ORACLE: 1}  # DLDeviceType


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


class Tensor(DLTensor):
    """A packed tensor at an address."""

    def __init__(self, address, shape, dtype, place):
        self.keep_alive = (ctypes.c_int64 * len(shape))(*shape)
        super().__init__(address, place, 0, len(shape), *dtype, 1, self.keep_alive, None, 0)

    def set_strides(self, strides):
        self.keep_strides = (ctypes.c_int64 * len(strides))(*strides)
        self.strides = self.keep_strides

    @property
    def bytes(self):
        return math.prod(self.keep_alive) * self.bits // 8


class Runtime:
    """A module on a device. Errors raise with the runtime's message."""

    def __init__(self, library, module, backend):
        self.api = ctypes.CDLL(library)
        self.api.rmsnorm_last_error.restype = ctypes.c_char_p
        self.place = PLACES[backend]
        self.module, self.device = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.api.rmsnorm_module_open_file(module.encode(), ctypes.byref(self.module)))
        self.check(self.api.rmsnorm_device_open(backend, None, ctypes.byref(self.device)))

    def check(self, status):
        if status:
            raise SystemExit(f"error: {self.api.rmsnorm_last_error().decode()}")

    def prepare(self, entry):
        return Function(self, entry)

    def text(self):
        """What norm-inspect prints."""
        text = ctypes.c_char_p()
        self.check(self.api.rmsnorm_module_describe(self.module, ctypes.byref(text)))
        return text.value.decode()

    def describe(self, entry):
        """What norm-inspect prints of an entry."""
        return re.search(rf"^entry {entry}\n(.*?)(?=^entry |^image )", self.text(), re.M | re.S)[1]


class Function:
    def __init__(self, runtime, entry):
        self.runtime, self.handle = runtime, ctypes.c_void_p()
        runtime.check(runtime.api.rmsnorm_prepare(runtime.module, entry.encode(), runtime.device,
                                                  ctypes.byref(self.handle)))

    @staticmethod
    def pointers(tensors):
        pointer = ctypes.POINTER(DLTensor)
        pointers = (pointer * len(tensors))(*(ctypes.cast(ctypes.pointer(t), pointer) for t in tensors))
        pointers.keep_alive = tensors
        return pointers

    def workspace_size(self, tensors):
        size = ctypes.c_uint64()
        self.runtime.check(self.runtime.api.rmsnorm_workspace_size(
            self.handle, self.pointers(tensors), ctypes.c_size_t(len(tensors)), ctypes.byref(size)))
        return size.value

    def bind(self, tensors, workspace=None, workspace_bytes=0, flags=0):
        """What launches with these tensors when called with a stream; the workspace is an address."""
        pointers = self.pointers(tensors)
        arguments = (self.handle, pointers, ctypes.c_size_t(len(tensors)), ctypes.c_void_p(workspace),
                     ctypes.c_uint64(workspace_bytes))
        return lambda stream=None: self.runtime.check(
            self.runtime.api.rmsnorm_launch_with_flags(*arguments, ctypes.c_void_p(stream), ctypes.c_uint32(flags)))
