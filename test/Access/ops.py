# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ops of a function as rmsnorm-print-accesses writes them, with sizes.

Elements are followed one by one, by what each op means. See trace.py.
"""

import itertools
import math
import random
import re


class Skip(Exception):
    """What the program cannot follow."""


class Retry(Exception):
    """Sizes do not fit; others have been chosen."""


# Maps.

def parse_map(text):
    dims, symbols, results = re.fullmatch(r"(?:affine_map<)?\((.*?)\)(?:\[(.*?)\])? -> \((.*?)\)>?", text).groups()
    split = lambda names: [name.strip() for name in (names or "").split(",") if name.strip()]
    return split(dims), split(symbols), split(results.replace("floordiv", "//").replace("mod", "%"))


CACHE = {}


def to_function(text):
    """A Python function of the dimensions and the symbols, for a tuple."""
    if text not in CACHE:
        dims, symbols, results = parse_map(text)
        CACHE[text] = eval(f"lambda {', '.join(dims + symbols)}: ({''.join(r + ', ' for r in results)})")
    return CACHE[text]


def flat(index, shape):
    number = 0
    for i, size in zip(index, shape):
        number = number * size + i
    return number


def unflat(number, shape):
    index = []
    for size in reversed(shape):
        index.append(number % size if size else 0)
        number //= size or 1
    return tuple(reversed(index))


# Ops.

class Sizes:
    """Sizes of arguments' dimensions: different ones, until an op asks for others."""

    def __init__(self, numbers):
        self.numbers, self.known, self.same = numbers, {}, {}

    def find(self, name):
        while name in self.same:
            name = self.same[name]
        return name

    def get(self, name):
        name = self.find(name)
        if name not in self.known:
            self.known[name] = self.numbers[len(self.known) % len(self.numbers)]
        return Index(self.known[name], name)

    def equate(self, a, b):
        """Two numbers have to be the same."""
        if a == b:
            return
        first, second = (x.name if isinstance(x, Index) else None for x in (a, b))
        if first and second:
            self.same[self.find(first)] = self.find(second)
        elif first or second:
            self.known[self.find(first or second)] = int(b if first else a)
        else:
            raise Skip(f"sizes {a} and {b} differ")
        raise Retry

    def require(self, number, condition, other):
        if condition:
            return
        if not isinstance(number, Index) or not number.name:
            raise Skip(f"size {number} does not fit")
        self.known[self.find(number.name)] = other
        raise Retry


class Index(int):
    """A number that may be the size of a dimension of an argument."""

    def __new__(cls, number, name=None):
        index = int.__new__(cls, number)
        index.name = name
        return index


class Function:
    """A function with sizes, and where each element of its tensors comes from."""

    def __init__(self, function, sizes):
        self.sizes = sizes
        self.shapes, self.scalars, self.definitions, self.ops, self.types = {}, {}, {}, {}, {}
        block = function["regions"][0][0]
        self.arguments = [argument["id"] for argument in block["arguments"]]
        for number, argument in enumerate(block["arguments"]):
            self.types[argument["id"]] = argument["type"]
            if "shape" in argument:
                self.shapes[argument["id"]] = tuple(
                    size if size >= 0 else sizes.get((number, dim)) for dim, size in enumerate(argument["shape"]))
            elif argument["type"] == "index":
                self.scalars[argument["id"]] = sizes.get((number, -1))
        self.block = block["ops"]
        self.returned = self.block[-1]["in"]
        for op in self.block:
            self.ops[op["op"]] = op
            for result in op["out"]:
                self.definitions[result["id"]] = op
                self.types[result["id"]] = result["type"]
            self.shape(op)

    def number(self, size):
        return size if isinstance(size, int) else self.scalars[size["value"]]

    def scalar(self, op, get, known=()):
        """The integer that an op computes, or None."""
        name, attributes = op["name"], op["attributes"]
        a, b = (get(value) if value is not None else None for value in (op["in"] + [None, None])[:2])
        if name == "arith.constant":
            return attributes["value"] if isinstance(attributes["value"], int) else None
        if name in ("arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui", "arith.trunci"):
            return a
        if name == "affine.apply":
            values = [get(value) for value in op["in"]]
            return None if None in values else to_function(attributes["map"])(*values)[0]
        if a is None or b is None:
            return None
        if name == "arith.muli":
            return b if a == 1 else a if b == 1 else a * b
        if name in ("arith.divui", "arith.divsi", "arith.floordivsi"):
            return None if b == 0 else a if b == 1 else a // b
        if name == "arith.select":
            return b if a else get(op["in"][2])
        if name == "arith.cmpi":
            return int((a == b, a != b, a < b, a <= b, a > b, a >= b, a < b, a <= b, a > b, a >= b)[attributes["predicate"]])
        simple = {"arith.addi": int.__add__, "arith.subi": int.__sub__, "arith.minsi": min, "arith.maxsi": max,
                  "arith.minui": min, "arith.maxui": max, "arith.remui": int.__mod__}
        return simple[name](a, b) if name in simple else None

    def shape(self, op):
        """Finds the sizes of results, and says which have to be the same."""
        name, attributes, sizes = op["name"], op["attributes"], self.sizes
        out = [result["id"] for result in op["out"]]
        if name == "tensor.dim":
            self.scalars[out[0]] = self.shapes[op["in"][0]][self.scalars[op["in"][1]]]
            return
        if name in ("arith.divui", "arith.divsi", "arith.floordivsi"):
            a, b = (self.scalars[value] for value in op["in"])
            sizes.require(a, a % b == 0, (a // b + 1) * b)
        if not out or "shape" not in op["out"][0]:
            value = self.scalar(op, self.scalars.get)
            if out and value is not None:
                self.scalars[out[0]] = value
            return
        written = op["out"][0]["shape"]
        dynamic = None
        if name == "tensor.empty":
            dynamic = op["in"]
        elif name == "tensor.expand_shape":
            dynamic = op["in"][1:]
        if dynamic is not None:
            values = iter(dynamic)
            shape = tuple(size if size >= 0 else self.scalars[next(values)] for size in written)
        elif name == "tensor.cast":
            shape = tuple(a if b < 0 else b for a, b in zip(self.shapes[op["in"][0]], written))
            for a, b in zip(self.shapes[op["in"][0]], shape):
                sizes.equate(a, b)
        elif name == "tensor.collapse_shape":
            source = self.shapes[op["in"][0]]
            shape = []
            for group in attributes["reassociation"]:
                named = [source[dim] for dim in group if source[dim] != 1]
                shape.append(named[0] if len(named) == 1 else math.prod(named))
            shape = tuple(shape)
        elif name == "tensor.extract_slice":
            shape = [self.number(size) for size in attributes["sizes"]]
            self.bounds(op, self.shapes[op["in"][0]])
            shape = tuple(size for dim, size in enumerate(shape) if dim not in self.dropped(attributes["sizes"], written))
        elif name == "tensor.insert_slice":
            shape = self.shapes[op["in"][1]]
            self.bounds(op, shape)
            kept = [self.number(size) for size in attributes["sizes"]]
            dropped = self.dropped(attributes["sizes"], self.shapes[op["in"][0]])
            for a, b in zip(self.shapes[op["in"][0]], [size for dim, size in enumerate(kept) if dim not in dropped]):
                sizes.equate(a, b)
        elif name == "tensor.concat":
            parts = [self.shapes[value] for value in op["in"]]
            dim = attributes["dim"]
            shape = tuple(sum(part[i] for part in parts) if i == dim else size for i, size in enumerate(parts[0]))
        elif name.startswith(("linalg.", "rmsnorm.")):
            self.loops(op)
            for value, destination in zip(out, op["in"][len(op["in"]) - len(out):]):
                self.shapes[value] = self.shapes[destination]
            return
        elif min(written) >= 0:
            shape = tuple(written)
        else:
            raise Skip(f"{name} has a result of unknown size")
        if name == "tensor.expand_shape":
            source = self.shapes[op["in"][0]]
            for size, group in zip(source, attributes["reassociation"]):
                parts = [shape[dim] for dim in group]
                product, named = math.prod(parts), [part for part in parts if part != 1]
                if size != product:
                    # Sizes that follow from others, in whichever direction.
                    static = math.prod(part for part in parts if not isinstance(part, Index))
                    if isinstance(size, Index) and size % static:
                        sizes.require(size, False, (size // static + 1) * static)
                    sizes.equate(size, named[0] if len(named) == 1 else product)
        self.shapes[out[0]] = shape
        for value in out[1:]:
            raise Skip(f"{name} has several results")

    @staticmethod
    def dropped(sizes, kept):
        """The dimensions of size 1 that a slice does not have."""
        left, dropped = list(kept), []
        for dim in reversed(range(len(sizes))):
            if left and (sizes[dim] != 1 or left[-1] == 1):
                left.pop()
            else:
                dropped.append(dim)
        return dropped

    def bounds(self, op, shape):
        attributes = op["attributes"]
        for offset, size, stride, dim in zip(attributes["offsets"], attributes["sizes"], attributes["strides"], shape):
            last = self.number(offset) + (self.number(size) - 1) * self.number(stride)
            if self.number(size) and last >= dim:
                self.sizes.require(dim, False, last + 1)

    def loops(self, op):
        """The sizes of the loops of an op."""
        if "maps" not in op["attributes"]:
            loops = self.shapes[self.input(op)]
            for operand, value in enumerate(op["in"]):
                for size, loop in zip(self.shapes[value], self.index(op, operand, loops)):
                    self.sizes.equate(size, loop)
            return list(loops)
        loops = None
        for value, text in zip(op["in"], op["attributes"]["maps"]):
            dims, _, results = parse_map(text)
            loops = loops or [None] * len(dims)
            for result, size in zip(results, self.shapes.get(value, ())):
                if result in dims:
                    dim = dims.index(result)
                    if loops[dim] is not None:
                        self.sizes.equate(size, loops[dim])
                    loops[dim] = size
        if loops is None or None in loops:
            raise Skip(f"loops of {op['name']}")
        return loops

    @staticmethod
    def input(op):
        return op["in"][1 if op["name"] == "rmsnorm.backward" else 0]

    def index(self, op, operand, loops):
        """Where an op reads operand number `operand` in an iteration."""
        return to_function(self.map(op, operand))(*loops)

    def map(self, op, operand):
        """How the loops of an op index an operand."""
        if "maps" in op["attributes"]:
            return op["attributes"]["maps"][operand]
        # A norm: weights and their gradient have columns, others rows.
        dims = [f"d{dim}" for dim in range(len(self.shapes[self.input(op)]))]
        starts = list(itertools.accumulate([0] + segments_of(op["attributes"]["operandSegmentSizes"])))
        columns = {"rmsnorm.forward": [1], "rmsnorm.backward": [2, 5]}[op["name"]]
        used = dims[:len(self.shapes[op["in"][operand]])]
        if any(starts[group] <= operand < starts[group + 1] for group in columns):
            used = dims[-1:]
        return f"({', '.join(dims)}) -> ({', '.join(used)})"

    def origin(self, value, index):
        """What computed an element: an argument's or an op's value, and where in it."""
        while True:
            op = self.definitions.get(value)
            if op is None:
                return value, tuple(index)
            name, attributes = op["name"], op["attributes"]
            if name == "tensor.cast":
                value = op["in"][0]
            elif name in ("tensor.expand_shape", "tensor.collapse_shape"):
                number = flat(index, self.shapes[value])
                value = op["in"][0]
                index = unflat(number, self.shapes[value])
            elif name in ("tensor.extract_slice", "tensor.insert_slice"):
                offsets = [self.number(offset) for offset in attributes["offsets"]]
                lengths = [self.number(size) for size in attributes["sizes"]]
                strides = [self.number(stride) for stride in attributes["strides"]]
                if name == "tensor.extract_slice":
                    part = iter(index)
                    dropped = self.dropped(attributes["sizes"], self.shapes[value])
                    index = tuple(offset + (0 if dim in dropped else next(part)) * stride
                                  for dim, (offset, stride) in enumerate(zip(offsets, strides)))
                    value = op["in"][0]
                    continue
                places = [divmod(i - offset, stride) for i, offset, stride in zip(index, offsets, strides)]
                if all(rest == 0 and 0 <= place < length for (place, rest), length in zip(places, lengths)):
                    dropped = self.dropped(attributes["sizes"], self.shapes[op["in"][0]])
                    index = tuple(place for dim, (place, _) in enumerate(places) if dim not in dropped)
                    value = op["in"][0]
                else:
                    value = op["in"][1]
            elif name == "tensor.concat":
                dim, index = attributes["dim"], list(index)
                for part in op["in"]:
                    if index[dim] < self.shapes[part][dim]:
                        value = part
                        break
                    index[dim] -= self.shapes[part][dim]
            else:
                return value, tuple(index)

    def copied(self, value, index):
        """`origin`, through ops that only copy, too."""
        while True:
            value, index = self.origin(value, index)
            op = self.definitions.get(value)
            if op is None or not op["name"].startswith("linalg.") or op["attributes"].get("inputs") != 1 or not op["regions"]:
                return value, index
            block = op["regions"][0][0]
            if len(block["ops"]) != 1 or block["ops"][0]["in"] != [block["arguments"][0]["id"]] or op["in"][0] not in self.shapes:
                return value, index
            loops = self.iteration(op, index)
            if loops is None:
                return value, index
            value, index = op["in"][0], self.index(op, 0, loops)

    def iteration(self, op, index):
        """The iteration that writes an element, if there is one only."""
        dims, _, results = parse_map(op["attributes"]["maps"][-1])
        loops = [None] * len(dims)
        for result, i in zip(results, index):
            if result in dims:
                loops[dims.index(result)] = i
        return None if None in loops else loops

    def integer(self, value, index):
        """The number in an element of a tensor of integers."""
        value, index = self.origin(value, index)
        op = self.definitions.get(value)
        if op is None:
            return random.Random(f"{value} {index}").randrange(2)
        if op["name"] == "arith.constant":
            splat = re.fullmatch(r"dense<(-?\d+)> .*", str(op["attributes"]["value"]))
            return int(splat[1]) if splat else None
        loops = self.iteration(op, index) if op["name"] == "linalg.generic" else None
        if loops is None:
            return None
        known = self.body(op, loops)
        return known.get(op["regions"][0][0]["ops"][-1]["in"][0])

    def body(self, op, loops):
        """The integers that a body computes in an iteration."""
        block, known = op["regions"][0][0], {}
        is_integer = lambda kind: re.search(r"(x|^|<)(i\d+|index)>?$", kind)
        for operand, argument in enumerate(block["arguments"]):
            value = op["in"][operand]
            if is_integer(argument["type"]) and value in self.shapes and operand < op["attributes"]["inputs"]:
                known[argument["id"]] = self.integer(value, self.index(op, operand, loops))
        get = lambda value: known.get(value, self.scalars.get(value))
        for inner in block["ops"]:
            self.ops[inner["op"]] = inner
            if inner["name"] == "linalg.index":
                result = loops[inner["attributes"]["dim"]]
            elif inner["name"] == "tensor.extract":
                index = [get(value) for value in inner["in"][1:]]
                result = None
                if None not in index and is_integer(inner["out"][0]["type"]):
                    result = self.integer(inner["in"][0], index)
            else:
                result = self.scalar(inner, get)
            if result is not None and inner["out"]:
                known[inner["out"][0]["id"]] = int(result)
        return known


def segments_of(attribute):
    return attribute if isinstance(attribute, list) else [int(n) for n in re.findall(r"\d+", attribute.split(":")[1])]
