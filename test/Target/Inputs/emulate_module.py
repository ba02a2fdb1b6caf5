"""Runs the AMD code objects of a compiled module in the emulator (amd_emulate.py), every
entry, target and variant, and compares the outputs with what the module's oracle says,
or that of another module with the same entries.

  emulate_module.py EMULATOR_DIR RUNTIME.so MODULE.rmsn [--oracle=OTHER.rmsn] [--size=s0=7,8 ...]

Which arguments a kernel takes, its grid and its guards are read from what norm-inspect
prints; nothing about the kernels is written down here. A variant runs at sizes, strides
and alignments at which the runtime chooses it: those of --size, if it does so at some of
them, else such as its guards and those of the variants before it tell. Where that takes
more than --elements, it runs at fewer rows, which its own guards allow, and the line says
so. What cannot run is printed as left out, with the reason.

Rows lie in padded, strided buffers; the pads must stay as they are. Each kernel also runs
with fewer blocks than it asks for, so that blocks walk over several tiles, and with its
waves in other orders: same bits each time.
"""
import argparse, itertools, json, os, re, subprocess, sys

import numpy as np

sys.dont_write_bytecode = True  # the source tree stays clean
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../../benchmarks"))
import capi

PRECISION = {"bf16": (8, -126), "f16": (11, -14), "f32": (24, -126), "f8e4m3fn": (4, -6)}
# The numbers of f8e4m3fn from zero on; the code after the last is NaN.
E4M3 = np.array([np.ldexp(m + 8 * (e > 0), max(e, 1) - 10) for e in range(16) for m in range(8)][:-1])


# -- numbers ---------------------------------------------------------------------------


def ulp(values, kind):
    """The spacing of `kind` at each of the values."""
    bits, smallest = PRECISION[kind]
    exponent = np.frexp(values)[1] - 1
    return np.ldexp(1.0, np.maximum(np.where(values == 0, smallest, exponent), smallest) - (bits - 1))


def rounded(values, kind):
    """f64 to the nearest value of `kind`, ties to even, in one rounding."""
    step = ulp(values, kind)
    return np.rint(values / step) * step


def encoded(values, kind):
    if kind == "bf16":
        return (rounded(values, kind).astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    if kind == "i8":
        return np.rint(values).astype(np.int8)
    if kind == "f8e4m3fn":
        code = np.searchsorted(E4M3, np.minimum(np.abs(rounded(values, kind)), E4M3[-1]))
        return (code + 128 * np.signbit(values)).astype(np.uint8)
    return rounded(values, kind).astype({"f16": np.float16, "f32": np.float32}[kind])


def decoded(stored, kind):
    if kind == "bf16":
        return (stored.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    if kind == "f8e4m3fn":
        return np.copysign(np.append(E4M3, np.nan)[stored & 127], 64.0 - (stored >= 128) * 128)
    return stored.astype(np.float64)


# -- what norm-inspect prints ----------------------------------------------------------


def inspect(module, *options):
    return subprocess.run(["norm-inspect", module, *options], capture_output=True, check=True).stdout


class Guard:
    """`least <= expression <= most`, a multiple, or an address's alignment."""

    def __init__(self, text):
        self.text, self.pointer, self.multiple, self.least, self.most = text, None, 1, None, None
        if m := re.fullmatch(r"(\w+) aligned to (\d+)", text):
            self.pointer, self.multiple = m[1], int(m[2])
        elif m := re.fullmatch(r"(.*) a multiple of (\d+)", text):
            self.expression, self.multiple = m[1], int(m[2])
        else:
            m = re.fullmatch(r"(?:(-?\d+) <= )?(.*?)(?: <= (-?\d+))?", text)
            self.expression = m[2]
            self.least, self.most = (int(bound) if bound else None for bound in (m[1], m[3]))

    @property
    def is_range(self):
        return self.least is not None or self.most is not None

    def holds(self, layout):
        if self.pointer:
            return layout.alignment % self.multiple == 0
        value = layout.evaluate(self.expression)
        return (
            value % self.multiple == 0
            and (self.least is None or self.least <= value)
            and (self.most is None or value <= self.most)
        )


class Variant:
    def __init__(self, entry, program, described):
        self.where = f"{entry['name']} {program['target']} {described['name']}"
        self.guards = [Guard(text) for text in described["guards"]]
        self.launches, self.workspace = described["launches"], described["workspace"] or "0"

    def failing(self, layout):
        return next((guard for guard in self.guards if not guard.holds(layout)), None)


# -- sizes, strides, alignments --------------------------------------------------------


class Layout:
    """Shapes and strides of an entry's arguments, and how they are aligned."""

    codes = {}

    def __init__(self, entry, sizes, alignment, pad, multiprocessors):
        self.sizes, self.alignment, self.shape, self.stride, self.whole = sizes, alignment, {}, {}, {}
        for argument in entry["arguments"]:
            name = argument["name"]
            shape = whole = tuple(sizes.get(dim, dim) for dim in argument["dims"])
            if len(shape) > 1 and not argument["dense"]:  # vectors are dense
                pads = [0] + [1] * (len(shape) - 2) + [pad]
                whole = tuple(n + more for n, more in zip(shape, pads))
            strides = [1]
            for n in reversed(whole[1:]):
                strides.insert(0, strides[0] * n)
            self.shape[name], self.stride[name], self.whole[name] = shape, strides, whole
        self.scope = {
            "__builtins__": {},
            **{name: name for name in self.shape},
            "size": lambda name, dim: self.shape[name][dim],
            "stride": lambda name, dim: self.stride[name][dim],
            "ceildiv": lambda a, b: -(-a // b),
            "floordiv": lambda a, b: a // b,
            "rem": lambda a, b: a % b,
            "min": min,
            "max": max,
            "multiprocessors": multiprocessors,
        }

    def evaluate(self, expression):
        if expression not in self.codes:
            self.codes[expression] = compile(expression, expression, "eval")
        return eval(self.codes[expression], self.scope)

    @property
    def elements(self):
        return sum(int(np.prod(shape)) for shape in self.shape.values())


class Sizes:
    """Finds sizes for the variants of an entry."""

    def __init__(self, entry, given, options):
        self.entry, self.options = entry, options
        symbols = sorted({dim for a in entry["arguments"] for dim in a["dims"] if isinstance(dim, str)})
        self.given = {symbol: given.get(symbol, [5]) for symbol in symbols}
        self.base = {symbol: values[0] for symbol, values in self.given.items()}
        # The least alignment that a variant's guards allow shows what it relies on.
        least = max(4 if a["dtype"] == "f32" else 2 for a in entry["arguments"])
        self.places = [(n, pad) for n, pad in ((least, 3), (4, 2), (8, 4), (16, 16)) if n >= least]

    def layout(self, sizes, place):
        return Layout(self.entry, sizes, *place, self.options.multiprocessors)

    def largest(self, symbol, guard, bound):
        """The largest size, the others as they are, at which the guard's value is at most the bound."""
        value = lambda size: self.layout({**self.base, symbol: size}, self.places[0]).evaluate(guard.expression)
        low, high = 0, 1 << 24
        if value(1) == value(high):  # of another symbol
            return None
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if value(middle) <= bound else (low, middle - 1)
        return low

    def candidates(self, guards):
        """Sizes for each symbol, with a price: of those given, on this side of a bound, beyond it."""
        prices = {symbol: {size: 0 for size in sizes} for symbol, sizes in self.given.items()}
        for guard in guards:
            bounds = [bound for bound in (guard.least and guard.least - 1, guard.most) if bound]
            for bound, (symbol, sizes) in itertools.product(bounds, prices.items()):
                if size := self.largest(symbol, guard, bound):
                    for step, price in ((0, 1), (-1, 1), (-2, 1), (1, 2), (2, 2), (8, 2)):
                        if size + step > 0:
                            sizes.setdefault(size + step, price)
        return prices

    def choices(self, guards):
        """Sizes, the most welcome first; at most two of them are none of those given."""
        prices, found = self.candidates(guards), {}
        given = [dict(zip(self.given, sizes)) for sizes in itertools.product(*self.given.values())]
        for start, changed in itertools.product(given, itertools.combinations(prices, min(2, len(prices)))):
            for sizes in itertools.product(*(prices[symbol] for symbol in changed)):
                choice = {**start, **dict(zip(changed, sizes))}
                layout = self.layout(choice, self.places[0])
                if layout.elements <= self.options.elements:
                    price = sum(prices[symbol][size] for symbol, size in choice.items())
                    found.setdefault(tuple(choice.items()), (price, price and layout.elements, choice))
        return [choice for *_, choice in sorted(found.values(), key=lambda one: one[:2])]

    def of(self, variant, before):
        """Where the variant runs, and whether the runtime would choose it there; None if it runs nowhere."""
        best, fewest = None, len(before) + 1  # of variants before it that would be chosen
        ranges = [guard for v in (variant, *before) for guard in v.guards if guard.is_range]
        for sizes, place in itertools.product(self.choices(ranges), self.places):
            layout = self.layout(sizes, place)
            if variant.failing(layout):
                continue
            others = sum(not other.failing(layout) for other in before)
            if others < fewest:
                best, fewest = layout, others
            if not others:
                break
        return best and (best, not fewest)


# -- one variant -----------------------------------------------------------------------


class Buffers:
    """The arguments of an entry: padded arrays, what they hold as f64."""

    def __init__(self, entry, layout):
        rng = np.random.default_rng(3)
        self.layout, self.start = layout, {}
        self.arguments = {argument["name"]: argument for argument in entry["arguments"]}
        for name, argument in self.arguments.items():
            shape, whole = layout.shape[name], layout.whole[name]
            values = np.full(whole, 7.0)
            if argument["role"] == "input":
                inside = rng.standard_normal(shape)
                if len(shape) > 1:  # rows of quite different sizes
                    inside *= np.exp2(rng.integers(-12, 6, shape[:-1] + (1,)))
                else:
                    inside = 0.1 * inside + 1
                self.inside(values, name)[...] = inside
            self.start[name] = encoded(values, argument["dtype"])

    def inside(self, array, name):
        return array[tuple(slice(n) for n in self.layout.shape[name])]

    def value(self, name):
        return decoded(self.inside(self.start[name], name), self.arguments[name]["dtype"])


def workspaces(variant, layout):
    """The parts of the workspace by their offsets, full of NaNs."""
    offsets = set()
    for launch in variant.launches:
        for parameter in launch["parameters"]:
            if parameter.startswith("workspace"):
                offsets.add(layout.evaluate(parameter.removeprefix("workspace").removeprefix(" + ") or "0"))
    ends = sorted(offsets)[1:] + [layout.evaluate(variant.workspace)]
    return {begin: np.full((end - begin) // 4, 0xFFFFFFFF, np.uint32) for begin, end in zip(sorted(offsets), ends)}


def run(kernels, variant, buffers, order, most_blocks):
    layout = buffers.layout
    arrays = {name: array.copy() for name, array in buffers.start.items()}
    parts = workspaces(variant, layout)
    for hsaco, launch in zip(kernels, variant.launches):
        arguments, readonly = [], []
        for i, parameter in enumerate(launch["parameters"]):
            kind, _, expression = parameter.partition(" ")
            if kind == "pointer":
                name, _, offset = expression.partition(" + ")
                array = arrays[name]
                is_read = buffers.arguments[name]["role"] == "input"
                if offset:  # a slice: a copy of what follows its beginning
                    assert is_read, f"an output from {expression} on"
                    array = array.reshape(-1).view(np.uint8)[layout.evaluate(offset):].copy()
                arguments.append(array)
                if is_read:
                    readonly.append(i)
            elif kind == "workspace":
                arguments.append(parts[layout.evaluate(expression.removeprefix("+ ") or "0")])
            else:
                arguments.append({"i64": np.int64, "i32": np.int32, "f32": np.float32}[kind](layout.evaluate(expression)))
        grid = [layout.evaluate(e) for e in launch["grid"]]
        # Fewer blocks than the sum of several grids are those of the first.
        if len(kernels) == 1 and "_and_" not in launch["kernel"]:
            grid[0] = min(grid[0], most_blocks)
        hsaco.kernel(launch["kernel"]).launch(
            tuple(grid), (launch["block"][0],), arguments, dyn_lds=layout.evaluate(launch["shared_memory"] or "0"),
            readonly=tuple(readonly), align=layout.alignment, order=order
        )
    return arrays


def intervals(runtime, entry, buffers):
    """What the oracle says of each argument: pairs of f64, as complex numbers."""
    ends = {}
    for name in buffers.arguments:
        value = buffers.value(name)
        ends[name] = np.ascontiguousarray(value + 1j * value)
    tensors = [capi.Tensor(a.ctypes.data, a.shape, capi.INTERVAL, runtime.place) for a in ends.values()]
    runtime.prepare(entry["name"]).bind(tensors)()
    return ends


def check(variant, buffers, arrays, expected):
    """The share of undecided elements of all outputs."""
    undecided = []
    for name, argument in buffers.arguments.items():
        if argument["role"] == "input":
            continue
        array = arrays[name]
        got = decoded(buffers.inside(array, name), argument["dtype"])
        outside = np.ones(array.shape, bool)
        buffers.inside(outside, name)[...] = False
        where = f"{variant.where} {name}"
        assert (array[outside] == buffers.start[name][outside]).all(), f"{where}: wrote beside its rows"
        lo, hi = expected[name].real, expected[name].imag
        bad = ~((lo <= got) & (got <= hi))
        assert not bad.any(), f"{where}: {bad.sum()} values off, at {np.argwhere(bad)[0]}: {got[bad][0]}, expected {lo[bad][0]} to {hi[bad][0]}"
        undecided.append((hi - lo > (2.0**-11 * np.abs(hi) if argument["dtype"] == "f32" else 0)).ravel())
    return np.concatenate(undecided).mean()


def run_and_check(entry, variant, layout, kernels, oracle):
    buffers = Buffers(entry, layout)
    blocks = layout.evaluate(variant.launches[0]["grid"][0])
    # Of several launches the first has as many blocks as the next expects.
    orders = ("seq", blocks), ("reverse", blocks), ("random", max(1, blocks // 3))
    results = [run(kernels, variant, buffers, order, most) for order, most in orders]
    for other in results[1:]:
        for name, array in other.items():
            assert array.tobytes() == results[0][name].tobytes(), f"{variant.where}: bits depend on the order of the waves"
    undecided = check(variant, buffers, results[0], intervals(oracle, entry, buffers))
    shape = " x ".join(map(str, layout.shape[entry["arguments"][0]["name"]]))
    return f"{shape}, {blocks} blocks, {undecided:.4f} undecided"


def main():
    parser = argparse.ArgumentParser()
    for name in ("emulator", "library", "module"):
        parser.add_argument(name)
    parser.add_argument("--oracle")
    parser.add_argument("--multiprocessors", type=int, default=5)
    parser.add_argument("--elements", type=int, default=1 << 22, help="the most that all arguments of a variant have")
    parser.add_argument("--size", action="append", default=[], metavar="SYMBOL=N,...")
    options = parser.parse_args()
    sys.path.insert(0, options.emulator)
    from amd_emulate import EmuError, Hsaco

    given = {symbol: [int(n) for n in sizes.split(",")] for symbol, _, sizes in (one.partition("=") for one in options.size)}
    oracle = capi.Runtime(options.library, options.oracle or options.module, capi.ORACLE)
    images = {}
    agree = elsewhere = left_out = 0

    def code(image):
        if image not in images:
            images[image] = Hsaco(inspect(options.module, "--extract=hsaco", f"--image={image}"))
        return images[image]

    def tried(entry, sizes, variant, before):
        """What the line of a variant says, and whether the runtime chooses it there; None and why it is left out."""
        layout, is_chosen = sizes.of(variant, before) or (None, None)
        if not layout:
            return None, "its guards hold at no size tried"
        try:
            return run_and_check(entry, variant, layout, [code(l["image"]) for l in variant.launches], oracle), is_chosen
        except EmuError as error:
            if "not executable" not in str(error):
                raise
            return None, f"in the emulator {error}"

    for entry in json.loads(inspect(options.module, "--json"))["entries"]:
        sizes = Sizes(entry, given, options)
        for program in entry["programs"]:
            if program["target"] == "oracle":
                continue
            variants = [Variant(entry, program, described) for described in program["variants"]]
            for i, variant in enumerate(variants):
                line, more = tried(entry, sizes, variant, variants[:i])
                agree += bool(line)
                left_out += not line
                elsewhere += bool(line) and not more
                if line:
                    print(f"agrees: {variant.where}, {line}" + ("" if more else ", chosen for larger sizes"), flush=True)
                else:
                    print(f"left out: {variant.where}: {more}", flush=True)
    print(f"{agree} variants agree, {elsewhere} of them at smaller sizes than they are chosen for; {left_out} left out")


if __name__ == "__main__":
    main()
