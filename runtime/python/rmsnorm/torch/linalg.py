# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs of aten ops as linalg on tensors, in text.

A value is a tensor as it lies in memory: permutations only say which of its dimensions is where, so that a kernel reads and writes what
the graph's neighbours have. Each op has the name of its node as location. Roundings are those of eager mode: what PyTorch computes in
f32 and rounds is computed in f32 and rounded here.
"""
import math
import operator

import sympy
import torch

aten, prims = torch.ops.aten, torch.ops.prims

_ELEMENTS = {
    torch.float64: "f64", torch.float32: "f32", torch.bfloat16: "bf16", torch.float16: "f16", torch.int64: "i64", torch.int32: "i32",
    torch.int16: "i16", torch.int8: "i8", torch.uint8: "i8", torch.bool: "i1", torch.float8_e4m3fn: "f8E4M3FN",
    torch.float8_e5m2: "f8E5M2", torch.float8_e4m3fnuz: "f8E4M3FNUZ",
}
_BITS = {"f64": 64, "f32": 32, "bf16": 16, "f16": 16, "f8E4M3FN": 8, "f8E5M2": 8, "f8E4M3FNUZ": 8}
_COMPUTED = ("f64", "f32", "bf16", "f16")  # what arith computes in here
_NARROW = ("bf16", "f16")

RESHAPES = {aten.view.default, aten.reshape.default, aten._unsafe_view.default, aten.unsqueeze.default, aten.squeeze.default,
            aten.squeeze.dim, aten.squeeze.dims}
VIEWS = RESHAPES | {aten.alias.default, aten.detach.default, aten.permute.default, aten.transpose.int, aten.t.default,
                    aten.slice.Tensor, aten.select.int, aten.split.Tensor, aten.split_with_sizes.default, aten.unbind.int}
# Of rows, or of everything; and what norms take of the result.
REDUCTIONS = {aten.mean.dim, aten.sum.dim_IntList, aten.var_mean.correction}
ROOTS = {aten.rsqrt.default, aten.sqrt.default}
# Of rows, at indices, into a copy of a tensor, or in place (`find_stores`).
STORES = {aten.index_put.default, aten._unsafe_index_put.default}
# Ops that only move elements.
MOVES = VIEWS | {aten.expand.default, aten.cat.default, aten.slice_scatter.default, aten.clone.default, operator.getitem}


_MOST_REPEATS = 16  # of keys and values, one for each head that has them


class Unsupported(Exception):
    """An op that has no text here."""


#===--- Scalars -----------------------------------------------------------===#


_DTYPES = {"f64": torch.float64, "f32": torch.float32, "bf16": torch.bfloat16, "f16": torch.float16}
_SAME_BITS = {"f64": torch.int64, "f32": torch.int32, "bf16": torch.int16, "f16": torch.int16}


def _constant(value, element):
    """A constant of a type of floats, by its bits: decimals of an infinity there are none. What is too large for the type is one."""
    bits = torch.tensor(float(value), dtype=torch.float64).to(_DTYPES[element]).view(_SAME_BITS[element]).item()
    return f"0x{bits & (1 << _BITS[element]) - 1:0{_BITS[element] // 4}X}"


def _is_exact(value, element):
    """Whether a number has this type."""
    return torch.tensor(float(value), dtype=torch.float64).to(_DTYPES[element]).double().item() == float(value)


# Whether this PyTorch takes the largest number for what is too large for fp8, or NaN.
_SATURATES = not torch.tensor(1e5).to(torch.float8_e4m3fn).float().isnan().item()


class Body:
    """The lines of a linalg.generic's block."""

    def __init__(self, emitter):
        self.emitter, self.lines = emitter, []

    def line(self, text):
        name = self.emitter.fresh()
        self.lines.append(f"{name} = {text} {self.emitter.location()}")
        return name

    def op(self, op, element, *operands):
        return self.line(f"{op} {', '.join(operands)} : {element}")

    def constant(self, value, element):
        return self.line(f"arith.constant {_constant(value, element)} : {element}")

    def convert(self, value, source, target):
        if source == target:
            return value
        if source == "i1":
            return self.line(f"arith.uitofp {value} : i1 to {target}")
        if _BITS[source] == _BITS[target]:
            value, source = self.convert(value, source, "f32"), "f32"
        if target == "f8E4M3FN" and _SATURATES:
            value, source = self.convert(value, source, "f32"), "f32"
            value = self.op("arith.minimumf", source, value, self.constant(448.0, source))
            value = self.op("arith.maximumf", source, value, self.constant(-448.0, source))
        return self.line(f"arith.{'extf' if _BITS[source] < _BITS[target] else 'truncf'} {value} : {source} to {target}")


# A function of scalars: (body, type, operands) -> the result and its type.


def _arith(op):
    return lambda b, t, *operands: (b.op(op, t, *operands), t)


def _compare(predicate):
    return lambda b, t, x, y: (b.line(f"arith.cmpf {predicate}, {x}, {y} : {t}"), "i1")


def _sigmoid(b, t, x):
    one = b.constant(1.0, t)
    return b.op("arith.divf", t, one, b.op("arith.addf", t, one, b.op("math.exp", t, b.op("arith.negf", t, x)))), t


def _power(exponent):
    known = {1: _identity, 2: _square, 3: _cube, 0.5: _sqrt, -0.5: _rsqrt, -1: _reciprocal}
    return known.get(exponent) or (lambda b, t, x: (b.op("math.powf", t, x, b.constant(exponent, t)), t))


_add, _sub, _mul, _div = (_arith(f"arith.{name}f") for name in ("add", "sub", "mul", "div"))
_neg, _abs, _maximum, _minimum = (_arith(name) for name in ("arith.negf", "math.absf", "arith.maximumf", "arith.minimumf"))
_sqrt, _rsqrt = _arith("math.sqrt"), _arith("math.rsqrt")
_identity = lambda b, t, x: (x, t)
_square = lambda b, t, x: (b.op("arith.mulf", t, x, x), t)
_cube = lambda b, t, x: (b.op("arith.mulf", t, b.op("arith.mulf", t, x, x), x), t)
_reciprocal = lambda b, t, x: (b.op("arith.divf", t, b.constant(1.0, t), x), t)
_relu = lambda b, t, x: (b.op("arith.maximumf", t, x, b.constant(0.0, t)), t)
_clamp = lambda b, t, x, low, high: (b.op("arith.minimumf", t, b.op("arith.maximumf", t, x, low), high), t)
_where = lambda b, t, c, x, y: (b.line(f"arith.select {c}, {x}, {y} : {t}"), t)
_addcmul = lambda b, t, x, y, z: (b.op("arith.addf", t, x, b.op("arith.mulf", t, y, z)), t)
# Operations of which eager mode rounds each, so that they are computed in a narrow type.
_ROUNDED = {_add, _sub, _mul, _div, _neg, _abs, _maximum, _minimum, _identity, _square, _cube, _relu, _clamp, _where}
_COMPARISONS = {name: _compare(f"o{name}") for name in ("eq", "lt", "gt", "le", "ge")}
# Of aten's ops the function and the number of operands.
_POINTWISE = {
    aten.add.Tensor: (_add, 2), aten.add.Scalar: (_add, 2), aten.sub.Tensor: (_sub, 2), aten.sub.Scalar: (_sub, 2),
    aten.mul.Tensor: (_mul, 2), aten.mul.Scalar: (_mul, 2), aten.div.Tensor: (_div, 2), aten.div.Scalar: (_div, 2),
    aten.neg.default: (_neg, 1), aten.abs.default: (_abs, 1), aten.relu.default: (_relu, 1), aten.square.default: (_square, 1),
    aten.maximum.default: (_maximum, 2), aten.minimum.default: (_minimum, 2), aten.clamp_min.default: (_maximum, 2),
    aten.clamp_max.default: (_minimum, 2), aten.sqrt.default: (_sqrt, 1), aten.rsqrt.default: (_rsqrt, 1),
    aten.reciprocal.default: (_reciprocal, 1), aten.sigmoid.default: (_sigmoid, 1), aten.exp.default: (_arith("math.exp"), 1),
    aten.exp2.default: (_arith("math.exp2"), 1), aten.log.default: (_arith("math.log"), 1), aten.tanh.default: (_arith("math.tanh"), 1),
    aten.erf.default: (_arith("math.erf"), 1), aten.cos.default: (_arith("math.cos"), 1), aten.sin.default: (_arith("math.sin"), 1),
    aten.addcmul.default: (_addcmul, 3), aten.where.self: (_where, 3), aten.eq.Tensor: (_COMPARISONS["eq"], 2),
    aten.eq.Scalar: (_COMPARISONS["eq"], 2), aten.lt.Tensor: (_COMPARISONS["lt"], 2), aten.lt.Scalar: (_COMPARISONS["lt"], 2),
    aten.gt.Tensor: (_COMPARISONS["gt"], 2), aten.gt.Scalar: (_COMPARISONS["gt"], 2), aten.le.Tensor: (_COMPARISONS["le"], 2),
    aten.le.Scalar: (_COMPARISONS["le"], 2), aten.ge.Tensor: (_COMPARISONS["ge"], 2), aten.ge.Scalar: (_COMPARISONS["ge"], 2),
}
# Ops that compute each element of the result from those at its place.
ELEMENTWISE = {*_POINTWISE, prims.convert_element_type.default, aten._to_copy.default, aten.pow.Tensor_Scalar, aten.clamp.default}


#===--- Values ------------------------------------------------------------===#


def is_static(size):
    return isinstance(size, int)


def _expr(size):
    return sympy.Integer(size) if is_static(size) else size.node.expr


def hint(size):
    return size if is_static(size) else int(size.node.hint)


def memory_order(val):
    """The dimensions of a tensor in the order in which they lie in memory, the outermost first. A dimension of one element stands in
    front of the one that it is in front of; one that is repeated has no place in memory, and the order is then as written."""
    sizes, strides = list(val.shape), [hint(s) for s in val.stride()]
    wide = [i for i, size in enumerate(sizes) if not (is_static(size) and size == 1)]
    if any(strides[i] == 0 for i in wide):
        return list(range(len(sizes)))
    order = sorted(wide, key=lambda i: (-strides[i], i))
    for i in reversed(range(len(sizes))):
        if i not in order:
            order.insert(order.index(i + 1) if i + 1 in order else len(order), i)
    return order


class Value:
    """A tensor of the text: `shape` in the order of memory, `order` which of its dimensions those are."""

    def __init__(self, name, shape, element, order=None):
        self.name, self.shape, self.element = name, list(shape), element
        self.order = list(range(len(self.shape))) if order is None else list(order)

    @classmethod
    def of(cls, val, name=None):
        if val.dtype not in _ELEMENTS:
            raise Unsupported(f"a tensor of {val.dtype}")
        order = memory_order(val)
        return cls(name, [val.shape[i] for i in order], _ELEMENTS[val.dtype], order)

    @property
    def rank(self):
        return len(self.shape)

    @property
    def logical(self):
        """The shape that the graph sees."""
        return [self.shape[self.order.index(i)] for i in range(self.rank)]

    def in_memory(self, by_dimension):
        return [by_dimension[i] for i in self.order]

    @property
    def type(self):
        return "tensor<" + "".join(f"{size if is_static(size) else '?'}x" for size in self.shape) + self.element + ">"


def is_tensor(node):
    return isinstance(node, torch.fx.Node) and isinstance(node.meta.get("val"), torch.Tensor)


#===--- Stores into caches ------------------------------------------------===#


def _is_reshape(node):
    return node.op == "call_function" and node.target in RESHAPES


def find_stores(graph):
    """Stores into arguments of the graph that change in place: for each the copy at the graph's end, which a store in place makes
    needless. Nobody else reads the argument, so that nobody sees it too early, and the result is not returned."""
    found = {}
    for copy in graph.nodes:
        if copy.target is not aten.copy_.default or copy.users or copy.args[0].op != "placeholder":
            continue
        cache, store, chain = copy.args[0], copy.args[1], set()
        while _is_reshape(store):
            store = store.args[0]
        if store.target not in STORES or len(store.args) > 3 and store.args[3] or store.kwargs:
            continue
        base = store.args[0]
        while _is_reshape(base):
            chain.add(base)
            base = base.args[0]
        held = {cache, *chain}
        users = {user for node in held for user in node.users if not _is_size(user)}
        if base is cache and users == {*chain, store, copy} and held.isdisjoint((store.args[2], *store.args[1])) and (
                copy.args[1].meta["val"].shape == cache.meta["val"].shape and _lies_as(store.args[0], store)) and (
                not chain or _has_no_gaps(cache)) and not _is_returned(store):
            found[store] = copy
    return found


def _is_size(node):
    return node.target in (aten.sym_size.int, aten.sym_stride.int, aten.sym_numel.default)


def _has_no_gaps(node):
    """Whether each of its reshapes is a view."""
    value, expected = node.meta["val"], 1
    for size, stride in zip(reversed(value.shape), reversed(value.stride())):
        if hint(size) != 1 and hint(stride) != expected:
            return False
        expected *= hint(size)
    return True


def _lies_as(base, store):
    """Whether a store into a tensor can be that tensor, and a kernel write there: its last dimension in memory has no gaps."""
    a, b = base.meta["val"], store.meta["val"]
    strides = [hint(s) for s in a.stride()]
    return (strides == [hint(s) for s in b.stride()] and a.dtype == b.dtype and a.dim() > 1
            and all(strides) and strides[memory_order(a)[-1]] == 1)


def _is_returned(node):
    work = [node]
    while work:
        for user in work.pop().users:
            if user.op == "output":
                return True
            returns = user.target._schema.returns if isinstance(user.target, torch._ops.OpOverload) else ()
            if user.target in VIEWS or user.target is operator.getitem or any(r.alias_info is not None for r in returns):
                work.append(user)
    return False


#===--- Text --------------------------------------------------------------===#


class Emitter:
    """A function. `argument` and `emit` add nodes in their order, `finish` returns the text."""

    def __init__(self, name, stacks=frozenset()):
        self.name, self.lines, self.arguments, self.declared = name, [], [], []
        self.values = {}  # of nodes: a Value, a list of them, None for what is no tensor
        self._count, self._node = 0, None
        self._sizes, self._constants = {}, {}
        self._unexpanded = {}
        self.stacks = stacks

    def fresh(self):
        self._count += 1
        return f"%v{self._count}"

    def location(self):
        return f'loc("{self._node.name}")'

    def _new(self, text):
        name = self.fresh()
        self.lines.append(f"  {name} = {text} {self.location()}")
        return name

    def _scalar(self, value, type_):
        key = (str(value), type_)
        if key not in self._constants:
            text = _constant(value, type_) if type_ in _COMPUTED else str(value).lower()
            self._constants[key] = self._new(f"arith.constant {text} : {type_}")
        return self._constants[key]

    #===--- Sizes ---------------------------------------------------------===#

    def _remember_sizes(self, value):
        for i, size in enumerate(value.shape):
            if not is_static(size):
                self._sizes.setdefault(str(_expr(size)), (value, i))

    def _size(self, expr):
        """An index for a size, from the dimensions that are known."""
        if expr.is_Integer:
            return self._scalar(int(expr), "index")
        key = (str(expr), "size")
        if key not in self._constants:
            if str(expr) in self._sizes:
                value, i = self._sizes[str(expr)]
                made = self._new(f"tensor.dim {value.name}, {self._scalar(i, 'index')} : {value.type}")
            elif expr.is_Mul or expr.is_Add:
                made = self._size(expr.args[0])
                for other in expr.args[1:]:
                    made = self._new(f"arith.{'muli' if expr.is_Mul else 'addi'} {made}, {self._size(other)} : index")
            else:
                raise Unsupported(f"the size {expr}")
            self._constants[key] = made
        return self._constants[key]

    def _mixed(self, sizes):
        return ", ".join(str(size) if is_static(size) else self._size(_expr(size)) for size in sizes)

    #===--- New tensors ---------------------------------------------------===#

    def _empty(self, logical, element, order=None):
        order = list(range(len(logical))) if order is None else order
        value = Value(None, [logical[i] for i in order], element, order)
        sizes = ", ".join(self._size(_expr(size)) for size in value.shape if not is_static(size))
        value.name = self._new(f"tensor.empty({sizes}) : {value.type}")
        return value

    def _filled(self, logical, element, fill, order=None):
        empty = self._empty(logical, element, order)
        scalar = self._scalar(fill, element)
        name = self._new(f"linalg.fill ins({scalar} : {element}) outs({empty.name} : {empty.type}) -> {empty.type}")
        return Value(name, empty.shape, element, empty.order)

    def _generic(self, operands, out, compute, iterators=None, out_map=None):
        """`compute(body, *scalars)` returns what is yielded. The loops are those of the result, with `iterators` of the operand."""
        space = out if iterators is None else operands[0]
        dims = [f"d{i}" for i in range(space.rank)]
        logical = space.logical
        maps = []
        for value in operands:
            indices, first = [], space.rank - value.rank  # as broadcasting has it
            for size, i in zip(value.shape, value.order):
                wide = logical[first + i]
                repeated = is_static(size) and size == 1 and not (is_static(wide) and wide == 1)
                indices.append("0" if repeated else dims[space.order.index(first + i)])
            maps.append(indices)
        maps.append(dims if out_map is None else out_map)
        text = ", ".join(f"affine_map<({', '.join(dims)}) -> ({', '.join(m)})>" for m in maps)
        body = Body(self)
        scalars = [self.fresh() for _ in (*operands, out)]
        result = compute(body, *scalars)
        ins = f"ins({', '.join(v.name for v in operands)} : {', '.join(v.type for v in operands)}) " if operands else ""
        kinds = ", ".join(f'"{kind}"' for kind in iterators or ["parallel"] * space.rank)
        block = ", ".join(f"{name}: {v.element}" for name, v in zip(scalars, (*operands, out)))
        name = self._new(
            f"linalg.generic {{indexing_maps = [{text}], iterator_types = [{kinds}]}} {ins}outs({out.name} : {out.type}) {{\n"
            f"  ^bb0({block}):\n" + "".join(f"    {line}\n" for line in body.lines) + f"    linalg.yield {result} : {out.element}\n"
            f"  }} -> {out.type}")
        return Value(name, out.shape, out.element, out.order)

    #===--- Views ---------------------------------------------------------===#

    @staticmethod
    def _split(source, target):
        """Groups of dimensions of two shapes that hold the same elements."""
        groups, i, j = [], 0, 0
        while i < len(source) and j < len(target):
            a, b, p, q = [i], [j], _expr(source[i]), _expr(target[j])
            i, j = i + 1, j + 1
            while sympy.expand(p - q) != 0:
                numerator, denominator = sympy.fraction(sympy.cancel(q / p))
                if denominator == 1:
                    more_source = True
                elif numerator == 1:
                    more_source = False
                elif p.is_Integer and q.is_Integer:
                    more_source = p < q
                else:
                    raise Unsupported(f"a view of {source} as {target}")
                if more_source:
                    if i >= len(source):
                        raise Unsupported(f"a view of {source} as {target}")
                    p *= _expr(source[i])
                    a.append(i)
                    i += 1
                else:
                    if j >= len(target):
                        raise Unsupported(f"a view of {source} as {target}")
                    if not is_static(target[j]):
                        raise Unsupported("a view that divides by a size that changes")
                    q *= _expr(target[j])
                    b.append(j)
                    j += 1
            groups.append((a, b))
        if not groups:
            raise Unsupported(f"a view of {source} as {target}")
        # Those of one element at the end.
        groups[-1] = (groups[-1][0] + list(range(i, len(source))), groups[-1][1] + list(range(j, len(target))))
        return groups

    def _reshape(self, value, target):
        target, source = list(target), value.logical
        if list(map(_expr, source)) == list(map(_expr, target)):
            return value
        groups = self._split(source, target)
        place = [value.order.index(i) for i in range(value.rank)]
        if any([place[k] for k in a] != list(range(place[a[0]], place[a[0]] + len(a))) for a, _ in groups):
            value = self._in_order(value, list(range(value.rank)))
            place = list(range(value.rank))
        groups.sort(key=lambda group: place[group[0][0]])
        merged = [target[b[0]] if len(b) == 1 else math.prod(source[k] for k in a) for a, b in groups]
        name, type_ = value.name, value.type
        if any(len(a) > 1 for a, _ in groups):
            type_ = Value(None, merged, value.element).type
            places = ", ".join(f"[{', '.join(str(place[k]) for k in a)}]" for a, _ in groups)
            name = self._new(f"tensor.collapse_shape {name} [{places}] : {value.type} into {type_}")
        order = [k for _, b in groups for k in b]
        result = Value(name, [target[k] for k in order], value.element, order)
        if any(len(b) > 1 for _, b in groups):
            places, at = [], 0
            for _, b in groups:
                places.append(f"[{', '.join(map(str, range(at, at + len(b))))}]")
                at += len(b)
            result.name = self._new(f"tensor.expand_shape {name} [{', '.join(places)}] output_shape [{self._mixed(result.shape)}] : "
                                    f"{type_} into {result.type}")
            self._unexpanded[result.name] = value
        return result

    def _slice(self, value, offsets, sizes, strides=None, dropped=None):
        """`dropped`: a dimension of one element that the result lacks."""
        strides = strides or [1] * value.rank
        kept = [i for i in value.order if i != dropped]
        order = [i - (dropped is not None and i > dropped) for i in kept]
        made = Value(None, [sizes[i] for i in kept], value.element, order)
        offsets, mixed, strides = (", ".join(map(str, value.in_memory(offsets))), self._mixed(value.in_memory(sizes)),
                                   ", ".join(map(str, value.in_memory(strides))))
        made.name = self._new(f"tensor.extract_slice {value.name}[{offsets}] [{mixed}] [{strides}] : {value.type} to {made.type}")
        return made

    def _cut(self, value, dim, start, size, step=1, drop=False):
        offsets, sizes, strides = [0] * value.rank, value.logical, [1] * value.rank
        offsets[dim], sizes[dim], strides[dim] = start, size, step
        return self._slice(value, offsets, sizes, strides, dim if drop else None)

    def _insert(self, source, target, dim, start):
        source = self._in_order(source, target.order)
        offsets = [0] * target.rank
        offsets[dim] = start
        name = self._new(f"tensor.insert_slice {source.name} into {target.name}[{', '.join(map(str, target.in_memory(offsets)))}] "
                         f"[{self._mixed(source.shape)}] [{', '.join('1' for _ in offsets)}] : {source.type} into {target.type}")
        return Value(name, target.shape, target.element, target.order)

    def _permute(self, value, permutation):
        return Value(value.name, value.shape, value.element, [permutation.index(i) for i in value.order])

    def _in_order(self, value, order):
        if value.order == list(order):
            return value
        empty = self._empty(value.logical, value.element, order)
        permutation = [value.order.index(i) for i in order]
        name = self.fresh()  # it prints no result type
        self.lines.append(f"  {name} = linalg.transpose ins({value.name} : {value.type}) outs({empty.name} : {empty.type}) "
                          f"permutation = {permutation} {self.location()}")
        return Value(name, empty.shape, empty.element, empty.order)

    #===--- Ops -----------------------------------------------------------===#

    def _convert(self, value, element):
        if value.element == element:
            return value
        if value.element not in _BITS or element not in _BITS:
            raise Unsupported(f"a conversion of {value.element} to {element}")
        empty = self._empty(value.logical, element, value.order)
        return self._generic([value], empty, lambda b, x, _: b.convert(x, value.element, element))

    def _pointwise(self, function, inputs):
        """`inputs`: values and numbers."""
        val = self._node.meta["val"]
        element = Value.of(val).element
        tensors = [v for v in inputs if isinstance(v, Value)]
        for value in tensors:
            if value.element not in _COMPUTED and value.element != "i1":
                raise Unsupported(f"a computation of {value.element}")
        floats = {v.element for v in tensors if v.element != "i1"} | ({element} if element in _COMPUTED else set())
        if not floats:
            raise Unsupported(f"a computation of {element}")
        if element not in _COMPUTED and element != "i1":
            raise Unsupported(f"a result of {element}")
        compute = element if element in _COMPUTED else max(floats, key=_BITS.get) if len(floats) == 1 else "f32"
        # Numbers beside a comparison are rounded to the tensor's type, others are not.
        exact = function in _COMPARISONS.values() or all(isinstance(v, Value) or _is_exact(v, compute) for v in inputs)
        if compute in _NARROW and not (exact and (function in _ROUNDED or function in _COMPARISONS.values())):
            compute = "f32"

        def body(b, *scalars):
            scalars, operands = list(scalars), []
            for i, v in enumerate(inputs):
                if not isinstance(v, Value):
                    operands.append(b.constant(v, compute))
                    continue
                scalar = scalars.pop(0)
                operands.append(scalar if i == 0 and function is _where else b.convert(scalar, v.element, compute))
            result, kind = function(b, compute, *operands)
            return result if kind == "i1" else b.convert(result, kind, element)

        return self._generic(tensors, self._empty(val.shape, element, memory_order(val)), body)

    def _reduce(self, value, dims, keep, combine, element, finish=None):
        """Sums are computed in f32, as PyTorch does; maxima are exact."""
        if value.rank == 0:
            raise Unsupported("a reduction of one number")
        dims = [d % value.rank for d in dims] or list(range(value.rank))
        summed = combine == "arith.addf"
        total = "f32" if summed and value.element in _NARROW else value.element
        if value.element not in _COMPUTED:
            raise Unsupported(f"a reduction of {value.element}")
        logical = value.logical
        kept = [i for i in range(value.rank) if i not in dims]
        if self._is_of_repeats(value, dims) and summed and not finish:
            made = self._convert(self._sum_slices(value, dims[0], total), element)
            return self._reshape(made, [1 if i in dims else size for i, size in enumerate(logical)]) if keep else made
        order = [kept.index(i) for i in value.order if i in kept]
        out = self._filled([logical[i] for i in kept], total, 0.0 if summed else -math.inf, order)
        made = self._generic(
            [value], out, lambda b, x, a: b.op(combine, total, b.convert(x, value.element, total), a),
            ["reduction" if i in dims else "parallel" for i in value.order], [f"d{p}" for p, i in enumerate(value.order) if i in kept])
        if finish:
            made = self._generic([made], self._empty(made.logical, total, order), lambda b, x, _: finish(b, total, x))
        made = self._convert(made, element)
        return self._reshape(made, [1 if i in dims else size for i, size in enumerate(logical)]) if keep else made

    @staticmethod
    def _is_of_repeats(value, dims):
        """Of a tensor whose other dimensions are rows and columns: sums for weights have no rows, those of a batch one dimension of them."""
        size = value.logical[dims[0]]
        return len(dims) == 1 and value.rank > 3 and dims[0] != value.order[-1] and is_static(size) and size <= _MOST_REPEATS

    def _sum_slices(self, value, dim, element):
        """A sum over some rows as additions, each of which the compiler can see row by row."""
        made = None
        for at in range(value.logical[dim]):
            part = self._cut(value, dim, at, 1, drop=True)
            out = self._empty(part.logical, element, part.order)
            if made is None:
                made = self._convert(part, element)
            else:
                made = self._generic([made, part], out, lambda b, x, y, _: b.op("arith.addf", element, x, b.convert(y, part.element, element)))
        return made

    def _divide_by(self, count):
        if not is_static(count):
            raise Unsupported("a mean over a size that changes")
        return lambda b, t, x: b.op("arith.divf", t, x, b.constant(count, t))

    def _var_mean(self, x, dims, keep, correction):
        if x.element != "f32" or not dims:
            raise Unsupported("a variance of another type than f32, or of everything")
        count = math.prod(x.logical[d] for d in dims)
        mean = self._reduce(x, dims, True, "arith.addf", "f32", self._divide_by(count))
        centred = self._generic([x, mean], self._empty(x.logical, "f32", x.order), lambda b, v, m, _: b.op("arith.subf", "f32", v, m))
        squares = self._generic([centred], self._empty(x.logical, "f32", x.order), lambda b, v, _: b.op("arith.mulf", "f32", v, v))
        var = self._reduce(squares, dims, keep, "arith.addf", "f32", self._divide_by(max(0, count - correction)))
        return [var, mean if keep else self._reshape(mean, var.logical)]

    def _gather(self, table, indices, val):
        """The rows of a table that indices name."""
        if table.order != [0, 1] or not isinstance(indices, Value) or indices.element not in ("i64", "i32"):
            raise Unsupported("a table of another order, or other indices")
        indices = self._reshape(indices, [*indices.logical, 1])
        out = self._empty(val.shape, table.element)

        def read(b, index, _):
            row = b.line(f"arith.index_cast {index} : {indices.element} to index")
            column = b.line(f"linalg.index {out.rank - 1} : index")
            return b.line(f"tensor.extract {table.name}[{row}, {column}] : {table.type}")

        return self._generic([indices], out, read)

    def _store(self, dest, indices, source, val):
        """Rows into their places of a tensor that changes. Negative indices count from the end."""
        places = [i for i, index in enumerate(indices) if index is not None]
        at = [self._get(indices[i]) for i in places]
        if places != list(range(places[0], places[0] + len(places))):
            raise Unsupported("indices with others between them")
        if any(not isinstance(index, Value) or index.element not in ("i64", "i32") or not index.rank for index in at):
            raise Unsupported("an index that is no tensor of numbers")
        shape = list(torch.broadcast_shapes(*(self._node.args[1][i].meta["val"].shape for i in places)))
        first, end, more = places[0], places[-1] + 1, len(shape) - len(places)
        expected = [*dest.logical[:first], *shape, *dest.logical[end:]]
        if isinstance(source, Value) and 0 < source.rank < len(expected):  # PyTorch takes ones in front away
            source = self._reshape(source, [1] * (len(expected) - source.rank) + source.logical)
        # Two sizes that change are equal, or PyTorch refuses the call; so does the kernel.
        is_same = lambda a, b: _expr(a) == _expr(b) or not (is_static(a) or is_static(b))
        if not isinstance(source, Value) or source.element != dest.element or source.rank != len(expected) or not all(
                map(is_same, source.logical, expected)):
            raise Unsupported("rows that are repeated or converted")
        at = {dest.order.index(i): self._wrap(index, dest.logical[i], shape) for i, index in zip(places, at)}
        rest = [i if i < first else i + more for i in dest.order if i not in places]
        source = self._in_order(source, [*range(first, first + len(shape)), *rest])
        dims = sorted(at)
        at = [at[i] for i in dims]
        names, types = ", ".join(i.name for i in at), ", ".join(i.type for i in at)
        name = self._new(f"rmsnorm.scatter {source.name} into {dest.name} at({names} : {types}) dims {dims} skip_negative "
                         f": {source.type} into {dest.type}")
        return Value(name, dest.shape, dest.element, dest.order)

    def _divide_index(self, x, target, args, kwargs):
        """Of the number of a slot that of its block, and where in it."""
        by, element = args[1], Value.of(self._node.meta["val"]).element
        is_floor = target is aten.div.Tensor_mode
        if x.element not in ("i64", "i32") or element != x.element or type(by) is not int or by <= 0 or is_floor and (
                kwargs.get("rounding_mode") != "floor"):
            raise Unsupported("a division of what is no index")

        def compute(b, i, _):
            divisor = b.line(f"arith.constant {by} : {element}")
            if is_floor:
                return b.op("arith.floordivsi", element, i, divisor)
            rest, zero = b.op("arith.remsi", element, i, divisor), b.line(f"arith.constant 0 : {element}")
            is_negative = b.line(f"arith.cmpi slt, {rest}, {zero} : {element}")
            return b.line(f"arith.select {is_negative}, {b.op('arith.addi', element, rest, divisor)}, {rest} : {element}")

        return self._generic([x], self._empty(x.logical, element, x.order), compute)

    def _wrap(self, index, size, shape):
        """Places: from the end for negative indices, -1 for those outside, which PyTorch refuses and kernels leave out."""
        size, type_ = self._size(_expr(size)), index.element

        def compute(b, i, _):
            is_negative = b.line(f"arith.cmpi slt, {i}, {b.line(f'arith.constant 0 : {type_}')} : {type_}")
            end = b.line(f"arith.index_cast {size} : index to {type_}")
            place = b.line(f"arith.select {is_negative}, {b.op('arith.addi', type_, i, end)}, {i} : {type_}")
            is_inside = b.line(f"arith.cmpi ult, {place}, {end} : {type_}")
            return b.line(f"arith.select {is_inside}, {place}, {b.line(f'arith.constant -1 : {type_}')} : {type_}")

        return self._generic([index], self._empty(shape, type_), compute)

    def _get(self, argument):
        if not isinstance(argument, torch.fx.Node):
            return argument
        value = self.values.get(argument)
        if value is None:
            raise Unsupported("a number that is no constant")
        return value

    def _emit(self, node):
        target, args, kwargs, val = node.target, node.args, node.kwargs, node.meta.get("val")

        def argument(i, default=None):
            return args[i] if len(args) > i else default

        if target in _POINTWISE:
            function, count = _POINTWISE[target]
            if kwargs.get("alpha", 1) != 1 or kwargs.get("value", 1) != 1 or len(args) != count or kwargs.get("rounding_mode"):
                raise Unsupported("arguments that scale or round")
            return self._pointwise(function, [self._get(a) for a in args])
        if target is aten.cat.default:
            if node in self.stacks:
                return self._stack([self.values.get(a) for a in args[0]], argument(1, 0) % val.dim())
            return self._cat([self._get(a) for a in args[0]], argument(1, 0) % val.dim())
        if target is aten.full.default:
            element = Value.of(val).element
            if element not in _COMPUTED or isinstance(args[1], torch.fx.Node):
                raise Unsupported(f"a constant of {element}, or one that is none")
            return self._filled(val.shape, element, args[1])
        x = self._get(args[0]) if args else None
        if not isinstance(x, Value):
            raise Unsupported(str(target))
        if target in (prims.convert_element_type.default, aten._to_copy.default):
            return self._convert(x, Value.of(val).element)
        if target is aten.pow.Tensor_Scalar:
            if isinstance(args[1], torch.fx.Node):
                raise Unsupported("a power that is no constant")
            return self._pointwise(_power(args[1]), [x])
        if target is aten.clamp.default:
            low, high = argument(1), argument(2)
            return self._pointwise(_clamp, [x, -math.inf if low is None else low, math.inf if high is None else high])
        if target in (aten.sum.dim_IntList, aten.sum.default, aten.amax.default, aten.mean.dim):
            dims, keep, element = argument(1) or [], argument(2, False), Value.of(val).element
            if target is aten.amax.default:
                return self._reduce(x, dims, keep, "arith.maximumf", element)
            count = math.prod(x.logical[d] for d in dims) if target is aten.mean.dim else None
            return self._reduce(x, dims, keep, "arith.addf", element, self._divide_by(count) if count else None)
        if target in (aten.div.Tensor_mode, aten.remainder.Scalar):
            return self._divide_index(x, target, args, kwargs)
        if target in STORES:
            return self._store(x, args[1], self._get(args[2]), val)
        if target is aten.embedding.default:
            return self._gather(x, self._get(args[1]), val)
        if target is aten.var_mean.correction:
            correction = kwargs.get("correction")
            return self._var_mean(x, args[1], kwargs.get("keepdim", False), 1 if correction is None else correction)
        return self._emit_move(target, x, args, argument, val)

    def _emit_move(self, target, x, args, argument, val):
        rank, shape = x.rank, x.logical
        if target in (aten.alias.default, aten.detach.default):
            return x
        if target is aten.clone.default:
            return self._in_order(x, memory_order(val))
        if target in RESHAPES:
            return self._reshape(x, val.shape)
        if target is aten.permute.default:
            return self._permute(x, [d % rank for d in args[1]])
        if target is aten.t.default:
            return self._permute(x, list(reversed(range(rank))))
        if target is aten.transpose.int:
            permutation = list(range(rank))
            a, b = args[1] % rank, args[2] % rank
            permutation[a], permutation[b] = b, a
            return self._permute(x, permutation)
        if target is aten.expand.default:
            more = val.dim() - rank
            order = [*range(more), *(i + more for i in x.order)]
            return self._generic([x], self._empty(val.shape, x.element, order), lambda b, v, _: v)
        if target is aten.slice.Tensor:
            dim, start, step = argument(1, 0) % rank, argument(2, 0) or 0, argument(4, 1)
            if not is_static(start) or not is_static(step) or start < 0 and not is_static(shape[dim]):
                raise Unsupported("a slice from a place that is no constant")
            start = max(0, start + shape[dim]) if start < 0 else start
            if is_static(val.shape[dim]) and val.shape[dim] == 0:
                raise Unsupported("an empty slice")
            return self._cut(x, dim, start, val.shape[dim], step)
        if target is aten.select.int:
            dim, at = args[1] % rank, args[2]
            if not is_static(at) or at < 0 and not is_static(shape[dim]):
                raise Unsupported("an element at a place that is no constant")
            return self._cut(x, dim, at + shape[dim] if at < 0 else at, 1, drop=True)
        if target in (aten.split.Tensor, aten.split_with_sizes.default):
            dim, at, parts = argument(2, 0) % rank, 0, []
            if not all(is_static(part.shape[dim]) for part in val[:-1]):
                raise Unsupported("parts of sizes that change")
            for part in val:
                parts.append(self._cut(x, dim, at, part.shape[dim]))
                at += part.shape[dim]
            return parts
        if target is aten.unbind.int:
            dim = argument(1, 0) % rank
            return [self._cut(x, dim, at, 1, drop=True) for at in range(len(val))]
        if target is aten.slice_scatter.default:
            dim, start = argument(2, 0) % rank, argument(3, 0) or 0
            if not is_static(start) or start < 0 or argument(5, 1) != 1:
                raise Unsupported("a slice from a place that is no constant")
            return self._insert(self._get(args[1]), x, dim, start)
        raise Unsupported(str(target))

    def _cat(self, parts, dim):
        if any(not isinstance(p, Value) or p.rank != parts[0].rank or not is_static(p.logical[dim]) for p in parts):
            raise Unsupported("a concatenation of sizes that change")
        val = self._node.meta["val"]
        parts = [self._convert(part, Value.of(val).element) for part in parts]
        # In the parts' order of memory: what follows has it, too.
        order = parts[0].order if all(p.order == parts[0].order for p in parts) else memory_order(val)
        made, at = self._empty(val.shape, parts[0].element, order), 0
        for part in parts:
            made = self._insert(part, made, dim, at)
            at += part.logical[dim]
        return made

    def _stack(self, parts, dim):
        """A concatenation with gaps where others put their parts."""
        val, at = self._node.meta["val"], 0
        made = self._empty(val.shape, Value.of(val).element, memory_order(val))
        for part, source in zip(parts, self._node.args[0]):
            if part is not None:
                made = self._insert(part, made, dim, at)
            at += source.meta["val"].shape[dim]
        return made

    #===--- Nodes ---------------------------------------------------------===#

    def argument(self, node):
        value = Value.of(node.meta["val"], f"%a{len(self.arguments)}")
        self.arguments.append((value, node.name))
        self._set(node, value)

    def _set(self, node, made):
        self.values[node] = made
        for value in made if isinstance(made, list) else [made]:
            if isinstance(value, Value):
                self._remember_sizes(value)

    def emit(self, node):
        """Adds a node, or raises Unsupported and adds nothing."""
        self._node = node
        mark, constants = (len(self.lines), self._count), dict(self._constants)
        try:
            if node.target is operator.getitem:
                made = self._get(node.args[0])[node.args[1]]
            else:
                made = self._emit(node)
        except Exception as error:  # of arguments that were not thought of: nothing here is worth a graph
            del self.lines[mark[0]:]
            self._count, self._constants = mark[1], constants
            raise error if isinstance(error, Unsupported) else Unsupported(f"{node.target}: {error!r}") from error
        self._set(node, made)

    def emit_opaque(self, node):
        """A node without text is a call of a function that nobody knows, one for each of its tensors."""
        self._node = node
        val = node.meta.get("val")
        operands = []
        for a in node.all_input_nodes:
            made = self.values.get(a)
            operands += [v for v in (made if isinstance(made, list) else [made]) if isinstance(v, Value)]

        def call(part):
            if not isinstance(part, torch.Tensor) or part.dtype not in _ELEMENTS:
                return None
            value = Value.of(part)
            name = f"@opaque_{len(self.declared)}"
            signature = f"({', '.join(o.type for o in operands)}) -> {value.type}"
            self.declared.append(f"func.func private {name}{signature}\n")
            value.name = self._new(f"func.call {name}({', '.join(o.name for o in operands)}) : {signature}")
            return value

        self._set(node, [call(part) for part in val] if isinstance(val, (tuple, list)) else call(val))

    def store(self, node):
        """Puts the value of a node into the order of memory that the graph has it in."""
        self._node = node
        self.values[node] = self._in_order(self.values[node], memory_order(node.meta["val"]))

    def shed_ones(self, node):
        """A result that is another value with dimensions of one element more: that value, and the shape to give it. A kernel's
        results are no views."""
        value = self.values[node]
        bare = self._unexpanded.get(value.name)
        ordered = bare is not None and all(v.order == list(range(v.rank)) for v in (value, bare))
        shape = [size if is_static(size) else -1 for size in node.meta["val"].shape]
        if not ordered or bare.rank >= value.rank or shape.count(-1) > 1:
            return None
        self.values[node] = bare
        return shape

    def finish(self, outputs):
        values = [self.values[node] for node in outputs]
        arguments = ", ".join(f'{value.name}: {value.type} loc("{name}")' for value, name in self.arguments)
        results = ", ".join(value.type for value in values)
        return ("".join(self.declared) + f"func.func @{self.name}({arguments}) -> ({results}) {{\n" + "\n".join(self.lines)
                + f"\n  return {', '.join(value.name for value in values)}{' : ' if values else ''}{results}\n}}\n")


def emit_graph(graph, stores, can_hold, name="main"):
    """A whole graph; what has no text, or what `can_hold(node)` says no kernel can hold, is opaque. The text, the nodes that have
    some, and why others have none. `stores`: those in place."""
    emitter, written, unwritten = Emitter(name), set(), {}
    caches, copies = {store.args[0] for store in stores}, set(stores.values())
    for node in graph.nodes:
        if node in copies:
            continue
        if node in caches:
            emitter.argument(node)
        elif node.op in ("placeholder", "get_attr"):
            if is_tensor(node) and node.meta["val"].dtype in _ELEMENTS:
                emitter.argument(node)
            else:
                emitter.values[node] = None
        elif node.op == "call_function":
            try:
                if not can_hold(node):
                    raise Unsupported("a node of another device")
                if node.target in STORES and node not in stores:
                    raise Unsupported("a store into what is no argument, or into what others read, too")
                emitter.emit(node)
                written.add(node)
            except Unsupported as error:
                unwritten[node] = str(error)
                emitter.emit_opaque(node)
        elif node.op == "output":
            outputs = dict.fromkeys(n for n in (*node.all_input_nodes, *stores) if isinstance(emitter.values.get(n), Value))
            return emitter.finish(list(outputs)), written, unwritten
    raise Unsupported("a graph without an output")


class Region:
    """Nodes of a graph as a function of `inputs`, and `stacks` among them that lack what others put there: the text; for each input and output the order in which it lies in memory; for each
    output its shape, where the function returns it without its dimensions of one element."""

    def __init__(self, nodes, inputs, outputs, name, stacks=frozenset()):
        emitter = Emitter(name, stacks)
        for node in inputs:
            emitter.argument(node)
        for node in nodes:
            emitter.emit(node)
        for node in outputs:  # views that others take of it count on its order of memory
            emitter.store(node)
        self.input_orders = [value.order for value, _ in emitter.arguments]
        self.shapes = [emitter.shed_ones(node) for node in outputs]
        self.orders = [emitter.values[node].order for node in outputs]
        self.text = emitter.finish(outputs)
