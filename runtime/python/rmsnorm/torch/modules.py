# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""RMSNorm as a module of PyTorch, forward and backward by compiled kernels."""
import math

import torch

import rmsnorm

from .. import _norms
from .operators import (DTYPES, Gradient, differentiate, differentiate_transformed, make_function, make_key, needs_gradient,
                        operator)

# What norms are compiled for.
_NAMES = {DTYPES[name]: name for name in _norms.TYPES}
_calls = {}  # of norms


def _check_types(dtype, weight_dtype):
    for given in (dtype, weight_dtype):
        if given is not None and given not in _NAMES:
            raise ValueError(f"expected one of {', '.join(map(str, _NAMES))}, got {given}")


def _entry_name(columns, eps, dtype, weight_dtype):
    return _norms.entry_name(columns, eps, _NAMES[dtype], _NAMES[weight_dtype] if weight_dtype else None)


def source(columns, eps, dtype, weight_dtype=None, has_weight=True):
    """The program of a norm, as MLIR: for inference, for training with what its gradient needs, and its gradient. The weight's
    type is that of x if none is given. What is printed of several widths may be one file."""
    weight_dtype = (weight_dtype or dtype) if has_weight else None
    _check_types(dtype, weight_dtype)
    return _norms.source(columns, eps, _NAMES[dtype], _NAMES[weight_dtype] if has_weight else None)


def compile(columns, eps, dtype, weight_dtype=None, has_weight=True, **options):
    """rmsnorm.compile of `source`."""
    return rmsnorm.compile(source(columns, eps, dtype, weight_dtype, has_weight), **options)


class RMSNorm(torch.nn.RMSNorm):
    """torch.nn.RMSNorm, computed by a compiled module: one of `source`'s programs for this size, type and eps, or several. Its
    parameters and its state are the same. What the module has no program for is an error that says what to compile."""

    def __init__(self, normalized_shape, eps=None, elementwise_affine=True, device=None, dtype=None, *, module):
        if not isinstance(module, rmsnorm.Module):
            raise ValueError(f"module: expected a rmsnorm.Module, got an object of type {type(module).__name__}")
        super().__init__(normalized_shape, eps, elementwise_affine, device=device, dtype=dtype)
        self.columns = math.prod(self.normalized_shape)
        self._compiled = module
        self._find_calls()

    def _find_calls(self):
        # Now, as torch.compile cannot look them up later: for each type of x and of the weight, which may change (.to()).
        self._calls = {}
        for dtype in _NAMES:
            for weight_dtype in _NAMES if self.elementwise_affine else [None]:
                name = _entry_name(self.columns, self._eps(dtype), dtype, weight_dtype)
                if name in self._compiled:
                    self._calls[dtype, weight_dtype] = _norm(self._compiled, name, self.normalized_shape)

    def __getstate__(self):
        return {name: value for name, value in self.__dict__.items() if name != "_calls"}

    def __setstate__(self, state):
        super().__setstate__(state)
        self._find_calls()

    def _eps(self, dtype):
        return torch.finfo(dtype).eps if self.eps is None else self.eps

    def forward(self, x):
        try:
            weight = self._parameters["weight"]  # self.weight takes ten times as long to find
        except KeyError:  # it is no parameter now: parametrized, sharded
            weight = self.weight
        call = self._calls.get((x.dtype, None if weight is None else weight.dtype))
        if call is None:
            self._refuse(x, weight)
        return call(x) if weight is None else call(x, weight)

    def _refuse(self, x, weight):
        weight_dtype = None if weight is None else weight.dtype
        _check_types(x.dtype, weight_dtype)
        raise ValueError(
            f"the module has no norm of {self.columns} columns of {x.dtype}, a weight of {weight_dtype} and this eps; "
            f"rmsnorm.torch.source({self.columns}, {self._eps(x.dtype)!r}, {x.dtype}, {weight_dtype}, "
            f"has_weight={weight_dtype is not None}) is the program to compile for it")


def _norm(module, name, row_shape):
    """A norm of tensors that end in `row_shape`, called with x and with the weight if it has one: the program for inference, or
    that for training where a gradient is needed."""
    key = (row_shape, *make_key(module[name], None))
    if key not in _calls:
        gradient = _norm_gradient(module, name)
        entry, forward, backward = module[name], module[f"{name}_forward"], gradient.function
        infer = _operator_on_rows(operator(entry), entry, row_shape)
        train = _operator_on_rows(operator(forward, gradient), forward, row_shape)
        run_gradient = _operator_on_rows(operator(backward), backward, row_shape)
        run_backward = make_function(run_gradient, _on_rows(backward, row_shape), run_gradient, run_gradient)

        def kept(*tensors):
            if any(type(t).__name__ == "DTensor" for t in tensors):
                return _on_shards(call, row_shape, *tensors)
            return train(*tensors)[0] if needs_gradient(tensors) else infer(*tensors)

        train_transformed = _operator_on_rows(differentiate_transformed(forward, gradient), forward, row_shape)

        def transformed(*tensors):
            return train_transformed(*tensors)[0] if needs_gradient(tensors) else infer(*tensors)

        with_gradient = differentiate(_on_rows(forward, row_shape), forward, gradient, run_backward, 1)
        call = _calls[key] = make_function(kept, _on_rows(entry, row_shape), with_gradient, transformed)
    return _calls[key]


def _on_shards(call, row_shape, x, *weight):
    """Of DTensors: each device norms the rows that it has, with the whole weight, and has a part of the weight's gradient."""
    from torch.distributed.tensor import DTensor, Partial, Replicate

    for what, tensor in zip(("x", "the weight"), (x, *weight)):
        if not isinstance(tensor, DTensor):
            raise ValueError(f"{what}: expected a DTensor as the other one is, got a {type(tensor).__name__}; "
                             "torch.distributed.tensor.distribute_tensor or distribute_module makes it one")
        if tensor.device_mesh != x.device_mesh:
            raise ValueError(f"{what}: expected the mesh of x, {x.device_mesh}, got {tensor.device_mesh}")
    columns = range(x.dim() - len(row_shape), x.dim())
    if any(p.is_partial() or (p.is_shard() and p.dim % x.dim() in columns) for p in x.placements):
        raise ValueError(f"x: expected rows that are whole on each device, got the placements {x.placements}; "
                         "x.redistribute(placements=...) makes them so")
    whole = [Replicate()] * x.device_mesh.ndim
    parts = [Partial() if p.is_shard() else Replicate() for p in x.placements]
    local = [w.redistribute(placements=whole).to_local(grad_placements=parts) for w in weight]
    y = call(x.to_local(grad_placements=x.placements), *local)
    strides = [math.prod(x.shape[d + 1:]) for d in range(x.dim())]
    return DTensor.from_local(y, x.device_mesh, x.placements, run_check=False, shape=x.shape, stride=tuple(strides))


def _is_rows(shape, columns):
    return len(shape) == 2 and shape[1] == columns


def _as_rows(tensor, columns):
    rows = tensor if _is_rows(tensor.shape, columns) else tensor.reshape(-1, columns)
    return rows if rows.stride(1) == 1 else rows.contiguous()


def _on_rows(entry, row_shape):
    """A call of an entry of a norm, whose tensors may have any shape that ends in that of a row. The first result has that of the
    first tensor."""
    run, as_rows = entry._on_rows(row_shape), _operator_on_rows(entry.__call__, entry, row_shape)
    empty_like = torch.empty_like  # costs less than what the library gets from PyTorch and hands back

    def call(*tensors):
        result = empty_like(tensors[0])
        other = run(None, *tensors, result)
        if other is False:
            return as_rows(*tensors)
        return result if other is None else (result, other)

    return call


def _operator_on_rows(call, entry, row_shape):
    """The same of its operator, or of what else takes rows as the entry does."""
    columns = entry.inputs[0].dims[1]
    takes_rows = [len(a.dims) == 2 for a in entry.inputs]
    unsafe_view = torch.ops.aten._unsafe_view.default

    def run(*tensors):
        shape = tensors[0].shape
        if shape[-len(row_shape):] != row_shape:
            raise ValueError(f"expected a tensor [..., {', '.join(map(str, row_shape))}], got {list(shape)}")
        results = call(*[_as_rows(t, columns) if takes else t if t.dim() == 1 else t.reshape(-1)
                         for t, takes in zip(tensors, takes_rows)])
        if _is_rows(shape, columns):
            return results
        # No view: what a gradient's function returns could not be changed in place then.
        if isinstance(results, (tuple, list)):
            return (unsafe_view(results[0], shape), *results[1:])
        return unsafe_view(results, shape)

    return run


def _norm_gradient(module, name):
    forward, backward = module[f"{name}_forward"], module[f"{name}_backward"]
    x, *weight = (a.name for a in forward.inputs)
    y, rstd = (a.name for a in forward.results)
    return Gradient(backward, [f"grad {y}", x, *weight, rstd], [x, *weight])
