"""Calls compiled entries from PyTorch: torch_calls.py NORMS TRAIN_STEP NVFP4, compiled modules."""
import copy
import sys
import unittest

import torch

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
        fakes = rmsnorm.torch._make_results(function, [t.to("meta") for t in inputs])
        self.assertEqual([f.shape for f in fakes], [r.shape for r in results])

    def test_refusals(self):
        with self.assertRaisesRegex(ValueError, "argument 'weight': expected size 256 in dimension 0, got 100"):
            NORMS["bf16_norm"](torch.randn(5, 256).bfloat16(), torch.rand(100).bfloat16())


class Operators(unittest.TestCase):
    def test_checks_of_pytorch(self):
        forward = rmsnorm.torch.operator(NORMS["f32_norm"])
        torch.library.opcheck(forward, (torch.randn(5, 96),))
        torch.library.opcheck(rmsnorm.torch.operator(NORMS["merged"]), (torch.randn(2, 3, 96),))
        torch.library.opcheck(rmsnorm.torch.operator(NORMS["in_place"]), (torch.randn(2, 96),))

    def test_once(self):
        self.assertIs(rmsnorm.torch.operator(NORMS["f32_norm"]), rmsnorm.torch.operator(NORMS["f32_norm"]))

    def make_step(self):
        """The training step of examples/train_step.mlir."""
        forward, backward = TRAIN_STEP["forward"], TRAIN_STEP["backward"]
        (x, residual, weight), (y, h, rstd) = ([a.name for a in arguments] for arguments in (forward.inputs, forward.results))
        gradient = rmsnorm.torch.Gradient(backward, takes=[f"grad {y}", h, weight, rstd, f"grad {h}"],
                                          gives=[(x, residual), weight])
        return rmsnorm.torch.operator(forward, gradient)

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
        self.compare(*self.make(shape=(4, 16)), torch.randn(3, 4, 16))
        self.compare(*self.make(weight=False, eps=None), torch.randn(3, 64))
        self.compare(*self.make(torch.bfloat16), torch.randn(3, 64).bfloat16(), rtol=2e-2, atol=2e-2)
        self.assertEqual(repr(norm), repr(same))

    def test_other_types_of_weights(self):
        norm, _ = self.make(torch.bfloat16)
        x = torch.randn(3, 64).bfloat16()
        before = norm(x)
        self.assertTrue(torch.equal(norm.float()(x), before))

    def test_sum(self):  # whose gradient is expanded from one number
        norm, same = self.make()
        for n in (norm, same):
            n(torch.ones(3, 64)).sum().backward()
        torch.testing.assert_close(norm.weight.grad, same.weight.grad)

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


unittest.main(verbosity=2)
