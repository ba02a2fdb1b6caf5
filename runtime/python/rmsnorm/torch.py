# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled entries as operators of PyTorch, and RMSNorm as a module.

    forward = rmsnorm.torch.operator(module["forward"])          # torch.compile keeps it
    forward = rmsnorm.torch.function(module["forward"])          # and costs less without torch.compile
    norm = rmsnorm.torch.RMSNorm(4096, eps=1e-5, dtype=torch.bfloat16, module=rmsnorm.torch.compile(4096, 1e-5, torch.bfloat16))
"""
import math
import re
import typing

import torch

import rmsnorm

from . import _norms

__all__ = ["RMSNorm", "compile", "function", "operator", "source"]

_DTYPES = {
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64, "i8": torch.int8,
    "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8, "bool": torch.bool,
    "f8e4m3fn": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2, "f8e4m3fnuz": torch.float8_e4m3fnuz,
    "f8e8m0fnu": getattr(torch, "float8_e8m0fnu", None), "f4e2m1fn": getattr(torch, "float4_e2m1fn_x2", None),
}
# What norms are compiled for.
_NAMES = {_DTYPES[name]: name for name in _norms.TYPES}

# What registers operators must live as long as they.
_library = torch.library.Library("rmsnorm", "FRAGMENT")
_operators, _functions = {}, {}


#===--- Operators ---------------------------------------------------------===#


class Gradient(typing.NamedTuple):
    """How an entry computes gradients of another one. `takes`: for each of its inputs the name of an input or a result of the
    forward entry, or "grad NAME", the gradient of that result. `gives`: for each of its results the names of the inputs whose
    gradient it is, one or several; gradients are converted to the inputs' types."""

    function: rmsnorm.Function
    takes: typing.Sequence[str]
    gives: typing.Sequence[typing.Union[str, typing.Sequence[str]]]


def _make_results(function, inputs):
    if not function.results:
        return None
    results = []
    for argument, shape in zip(function.results, function._infer_any(tensor.shape for tensor in inputs)):
        if argument.dtype == "f4e2m1fn":
            shape = [*shape[:-1], shape[-1] // 2]
        results.append(torch.empty(shape, dtype=_DTYPES[argument.dtype], device=inputs[0].device))
    return results[0] if len(results) == 1 else tuple(results)


def _check_gradient(function, gradient):
    names = [a.name for a in (*function.inputs, *function.results)]
    possible = {*names, *(f"grad {a.name}" for a in function.results)}
    inputs = {a.name for a in function.inputs}

    def require(given, expected, what):
        if len(given) != expected:
            raise ValueError(f"{what}: expected {expected} names, one for each, got {len(given)}")

    require(gradient.takes, len(gradient.function.inputs), f"what {gradient.function.name} takes")
    require(gradient.gives, len(gradient.function.results), f"what {gradient.function.name} gives")
    for name in gradient.takes:
        if name not in possible:
            raise ValueError(f"what {gradient.function.name} takes: expected one of {', '.join(sorted(possible))}, got {name!r}")
    for given in gradient.gives:
        for name in [given] if isinstance(given, str) else given:
            if name not in inputs:
                raise ValueError(f"what {gradient.function.name} gives: expected one of {', '.join(sorted(inputs))}, got {name!r}")


def _make_gradient(function, gradient, num_returned):
    """What a forward call keeps (setup), and what runs backward: of the operator, and of calls without it. Both are called often:
    names are places here. The call returns the first `num_returned` of its results."""
    _check_gradient(function, gradient)
    input_names = [a.name for a in function.inputs]
    names = input_names + [a.name for a in function.results]
    grad_names = [f"grad {a.name}" for a in function.results]
    kept = [names.index(n) for n in gradient.takes if n not in grad_names]
    taken = [i for i, n in enumerate(grad_names) if n in gradient.takes]
    others = [len(input_names) + i for i, n in enumerate(grad_names[:num_returned]) if n not in gradient.takes]
    # For each input of the backward entry its place among what was kept, and the gradients after that.
    available = [names[i] for i in kept] + [grad_names[i] for i in taken]
    order = [available.index(n) for n in gradient.takes]
    result_of = {n: i for i, given in enumerate(gradient.gives) for n in ([given] if isinstance(given, str) else given)}
    gives = [(result_of.get(a.name), _DTYPES[a.dtype]) for a in function.inputs]
    # Of tensors that are not kept, the shapes: of inputs, and of results whose gradient may be missing.
    shaped = [i for i, (given, _) in enumerate(gives) if given is not None]
    shaped += [len(input_names) + i for i in taken] if len(taken) > 1 else []
    remembered = [i for i in shaped if i not in kept]
    place = {i: k for k, i in enumerate(kept + remembered)}

    def setup(ctx, inputs, output):
        tensors = (*inputs, *output) if isinstance(output, tuple) else (*inputs, output)
        ctx.save_for_backward(*[tensors[i] for i in kept])
        if remembered:
            ctx.shapes = [tensors[i].shape for i in remembered]
        # Zeros are made for gradients that are taken and do not come back, and for no others.
        ctx.set_materialize_grads(False)
        if others:
            ctx.mark_non_differentiable(*[tensors[i] for i in others])

    def run(ctx, backward, grads):
        tensors = list(ctx.saved_tensors)

        def shape(i):
            k = place[i]
            return tensors[k].shape if k < len(kept) else ctx.shapes[k - len(kept)]

        for i in taken:
            if (grad := grads[i]) is None:
                device = next(g.device for g in grads if g is not None)
                grad = torch.zeros(shape(len(input_names) + i), dtype=_DTYPES[function.results[i].dtype], device=device)
            # The last dimension of what is handed back may be expanded from one number, as by sum().
            tensors.append(grad if grad.is_contiguous() else grad.contiguous())
        results = backward(*[tensors[i] for i in order])
        if not isinstance(results, (tuple, list)):
            results = (results,)
        gradients = []
        for i, (is_needed, (given, dtype)) in enumerate(zip(ctx.needs_input_grad, gives)):
            result = results[given] if is_needed and given is not None else None
            if result is not None:
                if result.dtype != dtype:
                    result = result.to(dtype)
                if result.shape != shape(i):
                    result = result.view(shape(i))
            gradients.append(result)
        return tuple(gradients)

    return setup, run


def _refuse_gradient(function):
    def refuse(ctx, *grads):
        raise NotImplementedError(
            f"{function.name} has no gradient: rmsnorm.torch.Gradient(...) says which entry computes one, and gradients of "
            "gradients there are none")

    return refuse


def _count_changes(function, made):
    """Tells PyTorch what is changed in place: a tensor that is kept for a gradient must not be."""

    def run(keyset, *tensors):
        for argument, tensor in zip(function.inputs, tensors):
            if argument.role == "inout":
                torch.autograd.graph.increment_version(tensor)
        with torch._C._AutoDispatchBelowADInplaceOrView():
            return made.redispatch(keyset & torch._C._after_ADInplaceOrView_keyset, *tensors)

    return run


def _make_key(function, gradient):
    for name, given, kind in (("entry", function, rmsnorm.Function), ("gradient", gradient or None, (Gradient, type(None)))):
        if not isinstance(given, kind):
            raise ValueError(f"{name}: expected one of rmsnorm, got an object of type {type(given).__name__}")
    key = (function.name, function.module.content_hash, function.module.device)
    if gradient:
        key += (gradient.function.name, gradient.function.module.content_hash, tuple(gradient.takes), str(gradient.gives))
    return key


def operator(function, gradient=None):
    """An operator of PyTorch that runs an entry: it has the shapes of its results without running (torch.compile, export), and
    gradients if `gradient` says how. The same entry of the same module gives the same operator."""
    key = _make_key(function, gradient)
    if key in _operators:
        return _operators[key]
    # The number sets apart what has the same name in several modules.
    name = f"{re.sub('[^A-Za-z0-9_]', '_', function.name)}_{len(_operators)}"
    arguments = ", ".join(
        f"Tensor{f'({chr(97 + i)}!)' if a.role == 'inout' else ''} arg{i}" for i, a in enumerate(function.inputs))
    results = ", ".join("Tensor" for _ in function.results)
    _library.define(f"{name}({arguments}) -> {results if len(function.results) == 1 else f'({results})'}",
                    tags=(torch.Tag.needs_fixed_stride_order,))
    run = function.__call__
    for dispatch in ("CPU", "CUDA"):  # ROCm's tensors are of "CUDA", too
        _library.impl(name, lambda *tensors: run(*tensors), dispatch)
    torch.library.register_fake(f"rmsnorm::{name}", lambda *tensors: _make_results(function, tensors), lib=_library)
    made = _operators[key] = getattr(torch.ops.rmsnorm, name).default
    if gradient:
        setup, run_backward = _make_gradient(function, gradient, len(function.results))
        backward = operator(gradient.function)
        torch.library.register_autograd(f"rmsnorm::{name}", lambda ctx, *grads: run_backward(ctx, backward, grads),
                                        setup_context=setup, lib=_library)
    elif _is_functional(function):  # PyTorch has no gradients of others
        torch.library.register_autograd(f"rmsnorm::{name}", _refuse_gradient(function), lib=_library)
    if not _is_functional(function):
        _library.impl(name, _count_changes(function, made), "ADInplaceOrView", with_keyset=True)
    return made


#===--- Calls without an operator -----------------------------------------===#

_PLAIN = {torch.Tensor, torch.nn.Parameter}
_count_modes = torch._C._len_torch_dispatch_stack
_has_transforms = torch._C._are_functorch_transforms_active
_is_tracing = torch._C._is_tracing
_is_compiling = torch.compiler.is_compiling
_is_grad_enabled = torch.is_grad_enabled


def _is_functional(function):
    return all(a.role != "inout" for a in function.inputs)


def _needs_gradient(tensors):
    if _is_grad_enabled():
        for tensor in tensors:
            if tensor.requires_grad:
                return True
    return False


def function(entry, gradient=None):
    """What `operator` makes, which costs less where it is run at once: then the entry is called, and its gradient, with none of
    PyTorch's dispatch. torch.compile and export, and all else that watches operators, see the operator. torch.func may transform
    it: vmap calls the entry for each sample, also of a gradient."""
    key = _make_key(entry, gradient)
    if key not in _functions:
        kept = with_gradient = _functions[key] = operator(entry, gradient)
        if gradient and _is_functional(entry):
            backward = function(gradient.function)
            with_gradient = _differentiate(entry.__call__, entry, gradient, backward, len(entry.results))
        if _is_functional(entry):
            transformed = _differentiate_transformed(entry, gradient)
            _functions[key] = _make_function(kept, entry.__call__, with_gradient, transformed)
    return _functions[key]


def _make_function(kept, direct, with_gradient, transformed):
    """A call of `direct`, or of `with_gradient`; of `kept` where the tensors or somebody want to see an operator, of `transformed`
    where torch.func transforms it."""

    def call(*tensors):
        if _has_transforms() and not _is_compiling():
            return transformed(*tensors)
        if _is_compiling() or _count_modes() or _is_tracing() or not tensors:
            return kept(*tensors)
        needs_gradient = False
        for tensor in tensors:
            if type(tensor) not in _PLAIN or tensor.is_meta:
                return kept(*tensors)
            needs_gradient = needs_gradient or tensor.requires_grad
        return with_gradient(*tensors) if needs_gradient and _is_grad_enabled() else direct(*tensors)

    return call


def _differentiate(direct, entry, gradient, backward, num_returned):
    """The first results of `direct`, which calls an entry, with a gradient that `backward` computes."""
    setup, run_backward = _make_gradient(entry, gradient, num_returned)

    # torch.autograd.Function without what its `apply` looks for first: torch.func, which sees the operator.
    class Direct(torch.autograd.function._SingleLevelFunction):
        @staticmethod
        def forward(ctx, *inputs):
            results = direct(*inputs)
            setup(ctx, inputs, results)
            return results[0] if num_returned == 1 and isinstance(results, tuple) else results

        @staticmethod
        def backward(ctx, *grads):
            return run_backward(ctx, backward, grads)

    return Direct.apply


def _differentiate_transformed(entry, gradient):
    """The operator of an entry with its gradient, or one that is refused, where torch.func transforms calls: it knows no gradients
    of operators."""
    forward = operator(entry, gradient)
    if gradient:
        setup, run_backward = _make_gradient(entry, gradient, len(entry.results))
        backward = _differentiate_transformed(gradient.function, None)
    refuse = _refuse_gradient(entry)

    class Transformed(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(*inputs):
            return forward(*inputs)

        @staticmethod
        def setup_context(ctx, inputs, output):
            if gradient:
                setup(ctx, inputs, output)

        @staticmethod
        def backward(ctx, *grads):
            return run_backward(ctx, backward, grads) if gradient else refuse(ctx, *grads)

        @staticmethod
        def jvp(ctx, *tangents):
            raise NotImplementedError(f"{entry.name} has no derivative in forward mode (jvp, jacfwd, hessian), only a gradient")

    return Transformed.apply


#===--- RMSNorm -----------------------------------------------------------===#


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
    key = ("norm", row_shape, *_make_key(module[name], None))
    if key not in _functions:
        gradient = _norm_gradient(module, name)
        entry, forward, backward = module[name], module[f"{name}_forward"], gradient.function
        infer = _operator_on_rows(operator(entry), entry, row_shape)
        train = _operator_on_rows(operator(forward, gradient), forward, row_shape)
        run_gradient = _operator_on_rows(operator(backward), backward, row_shape)
        run_backward = _make_function(run_gradient, _on_rows(backward, row_shape), run_gradient, run_gradient)

        def kept(*tensors):
            if any(type(t).__name__ == "DTensor" for t in tensors):
                return _on_shards(call, row_shape, *tensors)
            return train(*tensors)[0] if _needs_gradient(tensors) else infer(*tensors)

        train_transformed = _operator_on_rows(_differentiate_transformed(forward, gradient), forward, row_shape)

        def transformed(*tensors):
            return train_transformed(*tensors)[0] if _needs_gradient(tensors) else infer(*tensors)

        with_gradient = _differentiate(_on_rows(forward, row_shape), forward, gradient, run_backward, 1)
        call = _functions[key] = _make_function(kept, _on_rows(entry, row_shape), with_gradient, transformed)
    return _functions[key]


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
