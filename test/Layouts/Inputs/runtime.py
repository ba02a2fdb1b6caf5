# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime's C API on the simulator, for tests: tensors of any layout in memory of any size."""

import array
import ctypes
import mmap
import random


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int), ("device_id", ctypes.c_int),
                ("ndim", ctypes.c_int), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class DeviceOptions(ctypes.Structure):
    _fields_ = [("ordinal", ctypes.c_int32), ("target", ctypes.c_char_p), ("driver_library", ctypes.c_char_p),
                ("multiprocessor_count", ctypes.c_int32), ("thread_order", ctypes.c_int), ("seed", ctypes.c_uint64),
                ("worker_threads", ctypes.c_int32)]


class VariantInfo(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("schedule", ctypes.c_char_p), ("guards", ctypes.c_size_t),
                ("launches", ctypes.c_size_t)]


class FunctionInfo(ctypes.Structure):
    _fields_ = [("entry", ctypes.c_size_t), ("program", ctypes.c_size_t), ("target", ctypes.c_char_p),
                ("binary", ctypes.c_char_p), ("warning", ctypes.c_char_p)]


class Error(Exception):
    pass


# DLPack's code and bits, and the array module's letter for the bits.
TYPES = {"bf16": (4, 16, "H"), "f16": (2, 16, "H"), "f32": (2, 32, "I")}


class Memory:
    """Zeros; pages cost nothing until they are touched."""

    NORESERVE = 0x4000

    def __init__(self, size):
        self.map = mmap.mmap(-1, max(size, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | self.NORESERVE)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.map))


class Tensor:
    """`strides` and `offset`, that of the first element, are in elements."""

    def __init__(self, type, shape, strides=None, offset=0):
        self.type, self.shape = type, tuple(shape)
        code, bits, _ = TYPES[type]
        self.bytes = bits // 8
        if strides is None:
            strides, size = [], 1
            for n in reversed(self.shape):
                strides.insert(0, size)
                size *= n
        self.strides, self.offset = tuple(strides), offset
        last = sum((n - 1) * s for n, s in zip(self.shape, self.strides)) if all(self.shape) else -1
        self.elements = offset + last + 1
        self.memory = Memory(self.elements * self.bytes)
        c_shape = (ctypes.c_int64 * len(self.shape))(*self.shape)
        c_strides = (ctypes.c_int64 * len(self.shape))(*self.strides)
        self.dl = DLTensor(self.memory.address, 1, 0, len(self.shape), code, bits, 1, c_shape, c_strides, offset * self.bytes)
        self.keep = c_shape, c_strides

    def place(self, index):
        """Where the row of leading indices `index` begins, in bytes."""
        return (self.offset + sum(i * s for i, s in zip(index, self.strides))) * self.bytes

    def write(self, index, row):
        begin = self.place(index)
        self.memory.map[begin:begin + len(row)] = row

    def read(self, index):
        begin = self.place(index)
        length = self.shape[-1] * self.bytes if len(index) < len(self.shape) else self.bytes
        return bytes(self.memory.map[begin:begin + length])


class Runtime:
    def __init__(self, library, module, target, multiprocessors=0):
        self.api = ctypes.CDLL(library)
        self.api.rmsnorm_last_error.restype = ctypes.c_char_p
        self.module, self.device = ctypes.c_void_p(), ctypes.c_void_p()
        self.check(self.api.rmsnorm_module_open_file(module.encode(), ctypes.byref(self.module)))
        options = DeviceOptions()
        self.api.rmsnorm_device_options_init(ctypes.byref(options))
        options.target = target.encode()
        options.multiprocessor_count = multiprocessors
        self.check(self.api.rmsnorm_device_open(2, ctypes.byref(options), ctypes.byref(self.device)))

    def check(self, status):
        if status:
            raise Error(self.api.rmsnorm_last_error().decode())

    def prepare(self, entry):
        return Function(self, entry)


class Function:
    def __init__(self, runtime, entry):
        self.runtime, self.handle = runtime, ctypes.c_void_p()
        runtime.check(runtime.api.rmsnorm_prepare(runtime.module, entry.encode(), runtime.device, ctypes.byref(self.handle)))

    def __call__(self, *tensors):
        """Launches it and returns the name of the variant that was taken."""
        runtime, api = self.runtime, self.runtime.api
        pointers = (ctypes.POINTER(DLTensor) * len(tensors))(*(ctypes.pointer(t.dl) for t in tensors))
        count = ctypes.c_size_t(len(tensors))
        variant, function, info = ctypes.c_size_t(), FunctionInfo(), VariantInfo()
        runtime.check(api.rmsnorm_select_variant(self.handle, pointers, count, ctypes.byref(variant)))
        runtime.check(api.rmsnorm_launch(self.handle, pointers, count, None, ctypes.c_uint64(0), None))
        runtime.check(api.rmsnorm_function_get_info(self.handle, ctypes.byref(function)))
        runtime.check(api.rmsnorm_module_get_variant(runtime.module, ctypes.c_size_t(function.entry),
                                                     ctypes.c_size_t(function.program), variant, ctypes.byref(info)))
        return info.name.decode()


def random_row(columns, type="bf16", seed=1):
    """The bytes of values from 2^-4 to 2^4 of either sign."""
    rng = random.Random(seed)
    if type == "bf16":
        values = array.array("H", (rng.getrandbits(16) & 0x83FF | 0x3E00 for _ in range(columns)))
    elif type == "f32":
        values = array.array("I", (rng.getrandbits(32) & 0x83FFFFFF | 0x3E000000 for _ in range(columns)))
    else:
        values = array.array("H", (rng.getrandbits(16) & 0x8FFF | 0x3000 for _ in range(columns)))
    return values.tobytes()


def numbers(row, type="bf16"):
    """The values of a row as Python floats."""
    if type == "bf16":
        words = array.array("I", (h << 16 for h in array.array("H", row)))
        return array.array("f", words.tobytes())
    if type == "f32":
        return array.array("f", row)
    raise ValueError(type)


def executable_mappings():
    """What code this process has: neither a compiler nor a library can add to it unseen."""
    with open("/proc/self/maps") as maps:
        return [line.split(" ", 1)[0] + line.rsplit(" ", 1)[1] for line in maps if "x" in line.split()[1]]
