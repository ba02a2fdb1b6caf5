# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random graphs of norms, elementwise ops, reductions and views of each other's results.

Unlike the programs of test/Views these need not be kernels: ops use other rows of
what is computed, several norms use each other's results, parts are written over.
Sizes are small and the same, so that dimensions are easily taken for others.
"""

import random


def type_of(sizes):
    return f"tensor<{''.join(f'{size}x' for size in sizes)}f32>"


class Graph:
    def __init__(self, seed):
        self.name, self.rng, self.lines, self.count = f"graph_{seed}", random.Random(seed), [], 0
        self.arguments = []
        self.values = [self.argument(self.rng.choice([[4, 4, 8], [4, 8], [2, 4, 4], [8, 8], [4, 4, 4], [2, 2, 8], [3, 6, 12]]))]
        self.norm()
        for _ in range(self.rng.randint(3, 10)):
            step = self.rng.choices([self.norm, self.elementwise, self.reduction, self.insertion, self.view], [22, 38, 12, 18, 10])[0]
            step()

    def text(self):
        own = [value for value in self.values if value not in self.arguments]
        results = own[-1:] + self.rng.sample(own, min(len(own), self.rng.randint(0, 3)))
        arguments = ", ".join(f"{name}: {type_of(sizes)}" for name, sizes in self.arguments)
        types = ", ".join(type_of(sizes) for _, sizes in results)
        body = "".join(f"  {line}\n" for line in self.lines)
        return (f"func.func @{self.name}({arguments}) -> ({types}) {{\n{body}"
                f"  return {', '.join(name for name, _ in results)} : {types}\n}}\n")

    def new(self, line):
        self.count += 1
        self.lines.append(f"%v{self.count} = {line}")
        return f"%v{self.count}"

    def argument(self, sizes):
        self.arguments.append((f"%a{len(self.arguments)}", list(sizes)))
        return self.arguments[-1]

    def empty(self, sizes):
        return self.new(f"tensor.empty() : {type_of(sizes)}")

    def pick(self):
        """A value, often one of the last, through some views."""
        value = self.rng.choice(self.values[-4:] if self.rng.random() < 0.7 else self.values)
        for _ in range(self.rng.choice([0, 0, 1, 1, 2])):
            value = self.view_of(value)
        return value

    def view_of(self, value):
        kind = self.rng.choice([self.transpose, self.collapse, self.expand, self.slice, None])
        return kind and kind(*value) or value

    def transpose(self, name, sizes):
        order = list(range(len(sizes)))
        self.rng.shuffle(order)
        result = [sizes[i] for i in order]
        empty = self.empty(result)
        return self.new(f"linalg.transpose ins({name} : {type_of(sizes)}) outs({empty} : {type_of(result)}) permutation = {order}"), result

    def reshape(self, op, name, sizes, result, i):
        """Between tensors of which one has dimension i in place of i and i + 1 of the other."""
        rank = min(len(sizes), len(result))
        groups = [[dim] for dim in range(i)] + [[i, i + 1]] + [[dim + 1] for dim in range(i + 1, rank)]
        shape = f" output_shape {result}" if op == "expand" else ""
        return self.new(f"tensor.{op}_shape {name} {groups}{shape} : {type_of(sizes)} into {type_of(result)}"), result

    def collapse(self, name, sizes):
        if len(sizes) < 2:
            return None
        i = self.rng.randrange(len(sizes) - 1)
        return self.reshape("collapse", name, sizes, sizes[:i] + [sizes[i] * sizes[i + 1]] + sizes[i + 2:], i)

    def expand(self, name, sizes):
        able = [i for i, size in enumerate(sizes) if size % 2 == 0 and size > 2]
        if not able or len(sizes) > 4:
            return None
        i = self.rng.choice(able)
        low = self.rng.choice([2, sizes[i] // 2, 1])
        return self.reshape("expand", name, sizes, sizes[:i] + [sizes[i] // low, low] + sizes[i + 1:], i)

    def slice(self, name, sizes):
        window = []
        for size in sizes:
            length = self.rng.randint(1, size)
            window.append(self.rng.choices([(0, size, 1), (self.rng.randrange(2), size // 2, 2), (self.rng.randint(0, size - length), length, 1)],
                                           [6, 2 if size % 2 == 0 else 0, 3 if size > 1 else 0])[0])
        offsets, result, strides = map(list, zip(*window))
        kept = [size for size in result if size != 1]
        kept = kept if kept and self.rng.random() < 0.5 else result
        return self.new(f"tensor.extract_slice {name}{offsets} {result} {strides} : {type_of(sizes)} to {type_of(kept)}"), kept

    def generic(self, sizes, operands, reduced=()):
        """The sum of operands, each with the dimensions that it has, or its square if it is one."""
        dims = [f"d{dim}" for dim in range(len(sizes))]
        kept = [dim for dim in range(len(sizes)) if dim not in reduced]
        result = [sizes[dim] for dim in kept]
        out = self.empty(result)
        if reduced:
            zero = self.new("arith.constant 0.0 : f32")
            out = self.new(f"linalg.fill ins({zero} : f32) outs({out} : {type_of(result)}) -> {type_of(result)}")
        maps = ", ".join(f"affine_map<({', '.join(dims)}) -> ({', '.join(dims[dim] for dim in used)})>"
                         for used in [used for _, used in operands] + [kept])
        kinds = ", ".join('"reduction"' if dim in reduced else '"parallel"' for dim in range(len(sizes)))
        inputs = [f"%x{i}" for i in range(len(operands))] + (["%o"] if reduced else [])
        inputs = inputs if len(inputs) > 1 else inputs * 2
        body = [f"{', '.join(f'%x{i}: f32' for i in range(len(operands)))}, %o: f32"]
        total = inputs[0]
        for i, element in enumerate(inputs[1:]):
            body.append(f"%s{i} = arith.addf {total}, {element} : f32")
            total = f"%s{i}"
        names, types = ", ".join(value[0] for value, _ in operands), ", ".join(type_of(value[1]) for value, _ in operands)
        text = " ".join(body[1:])
        return self.new(f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} ins({names} : {types}) "
                        f"outs({out} : {type_of(result)}) {{ ^bb0({body[0]}): {text} linalg.yield {total} : f32 }} -> {type_of(result)}"), result

    # The steps.

    def norm(self):
        name, sizes = self.pick()
        kind, empty = type_of(sizes), self.empty(sizes)
        self.values.append((self.new(f"rmsnorm.forward input({name} : {kind}) output({empty} : {kind}) eps = 1.0e-03 -> {kind}"), sizes))

    def elementwise(self):
        first = self.pick()
        sizes = first[1]
        operands = [(first, list(range(len(sizes))))]
        for _ in range(self.rng.choice([0, 1, 1, 2])):
            other, used = self.pick(), None
            for _ in range(6):
                order = self.rng.choices(range(len(sizes)), k=len(other[1]))
                if [sizes[dim] for dim in order] == other[1]:
                    used = order
                    break
            if used is None:
                used = sorted(self.rng.sample(range(len(sizes)), self.rng.randint(1, len(sizes))))
                other = self.argument([sizes[dim] for dim in used])
            operands.append((other, used))
        self.values.append(self.generic(sizes, operands))

    def reduction(self):
        value = self.pick()
        rank = len(value[1])
        if rank > 1:
            reduced = self.rng.sample(range(rank), self.rng.choice([1, 1, 2]) if rank > 2 else 1)
            self.values.append(self.generic(value[1], [(value, list(range(rank)))], reduced))

    def insertion(self):
        name, sizes = self.pick()
        i = self.rng.randrange(len(sizes))
        whole = sizes[:i] + [sizes[i] * self.rng.choice([1, 2, 2])] + sizes[i + 1:]
        offsets, strides = [0] * len(sizes), [1] * len(sizes)
        if whole != sizes:
            offsets[i], strides[i] = self.rng.choice([(self.rng.randrange(2), 2), (self.rng.randint(0, sizes[i]), 1)])
        same = [value for value in self.values if value[1] == whole]
        way = self.rng.random()
        into = self.rng.choice(same)[0] if same and way < 0.6 else self.argument(whole)[0] if way < 0.85 else self.empty(whole)
        self.values.append((self.new(f"tensor.insert_slice {name} into {into}{offsets} {sizes} {strides} : {type_of(sizes)} into {type_of(whole)}"), whole))

    def view(self):
        self.values.append(self.view_of(self.rng.choice(self.values)))
