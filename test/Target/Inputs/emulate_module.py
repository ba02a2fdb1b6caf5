"""Runs the AMD code objects of a compiled module in the emulator (amd_emulate.py), every
entry, target and variant, and compares the outputs with the definition in f64 numpy.

  emulate_module.py EMULATOR_DIR MODULE.rmsn INSPECTED.txt --eps=E [--offset=O]
      [--casting=gemma|llama] [--residual] [--size=s0=7 ...]

Entries with an argument `dy` are backward ones; what else of that shape they read
is added to dx.

Which arguments a kernel takes, its grid and its guards are read from what norm-inspect
printed; nothing about the kernels is written down here. --size s1=A:B gives a size for the
aligned and for the element variant; of several of one symbol a variant gets the first that
its guards hold for. Rows lie in padded, strided buffers; the pads must
stay as they are. Each kernel also runs with fewer blocks than it asks for, so that blocks
walk over several tiles, and with its waves in other orders: same bits each time.
"""
import argparse, itertools, re, struct, sys

import numpy as np

PRECISION = {"bf16": (8, -126), "f16": (11, -14), "f32": (24, -126)}


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
    return rounded(values, kind).astype({"f16": np.float16, "f32": np.float32}[kind])


def decoded(stored, kind):
    if kind == "bf16":
        return (stored.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return stored.astype(np.float64)


def gradients(options, dy, x, weight, rstd, kind):
    """dx and dweight before their rounding, and the sums of the absolute values of their
    terms, all f64."""
    if rstd is None:
        rstd = 1.0 / np.sqrt((x * x).mean(axis=-1) + np.float32(options.eps))
    r = rstd[..., None]
    xhat, g = x * r, dy * (1.0 if weight is None else weight + options.offset)
    c, size = (g * xhat).mean(axis=-1, keepdims=True), np.abs(g * xhat).mean(axis=-1, keepdims=True)
    rows = tuple(range(x.ndim - 1))
    terms = dy * (rounded(xhat, kind) if options.casting == "llama" else xhat)
    return {
        "dx": ((g - xhat * c) * r, (np.abs(g) + np.abs(xhat) * size) * r),
        "dweight": (terms.sum(axis=rows), np.abs(terms).sum(axis=rows)),
    }


def definition(options, x, weight, residual, kind):
    """y before its rounding, rstd, and the sum with the residual, all f64."""
    if residual is not None:
        x = rounded(x + residual, kind)
    rstd = 1.0 / np.sqrt((x * x).mean(axis=-1, keepdims=True) + np.float32(options.eps))
    y = x * rstd
    if options.casting == "llama":
        y = rounded(y, kind)
    if weight is not None:
        y = y * (weight + options.offset)
    return y, rstd[..., 0], x


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
            argument = {"role": m[2], "kind": m[3], "dims": split(m[4]), "bound": None}
            entries[-1]["arguments"][m[1]] = argument
        elif m := re.match(r"    error bound: (\S+) ulps(.*)", line):
            argument["bound"] = (float(m[1]), m[2])
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
                pads = [0] + [1] * (len(shape) - 2) + [8 if aligned else 3]
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
                    values = 0.1 * values + (1 - options.offset)
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
                arguments.append(arrays[expression])
                if buffers.arguments[expression]["role"] == "input":
                    readonly.append(i)
            elif kind == "workspace":
                arguments.append(parts[buffers.evaluate(expression.removeprefix("+ ") or "0")])
            else:
                arguments.append({"i64": np.int64, "i32": np.int32, "f32": np.float32}[kind](buffers.evaluate(expression)))
        grid = [buffers.evaluate(e) for e in launch["grid"].split(" x ")]
        if len(kernels) == 1:
            grid[0] = min(grid[0], most_blocks)
        threads = int(launch["block"].split()[0])
        shared = buffers.evaluate(launch.get("shared memory", "0 bytes").removesuffix(" bytes"))
        hsaco.kernel(launch["kernel"]).launch(
            tuple(grid), (threads,), arguments, dyn_lds=shared, readonly=tuple(readonly), align=alignment, order=order
        )
    return arrays


def check(entry, variant, buffers, arrays, options):
    """The worst distance to the definition over all outputs, in ulps of their types."""
    names = list(entry["arguments"])
    inputs = [n for n in names if entry["arguments"][n]["role"] == "input"]
    weight = next((buffers.value(n) for n in inputs if n == "weight"), None)
    data = [buffers.value(n) for n in inputs if n != "weight"]
    kind = entry["arguments"][inputs[0]]["kind"]
    if "dy" in inputs:
        x = next(n for n in inputs if n == "input")
        exacts = gradients(options, buffers.value("dy"), buffers.value(x), weight,
                           buffers.value("rstd") if "rstd" in inputs else None, entry["arguments"][x]["kind"])
        # A gradient that is added to dx, rounded before.
        past = [n for n in inputs if n not in ("dy", x, "weight", "rstd")]
        if past:
            (sum_name,) = (n for n in names if n not in inputs and n != "dweight")
            dx, magnitude = exacts.pop("dx")
            more = buffers.value(past[0])
            exacts[sum_name] = (rounded(dx, entry["arguments"][sum_name]["kind"]) + more, magnitude + np.abs(more))
    else:
        y, rstd, total = definition(options, data[0], weight, data[1] if options.residual else None, kind)
        exacts = {n: (y if n == "output" else rstd if n == "rstd" else total, None) for n in names}
    worst = 0.0
    for name in names:
        argument = entry["arguments"][name]
        if argument["role"] == "input":
            continue
        exact, magnitude = exacts[name]
        array = arrays[name]
        got = decoded(buffers.inside(array, name), argument["kind"])
        outside = np.ones(array.shape, bool)
        buffers.inside(outside, name)[...] = False
        where = f"{entry['name']} {variant['target']} {variant['name']} {name}"
        assert (array[outside] == buffers.start[name][outside]).all(), f"{where}: wrote beside its rows"
        ulps, rest = argument["bound"]
        bound = ulps * ulp(exact, argument["kind"])
        for term in split(rest.replace("e+", "e"), "+")[1:]:
            factor, of, flips, root = re.fullmatch(
                r"(\S+) (relative|magnitude)(?: \* (?:(flips\(.*)|sqrt\((.*)\)))?", term).groups()
            # Few rows: all of a sum's terms may have been rounded to the other side.
            scale = float(factor) * (np.sqrt(buffers.evaluate(root)) if root else 1.0)
            bound = bound + scale * (np.abs(exact) if of == "relative" else magnitude)
        expected = rounded(exact, argument["kind"])
        bad = ~(np.abs(got - expected) <= bound)
        assert not bad.any(), f"{where}: {bad.sum()} values off, at {np.argwhere(bad)[0]}: {got[bad][0]}, expected {expected[bad][0]}"
        distance = np.abs(got - exact) / ulp(exact, argument["kind"])
        # The bound lets every rounding on the way flip. Few do: a kernel that rounds
        # elsewhere than the definition is within the bound and found here.
        if magnitude is not None:
            # An error in ulps of what has cancelled says nothing.
            distance = distance[np.abs(exact) > magnitude / 16]
        far = (distance > 0.51).mean()
        assert argument["kind"] == "f32" or far < 1e-3, f"{where}: {100 * far:.1f} % of the values not the nearest"
        worst = max(worst, distance.max())
    return worst


def main():
    parser = argparse.ArgumentParser()
    for name in ("emulator", "module", "inspected"):
        parser.add_argument(name)
    parser.add_argument("--eps", type=float, required=True)
    parser.add_argument("--offset", type=float, default=0.0)
    parser.add_argument("--casting", default="gemma")
    parser.add_argument("--residual", action="store_true")
    parser.add_argument("--multiprocessors", type=int, default=5)
    parser.add_argument("--size", action="append", default=[])
    options = parser.parse_args()
    sys.path.insert(0, options.emulator)
    from amd_emulate import Hsaco

    module = open(options.module, "rb").read()
    entries, images = parse(open(options.inspected).read())
    for entry in entries:
        for variant in entry["variants"]:
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
            worst = check(entry, variant, buffers, results[0], options)
            shape = " x ".join(map(str, buffers.shape[next(iter(buffers.shape))]))
            print(f"agrees: {entry['name']} {variant['target']} {variant['name']}, {shape}, {blocks} blocks, worst {worst:.4f} ulp")


if __name__ == "__main__":
    main()
