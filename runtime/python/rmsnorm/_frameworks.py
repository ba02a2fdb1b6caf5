# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What frameworks need beside DLPack. PyTorch needs nothing: tvm-ffi takes its tensors, and knows its stream and its allocator."""
import tvm_ffi

retype = None  # of the library; set by __init__.py


class Any:
    """Whatever has __dlpack__: results are tensors of tvm-ffi, which have it, too."""

    @staticmethod
    def stream(given):
        return given

    @staticmethod
    def give(tensor):
        return tensor

    @staticmethod
    def take(tensor):
        return tensor

    @staticmethod
    def finish(module, tensor):
        """After the launch."""


class NumPy(Any):
    """NumPy's types in DLPack, and those of ml_dtypes (bfloat16, float8_e4m3fn, ...) as bytes or pairs of bytes."""

    BYTES = {8: "uint8", 16: "uint16"}

    @staticmethod
    def give(tensor):
        if type(tensor).__module__ != "numpy" or tensor.dtype.isbuiltin == 1:
            return tensor
        bits = 8 * tensor.dtype.itemsize
        return retype(tvm_ffi.from_dlpack(tensor.view(NumPy.BYTES[bits])), tvm_ffi.dtype(tensor.dtype.name))

    @staticmethod
    def take(tensor):
        import numpy

        try:
            return numpy.from_dlpack(tensor)
        except (BufferError, RuntimeError):  # a type that it does not have
            import ml_dtypes

        dtype = numpy.dtype(getattr(ml_dtypes, str(tensor.dtype)))
        return numpy.from_dlpack(retype(tensor, tvm_ffi.dtype(NumPy.BYTES[8 * dtype.itemsize]))).view(dtype)


class CuPy(Any):
    @staticmethod
    def stream(given):
        import ctypes

        import cupy

        return ctypes.c_void_p(cupy.cuda.get_current_stream().ptr) if given is None else given

    @staticmethod
    def take(tensor):
        import cupy

        return cupy.from_dlpack(tensor)


class JAX(Any):
    """Its streams are its own: what was computed is waited for, before and after."""

    @staticmethod
    def give(tensor):
        return tensor.block_until_ready()

    @staticmethod
    def take(tensor):
        import jax

        return jax.dlpack.from_dlpack(tensor)

    @staticmethod
    def finish(module, tensor):
        module.synchronize(tensor)


_BY_PACKAGE = {"torch": None, "numpy": NumPy, "cupy": CuPy, "jax": JAX, "jaxlib": JAX}
_found = {}


def find(kind):
    """The framework of a type of tensors; None for PyTorch."""
    try:
        return _found[kind]
    except KeyError:
        for base in kind.__mro__:
            package = base.__module__.partition(".")[0]
            if package in _BY_PACKAGE:
                return _found.setdefault(kind, _BY_PACKAGE[package])
        return _found.setdefault(kind, Any)
