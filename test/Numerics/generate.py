# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates the entries that check.py compiles, runs and compares.

A case is a dict with one value for each dimension below. Not the product of
them all: cases are added until every two values of two dimensions that go
together have met in one.

    generate.py [MODULE]    prints the modules and their sizes, or one's IR
"""

import itertools
import random
import sys

# Above 2^16, and so that the widest block reads an odd number of whole vectors a
# thread in its loop before the rest.
WIDE = 9 * 1024 * 8
MODES = ["selected", "multi_wave_cached", "multi_wave_reload", "static_persistent"]
DIMENSIONS = {
    "mode": MODES,
    "chip": ["sm_90", "gfx942"],
    "n": [1, 2, 3, 7, 128, 760, 1004, 1128, 2880, 4097, 8192, WIDE + 5, "?"],
    "kind": ["plain", "residual_both", "residual_inplace", "two_norms", "gate", "statistics", "amax", "row_scale", "row_values"],
    "x": ["bf16", "f16", "f32"],
    "y": ["bf16", "f16", "f32"],
    "weight": ["none", "bf16", "f16", "f32"],
    "casting": ["gemma", "llama", "none"],
    "offset": [0, 1],
    "rstd": [False, True],
    # Whether the weight is declared rmsnorm.constant.
    "constant": [False, True],
    # Leading dimensions; ? are run-time sizes.
    "rows": [(), ("?",), (1, "?"), ("?", 2, "?"), (1, 1)],
    "output": ["argument", "empty", "in place"],
}
# What check.py records of a case.
RECORDED = ["kind", "x", "y", "weight", "casting", "offset", "rstd", "constant", "rows", "output"]
# Fields of the schedule that the forward has no use for.
WITHOUT = ["column_sums", "sums", "sum_lanes", "sum_walkers", "sum_in_flight"]
# Where per-column operands and constants are loaded, and what is unrolled: in
# registers, read again, in workgroup memory, ahead, ahead in a cluster.
PLACES = [
    ("cache=registers,", ["", "column_operands=use,unrolled=1", "column_operands=block,constants=block,blocks_per_sm=1",
                          "column_operands=tile,constants=as_columns,blocks_per_sm=2,sm_margin=1"]),
    ("cache=reload,vectors_in_flight=1,", ["column_operands=use,unrolled=0", "column_operands=use,unrolled=64"]),
    ("cache=shared,", ["column_operands=use,unrolled=1", "column_operands=tile,unrolled=0"]),
    ("cache=shared,blocks_per_sm=1,stages=2,", ["column_operands=use", "column_operands=tile,unrolled=2",
                                                "column_operands=block,constants=as_columns"]),
]
# Refused where rows are summed over.
HELD_PLACES = [("cache=reload,", ["column_operands=tile,unrolled=64", "vectors_in_flight=1,column_operands=tile"])]
CLUSTER_PLACES = ["split=true", "split=false", "split=false,column_operands=tile"]
# Orders, layouts and row counts are met by running each module several times.
LAYOUTS = {"dense": [], "strided": ["--strided"], "unaligned": ["--unaligned"],
           "both": ["--strided", "--unaligned"]}
ORDERS = ["forward", "reverse", "shuffled"]


def possible(case):
    """Whether the values that are already chosen go together."""
    get = case.get
    if get("mode") == "multi_wave_cached" and get("n") in ("?", WIDE + 5):
        return False  # refused: they do not fit
    if get("output") == "in place" and get("x", 1) != get("y", get("x", 1)):
        return False
    if get("output") == "in place" and get("kind", "plain") != "plain":
        return False
    # The sizes of all entries of a module are given by one --dim=s1=N.
    if get("n") == "?" and get("rows") in ((), ("?", 2, "?"), (1, 1)):
        return False
    # Without a weight there is nothing to offset, and two norms are one.
    if get("weight") == "none" and (get("offset") or get("constant") or get("kind") in ("two_norms", "row_values")):
        return False
    if get("kind") == "row_values" and not get("rstd", True):
        return False  # has nothing else of the norm
    if get("rstd") and get("kind") == "statistics":
        return False  # has it anyway
    return True


def cover(dimensions, cases, possible=possible, seed=1):
    """Adds cases until all possible pairs of values occur."""
    rng = random.Random(seed)
    names = list(dimensions)
    missing = set()
    for a, b in itertools.combinations(names, 2):
        for u, v in itertools.product(dimensions[a], dimensions[b]):
            if possible({a: u, b: v}):
                missing.add((a, u, b, v))
    for c, (m, k) in itertools.product(cases, itertools.combinations(names, 2)):
        missing.discard((m, c[m], k, c[k]))
    while missing:
        best, best_count = None, 0
        # A set has another order in each process.
        candidates = sorted(missing, key=str)
        for _ in range(60):
            a, u, b, v = rng.choice(candidates)
            case = {a: u, b: v}
            for name in rng.sample(names, len(names)):
                if name in case:
                    continue
                values = [w for w in dimensions[name] if possible({**case, name: w})]
                if not values:
                    case = None
                    break
                scores = [sum(((m, case[m], name, w) in missing) or ((name, w, m, case[m]) in missing) for m in case)
                          + rng.random() for w in values]
                case[name] = values[scores.index(max(scores))]
            if case is None:
                continue
            count = sum((m, case[m], k, case[k]) in missing for m, k in itertools.combinations(names, 2))
            if count > best_count:
                best, best_count = case, count
        if not best:
            raise SystemExit(f"no case covers {candidates[:3]}")
        for m, k in itertools.combinations(names, 2):
            missing.discard((m, best[m], k, best[k]))
        cases.append({name: best[name] for name in names})
    return cases


# The IR of a case.


class Function:
    """Builds one entry."""

    def __init__(self, case, name):
        self.case, self.name = case, name
        self.shape = list(case["rows"]) + [case["n"]]
        self.arguments, self.body, self.results = [], [], []
        self.sizes = None
        self.count = 0

    def type(self, element, rank_delta=0):
        shape = self.shape[:-1] if rank_delta else self.shape
        return "tensor<" + "".join(f"{d}x" for d in shape) + element + ">"

    def argument(self, name, type):
        self.arguments.append(f"%{name}: {type}")
        return f"%{name}"

    def line(self, text):
        self.body.append("  " + text)

    def value(self, text):
        self.count += 1
        self.line(f"%v{self.count} = {text}")
        return f"%v{self.count}"

    def values(self, text, types):
        """The results, of the types, of an op that is written so far."""
        self.count += 1
        results = f":{len(types)}" if len(types) > 1 else ""
        self.line(f"%v{self.count}{results} = {text} -> {', '.join(types)}")
        return [f"%v{self.count}#{i}" for i in range(len(types))] if results else [f"%v{self.count}"]

    def empty(self, element, rank_delta=0):
        if self.sizes is None:
            self.sizes = []
            for d, size in enumerate(self.shape):
                if size == "?":
                    index = self.value(f"arith.constant {d} : index")
                    self.sizes.append(self.value(f"tensor.dim %x, {index} : {self.type(self.case['x'])}"))
                else:
                    self.sizes.append(None)
        sizes = self.sizes[:-1] if rank_delta else self.sizes
        return self.value(f"tensor.empty({', '.join(s for s in sizes if s)}) : {self.type(element, rank_delta)}")

    def destination(self, name, element, rank_delta=0):
        if self.case["output"] == "empty":
            return self.empty(element, rank_delta)
        return self.argument(name, self.type(element, rank_delta))

    def vector(self, name, type):
        """A destination of rank 1."""
        if self.case["output"] != "empty":
            return self.argument(name, type)
        if self.case["n"] != "?":
            return self.value(f"tensor.empty() : {type}")
        self.empty("f32")  # computes the sizes
        return self.value(f"tensor.empty({self.sizes[-1]}) : {type}")

    def weight(self, name="weight"):
        element = self.case["weight"]
        if element == "none":
            return ""
        type = f"tensor<{self.case['n']}x{element}>"
        argument = self.argument(name, type + (" {rmsnorm.constant}" if self.case["constant"] else ""))
        return f" weight({argument} : {type})"

    def forward(self, x, element, output, output_element, weight, rstd=None, offset=None):
        case = self.case
        offset = case["offset"] if offset is None else offset
        y = self.type(output_element)
        text = f"rmsnorm.forward input({x} : {self.type(element)}){weight} output({output} : {y})"
        types = [y]
        if rstd:
            types.append(self.type("f32", 1))
            text += f" rstd({rstd} : {types[1]})"
        text += " eps = 1.0e-05"
        if offset:
            text += f" offset = {float(offset)}"
        if case["casting"] != "gemma":
            text += f" casting = {case['casting']}"
        return (*self.values(text, types), None)[:2]

    def generic(self, operands, output, body, yields, reduction=False):
        """operands: (value, element, 1 per row, -1 per column, else 0); output: the
        same. The body's arguments are %a0, %a1, ...."""
        rank = len(self.shape)
        dims = [f"d{i}" for i in range(rank)]
        used = {0: dims, 1: dims[:-1], -1: dims[-1:]}
        maps = [f"affine_map<({', '.join(dims)}) -> ({', '.join(used[p])})>" for _, _, p in operands + [output]]
        kinds = ["parallel"] * (rank - 1) + ["reduction" if reduction else "parallel"]
        ins = ", ".join(o[0] for o in operands)
        types = ", ".join(self.type(o[1], o[2]) if o[2] >= 0 else f"tensor<{self.shape[-1]}x{o[1]}>" for o in operands)
        block = ", ".join(f"%a{i}: {o[1]}" for i, o in enumerate(operands + [output]))
        iterators = ", ".join(f'"{k}"' for k in kinds)
        out = self.type(output[1], output[2])
        result = self.value(f"linalg.generic {{indexing_maps = [{', '.join(maps)}], iterator_types = [{iterators}]}}"
                            f" ins({ins} : {types}) outs({output[0]} : {out}) {{")
        self.line(f"^bb0({block}):")
        for text in body:
            self.line("  " + text)
        self.line(f"  linalg.yield {yields} : {output[1]}")
        self.line(f"}} -> {out}")
        return result

    def reduce(self, operands, body, combine, identity, name):
        """A reduction along the row; `body` leaves the contribution in %c."""
        start = self.value(f"arith.constant {identity} : f32")
        init = self.destination(name, "f32", 1)
        filled = self.value(f"linalg.fill ins({start} : f32) outs({init} : {self.type('f32', 1)}) -> {self.type('f32', 1)}")
        return self.generic(operands, (filled, "f32", 1), body + [f"%r = arith.{combine} %a{len(operands)}, %c : f32"],
                            "%r", reduction=True)

    def result(self, value, element, rank_delta=0):
        self.results.append((value, self.type(element, rank_delta)))

    def text(self):
        types = ", ".join(t for _, t in self.results)
        return "\n".join([f"func.func @{self.name}({', '.join(self.arguments)}) -> ({types}) {{", *self.body,
                          f"  return {', '.join(v for v, _ in self.results)} : {types}", "}", ""])


def widen(value, element):
    """Lines that extend `value` to f32, and what it is called then."""
    if element == "f32":
        return [], value
    return [f"%wide = arith.extf {value} : {element} to f32"], "%wide"


def narrow(value, element):
    """Lines that round `value` to `element`, and what it is called then."""
    if element == "f32":
        return [], value
    return [f"%narrow = arith.truncf {value} : f32 to {element}"], "%narrow"


def emit(case, name):
    f = Function(case, name)
    x, y, kind = case["x"], case["y"], case["kind"]
    f.argument("x", f.type(x))

    def add(output):
        other = f.argument("residual", f.type(x))
        if output is None:
            output = other
        types = f"{f.type(x)}, {f.type(x)}"
        return f.value(f"linalg.add ins(%x, {other} : {types}) outs({output} : {f.type(x)}) -> {f.type(x)}")

    source, element = "%x", x
    if kind == "residual_both":
        h = add(f.destination("sum", x))
        source = h
    elif kind == "residual_inplace":
        source = h = add(None)
    elif kind == "row_scale":
        scale = f.argument("scale", f.type("f32", 1))
        extend, wide = widen("%a0", x)
        end, result = narrow("%p", x)
        scaled = f.empty(x)
        source = f.generic([("%x", x, 0), (scale, "f32", 1)], (scaled, x, 0),
                           extend + [f"%p = arith.mulf {wide}, %a1 : f32"] + end, result)

    weight = f.weight()
    if kind == "row_values":
        # Nothing with columns is written: the norm without its output, and the
        # largest product with the weight.
        _, r = f.forward("%x", x, f.empty(y), y, weight, f.destination("rstd", "f32", 1))
        extend, wide = widen("%a0", x)
        other, scale = widen("%a1", case["weight"])
        other = [line.replace("%wide", "%scale") for line in other]
        f.result(r, "f32", 1)
        f.result(f.reduce([("%x", x, 0), ("%weight", case["weight"], -1)],
                          extend + other + [f"%p = arith.mulf {wide}, {scale.replace('%wide', '%scale')} : f32",
                                            "%c = math.absf %p : f32"], "maxnumf" if x == "f16" else "maximumf", "0.0", "largest"), "f32", 1)
        return f.text()
    inner = "f32" if kind in ("gate", "amax") else y
    if case["output"] == "in place":
        output = "%x"
    elif kind in ("gate", "amax"):
        output = f.empty(inner)
    elif kind == "residual_inplace" and x == y:
        output = "%x"
    else:
        output = f.destination("y", y)
    rstd = f.destination("rstd", "f32", 1) if case["rstd"] or kind == "statistics" else None
    norm, r = f.forward(source, element, output, inner, weight, rstd)

    if kind == "gate":
        z = f.argument("z", f.type(x))
        extend, wide = widen("%a1", x)
        end, result = narrow("%q", y)
        one = f.value("arith.constant 1.0 : f32")
        norm = f.generic([(norm, "f32", 0), (z, x, 0)], (f.destination("gated", y), y, 0),
                         extend + [f"%n = arith.negf {wide} : f32", "%e = math.exp %n : f32",
                                   f"%d = arith.addf %e, {one} : f32", f"%s = arith.divf {wide}, %d : f32",
                                   "%q = arith.mulf %a0, %s : f32"] + end, result)
    elif kind == "amax":
        least = f.value("arith.constant 1.0e-30 : f32")
        top = f.value("arith.constant 448.0 : f32")
        amax = f.reduce([(norm, "f32", 0)], ["%c = math.absf %a0 : f32"], "maximumf", "0.0", "amax")
        end, result = narrow("%q", y)
        norm = f.generic([(norm, "f32", 0), (amax, "f32", 1)], (f.destination("quantised", y), y, 0),
                         [f"%m = arith.maximumf %a1, {least} : f32", f"%s = arith.divf {top}, %m : f32",
                          "%q = arith.mulf %a0, %s : f32"] + end, result)
        f.result(amax, "f32", 1)
    elif kind == "statistics":
        # Each has a contribution of padding that is not its identity.
        extend, wide = widen("%a0", x)
        zero = f.value("arith.constant 0.0 : f32")
        one = f.value("arith.constant 1.0 : f32")
        two = f.value("arith.constant 2.0 : f32")
        minus = f.value("arith.constant -1.0 : f32")
        operands = [("%x", x, 0)]
        f.result(f.reduce(operands, extend + [f"%c = math.absf {wide} : f32"],
                          "minnumf" if x == "f16" else "minimumf", "0x7F800000", "least"), "f32", 1)
        f.result(f.reduce(operands, extend + [f"%b = math.absf {wide} : f32", "%c = arith.negf %b : f32"],
                          "maximumf", "0xFF800000", "minus_least"), "f32", 1)
        f.result(f.reduce(operands, extend + [f"%p = arith.cmpf ogt, {wide}, {zero} : f32",
                                              f"%c = arith.select %p, {one}, {minus} : f32"],
                          "mulf", "1.0", "sign"), "f32", 1)
        # Small integers, whose sum is exact: the oracle adds what a user adds in
        # f32 in f32, one after another, which is further off than the kernel.
        f.result(f.reduce(operands, extend + [f"%p = arith.cmpf ogt, {wide}, {zero} : f32",
                                              f"%c = arith.select %p, {two}, {one} : f32"],
                          "addf", "0.0", "count"), "f32", 1)
    elif kind == "two_norms":
        second = f.weight("second_weight")
        other, _ = f.forward(source, x, f.destination("other", y), y, second, None, 1 - case["offset"])
        f.result(other, y)
    if kind in ("residual_both", "residual_inplace"):
        f.result(h, x)
    f.result(norm, y)
    if r:
        f.result(r, "f32", 1)
    return f.text()


class Module:
    """Cases that are compiled together for `chips` and run in all `runs`."""

    def __init__(self, name, cases, chips, runs, schedule="", suite=sys.modules[__name__], same_bits=None,
                 options=()):
        self.name, self.cases, self.chips, self.runs, self.schedule = name, cases, chips, runs, schedule
        self.suite = suite
        # Modules with the same value here give the same bits.
        self.same_bits = same_bits
        self.options = options  # of norm-compile

    def text(self):
        return "\n".join(self.suite.emit(case, f"e{i}") for i, case in enumerate(self.cases))


def describe(case):
    rows = "x".join(str(d) for d in (*case["rows"], case["n"]))
    return (f"{case['kind']} {rows} {case['x']}->{case['y']} weight={case['weight']} casting={case['casting']} "
            f"offset={case['offset']} rstd={int(case['rstd'])} output={case['output']} constant={int(case['constant'])}")


def runs(row_counts, *dims, orders=1):
    """The row counts with layouts in turn: the last, which shows most, in every order, those before in `orders` of them."""
    result = []
    layouts = list(LAYOUTS)
    for i, rows in enumerate(row_counts):
        # M = 0 has no element to order.
        count = len(ORDERS) if rows == row_counts[-1] else orders if rows else 1
        # In one order, with a layout that it does not meet below.
        order, layout = (i + 1, i + 2) if count == 1 else (i, i)
        for j in range(count):
            for dim in dims or [None]:
                result.append({"rows": rows, "order": ORDERS[(order + j) % 3], "layout": layouts[(layout + j) % 4], "dim": dim})
    return result


def case(**values):
    base = {"mode": "selected", "chip": "sm_90", "n": 128, "kind": "plain", "x": "bf16", "y": "bf16", "weight": "bf16",
            "casting": "gemma", "offset": 0, "rstd": False, "constant": False, "rows": ("?",), "output": "argument"}
    assert set(values) <= set(base)
    return {**base, **values}


def corners():
    """Each mode and subgroup size with each way to share out a row: one thread,
    a vector that no row fills, a part of a subgroup, one, a power of two and
    another number of them. The other values are dealt out in turn."""
    i = 0
    for mode, chip in itertools.product(MODES, DIMENSIONS["chip"]):
        for n in (1, 3, 128, 760 if chip == "sm_90" else 1128, 2880, 8192):
            yield case(mode=mode, chip=chip, n=n, rstd=i % 2 == 0, offset=i // 2 % 2,
                       casting=DIMENSIONS["casting"][i % 3], weight=DIMENSIONS["weight"][1 + i % 3],
                       x=("bf16", "f16", "f32", "bf16")[(i // 3 + i // 12) % 4], y=DIMENSIONS["y"][(i + i // 12) % 3],
                       output=DIMENSIONS["output"][i % 2], rows=DIMENSIONS["rows"][1 + i % 3])
            i += 1


def pairwise_modules():
    groups = {}
    for c in cover(DIMENSIONS, list(corners())):
        n = c["n"]
        width = "dynamic" if n == "?" else "narrow" if n < 1000 else "middle" if n < 5000 else "wide"
        groups.setdefault((c["mode"], c["chip"], width), []).append(c)
    plans = {"narrow": runs([0, 1, 7, 301]), "middle": runs([0, 1, 7, 35]), "wide": runs([0, 1, 3]),
             "dynamic": runs([0, 1, 7]) + [
                 {"rows": rows, "order": ORDERS[i % 3], "layout": list(LAYOUTS)[i % 4], "dim": n}
                 for i, (n, rows) in enumerate([(1, 301), (2, 7), (3, 7), (7, 301), (128, 301), (128, 301), (760, 35),
                                                (1128, 7), (2880, 7), (4097, 7), (8192, 3), (WIDE + 5, 2), (1002, 7)])]}
    for (mode, chip, width), cases in sorted(groups.items()):
        yield Module(f"{mode}_{chip}_{width}", cases, [chip], plans[width], "" if mode == "selected" else mode)


def liger_modules(long):
    """Liger-Kernel #1153's shapes, on fewer rows: its 2x2048 rows differ in
    nothing but their number."""
    choices = {"casting": DIMENSIONS["casting"], "offset": [0, 1], "output": ["argument", "in place"], "weight": ["bf16", "none"]}
    for n in (4096, 8192, 16384, 32768):
        cases = [case(n=n, rows=(2, "?"), **values) for values in combinations(choices, long)]
        chip = {4096: "gfx942", 16384: "gfx942"}.get(n, "sm_90")
        yield Module(f"liger_{n}", cases, [chip], [
            {"rows": 4, "order": "shuffled", "layout": "dense", "dim": None},
            {"rows": 2, "order": "forward", "layout": "unaligned", "dim": None}],
            options=["--batch-invariant"])  # the schedule for many rows


def combinations(dimensions, long):
    """Dicts of all values that go together, or so many that every two of them have met."""
    if not long:
        return cover(dimensions, [])
    products = (dict(zip(dimensions, values)) for values in itertools.product(*dimensions.values()))
    return [values for values in products if possible(values)]


# The product that must be complete in the long suite: every mode, chip (and so subgroup size), casting, weight or none, rstd or none with the
# types of x, y and weight that norms are used with, by the tail of a row and the elements of an access, which N decides.
PRODUCT_TYPES = [("bf16", "bf16", "bf16"), ("bf16", "bf16", "f32"), ("f16", "f16", "f16"), ("f32", "f32", "f32"),
                 ("bf16", "f32", "bf16"), ("bf16", "bf16", "none"), ("f16", "f16", "none"), ("f32", "f32", "none")]
PRODUCT_SIZES = [2048, 2056, 2052, 2050, 2049]


def product_modules(long):
    # One schedule for any number of rows: how many vectors are in flight else depends on it.
    schedules = {"multi_wave_cached": "multi_wave_cached,vectors_in_flight=2",
                 "multi_wave_reload": "multi_wave_reload,vectors_in_flight=8",
                 "static_persistent": "static_persistent,cache=registers,vectors_in_flight=2"}
    choices = {"n": PRODUCT_SIZES, "types": PRODUCT_TYPES, "casting": DIMENSIONS["casting"], "rstd": [False, True]}
    everything = combinations(choices, long)
    for mode, n in itertools.product(MODES[1:], PRODUCT_SIZES):
        cases = [case(mode=mode, n=n, x=x, y=y, weight=weight, casting=values["casting"], rstd=values["rstd"])
                 for values in everything if values["n"] == n for x, y, weight in [values["types"]]]
        # One oracle for both chips.
        yield Module(f"product_{mode}_{n}", cases, DIMENSIONS["chip"], [
            {"rows": 3, "order": "shuffled", "layout": "dense", "dim": None},
            {"rows": 3, "order": "reverse", "layout": "unaligned", "dim": None}], schedules[mode],
            options=["--batch-invariant"])


def partial_modules():
    """Vectors of which a part exists, or that no row fills: the selector has none where N is known, a schedule may."""
    sizes = (1004, 1002, 1001, 5)
    for i, (mode, chip) in enumerate(itertools.product(MODES[1:], DIMENSIONS["chip"])):
        cases = [case(mode=mode, chip=chip, n=sizes[k % 4], x=x, y=y, weight=weight, casting=DIMENSIONS["casting"][(k + k // 4 + i) % 3],
                      rstd=k % 2 == 0, offset=int(weight != "none"), kind=("plain", "statistics")[k == 3])
                 for k, (x, y, weight) in enumerate(PRODUCT_TYPES)]
        yield Module(f"partial_{mode}_{chip}", cases, [chip], [
            {"rows": 3, "order": "shuffled", "layout": "dense", "dim": None},
            {"rows": 35, "order": "reverse", "layout": "unaligned", "dim": None}], f"{mode},vector_width=8")


def override_modules():
    """Schedules the selector does not choose, field by field."""
    cases = [case(n=n, x=x, y=y, weight=w, kind=kind, rstd=rstd)
             for n, x, y, w, kind, rstd in ((1128, "bf16", "f32", "f32", "plain", True),
                                            (760, "f16", "f16", "bf16", "residual_both", False),
                                            (1001, "f32", "bf16", "none", "statistics", False))]
    plan = runs([7, 35])
    for i, schedule in enumerate([
            "threads_per_row=64,row_groups=2,rows_per_group=3", "threads_per_row=64,row_groups=3,static_persistent",
            "threads_per_row=16,row_groups=4,multi_wave_reload", "vectors_in_flight=3,cache=reload,threads_per_row=8,row_groups=16",
            "vector_width=1,threads_per_row=128", "vector_width=16,threads_per_row=64,rows_per_group=4,blocks_per_sm=2",
            "threads_per_row=192,cache=registers,row_groups=2,blocks_per_sm=3",
            "row_groups=1,rows_per_group=2,threads_per_row=64", "row_groups=1,rows_per_group=3,threads_per_row=64"]):
        chip = "sm_90" if i % 2 == 0 else "gfx942"
        yield Module(f"override_{i}", cases, [chip], plan, schedule)
    # Vectors that a call's N does not fill.
    for chip, mode in (("sm_90", "multi_wave_reload"), ("gfx942", "static_persistent,cache=reload")):
        yield Module(f"override_dynamic_{chip}", [case(n="?"), case(n="?", x="f32", y="f16", kind="residual_both", casting="llama")], [chip],
                     [{"rows": 3, "order": "shuffled", "layout": layout, "dim": n} for layout, n in
                      (("dense", 5), ("unaligned", 1001), ("strided", 1012))],
                     f"{mode},vector_width=8")


def cluster_modules():
    """Rows that the blocks of a cluster share: forced on narrow ones, in each cache and mode, for every kind and casting;
    chosen by the selector for wide ones."""
    kinds, types = DIMENSIONS["kind"], DIMENSIONS["x"]
    schedules = {"cluster=2,threads_per_row=64,multi_wave_reload,vector_width=8": "sm_90",
                 "cluster=2,threads_per_row=64,vectors_in_flight=1,static_persistent": "sim64",
                 "cluster=4,threads_per_row=96,multi_wave_cached,vector_width=8": "sm_90",
                 "cluster=8,threads_per_row=32,blocks_per_sm=6,cache=registers,vector_width=8": "sm_90",
                 "cluster=16,threads_per_row=32,multi_wave_reload,vector_width=8": "sm_90"}
    for i, (schedule, chip) in enumerate(schedules.items()):
        # 4096: equal parts. 4099: the last part is smaller. 520: some ranks have nothing.
        cases = [case(n=(4096, 4099, 520)[(i + k) % 3], kind=kind, x=types[k % 3], y=types[(k + i // 2) % 3],
                      weight=types[(k + 1) % 3], casting=DIMENSIONS["casting"][(k + i) % 3], offset=k % 2,
                      rstd=k % 3 == 0 and kind != "statistics",
                      rows=[("?",), ("?", 2, "?"), (1, "?")][k % 3] if k else ())
                 for k, kind in enumerate(kinds)]
        yield Module(f"cluster_{i}", cases, [chip], runs([0, 1, 7], orders=3), schedule)
    wide = [case(n=131072, rstd=True), case(n=131072 + 5, x="f16", y="f16", kind="amax"),
            case(n=262144, casting="llama", weight="f32"), case(n=262144, x="f32", y="f32", weight="none", output="in place")]
    yield Module("cluster_selected", wide, ["sm_90"], runs([0, 2]))
    # As many rows have it: 2 rows are few.
    yield Module("cluster_wide", wide[:3], ["sm_90"], [
        {"rows": 2, "order": "shuffled", "layout": "dense", "dim": None}], "multi_wave_reload")


def is_chosen(plan, schedule, chip):
    """Whether the short suite has a ring: each plan and each chip with each schedule, and the first, which gives the bits, always."""
    return schedule == 0 or (schedule + len(plan) + (chip == "gfx942")) % 2 == 0


def ring_modules(long):
    """Where rows are kept, and how far ahead they are copied, must not show in
    the bits: the reduction tree is that of the threads of a row."""
    plans = [
        # Several subgroups a row. Whole vectors and a part of one are left over.
        ("wide", {"sm_90": 64, "gfx942": 128},
         [case(n=1128, rstd=True, casting="llama", weight="f32"), case(n=1128, kind="residual_inplace", x="f16", y="f16"),
          case(n=1128, kind="amax", x="f32", y="f32", rows=("?", 2, "?")), case(n=1128, kind="gate", y="f32", weight="none"),
          case(n=1128, kind="two_norms", offset=1, rows=(1, "?")), case(n=1128, kind="row_values", x="f32", rstd=True)]),
        ("odd", {"sm_90": 192, "gfx942": 192},
         [case(n=4097, casting="none", y="f32", rstd=True), case(n=4097, kind="row_scale", output="empty"),
          case(n=4097, output="in place", x="f16", y="f16")]),
        # A subgroup or less a row.
        ("narrow", {"sm_90": 32, "gfx942": 64}, [case(n=760, rstd=True), case(n=760, kind="statistics", x="f32")]),
        ("part", {"sm_90": 16, "gfx942": 16}, [case(n=128, rstd=True, offset=1), case(n=128, kind="residual_both", x="f32", y="f16")]),
    ]
    schedules = ["cache=registers", "cache=shared", "cache=shared,blocks_per_sm=1",
                 "cache=shared,blocks_per_sm=1,stages=2", "cache=shared,blocks_per_sm=2,stages=3",
                 "cache=shared,blocks_per_sm=1,stages=4,vectors_in_flight=1", "cache=shared,blocks_per_sm=1,stages=5"]
    groups = {"wide": (1, 2), "odd": (1, 1), "narrow": (2, 4), "part": (4, 8)}
    for (name, threads, cases), (i, schedule), chip in itertools.product(plans, enumerate(schedules), DIMENSIONS["chip"]):
        if not long and not is_chosen(name, i, chip):
            continue
        # gfx942 has 64 KiB.
        small = chip == "gfx942" and i > 2
        rows = (f"row_groups={groups[name][i % 2 if i < 4 or not small else 0]},"
                f"rows_per_group={1 if small else (1, 2, 3)[i % 3]}")
        yield Module(f"ring_{name}_{i}_{chip}", cases, [chip], runs([0, 1, 7, 35]),
                     f"vector_width=8,cluster=1,threads_per_row={threads[chip]},{rows},{schedule}", same_bits=f"ring_{name}_{chip}")
    # Two blocks a row: split phase from three stages on, but of two norms.
    for i, schedule in enumerate(["cache=registers,blocks_per_sm=1", "cache=shared,blocks_per_sm=1,stages=2",
                                  "cache=shared,blocks_per_sm=1,stages=3",
                                  "cache=shared,blocks_per_sm=2,stages=4,vectors_in_flight=1"]):
        yield Module(f"ring_cluster_{i}", plans[0][2], ["sm_90"], runs([0, 1, 7, 35]),
                     f"vector_width=8,cluster=2,threads_per_row=64,{schedule}", same_bits="ring_cluster")


def place_modules():
    """Where operands are loaded, and what is unrolled, must not show in the bits either."""
    cases = [case(n=1128, constant=True, rstd=True, casting="llama", weight="f32"),
             case(n=1127, constant=True, kind="two_norms", offset=1, rows=(1, "?")),
             case(n=1128, constant=True, kind="residual_inplace", x="f16", y="f16"), case(n=1128, kind="gate", y="f32")]
    for i, schedule in enumerate(first + rest for first, several in PLACES + HELD_PLACES for rest in several):
        yield Module(f"place_{i}", cases, ["sm_90"], runs([0, 7, 35]),
                     f"vector_width=8,threads_per_row=32,row_groups=2,rows_per_group=1,{schedule}".rstrip(","), same_bits="place")
    for i, schedule in enumerate(CLUSTER_PLACES):
        yield Module(f"place_cluster_{i}", [cases[0], cases[2]], ["sm_90"], runs([0, 7, 35]),
                     f"vector_width=8,cluster=2,threads_per_row=64,cache=shared,blocks_per_sm=1,stages=3,{schedule}",
                     same_bits="place_cluster")


def chip_modules(chips):
    cases = [case(n=1128, weight="f32", rstd=True), case(n=128, casting="llama", rows=("?", 2, "?"))]
    for chip in chips:
        yield Module(f"chip_{chip}", cases, [chip], [
            {"rows": 35, "order": "shuffled", "layout": "dense", "dim": None},
            {"rows": 35, "order": "reverse", "layout": "unaligned", "dim": None}])


def rank_one_dynamic():
    for chip in DIMENSIONS["chip"]:
        yield Module(f"vector_{chip}", [case(n="?", rows=(), casting="none", y="f32"),
                                        case(n="?", rows=(), x="f16", y="f16", weight="none", output="in place")],
                     [chip], [{"rows": 1, "order": o, "layout": l, "dim": n} for o, l, n in
                              (("forward", "dense", 1000), ("reverse", "unaligned", 1000), ("shuffled", "dense", 4097),
                               ("forward", "dense", 1), ("forward", "unaligned", WIDE + 5))])


def column_class_modules(long):
    """Run-time N on both sides of each bound between classes of N: 16 vectors, 32, 64 and so on."""
    wide = [case(n="?"), case(n="?", kind="residual_both", casting="llama", y="f16", weight="f32", offset=1),
            case(n="?", kind="amax", x="f16", y="f16", rows=(1, "?")), case(n="?", casting="none", rstd=True, output="in place")]
    narrow = [case(n="?", x="f32", y="f32", weight="f32"), case(n="?", x="f32", y="f32", weight="none", kind="statistics")]
    for chip in ("sm_90", "gfx942"):
        for name, cases, vector in (("bytes2", wide, 8), ("bytes4", narrow, 4)):
            if not long:
                cases = cases[chip == "gfx942"::2]
            # The last of a class by vectors, aligned and not, and by elements, the first of the next by both. With the
            # first seed the rstd of a row of 8,193 lies between two of bf16, which decides nothing of that row.
            plan = [{"rows": 3, "order": ORDERS[i % 3], "layout": layout, "dim": 16 * 2 ** k * vector + more, "seed": 2}
                    for k in range(9) for i, (more, layout) in enumerate(
                        [(0, "dense"), (0, "unaligned"), (-1, "dense"), (1, "dense"), (vector, "dense"),
                         *([(1, "both"), (2, "dense"), (vector, "unaligned"), (-1, "strided")] if k == 3 else [])])]
            yield Module(f"column_classes_{name}_{chip}", cases, [chip], plan)


def modules(chips=("sm_90", "gfx942"), long=True):
    return [*product_modules(long), *pairwise_modules(), *partial_modules(), *liger_modules(long), *override_modules(), *cluster_modules(),
            *ring_modules(long), *place_modules(), *chip_modules(chips), *rank_one_dynamic(), *column_class_modules(long)]


def coverage(need, enum_values, modes):
    """What must have been launched, beside what check.py asks of every suite."""
    sharing = ["part of a subgroup", "one subgroup", "2^k subgroups", "other number of subgroups"]
    tails = ["one column", "less than a vector", "none", "whole vectors", "part of a vector"]
    dynamic = ["dynamic, " + t for t in ["one column", "less than a vector", "whole vectors", "part of a vector"]]
    mode = ("mode", modes)
    subgroup = ("subgroup", [32, 64])
    need(mode, ("sharing", sharing), subgroup)
    need(mode, ("tail", tails), subgroup)
    need(("mode", ["multi_wave_reload", "static_persistent"]), ("tail", dynamic))
    need(mode, ("variant", ["align16", "element"]), subgroup)
    need(("variant", ["align8", "align4"]), subgroup)
    wide = [t for t in PRODUCT_TYPES if t[0] == "f32"]
    narrow = [t for t in PRODUCT_TYPES if t[0] != "f32"]
    for width, tail, variants, types in ((8, "none", ["align16", "element"], narrow),
                                         (8, "whole vectors", ["align16", "element"], narrow),
                                         (4, "whole vectors", ["align8", "element"], narrow),
                                         (2, "whole vectors", ["align4", "element"], narrow),
                                         (1, "whole vectors", ["element"], narrow),
                                         (4, "none", ["align16", "element"], wide),
                                         (4, "whole vectors", ["align16", "element"], wide),
                                         (2, "whole vectors", ["align8", "element"], wide),
                                         (1, "whole vectors", ["element"], wide)):
        need(mode, subgroup, ("width", [width]), ("tail", [tail]), ("variant", variants), (("x", "y", "weight"), types),
             ("casting", enum_values("Casting")), ("rstd", [False, True]))
    need(mode, subgroup, ("tail", ["part of a vector"]), ("variant", ["align8", "align4", "element"]))
    need(mode, ("tail", ["part of a vector", "less than a vector"]), ("casting", enum_values("Casting")))
    need(("variant", ["narrow"]), ("tail", ["dynamic, one column", "dynamic, whole vectors"]), subgroup)
    need(("column class", ["few", "any"]), ("variant", ["align16", "element", "narrow"]), subgroup)
    # Which bound, and how many columns more.
    for size, bounds in ((32, 8), (64, 8)):
        need(("column edge", [f"{i}+0" for i in range(bounds)]), ("variant", ["element"]), ("subgroup", [size]))
        need(("column edge", [f"{i}+{more}" for i in range(bounds) for more in (0, 8)]), ("variant", ["align16"]), ("subgroup", [size]))
    need(("row class", ["few", "any"]), ("variant", ["align16", "element"]))
    need(mode, ("casting", enum_values("Casting")), ("x", ["f16", "bf16"]))
    need(("casting", enum_values("Casting")), ("offset", [0, 1]), ("weight", ["f16", "bf16", "f32"]))
    need(("cache", enum_values("Cache")), subgroup)
    need(("cache", ["shared"]), ("stages", [0, 2, 3]), subgroup)
    need(("cache", ["shared"]), ("variant", ["align16", "element"]))
    need(mode, ("kind", DIMENSIONS["kind"]))
    need(mode, ("output", DIMENSIONS["output"]))
    need(mode, ("order", ORDERS), ("layout", list(LAYOUTS)))
    need(mode, ("row count", [0, 1, 7, 301]), subgroup)
    need(mode, ("rows", DIMENSIONS["rows"]))
    need(mode, ("rstd", [False, True]), ("sharing", sharing))
    need(mode, ("constant", [False, True]), ("chip", ["sm_90", "gfx942"]))
    need(("x", DIMENSIONS["x"]), ("y", DIMENSIONS["y"]), subgroup)
    need(("chosen", ["by the selector"]), ("mode", ["multi_wave_cached", "multi_wave_reload"]), subgroup)
    need(("rows of a group", [1, 2, 3]), ("row groups", ["one", "several"]))
    need(("row groups", ["several"]), ("sharing", sharing))
    need(("columns", [n for n in DIMENSIONS["n"] if n != "?"] + [4096, 8192, 16384, 32768]))
    cluster = ("cluster", [2, 4, 8, 16])
    need(cluster, ("order", ORDERS), ("row count", [1, 7]))
    need(cluster, ("row count", [0]))
    need(cluster, ("kind", DIMENSIONS["kind"]))
    need(cluster, ("tail", ["whole vectors", "part of a vector"]))
    need(("cluster", [2, 8, 16]), ("tail", ["none"]))
    need(cluster, ("variant", ["align16", "element"]))
    need(("cluster", [2]), subgroup)
    need(("cluster", [2]), ("stages", [2, 3, 4]), ("kind", ["plain", "two_norms"]), ("row count", [0, 1, 35]))
    need(("cluster", [8, 16]), ("chosen", ["by the selector"]), ("order", ORDERS))


def main(modules=modules):
    found = {m.name: m for m in modules()}
    if len(sys.argv) > 1:
        print(found[sys.argv[1]].text())
        return
    for m in found.values():
        print(f"{m.name}: {len(m.cases)} entries, {len(m.runs)} runs")
    print(f"{len(found)} modules, {sum(len(m.cases) for m in found.values())} entries, "
          f"{sum(len(m.cases) * len(m.runs) for m in found.values())} launches")


if __name__ == "__main__":
    main()
