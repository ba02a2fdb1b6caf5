"""Calls compiled entries from PyTorch: torch_calls.py NORMS TRAIN_STEP NVFP4, compiled modules."""
import copy
import itertools
import sys
import unittest

import torch
import torch.nn.utils.parametrize
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode

import rmsnorm
import rmsnorm.torch

NORMS, TRAIN_STEP, NVFP4 = (rmsnorm.load(path, device="sim") for path in sys.argv[1:4])
del sys.argv[1:]
OPTIONS = {"target": "sim:sm_90", "options": ["--host-optimization=0"]}
COMPILED = rmsnorm.compile("".join([
    rmsnorm.torch.source(64, 1e-5, torch.float32),
    rmsnorm.torch.source(64, torch.finfo(torch.float32).eps, torch.float32, has_weight=False),
    rmsnorm.torch.source(64, 1e-5, torch.bfloat16),
    rmsnorm.torch.source(64, 1e-5, torch.bfloat16, torch.float32),
]), **OPTIONS)
torch.manual_seed(1)


def reference(x, weight, eps):
    x = x.double()
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight.double()


class Calls(unittest.TestCase):
    def test_results(self):
        x, w = torch.randn(5, 256).bfloat16(), torch.rand(256).bfloat16()
        y = NORMS["bf16_norm"](x, w)
        self.assertIsInstance(y, torch.Tensor)
        torch.testing.assert_close(y, reference(x, w, 1e-5).bfloat16())
        given = torch.empty_like(y)
        self.assertIs(NORMS["bf16_norm"](x, w, out=given), given)
        self.assertTrue(torch.equal(given, y))
        results = NORMS["f32_norm"](torch.randn(5, 96))
        self.assertEqual([type(results), *map(type, results)], [tuple, torch.Tensor, torch.Tensor])

    def test_parameters(self):
        x, w = torch.randn(5, 256).bfloat16(), torch.nn.Parameter(torch.rand(256).bfloat16())
        self.assertTrue(torch.equal(NORMS["bf16_norm"](x, w), NORMS["bf16_norm"](x, w.detach())))

    def test_workspace(self):
        dy, x, w = torch.randn(33, 96), torch.randn(33, 96), torch.rand(96)
        _, rstd = NORMS["f32_norm"](x)
        dx, dw = NORMS["f32_gradient"](dy, x, w, rstd)
        torch.testing.assert_close(dw, (dy * reference(x, torch.ones(()), 1e-6)).sum(0).float())

    def test_two_a_byte(self):
        function = NVFP4[next(iter(NVFP4))]
        types = {"bf16": torch.bfloat16, "f32": torch.float32}
        inputs = [torch.randn([4 if isinstance(d, str) else d for d in a.dims]).to(types[a.dtype]) for a in function.inputs]
        results = function(*inputs)
        packed = [r for r in results if r.dtype == torch.float4_e2m1fn_x2]
        self.assertEqual(len(packed), 1)
        out = tuple(torch.empty_like(r) for r in results)
        function(*inputs, out=out)
        for a, b in zip(results, out):
            self.assertTrue(torch.equal(a.view(torch.uint8), b.view(torch.uint8)))
        self.assertGreater(len(packed[0].view(torch.uint8).unique()), 20)
        fakes = rmsnorm.torch.operators.make_results(function, [t.to("meta") for t in inputs])
        self.assertEqual([f.shape for f in fakes], [r.shape for r in results])

    def test_refusals(self):
        with self.assertRaisesRegex(ValueError, "argument 'weight': expected size 256 in dimension 0, got 100"):
            NORMS["bf16_norm"](torch.randn(5, 256).bfloat16(), torch.rand(100).bfloat16())
        # Only RMSNorm's own calls give some of the results, or tensors of any shape.
        with self.assertRaisesRegex(ValueError, "expected 1 tensors, or 3 with those for results, got 2"):
            NORMS["f32_norm"](torch.randn(5, 96), out=torch.empty(5, 96))
        with self.assertRaisesRegex(ValueError, "argument 'input': expected rank 2, got 3"):
            NORMS["bf16_norm"](torch.randn(2, 5, 256).bfloat16(), torch.rand(256).bfloat16())


class Operators(unittest.TestCase):
    def test_checks_of_pytorch(self):
        forward = rmsnorm.torch.operator(NORMS["f32_norm"])
        torch.library.opcheck(forward, (torch.randn(5, 96),))
        torch.library.opcheck(rmsnorm.torch.operator(NORMS["merged"]), (torch.randn(2, 3, 96),))
        torch.library.opcheck(rmsnorm.torch.operator(NORMS["in_place"]), (torch.randn(2, 96),))
        name = next(n for n in COMPILED if n.startswith("rms_norm_64_f32_f32"))
        train = rmsnorm.torch.operator(COMPILED[f"{name}_forward"], rmsnorm.torch.modules._norm_gradient(COMPILED, name))
        torch.library.opcheck(train, (torch.randn(3, 64, requires_grad=True), torch.rand(64, requires_grad=True)))

    def test_once(self):
        self.assertIs(rmsnorm.torch.operator(NORMS["f32_norm"]), rmsnorm.torch.operator(NORMS["f32_norm"]))

    def make_step(self):
        """The training step of examples/train_step.mlir."""
        forward, backward = TRAIN_STEP["forward"], TRAIN_STEP["backward"]
        (x, residual, weight), (y, h, rstd) = ([a.name for a in arguments] for arguments in (forward.inputs, forward.results))
        self.gradient = rmsnorm.torch.Gradient(backward, takes=[f"grad {y}", h, weight, rstd, f"grad {h}"],
                                               gives=[(x, residual), weight])
        return rmsnorm.torch.operator(forward, self.gradient)

    def test_training_step(self):
        step = self.make_step()
        leaves = [t.bfloat16().requires_grad_() for t in (torch.randn(6, 2048), torch.randn(6, 2048), torch.rand(2048))]
        y, h, rstd = step(*leaves)
        self.assertFalse(rstd.requires_grad)
        dy, dh = torch.randn(6, 2048).bfloat16(), torch.randn(6, 2048).bfloat16()
        got = torch.autograd.grad((y, h), leaves, (dy, dh))
        x, residual, weight = (t.detach().double().requires_grad_() for t in leaves)
        sum_ = x + residual
        rounded = sum_ + (sum_.detach().bfloat16().double() - sum_.detach())
        expected = torch.autograd.grad((reference(rounded, weight, 1e-5), rounded), (x, residual, weight),
                                       (dy.double(), dh.double()))
        for a, b in zip(got, expected):
            torch.testing.assert_close(a.double(), b, rtol=2e-2, atol=2e-2)
        # Where only y counts, nothing of h's gradient comes back.
        y, h, _ = step(*leaves)
        got = torch.autograd.grad(y, leaves, dy)
        expected = torch.autograd.grad(reference(rounded, weight, 1e-5), (x, residual, weight), dy.double())
        for a, b in zip(got, expected):
            torch.testing.assert_close(a.double(), b, rtol=2e-2, atol=2e-2)

    def test_without_an_operator(self):
        """The same results and gradients, bit for bit, for all that may need a gradient."""
        operator, gradient = self.make_step(), self.gradient
        function = rmsnorm.torch.function(TRAIN_STEP["forward"], gradient)
        self.assertIs(function, rmsnorm.torch.function(TRAIN_STEP["forward"], gradient))
        values = [t.bfloat16() for t in (torch.randn(3, 2048), torch.randn(3, 2048), torch.rand(2048))]
        for needed in itertools.product((False, True), repeat=3):
            leaves = [t.clone().requires_grad_(n) for t, n in zip(values, needed)]
            wanted = [t for t in leaves if t.requires_grad]
            for used in (slice(0, 1), slice(0, 2), slice(1, 2)):
                got, expected = function(*leaves), operator(*leaves)
                for a, b in zip(got, expected):
                    self.assertTrue(torch.equal(a, b))
                    self.assertEqual(a.requires_grad, b.requires_grad)
                if wanted:
                    self.assertIn("Direct", got[0].grad_fn.name())
                    grads = [torch.autograd.grad(r[used], wanted, [torch.ones_like(t) for t in r[used]])
                             for r in (got, expected)]
                    for a, b in zip(*grads):
                        self.assertTrue(torch.equal(a, b))
        with torch.no_grad():
            self.assertFalse(function(*leaves)[0].requires_grad)

    def test_gradients_of_gradients(self):
        for step in (self.make_step(), rmsnorm.torch.function(TRAIN_STEP["forward"], self.gradient)):
            leaves = [t.bfloat16().requires_grad_() for t in (torch.randn(3, 2048), torch.randn(3, 2048), torch.rand(2048))]
            grads = torch.autograd.grad(step(*leaves)[0].sum(), leaves, create_graph=True)
            with self.assertRaisesRegex(NotImplementedError, "backward has no gradient: rmsnorm.torch.Gradient"):
                grads[0].sum().backward()
        for make in (rmsnorm.torch.operator, rmsnorm.torch.function):  # no gradient is given
            with self.assertRaisesRegex(NotImplementedError, "f32_norm has no gradient"):
                make(NORMS["f32_norm"])(torch.randn(5, 96).requires_grad_())[0].sum().backward()

    def test_seen_by_who_watches(self):
        function, operator = rmsnorm.torch.function(NORMS["f32_norm"]), rmsnorm.torch.operator(NORMS["f32_norm"])

        class Watch(TorchDispatchMode):
            def __torch_dispatch__(self, called, types, args=(), kwargs=None):
                seen.append(called)
                return called(*args, **(kwargs or {}))

        seen, x = [], torch.randn(5, 96)
        function(x)
        self.assertEqual(seen, [])
        with Watch():
            function(x)
        self.assertIn(operator, seen)
        with FakeTensorMode():
            self.assertEqual(function(torch.empty(7, 96))[1].shape, (7,))
        self.assertEqual(function(x.to("meta"))[1].shape, (5,))
        traced = make_fx(function, tracing_mode="real")(x)
        self.assertIn(operator, [node.target for node in traced.graph.nodes])
        self.assertIn("rmsnorm::f32_norm", str(torch.jit.trace(function, x, check_trace=False).graph))
        rows = torch.stack([x, 2 * x])
        self.assertTrue(torch.equal(torch.vmap(function)(rows)[0], torch.stack([function(r)[0] for r in rows])))
        # What is changed in place is told to PyTorch.
        version = x._version
        rmsnorm.torch.function(NORMS["in_place"])(x)
        self.assertGreater(x._version, version)

    def test_gradients_that_do_not_fit(self):
        forward, backward = TRAIN_STEP["forward"], TRAIN_STEP["backward"]
        for takes, gives, text in (
                ([], ["a", "b"], "what backward takes: expected 5 names"),
                (["nothing"] * 5, ["a", "b"], "what backward takes: expected one of"),
                ([forward.inputs[0].name] * 5, ["nothing"] * 2, "what backward gives: expected one of")):
            with self.assertRaisesRegex(ValueError, text):
                rmsnorm.torch.operator(forward, rmsnorm.torch.Gradient(backward, takes, gives))

    def test_compiled(self):
        step, graphs = self.make_step(), []

        def backend(graph, inputs):
            graphs.append(graph)
            return graph.forward

        @torch.compile(backend=backend, fullgraph=True, dynamic=True)
        def run(x, residual, weight):
            y, h, _ = step(x * 2, residual, weight)
            return y + h

        for rows in (3, 5):
            leaves = [t.bfloat16() for t in (torch.randn(rows, 2048), torch.randn(rows, 2048), torch.rand(2048))]
            y, h, _ = step(leaves[0] * 2, *leaves[1:])
            self.assertTrue(torch.equal(run(*leaves), y + h))
        self.assertEqual(len(graphs), 1)
        self.assertIn(step, [node.target for node in graphs[0].graph.nodes])


class Modules(unittest.TestCase):
    def make(self, dtype=torch.float32, weight=True, eps=1e-5, shape=64):
        norm = rmsnorm.torch.RMSNorm(shape, eps, weight, dtype=dtype, module=COMPILED)
        same = torch.nn.RMSNorm(shape, eps, weight, dtype=dtype)
        if weight:
            with torch.no_grad():
                norm.weight.uniform_(0.5, 1.5)
        same.load_state_dict(norm.state_dict())
        return norm, same

    def compare(self, norm, same, x, **tolerance):
        x1, x2 = (x.detach().clone().requires_grad_() for _ in range(2))
        y1, y2 = norm(x1), same(x2)
        torch.testing.assert_close(y1, y2, **tolerance)
        dy = torch.randn_like(y1)
        y1.backward(dy)
        y2.backward(dy)
        torch.testing.assert_close(x1.grad, x2.grad, **tolerance)
        if norm.weight is not None:
            torch.testing.assert_close(norm.weight.grad, same.weight.grad, **tolerance)
        with torch.no_grad():
            torch.testing.assert_close(norm(x), y1.detach(), rtol=0, atol=0)

    def test_in_place_of_pytorchs(self):
        norm, same = self.make()
        self.compare(norm, same, torch.randn(3, 5, 64))
        self.compare(*self.make(), torch.randn(64))
        self.compare(*self.make(), torch.randn(0, 64))
        self.compare(*self.make(), torch.randn(64, 7).t())
        self.compare(*self.make(), torch.randn(5, 3, 64).transpose(0, 1))
        self.compare(*self.make(), torch.randn(3, 5, 128)[..., 64:])
        self.compare(*self.make(shape=(4, 16)), torch.randn(3, 16, 4).transpose(1, 2))
        self.compare(*self.make(shape=(4, 16)), torch.randn(3, 4, 16))
        self.compare(*self.make(shape=(4, 16)), torch.randn(4, 16))
        self.compare(*self.make(weight=False, eps=None), torch.randn(3, 64))
        self.compare(*self.make(torch.bfloat16), torch.randn(3, 64).bfloat16(), rtol=2e-2, atol=2e-2)
        self.assertEqual(repr(norm), repr(same))

    def test_no_copy_of_rows_with_gaps(self):
        norm, x = self.make()[0], torch.randn(3, 5, 128)
        self.assertEqual(rmsnorm.torch.modules._as_rows(x[..., 64:], 64).data_ptr(), x[..., 64:].data_ptr())
        with torch.no_grad():
            y = norm(x[..., 64:])
        self.assertTrue(y.is_contiguous())

    def test_gradients_of_gradients(self):
        x = torch.randn(3, 64, requires_grad=True)
        grad, = torch.autograd.grad(self.make()[0](x).sum(), x, create_graph=True)
        with self.assertRaisesRegex(NotImplementedError, "backward has no gradient"):
            grad.sum().backward()

    def test_other_types_of_weights(self):
        norm, _ = self.make(torch.bfloat16)
        x = torch.randn(3, 64).bfloat16()
        before = norm(x)
        self.assertTrue(torch.equal(norm.float()(x), before))

    def test_weight_that_is_no_parameter(self):
        class Doubled(torch.nn.Module):
            def forward(self, weight):
                return 2 * weight

        norm, same = self.make()
        for n in (norm, same):
            torch.nn.utils.parametrize.register_parametrization(n, "weight", Doubled())
        x = torch.randn(3, 64)
        torch.testing.assert_close(norm(x), same(x))

    def test_types_of_gradients(self):
        """The kernel rounds the sums, no other one after it."""
        for name, dtype in (("64_bf16_bf16", "bf16"), ("64_bf16_f32", "f32")):
            entry = COMPILED[next(n for n in COMPILED if name in n and n.endswith("_backward"))]
            self.assertEqual([a.dtype for a in entry.results], ["bf16", dtype])

    def test_sum(self):  # whose gradient is expanded from one number
        norm, same = self.make()
        for n in (norm, same):
            n(torch.ones(3, 64)).sum().backward()
        torch.testing.assert_close(norm.weight.grad, same.weight.grad)

    def test_changed_in_place(self):  # what a norm gives, as torch.nn.ReLU(inplace=True) does
        for norm in (self.make()[0], torch.compile(self.make()[0], backend="aot_eager", fullgraph=True)):
            for shape in ((3, 64), (3, 5, 64)):
                x = torch.randn(shape, requires_grad=True)
                with torch.no_grad():
                    expected = norm(x).relu()
                y = norm(x)
                self.assertTrue(torch.equal(y.relu_(), expected))
                y.sum().backward()
                self.assertEqual(x.grad.shape, shape)

    def test_operators_when_compiled(self):
        norm, graphs = self.make()[0], []

        def backend(graph, inputs):
            graphs.append(graph)
            return graph.forward

        x = torch.randn(3, 5, 64)
        compiled = torch.compile(norm, backend=backend, fullgraph=True)
        self.assertTrue(torch.equal(compiled(x), norm(x)))
        called = [str(node.target) for graph in graphs for node in graph.graph.nodes]
        self.assertTrue(any(name.startswith("rmsnorm.rms_norm_64") for name in called), called)
        exported = torch.export.export(norm, (x,))
        self.assertIn("rmsnorm.rms_norm_64", str(exported.graph))

    def test_training(self):
        torch.manual_seed(2)
        model = torch.nn.Sequential(torch.nn.Linear(16, 64), self.make()[0], torch.nn.Linear(64, 4))
        model = copy.deepcopy(model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        x, target = torch.randn(32, 16), torch.randn(32, 4)
        losses = []
        for compiled in (model, torch.compile(model, backend="aot_eager", fullgraph=True)):
            for _ in range(5):
                optimizer.zero_grad()
                loss = torch.nn.functional.mse_loss(compiled(x), target)
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
        self.assertEqual(losses, sorted(losses, reverse=True))

    def test_refusals(self):
        with self.assertRaisesRegex(ValueError, r"rmsnorm.torch.source\(32, 1e-05, torch.float32"):
            rmsnorm.torch.RMSNorm(32, 1e-5, module=COMPILED)(torch.randn(3, 32))
        with self.assertRaisesRegex(ValueError, "no norm of 64 columns"):
            rmsnorm.torch.RMSNorm(64, 1e-6, module=COMPILED)(torch.randn(3, 64))
        with self.assertRaisesRegex(ValueError, "expected one of torch.float32, .*, got torch.float64"):
            self.make()[0](torch.randn(3, 64).double())
        with self.assertRaisesRegex(ValueError, "expected one of torch.float32, .*, got torch.int8"):
            rmsnorm.torch.source(64, 1e-5, torch.int8)
        with self.assertRaisesRegex(ValueError, r"expected a tensor \[..., 64\], got \[3, 32\]"):
            self.make()[0](torch.randn(3, 32))
        with self.assertRaisesRegex(ValueError, r"expected a tensor \[..., 64\], got \[4, 32\]"):  # as many as two rows
            self.make()[0](torch.randn(4, 32))
        with self.assertRaisesRegex(ValueError, r"expected a tensor \[..., 4, 16\], got \[3, 2, 32\]"):
            self.make(shape=(4, 16))[0](torch.randn(3, 2, 32))


unittest.main(verbosity=2)
