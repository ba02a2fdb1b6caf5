# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled entries as operators of PyTorch, and as functions that cost less without torch.compile."""
import re
import typing

import torch

import rmsnorm

DTYPES = {
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64, "i8": torch.int8,
    "i16": torch.int16, "i32": torch.int32, "i64": torch.int64, "u8": torch.uint8, "bool": torch.bool,
    "f8e4m3fn": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2, "f8e4m3fnuz": torch.float8_e4m3fnuz,
    "f8e8m0fnu": getattr(torch, "float8_e8m0fnu", None), "f4e2m1fn": getattr(torch, "float4_e2m1fn_x2", None),
}
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


def make_results(function, inputs):
    if not function.results:
        return None
    results = []
    for argument, shape in zip(function.results, function._infer_any(tensor.shape for tensor in inputs)):
        if argument.dtype == "f4e2m1fn":
            shape = [*shape[:-1], shape[-1] // 2]
        results.append(torch.empty(shape, dtype=DTYPES[argument.dtype], device=inputs[0].device))
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
    gives = [(result_of.get(a.name), DTYPES[a.dtype]) for a in function.inputs]
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
                grad = torch.zeros(shape(len(input_names) + i), dtype=DTYPES[function.results[i].dtype], device=device)
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


def make_key(function, gradient):
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
    key = make_key(function, gradient)
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
    torch.library.register_fake(f"rmsnorm::{name}", lambda *tensors: make_results(function, tensors), lib=_library)
    made = _operators[key] = getattr(torch.ops.rmsnorm, name).default
    if gradient:
        setup, run_backward = _make_gradient(function, gradient, len(function.results))
        backward = operator(gradient.function)
        torch.library.register_autograd(f"rmsnorm::{name}", lambda ctx, *grads: run_backward(ctx, backward, grads),
                                        setup_context=setup, lib=_library)
    elif is_functional(function):  # PyTorch has no gradients of others
        torch.library.register_autograd(f"rmsnorm::{name}", _refuse_gradient(function), lib=_library)
    if not is_functional(function):
        _library.impl(name, _count_changes(function, made), "ADInplaceOrView", with_keyset=True)
    return made


#===--- Calls without an operator -----------------------------------------===#

_PLAIN = {torch.Tensor, torch.nn.Parameter}
_count_modes = torch._C._len_torch_dispatch_stack
_has_transforms = torch._C._are_functorch_transforms_active
_is_tracing = torch._C._is_tracing
_is_compiling = torch.compiler.is_compiling
_is_grad_enabled = torch.is_grad_enabled


def is_functional(function):
    return all(a.role != "inout" for a in function.inputs)


def needs_gradient(tensors):
    if _is_grad_enabled():
        for tensor in tensors:
            if tensor.requires_grad:
                return True
    return False


def function(entry, gradient=None):
    """What `operator` makes, which costs less where it is run at once: then the entry is called, and its gradient, with none of
    PyTorch's dispatch. torch.compile and export, and all else that watches operators, see the operator. torch.func may transform
    it: vmap calls the entry for each sample, also of a gradient."""
    key = make_key(entry, gradient)
    if key not in _functions:
        kept = with_gradient = _functions[key] = operator(entry, gradient)
        if gradient and is_functional(entry):
            backward = function(gradient.function)
            with_gradient = differentiate(entry.__call__, entry, gradient, backward, len(entry.results))
        if is_functional(entry):
            transformed = differentiate_transformed(entry, gradient)
            _functions[key] = make_function(kept, entry.__call__, with_gradient, transformed)
    return _functions[key]


def make_function(kept, direct, with_gradient, transformed):
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


def differentiate(direct, entry, gradient, backward, num_returned):
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


def differentiate_transformed(entry, gradient):
    """The operator of an entry with its gradient, or one that is refused, where torch.func transforms calls: it knows no gradients
    of operators."""
    forward = operator(entry, gradient)
    if gradient:
        setup, run_backward = _make_gradient(entry, gradient, len(entry.results))
        backward = differentiate_transformed(gradient.function, None)
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
