"""Runs the AMD code objects of a compiled module in the emulator (amd_emulate.py), every
entry, target and variant, and compares the outputs with what the module's oracle says,
or that of another module with the same entries.

  emulate_module.py EMULATOR_DIR RUNTIME.so MODULE.rmsn INSPECTED.txt
      [--oracle=OTHER.rmsn] [--size=s0=7 ...]

Which arguments a kernel takes, its grid and its guards are read from what norm-inspect
printed; nothing about the kernels is written down here. --size s1=A:B gives a size for the
aligned and for the element variant; of several of one symbol a variant gets the first that
its guards hold for. Rows lie in padded, strided buffers; the pads must
stay as they are. Each kernel also runs with fewer blocks than it asks for, so that blocks
walk over several tiles, and with its waves in other orders: same bits each time.
"""
import argparse, itertools, os, re, struct, sys

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


# -- what norm-inspect printed ---------------------------------------------------------


def split(text, separator=","):
    """At the commas, or another character, outside of parentheses."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if c == separator and not depth:
            parts.append(text[start:i].strip())
            start = i + 1
    return parts + [text[start:].strip()]


def parse(text):
    entries, images = [], []
    for line in text.splitlines():
        word = line.split()
        if line.startswith("entry "):
            entries.append({"name": word[1], "arguments": {}, "variants": []})
        elif m := re.match(r"  argument \d+ (\w+): (\w+) (\w+)\[(.*?)\]", line):
            argument = {"role": m[2], "kind": m[3], "dims": split(m[4])}
            entries[-1]["arguments"][m[1]] = argument
        elif line.startswith("  program "):
            target = word[1]
        elif m := re.match(r"    variant \d+ (\w+) (?:when (.*)|otherwise)", line):
            variant = {"name": m[1], "target": target, "guards": split(m[2]) if m[2] else [], "launches": [], "workspace": "0"}
            entries[-1]["variants"].append(variant)
        elif m := re.match(r"      workspace (.*) bytes", line):
            variant["workspace"] = m[1]
        elif m := re.match(r"      launch \d+ (\w+) of image (\d+)", line):
            launch = {"kernel": m[1], "image": int(m[2])}
            variant["launches"].append(launch)
        elif m := re.match(r"        (grid|block|shared memory|parameters) (.*)", line):
            launch[m[1]] = m[2]
        elif m := re.match(r"image (\d+) for (\S+): (\w+), chip (\w+)(.*)", line):
            size = re.search(r"hsaco of (\d+) bytes", m[5])
            images.append((m[4], int(size[1]) if size else 0))
    return entries, images


def code_object(load, module, chip, size, kernel):
    """The code object of that size for that chip with that kernel, as the module holds it."""
    at = module.find(b"\x7fELF")
    while at >= 0:
        elf = module[at : at + size]
        # The section headers come last.
        end = struct.unpack_from("<Q", elf, 40)[0] + 64 * struct.unpack_from("<H", elf, 60)[0]
        if struct.unpack_from("<H", elf, 18)[0] == 224 and end == size and kernel.encode() + b".kd\0" in elf:
            hsaco = load(elf)
            if hsaco.gfx == chip:
                return hsaco
        at = module.find(b"\x7fELF", at + 1)
    raise SystemExit(f"no code object of {size} bytes with {kernel} in the module")


# -- one variant -----------------------------------------------------------------------


class Buffers:
    """The arguments of an entry: padded arrays, what they hold as f64, their strides."""

    def __init__(self, entry, sizes, aligned, options):
        rng = np.random.default_rng(3)
        self.multiprocessors = options.multiprocessors
        self.arguments, self.shape, self.stride, self.start = entry["arguments"], {}, {}, {}
        for name, argument in self.arguments.items():
            shape = tuple(sizes[d] if d in sizes else int(d) for d in argument["dims"])
            whole = shape  # vectors are dense
            if len(shape) > 1:
                pads = [0] + [1] * (len(shape) - 2) + [16 if aligned else 3]
                whole = tuple(n + pad for n, pad in zip(shape, pads))
            self.shape[name] = shape
            strides = [1]
            for n in reversed(whole[1:]):
                strides.insert(0, strides[0] * n)
            self.stride[name] = strides
            values = np.full(whole, 7.0)
            if argument["role"] == "input":
                values = rng.standard_normal(whole)
                if len(shape) > 1:  # rows of quite different sizes
                    values *= np.exp2(rng.integers(-12, 6, whole[:-1] + (1,)))
                else:
                    values = 0.1 * values + 1
            self.start[name] = encoded(values, argument["kind"])

    def inside(self, array, name):
        return array[tuple(slice(n) for n in self.shape[name])]

    def value(self, name):
        return decoded(self.inside(self.start[name], name), self.arguments[name]["kind"])

    def evaluate(self, expression):
        scope = {name: name for name in self.shape}
        scope["size"] = lambda name, dim: self.shape[name][dim]
        scope["stride"] = lambda name, dim: self.stride[name][dim]
        scope["ceildiv"] = lambda a, b: -(-a // b)
        scope["floordiv"] = lambda a, b: a // b
        scope["rem"] = lambda a, b: a % b
        scope.update(min=min, max=max, multiprocessors=self.multiprocessors)
        return eval(expression, {"__builtins__": {}}, scope)

    def holds(self, guard, alignment):
        if m := re.fullmatch(r"(\w+) aligned to (\d+)", guard):
            return alignment % int(m[2]) == 0
        if m := re.fullmatch(r"(.*) a multiple of (\d+)", guard):
            return self.evaluate(m[1]) % int(m[2]) == 0
        m = re.fullmatch(r"(.*) <= (\d+)", guard)
        return self.evaluate(m[1]) <= int(m[2])


def workspaces(variant, buffers):
    """The parts of the workspace by their offsets, full of NaNs."""
    offsets = set()
    for launch in variant["launches"]:
        for parameter in split(launch["parameters"]):
            if parameter.startswith("workspace"):
                offsets.add(buffers.evaluate(parameter.removeprefix("workspace").removeprefix(" + ") or "0"))
    ends = sorted(offsets)[1:] + [buffers.evaluate(variant["workspace"])]
    return {begin: np.full((end - begin) // 4, 0xFFFFFFFF, np.uint32) for begin, end in zip(sorted(offsets), ends)}


def run(kernels, variant, buffers, alignment, order, most_blocks):
    arrays = {name: array.copy() for name, array in buffers.start.items()}
    parts = workspaces(variant, buffers)
    for hsaco, launch in zip(kernels, variant["launches"]):
        arguments, readonly = [], []
        for i, parameter in enumerate(split(launch["parameters"])):
            kind, _, expression = parameter.partition(" ")
            if kind == "pointer":
                name, _, offset = expression.partition(" + ")
                array = arrays[name]
                is_read = buffers.arguments[name]["role"] == "input"
                if offset:  # a slice: a copy of what follows its beginning
                    assert is_read, f"an output from {expression} on"
                    array = array.reshape(-1).view(np.uint8)[buffers.evaluate(offset):].copy()
                arguments.append(array)
                if is_read:
                    readonly.append(i)
            elif kind == "workspace":
                arguments.append(parts[buffers.evaluate(expression.removeprefix("+ ") or "0")])
            else:
                arguments.append({"i64": np.int64, "i32": np.int32, "f32": np.float32}[kind](buffers.evaluate(expression)))
        grid = [buffers.evaluate(e) for e in launch["grid"].split(" x ")]
        # Fewer blocks than the sum of several grids are those of the first.
        if len(kernels) == 1 and "_and_" not in launch["kernel"]:
            grid[0] = min(grid[0], most_blocks)
        threads = int(launch["block"].split()[0])
        shared = buffers.evaluate(launch.get("shared memory", "0 bytes").removesuffix(" bytes"))
        hsaco.kernel(launch["kernel"]).launch(
            tuple(grid), (threads,), arguments, dyn_lds=shared, readonly=tuple(readonly), align=alignment, order=order
        )
    return arrays


def intervals(runtime, entry, buffers):
    """What the oracle says of each argument: pairs of f64, as complex numbers."""
    ends = {}
    for name in entry["arguments"]:
        value = buffers.value(name)
        ends[name] = np.ascontiguousarray(value + 1j * value)
    tensors = [capi.Tensor(a.ctypes.data, a.shape, capi.INTERVAL, runtime.place) for a in ends.values()]
    runtime.prepare(entry["name"]).bind(tensors)()
    return ends


def check(entry, variant, buffers, arrays, expected):
    """The share of undecided elements of all outputs."""
    undecided = []
    for name, argument in entry["arguments"].items():
        if argument["role"] == "input":
            continue
        array = arrays[name]
        got = decoded(buffers.inside(array, name), argument["kind"])
        outside = np.ones(array.shape, bool)
        buffers.inside(outside, name)[...] = False
        where = f"{entry['name']} {variant['target']} {variant['name']} {name}"
        assert (array[outside] == buffers.start[name][outside]).all(), f"{where}: wrote beside its rows"
        lo, hi = expected[name].real, expected[name].imag
        bad = ~((lo <= got) & (got <= hi))
        assert not bad.any(), f"{where}: {bad.sum()} values off, at {np.argwhere(bad)[0]}: {got[bad][0]}, expected {lo[bad][0]} to {hi[bad][0]}"
        undecided.append((hi - lo > (2.0**-11 * np.abs(hi) if argument["kind"] == "f32" else 0)).ravel())
    return np.concatenate(undecided).mean()


def main():
    parser = argparse.ArgumentParser()
    for name in ("emulator", "library", "module", "inspected"):
        parser.add_argument(name)
    parser.add_argument("--oracle")
    parser.add_argument("--multiprocessors", type=int, default=5)
    parser.add_argument("--size", action="append", default=[])
    options = parser.parse_args()
    sys.path.insert(0, options.emulator)
    from amd_emulate import Hsaco

    oracle = capi.Runtime(options.library, options.oracle or options.module, capi.ORACLE)
    module = open(options.module, "rb").read()
    entries, images = parse(open(options.inspected).read())
    for entry in entries:
        for variant in entry["variants"]:
            if variant["target"] == "oracle":
                continue
            aligned = not variant["name"].startswith("element")
            given = {}
            for size in options.size:
                symbol, text = size.split("=")
                given.setdefault(symbol, []).append(int(text.split(":")[0 if aligned else -1]))
            alignment = 16 if aligned else 4 if "f32" in [a["kind"] for a in entry["arguments"].values()] else 2
            for sizes in itertools.product(*given.values()):
                buffers = Buffers(entry, dict(zip(given, sizes)), aligned, options)
                failing = [guard for guard in variant["guards"] if not buffers.holds(guard, alignment)]
                if not failing:
                    break
            assert not failing, f"{entry['name']} {variant['name']}: {failing[0]} does not hold"
            launch = variant["launches"][0]
            kernels = [code_object(Hsaco, module, *images[l["image"]], l["kernel"]) for l in variant["launches"]]
            blocks = buffers.evaluate(launch["grid"].split(" x ")[0])
            # Of several launches the first has as many blocks as the next expects.
            results = [
                run(kernels, variant, buffers, alignment, order, most)
                for order, most in (("seq", blocks), ("reverse", blocks), ("random", max(1, blocks // 3)))
            ]
            for other in results[1:]:
                for name, array in other.items():
                    assert array.tobytes() == results[0][name].tobytes(), f"{launch['kernel']}: bits depend on the order of the waves"
            undecided = check(entry, variant, buffers, results[0], intervals(oracle, entry, buffers))
            shape = " x ".join(map(str, buffers.shape[next(iter(buffers.shape))]))
            print(f"agrees: {entry['name']} {variant['target']} {variant['name']}, {shape}, {blocks} blocks, {undecided:.4f} undecided")


if __name__ == "__main__":
    main()
