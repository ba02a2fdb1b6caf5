# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled entries inside jax.jit, and RMSNorm with its gradient.

    y = rmsnorm.jax.call(module["llama3_8b"], x, weight)
    module = rmsnorm.jax.compile(4096, 1e-5, jnp.bfloat16)
    y = rmsnorm.jax.rms_norm(x, weight, 1e-5, module=module)

jax-tvm-ffi hands XLA's buffers to the library: no Python runs in a call.
"""
import threading

import jax
import jax.numpy as jnp
import jax_tvm_ffi
import numpy

import rmsnorm

from . import _norms

__all__ = ["call", "compile", "rms_norm", "source"]

_DTYPES = {
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "i8": "int8", "i16": "int16", "i32": "int32",
    "i64": "int64", "u8": "uint8", "bool": "bool", "f8e4m3fn": "float8_e4m3fn", "f8e5m2": "float8_e5m2",
    "f8e4m3fnuz": "float8_e4m3fnuz", "f8e8m0fnu": "float8_e8m0fnu", "f4e2m1fn": "float4_e2m1fn",
}
_NAMES = {name: ours for ours, name in _DTYPES.items()}

_targets, _norm_functions = set(), {}
_lock = threading.Lock()


#===--- Calls --------------------------------------------------------------===#


def call(entry, *inputs):
    """Runs an entry of a module, also where JAX traces: jax.jit keeps it. Its results are returned, and after them what inputs that
    it changes in place become, as JAX's arrays never change: one array, or a tuple of several. It has no gradient; vmap runs it once
    for each element."""
    if not isinstance(entry, rmsnorm.Function):
        raise ValueError(f"entry: expected an entry of a module, got {rmsnorm._describe(entry)}")
    if len(inputs) != len(entry.inputs):
        raise ValueError(f"entry '{entry.name}': expected {len(entry.inputs)} arrays, got {len(inputs)}")
    symbols = {}
    for argument, array in zip(entry.inputs, inputs):
        _check_argument(argument, array, symbols)
    arrays = _vary_alike(inputs)
    changed = [i for i, argument in enumerate(entry.inputs) if argument.role == "inout"]
    results = [_make_type(shape, _get_dtype(argument), arrays[0])
               for argument, shape in zip(entry.results, entry._infer_any(array.shape for array in arrays))]
    aliases = {i: len(results) + k for k, i in enumerate(changed)}
    results += [_make_type(arrays[i].shape, arrays[i].dtype, arrays[0]) for i in changed]
    run = jax.ffi.ffi_call(_register(entry), results, vmap_method="sequential", input_output_aliases=aliases)
    made = run(*arrays)
    return made[0] if len(made) == 1 else tuple(made)


def _get_dtype(argument):
    name = _DTYPES.get(argument.dtype)
    if not hasattr(jnp, name or ""):
        raise ValueError(f"argument '{argument.name}': expected a type that this JAX has, got {argument.dtype}")
    dtype = jnp.dtype(getattr(jnp, name))
    if jax.dtypes.canonicalize_dtype(dtype) != dtype:
        raise ValueError(f"argument '{argument.name}': expected the option jax_enable_x64, as its type is {argument.dtype}")
    return dtype


def _is_array(array):
    return isinstance(array, (jax.Array, numpy.ndarray))


def _check_argument(argument, array, symbols):
    """As a launch checks it, but now. `symbols`: what sizes are, and the argument and the dimension that said so."""
    expected = f"argument '{argument.name}': expected"
    if not _is_array(array):
        raise ValueError(f"{expected} an array {rmsnorm._describe_type(argument)}, got {rmsnorm._describe(array)}")
    if array.dtype != _get_dtype(argument):
        raise ValueError(f"{expected} data type {argument.dtype}, got {_NAMES.get(array.dtype.name, array.dtype.name)}")
    if array.ndim != len(argument.dims):
        raise ValueError(f"{expected} rank {len(argument.dims)}, got {array.ndim}")
    for d, (size, given) in enumerate(zip(argument.dims, array.shape)):
        as_in = ""
        if isinstance(size, str):
            size, where = symbols.setdefault(size, (given, (argument.name, d)))
            as_in = f", as in dimension {where[1]} of '{where[0]}'"
        if size != given:
            raise ValueError(f"{expected} size {size} in dimension {d}{as_in}, got {given}")


def _get_platforms(entry):
    """JAX's names of what an entry of this module runs on. jax-tvm-ffi knows no AMD GPUs."""
    return [*(["cpu"] if (entry.module.device or "").startswith("sim") else []),
            *(["gpu"] if any(target.startswith("sm_") for target in entry.targets) else [])]


def _has_platform(name):
    try:
        return any(device.platform == name for device in jax.devices("cuda" if name == "gpu" else name))
    except RuntimeError:
        return False


def _register(entry):
    """XLA's name of an entry, the same in every process. It is registered at first."""
    module = entry.module
    name = f"rmsnorm.{module.content_hash}.{module.device or 'gpu'}.{entry._flags}.{entry.name}"
    with _lock:
        if name not in _targets:
            platforms = _get_platforms(entry)
            if not any(map(_has_platform, platforms)):
                raise ValueError(
                    f"entry '{entry.name}': expected a program for one of this process's devices, those of CUDA, or the CPU with "
                    f"load(..., device=\"sim\"), got programs for {', '.join(entry.targets)} and device={module.device!r}")
            run = rmsnorm._native.get_call_with_changed(module._handle, entry.name, entry._flags)
            for platform in platforms:
                jax_tvm_ffi.register_ffi_target(name, run, ["ctx.stream", "args", "rets"], platform=platform)
            _targets.add(name)
    return name


#===--- shard_map ----------------------------------------------------------===#


def _get_varying(array):
    """The axes of a mesh along which an array differs between devices, in shard_map."""
    kind = jax.typeof(array)
    manual = getattr(kind, "manual_axis_type", None)  # since JAX 0.10
    return manual.varying if manual is not None else getattr(kind, "vma", frozenset())


def _vary_alike(arrays):
    """Arrays that differ along the same axes: a weight that all devices have, beside rows of which each has its own."""
    arrays = [jnp.asarray(array) for array in arrays]
    axes = frozenset().union(*map(_get_varying, arrays))
    made = []
    for array in arrays:
        missing = tuple(sorted(axes - _get_varying(array)))
        if missing:
            array = jax.lax.pcast(array, missing, to="varying")
        made.append(array)
    return made


def _make_type(shape, dtype, like):
    """Of a result that differs along the axes that `like` does."""
    if not _get_varying(like):
        return jax.ShapeDtypeStruct(shape, dtype)
    kind = jax.typeof(like)
    sharding = jax.sharding.NamedSharding(kind.sharding.mesh, jax.sharding.PartitionSpec(*[None] * len(shape)))
    name = "manual_axis_type" if hasattr(kind, "manual_axis_type") else "vma"
    return jax.ShapeDtypeStruct(shape, dtype, sharding=sharding, **{name: getattr(kind, name)})


#===--- RMSNorm ------------------------------------------------------------===#


def _name_type(what, dtype):
    name = _NAMES.get(jnp.dtype(dtype).name)
    if name not in _norms.TYPES:
        raise ValueError(f"{what}: expected one of {', '.join(_DTYPES[n] for n in _norms.TYPES)}, got {jnp.dtype(dtype).name}")
    return name


def source(columns, eps, dtype, weight_dtype=None, has_weight=True):
    """The program of a norm, as MLIR: for inference, for training with what its gradient needs, and its gradient. The weight's
    type is that of x if none is given. What is printed of several widths may be one file."""
    weight_dtype = dtype if weight_dtype is None else weight_dtype
    return _norms.source(columns, eps, _name_type("dtype", dtype), _name_type("weight_dtype", weight_dtype) if has_weight else None)


def compile(columns, eps, dtype, weight_dtype=None, has_weight=True, **options):
    """rmsnorm.compile of `source`."""
    return rmsnorm.compile(source(columns, eps, dtype, weight_dtype, has_weight), **options)


def rms_norm(x, weight, eps, *, module):
    """x / sqrt(mean(x * x) + eps) * weight of each row, the last dimension of x, computed in f32 and rounded once to x's type. A
    weight that is None is left out. `module` has one of `source`'s programs for this size, these types and this eps, or several.
    It has a gradient; vmap over x is one launch."""
    if not isinstance(module, rmsnorm.Module):
        raise ValueError(f"module: expected a rmsnorm.Module, got {rmsnorm._describe(module)}")
    if not isinstance(eps, (int, float)):
        raise ValueError(f"eps: expected a number that is known when JAX traces, got {rmsnorm._describe(eps)}")
    weights = [] if weight is None else [weight]
    names = []
    for what, array in zip(("x", "weight"), [x, *weights]):
        if not _is_array(array):
            raise ValueError(f"{what}: expected an array, got {rmsnorm._describe(array)}")
        names.append(_name_type(what, array.dtype))
    if x.ndim == 0:
        raise ValueError("x: expected rows in the last dimension, got an array without dimensions")
    columns = x.shape[-1]
    for array in weights:
        if array.shape != (columns,):
            raise ValueError(f"weight: expected shape [{columns}], as x has rows of {columns}, got {list(array.shape)}")
    name = _norms.entry_name(columns, eps, names[0], names[1] if weights else None)
    if name not in module:
        types = f"jnp.{x.dtype.name}" + (f", jnp.{weight.dtype.name}" if weights else ", has_weight=False")
        raise ValueError(
            f"module: expected a norm '{name}', got one with {', '.join(module) or 'no entries'}; "
            f"rmsnorm.jax.source({columns}, {eps!r}, {types}) is the program to compile for it")
    return _get_norm(module, name)(*_vary_alike([x, *weights]))


def _get_norm(module, name):
    """A norm with its gradient, of arrays that end in a row."""
    key = _register(module[name])
    if key not in _norm_functions:
        infer, train, gradient = (_on_rows(module[name + suffix]) for suffix in ("", "_forward", "_backward"))

        @jax.custom_vjp
        def norm(x, *weight):
            return infer(x, *weight)

        def forward(x, *weight):
            y, rstd = train(x, *weight)
            return y, (x, *weight, rstd)

        def backward(kept, dy):
            gradients = gradient(dy, *kept)
            return gradients if isinstance(gradients, tuple) else (gradients,)

        norm.defvjp(forward, backward)
        _norm_functions[key] = jax.jit(norm)  # which makes calls outside of a jit cheap
    return _norm_functions[key]


def _on_rows(entry):
    """A call of an entry of a norm. What is rows to it, or a number for each, may have any leading dimensions, those of the first
    argument. vmap adds one more of these. Only where it would give the entry several weights, or ask it for several gradients of
    one, there is a call for each."""
    takes_rows = [isinstance(a.dims[0], str) for a in entry.inputs]
    gives_rows = [isinstance(a.dims[0], str) for a in entry.results]

    def run(first, *others):
        leading = first.shape[:-1]
        arrays = [a.reshape(-1, *argument.dims[1:]) if is_rows else a
                  for a, argument, is_rows in zip((first, *others), entry.inputs, takes_rows)]
        made = call(entry, *arrays)
        made = [r.reshape(*leading, *argument.dims[1:]) if is_rows else r
                for r, argument, is_rows in zip(made if isinstance(made, tuple) else (made,), entry.results, gives_rows)]
        return made[0] if len(made) == 1 else tuple(made)

    batched = jax.custom_batching.custom_vmap(run)

    @batched.def_vmap
    def rule(size, is_batched, *arrays):
        if all(gives_rows) and not any(b and not r for b, r in zip(is_batched, takes_rows)):
            made = batched(*[jnp.broadcast_to(a, (size, *a.shape)) if r and not b else a
                             for a, b, r in zip(arrays, is_batched, takes_rows)])
        else:
            made = jax.vmap(run, in_axes=[0 if b else None for b in is_batched])(*arrays)
        return made, jax.tree.map(lambda _: True, made)

    return batched
