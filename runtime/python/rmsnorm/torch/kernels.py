# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled regions: the files that keep them, and the operator that launches one.

A kernel's key is the hash of all that its module depends on: the program's text, the options, the target and the compiler's own bytes.
A file of that name holds that program and no other one, whoever wrote it, so it is never out of date. Files appear by a rename.
"""
import contextlib
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import tempfile
import threading
import uuid

import torch

import rmsnorm

from .operators import make_results


def find_cache():
    """$RMSNORM_CACHE, or rmsnorm in the user's folder for caches."""
    given = os.environ.get("RMSNORM_CACHE")
    return pathlib.Path(given or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "rmsnorm")


class Refused(Exception):
    """What the compiler says to a program: `messages`, and the names of the nodes that its errors are at."""

    def __init__(self, messages, names):
        super().__init__("; ".join(messages))
        self.messages, self.names = messages, names


class Failed(Exception):
    """What says nothing of a program, and may be gone the next time: a full disk, a compiler that was killed."""


@functools.lru_cache(maxsize=None)
def _hash_file(path, size, modified):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def identify_compiler():
    """The bytes of norm-compile and the libraries that it was linked with."""
    path = os.path.realpath(rmsnorm.find_compiler())
    status = os.stat(path)
    return _hash_file(path, status.st_size, status.st_mtime_ns) + _get_version(path, status.st_mtime_ns)


@functools.lru_cache(maxsize=None)
def _get_version(path, modified):
    done = subprocess.run([path, "--version"], capture_output=True, text=True)
    if done.returncode != 0:  # what is raised is not kept
        raise OSError(f"{path} --version ended with status {done.returncode}")
    return done.stdout


def _run(text, *options):
    """What norm-compile prints for a text. A Refused has its errors; without one it is a Failed."""
    compiler = rmsnorm.find_compiler()
    with _failing(), tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        done = subprocess.run([compiler, "-", f"--diagnostics={log}", *options], input=text, capture_output=True, text=True)
        said = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    if done.returncode != 0:
        errors = [d for d in said if d["severity"] == "error"]
        if errors:
            raise Refused([d["message"] for d in errors], {n for d in errors for n in d["location"]})
        unsaid = done.stderr.strip() if done.returncode > 0 else ""  # of a crash it is a trace
        raise Failed(f"norm-compile ended with status {done.returncode} {unsaid}".strip())
    return done.stdout


@contextlib.contextmanager
def _failing():
    """Makes errors of the system a Failed."""
    try:
        yield
    except (OSError, json.JSONDecodeError) as error:
        raise Failed(f"{type(error).__name__}: {error}") from error


def outline(text, options):
    """The compiler's proposals for a graph: rmsnorm-outline's report."""
    return json.loads(_run(text, *options, "--outline=-"))


_locks, _locks_lock = {}, threading.Lock()


def _find_module(key):
    return find_cache() / f"{key}.rmsn"


def _is_there(key):
    """Whether the file of a key is there, and whole."""
    try:
        return _find_module(key).exists() and bool(get_entry(key))
    except (OSError, ValueError):
        return False


def compile_region(text, options, target):
    """The key of a program. It is compiled unless its file is there."""
    program = re.sub(r' loc\("[^"]*"\)', "", text)
    key = hashlib.sha256("\n".join([program, *options, target, identify_compiler()]).encode()).hexdigest()[:32]
    if target.startswith("sim"):
        key = _SIMULATED + key
    path = _find_module(key)
    with _locks_lock:
        lock = _locks.setdefault(key, threading.Lock())
    with lock:  # layers of a model have the same programs
        if not _is_there(key):
            with _failing():
                path.parent.mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryDirectory(dir=path.parent) as folder:
                    made = pathlib.Path(folder) / "module"
                    _run(text, *options, f"--target={target}", "-o", str(made))
                    os.replace(made, path)
                path.with_suffix(".mlir").write_text(program)
    return key


#===--- The operator ------------------------------------------------------===#

# Of keys: the entries that ran, as what is called with a stream and tensors.
_entries, _calls = {}, {}
_TEMPORARY = "only-"  # begins keys that no file has
_SIMULATED = "sim-"  # begins the keys of programs for a simulator, which runs on host memory


def get_entry(key):
    """The entry of a key."""
    entry = _entries.get(key)
    if entry is None:
        path = _find_module(key)
        if not path.exists():
            raise FileNotFoundError(
                f"expected the compiled norms of this program in {path}, found no such file: compile the model again "
                "(torch.compiler.reset())")
        entry, = rmsnorm.load(path, device="sim" if key.startswith(_SIMULATED) else None).values()
        _entries[key] = entry
    return entry


def require(key):
    """For code that Inductor has kept, when it is loaded: an OSError makes Inductor compile the graph again, and the pass run."""
    if key in _calls:
        return
    if key.startswith(_TEMPORARY):
        # Inductor keeps that code beside what it compiles now and may find it first: another name for all from now on.
        find_cache().mkdir(parents=True, exist_ok=True)
        with open(_find_failures(), "a") as file:
            file.write(key + "\n")
    get_entry(key)


def _find_failures():
    return find_cache() / "failures"


def list_failures():
    """The keys of other processes that code was found with. What Inductor keeps depends on them."""
    return _find_failures().read_text() if _find_failures().exists() else ""


def launch_into(inputs, results, key):
    """Runs a kernel on tensors that are there. Called by the code that Inductor writes: its cost is the host's."""
    call = _calls.get(key)
    if call is None:
        call = _calls[key] = get_entry(key)._call
    call(None, *inputs, *results)


def _launch(inputs, key):
    results = _fake(inputs, key)
    launch_into(inputs, results, key)
    return results


def _fake(inputs, key):
    result = make_results(get_entry(key), inputs)
    return list(result) if isinstance(result, tuple) else [] if result is None else [result]


def _update(inputs, caches, key):
    results = [*caches, *_fake([*inputs, *caches], key)]
    launch_into(inputs, results, key)
    return results


def _fake_update(inputs, caches, key):
    news = [torch.empty_strided(c.shape, c.stride(), dtype=c.dtype, device=c.device) for c in caches]
    return news + _fake([*inputs, *caches], key)


def make_temporary():
    """A key that only this process has: see `require`."""
    key = f"{_TEMPORARY}{uuid.uuid4().hex}"
    _calls[key] = lambda *_: None
    return key


# One operator for all kernels: torch.compile keeps code that names it, and a later process runs no pass.
_library = torch.library.Library("rmsnorm_graphs", "DEF")
_library.define("launch(Tensor[] inputs, str key) -> Tensor[]", tags=(torch.Tag.needs_fixed_stride_order,))
_library.define("launch_into(Tensor[] inputs, Tensor(a!)[] results, str key) -> ()", tags=(torch.Tag.needs_fixed_stride_order,))
# Changes `caches` and returns them, and the results. To a graph those are new tensors, so that what reads them stands behind it; Inductor
# compiles it as a launch_into of the caches, and drops none whose results nobody needs.
_library.define("update(Tensor[] inputs, Tensor[] caches, str key) -> Tensor[]")
_library.define("put(Tensor whole, Tensor part, int dim, int start, int end) -> Tensor")
_library.impl("put", lambda *given: torch.ops.aten.slice_scatter(*given), "CompositeExplicitAutograd")
torch.library.register_fake("rmsnorm_graphs::put", lambda whole, part, dim, start, end: torch.empty_like(whole), lib=_library)
put = torch.ops.rmsnorm_graphs.put.default
_library.define("mark_temporary(Device device, str key) -> ()")
for _dispatch in ("CPU", "CUDA"):  # ROCm's tensors are of "CUDA", too
    _library.impl("launch", _launch, _dispatch)
    _library.impl("launch_into", launch_into, _dispatch)
    _library.impl("update", _update, _dispatch)
_library.impl("mark_temporary", lambda device, key: None, "CompositeExplicitAutograd")
torch.library.register_fake("rmsnorm_graphs::launch", _fake, lib=_library)
torch.library.register_fake("rmsnorm_graphs::launch_into", lambda inputs, results, key: None, lib=_library)
torch.library.register_fake("rmsnorm_graphs::update", _fake_update, lib=_library)
launch = torch.ops.rmsnorm_graphs.launch.default
update = torch.fx.node.has_side_effect(torch.ops.rmsnorm_graphs.update.default)
_launch_into = torch.ops.rmsnorm_graphs.launch_into.default
mark_temporary = torch.fx.node.has_side_effect(torch.ops.rmsnorm_graphs.mark_temporary.default)


def register_lowering():
    """Tells Inductor to allocate the results itself and to call the kernel without PyTorch's dispatch in between."""
    from torch._inductor import ir, lowering
    from torch._inductor.virtualized import V

    class Launch(ir.FallbackKernel):
        def codegen(self, wrapper):
            if not V.graph.cpp_wrapper:
                wrapper.add_import_once("from rmsnorm.torch.kernels import launch_into as rmsnorm_launch, require as rmsnorm_require")
                wrapper.add_import_once(f"rmsnorm_require({self.constant_args[-1]!r})")
                self.python_kernel_name = "rmsnorm_launch"
            super().codegen(wrapper)

    def lower_call(inputs, caches, key):
        empty = lowering.lowerings[torch.ops.aten.empty_strided.default]
        results = [empty(list(map(_as_expr, val.shape)), list(map(_as_expr, val.stride())), dtype=val.dtype, device=val.device)
                   for val in V.graph.current_node.meta["val"][len(caches):]]
        Launch.create(_launch_into, list(inputs), [*caches, *results], key)
        return [*caches, *results]

    @lowering.register_lowering(launch, type_promotion_kind=None)
    def lower(inputs, key):
        return lower_call(inputs, [], key)

    @lowering.register_lowering(update, type_promotion_kind=None)
    def lower_update(inputs, caches, key):  # in place: nobody else reads what they held
        made = lower_call(inputs, caches, key)
        for cache in caches:
            if cache.get_name() not in V.graph.mutated_buffers:
                raise AssertionError(f"expected a cache that changes, got a copy of {cache.get_name()}")
        return made

    def constrain(node, inputs, caches, key):  # a cache in another order would be a copy
        (inputs,), _ = lowering.constrain_to_fx_strides(node, inputs)
        return (inputs, caches, key), {}

    @lowering.register_lowering(put, type_promotion_kind=None)
    def lower_put(whole, part, dim, start, end):  # in place: `whole` is a kernel's result, and nobody else's
        place = lowering.lowerings[torch.ops.aten.slice.Tensor](whole, dim, start, end)
        lowering.mutate_to(place, part)
        return whole

    @lowering.register_lowering(mark_temporary, type_promotion_kind=None)
    def lower_temporary(device, key):  # a call that does nothing, but stays
        unused = lowering.lowerings[torch.ops.aten.empty_strided.default]([1], [1], dtype=torch.uint8, device=device)
        Launch.create(_launch_into, [], [unused], key)

    lowering.add_layout_constraint(launch, lowering.constrain_to_fx_strides)
    lowering.add_layout_constraint(update, constrain)


def _as_expr(size):
    return size if isinstance(size, int) else size.node.expr
