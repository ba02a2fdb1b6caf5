# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes random functions of norms and tensor operations into a folder.

    random_programs.py FOLDER --seed=N --count=N

The operations are what exporters write around norms, put together without a
plan: copies whose maps skip or repeat elements, transposes, reshapes, slices,
insertions over each other, reductions, fills, norms of norms. Each function is a
file, FOLDER/pSEED.mlir, all seeds from N on. The norms are operations of ours, so
nothing has to be raised. Most functions use every argument and return two or
three tensors.
"""

import argparse
import os
import random

IDENTITY = ["d0", "d1", "d2", "d3"]


def product(sizes):
    result = 1
    for size in sizes:
        result *= size
    return result


class Function:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.arguments = []
        self.values = []  # Names and shapes.
        self.name = f"p{seed}"

    def type(self, shape):
        return f"tensor<{'x'.join(map(str, shape))}xf32>"

    def define(self, shape, text):
        name = f"%v{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        self.values.append((name, shape))
        return name

    def argument(self, shape):
        name = f"%a{len(self.arguments)}"
        self.arguments.append((name, shape))
        return name

    def empty(self, shape):
        name = f"%e{len(self.lines)}"
        self.lines.append(f"  {name} = tensor.empty() : {self.type(shape)}")
        return name

    def pick(self, rank=None):
        """A value, the later the likelier."""
        values = [value for value in self.values if rank is None or len(value[1]) >= rank]
        if not values:
            return None
        return values[-1] if self.random.random() < 0.5 else self.random.choice(values)

    def generic(self, shape, loops, operands, maps, body, kinds=None, start=None):
        """`loops` are the sizes, the last map is that of the result."""
        dims = ", ".join(IDENTITY[: len(loops)])
        kinds = kinds or ["parallel"] * len(loops)
        init = start or self.empty(shape)
        blocks = [f"%b{number}: f32" for number in range(len(operands))] + ["%o: f32"]
        text = "linalg.generic {indexing_maps = [%s], iterator_types = [%s]}" % (
            ", ".join(f"affine_map<({dims}) -> ({', '.join(one)})>" for one in maps),
            ", ".join(f'"{kind}"' for kind in kinds),
        )
        if operands:
            text += " ins(%s : %s)" % (
                ", ".join(name for name, _ in operands),
                ", ".join(self.type(one) for _, one in operands),
            )
        text += f" outs({init} : {self.type(shape)}) {{\n  ^bb0({', '.join(blocks)}):\n"
        text += "".join(f"    {line}\n" for line in body) + f"  }} -> {self.type(shape)}"
        return self.define(shape, text)

    # The operations.

    def norm(self):
        value = self.pick()
        name, shape = value
        if shape[-1] < 2:
            return
        weight = ""
        if self.random.random() < 0.5:
            weight = f" weight({self.argument(shape[-1:])} : {self.type(shape[-1:])})"
        out = self.empty(shape)
        type = self.type(shape)
        self.define(
            shape,
            f"rmsnorm.forward input({name} : {type}){weight} output({out} : {type}) eps = 1.0e-5 -> {type}",
        )

    def elementwise(self):
        name, shape = self.pick()
        dims = IDENTITY[: len(shape)]
        others = [value for value in self.values if value[1] == shape]
        other, map = (name, shape), dims
        choice = self.random.random()
        if choice < 0.5:
            other = self.random.choice(others)
        elif choice < 0.8:
            # Some of the dimensions, in any order.
            kept = self.random.sample(range(len(shape)), self.random.randint(1, len(shape)))
            other = (self.argument([shape[dim] for dim in kept]), [shape[dim] for dim in kept])
            map = [dims[dim] for dim in kept]
        op = self.random.choice(["addf", "mulf", "subf", "maximumf"])
        body = [f"%r = arith.{op} %b0, %b1 : f32", "%t = math.tanh %r : f32", "linalg.yield %t : f32"]
        start = None
        if self.random.random() < 0.2:
            start = self.random.choice(others)[0]
        self.generic(shape, shape, [(name, shape), other], [dims, map, dims], body, start=start)

    def copy(self):
        """Of every second element, of one element, of a broadcast, of a transpose."""
        name, shape = self.pick()
        loops, map, extra = [], [], None
        for size in shape:
            choice = self.random.random()
            dim = IDENTITY[len(loops)] if len(loops) < 4 else None
            if dim is None or choice < 0.1:
                map.append(str(self.random.randrange(size)))
            elif choice < 0.25 and size > 1:
                map.append(f"{dim} * 2")
                loops.append((size - 1) // 2 + 1)
            else:
                map.append(dim)
                loops.append(size)
        if len(loops) < 4 and self.random.random() < 0.15:
            loops.append(self.random.choice([2, 4]))
        if not loops:
            return
        order = list(range(len(loops)))
        if self.random.random() < 0.4:
            self.random.shuffle(order)
        self.generic(
            [loops[dim] for dim in order],
            loops,
            [(name, shape)],
            [map, [IDENTITY[dim] for dim in order]],
            ["linalg.yield %b0 : f32"],
        )

    def transpose(self):
        name, shape = self.pick()
        order = list(range(len(shape)))
        self.random.shuffle(order)
        result = [shape[dim] for dim in order]
        out = self.empty(result)
        # A named operation defines its results in another form.
        self.lines.append(
            f"  %t{len(self.lines)} = linalg.transpose ins({name} : {self.type(shape)}) "
            f"outs({out} : {self.type(result)}) permutation = {order}"
        )
        self.values.append((f"%t{len(self.lines) - 1}", result))

    def fill(self):
        _, shape = self.pick()
        out = self.empty(shape)
        self.define(
            shape,
            f"linalg.fill ins(%c : f32) outs({out} : {self.type(shape)}) -> {self.type(shape)}",
        )

    def reduce(self):
        name, shape = self.pick(rank=2) or (None, None)
        if name is None:
            return
        last = len(shape) - 1
        reduced = {last} if self.random.random() < 0.7 else set(self.random.sample(range(len(shape)), 1))
        kept = [dim for dim in range(len(shape)) if dim not in reduced]
        result = [shape[dim] for dim in kept]
        out = self.empty(result)
        op, start = self.random.choice([("addf", "%zero"), ("maximumf", "%least")])
        init = f"%i{len(self.lines)}"
        self.lines.append(f"  {init} = linalg.fill ins({start} : f32) outs({out} : {self.type(result)}) -> {self.type(result)}")
        dims = IDENTITY[: len(shape)]
        kinds = ["reduction" if dim in reduced else "parallel" for dim in range(len(shape))]
        body = [f"%r = arith.{op} %o, %b0 : f32", "linalg.yield %r : f32"]
        self.generic(result, shape, [(name, shape)], [dims, [dims[dim] for dim in kept]], body, kinds, init)

    def groups(self, shape, place):
        """A reassociation of `shape`'s dimensions with the one at `place` and the next together."""
        groups, dim = [], 0
        for number in range(len(shape) - 1):
            groups.append([dim, dim + 1] if number == place else [dim])
            dim += len(groups[-1])
        return groups

    def reshape(self):
        name, shape = self.pick()
        if len(shape) > 1 and self.random.random() < 0.5:
            place = self.random.randrange(len(shape) - 1)
            result = shape[:place] + [shape[place] * shape[place + 1]] + shape[place + 2 :]
            self.define(
                result,
                f"tensor.collapse_shape {name} {self.groups(shape, place)} : {self.type(shape)} into {self.type(result)}",
            )
            return
        if len(shape) > 3:
            return
        place = self.random.randrange(len(shape))
        factors = [factor for factor in (1, 2, 4, 8) if shape[place] % factor == 0]
        factor = self.random.choice(factors)
        result = shape[:place] + [factor, shape[place] // factor] + shape[place + 1 :]
        self.define(
            result,
            f"tensor.expand_shape {name} {self.groups(result, place)} output_shape {result} : "
            f"{self.type(shape)} into {self.type(result)}",
        )

    def slice(self):
        name, shape = self.pick()
        offsets, sizes, strides = [], [], []
        for size in shape:
            part, stride = size, 1
            if size > 1 and self.random.random() < 0.4:
                part = self.random.choice([size // 2, 1]) if size % 2 == 0 else size - 1
                stride = self.random.choice([1, 1, 2]) if part * 2 <= size else 1
            offsets.append(self.random.randint(0, size - (part - 1) * stride - 1))
            sizes.append(part)
            strides.append(stride)
        result = sizes
        self.define(
            result,
            f"tensor.extract_slice {name}{offsets} {sizes} {strides} : {self.type(shape)} to {self.type(result)}",
        )

    def insert(self):
        """A value into another one or an argument."""
        name, shape = self.pick()
        larger = [
            value
            for value in self.values
            if len(value[1]) == len(shape) and all(a >= b for a, b in zip(value[1], shape))
        ]
        into, whole = self.random.choice(larger)
        if self.random.random() < 0.4:
            whole = [size * self.random.choice([1, 1, 2]) for size in shape]
            into = self.argument(whole)
        offsets = [self.random.choice([0, a - b]) for a, b in zip(whole, shape)]
        ones = [1] * len(shape)
        self.define(
            whole,
            f"tensor.insert_slice {name} into {into}{offsets} {shape} {ones} : {self.type(shape)} into {self.type(whole)}",
        )

    def write(self):
        rank = self.random.choice([2, 2, 3])
        shape = [self.random.choice([1, 2, 3, 4, 8]) for _ in range(rank - 1)] + [self.random.choice([8, 16, 32, 64])]
        self.values.append((self.argument(shape), shape))
        if self.random.random() < 0.3:
            self.values.append((self.argument(shape), shape))
        steps = [self.elementwise] * 3 + [self.norm, self.copy, self.copy, self.transpose, self.fill]
        steps += [self.reduce, self.reshape, self.reshape, self.slice, self.slice, self.insert, self.insert]
        before = self.random.randint(0, 3)
        for number in range(before + self.random.randint(1, 5)):
            if number == before:
                self.norm()
            self.random.choice(steps)()
            if product(self.values[-1][1]) > 1 << 16:
                self.values.pop()
        computed = [value for value in self.values if not value[0].startswith("%a")]
        if not computed:
            return None
        results = computed[-1:] + self.random.sample(computed[:-1], min(len(computed) - 1, self.random.randint(0, 2)))
        arguments = ", ".join(f"{name}: {self.type(shape)}" for name, shape in self.arguments)
        types = ", ".join(self.type(shape) for _, shape in results)
        names = ", ".join(name for name, _ in results)
        return "\n".join(
            [f"func.func @{self.name}({arguments}) -> ({types}) {{"]
            + ["  %c = arith.constant 0.25 : f32", "  %zero = arith.constant 0.0 : f32"]
            + ["  %least = arith.constant 0xFF800000 : f32"]
            + self.lines
            + [f"  return {names} : {types}", "}", ""]
        )


parser = argparse.ArgumentParser()
parser.add_argument("folder")
parser.add_argument("--seed", type=int, required=True)
parser.add_argument("--count", type=int, required=True)
options = parser.parse_args()
os.makedirs(options.folder, exist_ok=True)
for seed in range(options.seed, options.seed + options.count):
    if text := Function(seed).write():
        with open(os.path.join(options.folder, f"p{seed}.mlir"), "w") as file:
            file.write(text)
