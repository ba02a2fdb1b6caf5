# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A random program with views around norms: its IR, and what it computes.

See views.py and, for what tensors are, value.py.
"""

import itertools
import math
import os
import random

from scatters import Scatters
from value import Dim, TYPES, Value, places, texts


class Program(Scatters):
    STEPS = {"norm": 4, "transpose": 4, "rows": 3, "columns": 2, "part": 2, "assemble": 2, "elementwise": 4,
             "norm_part": 2, "scales": 2, "quantise": 0.5, "keep": 2}
    MORE_STEPS = ["sum_rows", "sum_rows", "share", "pad", "twice"]
    DIGIT_STEPS = ["rotate", "rotate", "scale_groups", "digit_operand", "take_digit", "replace_digit"]

    def __init__(self, seed, steps=None, mutating=False, embedded=False):
        self.seed, self.name, self.mutating, self.mutated = seed, f"f{seed}", mutating, False
        self.embedded = embedded
        self.drops_one_of_several = self.only_modules = False
        # Whether there are slots enough only for sizes as they are here, and all indices that are arguments.
        self.own_sizes, self.slots = False, []
        self.lines, self.count, self.arguments, self.results, self.ended = [], 0, [], [], False
        self.rng = rng = random.Random(seed)
        self.kind = rng.choice(["f32", "f32", "f32", "bf16", "f16"])
        dims = []
        few = rng.choice([[1, 2, 3, 4], [1, 5], [2, 4], [5, 5, 1, 3], [1, 1, 2]])
        for i in range(rng.choice([1, 1, 2, 2, 3, 3, 4])):
            dynamic = rng.random() < 0.45
            dims.append(Dim(rng.choice([0] + few * 3) if dynamic else rng.choice(few), f"%d{i}" if dynamic else None, 8 if embedded else None))
        columns = rng.choice([4, 8, 16, 32, 64, 6, 24, 48])
        # Drawn apart: other programs stay as they were.
        digits = random.Random(f"steps on digits of columns of {seed}")
        digit_steps = digits.choice([0, 0, 0, 1, 2, 3])
        if digit_steps:
            columns = digits.choice([16, 24, 48, 64, 80, 96, 128, 192])
        self.value = self.argument(dims + [Dim(columns)])
        for i, dim in enumerate(dims):
            if dim.name:
                self.lines += [f"%i{i} = arith.constant {i} : index", f"{dim.name} = tensor.dim %a0, %i{i} : {self.value.type}"]
        # Each step has a seed of its own, and does nothing where it cannot.
        names = rng.choices(list(self.STEPS), self.STEPS.values(), k=rng.choice([1, 1, 2, 2, 3, 3, 4, 5]))
        names.insert(rng.randint(0, min(2, len(names))), "norm")
        more = random.Random(f"more steps of {seed}")
        for _ in range(more.choice([0, 0, 1, 1, 2, 3])):
            names.insert(more.randint(1, len(names)), more.choice(self.MORE_STEPS))
        for _ in range(digit_steps):
            names.insert(digits.randint(1, len(names)), digits.choice(self.DIGIT_STEPS))
        plan = [(name, rng.random()) for name in names] + [("finish", rng.random())]
        # The same: rows that are stored at indices come last.
        slots = random.Random(f"rows in slots of {seed}")
        scatters = slots.choice([0, 0, 0, 0, 0, 0, 1, 1, 2])
        if scatters and slots.random() < 0.6:
            # What has few steps is refused less often.
            fewer = slots.sample(range(len(plan) - 1), min(len(plan) - 1, slots.choice([1, 2, 2])))
            plan = [step for i, step in enumerate(plan) if step[0] in ("norm", "finish") or i in fewer]
        plan[-1:-1] = [("scatter", slots.random()) for _ in range(scatters)]
        self.steps = [f"{i}:{name}" for i, (name, _) in enumerate(plan)] if steps is None else steps
        for i, (name, step_seed) in enumerate(plan):
            if f"{i}:{name}" in self.steps and (not self.ended or name == "scatter"):
                self.rng = random.Random(step_seed)
                getattr(self, name)()
        if not self.results:
            self.finish()

    def text(self):
        # compare.py makes no indices that are distinct; there the program does.
        own = [value for value in self.arguments if not (self.embedded and value in self.slots)]
        arguments = texts(f"{value.name}: {value.type}" for value in own)
        kinds = texts(value.type for value in self.results)
        body = "".join(f"  {line}\n" for line in self.lines)
        return (f"func.func @{self.name}({arguments}) -> ({kinds}) {{\n{body}"
                f"  return {texts(value.name for value in self.results)} : {kinds}\n}}\n")

    def write(self, folder, head=""):
        path = os.path.join(folder, f"{self.name}.mlir")
        with open(path, "w") as file:
            file.write(head + self.text())
        return path

    def is_for_modules(self):
        """Whether it is none for compare.py: an argument has a size that follows from others, where that gives all the
        same; or a slice drops one of several dimensions of one element, of which MLIR's bufferization takes another."""
        return self.drops_one_of_several or self.only_modules or any(
            dim.name and not dim.name.startswith("%d") for value in self.arguments for dim in value.dims)

    # What steps are made of.

    def new(self, line):
        self.count += 1
        self.lines.append(f"%v{self.count} = {line}")
        return f"%v{self.count}"

    def swap(self, a, b):
        """What the program takes for a and b: with --mutate, one time, b and a."""
        if not self.mutating or self.mutated or a == b:
            return a, b
        self.mutated = True
        return b, a

    def argument(self, dims, kind=None):
        kind = kind or self.kind
        data = [TYPES[kind].round(self.rng.choice([-1, 1]) * self.rng.randint(512, 2048) / 1024)
                for _ in range(math.prod(dim.size for dim in dims))]
        self.arguments.append(Value(f"%a{len(self.arguments)}", dims, kind, data))
        self.arguments[-1].home = self.arguments[-1].source = len(self.arguments) - 1
        return self.arguments[-1]

    def empty(self, dims, kind=None):
        value = Value(None, dims, kind or self.kind, None)
        value.name = self.new(f"tensor.empty({texts(d.name for d in dims if d.name)}) : {value.type}")
        value.data = [math.nan] * math.prod(value.sizes)
        return value

    def product(self, dims):
        dynamic, static = [d for d in dims if d.name], math.prod(d.size for d in dims if not d.name)
        if not dynamic:
            return Dim(static)
        total = dynamic[0]
        factors = dynamic[1:] + ([Dim(static, self.new(f"arith.constant {static} : index"))] if static != 1 else [])
        for factor in factors:
            total = Dim(total.size * factor.size, self.new(f"arith.muli {total.name}, {factor.name} : index"), total.most * factor.most)
        return total

    def reshape(self, value, first, last, dims):
        """Merges dimensions first to last of a tensor, or replaces the one by `dims`."""
        merge = first < last
        before, after = value.dims[:first], value.dims[last + 1:]
        dims = [self.product(value.dims[first:last + 1])] if merge else dims
        more = last - first if merge else len(dims) - 1
        rank = len(before) + len(after) + 1
        groups = [[i] for i in range(first)] + [list(range(first, first + more + 1))] + [[i + more] for i in range(first + 1, rank)]
        result = Value(None, before + dims + after, value.kind, value.data, value.normed)
        result.source, result.home = value.source, value.home if value.normed else None
        shape = "" if merge else f" output_shape [{texts(d.text for d in result.dims)}]"
        result.name = self.new(f"tensor.{'collapse' if merge else 'expand'}_shape {value.name} {groups}{shape} : {value.type} into {result.type}")
        return result

    def window(self, value, changes, rank_reducing=False):
        """The text of a slice with other offset, size and step in some dimensions; its dims and places."""
        window = [changes.get(i, (0, dim, 1)) for i, dim in enumerate(value.dims)]
        text = " ".join(f"[{texts(column)}]" for column in
                        ((w[0] for w in window), (w[1].text for w in window), (w[2] for w in window)))
        strides = value.strides()
        where = places([w[1].size for w in window], [w[2] * s for w, s in zip(window, strides)],
                       sum(w[0] * s for w, s in zip(window, strides)))
        return text, [w[1] for i, w in enumerate(window) if not (rank_reducing and i in changes and w[1].text == "1")], where

    def extract(self, value, changes, rank_reducing=False, written=None):
        _, dims, where = self.window(value, changes, rank_reducing)
        self.drops_one_of_several |= rank_reducing and any(
            dim.text == "1" for i, dim in enumerate(value.dims) if i not in changes)
        text, _, _ = self.window(value, written or changes)
        result = Value(None, dims, value.kind, [value.data[i] for i in where], value.normed)
        result.name = self.new(f"tensor.extract_slice {value.name}{text} : {value.type} to {result.type}")
        return result

    def insert(self, part, value, changes):
        text, _, where = self.window(value, changes)
        result = Value(None, value.dims, value.kind, list(value.data), value.normed or part.normed, value.source)
        for i, element in zip(where, part.data):
            result.data[i] = element
        result.name = self.new(f"tensor.insert_slice {part.name} into {value.name}{text} : {part.type} into {value.type}")
        return result

    def generic(self, dims, operands, body, function, out=None, reduction=False):
        """linalg.generic. Operands are tensors and the dimensions that each has, in what order."""
        letters = [f"d{i}" for i in range(len(dims))]
        out = out or self.empty(dims)
        axes = list(range(len(out.dims)))
        maps = texts(f"affine_map<({texts(letters)}) -> ({texts(letters[i] for i in used)})>"
                     for used in [text for _, _, text in operands] + [axes])
        kinds = ["parallel"] * len(out.dims) + ["reduction"] * reduction
        names = texts(f"%x{i}: {value.kind}" for i, (value, _, _) in enumerate(operands))
        name = self.new(f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{texts(chr(34) + k + chr(34) for k in kinds)}]}} "
                        f"ins({texts(v.name for v, _, _ in operands)} : {texts(v.type for v, _, _ in operands)}) outs({out.name} : {out.type}) {{")
        self.lines += [f"^bb0({names}, %o: {out.kind}):", *(f"  {line}" for line in body), f"}} -> {out.type}"]
        columns = []
        for value, used, _ in operands:
            strides = value.strides()
            columns.append([value.data[i] for i in places([d.size for d in dims], [
                strides[used.index(d)] if d in used else 0 for d in range(len(dims))])])
        data = [function(*elements) for elements in zip(*columns)]
        if reduction:
            length = dims[-1].size
            data = [max(map(abs, data[i:i + length])) for i in range(0, len(data), length)]
        return Value(name, out.dims, out.kind, [TYPES[out.kind].round(v) for v in data], any(v.normed for v, _, _ in operands))

    def largest(self, value):
        """The largest absolute element of each last row."""
        zero = self.new(f"arith.constant 0.0 : {value.kind}")
        out = self.empty(value.dims[:-1], value.kind)
        out.name = self.new(f"linalg.fill ins({zero} : {value.kind}) outs({out.name} : {out.type}) -> {out.type}")
        axes = list(range(len(value.dims)))
        return self.generic(value.dims, [(value, axes, axes)], [
            f"%m = math.absf %x0 : {value.kind}", f"%r = arith.maximumf %m, %o : {value.kind}", f"linalg.yield %r : {value.kind}"],
            lambda a: a, out, reduction=True)

    def permuted(self, value, order):
        """A tensor with its dimensions in another order, by one of two ops."""
        dims, letters = [value.dims[i] for i in order], [order.index(i) for i in range(len(order))]
        strides = value.strides()
        written = list(order)
        same = [(i, j) for i, j in itertools.combinations(range(len(dims)), 2) if dims[i] == dims[j] and dims[i].size > 1]
        if same:
            i, j = same[0]
            written[i], written[j] = self.swap(written[i], written[j])
        if self.rng.random() < 0.4:
            used = [written.index(i) for i in range(len(order))]
            return self.generic(dims, [(value, letters, used)], [f"linalg.yield %x0 : {value.kind}"], lambda a: a, self.empty(dims, value.kind))
        out = self.empty(dims, value.kind)
        name = self.new(f"linalg.transpose ins({value.name} : {value.type}) outs({out.name} : {out.type}) permutation = {written}")
        data = [value.data[i] for i in places([d.size for d in dims], [strides[i] for i in order])]
        return Value(name, dims, value.kind, data, value.normed)

    def in_f32(self, operands, ops):
        """The text of a body of generic() that computes %r of so many operands, %w0 and so on, in f32."""
        if self.kind == "f32":
            return [line.replace("%w", "%x") for line in ops] + ["linalg.yield %r : f32"]
        return [f"%w{i} = arith.extf %x{i} : {self.kind} to f32" for i in range(operands)] + ops + [
            f"%n = arith.truncf %r : f32 to {self.kind}", f"linalg.yield %n : {self.kind}"]

    def split(self, value, count):
        """The tensor with its columns in several dimensions, perhaps fewer than `count`."""
        digits = [value.sizes[-1]]
        while len(digits) < count:
            i = self.rng.randrange(len(digits))
            factors = [f for f in (2, 3, 4, 5, 6, 8, 16, 32, 64) if f < digits[i] and digits[i] % f == 0]
            if not factors:
                break
            factor = self.rng.choice(factors)
            digits[i:i + 1] = [digits[i] // factor, factor]
        last = len(value.dims) - 1
        return self.reshape(value, last, last, [Dim(digit) for digit in digits]) if len(digits) > 1 else value

    def merge(self, value, rank, chance=0.8):
        """The tensor with what split() made of the last of `rank` dimensions as one again, most often."""
        if len(value.dims) == rank or self.rng.random() > chance:
            return value
        return self.reshape(value, rank - 1, len(value.dims) - 1, None)

    def pieces(self, size):
        """Two ways to a half of so many columns: offset, size, step."""
        half = Dim(size // 2)
        return self.rng.choice([[(0, half, 1), (half.size, half, 1)], [(0, half, 2), (1, half, 2)]])

    # The steps.

    def norm(self, value=None):
        """The norm of each row."""
        rng, x = self.rng, value or self.value
        weight = self.argument(x.dims[-1:], rng.choice([self.kind, "f32"])) if rng.random() < 0.5 else None
        offset = rng.choice([0.0, 1.0]) if weight else 0.0
        out = self.empty(x.dims)
        text = f" weight({weight.name} : {weight.type})" if weight else ""
        name = self.new(f"rmsnorm.forward input({x.name} : {x.type}){text} output({out.name} : {out.type}) "
                        f"eps = 1.0e-03{' offset = 1.0' if offset else ''} -> {out.type}")
        data, n = [], x.sizes[-1]
        for start in range(0, len(x.data), n):
            row = x.data[start:start + n]
            root = 1 / math.sqrt(sum(v * v for v in row) / n + 1e-3)
            data += [TYPES[self.kind].round(v * root * (weight.data[i] + offset if weight else 1.0)) for i, v in enumerate(row)]
        result = Value(name, x.dims, self.kind, data, True)
        if value is None:
            self.value = result
        return result

    def transpose(self):
        order = list(range(len(self.value.dims) - 1))
        if self.rng.random() < 0.9:
            self.rng.shuffle(order)
        self.value = self.permuted(self.value, order + [len(order)])

    def rows(self):
        """Splits or merges leading dimensions."""
        leading = len(self.value.dims) - 1
        if leading > 1 and self.rng.random() < 0.5:
            first = self.rng.randrange(leading - 1)
            self.value = self.reshape(self.value, first, first + 1, None)
        elif 0 < leading < 4:
            i = self.rng.randrange(leading)
            dim = self.value.dims[i]
            factor = self.rng.choice([f for f in (1, 2, 3, 5) if dim.size % f == 0 and (not dim.name or f < 3)])
            rest = Dim(dim.size // factor)
            if dim.name:
                rest.most = max(dim.most // factor, 1)
                rest.name = rest.text = self.new(f"arith.divui {dim.name}, {self.new(f'arith.constant {factor} : index')} : index") if factor > 1 else dim.name
            self.value = self.reshape(self.value, i, i, self.rng.sample([rest, Dim(factor)], 2))

    def columns(self):
        """Makes groups of columns rows, or the other way round."""
        last = len(self.value.dims) - 1
        if 1 < last and self.rng.random() < 0.5 and not self.value.dims[last - 1].name:
            self.value = self.reshape(self.value, last - 1, last, None)
        elif last < 5 and self.value.sizes[-1] % 2 == 0 and self.value.sizes[-1] > 2:
            self.value = self.reshape(self.value, last, last, self.rng.sample([Dim(2), Dim(self.value.sizes[-1] // 2)], 2))

    def part(self):
        """Takes a part of a dimension."""
        able = [i for i, dim in enumerate(self.value.dims) if not dim.name and dim.size > 1]
        if not able:
            return
        i = self.rng.choice(able)
        size = self.value.sizes[i]
        if i < len(self.value.dims) - 1 and (size % 2 or self.rng.random() < 0.4):
            self.value = self.extract(self.value, {i: (self.rng.randrange(size), Dim(1), 1)}, len(self.value.dims) > 2)
        elif size % 2 == 0 and size > 2:
            window, other = self.rng.sample(self.pieces(size), 2)
            self.value = self.extract(self.value, {i: window}, written={i: self.swap(window, other)[0]})

    def assemble(self):
        """Takes the columns apart and puts them together in another order."""
        source, last = self.value, len(self.value.dims) - 1
        size = source.sizes[-1]
        if size % 2 or size < 4:
            return
        parts, pairs = [], None
        for which in self.rng.choice([[0, 1], [1, 0]]):
            window = self.pieces(size)[which]
            if window[2] == 2 and self.rng.random() < 0.5:
                pairs = pairs or self.reshape(source, last, last, [window[1], Dim(2)])
                parts.append(self.extract(pairs, {last + 1: (window[0], Dim(1), 1)}, True))
            else:
                parts.append(self.extract(source, {last: window}))
        a, b = parts
        a.name, b.name = self.swap(a.name, b.name)
        form = self.rng.choice(["halves", "stride", "pairs", "concat"])
        if form == "concat":
            result = Value(None, source.dims, source.kind, None, source.normed)
            result.data = [v for i in range(0, len(a.data), size // 2) for v in a.data[i:i + size // 2] + b.data[i:i + size // 2]]
            result.name = self.new(f"tensor.concat dim({last}) {a.name}, {b.name} : ({a.type}, {b.type}) -> {result.type}")
            self.value = result
            return
        half, dims = Dim(size // 2), source.dims[:-1]
        if form == "pairs":
            result = self.empty(dims + [half, Dim(2)], source.kind)
            windows = [{last + 1: (i, Dim(1), 1)} for i in (0, 1)]
        else:
            result = self.empty(source.dims, source.kind)
            windows = [{last: (i * half.size, half, 1) if form == "halves" else (i, half, 2)} for i in (0, 1)]
        for part, window in self.rng.sample(list(zip((a, b), windows)), 2):
            result = self.insert(part, result, window)
        self.value = self.reshape(result, last, last + 1, None) if form == "pairs" else result

    def norm_part(self):
        """Replaces a part of the rows or columns by its norm."""
        i = self.rng.choice([len(self.value.dims) - 1] * 2 + list(range(len(self.value.dims))))
        dim = self.value.dims[i]
        if dim.name or dim.size % 2 or dim.size < 4:
            return
        window = {i: self.rng.choice(self.pieces(dim.size))}
        self.value = self.insert(self.norm(self.extract(self.value, window)), self.value, window)

    def elementwise(self):
        """Multiplies by, or adds, an operand that has some of the dimensions, in some order."""
        value, rank = self.value, len(self.value.dims)
        axes = list(range(rank))
        used = self.rng.sample(axes, self.rng.randint(0, rank)) if self.rng.random() < 0.5 else [
            i for i in axes if self.rng.random() < 0.6]
        operand = self.argument([value.dims[i] for i in used])
        written = list(used)
        same = [(i, j) for i, j in itertools.combinations(range(len(used)), 2)
                if operand.dims[i] == operand.dims[j] and operand.sizes[i] > 1]
        if same:
            i, j = same[0]
            written[i], written[j] = self.swap(used[i], used[j])
        op, function = self.rng.choice([("mulf", lambda a, b: a * b), ("addf", lambda a, b: a + b)])
        self.value = self.generic(value.dims, [(value, axes, axes), (operand, used, written)], [
            f"%r = arith.{op} %x0, %x1 : {self.kind}", f"linalg.yield %r : {self.kind}"], function)

    def scales(self):
        """Returns the largest element of each group of columns, perhaps transposed."""
        value, last = self.value, len(self.value.dims) - 1
        if not value.normed or last > 3 or value.sizes[-1] % 4:
            return
        found = self.largest(self.reshape(value, last, last, self.rng.sample([Dim(4), Dim(value.sizes[-1] // 4)], 2)))
        order = list(range(last + 1))
        self.rng.choice([lambda: None, lambda: order.insert(max(last - 1, 0), order.pop()), lambda: self.rng.shuffle(order)])()
        self.results.append(self.permuted(found, order) if order != sorted(order) else found)

    def quantise(self):
        """Ends with i8 and a scale for each row."""
        value, axes = self.value, list(range(len(self.value.dims)))
        if not value.normed:
            return
        scale = self.largest(value)
        kind, wide = value.kind, value.kind != "f32"
        names = ["%x0", "%x1"]
        body = []
        if wide:
            body = [f"%w{i} = arith.extf %x{i} : {kind} to f32" for i in (0, 1)]
            names = ["%w0", "%w1"]
        body += ["%most = arith.constant 127.0 : f32", "%least = arith.constant -127.0 : f32", "%floor = arith.constant 1.0e-06 : f32",
                 f"%s = arith.maximumf {names[1]}, %floor : f32", f"%q = arith.divf {names[0]}, %s : f32", "%t = arith.mulf %q, %most : f32",
                 "%n = math.roundeven %t : f32", "%l = arith.maximumf %n, %least : f32", "%h = arith.minimumf %l, %most : f32",
                 "%i = arith.fptosi %h : f32 to i8", "linalg.yield %i : i8"]
        numbers = self.generic(value.dims, [(value, axes, axes), (scale, axes[:-1], axes[:-1])], body,
                               lambda a, s: max(-127, min(127, round(a / max(s, 1e-6) * 127))), self.empty(value.dims, "i8"))
        self.results += self.rng.sample([numbers, scale], 2)
        self.ended = True

    def sum_rows(self):
        """Returns sums, or maxima, over all rows or over those of each of some dimensions, in any order, by columns or of
        all of them, of the tensor or of what another sum may be of, too."""
        value, last = self.value, len(self.value.dims) - 1
        if last == 0:
            return
        kept = self.rng.randint(0, last - 1)
        kept = list(self.rng.choice([range(kept), range(last - kept, last)]))
        anyhow = random.Random(f"rows kept of {self.seed} {self.count}")
        if anyhow.random() < 0.3:
            kept = anyhow.sample(range(last), len(kept))
        # Drawn apart: other programs stay as they were. One number for each of the dimensions, beside sums by columns.
        of_columns = not kept or random.Random(f"columns of {self.seed} {self.count}").random() < 0.7
        axes, out_axes = list(range(last + 1)), kept + [last] * of_columns
        zero = self.new("arith.constant 0.0 : f32")
        out = self.empty([value.dims[i] for i in out_axes], "f32")
        out.name = self.new(f"linalg.fill ins({zero} : f32) outs({out.name} : {out.type}) -> {out.type}")
        body, name = ([], "%x0") if value.kind == "f32" else ([f"%w = arith.extf %x0 : {value.kind} to f32"], "%w")
        if self.rng.random() < 0.3:
            start, function, ops = 0.0, max, [f"%m = math.absf {name} : f32", "%r = arith.maximumf %o, %m : f32"]
            element = abs
        else:
            start, function, ops = 0.0, lambda a, b: a + b, [f"%m = arith.mulf {name}, {name} : f32", "%r = arith.addf %o, %m : f32"]
            element = lambda a: a * a
        letters = [f"d{i}" for i in axes]
        maps = texts(f"affine_map<({texts(letters)}) -> ({texts(letters[i] for i in used)})>" for used in (axes, out_axes))
        kinds = texts('"parallel"' if i in out_axes else '"reduction"' for i in axes)
        result = Value(None, out.dims, "f32", [start] * math.prod(out.sizes), True)
        # It shows elements that were rounded the other way.
        result.precise = value.kind
        result.name = self.new(f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} "
                               f"ins({value.name} : {value.type}) outs({out.name} : {out.type}) {{")
        self.lines += [f"^bb0(%x0: {value.kind}, %o: f32):", *(f"  {line}" for line in body + ops), "  linalg.yield %r : f32", f"}} -> {out.type}"]
        strides = result.strides()
        where = places(value.sizes, [strides[out_axes.index(i)] if i in out_axes else 0 for i in axes])
        for i, element_of in zip(where, value.data):
            result.data[i] = function(result.data[i], element(element_of))
        self.results.append(result)

    def share(self):
        """Returns another norm of the tensor, or of a part of its columns, times an operand that the rest may have, too."""
        value, last = self.value, len(self.value.dims) - 1
        size = value.sizes[-1]
        part = value
        if size % 2 == 0 and size > 4 and self.rng.random() < 0.5:
            part = self.extract(value, {last: self.pieces(size)[0]})
        other, axes = self.norm(part), list(range(last + 1))
        able = [a for a in self.arguments if a.dims == part.dims[-1:]]
        operand = self.rng.choice(able) if able else self.argument(part.dims[-1:])
        body, names = [], ["%x0", "%x1"]
        if operand.kind != self.kind:
            body, names = [f"%w = arith.truncf %x1 : {operand.kind} to {self.kind}"], ["%x0", "%w"]
        product = lambda a, b: a * TYPES[self.kind].round(b)
        for x in [other] + ([part] if self.rng.random() < 0.5 else []):
            scaled = self.generic(part.dims, [(x, axes, axes), (operand, [last], [last])], body + [
                f"%r = arith.mulf {names[0]}, {names[1]} : {self.kind}", f"linalg.yield %r : {self.kind}"], product)
            if x is other:
                self.results.append(scaled)
            elif part is value:
                self.value = scaled
            elif scaled.normed:
                self.results.append(scaled)

    def pad(self):
        """Returns the tensor with more rows, or more columns, of a number, or goes on with it."""
        value, last = self.value, len(self.value.dims) - 1
        able = [i for i, dim in enumerate(value.dims) if not dim.name]
        i = self.rng.choice(able + [last])
        if not value.normed:
            return
        low, high, number = self.rng.choice([0, 0, 1, 2]), self.rng.choice([0, 1, 2, 5]), self.rng.choice([0.0, 0.0, 1.5])
        dim = value.dims[i]
        result = Value(None, value.dims[:i] + [Dim(low + dim.size + high)] + value.dims[i + 1:], value.kind, None, True)
        result.data = [number] * math.prod(result.sizes)
        strides = result.strides()
        for place, element in zip(places(value.sizes, strides, low * strides[i]), value.data):
            result.data[place] = element
        zeros = [0] * len(value.dims)
        constant = self.new(f"arith.constant {number} : {value.kind}")
        result.name = self.new(f"tensor.pad {value.name} low[{texts(zeros[:i] + [low] + zeros[i + 1:])}] "
                               f"high[{texts(zeros[:i] + [high] + zeros[i + 1:])}] {{")
        self.lines += [f"^bb0({texts(f'%p{n}: index' for n in range(len(value.dims)))}):",
                       f"  tensor.yield {constant} : {value.kind}", f"}} : {value.type} to {result.type}"]
        if self.rng.random() < 0.7:
            self.results.append(result)
        else:
            self.value = result

    def twice(self):
        """Goes on with the tensor put beside itself, or beside a number, or returns that."""
        value = self.value
        able = [i for i, dim in enumerate(value.dims) if not dim.name]
        if not value.normed or not able or len(value.data) > 4096:
            return
        i = self.rng.choice(able)
        dim = value.dims[i]
        dims = value.dims[:i] + [Dim(2 * dim.size)] + value.dims[i + 1:]
        firsts = self.rng.sample([0, dim.size], 2)
        if self.rng.random() < 0.5:
            result = Value(None, dims, value.kind, [0.0] * (2 * len(value.data)), True)
            result.name = self.new(f"tensor.concat dim({i}) {value.name}, {value.name} : ({value.type}, {value.type}) -> {result.type}")
            strides = result.strides()
            for first in firsts:
                for place, element in zip(places(value.sizes, strides, first * strides[i]), value.data):
                    result.data[place] = element
        else:
            # Into what a number fills, which may keep it in a half.
            number = self.new(f"arith.constant 1.5 : {value.kind}")
            result = self.empty(dims, value.kind)
            result.data = [1.5] * len(result.data)
            result.name = self.new(f"linalg.fill ins({number} : {value.kind}) outs({result.name} : {result.type}) -> {result.type}")
            for first in firsts[:self.rng.choice([1, 2, 2])]:
                result = self.insert(value, result, {i: (first, dim, 1)})
        if self.rng.random() < 0.3:
            self.results.append(result)
        else:
            self.value = result

    # The steps on digits of the columns.

    def rotate(self):
        """Rotates halves or pairs of columns, or those of each of some heads, by a table that has some of the dimensions."""
        value, rank, size = self.value, len(self.value.dims), self.value.sizes[-1]
        able = [heads for heads in (1, 1, 2, 3, 4, 6, 8) if size % (2 * heads) == 0 and size // heads >= 4]
        if not able or rank > 4:
            return
        heads = self.rng.choice(able)
        if heads > 1:
            value = self.reshape(value, rank - 1, rank - 1, [Dim(heads), Dim(size // heads)])
        last = len(value.dims) - 1
        windows = self.rng.choice([[(0, 1), (1, 1)], [(0, 2), (1, 2)]])
        half = Dim(value.sizes[-1] // 2)
        windows = [(start if step == 2 else start * half.size, half, step) for start, step in windows]
        parts = [self.extract(value, {last: window}) for window in windows]
        parts[0].name, parts[1].name = self.swap(parts[0].name, parts[1].name)
        dims, axes = parts[0].dims, list(range(last + 1))
        used = [i for i in range(last) if self.rng.random() < 0.5] + [last] * (self.rng.random() < 0.9)
        tables = [self.argument([dims[i] for i in used]) for _ in range(2)]
        for table in tables:
            table.data = [element / 2 for element in table.data]
        turned = []
        for op, x, y in ("subf", 0, 1), ("addf", 1, 0):
            function = lambda a, b, cos, sin, sign=-1 if op == "subf" else 1: a * cos + sign * b * sin
            turned.append(self.generic(dims, [(parts[x], axes, axes), (parts[y], axes, axes)] + [(t, used, used) for t in tables], self.in_f32(4, [
                "%s = arith.mulf %w0, %w2 : f32", "%t = arith.mulf %w1, %w3 : f32", f"%r = arith.{op} %s, %t : f32"]), function))
        if windows[0][2] == 1 and self.rng.random() < 0.5:
            result = Value(None, value.dims, value.kind, None, value.normed)
            a, b = turned
            result.data = [v for i in range(0, len(a.data), half.size) for v in a.data[i:i + half.size] + b.data[i:i + half.size]]
            result.name = self.new(f"tensor.concat dim({last}) {a.name}, {b.name} : ({a.type}, {b.type}) -> {result.type}")
        else:
            result = self.empty(value.dims, value.kind)
            for part, window in self.rng.sample(list(zip(turned, windows)), 2):
                result = self.insert(part, result, {last: window})
        self.value = self.merge(result, rank)

    def scale_groups(self):
        """Divides groups of columns by the largest element of each, which it may return; or ends with i8 of that."""
        value, rank, size = self.value, len(self.value.dims), self.value.sizes[-1]
        able = [k for k in (2, 4, 8, 16, 32) if size % k == 0 and k < size]
        if not value.normed or not able or rank > 4:
            return
        length = self.rng.choice(able)
        groups = self.reshape(value, rank - 1, rank - 1, [Dim(size // length), Dim(length)])
        if self.rng.random() < 0.3:
            self.value = groups
            self.quantise()
            return
        found, axes = self.largest(groups), list(range(rank + 1))
        scaled = self.generic(groups.dims, [(groups, axes, axes), (found, axes[:-1], axes[:-1])], self.in_f32(2, [
            "%floor = arith.constant 0.001 : f32", "%s = arith.maximumf %w1, %floor : f32", "%r = arith.divf %w0, %s : f32"]),
            lambda a, s: a / max(s, 0.001))
        if self.rng.random() < 0.7:
            self.results.append(found)
        self.value = self.merge(scaled, rank)

    def digit_operand(self):
        """Multiplies by an operand that has some digits of the columns."""
        rank = len(self.value.dims)
        if rank > 4:
            return
        value = self.split(self.value, self.rng.choice([2, 2, 3]))
        axes = list(range(len(value.dims)))
        used = [i for i in axes if self.rng.random() < (0.3 if i < rank - 1 else 0.5)]
        operand = self.argument([value.dims[i] for i in used])
        self.value = self.merge(self.generic(value.dims, [(value, axes, axes), (operand, used, used)], [
            f"%r = arith.mulf %x0, %x1 : {self.kind}", f"linalg.yield %r : {self.kind}"], lambda a, b: a * b), rank)

    def digit_window(self, value, rank):
        """Some indices of one digit of the columns: which dimension, and its offset, size and step."""
        i = self.rng.randrange(rank - 1, len(value.dims))
        size = value.sizes[i]
        count = self.rng.choice([1, 1, self.rng.randint(1, max(size - 1, 1))])
        return i, (self.rng.randint(0, size - count), Dim(count), 1)

    def take_digit(self):
        """Goes on with some indices of one digit of the columns, or with one."""
        rank = len(self.value.dims)
        if rank > 4 or self.value.sizes[-1] < 8:
            return
        value = self.split(self.value, self.rng.choice([2, 3, 3]))
        i, window = self.digit_window(value, rank)
        if len(value.dims) > rank:
            self.value = self.merge(self.extract(value, {i: window}, self.rng.random() < 0.6), rank)

    def replace_digit(self):
        """Replaces some indices of one digit of the columns by the norm of as many, these or others, by a product or by what is
        left to 1."""
        rank = len(self.value.dims)
        if rank > 4:
            return
        value = self.split(self.value, self.rng.choice([2, 2, 3]))
        i, window = self.digit_window(value, rank)
        part = self.extract(value, {i: window})
        axes = list(range(len(part.dims)))
        form = self.rng.choice(["norm", "norm", "product", "product", "rest"])
        if form == "norm":
            part = self.norm(part)
        elif form == "product":
            used = [axis for axis in axes if self.rng.random() < 0.5]
            operand = self.argument([part.dims[axis] for axis in used])
            part = self.generic(part.dims, [(part, axes, axes), (operand, used, used)], [
                f"%r = arith.mulf %x0, %x1 : {self.kind}", f"linalg.yield %r : {self.kind}"], lambda a, b: a * b)
        else:
            part = self.generic(part.dims, [(part, axes, axes)], [
                f"%one = arith.constant 1.0 : {self.kind}", f"%r = arith.subf %one, %x0 : {self.kind}",
                f"linalg.yield %r : {self.kind}"], lambda a: 1 - a)
        if self.rng.random() < 0.3:
            window = (self.rng.randint(0, value.sizes[i] - window[1].size), *window[1:])
        self.value = self.merge(self.insert(part, value, {i: window}), rank)

    def keep(self):
        """Returns the tensor as it is, whatever becomes of it."""
        if self.value.normed and self.value not in self.results and self.value.home is None:
            self.results.append(self.value)

    def write_over(self):
        """Puts the tensor in the place of an argument that is read, too, perhaps in another order."""
        taken = {result.home for result in self.results}
        able = [a for a in self.arguments if a.type == self.value.type and a.dims == self.value.dims and a.home not in taken]
        if not able or self.rng.random() < 0.5:
            return
        into, axes = self.rng.choice(able), list(range(len(self.value.dims)))
        copy = self.generic(self.value.dims, [(self.value, axes, axes)], [f"linalg.yield %x0 : {self.kind}"], lambda a: a, into)
        copy.normed, copy.home = self.value.normed, into.home
        self.value = copy

    def finish(self):
        """Returns the tensor, perhaps as a part of an argument."""
        if self.results and self.rng.random() < 0.3 and not self.mutated:
            return
        if not self.value.normed:
            self.norm()
        last = len(self.value.dims) - 1
        able = [i for i, dim in enumerate(self.value.dims) if not dim.name]
        if self.value.home is None and self.rng.random() < 0.25:
            i = self.rng.choice(able + [last])
            dim = self.value.dims[i]
            into = self.argument(self.value.dims[:i] + [Dim(2 * dim.size)] + self.value.dims[i + 1:])
            self.value = self.insert(self.value, into, {i: self.rng.choice([(0, dim, 1), (dim.size, dim, 1), (1, dim, 2)])})
        elif self.value.home is None:
            self.write_over()
        if self.value not in self.results:
            self.results.insert(self.rng.randint(0, len(self.results)), self.value)
