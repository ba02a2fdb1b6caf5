# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What frameworks need beside DLPack. PyTorch needs nothing: tvm-ffi takes its tensors, and knows its stream and its allocator.

`give` is for calls and costs little. What it leaves to tvm-ffi may fail there; then `export` is asked, which takes more and says why
it does not take the rest."""
import tvm_ffi

retype = None  # of the library; set by __init__.py


class Any:
    """Whatever has __dlpack__: results are tensors of tvm-ffi, which have it, too."""

    is_immutable = False  # its tensors never change

    @staticmethod
    def stream(given):
        return given

    @staticmethod
    def give(tensor):
        return tensor

    @staticmethod
    def export(tensor):
        """What tvm-ffi takes for certain, and whether its memory must not be written. A TypeError if it is no tensor at all."""
        if not hasattr(tensor, "__dlpack__"):
            raise TypeError
        try:
            return tvm_ffi.from_dlpack(tensor), False
        except BufferError:
            # A tensor of read-only memory can say so only in the newer protocol.
            return tvm_ffi.from_dlpack(tensor.__dlpack__(max_version=(1, 0))), True

    @staticmethod
    def take(tensor):
        return tensor

    @staticmethod
    def finish(module, tensor):
        """After the launch."""


class PyTorch(Any):
    """Calls need none of this."""

    @staticmethod
    def export(tensor):
        try:
            tvm_ffi.from_dlpack(tensor.detach())
            return tensor, False  # itself, as results come from the allocator that it brings
        except RuntimeError as error:  # it has no memory: of meta, sparse, sharded, in a transformation
            raise ValueError(f"one of type {type(tensor).__name__}, layout {tensor.layout} and device {tensor.device}: "
                             f"{str(error).partition(chr(10))[0]}") from None


class NumPy(Any):
    """NumPy's types in DLPack, and those of ml_dtypes (bfloat16, float8_e4m3fn, ...) as bytes or pairs of bytes."""

    BYTES = {8: "uint8", 16: "uint16"}

    @staticmethod
    def give(tensor):
        module = type(tensor).__module__
        if module.startswith("numpy.ma"):
            raise BufferError  # elements may be masked
        if module != "numpy" or tensor.dtype.type.__module__ == "numpy":
            return tensor
        return NumPy.retyped(tensor, NumPy.bytes_of(tensor))

    @staticmethod
    def bytes_of(array):
        return array.view(NumPy.BYTES[8 * array.dtype.itemsize])

    @staticmethod
    def retyped(tensor, data):
        """The tensor of bytes or pairs of bytes `data` with the type of `tensor`."""
        return retype(tvm_ffi.from_dlpack(data), tvm_ffi.dtype(tensor.dtype.name))

    @staticmethod
    def export(tensor):
        import numpy

        if not isinstance(tensor, numpy.ndarray):
            return Any.export(tensor)
        if not tensor.dtype.isnative:
            raise ValueError(f"an array of {tensor.dtype.str}, which is not this machine's byte order: "
                             "array.astype(array.dtype.newbyteorder('=')) is")
        if numpy.ma.is_masked(tensor):
            raise ValueError("a masked array: array.filled() has no mask")
        array = tensor.view(numpy.ndarray)
        is_builtin, is_read_only = tensor.dtype.type.__module__ == "numpy", not tensor.flags.writeable
        try:
            data = array if is_builtin else NumPy.bytes_of(array)
            if is_read_only:  # older NumPys refuse such arrays, as older DLPack cannot say it
                data = numpy.asarray(_Writable(data))
            return tvm_ffi.from_dlpack(data) if is_builtin else NumPy.retyped(array, data), is_read_only
        except (BufferError, KeyError, TypeError, ValueError):
            raise ValueError(f"an array of {tensor.dtype.name}") from None

    @staticmethod
    def take(tensor):
        import numpy

        try:
            return numpy.from_dlpack(tensor)
        except (BufferError, RuntimeError):  # a type that it does not have
            import ml_dtypes

        dtype = numpy.dtype(getattr(ml_dtypes, str(tensor.dtype)))
        return numpy.from_dlpack(retype(tensor, tvm_ffi.dtype(NumPy.BYTES[8 * dtype.itemsize]))).view(dtype)


class _Writable:
    """The memory of an array. Whoever is given it only reads it."""

    def __init__(self, array):
        self.array = array  # lives as long

    @property
    def __array_interface__(self):
        interface = self.array.__array_interface__
        return {**interface, "data": (interface["data"][0], False)}


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

    is_immutable = True

    @staticmethod
    def give(tensor):
        return tensor.block_until_ready()

    @staticmethod
    def export(tensor):
        return Any.export(tensor)[0], True

    @staticmethod
    def take(tensor):
        import jax

        return jax.dlpack.from_dlpack(tensor)

    @staticmethod
    def finish(module, tensor):
        module.synchronize(tensor)


_BY_PACKAGE = {"torch": None, "numpy": NumPy, "cupy": CuPy, "jax": JAX, "jaxlib": JAX}
_found = {}


def export(tensor):
    """See Any.export."""
    return (find(type(tensor)) or PyTorch).export(tensor)


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
