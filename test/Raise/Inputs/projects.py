# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Generates norms as other projects decompose them, which rmsnorm-raise was not written with.

    projects.py    prints a module with what is to be checked

Arithmetic on tensors and named linalg ops, as from StableHLO and the like; each
formula is that of the source named, the IR is written for this test.
"""

FLOATS = {"bf16": 16, "f16": 16, "f32": 32, "f64": 64}
ROWS, N = 8, 96


def tensor(shape, element):
    return "tensor<" + "".join(f"{size}x" for size in shape) + element + ">"


class Function:
    def __init__(self, **arguments):
        """Name -> (shape, element)."""
        self.types = {f"%{name}": kind for name, kind in arguments.items()}
        self.arguments = ", ".join(f"%{name}: {tensor(*kind)}" for name, kind in arguments.items())
        self.lines = []

    def type(self, value):
        return tensor(*self.types[value])

    def new(self, text, shape, element):
        value = f"%{len(self.lines)}"
        self.types[value] = (list(shape), element)
        self.lines.append(f"{value} = {text}")
        return value

    def op(self, name, *operands):
        return self.new(f"{name} {', '.join(operands)} : {self.type(operands[0])}", *self.types[operands[0]])

    def mul(self, a, b):
        return self.op("arith.mulf", a, b)

    def add(self, a, b):
        return self.op("arith.addf", a, b)

    def sub(self, a, b):
        return self.op("arith.subf", a, b)

    def div(self, a, b):
        return self.op("arith.divf", a, b)

    def rsqrt(self, a):
        return self.op("math.rsqrt", a)

    def constant(self, number, like):
        shape, element = self.types[like]
        return self.new(f"arith.constant dense<{number}> : {tensor(shape, element)}", shape, element)

    def cast(self, value, element):
        shape, old = self.types[value]
        name = "extf" if FLOATS[element] > FLOATS[old] else "truncf"
        return self.new(f"arith.{name} {value} : {self.type(value)} to {tensor(shape, element)}", shape, element)

    def into(self, name, value, shape, init=None, attributes=""):
        element = self.types[value][1]
        init = init or self.new(f"tensor.empty() : {tensor(shape, element)}", shape, element)
        return self.new(f"linalg.{name} ins({value} : {self.type(value)}) outs({init} : {self.type(init)}) {attributes}", shape, element)

    def sum(self, value, dims, init="0.0"):
        shape, element = self.types[value]
        shape = [size for i, size in enumerate(shape) if i not in dims]
        text = f"arith.constant dense<{init}> : {tensor(shape, element)}" if init else f"tensor.empty() : {tensor(shape, element)}"
        return self.into("reduce { arith.addf }", value, shape, self.new(text, shape, element), f"dimensions = {dims}")

    def broadcast(self, value, like, dims):
        return self.into("broadcast", value, self.types[like][0], None, f"dimensions = {dims}")

    def along(self, value, like):
        """One value a row."""
        return self.broadcast(value, like, [len(self.types[like][0]) - 1])

    def across(self, value, like):
        """One value a column."""
        return self.broadcast(value, like, list(range(len(self.types[like][0]) - 1)))

    def reshape(self, value, shape, groups):
        old, element = self.types[value]
        if len(shape) > len(old):
            return self.new(f"tensor.expand_shape {value} {groups} output_shape {shape} : {self.type(value)} into {tensor(shape, element)}", shape, element)
        return self.new(f"tensor.collapse_shape {value} {groups} : {self.type(value)} into {tensor(shape, element)}", shape, element)

    def variance(self, x, dims=None, init="0.0"):
        """mean(x * x) + eps."""
        dims = dims or [len(self.types[x][0]) - 1]
        count = 1
        for dim in dims:
            count *= self.types[x][0][dim]
        total = self.sum(self.mul(x, x), dims, init)
        mean = self.div(total, self.constant(float(count), total))
        return self.add(mean, self.constant("1.0e-05", mean))

    def rstd(self, x):
        return self.along(self.rsqrt(self.variance(x)), x)

    def text(self, name, results):
        types = ", ".join(map(self.type, results))
        body = "\n  ".join(self.lines + [f"return {', '.join(results)} : {types}"])
        return f"func.func @{name}({self.arguments}) -> ({types}) {{\n  {body}\n}}\n"


CASES = []


def case(source, expected, *, x="f32", rows=(ROWS,), **more):
    """A function of x of `rows` and N columns; `more` are further arguments: an element, for a weight, or a shape and an element."""
    def add(build):
        kinds = {name: ([N], kind) if isinstance(kind, str) else kind for name, kind in more.items()}
        f = Function(x=(list(rows) + [N], x), **kinds)
        results = build(f)
        CASES.append((build.__name__, source, expected, f.text(build.__name__, results if isinstance(results, tuple) else (results,))))
    return add


MATRIX = ([ROWS, N], "f32")


@case("haiku.RMSNorm: inputs * scale * rsqrt(mean + eps)", "forward weight", w="f32")
def haiku(f):
    return f.mul(f.mul("%x", f.across("%w", "%x")), f.rstd("%x"))


@case("flax _normalize: y * (rsqrt(var + eps) * scale)", "forward weight", x="bf16", w="f32")
def flax(f):
    x = f.cast("%x", "f32")
    return f.cast(f.mul(x, f.mul(f.rstd(x), f.across("%w", x))), "bf16")


@case("transformers Gemma3nRMSNorm: pow(mean + eps, -0.5), type_as", "forward weight", x="bf16", w="bf16")
def gemma3n(f):
    x = f.cast("%x", "f32")
    v = f.variance(x)
    r = f.op("math.powf", v, f.constant("-0.5", v))
    return f.cast(f.mul(f.mul(x, f.along(r, x)), f.across(f.cast("%w", "f32"), x)), "bf16")


@case("transformers Olmo2RMSNorm: (weight * hidden).to(dtype)", "forward weight", x="bf16", w="bf16")
def olmo2(f):
    x = f.cast("%x", "f32")
    return f.cast(f.mul(f.across(f.cast("%w", "f32"), x), f.mul(x, f.rstd(x))), "bf16")


@case("vllm RMSNorm.forward_native: the f32 sum is normalised, the rounded one returned", "forward", x="bf16", res=([ROWS, N], "bf16"), w="bf16")
def vllm(f):
    x = f.add(f.cast("%x", "f32"), f.cast("%res", "f32"))
    y = f.cast(f.mul(x, f.rstd(x)), "bf16")
    return f.mul(y, f.across("%w", y)), f.cast(x, "bf16")


@case("tt-mlir rms_norm_fusion_1, from torch-xla: as 8x1xN, pow with a splat, times 1/N", "forward weight casting = llama", x="bf16", w="bf16")
def tt_reshapes(f):
    x = f.cast(f.reshape("%x", [ROWS, 1, N], [[0], [1, 2]]), "f32")
    total = f.sum(f.op("math.powf", x, f.constant("2.0", x)), [2])
    mean = f.reshape(f.mul(total, f.constant("0.010416667", total)), [ROWS, 1, 1], [[0], [1, 2]])
    r = f.reshape(f.rsqrt(f.add(mean, f.constant("1.0e-05", mean))), [ROWS, 1], [[0], [1, 2]])
    y = f.cast(f.mul(x, f.along(r, x)), "bf16")
    return f.reshape(f.mul(f.across("%w", y), y), [ROWS, N], [[0], [1, 2]])


@case("tt-mlir rms_norm_fusion_with_typecast: f32 in, the product with the weight in bf16", "forward", w="bf16")
def tt_typecast(f):
    y = f.cast(f.mul("%x", f.rstd("%x")), "bf16")
    return f.mul(f.across("%w", y), y)


# A row dimension of size 1, and no tensor.empty as a destination: the product
# without the weight stayed, as a norm of its own.
@case("ai-edge-torch odml.rms_norm: 1x8xN", "forward weight", rows=(1, ROWS), w="f32")
def odml(f):
    return f.mul(f.mul("%x", f.rstd("%x")), f.across("%w", "%x"))


@case("torch-mlir, a Qwen3 attention: heads expanded, weight times the rounded norm", "forward weight casting = llama", x="bf16", rows=(ROWS, 4), w="bf16")
def qwen3_heads(f):
    x = f.cast("%x", "f32")
    y = f.cast(f.mul(x, f.rstd(x)), "bf16")
    return f.mul(f.across("%w", y), y)


@case("transformers Zamba2RMSNormGated: groups of the last dimension, a weight of all of it", "forward", x="bf16", rows=(ROWS, 4), w=([4, N], "bf16"))
def zamba2(f):
    x = f.cast("%x", "f32")
    y = f.cast(f.mul(x, f.rstd(x)), "bf16")
    return f.mul(f.broadcast("%w", y, [0]), y)


@case("onnx RMSNorm with a bias behind", "forward weight", w="f32", b="f32")
def onnx_bias(f):
    v = f.variance("%x")
    r = f.div(f.constant("1.0", v), f.op("math.sqrt", v))
    return f.add(f.mul(f.mul("%x", f.along(r, "%x")), f.across("%w", "%x")), f.across("%b", "%x"))


@case("torch _fused_rms_norm_backward: (g - xhat / N * sum) * rstd", "backward weight dweight", dy=MATRIX, w="f32")
def torch_backward(f):
    r = f.rstd("%x")
    g, xhat = f.mul("%dy", f.across("%w", "%x")), f.mul("%x", r)
    s = f.along(f.sum(f.mul(xhat, g), [1]), "%x")
    return f.mul(f.sub(g, f.mul(f.div(xhat, f.constant(float(N), xhat)), s)), r), f.sum(f.mul("%dy", xhat), [0])


@case("unsloth _rms_layernorm_backward: rstd / N * (N * g - xhat * sum)", "backward weight", dy=MATRIX, w="f32")
def unsloth(f):
    r = f.rstd("%x")
    g, xhat = f.mul("%dy", f.across("%w", "%x")), f.mul("%x", r)
    s, n = f.along(f.sum(f.mul(g, xhat), [1]), "%x"), f.constant(float(N), "%x")
    return f.mul(f.div(r, n), f.sub(f.mul(n, g), f.mul(xhat, s)))


@case("quack, flash-attention: (g - xhat * mean(xhat * g)) * rstd", "backward weight", dy=MATRIX, w="f32")
def quack(f):
    r = f.rstd("%x")
    g, xhat = f.mul("%dy", f.across("%w", "%x")), f.mul("%x", r)
    s = f.sum(f.mul(xhat, g), [1])
    return f.mul(f.sub(g, f.mul(xhat, f.along(f.div(s, f.constant(float(N), s)), "%x"))), r)


@case("AscendNPU-IR compile-rms-norm: summed up in a tensor.empty, whose elements are undefined", "what is under the root is no sum over one dimension, from zero")
def ascend_undefined(f):
    return f.mul("%x", f.along(f.rsqrt(f.variance("%x", init=None)), "%x"))


@case("burn: x / sqrt(mean + eps).cast(bf16), the quotient in bf16", "what is multiplied with the root is not the x whose squares are summed", x="bf16")
def burn(f):
    return f.div("%x", f.along(f.cast(f.op("math.sqrt", f.variance(f.cast("%x", "f32"))), "bf16"), "%x"))


@case("haiku: x * scale in bf16, * rsqrt(mean + eps)", "x times another factor is rounded before it is multiplied with the root", x="bf16", w="bf16")
def haiku_bf16(f):
    r = f.cast(f.rsqrt(f.variance(f.cast("%x", "f32"))), "bf16")
    return f.mul(f.mul("%x", f.across("%w", "%x")), f.along(r, "%x"))


@case("lucidrains RMSNorm: x / max(norm, 1e-12) * sqrt(N)", "no constant positive epsilon is added under the root")
def lucidrains(f):
    root = f.op("math.sqrt", f.sum(f.mul("%x", "%x"), [1]))
    y = f.div("%x", f.along(f.op("arith.maximumf", root, f.constant("1.0e-12", root)), "%x"))
    return f.mul(y, f.constant("9.797959", y))


@case("pRMSNorm of the paper: the statistics of a part of the row", "what is multiplied with the root is not the x whose squares are summed")
def partial(f):
    part = f.new(f"tensor.extract_slice %x[0, 0] [{ROWS}, 48] [1, 1] : {f.type('%x')} to tensor<{ROWS}x48xf32>", [ROWS, 48], "f32")
    return f.mul("%x", f.along(f.rsqrt(f.variance(part)), "%x"))


@case("torch rms_norm(x, [4, N]): over two dimensions", "what is under the root is no sum over one dimension", rows=(ROWS, 4))
def two_dims(f):
    return f.mul("%x", f.broadcast(f.rsqrt(f.variance("%x", [1, 2])), "%x", [1, 2]))


@case("diffusers RMSNorm over channels: axis 1 of [b, c, t]", "the dimension that is summed is not the last", rows=(2, 4))
def channels(f):
    return f.mul("%x", f.broadcast(f.rsqrt(f.variance("%x", [1])), "%x", [1]))


@case("flax with use_mean: mean(x^2) - mean(x)^2", "what is under the root is a variance, as in a LayerNorm")
def variance(f):
    s, squares = f.sum("%x", [1]), f.sum(f.mul("%x", "%x"), [1])
    m, n = f.div(s, f.constant(float(N), s)), f.constant(float(N), s)
    v = f.sub(f.div(squares, n), f.mul(m, m))
    return f.mul("%x", f.along(f.rsqrt(f.add(v, f.constant("1.0e-05", v))), "%x"))


def main():
    for name, source, expected, text in CASES:
        print(f"// {source}\n// CHECK-LABEL: func.func @{name}(")
        kind, *words = expected.split(maxsplit=1)
        if kind not in ("forward", "backward"):
            print(f"// CHECK-NOT: rmsnorm.\n// CHECK: math.{{{{rsqrt|sqrt}}}}\n// REMARK: remark: not raised to rmsnorm.forward: {expected}")
        else:
            print(f"// CHECK-NOT: {{{{rmsnorm|rsqrt|sqrt|powf|reduction}}}}\n// CHECK: rmsnorm.{kind}")
            for word in ["weight(", "dweight(", "casting = llama"]:
                present = f" {word.strip('(')}" in f" {' '.join(words)}"
                print(f"// CHECK-{'SAME' if present else 'NOT'}: {'{{ }}' if word[-1] == '(' else ''}{word}")
            print("// CHECK-NOT: {{rmsnorm|rsqrt|sqrt|powf|reduction}}")
        print(f"// CHECK: return\n{text}")


if __name__ == "__main__":
    main()
