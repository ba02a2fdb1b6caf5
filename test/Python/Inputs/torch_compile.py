# Models under torch.compile on the simulator: what is taken, and that results are those of the same graph without us.
#
# Graphs run op by op, in eager mode, after the pass (`Bare`); Inductor's own code, which takes long to compile, is for a few.
import contextlib
import copy
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import torch
from torch._inductor.compile_fx import compile_fx

import rmsnorm.torch
import torch_blocks
from rmsnorm.torch.backend import Pass

TARGET = "sim:sm_90"
VERSION = tuple(map(int, torch.__version__.split(".")[:2]))


class Bare:
    """A backend that runs the graphs that Inductor would compile, after the pass and, copied, without it: `results` of both."""

    def __init__(self, roundings="exact", row_wise="norms", target=TARGET):
        self.run_pass = Pass(roundings, row_wise, target)
        self.graphs, self.results = [], []

    def __call__(self, module, inputs):
        def inner(module, inputs, **_):
            plain = copy.deepcopy(module)
            self.run_pass(module.graph)
            module.graph.lint()
            module.recompile()
            self.graphs.append(module.graph)

            def run(args):
                args = list(args)
                expected = plain(*[a.clone() if isinstance(a, torch.Tensor) else a for a in args])
                got = module(*args)
                self.results.append((flatten(got), flatten(expected)))
                return got

            run._boxed_call = True
            return run
        return compile_fx(module, inputs, inner_compile=inner)


def flatten(y):
    return list(y) if isinstance(y, (tuple, list)) else [y]


def distance(got, expected):
    """The largest of all results, and of results that are no tensors whether they differ."""
    far = [0.0]
    for a, b in zip(got, expected, strict=True):
        if not isinstance(b, torch.Tensor):
            far.append(float(a != b))
        else:
            assert (a.shape, a.dtype, a.stride()) == (b.shape, b.dtype, b.stride()), (a.shape, a.dtype, a.stride(), b.shape, b.dtype, b.stride())
            far.append(((a.double() - b.double()).norm() / b.double().norm().clamp(min=1e-30)).item())
    return max(far)


def run(name, trains=False, dtype=torch.bfloat16, batch=2, tokens=16, autocast=False, dynamic=None, **options):
    """(for each graph how far our results are from those without us, what was done with it)"""
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = torch_blocks.make(name).to(dtype)
    inputs = torch_blocks.arguments(name, batch=batch, tokens=tokens, dtype=dtype)
    if dynamic is not None:
        torch._dynamo.mark_dynamic(inputs[0], dynamic)
    before, backend = len(rmsnorm.torch.report()), Bare(**options)
    compiled = torch.compile(model, backend=backend, dynamic=False if dynamic is None else None)
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast), contextlib.nullcontext() if trains else torch.no_grad():
        y = flatten(compiled(*inputs))[0]
        if trains:
            y.float().square().mean().backward()
        if dynamic is not None:
            sizes = {"batch": batch, "tokens": tokens, ("batch", "tokens")[dynamic]: 5}
            compiled(*torch_blocks.arguments(name, dtype=dtype, **sizes))
            assert len(backend.graphs) == 1, "expected one graph for both sizes"
    return [distance(*r) for r in backend.results], rmsnorm.torch.report()[before:]


def counts(graph):
    return graph.norms, sum(n for n, _ in graph.calls), len(graph.calls), sum(n for _, n in graph.calls)


# Forward: norms, nodes that are taken, calls, launches.
FORWARD = {"llama": (5, 45, 5, 5), "qwen3": (9, 117, 7, 7), "gemma3": (13, 175, 7, 7), "olmo2": (9, 120, 6, 6),
           "gpt_oss": (5, 45, 5, 5), "t5": (5, 45, 5, 5), "dit": (4, 86, 6, 6), "fp8": (1, 19, 1, 1)}
# Sums in f32 have another order: a bf16 here and there is rounded the other way, and that goes on through the layers.
BF16, F32 = 5e-3, 1e-5


class Models(unittest.TestCase):
    def check(self, name, expected, bound, **options):
        far, done = run(name, **options)
        for got, graph, counted in zip(far, done, expected, strict=True):
            got_counts = counts(graph)
            if VERSION < (2, 15):  # others decompose gradients into other nodes
                got_counts, counted = ((norms, *calls) for norms, _, *calls in (got_counts, counted))
            self.assertEqual(got_counts, counted, str(graph))
            self.assertLess(got, bound)

    def test_forward(self):
        for name, expected in FORWARD.items():
            with self.subTest(name):
                self.check(name, [expected], BF16)

    def test_decoding(self):
        """Of one row: what has no other rows is no weight."""
        self.check("qwen3", [(9, 117, 7, 7)], BF16, batch=1, tokens=1)

    def test_dynamic(self):
        far, (done,) = run("llama", dynamic=1)
        self.assertEqual(counts(done), (5, 45, 5, 5))
        self.assertEqual(len(far), 2)
        self.assertLess(max(far), BF16)

    def test_training(self):
        """Gradients have fewer roundings than the program: nearer to f32 than it, not equal to it."""
        self.check("qwen3", [(9, 109, 7, 7), (9, 236, 7, 13)], 2e-2, trains=True, roundings="fewer")
        self.check("dit", [(4, 85, 6, 6), (4, 86, 2, 2)], 2e-2, trains=True, roundings="fewer")

    def test_training_f32(self):
        self.check("olmo2", [(9, 94, 6, 6), (9, 203, 6, 13)], F32, trains=True, dtype=torch.float32)

    def test_training_autocast(self):
        self.check("llama", [(5, 41, 5, 5), (5, 106, 5, 5)], 2e-2, trains=True, dtype=torch.float32, autocast=True)


class Keys(torch.nn.Module):
    """Keys with a norm and a rotation, each for three heads, as models without grouped attention repeat them."""

    def __init__(self):
        super().__init__()
        self.k, self.norm = torch.nn.Linear(128, 2 * 64, bias=False), torch_blocks.LlamaNorm(64)

    def forward(self, x, q, cos, sin):
        k = self.norm(self.k(x).view(*x.shape[:2], 2, 64)).transpose(1, 2)
        k = torch_blocks.rotate(k, cos, sin)[:, :, None].expand(-1, -1, 3, -1, -1).reshape(q.shape)
        return torch.nn.functional.scaled_dot_product_attention(q, k, q, is_causal=True)


class Stacked(torch.nn.Module):
    """Norms of q and k, which come with v from one product: gradients of all three are stacked."""

    def __init__(self):
        super().__init__()
        self.qkv, self.q, self.k = torch.nn.Linear(128, 3 * 128, bias=False), torch_blocks.LlamaNorm(64), torch_blocks.LlamaNorm(64)

    def forward(self, x, unbinds, rotation=None):
        if unbinds:
            q, k, v = self.qkv(x).view(*x.shape[:2], 3, 2, 64).unbind(2)
        else:
            q, k, v = (part.view(*x.shape[:2], 2, 64) for part in self.qkv(x).split(128, -1))
        q, k, v = self.q(q).transpose(1, 2), self.k(k).transpose(1, 2), v.transpose(1, 2)
        if rotation:
            q, k = torch_blocks.rotate(q, *rotation), torch_blocks.rotate(k, *rotation)
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)


class Step(torch.nn.Module):
    """Attention of a step of decoding: keys, normed and rotated, and values into their places of a cache."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = (torch.nn.Linear(128, heads * 64, bias=False) for heads in (4, 2, 2))
        self.q_norm, self.k_norm = torch_blocks.LlamaNorm(64), torch_blocks.LlamaNorm(64)

    def forward(self, x, rotation, places, keys, values, by_copy=False):
        q, k, v = (made.view(*x.shape[:2], -1, 64) for made in (self.q(x), self.k(x), self.v(x)))
        q, k = (torch_blocks.rotate(y.transpose(1, 2), *rotation) for y in (self.q_norm(q), self.k_norm(k)))
        if by_copy:
            keys.index_copy_(2, places, k)
            values.index_copy_(2, places, v.transpose(1, 2))
        else:
            keys[:, :, places] = k
            values[:, :, places] = v.transpose(1, 2)
        return torch.nn.functional.scaled_dot_product_attention(q, keys, values, enable_gqa=True)

    @staticmethod
    def arguments(batch, tokens, first, dtype=torch.float32):
        torch.manual_seed(first)
        caches = [torch.randn(batch, 2, 32, 64, dtype=dtype) for _ in range(2)]
        rotation = [table.to(dtype) for table in torch_blocks.tables(tokens, 64, "cpu")]
        return [torch.randn(batch, tokens, 128, dtype=dtype), rotation, torch.arange(tokens) + first, *caches]


class Norm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch_blocks.LlamaNorm(64)

    def forward(self, x, y):
        return self.norm(x + y), torch.sort(y)[0]


def norm(x):
    h = x.float()
    return (h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)


def bf16(*shape):
    return torch.randn(*shape).bfloat16()


# Programs that were wrong, or cost the graph its kernels: (function, argument, calls, nodes in them).
PROGRAMS = {
    "another order of memory": (lambda x: norm(norm(x).amax(-1)), lambda: torch.randn(64, 64, 64).transpose(0, 1), 2, 11),
    "too large for fp8": (lambda x: norm(x).mul(1000).to(torch.float8_e4m3fn).float(), lambda: bf16(8, 64), 1, 10),
    "roundings of a cube": (lambda x: norm(x) ** 3, lambda: bf16(50, 64), 1, 8),
    "numbers beside comparisons": (lambda x: torch.where(norm(x) <= 0.1, norm(x), -x), lambda: bf16(50, 64), 1, 17),
    "fewer numbers than the correction": (lambda x: norm(x) + torch.var_mean(x, -1, keepdim=True, correction=70)[0], lambda: bf16(8, 64).float(), 1, 8),
    "a sum of everything": (lambda x: norm(x) * x.sum(), lambda: torch.randn(8, 64), 1, 6),
    "a slice from before the beginning": (lambda x: norm(x)[:, -10:], lambda: torch.randn(8, 6), 1, 5),
    "a mean of one number": (lambda x: norm(x) * x[0, 0].mean(0), lambda: torch.randn(8, 64), 1, 6),
    "too large a number": (lambda x: norm(x) + 1e39, lambda: torch.randn(8, 64), 1, 6),
    "truths as operands": (lambda x: torch.where(x > 0, x > 1, norm(x)), lambda: torch.randn(8, 64), 1, 8),
    "parts of two types": (lambda x: torch.cat([norm(x), x.float()], -1), lambda: bf16(8, 64), 1, 7),
    "moved for others only": (lambda x: norm(x).sum(-1, keepdim=True).expand(4, 6, 64).contiguous(), lambda: torch.randn(4, 6, 64), 1, 6),
    "stored in another order": (lambda x: norm(x.transpose(0, 1)).sum(-1), lambda: torch.randn(4, 6, 64), 1, 6),
}

def paged(x, v, slots, keys, values):
    keys.view(-1, 2, 64)[slots], values.view(-1, 2, 64)[slots] = norm(x), v
    return keys.sum() + values.sum()


def in_blocks(x, v, slots, keys, values):
    block, place = slots // 16, slots % 16
    keys[block, place], values[block, place] = norm(x), v
    return keys.sum() + values.sum()


def quantised(x, v, slots, keys, values):
    keys.view(-1, 2, 64)[slots], values.view(-1, 2, 64)[slots] = norm(x).to(keys.dtype), v.to(keys.dtype)


def twice(x, v, slots, keys, values):
    flat = keys.view(-1, 2, 64)
    flat[slots] = norm(x)
    flat[slots + 1] = v


def read_before(x, v, slots, keys, values):
    before = keys.sum()
    keys.view(-1, 2, 64)[slots] = norm(x)
    return before


def returned(x, v, slots, keys, values):
    keys.view(-1, 2, 64)[slots] = norm(x)
    return keys, keys[1]


def added(x, v, slots, keys, values):
    keys.view(-1, 2, 64).index_put_((slots,), norm(x), accumulate=True)


def repeated(x, v, slots, keys, values):
    keys.view(-1, 2, 64)[slots] = norm(x)[0]


def chosen(x, v, slots, keys, values):
    keys.view(-1, 2, 64)[slots < 0] = norm(x)[:1].reshape(1, 2, 64)


def not_in_place(x, v, slots, keys, values):
    return keys.view(-1, 2, 64).index_put((slots,), norm(x))


def of_itself(x, v, slots, keys, values):
    flat = keys.view(-1, 2, 64)
    flat[slots] = norm(x) + flat[slots]


def copied_strided(x, v, slots, keys, values):
    made = keys.index_put((slots // 16, slots % 16), norm(x))
    keys.copy_(made)
    return made.as_strided((3,), (2,))


def from_itself(x, v, slots, keys, values):
    flat = keys.view(-1, 2, 64)
    keys.copy_(flat.index_put((torch.arange(64),), flat).view(keys.shape))
    return norm(x)


# Stores into caches of 4 blocks of 16 tokens, and how many of them, with how many nodes, kernels make in place.
STORES = {
    paged: (2, 7), in_blocks: (2, 9), quantised: (2, 9), lambda x, v, slots, keys, values: keys.view(-1, 2, 64).index_put_((slots.int(),), norm(x)).sum(): (1, 6),
    twice: (0, 5), read_before: (0, 5), returned: (0, 5), added: (0, 5), repeated: (0, 5), chosen: (0, 5), not_in_place: (0, 5), of_itself: (0, 6),
    copied_strided: (0, 5), from_itself: (0, 5),
}

SCRIPT = """
import sys, torch
sys.path.insert(0, sys.argv[1])
import torch_compile, rmsnorm.torch
torch.manual_seed(0)
model, x, y = torch_compile.Norm(), torch.randn(8, 64), torch.randn(8, 64)
compiled = torch.compile(model, backend="rmsnorm", options={"target": "sim:sm_90"})
with torch.no_grad():
    z = compiled(x, y)[0]
print((z - model(x, y)[0]).abs().max().item() < 1e-6, [len(graph.calls) for graph in rmsnorm.torch.report()])
"""


class Use(unittest.TestCase):
    def compile(self, model, *inputs, dynamic=False, **options):
        """(how far results are, what was done, the graph)"""
        torch._dynamo.reset()
        before, backend = len(rmsnorm.torch.report()), Bare(**options)
        with torch.no_grad():
            torch.compile(model, backend=backend, dynamic=dynamic)(*inputs)
        return distance(*backend.results[0]), rmsnorm.torch.report()[before], backend.graphs[0]

    def run_script(self, **environment):
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", SCRIPT, os.path.dirname(os.path.abspath(__file__))], capture_output=True, text=True,
                              env={**os.environ, **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def test_processes(self):
        """Inductor's code; a second process runs no pass and compiles nothing, unless our cache is gone."""
        with tempfile.TemporaryDirectory() as folder:
            places = {"RMSNORM_CACHE": f"{folder}/ours", "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor"}
            self.assertEqual(self.run_script(**places), "True [1]")
            self.assertEqual(self.run_script(**places, NORM_COMPILE="/nonexistent"), "True [0]")  # another compiler: its own code
            self.assertEqual(self.run_script(**places), "True []")
            shutil.rmtree(places["RMSNORM_CACHE"])
            self.assertEqual(self.run_script(**places), "True [1]")

    def test_failures(self):
        """What failed in one process is tried again in the next one."""
        with tempfile.TemporaryDirectory() as folder:
            compiler = pathlib.Path(folder, "norm-compile")
            compiler.write_text(f"#!/bin/sh\ncase \"$FAILS $*\" in 1*-o\\ *) kill -9 $$;; esac\nexec {rmsnorm.find_compiler()} \"$@\"\n")
            compiler.chmod(0o755)
            places = {"RMSNORM_CACHE": f"{folder}/ours", "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor", "NORM_COMPILE": str(compiler)}
            self.assertEqual(self.run_script(**places, FAILS="1"), "True [0]")
            self.assertEqual(self.run_script(**places), "True [1]")
            self.run_script(**places)  # under another name in Inductor's cache
            self.assertEqual(self.run_script(**places, FAILS="1"), "True []")

    @unittest.skipUnless(importlib.util.find_spec("transformers"), "needs transformers")
    def test_static_cache(self):
        """Decoding with keys and values that lie in one place: a graph for the prompt, one for all steps, which stores in place; eager mode's tokens."""
        import transformers

        torch._dynamo.reset()
        torch.manual_seed(0)
        config = transformers.Qwen3Config(hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4,
                                          num_key_value_heads=2, head_dim=32, vocab_size=256)
        model, prompt = transformers.AutoModelForCausalLM.from_config(config).eval(), torch.randint(0, 256, (2, 9))

        def decode(step):
            cache, text, position = transformers.StaticCache(config=config, max_cache_len=32), prompt, torch.arange(9)
            with torch.no_grad():
                for _ in range(6):
                    logits = step(text[:, position], past_key_values=cache, cache_position=position, use_cache=True).logits
                    text, position = torch.cat([text, logits[:, -1:].argmax(-1)], 1), position[-1:] + 1
            return text

        before, options = len(rmsnorm.torch.report()), {"target": TARGET, "force_disable_caches": True}
        self.assertEqual(decode(torch.compile(model, backend="rmsnorm", options=options)).tolist(), decode(model).tolist())
        self.assertEqual([counts(graph) for graph in rmsnorm.torch.report()[before:]], [(9, 91, 7, 7), (9, 95, 7, 7)])  # the first one makes the cache

    def test_no_compiler(self):
        """The graph stays Inductor's."""
        given = {"NORM_COMPILE": "/nonexistent/norm-compile"}
        with unittest.mock.patch.dict(os.environ, given):
            far, done, _ = self.compile(Norm(), torch.randn(8, 64), torch.randn(8, 64))
        self.assertEqual((far, done.calls), (0, []))
        self.assertIn("norm-compile", str(done.left[0]))

    def test_programs(self):
        for name, (function, make, calls, nodes) in PROGRAMS.items():
            with self.subTest(name):
                torch.manual_seed(1)
                far, done, _ = self.compile(function, make())
                self.assertLess(far, F32)
                self.assertEqual((len(done.calls), sum(n for n, _ in done.calls)), (calls, nodes), str(done))

    def test_other_device(self):
        """Tensors in host memory, kernels of a GPU."""
        far, done, _ = self.compile(norm, torch.randn(8, 64), target="sm_90")
        self.assertEqual((far, done.calls), (0, []))

    def test_damaged_cache(self):
        """A file that is no module is made again."""
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ, {"RMSNORM_CACHE": folder}):
            self.assertEqual(len(self.compile(norm, torch.randn(8, 64))[1].calls), 1)
            path, = pathlib.Path(folder).glob("*.rmsn")
            path.write_bytes(b"damaged")
            rmsnorm.torch.kernels._entries.clear()
            far, done, _ = self.compile(norm, torch.randn(8, 64))
            self.assertEqual(len(done.calls), 1)
            self.assertLess(far, 1e-6)

    def test_repeated_heads(self):
        """The sum of the gradients of all heads that have the same keys is in the kernel of the norm's gradient."""
        torch._dynamo.reset()
        torch.manual_seed(0)
        before, backend = len(rmsnorm.torch.report()), Bare()
        compiled = torch.compile(Keys(), backend=backend, dynamic=False)
        compiled(torch.randn(2, 16, 128), torch.randn(2, 6, 16, 64), *torch_blocks.tables(16, 64, "cpu")).square().mean().backward()
        backward = rmsnorm.torch.report()[before + 1]
        self.assertEqual(counts(backward), (1, 29, 1, 2), str(backward))
        self.assertNotIn("sum_1", [n.name for n in backend.graphs[1].nodes])
        self.assertLess(max(distance(*r) for r in backend.results), F32)

    def test_stacked_gradients(self):
        """Kernels write gradients into the tensor that has all of them; only v's is copied there."""
        for unbinds, rotation, nodes, launches in ((True, None, 33, 1), (False, None, 35, 1),
                                                   (False, torch_blocks.tables(16, 64, "cpu"), 58, 4)):
            with self.subTest(f"{unbinds} {bool(rotation)}"):
                torch._dynamo.reset()
                torch.manual_seed(0)
                before, backend = len(rmsnorm.torch.report()), Bare()
                torch.compile(Stacked(), backend=backend, dynamic=False)(torch.randn(2, 16, 128), unbinds, rotation).square().mean().backward()
                backward = rmsnorm.torch.report()[before + 1]
                self.assertEqual(counts(backward), (2, nodes, 1, launches), str(backward))
                self.assertFalse([n for n in backend.graphs[1].nodes if n.target is torch.ops.aten.cat.default])
                self.assertLess(max(distance(*r) for r in backend.results), F32)

    def test_stack_in_place(self):
        """Inductor's code has one tensor for the stack."""
        torch._dynamo.reset()
        torch.manual_seed(0)
        model, x = Stacked(), torch.randn(2, 16, 128)
        model(x, True).square().mean().backward()
        expected = [p.grad for p in model.parameters()]
        model.zero_grad()
        compiled = torch.compile(model, backend="rmsnorm", dynamic=False, options={"target": TARGET, "force_disable_caches": True})
        _, code = torch._inductor.utils.run_and_get_code(lambda: compiled(x, True).square().mean().backward())
        self.assertEqual(code[-1].count("empty_strided_cpu((2, 16, 6, 64)"), 1, code[-1])
        self.assertLess(distance([p.grad for p in model.parameters()], expected), F32)

    def test_static_caches(self):
        """q's and k's norms and rotations and both stores are one launch, and attention reads what it wrote."""
        model = Step()
        for batch, tokens, by_copy, nodes in ((2, 1, False, 30), (2, 3, True, 30), (1, 1, False, 32), (1, 1, True, 30)):
            with self.subTest(f"{batch} {tokens} {by_copy}"), torch.no_grad():
                torch._dynamo.reset()
                before, backend = len(rmsnorm.torch.report()), Bare()
                compiled = torch.compile(model, backend=backend, dynamic=False)
                for first in (5, 0 if by_copy else -tokens):
                    given, expected = (Step.arguments(batch, tokens, first) for _ in range(2))
                    got, wanted = compiled(*given, by_copy), model(*expected, by_copy)
                    self.assertLess(distance([got, *given[3:]], [wanted, *expected[3:]]), F32)
                done, = rmsnorm.torch.report()[before:]
                self.assertEqual(counts(done), (2, nodes, 1, 1), str(done))
                self.assertFalse([n for n in backend.graphs[0].nodes if n.target in (torch.ops.aten.index_put.default, torch.ops.aten.copy_.default)])

    def test_static_caches_in_place(self):
        """Inductor's code has no other tensor of a cache's size, and no kernel of its own. Sizes change, too."""
        model = Step().bfloat16()
        for dynamic in (False, True):
            with self.subTest(dynamic), torch.no_grad():
                torch._dynamo.reset()
                compiled = torch.compile(model, backend="rmsnorm", options={"target": TARGET, "force_disable_caches": True})
                given, expected = (Step.arguments(2, 3, 5, torch.bfloat16) for _ in range(2))
                if dynamic:
                    for x, dim in ((given[0], 1), (given[1][0], 0), (given[1][1], 0), (given[2], 0)):
                        torch._dynamo.mark_dynamic(x, dim)
                got, code = torch._inductor.utils.run_and_get_code(compiled, *given)
                self.assertLess(distance([got, *given[3:]], [model(*expected), *expected[3:]]), BF16)
                self.assertEqual(counts(rmsnorm.torch.report()[-1])[2:], (1, 1), str(rmsnorm.torch.report()[-1]))
                self.assertNotIn("empty_strided_cpu((2, 2, 32, 64)", code[-1])
                self.assertNotIn("async_compile.cpp", code[-1])

    def test_stores(self):
        """Rows into caches: in place where nobody sees the difference, and as in eager mode always."""
        for function, (stores, nodes) in STORES.items():
            with self.subTest(function.__name__), torch.no_grad():
                torch._dynamo.reset()
                torch.manual_seed(1)
                given = [torch.randn(8, 2, 64), torch.randn(8, 2, 64), torch.tensor([3, 9, 60, -1, -60, 33, 20, 18]), torch.randn(4, 16, 2, 64),
                         torch.randn(4, 16, 2, 64)]
                if function is quantised:
                    given[3:] = [cache.to(torch.float8_e4m3fn) for cache in given[3:]]
                if function is chosen:
                    given[2] = torch.arange(64) - 1
                expected = [x.clone() for x in given]
                before, backend = len(rmsnorm.torch.report()), Bare()
                got, wanted = torch.compile(function, backend=backend, dynamic=False)(*given), function(*expected)
                results = lambda y, caches: [x.float() for x in (*flatten(y), *caches) if x is not None]
                self.assertLess(distance(results(got, given[3:]), results(wanted, expected[3:])), F32)
                done = rmsnorm.torch.report()[before]
                self.assertEqual(counts(done), (1, nodes, 1, 1), str(done))
                updates = [n for n in backend.graphs[0].nodes if n.target is rmsnorm.torch.kernels.update]
                self.assertEqual(sum(len(n.args[1]) for n in updates), stores)

    def test_stores_outside(self):
        """What PyTorch refuses is not stored."""
        def only_compiled(module, inputs):
            def inner(module, inputs, **_):
                Pass("exact", "norms", TARGET)(module.graph)
                module.recompile()
                run = lambda args: module(*args)
                run._boxed_call = True
                return run
            return compile_fx(module, inputs, inner_compile=inner)

        with torch.no_grad():
            torch._dynamo.reset()
            caches = [torch.zeros(4, 16, 2, 64) for _ in range(2)]
            x, slots = torch.randn(4, 2, 64), torch.tensor([64, -65, 7, 2 ** 40])
            torch.compile(paged, backend=only_compiled, dynamic=False)(x, x, slots, *caches)
            self.assertEqual([cache.view(64, -1).any(1).nonzero().tolist() for cache in caches], [[[7]], [[7]]])

    def test_stores_alone(self):
        """Without a norm they are Inductor's."""
        def function(v, slots, values):
            values[slots] = v

        inputs = torch.randn(8, 64), torch.arange(8), torch.randn(32, 64)
        self.assertEqual(self.compile(function, *inputs)[1].calls, [])
        self.assertEqual(self.compile(function, *inputs, row_wise="all")[1].calls, [(1, 1)])

    def test_softmax(self):
        """row_wise="all" takes softmaxes without a norm, too."""
        softmax = lambda x: x.float().softmax(-1).to(x.dtype)
        x = torch.randn(8, 64).bfloat16()
        self.assertEqual(counts(self.compile(softmax, x)[1])[2], 0)
        far, done, _ = self.compile(softmax, x, row_wise="all")
        self.assertEqual(counts(done)[2], 1)
        self.assertLess(far, BF16)
        # Inductor writes one of a product with a number so that it is two kernels of ours, with wide tensors between them.
        _, done, _ = self.compile(lambda x: ((x @ x) * 0.125).softmax(-1), torch.randn(64, 64).bfloat16(), row_wise="all")
        self.assertEqual(done.calls, [])
        self.assertIn("Inductor moves fewer bytes", str(done))

    def test_left(self):
        """What is next to a kernel and not in it: the node, its line and why."""
        model = torch_blocks.make("olmo2").bfloat16()
        _, done, graph = self.compile(model, *torch_blocks.arguments("olmo2", batch=1, tokens=1))
        left = [l for l in done.left if "parts" in l.reason]
        self.assertTrue(left)
        self.assertRegex(str(left[0]), r"^\w+ \(torch_blocks.py:\d+\): not tiled with the norm next to it: ")

    def test_no_norm(self):
        """A graph without a kernel: why what looks like a norm is none."""
        class Scaled(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = torch.nn.Parameter(torch.ones(64))

            def forward(self, x, eps):
                return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps) * self.weight

        layer_norm = lambda x: torch.nn.functional.layer_norm(x, (64,))
        x, wide = torch.randn(8, 64), torch.randn(8, 64)
        torch._dynamo.mark_dynamic(wide, 1)
        for reason, dynamic, model, *inputs in (
                ("a mean over a size that changes", None, norm, wide),
                ("an operand is no constant, as eps .*", True, Scaled(), x, 1e-5),
                ("kernels compute nothing in f64", False, Scaled(), x.double(), 1e-5),
                ('the compiler sees no RMSNorm here; row_wise="all" takes other reductions of rows', False, layer_norm, x)):
            with self.subTest(reason):
                _, done, _ = self.compile(model, *inputs, dynamic=dynamic)
                self.assertEqual(done.calls, [])
                self.assertRegex("\n".join(map(str, done.left)), rf"^\w+ \(torch_compile.py:\d+\): {reason}$")
        self.assertEqual(self.compile(lambda x: x.exp().sqrt().sum(-1), x)[1].left, [])  # nothing like a norm

    def test_modes(self):
        """What a mode of torch.compile sets is set for forward and backward graphs, with both ways to have our kernels."""
        from torch._inductor import config

        seen, run = [], Pass.__call__

        def look(self, graph):
            run(self, graph)
            seen.append((config.triton.cudagraphs, config.max_autotune, len(rmsnorm.torch.report()[-1].calls)))

        def train(compiled):
            compiled(torch.randn(8, 64, requires_grad=True)).sum().backward()
            given = list(seen)
            seen.clear()
            torch._dynamo.reset()
            return given

        torch._dynamo.reset()
        with unittest.mock.patch.object(Pass, "__call__", look), config.patch(
                post_grad_custom_pre_pass=None, force_disable_caches=True):
            self.assertEqual(train(torch.compile(norm, backend="rmsnorm", mode="reduce-overhead")), [(True, False, 0)] * 2)  # no GPU
            self.assertEqual(train(torch.compile(norm, backend="rmsnorm", options={"target": TARGET, "triton.cudagraphs": True})),
                             [(True, False, 1)] * 2)
            rmsnorm.torch.enable(target=TARGET)
            self.assertEqual(train(torch.compile(norm, mode="reduce-overhead")), [(True, False, 1)] * 2)
            self.assertEqual(train(torch.compile(norm, mode="max-autotune")), [(True, True, 1)] * 2)

    def test_options(self):
        for options in ({"roundings": "some"}, {"row_wise": "some"}, {"target": 3}):
            with self.assertRaisesRegex(Exception, f"{next(iter(options))}: expected"):
                torch._dynamo.reset()
                torch.compile(lambda x: x + 1, backend="rmsnorm", options={"target": TARGET, **options})(torch.ones(2))
        with self.assertRaisesRegex(ValueError, "roundings: expected one of 'exact', 'fewer', got 'some'"):
            rmsnorm.torch.enable(roundings="some")
        with unittest.mock.patch.object(torch, "__version__", "2.8.1"), self.assertRaisesRegex(
                RuntimeError, "expected PyTorch 2.10 or newer, or 2.9 with torch-c-dlpack-ext .*, got 2.8.1"):
            rmsnorm.torch.enable()


if __name__ == "__main__":
    unittest.main()
