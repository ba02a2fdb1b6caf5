# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The steps of random programs that store rows at run-time indices. See program.py."""

import math

from value import Dim, Value, places, texts


class Scatters:
    """What Program has of them."""

    def index_argument(self, dims, kind, bound):
        """An argument of indices below `bound`, no two the same; where that is not for us to say, such a tensor."""
        index = self.argument(dims, kind)
        index.data = self.rng.sample(range(bound), len(index.data))
        self.slots.append(index)
        if not self.embedded:
            return index
        number = len(self.arguments) - 1
        # Numbered in their order or from the last to the first, among those below the bound.
        backwards, lines = self.rng.random() < 0.5, []
        axes = list(range(len(dims)))
        letters = texts(f"d{i}" for i in axes)
        body = [f"%at{i} = linalg.index {i} : index" for i in axes]
        names = [dim.name or f"%size{number}_{i}" for i, dim in enumerate(dims)]
        lines += [f"{name} = arith.constant {dim.size} : index" for dim, name in zip(dims, names) if not dim.name]
        if backwards:
            lines.append(f"%one{number} = arith.constant 1 : index")
            body += [f"%l{i} = arith.subi {name}, %one{number} : index" for i, name in enumerate(names)]
            body += [f"%k{i} = arith.subi %l{i}, %at{i} : index" for i in axes]
        kept = [f"%{'k' if backwards else 'at'}{i}" for i in axes]
        total = kept[0]
        for i in axes[1:]:
            body += [f"%m{i} = arith.muli {total}, {names[i]} : index", f"%n{i} = arith.addi %m{i}, {kept[i]} : index"]
            total = f"%n{i}"
        if kind != "index":
            body.append(f"%r = arith.index_cast {total} : index to {kind}")
            total = "%r"
        empty = f"%empty{number}"
        kinds = texts(['"parallel"'] * len(dims))
        lines += [f"{empty} = tensor.empty({texts(d.name for d in dims if d.name)}) : {index.type}",
                  f"{index.name} = linalg.generic {{indexing_maps = [affine_map<({letters}) -> ({letters})>], "
                  f"iterator_types = [{kinds}]}} outs({empty} : {index.type}) {{",
                  f"^bb0(%o: {kind}):", *(f"  {line}" for line in body), f"  linalg.yield {total} : {kind}", f"}} -> {index.type}"]
        self.lines += lines
        return index

    def of_indices(self, index, ops, function):
        """Indices that are computed of others: lines that make %r of %a, with KIND for the type, and the constants in them."""
        axes, kind = list(range(len(index.dims))), index.kind
        lines = [f"%c{i} = arith.constant {constant} : {kind}" for i, constant in enumerate(ops[1:])]
        body = lines + [line.replace("KIND", kind).replace("%a", "%x0") for line in ops[0]] + [f"linalg.yield %r : {kind}"]
        return self.generic(index.dims, [(index, axes, axes)], body, function, self.empty(index.dims, kind))

    def free_dim(self, size):
        """A size that an argument brings: name_dims() says where. compare.py makes it 8 at most."""
        self.count += 1
        return Dim(size, f"%ds{self.count}", max(size, 8))

    def name_dims(self, value, free):
        for i, dim in enumerate(value.dims):
            if dim in free:
                self.lines += [f"%i{dim.name[1:]} = arith.constant {i} : index", f"{dim.name} = tensor.dim {value.name}, %i{dim.name[1:]} : {value.type}"]

    def scatter(self):
        """Stores the tensor, a result or the first argument in slots of a cache, which it returns."""
        rng = self.rng
        # compare.py knows of sums that are returned as they are how far off they may be.
        able = [r for r in self.results if r.home is None and r.dims and r.precise == r.kind]
        value, from_results = self.value, self.ended or (bool(able) and rng.random() < 0.4)
        # Numbers and scales of rows and groups are stored as they are, and so are columns of others, or heads of them.
        whole = False
        if from_results:
            if not able:
                return
            value = rng.choice(able)
            whole = value.kind != self.kind or value.dims != self.value.dims
        elif not value.normed or rng.random() < 0.15:
            value = self.arguments[0]
        if len(value.dims) > 4 or len(value.data) > 4096:
            return
        if value in self.results and rng.random() < 0.7:
            self.results.remove(value)
        if value is self.value:
            self.ended |= rng.random() < 0.6
        if len(value.dims) == 1 and not (whole and rng.random() < 0.8):
            value = self.reshape(value, 0, 0, [Dim(1), value.dims[0]])
        if not whole and rng.random() < 0.4:
            rank = len(value.dims)
            value = self.split(value, rng.choice([2, 2, 3]))
            if len(value.dims) > rank and rng.random() < 0.15:
                order = list(range(rank - 1, len(value.dims)))
                rng.shuffle(order)
                value = self.permuted(value, [*range(rank - 1), *order])
        # An index for each column is refused.
        has_columns = (not whole or rng.random() < 0.5) and rng.random() < 0.97
        self.store_in_slots(value, max(min(rng.choice([1, 1, 2]), len(value.dims) - has_columns), 1))

    def store_in_slots(self, value, batch):
        """The same of a tensor: what has one index in its first `batch` dimensions is a slice."""
        rng = self.rng
        slices, window = value.dims[:batch], value.dims[batch:]
        count, most = math.prod(d.size for d in slices), math.prod(d.most for d in slices)
        varies = any(d.name for d in slices)
        kind, extra = rng.choice(["i64", "i64", "i64", "i32", "i32", "i16"]), rng.choice([0, 1, 3, 5])
        form = rng.choice(["slots"] * 5 + ["paged"] * 3 + ["two", "stacked"])
        page = Dim(rng.choice([2, 4, 8, 16]))
        if most * math.prod(d.most for d in window) > 2048:
            form = "slots"
        if form == "stacked":
            page = Dim(max(page.size, 2 * most))
        numbers = 1 if form == "slots" else 2
        places_of = list(range(numbers))
        if rng.random() < 0.5:
            last = len(window) + numbers - (rng.random() < 0.9 and len(window) > 0)
            places_of = sorted(rng.sample(range(max(last, numbers)), numbers))
        # All first indices are distinct, as norm-run makes them, and in compare.py as many as it makes rows.
        bound = most * (2 if form == "stacked" else 1) + extra
        free = []
        if rng.random() < (0.75 if varies else 0.4):
            free.append(self.free_dim(count * (2 if form == "stacked" else 1) + extra))
            self.only_modules |= self.embedded and bound - extra > 8
        else:
            self.own_sizes |= varies
        first = free[0] if free else Dim(bound)
        dims = list(window)
        for place, dim in zip(places_of, [first, page]):
            dims.insert(place, dim)
        self.own_sizes |= varies and form == "stacked"
        if math.prod(dim.size for dim in dims) > 20000:
            return
        dest, back = self.cache(dims, value.kind, free, places_of, most)

        def indices():
            """The operands, and what they are if one slot is another one with --mutate."""
            axes = list(range(batch))
            if form == "stacked":
                index = self.index_argument(slices + [Dim(2)], kind, min(first.size, page.size))
                return [self.extract(index, {batch: (i, Dim(1), 1)}, True) for i in (0, 1)], index
            if form == "two":
                one = self.index_argument(slices, kind, first.size)
                return [one, self.of_indices(one, ([f"%r = arith.remui %a, %c0 : KIND"], page.size), lambda a: a % page.size)], None
            index = self.index_argument(slices, kind, first.size)
            if form == "paged" and not self.embedded:
                # norm-run's and those of hosts are below the number of pages.
                index.data = rng.sample(range(first.size * page.size), len(index.data))
            if extra and count and not skips:
                unused = min(set(range(first.size)) - set(index.data))
                # What is meant, of which those of the argument differ with --mutate.
                first_slot, _ = self.swap(index.data[0], unused)
                index = Value(index.name, index.dims, kind, [first_slot] + index.data[1:])
            source = index
            if skips == "some":
                source = self.of_indices(index, (["%l = arith.cmpi slt, %a, %c0 : KIND", "%r = arith.select %l, %c1, %a : KIND"], 2, -1),
                                         lambda a: -1 if a < 2 else a)
            elif skips:
                self.own_sizes = True
                source = self.of_indices(index, (["%r = arith.subi %a, %c0 : KIND"], 3), lambda a: a - 3)
            if form == "slots":
                return [source], None
            by, rest = rng.choice([("floordivsi", "remsi"), ("divsi", "remsi"), ("shrsi", "andi")] + [("divui", "remui")] * (not skips))
            shift = page.size.bit_length() - 1 if by == "shrsi" else page.size
            quotient = lambda a: int(a / page.size) if by == "divsi" else a // page.size
            block = self.of_indices(source, ([f"%r = arith.{by} %a, %c0 : KIND"], shift), quotient)
            offset = self.of_indices(source, ([f"%r = arith.{rest} %a, %c0 : KIND"], page.size - 1 if rest == "andi" else page.size),
                                     (lambda a: a - page.size * quotient(a)) if rest == "remsi" else lambda a: a % page.size)
            return [block, offset], None

        skips = rng.choice([None, None, None, "some", "some", "three"]) if form in ("slots", "paged") else None
        operands, stacked = indices()
        result = self.scattered(value, dest, operands, places_of, skips, stacked)
        again = rng.random()
        if again < 0.2 and not self.mutating and value.kind == self.kind and len(value.dims) > batch and value.data:
            # Once more into what that is, or into the same argument.
            other = self.norm(value)
            if rng.random() < 0.5:
                operands, stacked = indices()
            if again < 0.14:
                result = self.scattered(other, result, operands, places_of, skips, stacked)
            else:
                second = self.scattered(other, dest, operands, places_of, skips, stacked)
                second.home = None
                self.results.append(second)
        result = back(result)
        self.results.insert(rng.randint(0, len(self.results)), result)

    def cache(self, dims, kind, free, places_of, most):
        """An argument that is a tensor of those dims, or that is one as a view, and what makes it what it was."""
        rng, form = self.rng, self.rng.random()
        n = places_of[0]
        if form < 0.15 and len(places_of) == 1 and not dims[n].name:
            # Pages, one after another: norm-run's indices are below the larger number.
            whole, page = dims[n], Dim(rng.choice([2, 4]))
            pages = Dim(max(-(-whole.size // page.size), most))
            dims[n] = Dim(pages.size * page.size)
            argument = self.argument(dims[:n] + [pages, page] + dims[n + 1:], kind)
            view = self.reshape(argument, n, n + 1, None)
            undo = lambda value: self.reshape(value, n, n, [pages, page])
        elif form < 0.3 and len(places_of) == 2 and places_of[1] == n + 1 and not dims[n].name:
            argument = self.argument(dims[:n] + [Dim(dims[n].size * dims[n + 1].size)] + dims[n + 2:], kind)
            view = self.reshape(argument, n, n, dims[n:n + 2])
            undo = lambda value: self.reshape(value, n, n + 1, None)
        elif form < 0.5 and len(dims) > places_of[-1] + 2 and not any(d.name for d in dims[-2:]):
            argument = self.argument(dims[:-2] + [Dim(dims[-2].size * dims[-1].size)], kind)
            last = len(dims) - 2
            view = self.reshape(argument, last, last, dims[-2:])
            undo = lambda value: self.reshape(value, last, last + 1, None)
        else:
            argument = self.argument(dims, kind)
            self.name_dims(argument, free)
            return argument, lambda value: value
        # The view has these sizes, too.
        line = self.lines.pop()
        self.name_dims(argument, free)
        self.lines.append(line)
        view.home = argument.home

        def back(value):
            result = undo(value) if rng.random() < 0.8 else value
            result.home, result.precise, result.normed = value.home, value.precise, value.normed
            return result

        return view, back

    def scattered(self, value, dest, operands, places_of, skips, stacked):
        """rmsnorm.scatter or tensor.scatter, as a value."""
        batch = len(operands[0].dims)
        window = [i for i in range(len(dest.dims)) if i not in places_of]
        strides = dest.strides()
        result = Value(None, dest.dims, dest.kind, list(dest.data), True, dest.home)
        result.source, result.precise = dest.source, value.precise
        length = math.prod(value.sizes[batch:])
        inner = places([dest.sizes[i] for i in window], [strides[i] for i in window])
        for b, at in enumerate(zip(*(operand.data for operand in operands))):
            if skips and min(at) < 0:
                continue
            assert all(0 <= i < dest.sizes[place] for i, place in zip(at, places_of)), (self.seed, at, dest.sizes)
            start = sum(i * strides[place] for i, place in zip(at, places_of))
            for place, element in zip(inner, value.data[b * length:(b + 1) * length]):
                result.data[start + place] = element
        slices = operands[0].dims
        if skips or self.rng.random() < 0.5 or (len(operands) > 1 and not stacked and not self.embedded):
            result.name = self.new(f"rmsnorm.scatter {value.name} into {dest.name} at({texts(o.name for o in operands)} : "
                                   f"{texts(o.type for o in operands)}) dims {places_of}{' skip_negative' if skips else ''} : {value.type} into {dest.type}")
            return result
        axes = list(range(batch))
        if not stacked and len(operands) == 1:
            stacked = self.reshape(operands[0], batch - 1, batch - 1, [slices[-1], Dim(1)])
        elif not stacked:
            stacked = self.empty(slices + [Dim(2)], operands[0].kind)
            for i, operand in enumerate(operands):
                stacked = self.insert(operand, stacked, {batch: (i, Dim(1), 1)})
        source = value
        if self.rng.random() < 0.5:
            # With dimensions of one element where the indices are.
            dims, groups = list(slices), [[i] for i in axes]
            for i, dim in enumerate(dest.dims):
                if i in places_of:
                    groups[-1].append(len(dims))
                else:
                    groups.append([len(dims)])
                dims.append(Dim(1) if i in places_of else dim)
            source = Value(None, dims, value.kind, value.data)
            source.name = self.new(f"tensor.expand_shape {value.name} {groups} output_shape [{texts(d.text for d in dims)}] : {value.type} into {source.type}")
        result.name = self.new(f"tensor.scatter {source.name} into {dest.name}[{stacked.name}] scatter_dims({places_of}) unique : "
                               f"({source.type}, {dest.type}, {stacked.type}) -> {dest.type}")
        return result
