"""The drop-in for torch.nn.RMSNorm on a CUDA device, or on the simulator where there is none.

    torch_device.py [MODULE]    # a module of --source for the device; else norm-compile makes one
    torch_device.py --source
"""
import contextlib
import copy
import io
import pickle
import sys
import tempfile
import threading
import unittest

import torch
import torch.distributed as dist

import rmsnorm
import rmsnorm.torch

COLUMNS, EPS = 64, 1e-5
SOURCE = "".join(rmsnorm.torch.source(COLUMNS, EPS, *types) for types in (
    (torch.float32,), (torch.bfloat16,), (torch.bfloat16, torch.float32)))
if sys.argv[1:] == ["--source"]:
    print(SOURCE)
    sys.exit()
HAS_CUDA = torch.cuda.is_available()
PLACE = "cuda" if HAS_CUDA else "cpu"
COMPILED = (rmsnorm.load(sys.argv.pop(1), device="sim") if sys.argv[1:2] and not sys.argv[1].startswith("-") else
            rmsnorm.compile(SOURCE, target=["native"] if HAS_CUDA else ["sim:sm_90"], options=["--host-optimization=0"]))
needs_cuda = unittest.skipUnless(HAS_CUDA, "needs a CUDA device")


def make(dtype=torch.float32, place=PLACE):
    """The drop-in and PyTorch's, with the same weight."""
    torch.manual_seed(1)
    norm = rmsnorm.torch.RMSNorm(COLUMNS, EPS, dtype=dtype, device=place, module=COMPILED)
    with torch.no_grad():
        norm.weight.uniform_(0.5, 1.5)
    same = torch.nn.RMSNorm(COLUMNS, EPS, dtype=dtype, device=place)
    same.load_state_dict(norm.state_dict())
    return norm, same


def step(norm, x, dy):
    """y and the gradients of x and of the weight."""
    x = x.detach().requires_grad_()
    y = norm(x)
    return (y.detach(), *torch.autograd.grad(y, (x, norm.weight), dy))


@contextlib.contextmanager
def process_group():
    """Of this process alone."""
    with tempfile.NamedTemporaryFile() as file:
        dist.init_process_group("nccl" if HAS_CUDA else "gloo", init_method=f"file://{file.name}", rank=0, world_size=1)
        try:
            yield dist.device_mesh.init_device_mesh(PLACE, (1,))
        finally:
            dist.destroy_process_group()


class Tests(unittest.TestCase):
    def assertClose(self, a, b, **tolerance):
        for x, y in zip(a, b, strict=True):
            torch.testing.assert_close(x, y, **{"rtol": 1e-4, "atol": 1e-4, **tolerance})


class Saved(Tests):
    def test_model(self):
        model = torch.nn.Sequential(torch.nn.Linear(8, COLUMNS, device=PLACE), make()[0])
        x = torch.randn(3, 8, device=PLACE)
        file = io.BytesIO()
        torch.save(model, file)
        file.seek(0)
        for other in (torch.load(file, weights_only=False), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            self.assertIsNot(other[1].weight, model[1].weight)
            self.assertTrue(torch.equal(other(x), model(x)))
            other(x).sum().backward()
            self.assertIsNotNone(other[1].weight.grad)

    def test_state(self):
        norm, same = make()
        file = io.BytesIO()
        torch.save(same.state_dict(), file)
        file.seek(0)
        other = make()[0]
        other.load_state_dict(torch.load(file, weights_only=True))
        self.assertTrue(torch.equal(other.weight, norm.weight))


class Transformed(Tests):
    """By torch.func."""

    def test_vmap(self):
        norm, same = make()
        x = torch.randn(3, 5, COLUMNS, device=PLACE)
        self.assertClose([torch.vmap(norm)(x)], [same(x)])
        self.assertClose([torch.vmap(norm, in_dims=1, out_dims=1)(x)], [same(x)])
        weights = torch.rand(3, COLUMNS, device=PLACE)
        self.assertClose([torch.vmap(lambda w, v: torch.func.functional_call(norm, {"weight": w}, (v,)))(weights, x)],
                         [torch.nn.functional.rms_norm(x, (COLUMNS,), None, EPS) * weights[:, None]])
        # Through which gradients come back.
        for n in (norm, same):
            torch.vmap(n)(x).square().sum().backward()
        self.assertClose([norm.weight.grad], [same.weight.grad])

    def gradients(self, norm, x, dims):
        def loss(parameters, x):
            return torch.func.functional_call(norm, parameters, (x,)).sin().sum()

        parameters = {name: p.detach() for name, p in norm.named_parameters()}
        run = torch.func.grad(loss, argnums=(0, 1))
        gradient, dx = (torch.vmap(run, in_dims=(None, 0)) if dims else run)(parameters, x)
        return gradient["weight"], dx

    def test_gradients_per_sample(self):
        norm, same = make()
        for x in (torch.randn(3, 5, COLUMNS, device=PLACE), torch.randn(3, COLUMNS, device=PLACE)):
            for dims in (False, True):
                self.assertClose(self.gradients(norm, x, dims), self.gradients(same, x, dims))
        self.assertEqual(self.gradients(norm, x, True)[0].shape, (3, COLUMNS))

    def test_jacobian(self):
        norm, same = make()
        x = torch.randn(COLUMNS, device=PLACE)
        self.assertClose([torch.func.jacrev(norm)(x)], [torch.func.jacrev(same)(x)])

    def test_refused(self):
        norm, x = make()[0], torch.randn(3, COLUMNS, device=PLACE)
        with self.assertRaisesRegex(NotImplementedError, "_forward has no derivative in forward mode"):
            torch.func.jvp(norm, (x,), (x,))
        with self.assertRaisesRegex(NotImplementedError, "_backward has no gradient: "):
            torch.func.grad(lambda v: torch.func.grad(lambda u: norm(u).sin().sum())(v).sum())(x)


class Placed(Tests):
    def test_autocast(self):
        (norm, same), x = make(), torch.randn(5, 16, device=PLACE)
        linear = torch.nn.Linear(16, COLUMNS, device=PLACE)
        grads = []
        for n in (norm, same):
            with torch.autocast(PLACE, torch.bfloat16):
                y = n(linear(x))
                loss = y.float().sin().sum()
            linear.zero_grad()
            loss.backward()
            grads.append((y.detach().float(), n.weight.grad, linear.weight.grad))
        self.assertClose(*grads, rtol=5e-2, atol=5e-2)

    def test_autocast_without_a_program(self):
        with torch.autocast(PLACE, torch.float16), self.assertRaisesRegex(
                ValueError, r"rmsnorm.torch.source\(64, 1e-05, torch.float16, torch.float32, has_weight=True\) is the program"):
            make()[0](torch.nn.Linear(16, COLUMNS, device=PLACE)(torch.randn(5, 16, device=PLACE)))

    def test_exported(self):
        norm, x = make()[0], torch.randn(7, COLUMNS, device=PLACE)
        exported = torch.export.export(norm, (x,), dynamic_shapes=({0: torch.export.Dim("rows")},)).module()
        for rows in (7, 3):
            self.assertTrue(torch.equal(exported(x[:rows]), norm(x[:rows])))

    def test_threads(self):
        norm, wrong = make()[0], []
        work = [(torch.randn(rows, COLUMNS, device=PLACE), torch.randn(rows, COLUMNS, device=PLACE)) for rows in (1, 33, 70, 200)]
        expected = [step(norm, *tensors) for tensors in work]

        def run(i):
            for _ in range(3):
                if not all(map(torch.equal, step(norm, *work[i]), expected[i])):
                    wrong.append(i)

        threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_tensors_without_memory(self):
        entry = COMPILED[rmsnorm.torch.modules._entry_name(COLUMNS, EPS, torch.float32, torch.float32)]
        x, w = torch.randn(3, COLUMNS, device=PLACE), torch.rand(COLUMNS, device=PLACE)
        for bad in (w.to("meta"), w.to_sparse()):
            with self.assertRaisesRegex(ValueError, r"argument 'weight': expected a tensor f32\[64\], got one of type Tensor"):
                entry(x, bad)
        with self.assertRaisesRegex(ValueError, r"argument 'weight': expected a tensor f32\[64\], got None"):
            entry(x, None)

    def test_kinds_of_arguments(self):
        for call, text in ((lambda: rmsnorm.torch.RMSNorm(COLUMNS, module=None), "module: expected a rmsnorm.Module, got an object of"),
                           (lambda: rmsnorm.torch.function("norm"), "entry: expected one of rmsnorm, got an object of type str"),
                           (lambda: rmsnorm.torch.operator(COMPILED[next(iter(COMPILED))], "g"), "gradient: expected one of rmsnorm")):
            with self.assertRaisesRegex(ValueError, text):
                call()

    @unittest.skipIf(HAS_CUDA, "of the simulator")
    def test_read_only(self):  # beside a tensor of PyTorch
        import numpy

        entry = COMPILED[rmsnorm.torch.modules._entry_name(COLUMNS, EPS, torch.float32, torch.float32)]
        x, w = torch.randn(3, COLUMNS), torch.rand(COLUMNS)
        y = entry(x, numpy.frombuffer(w.numpy().tobytes(), numpy.float32))
        self.assertIsInstance(y, torch.Tensor)
        self.assertTrue(torch.equal(y, entry(x, w)))

    @needs_cuda
    def test_streams(self):
        norm, x, dy = make()[0], *torch.randn(2, 4000, COLUMNS, device=PLACE)
        expected, streams = step(norm, x, dy), [torch.cuda.Stream() for _ in range(3)]
        torch.cuda.synchronize()
        for _ in range(5):
            results = []
            for stream in streams:
                with torch.cuda.stream(stream):
                    results.append(step(norm, x, dy))
            torch.cuda.synchronize()
            for result in results:
                self.assertTrue(all(map(torch.equal, result, expected)))

    @needs_cuda
    def test_graph(self):
        norm, (x, dy) = make()[0], torch.randn(2, 70, COLUMNS, device=PLACE)
        with torch.cuda.stream(torch.cuda.Stream()):
            step(norm, x, dy)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            results = step(norm, x, dy)
        for _ in range(2):
            x.normal_()
            dy.normal_()
            graph.replay()
            self.assertTrue(all(map(torch.equal, results, step(norm, x, dy))))

    @unittest.skipUnless(torch.cuda.device_count() > 1, "needs two CUDA devices")
    def test_second_device(self):
        expected = step(make()[0], *torch.ones(2, 70, COLUMNS, device=PLACE))
        norm = make(place="cuda:1")[0]
        results = step(norm, *torch.ones(2, 70, COLUMNS, device="cuda:1"))  # while the first is current
        self.assertTrue(all(torch.equal(a.to(PLACE), b) and a.device.index == 1 for a, b in zip(results, expected)))
        moved = make()[0].to("cuda:1")
        self.assertTrue(torch.equal(moved(torch.ones(70, COLUMNS, device="cuda:1")), results[0]))


@unittest.skipUnless(dist.is_available(), "needs torch.distributed")
class Distributed(Tests):
    def test_sharded_tensors(self):
        from torch.distributed.tensor import Replicate, Shard, distribute_module, distribute_tensor

        norm, same = make()
        x, dy = torch.randn(2, 6, 5, COLUMNS, device=PLACE)
        expected = step(same, x, dy)
        with process_group() as mesh:
            plain = distribute_tensor(x, mesh, [Shard(0)])
            with self.assertRaisesRegex(ValueError, "the weight: expected a DTensor as the other one is, got a Parameter"):
                norm(plain)
            distribute_module(norm, mesh)
            for placement in (Shard(0), Shard(1), Replicate()):
                results = step(norm, distribute_tensor(x, mesh, [placement]), distribute_tensor(dy, mesh, [placement]))
                self.assertEqual(results[0].placements, (placement,))
                self.assertClose([r.full_tensor() for r in results], expected)
            with self.assertRaisesRegex(ValueError, "expected rows that are whole on each device, got the placements"):
                norm(distribute_tensor(x, mesh, [Shard(2)]))
            with self.assertRaisesRegex(ValueError, "x: expected a DTensor as the other one is, got a Tensor"):
                norm(x)

    def test_fully_shard(self):
        from torch.distributed.fsdp import fully_shard

        x, grads = torch.randn(6, 8, device=PLACE), []
        with process_group() as mesh:
            for index in (0, 1):
                torch.manual_seed(2)
                model = torch.nn.Sequential(torch.nn.Linear(8, COLUMNS, device=PLACE), make()[index],
                                            torch.nn.Linear(COLUMNS, 4, device=PLACE))
                fully_shard(model[1], mesh=mesh)
                fully_shard(model, mesh=mesh)
                optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
                for _ in range(2):
                    optimizer.zero_grad()
                    model(x).square().sum().backward()
                    optimizer.step()
                grads.append([p.grad.full_tensor() for p in model.parameters()])
        self.assertClose(*grads, rtol=1e-3, atol=1e-3)


if __name__ == "__main__":
    print("on", torch.cuda.get_device_name() if HAS_CUDA else "the simulator", flush=True)
    unittest.main()
