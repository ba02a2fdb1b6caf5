# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs modules that norm-compile has compiled, on tensors of any framework that speaks DLPack.

    import rmsnorm
    module = rmsnorm.load("llama.rmsn")
    y = module["llama3_8b"](x, weight)              # the result is new
    module["llama3_8b"](x, weight, out=y)           # or given

Tensors of a GPU run there, on the stream that is PyTorch's or CuPy's at the moment. Tensors in host memory run on the simulator
if load was told so: device="sim". What a call refuses is a ValueError that says what was expected and what was given.
"""
import collections
import collections.abc
import ctypes
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import tvm_ffi

from . import _frameworks

__all__ = ["Argument", "Function", "Module", "compile", "find_compiler", "load"]

_native = tvm_ffi.load_module(str(pathlib.Path(__file__).parent / "librmsnorm_python.so"))
_frameworks.retype = _native.retype
_get_item = tvm_ffi.get_global_func("ffi.ArrayGetItem")  # iterators ask for the size each time
__version__ = str(_native.version())

Argument = collections.namedtuple("Argument", ["name", "role", "dtype", "dims"])
Argument.__doc__ = """What an entry takes: a name, a role ("input", "output", "inout"), a type ("bf16"), sizes, of which equal names
("s0") are equal numbers at a call."""

_NO_EARLY_START = 1  # RMSNORM_NO_EARLY_START


class Function:
    """An entry of a module. Call it with the tensors of `inputs`, in order. What it computes is returned, one tensor or a tuple,
    or goes into the tensors given as `out`. It runs on the tensors' device, on the current stream of their framework or on
    `stream`: a number (as in C), or an object with __cuda_stream__, which PyTorch's and CuPy's streams have."""

    def __init__(self, module, description, early_start):
        self.module = module
        self.name = description["name"]
        arguments = [Argument(a["name"], a["role"], a["dtype"], tuple(a["dims"])) for a in description["arguments"]]
        self.inputs = tuple(a for a in arguments if a.role != "output")
        self.results = tuple(a for a in arguments if a.role == "output")
        self.targets = tuple(p["target"] for p in description["programs"])
        self.launches = max(len(v["launches"]) for p in description["programs"] for v in p["variants"])
        self._flags = 0 if early_start else _NO_EARLY_START
        self._call, self._infer = _native.get_entry(module._handle, self.name, self._flags, None)
        self._several = range(len(self.results)) if len(self.results) > 1 else None
        self._changes = any(a.role == "inout" for a in self.inputs)

    def __call__(self, *tensors, out=None, stream=None):
        if out is not None:
            tensors += tuple(out) if isinstance(out, (tuple, list)) else (out,)
        if type(stream) is int:
            stream = ctypes.c_void_p(stream)
        framework = _frameworks.find(type(tensors[0])) if tensors else None
        if framework is None:
            try:
                result = self._call(stream, *tensors)
            except Exception as error:
                result = self._call_again(stream, tensors, error)
            if out is not None:
                return out
            return tuple([_get_item(result, i) for i in self._several]) if self._several else result
        if framework.is_immutable and (out is not None or self._changes):
            self._export(tensors)
        stream = framework.stream(stream)
        try:
            result = self._call(stream, *map(framework.give, tensors))
        except Exception as error:
            result = self._call_again(stream, tensors, error)
        framework.finish(self.module, tensors[0])
        if out is not None or result is None:
            return out
        return tuple([framework.take(_get_item(result, i)) for i in self._several]) if self._several else framework.take(result)

    def _call_again(self, stream, tensors, error):
        """After a call that failed, of which nothing has run: with what tensors are once they are asked more closely. Raises what
        they say, or `error` if it is about something else."""
        if stream is not None and not isinstance(stream, ctypes.c_void_p) and not hasattr(stream, "__cuda_stream__"):
            raise ValueError(f"stream: expected a number, or an object with __cuda_stream__, got {_describe(stream)}") from None
        exported = self._export(tensors)
        if not isinstance(error, BufferError):  # of memory that is read-only
            raise error
        return self._call(stream, *exported)

    def _export(self, tensors):
        """Tensors as tvm-ffi takes them. A ValueError names that of the arguments that is none, or that must not be written."""
        exported = []
        for argument, tensor in zip(self.inputs + self.results, tensors):
            expected = f"argument '{argument.name}': expected "
            try:
                made, is_read_only = _frameworks.export(tensor)
            except ValueError as error:
                raise ValueError(f"{expected}a tensor {_describe_type(argument)}, got {error}") from None
            except Exception:
                raise ValueError(f"{expected}a tensor {_describe_type(argument)}, got {_describe(tensor)}") from None
            if is_read_only and argument.role != "input":
                raise ValueError(f"{expected}memory that may be written, got a read-only {type(tensor).__name__}")
            exported.append(made)
        return exported

    def __reduce__(self):
        return _get_function, (self.module, self.name, not self._flags)

    def _on_rows(self, row_shape):
        """What calls it with a stream, or None, tensors without gaps of any shape that ends in that of a row, and tensors for its
        first results; it makes the others. It returns False if a tensor has gaps or another shape."""
        return _native.get_entry(self.module._handle, self.name, self._flags, tvm_ffi.Shape(row_shape))[0]

    def infer(self, *shapes):
        """The shapes of all results that follow from those of the inputs."""
        return tuple(tuple(shape) for shape in self._infer([tuple(map(int, shape)) for shape in shapes]))

    def _infer_any(self, shapes):
        """The same of sizes that are no numbers yet, where frameworks trace."""
        shapes, symbols = list(shapes), {}
        for argument, shape in zip(self.inputs, shapes):
            for name, size in zip(argument.dims, shape):
                if isinstance(name, str):
                    symbols.setdefault(name, size)
        if all(isinstance(d, int) or d in symbols for a in self.results for d in a.dims):
            return [[symbols.get(d, d) for d in a.dims] for a in self.results]
        # Sizes that follow from others by a formula: for these very sizes.
        return self.infer(*shapes)

    def __repr__(self):
        def text(arguments):
            return ", ".join(f"{a.name}: {_describe_type(a)}" for a in arguments)

        return f"{self.name}({text(self.inputs)}) -> {text(self.results) or 'None'}"


def _get_function(module, name, early_start):
    return module.function(name, early_start)


def _describe_type(argument):
    return f"{argument.dtype}[{', '.join(map(str, argument.dims))}]"


def _describe(value):
    """What it is, for messages."""
    return "None" if value is None else f"an object of type {type(value).__name__}"


class Module(collections.abc.Mapping):
    """The entries of a module by name. Pickled, it is the path that it was loaded from, or its bytes if it has none."""

    def __init__(self, handle, device, source):
        self._handle, self.device, self._source = handle, device, source
        described = json.loads(str(_native.describe(handle, "", True)))
        self.content_hash = described["content_hash"]
        self._entries = {entry["name"]: entry for entry in described["entries"]}
        self._functions = {}

    def function(self, name, early_start=True):
        """An entry. Without `early_start` its kernels do not start before the work in front of them has ended, which is faster
        after kernels that were not launched that way (RMSNORM_NO_EARLY_START in rmsnorm.h)."""
        function = self._functions.get((name, early_start))
        if function is None:
            if name not in self._entries:
                raise KeyError(f"expected one of the entries {', '.join(self._entries) or '(none)'}, got {name!r}")
            function = self._functions[name, early_start] = Function(self, self._entries[name], early_start)
        return function

    def synchronize(self, tensor):
        """Waits for the default stream of the tensor's device."""
        _native.synchronize(self._handle, tensor)

    def __getitem__(self, name):
        return self.function(name)

    def __contains__(self, name):
        return name in self._entries

    def __iter__(self):
        return iter(self._entries)

    def __len__(self):
        return len(self._entries)

    def describe(self, entry=""):
        """What norm-inspect prints of the module, or of an entry."""
        return str(_native.describe(self._handle, entry, False))

    def __copy__(self):
        return self  # it never changes

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        return load, (self._source, self.device)

    def __repr__(self):
        return "\n".join(repr(self[name]) for name in self)


def load(source, device=None):
    """Opens a module, a file or bytes. `device` says what tensors in host memory run on: "sim" or "sim:sm_90", the simulator,
    "oracle", the interval arithmetic that results are compared with. Both run native code that is in the module: load modules
    that you trust. Without it such tensors are refused; those of a GPU need no `device`."""
    if device is not None and not isinstance(device, str):
        raise ValueError(f"device: expected a text or None, got {_describe(device)}")
    if isinstance(source, (bytes, bytearray)):
        source = bytes(source)
        return Module(_native.open_bytes(source, device or ""), device, source)
    if not isinstance(source, (str, os.PathLike)):
        raise ValueError(f"source: expected a path, or bytes, got {_describe(source)}")
    path = os.path.abspath(source)  # wherever it is unpickled
    return Module(_native.open_file(os.fspath(source), device or ""), device, path)


def find_compiler():
    """The norm-compile that `compile` runs: $NORM_COMPILE, or the one that the package carries, or the one on PATH."""
    given = os.environ.get("NORM_COMPILE")
    carried = str(pathlib.Path(__file__).parent / "bin" / "norm-compile")
    found = shutil.which(given) if given else shutil.which(carried) or shutil.which("norm-compile")
    if not found:
        raise FileNotFoundError(
            f"expected norm-compile in $NORM_COMPILE, got {given!r}" if given else
            f"expected norm-compile in $NORM_COMPILE, as {carried} or on PATH, found none; the repository builds it "
            "(scripts/run.sh), or a wheel of this package that carries it (scripts/wheel.sh)")
    return found


def compile(source, target="native", device=None, options=()):
    """Compiles MLIR, a text or a file (an os.PathLike), for a target or several ("sm_90", "gfx942", "sim:sm_90", "native": this
    machine's GPU), and loads the module. `options`: further ones of norm-compile. Its message is that of the ValueError."""
    if not isinstance(source, (str, os.PathLike)):
        raise ValueError(f"source: expected a text of MLIR, or a path as an os.PathLike, got {_describe(source)}")
    for name, given in (("target", [target] if isinstance(target, str) else target), ("options", options)):
        if not isinstance(given, (list, tuple)) or not all(isinstance(text, str) for text in given):
            raise ValueError(f"{name}: expected texts, got {given!r}")
    targets = [target] if isinstance(target, str) else list(target)
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "module.rmsn")
        is_file = isinstance(source, os.PathLike)
        command = [find_compiler(), os.fspath(source) if is_file else "-", f"--target={','.join(targets)}", "-o", output, *options]
        done = subprocess.run(command, input=None if is_file else source, capture_output=True, text=True)
        if done.returncode != 0:
            raise ValueError(done.stderr.strip())
        if device is None:
            device = next((t for t in targets if t.startswith("sim")), None)
        return load(pathlib.Path(output).read_bytes(), device)  # the file goes
