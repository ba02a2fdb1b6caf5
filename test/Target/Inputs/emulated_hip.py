"""What emulated_hip.c calls: code objects in the emulator (amd_emulate.py), on memory of this process."""
import ctypes

from amd_emulate import Hsaco, Kernel

MAX_THREADS, SHARED_BYTES = 0, 1  # hipFunction_attribute
modules = []


class OnBuffers(Kernel):
    """A kernel that may reach buffers at addresses, beside what its launch made."""

    buffers = ()

    @property
    def _ranges(self):
        return self.made + [(f"buffer {i}", begin, end, True) for i, (begin, end) in enumerate(self.buffers)]

    @_ranges.setter
    def _ranges(self, made):
        self.made = made


def load(address, size, result):
    modules.append(Hsaco(ctypes.string_at(address, size)))
    ctypes.c_int64.from_address(result).value = len(modules)


def find(module, name):
    kernel = modules[module - 1].kernel(name)
    kernel.__class__ = OnBuffers
    return kernel


def attribute(module, name, which, result):
    kernel = find(module, name)
    values = {MAX_THREADS: kernel.meta.get(".max_flat_workgroup_size", 1024), SHARED_BYTES: kernel.lds}
    ctypes.c_int32.from_address(result).value = values[which]


def launch(module, name, grid, block, shared, parameters, buffers, count):
    kernel = find(module, name)
    ends = (ctypes.c_uint64 * (2 * count)).from_address(buffers)
    kernel.buffers = list(zip(ends[::2], ends[1::2]))
    explicit = [a for a in kernel.meta[".args"] if not a[".value_kind"].startswith("hidden_")]
    places = (ctypes.c_void_p * len(explicit)).from_address(parameters)
    values = [ctypes.string_at(place, a[".size"]) for place, a in zip(places, explicit)]
    kernel.launch(grid, block, values, dyn_lds=shared, isolate=False, order="random")
