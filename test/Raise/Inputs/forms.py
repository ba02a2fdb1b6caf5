# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates decomposed norms: forms that are raised, and look-alikes.

A form is a choice for each part below. The formulas are those of the models and
libraries named as sources; the IR is written for this test, one op at a time as
exporters leave it.

    forms.py raised | refused [NAME...]    prints a module with what is to be
                                           checked, all forms or those named
"""

import sys

N = 96

# How each part is computed, of the values named in braces.
SQUARE = {
    "mul": "%r = arith.mulf {x}, {x} : f32",
    "powf": "%p = arith.constant 2.0 : f32\n%r = math.powf {x}, %p : f32",
    "fpowi": "%p = arith.constant 2 : i32\n%r = math.fpowi {x}, %p : f32, i32",
    "rounded": "%s = arith.mulf {x}, {x} : f32\n%b = arith.truncf %s : f32 to bf16\n%r = arith.extf %b : bf16 to f32",
    "rounded 2x": "%c = arith.constant 2.0 : f32\n%d = arith.mulf {x}, %c : f32\n%s = arith.mulf %d, %d : f32\n%b = arith.truncf %s : f32 to bf16\n%r = arith.extf %b : bf16 to f32",
    "fma": "",
    "over n": "%s = arith.mulf {x}, {x} : f32\n%c = arith.constant 0.010416667 : f32\n%r = arith.mulf %s, %c : f32",
    "abs": "%r = math.absf {x} : f32",
    "magnitude": "%m = math.absf {x} : f32\n%r = arith.mulf %m, %m : f32",
    "magnitude once": "%m = math.absf {x} : f32\n%r = arith.mulf %m, {x} : f32",
    "magnitudes": "%m = math.absf {x} : f32\n%k = math.absf {x2} : f32\n%r = arith.mulf %m, %k : f32",
    "cube": "%s = arith.mulf {x}, {x} : f32\n%r = arith.mulf %s, {x} : f32",
    "with x2": "%r = arith.mulf {x}, {x2} : f32",
    "difference": "%s = arith.subf {x}, {x2} : f32\n%r = arith.mulf %s, %s : f32",
    "of x2": "%r = arith.mulf {x2}, {x2} : f32",
    "of 2x": "%c = arith.constant 2.0 : f32\n%s = arith.mulf {x}, %c : f32\n%r = arith.mulf %s, %s : f32",
}
MEAN = {
    "divide": "%r = arith.divf {x}, %n : f32",
    "multiply": "%c = arith.constant 0.010416667 : f32\n%r = arith.mulf {x}, %c : f32",
    "convert": "%i = arith.constant 96 : i64\n%c = arith.sitofp %i : i64 to f32\n%r = arith.divf {x}, %c : f32",
    "rounded": "%s = arith.divf {x}, %n : f32\n%b = arith.truncf %s : f32 to bf16\n%r = arith.extf %b : bf16 to f32",
    "none": "%c = arith.constant 1.0 : f32\n%r = arith.mulf {x}, %c : f32",
    "n - 1": "%c = arith.constant 95.0 : f32\n%r = arith.divf {x}, %c : f32",
    "n + 1": "%c = arith.constant 97.0 : f32\n%r = arith.divf {x}, %c : f32",
}
# What is added is %eps, or an operand of the op.
SHIFT = {
    "add f64": "%e64 = arith.constant 1.0e-05 : f64\n%e = arith.truncf %e64 : f64 to f32\n%r = arith.addf {x}, %e : f32",
    "add": "%r = arith.addf {x}, {eps} : f32",
    "add first": "%r = arith.addf {eps}, {x} : f32",
    "rounded": "%s = arith.addf {x}, {eps} : f32\n%b = arith.truncf %s : f32 to bf16\n%r = arith.extf %b : bf16 to f32",
    "none": "%z = arith.constant 0.0 : f32\n%r = arith.addf {x}, %z : f32",
    "subtract": "%r = arith.subf {x}, {eps} : f32",
    "max": "%r = arith.maximumf {x}, {eps} : f32",
    "twice": "%s = arith.addf {x}, {x} : f32\n%r = arith.addf %s, {eps} : f32",
}
ROOT = {
    "rsqrt": "%r = math.rsqrt {x} : f32",
    "over sqrt": "%o = arith.constant 1.0 : f32\n%s = math.sqrt {x} : f32\n%r = arith.divf %o, %s : f32",
    "pow": "%h = arith.constant -0.5 : f32\n%r = math.powf {x}, %h : f32",
    "sqrt": "%r = math.sqrt {x} : f32",
    "rounded": "%s = math.rsqrt {x} : f32\n%b = arith.truncf %s : f32 to bf16\n%r = arith.extf %b : bf16 to f32",
    "eps outside": "%s = math.sqrt {x} : f32\n%d = arith.addf %s, %eps : f32\n%o = arith.constant 1.0 : f32\n%r = arith.divf %o, %d : f32",
    "pow -0.25": "%h = arith.constant -0.25 : f32\n%r = math.powf {x}, %h : f32",
}
# x times the root.
PRODUCT = {
    "mul": "%r = arith.mulf {x}, {r} : f32",
    "mul r": "%r = arith.mulf {r}, {x} : f32",
    "divide": "%r = arith.divf {x}, {r} : f32",
    "rounded": "%s = arith.mulf {x}, {r} : f32\n%b = arith.truncf %s : f32 to bf16\n%r = arith.extf %b : bf16 to f32",
    "of x2": "%r = arith.mulf {x2}, {r} : f32",
    "times 2": "%c = arith.constant 2.0 : f32\n%s = arith.mulf {x}, %c : f32\n%r = arith.mulf %s, {r} : f32",
    "plus x": "%s = arith.addf {x}, {x2} : f32\n%r = arith.mulf %s, {r} : f32",
    "squared": "%s = arith.mulf {x}, {x} : f32\n%r = arith.mulf %s, {r} : f32",
    "of -x": "%s = arith.negf {x} : f32\n%r = arith.mulf %s, {r} : f32",
}
# The product times the weight, rounded to Y; %w is the weight in f32, {raw} of
# its own type W.
WEIGHT = {
    "none": "%q = arith.mulf {x}, %one : f32",
    "gemma": "%q = arith.mulf {x}, %w : f32",
    "gemma first": "%q = arith.mulf %w, {x} : f32",
    "plus one": "%v = arith.addf %one, %w : f32\n%q = arith.mulf {x}, %v : f32",
    "plus half": "%h = arith.constant 0.5 : f32\n%v = arith.addf %w, %h : f32\n%q = arith.mulf {x}, %v : f32",
    "plus one rounded": "%v = arith.addf %w, %one : f32\n%vb = arith.truncf %v : f32 to bf16\n%ve = arith.extf %vb : bf16 to f32\n%q = arith.mulf {x}, %ve : f32",
    "exp": "%v = math.exp %w : f32\n%q = arith.mulf {x}, %v : f32",
    "llama": "%h = arith.truncf {x} : f32 to T\n%e = arith.extf %h : T to f32\n%q = arith.mulf %e, %w : f32",
    "llama plus one": "%h = arith.truncf {x} : f32 to T\n%e = arith.extf %h : T to f32\n%v = arith.addf %w, %one : f32\n%q = arith.mulf %e, %v : f32",
    "llama native": "%h = arith.truncf {x} : f32 to T\n%q = arith.mulf %h, {raw} : T",
    "llama doubled": "%h = arith.truncf {x} : f32 to T\n%e = arith.extf %h : T to f32\n%v = arith.mulf %e, %w : f32\n%c = arith.constant 2.0 : f32\n%q = arith.mulf %v, %c : f32",
    "llama f16": "%h = arith.truncf {x} : f32 to f16\n%e = arith.extf %h : f16 to f32\n%q = arith.mulf %e, %w : f32",
    "doubled": "%v = arith.mulf {x}, %w : f32\n%c = arith.constant 2.0 : f32\n%q = arith.mulf %v, %c : f32",
}

DEFAULTS = dict(rows=[8], types="bf16 bf16 bf16", square="mul", mean="divide", shift="add", root="rsqrt", product="mul",
                weight="gemma", keep="drop", eps="captured", reduce="arith.addf", init="0.0", axis="last", acc="f32",
                wrank="column", x="arg", y="truncf", op="")

BF16, F32 = "bf16 bf16 bf16", "f32 f32 f32"
RAISED = [
    # name, source, what the op has beside input and output, parts
    ("hf_llama", "transformers LlamaRMSNorm", "weight casting = llama", dict(weight="llama", square="fpowi", keep="map")),
    ("hf_llama_native", "transformers MistralRMSNorm", "weight casting = llama", dict(weight="llama native", square="powf")),
    ("hf_llama_f32_weight", "transformers OlmoeRMSNorm kept in f32", "weight casting = llama", dict(weight="llama", types="bf16 f32 f32")),
    ("t5", "transformers T5LayerNorm", "weight casting = llama", dict(weight="llama native", types="f16 f16 f16", rows=[2, 4])),
    ("hf_gemma", "transformers GemmaRMSNorm", "weight offset", dict(weight="plus one", square="fpowi", keep="map")),
    ("llama_plus_one", "transformers Qwen3NextRMSNorm with a cast between", "weight offset casting = llama", dict(weight="llama plus one")),
    ("torch_rms_norm", "torch.nn.functional.rms_norm", "weight", dict(square="powf", keep="map", rows=[2, 4])),
    ("torch_no_weight", "torch rms_norm, elementwise_affine=False", "", dict(weight="none", keep="map")),
    ("meta_llama", "llama/model.py, f32 throughout", "weight", dict(types=F32, square="fpowi", keep="map")),
    ("flax", "flax.linen.RMSNorm", "weight", dict(weight="gemma first", keep="reshape", types="bf16 f32 bf16")),
    ("flax_f32", "flax.linen.RMSNorm in f32", "weight", dict(types=F32, keep="reshape", rows=[2, 4])),
    ("maxtext", "MaxText RMSNorm: rounded, then times scale", "weight casting = llama", dict(weight="llama native", keep="reshape", rows=[2, 4])),
    ("jax_gemma", "gemma/layers.py RMSNorm", "weight offset", dict(weight="plus one", keep="reshape")),
    ("half_offset", "a weight around one half", "weight offset", dict(weight="plus half")),
    ("onnx", "ONNX SimplifiedLayerNormalization: Pow, ReduceMean, Add, Sqrt, Div", "weight", dict(square="powf", root="over sqrt", types=F32)),
    ("onnx_divide", "ONNX export of x / sqrt(v)", "weight", dict(square="powf", root="sqrt", product="divide", types=F32)),
    ("ggml", "ggml_rms_norm: scale = 1/sqrtf(mean + eps)", "", dict(weight="none", root="over sqrt", types=F32, mean="convert")),
    ("keras", "keras.layers.RMSNormalization", "weight", dict(square="mul", product="mul r", keep="reshape", types=F32)),
    ("tf_t5", "mesh_tensorflow T5: rsqrt(mean + eps)", "weight", dict(shift="add first", weight="gemma first")),
    ("pow_half", "pow(mean + eps, -0.5)", "weight", dict(root="pow")),
    ("times_inverse", "mean as a product with 1/N", "weight", dict(mean="multiply")),
    ("mean_inside", "1/N in the summand", "weight", dict(square="over n", mean="none")),
    ("sized", "N converted from an integer", "weight", dict(mean="convert", keep="map")),
    ("eps_in_body", "epsilon in the body", "weight", dict(eps="body")),
    ("eps_splat", "epsilon as a splat tensor", "weight", dict(eps="splat")),
    ("eps_fill", "epsilon as a filled tensor", "weight", dict(eps="fill", keep="reshape")),
    ("rank_1", "a single row without row dimensions", "weight", dict(rows=[])),
    ("one_row", "decode: one row", "weight casting = llama", dict(rows=[1], weight="llama", keep="reshape")),
    ("rank_4", "q norm in [batch, time, heads, n]", "weight", dict(rows=[2, 3, 4], keep="map")),
    ("unit_rows", "[batch, 1, n]", "weight", dict(rows=[4, 1], keep="reshape")),
    ("dynamic_rows", "any number of tokens", "weight casting = llama", dict(rows=["?"], weight="llama", keep="map")),
    ("dynamic_batch", "any batch and length", "weight", dict(rows=["?", "?"])),
    ("f16", "f16 throughout", "weight", dict(types="f16 f16 f16")),
    ("f16_to_bf16", "f16 in, bf16 out", "weight", dict(types="f16 f32 bf16")),
    ("f32_to_bf16", "an f32 residual stream", "weight", dict(types="f32 bf16 bf16")),
    ("bf16_to_f32", "the router's norm, not rounded", "weight", dict(types="bf16 bf16 f32")),
    ("llama_to_f32", "rounded between, f32 out", "weight casting = llama", dict(types="bf16 bf16 f32", weight="llama")),
    ("bf16_steps", "bf16 throughout, sums in f32", "weight casting = none", dict(square="rounded", mean="rounded", shift="rounded", eps="bf16", root="rounded", product="rounded")),
    ("bf16_steps_plus_one", "the same with weight + 1", "weight offset casting = none", dict(square="rounded", mean="rounded", shift="rounded", eps="bf16", root="rounded", product="rounded", weight="plus one rounded")),
    ("bf16_steps_no_weight", "the same without a weight", "casting = none", dict(square="rounded", mean="rounded", shift="rounded", eps="bf16", root="rounded", weight="none")),
    ("weight_constant", "a weight that is a constant", "weight", dict(wrank="constant")),
    ("weight_keepdims", "a weight of shape 1xN", "weight", dict(wrank="row")),
    ("weight_computed", "exp(weight)", "weight", dict(weight="exp")),
    ("weight_plus_one_rounded", "weight + 1 rounded to bf16: a weight of its own", "weight", dict(weight="plus one rounded")),
    ("residual", "x = a + b, a tensor with other users", "weight", dict(x="residual")),
    ("gated", "Mamba-2: x * silu(z) in f32", "weight", dict(x="gated", types="bf16 bf16 bf16")),
    ("negated", "-x, scaled by nothing", "weight", dict(product="of -x", types=F32)),
    ("fma", "squares summed by fma", "weight", dict(square="fma")),
    ("magnitude", "square of |x|, as code that also takes complex numbers has it", "weight", dict(square="magnitude")),
    ("eps_f64", "torch-mlir: epsilon as an f64", "weight casting = llama", dict(shift="add f64", weight="llama")),
    ("llama_doubled", "2 * norm, rounded between: the factor stays", "weight casting = llama", dict(weight="llama doubled", types="bf16 bf16 f32")),
    ("llama_other_type", "rounded to f16 between: the norm without weight", "", dict(weight="llama f16", types="bf16 bf16 bf16")),
    ("weight_per_row", "a weight per row: the norm without weight", "", dict(wrank="per row")),
    ("doubled", "2 * norm: the norm, the factor stays", "weight", dict(weight="doubled", types=F32)),
]

SQUARES, SUM = "what is summed is not the square of one value", "what is under the root is no sum over one dimension, from zero"
REFUSED = [
    # name, what it is, the remark, parts
    ("mean_abs", "mean of |x|", SQUARES, dict(square="abs")),
    ("magnitude_once", "mean of |x| * x", SQUARES, dict(square="magnitude once")),
    ("magnitudes", "mean of |x| * |x2|", SQUARES, dict(square="magnitudes")),
    ("cube", "mean of x^3", SQUARES, dict(square="cube")),
    ("two_x", "mean of x * x2", SQUARES, dict(square="with x2")),
    ("variance", "mean of (x - x2)^2", "is not the x whose squares are summed", dict(square="difference")),
    ("other_normalised", "x normalised by x2", "is not the x whose squares are summed", dict(square="of x2")),
    ("other_scaled", "x2 normalised by x", "is not the x whose squares are summed", dict(product="of x2")),
    ("scaled_sum", "mean of (2x)^2", "the mean is 4.000000 times what it should be", dict(square="of 2x")),
    ("sum", "a sum, no mean: L2 norm", "the mean is 96.000000 times what it should be", dict(mean="none")),
    ("n_minus_1", "divided by N - 1", "the mean is 1.010526 times what it should be", dict(mean="n - 1")),
    ("n_plus_1", "divided by N + 1", "the mean is 0.989691 times what it should be", dict(mean="n + 1")),
    ("eps_outside", "1 / (sqrt(mean) + eps)", "no constant positive epsilon is added under the root", dict(shift="none", root="eps outside")),
    ("no_eps", "rsqrt(mean)", "no constant positive epsilon is added under the root", dict(shift="none")),
    ("eps_subtracted", "mean - eps", "no constant positive epsilon is added under the root", dict(shift="subtract")),
    ("eps_max", "max(mean, eps)", "no constant positive epsilon is added under the root", dict(shift="max")),
    ("eps_argument", "an epsilon that is not known", "no constant positive epsilon is added under the root", dict(eps="argument")),
    ("mean_twice", "mean + mean + eps", SUM, dict(shift="twice")),
    ("wrong_axis", "over the rows", "the dimension that is summed is not the last", dict(axis="first", rows=[96])),
    ("first_of_three", "over the middle dimension", "the dimension that is summed is not the last", dict(axis="middle", rows=[4, 96])),
    ("all", "over the whole tensor", SUM, dict(axis="all")),
    ("max", "the largest square", SUM, dict(reduce="arith.maximumf")),
    ("product", "the product of squares", SUM, dict(reduce="arith.mulf")),
    ("from_one", "a sum from 1", SUM, dict(init="1.0")),
    ("bf16_sum", "accumulated in bf16", "unlike casting 'gemma', the sum accumulates in bf16", dict(acc="bf16")),
    ("bf16_mean", "the mean alone in bf16", "unlike casting 'gemma', the mean is rounded to bf16", dict(mean="rounded")),
    ("bf16_root", "rstd alone in bf16", "unlike casting 'none',", dict(root="rounded")),
    ("bf16_shift", "mean + eps alone in bf16", "unlike casting 'gemma', mean + eps is rounded to bf16", dict(shift="rounded")),
    ("bf16_scaled_square", "bf16 throughout, 2x squared", "unlike casting 'none', a part of the sum is 4.000000 times what it should be",
     dict(square="rounded 2x", mean="rounded", shift="rounded", eps="bf16", root="rounded", product="rounded")),
    ("layernorm", "x minus its mean", "x is centred by its own mean, a LayerNorm", dict(x="centred")),
    ("sum_of_two", "(x + x2) * rstd(x)", "is not the x whose squares are summed", dict(product="plus x")),
    ("x_squared", "x * x * rstd(x)", "a factor beside the norm depends on the row", dict(product="squared")),
    ("doubled_inside", "2x * rstd(x), unrounded, per row", "unlike casting 'gemma', x * rstd * weight is 2.000000 times what it should be", dict(product="times 2")),
]


class Function:
    """One norm, built op by op."""

    def __init__(self, name, parts):
        self.p = {**DEFAULTS, **parts}
        self.T, self.W, self.Y = self.p["types"].split()
        self.name, self.lines, self.count = name, [], 0
        self.rows = self.p["rows"]
        self.shape = self.rows + [N]
        self.types = {}
        self.dynamic = []

    def new(self, line, shape, element):
        self.count += 1
        value = f"%v{self.count}"
        self.types[value] = (list(shape), element)
        self.lines.append(f"{value} = {line}")
        return value

    def type(self, value):
        shape, element = self.types[value]
        return "tensor<" + "".join(f"{size}x" for size in shape) + element + ">"

    def tensor(self, shape, element):
        return "tensor<" + "".join(f"{size}x" for size in shape) + element + ">"

    def empty(self, shape, element):
        sizes = [self.dynamic[i] for i, size in enumerate(shape) if size == "?"]
        return self.new(f"tensor.empty({', '.join(sizes)}) : {self.tensor(shape, element)}", shape, element)

    def fill(self, scalar, shape, element):
        empty = self.empty(shape, element)
        return self.new(f"linalg.fill ins({scalar} : {element}) outs({empty} : {self.type(empty)}) -> {self.type(empty)}", shape, element)

    def generic(self, inputs, maps, shape, element, body, out_map=None, reduced=(), init=None):
        """A generic over self.shape, or over `shape` if that is of another rank and nothing is reduced."""
        rank = len(self.shape) if reduced else max(len(shape), 0)
        dims = ", ".join(f"d{i}" for i in range(rank))
        all_dims = dims
        out_map = all_dims if out_map is None else out_map
        maps = ", ".join(f"affine_map<({dims}) -> ({all_dims if m is None else m})>" for m in maps + [out_map])
        iterators = ", ".join('"reduction"' if i in reduced else '"parallel"' for i in range(rank))
        init = init or self.empty(shape, element)
        ins = f"ins({', '.join(inputs)} : {', '.join(map(self.type, inputs))}) " if inputs else ""
        args = ", ".join([f"%a{i}: {self.types[v][1]}" for i, v in enumerate(inputs)] + [f"%acc: {element}"])
        return self.new(f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}} {ins}outs({init} : {self.type(init)}) {{\n"
                        f"^bb0({args}):\n{body}\nlinalg.yield %r : {element} }} -> {self.type(init)}", shape, element)

    def extend(self, value):
        shape, element = self.types[value]
        if element == "f32":
            return value
        return self.generic([value], [None], shape, "f32", f"%r = arith.extf %a0 : {element} to f32")

    def read(self, kept):
        """The map that reads a statistic in the space of x, its shape being `kept`."""
        drop = self.p["keep"] == "drop" or len(kept) < len(self.shape)
        axes = self.reduced()
        dims = [f"d{i}" for i in range(len(self.shape))]
        return ", ".join(d for i, d in enumerate(dims) if i not in axes) if drop else ", ".join("0" if i in axes else d for i, d in enumerate(dims))

    def reduced(self):
        last = len(self.shape) - 1
        return {"last": [last], "first": [0], "middle": [last - 1], "all": list(range(last + 1))}[self.p["axis"]]

    def input(self, x, x2):
        """What is normalised, in f32."""
        kind, full = self.p["x"], self.shape
        if kind == "arg":
            return self.extend(x)
        if kind == "residual":
            return self.extend(self.generic([x, x2], [None, None], full, self.T, f"%r = arith.addf %a0, %a1 : {self.T}"))
        if kind == "gated":
            silu = "%g = arith.negf %a1 : f32\n%e = math.exp %g : f32\n%d = arith.addf %e, %one : f32\n%s = arith.divf %a1, %d : f32\n%r = arith.mulf %a0, %s : f32"
            return self.generic([self.extend(x), self.extend(x2)], [None, None], full, "f32", silu)
        xf = self.extend(x)
        total = self.generic([xf], [None], self.rows, "f32", "%r = arith.addf %acc, %a0 : f32", self.read(self.rows), self.reduced(),
                             self.fill("%zero", self.rows, "f32"))
        return self.generic([xf, total], [None, self.read(self.rows)], full, "f32", "%m = arith.divf %a1, %n : f32\n%r = arith.subf %a0, %m : f32")

    def statistics(self, xf, x2f, remark):
        p, acc, axes = self.p, self.p["acc"], self.reduced()
        fused = p["square"] == "fma"
        body = SQUARE["mul" if fused else p["square"]].format(x="%a0", x2="%a1")
        square = xf if fused else self.generic([xf, x2f] if "%a1" in body else [xf], [None] * (2 if "%a1" in body else 1), self.shape, "f32", body)
        if acc != "f32":
            square = self.generic([square], [None], self.shape, acc, f"%r = arith.truncf %a0 : f32 to {acc}")
        kept = [size for i, size in enumerate(self.shape) if i not in axes]
        kept1 = [1 if i in axes else size for i, size in enumerate(self.shape)]
        shape = kept1 if p["keep"] == "map" else kept
        zero = self.fill(f"%init", shape, acc)
        total = self.generic([square], [None], shape, acc, "%r = math.fma %a0, %a0, %acc : f32" if fused else f"%r = {p['reduce']} %acc, %a0 : {acc}", self.read(shape), axes, zero)
        if p["keep"] == "reshape":
            groups = [[i] for i in range(len(kept))]
            groups[-1].append(len(kept))
            sizes = ", ".join(str(self.dynamic[i] if s == "?" else s) for i, s in enumerate(kept1))
            shape = kept1
            total = self.new(f"tensor.expand_shape {total} {groups} output_shape [{sizes}] : {self.type(total)} into {self.tensor(shape, acc)}", shape, acc)
        mean = self.generic([self.extend(total)], [None], shape, "f32", MEAN[p["mean"]].format(x="%a0"))
        inputs, eps, before = [mean], "%eps", ""
        if p["eps"] == "body":
            eps, before = "%e", "%e = arith.constant 1.0e-05 : f32\n"
        elif p["eps"] == "bf16":
            eps, before = "%e", "%eb = arith.constant 1.0e-05 : bf16\n%e = arith.extf %eb : bf16 to f32\n"
        elif p["eps"] in ("splat", "fill"):
            eps = "%a1"
            inputs.append(self.fill("%eps", shape, "f32") if p["eps"] == "fill" else
                          self.new(f"arith.constant dense<1.0e-05> : {self.tensor(shape, 'f32')}", shape, "f32"))
        elif p["eps"] == "argument":
            eps = "%epsilon"
        shifted = self.generic(inputs, [None] * len(inputs), shape, "f32", before + SHIFT[p["shift"]].format(x="%a0", eps=eps))
        body = ROOT[p["root"]].format(x="%a0")
        if remark:
            lines = [line for line in body.split("\n")]
            at = next(i for i, line in enumerate(lines) if "math." in line)
            lines.insert(at, f"// expected-remark @+1 {{{{{remark}}}}}")
            body = "\n".join(lines)
        return self.generic([shifted], [None], shape, "f32", body), shape

    def weight(self, product):
        p, full, last = self.p, self.shape, len(self.shape) - 1
        raw, at = "%weight", f"d{last}"
        if p["weight"] == "none":
            body, inputs, maps = WEIGHT["none"].format(x="%a0"), [product], [None]
        else:
            if p["wrank"] == "constant":
                raw = self.new(f"arith.constant dense<[{', '.join(str(1 + i / 64) for i in range(N))}]> : {self.tensor([N], self.W)}", [N], self.W)
            elif p["wrank"] == "row":
                at = f"0, d{last}"
            elif p["wrank"] == "per row":
                at = "d0"
            body = f"%w = arith.extf %a1 : {self.W} to f32\n" if self.W != "f32" else "%w = arith.mulf %a1, %one : f32\n"
            body += WEIGHT[p["weight"]].format(x="%a0", raw="%a1").replace("T", self.T)
            inputs, maps = [product, raw], [None, at]
        native = f"arith.mulf %h, %a1 : {self.T}" in body
        if native:
            body = body.replace("%q =", "%r =")
        elif self.Y == "f32":
            body += "\n%r = arith.mulf %q, %one : f32"
        else:
            body += f"\n%r = arith.truncf %q : f32 to {self.Y}"
        return self.generic(inputs, maps, full, self.Y, body)

    def begin(self, arguments):
        """Constants and sizes; returns the text of the arguments, name -> (shape, type)."""
        self.types.update(arguments)
        for i, size in enumerate(self.rows):
            self.dynamic.append(f"%d{i}")
            if size == "?":
                self.lines.append(f"%i{i} = arith.constant {i} : index\n%d{i} = tensor.dim %x, %i{i} : {self.type('%x')}")
        for name, value, kind in [("zero", "0.0", "f32"), ("one", "1.0", "f32"), ("eps", "1.0e-05", "f32"), ("n", float(N), "f32"),
                                  ("init", self.p["init"], self.p["acc"])]:
            self.lines.append(f"%{name} = arith.constant {value} : {kind}")
        return ", ".join(f"{name}: {self.type(name)}" for name in arguments)

    def text(self, remark=""):
        wshape = {"row": [1, N], "per row": self.rows}.get(self.p["wrank"], [N])
        y = self.tensor(self.shape, self.Y)
        arguments = self.begin({"%x": (self.shape, self.T), "%x2": (self.shape, self.T), "%weight": (wshape, self.W)})
        arguments += ", %epsilon: f32" if self.p["eps"] == "argument" else ""
        xf = self.input("%x", "%x2")
        x2f = self.extend("%x2")
        root, shape = self.statistics(xf, x2f, remark)
        body = PRODUCT[self.p["product"]].format(x="%a0", r="%a1", x2="%a2")
        inputs = [xf, root] + ([x2f] if "%a2" in body else [])
        product = self.generic(inputs, [None, self.read(shape)] + ([None] if "%a2" in body else []), self.shape, "f32", body)
        result = self.weight(product)
        return f"func.func @{self.name}({arguments}) -> {y} {{\n" + "\n".join(self.lines) + f"\nreturn {result} : {y}\n}}\n"


def main():
    if sys.argv[1] == "raised":
        for name, source, expected, parts in RAISED:
            if sys.argv[2:] and name not in sys.argv[2:]:
                continue
            pattern = "{{.*}}".join(["rmsnorm.forward input("] + [f"{word}" for word in expected.replace("casting = ", "casting~=~").split()])
            pattern = pattern.replace("~", " ").replace("weight", "weight(")
            print(f"// {source}\n// CHECK-LABEL: func.func @{name}(\n// CHECK-NOT: {{{{rsqrt|math.sqrt|math.powf|reduction}}}}\n// CHECK: {pattern}")
            for word in ["weight(", "offset", "casting"]:
                if word.strip("(") not in expected:
                    print(f"// CHECK-NOT: {word}")
            print("// CHECK-NOT: {{rmsnorm.forward|rsqrt|math.sqrt|math.powf|reduction}}\n// CHECK: return")
            print(Function(name, parts).text())
    else:
        for name, what, remark, parts in REFUSED:
            print(f"// {what}\n// CHECK-LABEL: func.func @{name}(\n// CHECK-NOT: rmsnorm.\n// CHECK: return")
            print(Function(name, parts).text(remark))


if __name__ == "__main__":
    main()
