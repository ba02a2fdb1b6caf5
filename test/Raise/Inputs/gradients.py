# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates gradients of norms as autodiff and hand-written code leave them.

    gradients.py raised | fewer | refused    prints a module with what is to be
                                             checked
"""

import math
import sys

from forms import N, Function

# r^3 of r and v = mean + eps.
CUBE = {
    "r * r * r": "%s = arith.mulf {r}, {r} : f32\n%c = arith.mulf %s, {r} : f32",
    "r / v": "%c = arith.divf {r}, {v} : f32",
    "pow v": "%p = arith.constant -1.5 : f32\n%c = math.powf {v}, %p : f32",
    "pow r": "%p = arith.constant 3.0 : f32\n%c = math.powf {r}, %p : f32",
    "r / (s * s)": "%s = math.sqrt {v} : f32\n%q = arith.mulf %s, %s : f32\n%u = arith.constant 1.0 : f32\n%i = arith.divf %u, %q : f32\n%c = arith.mulf {r}, %i : f32",
    "half / s / v": "%s = math.sqrt {v} : f32\n%q = arith.mulf %s, %s : f32\n%l = arith.constant 2.0 : f32\n%k = arith.mulf %l, %s : f32\n%i = arith.divf %l, %k : f32\n%c = arith.divf %i, %q : f32",
    "r / s": "%s = math.sqrt {v} : f32\n%c = arith.divf {r}, %s : f32",
    "r * r": "%c = arith.mulf {r}, {r} : f32",
}
# What x is multiplied with, of the cube, s = sum(x * g) and constants.
FACTOR = {
    "torch": "%a = arith.mulf {s}, %c : f32\n%h = arith.constant -0.5 : f32\n%b = arith.mulf %a, %h : f32\n%d = arith.divf %b, %n : f32\n%t = arith.constant 2.0 : f32\n%f = arith.mulf %d, %t : f32",
    "once": "%a = arith.mulf {s}, %c : f32\n%b = arith.divf %a, %n : f32\n%f = arith.negf %b : f32",
    "half": "%a = arith.mulf {s}, %c : f32\n%h = arith.constant -0.5 : f32\n%b = arith.mulf %a, %h : f32\n%f = arith.divf %b, %n : f32",
    "positive": "%a = arith.mulf {s}, %c : f32\n%f = arith.divf %a, %n : f32",
    "n - 1": "%a = arith.mulf {s}, %c : f32\n%k = arith.constant -95.0 : f32\n%f = arith.divf %a, %k : f32",
}
# dx of x, g = dy * w, r and the factor f.
DX = {
    "sum": "%p = arith.mulf {g}, {r} : f32\n%q = arith.mulf {x}, {f} : f32\n%dx = arith.addf %p, %q : f32",
    "twice": "%p = arith.mulf {g}, {r} : f32\n%q = arith.mulf {x}, {f} : f32\n%u = arith.addf %p, %q : f32\n%dx = arith.addf %q, %u : f32",
    "rounded terms": "%p = arith.mulf {g}, {r} : f32\n%pr = arith.truncf %p : f32 to {T}\n%pe = arith.extf %pr : {T} to f32\n%q = arith.mulf {x}, {f} : f32\n%qr = arith.truncf %q : f32 to {T}\n%qe = arith.extf %qr : {T} to f32\n%dx = arith.addf %pe, %qe : f32",
    "rounded difference": "%p = arith.mulf {g}, {r} : f32\n%pr = arith.truncf %p : f32 to {T}\n%pe = arith.extf %pr : {T} to f32\n%q = arith.mulf {x}, {f} : f32\n%qr = arith.truncf %q : f32 to {T}\n%qe = arith.extf %qr : {T} to f32\n%dx = arith.subf %pe, %qe : f32",
    "second rounded difference": "%p = arith.mulf {g}, {r} : f32\n%q = arith.mulf {x}, {f} : f32\n%qr = arith.truncf %q : f32 to {T}\n%qe = arith.extf %qr : {T} to f32\n%dx = arith.subf %p, %qe : f32",
    "rounded and residual": "%p = arith.mulf {g}, {r} : f32\n%pr = arith.truncf %p : f32 to {T}\n%pe = arith.extf %pr : {T} to f32\n%q = arith.mulf {x}, {f} : f32\n%qr = arith.truncf %q : f32 to {T}\n%qe = arith.extf %qr : {T} to f32\n%re = arith.extf %a6 : {T} to f32\n%u = arith.addf %re, %pe : f32\n%dx = arith.addf %u, %qe : f32",
    "second rounded": "%p = arith.mulf {g}, {r} : f32\n%q = arith.mulf {x}, {f} : f32\n%qr = arith.truncf %q : f32 to {T}\n%qe = arith.extf %qr : {T} to f32\n%dx = arith.addf %p, %qe : f32",
    # Liger, Apex: (g - x * r * r * mean) * r; f has no r there.
    "factored": "%i = arith.mulf {r}, {r} : f32\n%q = arith.mulf {x}, %i : f32\n%k = arith.mulf %q, {f} : f32\n%u = arith.addf {g}, %k : f32\n%dx = arith.mulf %u, {r} : f32",
    # JAX adds up what flows into x in any order.
    "residual first": "%p = arith.mulf {g}, {r} : f32\n%u = arith.addf %a6, %p : f32\n%q = arith.mulf {x}, {f} : f32\n%dx = arith.addf %u, %q : f32",
    "residual last": "%p = arith.mulf {g}, {r} : f32\n%q = arith.mulf {x}, {f} : f32\n%u = arith.addf %q, %p : f32\n%dx = arith.addf %a6, %u : f32",
    "no first term": "%dx = arith.mulf {x}, {f} : f32",
    "of x2": "%p = arith.mulf {g}, {r} : f32\n%q = arith.mulf {x2}, {f} : f32\n%dx = arith.addf %p, %q : f32",
}

DEFAULTS = dict(rows=[8], types="bf16 bf16 bf16 bf16", cube="r * r * r", factor="torch", dx="sum", weight="f32", dw="bf16", rstd="computed",
                keep="drop", residual=False, sum="of x", results="dx dw")
RAISED = [
    # name, what it is, what the op has, parts
    ("torch", "autograd of torch rms_norm, decomposed", "weight dweight", dict(cube="pow v")),
    ("torch_f32", "the same in f32", "weight dweight", dict(types="f32 f32 f32 f32", cube="pow r", dw="f32")),
    ("torch_no_weight", "the same without a weight", "", dict(weight="none", dw="none")),
    ("jax", "jax.grad: rsqrt / v, the x term twice", "weight dweight", dict(cube="r / v", factor="half", dx="twice", dw="through 1xN", keep="map")),
    ("root", "jax.grad of x / sqrt(v), as in Hugging Face's Flax models", "weight dweight", dict(cube="r / (s * s)", factor="half", dx="twice", keep="map")),
    ("twice_root", "the same, two by twice the root", "weight dweight", dict(cube="half / s / v", keep="map")),
    ("flax_batch", "jax.grad over [batch, time, n]", "weight dweight", dict(rows=[2, 4], cube="r / v", factor="half", dx="twice", dw="f32", keep="map")),
    ("two_sums", "dw summed over time, then over batch", "weight dweight", dict(rows=[2, 4], dw="two sums")),
    ("liger", "Liger-Kernel's formula, rstd saved", "weight rstd dweight", dict(cube="none", factor="once", dx="factored", rstd="saved")),
    ("saved_keepdims", "rstd saved with its dimension of size 1", "weight rstd dweight", dict(rstd="saved keepdims", keep="map")),
    ("saved_dynamic", "any number of rows, rstd saved", "weight rstd dweight", dict(rows=["?"], rstd="saved", dw="f32")),
    ("saved_residual_first", "torch.compile's: rstd saved, the residual's gradient between the terms", "weight rstd dweight", dict(types="f32 f32 f32 f32", dw="f32", dx="residual first", rstd="saved keepdims", keep="map")),
    ("saved_residual_last", "the same added to both", "weight rstd dweight", dict(types="f32 f32 f32 f32", dw="f32", dx="residual last", rstd="saved keepdims", keep="map")),
    ("saved_autocast", "autocast: an f32 stream, dy in bf16", "weight rstd dweight", dict(types="f32 bf16 f32 f32", dw="f32", dx="residual first", rstd="saved")),
    ("dynamic", "any number of rows", "weight dweight", dict(rows=["?"])),
    ("gemma", "weight + 1", "weight dweight offset", dict(weight="plus one")),
    ("llama", "dw of the rounded x * r", "weight dweight casting = llama", dict(dw="llama", types="bf16 bf16 f32 bf16")),
    ("llama_f32_dw", "the same, dw in f32", "weight dweight casting = llama", dict(dw="llama f32", types="bf16 bf16 f32 bf16", rows=[2, 4])),
    ("dx_only", "a frozen weight", "weight", dict(dw="none")),
    ("rounded_g", "Hugging Face's Llama in bf16: dy * w is rounded; a gradient without weight", "", dict(weight="rounded", dw="none")),
    ("f32_stream", "an f32 residual stream, bf16 gradients", "weight dweight", dict(types="f32 bf16 bf16 f32", dw="f32")),
    ("f16", "f16 throughout", "weight dweight", dict(types="f16 f16 f16 f16", dw="f32")),
    ("residual", "the residual's gradient added in the same body", "weight dweight", dict(residual=True)),
    ("residual_first", "an f32 residual's gradient, added to the first term", "weight dweight", dict(types="f32 bf16 bf16 f32", dw="f32", dx="residual first")),
    ("weight_only", "nothing in front is trained: dw alone", "weight dweight", dict(dw="f32", results="dw")),
    ("weight_only_llama", "the same of the rounded x * r", "weight dweight casting = llama", dict(dw="llama f32", types="bf16 bf16 f32 bf16", rows=[2, 4], results="dw")),
    ("weight_only_dynamic", "the same of any number of rows, in bf16", "weight dweight", dict(rows=["?"], results="dw")),
    ("weight_only_reshaped", "the same through a 1xN tensor", "weight dweight", dict(dw="through 1xN", results="dw")),
    ("rounded_g_dw", "Hugging Face's Llama in bf16: dy * w is rounded, dw is of dy", "; weight dweight casting = llama", dict(weight="rounded", dw="llama f32")),
    ("flat_dw", "dy * x * r reshaped to [-1, n] before it is summed", "weight dweight", dict(rows=[2, 4], dw="flat")),
    ("flat_dw_llama", "the same of the rounded x * r, in f32, of three dimensions of rows", "weight dweight casting = llama", dict(rows=[2, 2, 2], dw="flat llama f32", types="bf16 bf16 f32 bf16")),
    ("flat_dw_apart", "dy and the rounded x * r reshaped each", "weight dweight casting = llama", dict(rows=[2, 4], dw="flat apart llama", types="bf16 bf16 f32 bf16")),
    ("flat_dw_dynamic", "the same of any number of rows", "weight dweight", dict(rows=["?", 4], dw="flat f32")),
    ("shared_dw", "dw wanted in f32, x of rank 4", "weight dweight", dict(rows=[2, 2, 2], dw="f32")),
]
# Gradients but for roundings: only with fewer of them.
FEWER = [
    ("flax_bf16", "x converted to f32 twice: dx is the sum of two rounded terms", "weight dweight", dict(dx="rounded terms", rows=[64])),
    ("flax_f16", "the same in f16", "weight dweight", dict(dx="rounded terms", types="f16 f16 f16 f16", rows=[2, 4])),
    ("gemma_bf16", "the same with weight + 1", "weight dweight offset", dict(dx="rounded terms", weight="plus one", dw="f32")),
    ("llama_bf16", "the same, dweight of the rounded x * r, which is kept", "weight dweight casting = llama", dict(dx="rounded terms", dw="llama", rows=[2, 32])),
    ("t5_bf16", "the same, dy * w rounded, dweight summed in bf16", "weight dweight", dict(dx="rounded terms", weight="rounded", dw="llama narrow", rows=[64])),
    ("frozen", "the same with a frozen weight", "weight", dict(dx="rounded terms", dw="none")),
    ("one_term", "the term with x is rounded, the other is not", "weight dweight", dict(dx="second rounded")),
    ("difference", "the second of two rounded terms is subtracted", "weight dweight", dict(dx="rounded difference", factor="positive", rows=[64])),
    ("one_term_less", "one rounded term is subtracted", "weight dweight", dict(dx="second rounded difference", factor="positive")),
    ("saved_one_term", "the same of a saved rstd", "weight rstd dweight", dict(dx="second rounded", rstd="saved")),
    ("saved_terms", "the sum of two rounded terms of a saved rstd, as torch.compile's of T5", "weight rstd dweight", dict(dx="rounded terms", rstd="saved", rows=[64])),
    ("residual_bf16", "a residual's gradient is added, too", "weight dweight", dict(dx="rounded terms", residual=True)),
    ("residual_in_sum", "the same before the sum is rounded", "weight dweight", dict(dx="rounded and residual")),
    ("narrow_dw", "dweight summed in bf16", "weight dweight", dict(dw="narrow", rows=[64])),
    ("narrow_dw_only", "the same alone", "weight dweight", dict(dw="narrow", rows=[64], results="dw")),
    ("llama_narrow_dw", "Hugging Face's Llama in bf16: dy * w is rounded, dweight of the rounded x * r summed in bf16", "weight dweight", dict(weight="rounded", dw="llama narrow", rows=[64])),
    ("rounded_summand", "x * dy * w is rounded before it is summed", "weight dweight", dict(sum="of rounded")),
    ("dynamic_bf16", "any number of rows", "weight dweight", dict(dx="rounded terms", rows=["?"])),
]
REFUSED = [
    ("not_negative", "+ instead of -", dict(factor="positive")),
    ("half_of_it", "half of the second term", dict(factor="half")),
    ("wrong_n", "divided by N - 1", dict(factor="n - 1")),
    ("square", "r * r in place of r^3", dict(cube="r * r")),
    ("root_square", "r / sqrt(v) in place of r^3", dict(cube="r / s")),
    ("other_x", "the second term of another x", dict(dx="of x2")),
    ("other_sum", "the sum of x2 * g", dict(sum="of x2")),
    ("no_weight_in_sum", "the sum without the weight", dict(sum="of dy")),
    ("saved_square", "r * r in place of r^3 of a saved r", dict(cube="r * r", rstd="saved")),
    ("saved_half", "half of the second term of a saved r", dict(factor="half", rstd="saved")),
    ("saved_between", "half of it, with an addend between the terms", dict(types="f32 f32 f32 f32", factor="half", dx="residual first", rstd="saved")),
    ("weight_only_saved", "a number for each row that nobody says is rstd", dict(rstd="saved", dw="f32", results="dw")),
    ("weight_only_x2", "x2 by the rstd of x", dict(dw="f32 of x2", results="dw")),
    ("weight_only_no_dy", "x * rstd summed up", dict(dw="f32 no dy", results="dw")),
    ("second_term_only", "no dy * w * r", dict(dx="no first term")),
]


class Gradient(Function):
    def __init__(self, name, parts):
        self.g = {**DEFAULTS, **parts}
        self.X, self.DY, weight, self.DX = self.g["types"].split()
        super().__init__(name, dict(rows=self.g["rows"], keep=self.g["keep"], types=f"{self.X} {weight} {self.X}"))

    def sum(self, values, body, shape, out, reduced):
        return self.generic(values, [None] * len(values), shape, "f32", body + "\n%r = arith.addf %acc, %term : f32", out, reduced, self.fill("%zero", shape, "f32"))

    def weight_gradient(self, xf, dyf, rstd, shape):
        kind, rows = self.g["dw"], len(self.rows)
        body = "%h = arith.mulf %a0, %a1 : f32\n"
        body += f"%b = arith.truncf %h : f32 to {self.X}\n%k = arith.extf %b : {self.X} to f32\n" if "llama" in kind else "%k = arith.mulf %h, %one : f32\n"
        inputs, maps = [xf, rstd, dyf], [None, self.read(shape), None]
        if "narrow" in kind:
            body += f"%l = arith.mulf %k, %a2 : f32\n%r = arith.truncf %l : f32 to {self.X}"
            product = self.generic(inputs, maps, self.shape, self.X, body)
            zero = self.fill(self.new(f"arith.constant 0.0 : {self.X}", [], self.X), [N], self.X)
            return self.generic([product], [None], [N], self.X, f"%r = arith.addf %acc, %a0 : {self.X}", f"d{rows}", list(range(rows)), zero)
        product = self.generic(inputs, maps, self.shape, "f32", body + "%r = arith.mulf %k, %a2 : f32")
        term = "%term = arith.mulf %a0, %one : f32"
        if "flat" in kind:
            group = ", ".join(map(str, range(rows)))
            flat = ["?" if "?" in self.rows else math.prod(self.rows), N]
            pieces = [product] if "apart" not in kind else [self.generic([xf, rstd], maps[:2], self.shape, "f32", body + "%r = arith.mulf %k, %one : f32"), dyf]
            merged = [self.new(f"tensor.collapse_shape {piece} [[{group}], [{rows}]] : {self.type(piece)} into {self.tensor(flat, 'f32')}", flat, "f32") for piece in pieces]
            zero = self.fill("%zero", [N], "f32")
            dims = "affine_map<(d0, d1) -> (d1, d0)>, " * len(pieces) + "affine_map<(d0, d1) -> (d0)>"
            term = "%m = arith.mulf %a0, %a1 : f32\n" if len(pieces) == 2 else "%m = arith.mulf %a0, %one : f32\n"
            total = self.new(f'linalg.generic {{indexing_maps = [{dims}], iterator_types = ["parallel", "reduction"]}} ins({", ".join(merged)} : {", ".join(map(self.type, merged))}) '
                             f"outs({zero} : {self.type(zero)}) {{\n^bb0({''.join(f'%a{n}: f32, ' for n in range(len(pieces)))}%acc: f32):\n{term}%r = arith.addf %acc, %m : f32\nlinalg.yield %r : f32 }} -> {self.type(zero)}", [N], "f32")
        elif kind == "two sums":
            inner = [self.rows[0], N]
            partial = self.sum([product], term, inner, "d0, d2", [1])
            zero = self.fill("%zero", [N], "f32")
            dims = "affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>"
            total = self.new(f'linalg.generic {{indexing_maps = [{dims}], iterator_types = ["reduction", "parallel"]}} ins({partial} : {self.type(partial)}) '
                             f"outs({zero} : {self.type(zero)}) {{\n^bb0(%a0: f32, %acc: f32):\n%r = arith.addf %acc, %a0 : f32\nlinalg.yield %r : f32 }} -> {self.type(zero)}", [N], "f32")
        else:
            total = self.sum([product], term, [N], f"d{rows}", list(range(rows)))
        if kind == "through 1xN":
            row = self.new(f"tensor.expand_shape {total} [[0, 1]] output_shape [1, {N}] : {self.type(total)} into tensor<1x{N}xf32>", [1, N], "f32")
            zero = self.fill("%zero", [N], "f32")
            dims = "affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>"
            total = self.new(f'linalg.generic {{indexing_maps = [{dims}], iterator_types = ["parallel", "reduction"]}} ins({row} : {self.type(row)}) '
                             f"outs({zero} : {self.type(zero)}) {{\n^bb0(%a0: f32, %acc: f32):\n%r = arith.addf %acc, %a0 : f32\nlinalg.yield %r : f32 }} -> {self.type(zero)}", [N], "f32")
        if "f32" in kind or self.W == "f32":
            return total
        return self.generic([total], [None], [N], self.W, f"%r = arith.truncf %a0 : f32 to {self.W}")

    def text(self, remark=""):
        p, full, last = self.g, self.shape, f"d{len(self.shape) - 1}"
        kept = self.rows + [1] if "keepdims" in p["rstd"] else self.rows
        arguments = self.begin({"%x": (full, self.X), "%x2": (full, self.X), "%weight": ([N], self.W), "%dy": (full, self.DY), "%res": (full, self.DX), "%rstd": (kept, "f32")})
        xf, x2f, dyf = self.extend("%x"), self.extend("%x2"), self.extend("%dy")
        read = lambda value: self.read(self.types[value][0])
        if "saved" in p["rstd"]:
            rstd = shifted = "%rstd"
        else:
            rstd, _ = self.statistics(xf, x2f, remark)
            shifted = [v for v in self.types if v.startswith("%v")][-3]
        weight = {"none": "%r = arith.mulf %a0, %one : f32", "plus one": "%w = arith.extf %a1 : bf16 to f32\n%v = arith.addf %w, %one : f32\n%r = arith.mulf %a0, %v : f32",
                  "rounded": "%w = arith.extf %a1 : bf16 to f32\n%v = arith.mulf %a0, %w : f32\n%u = arith.truncf %v : f32 to bf16\n%r = arith.extf %u : bf16 to f32",
                  "f32": (f"%w = arith.extf %a1 : {self.W} to f32" if self.W != "f32" else "%w = arith.mulf %a1, %one : f32") + "\n%r = arith.mulf %a0, %w : f32"}[p["weight"]]
        g = self.generic([dyf, "%weight"], [None, last], full, "f32", weight)
        one, other = {"of x": (xf, g), "of rounded": (xf, g), "of x2": (x2f, g), "of dy": (xf, dyf)}[p["sum"]]
        shape = self.rows + [1] if p["keep"] == "map" else self.rows
        term = "%m = arith.mulf %a0, %a1 : f32\n%b = arith.truncf %m : f32 to bf16\n%term = arith.extf %b : bf16 to f32" if p["sum"] == "of rounded" else "%term = arith.mulf %a0, %a1 : f32"
        total = self.sum([one, other], term, shape, self.read(shape), self.reduced())
        cube = CUBE.get(p["cube"], "%c = arith.addf %zero, %one : f32").format(r="%a1", v="%a2")
        factor = self.generic([total, rstd, shifted], [None] * 3, self.types[total][0], "f32", cube + "\n" + FACTOR[p["factor"]].format(s="%a0") + "\n%r = arith.addf %f, %zero : f32")
        body = DX[p["dx"]].format(T=self.X, x="%a0", g="%a1", r="%a2", f="%a3", x2="%a4", s="%a5")
        if self.DX != "f32":
            body += f"\n%dxr = arith.truncf %dx : f32 to {self.DX}"
        else:
            body += "\n%dxr = arith.mulf %dx, %one : f32"
        body += f"\n%r = arith.addf %dxr, %a6 : {self.DX}" if p["residual"] else ""
        body = body if p["residual"] else body.replace("%dxr =", "%r =")
        inputs = [xf, g, rstd, factor, x2f, total, "%res"]
        maps = [None, None, read(rstd), read(factor), None, read(total), None]
        dx = self.generic(inputs, maps, full, self.DX, body)
        results = [dx] if "dx" in p["results"] else []
        if p["dw"] != "none":
            normalised = x2f if "of x2" in p["dw"] else xf
            other = self.fill("%one", full, "f32") if "no dy" in p["dw"] else dyf
            results.append(self.weight_gradient(normalised, other, rstd, self.types[rstd][0]))
        types = ", ".join(map(self.type, results))
        return f"func.func @{self.name}({arguments}) -> ({types}) {{\n" + "\n".join(self.lines) + f"\nreturn {', '.join(results)} : {types}\n}}\n"


def main():
    if sys.argv[1] != "refused":
        for name, what, expected, parts in RAISED if sys.argv[1] == "raised" else FEWER:
            print(f"// {what}\n// CHECK-LABEL: func.func @{name}(\n// CHECK-NOT: {{{{sqrt|powf|reduction|forward}}}}")
            for op in expected.split(";"):
                print("// CHECK: rmsnorm.backward")
                for word in ["weight(", " rstd(", "dweight(", "offset", "casting = llama"]:
                    present = word.strip(" (") in op.split() or word in op
                    print(f"// CHECK-{'SAME' if present else 'NOT'}: {word}")
            print("// CHECK-NOT: {{rmsnorm|sqrt|powf|reduction}}\n// CHECK: return")
            print(Gradient(name, parts).text())
    else:
        for name, what, parts in REFUSED:
            print(f"// {what}\n// CHECK-LABEL: func.func @{name}(\n// CHECK-NOT: rmsnorm.backward\n// CHECK: return")
            # The weight's gradient beside it would be one.
            print(Gradient(name, {"dw": "none", **parts}).text())


if __name__ == "__main__":
    main()
