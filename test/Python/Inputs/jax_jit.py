"""Calls compiled entries inside jax.jit: jax_jit.py NORMS NVFP4 POSITIONS NORM, compiled modules; jax_jit.py --source prints
the program of NORM. With JAX_PLATFORMS=cuda they run on a GPU."""
import ctypes
import os
import sys
import threading
import time
import unittest

# Two devices, for shard_map, and calls that leave this thread.
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2 " + os.environ.get("XLA_FLAGS", "")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import jax_tvm_ffi
import numpy as np
import tvm_ffi
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

import rmsnorm
import rmsnorm.jax

N, EPS = 64, 1e-5
TYPES = [(jnp.float32, jnp.float32), (jnp.float32, None), (jnp.bfloat16, jnp.bfloat16), (jnp.bfloat16, jnp.float32)]
if sys.argv[1] == "--source":
    print("".join(rmsnorm.jax.source(N, EPS, dtype, weight_dtype, has_weight=weight_dtype is not None) for dtype, weight_dtype in TYPES))
    sys.exit()
NORMS, NVFP4, POSITIONS, NORM = (rmsnorm.load(path, device="sim") for path in sys.argv[1:5])
WITHOUT_DEVICE = rmsnorm.load(sys.argv[1])
del sys.argv[1:5]
HAS_GPU = jax.default_backend() == "gpu"
jax.config.update("jax_default_matmul_precision", "highest")
KEYS = iter(jax.random.split(jax.random.key(1), 10000))
UNIT = {"float32": 2.0**-24, "bfloat16": 2.0**-8}  # the largest relative error of a rounding


def normal(*shape, dtype=jnp.float32):
    return jax.random.normal(next(KEYS), shape).astype(dtype)


def rms_norm(x, weight=None, module=NORM):
    return rmsnorm.jax.rms_norm(x, weight, EPS, module=module)


def plain(x, weight=None):
    """The formula, in f32."""
    x = x.astype(jnp.float32)
    y = x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + EPS)
    return y if weight is None else y * weight.astype(jnp.float32)


def rounded_sum(terms):
    """How far a sum in f32, in any order, may be from the exact one, for each unit of the sum of absolute values."""
    return (terms + 2) * UNIT["float32"]


# Of 1 / sqrt(mean + eps): half of the sum's, and some units of the mean, the addition and the root. Of a row's number two more,
# for two products. Both the kernel and the formula have them.
RSTD = rounded_sum(N) / 2 + 8 * UNIT["float32"]
ROW = 2 * (RSTD + 2 * UNIT["float32"])


class Test(unittest.TestCase):
    def assertBits(self, a, b):
        self.assertEqual((a.dtype, a.shape), (b.dtype, b.shape))
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))

    def assertWithin(self, got, expected, bound):
        """`bound`: of absolute errors before `got` is rounded to its type."""
        got, expected, bound = (np.asarray(a, np.float64) for a in (got, expected, bound + UNIT[got.dtype.name] * abs(expected)))
        self.assertEqual(got.shape, expected.shape)
        error = abs(got - expected)
        self.assertTrue((error <= bound).all(), f"an error of {(error / bound).max():.2f} bounds")

    def refuses(self, text, call, *arguments, **named):
        with self.assertRaises(ValueError) as caught:
            call(*arguments, **named)
        self.assertIn(text, str(caught.exception))


class Calls(Test):
    def test_the_same_as_without_jit(self):
        x, w = normal(7, 256, dtype=jnp.bfloat16), normal(256, dtype=jnp.bfloat16)
        entry = NORMS["bf16_norm"]
        expected = entry(x, w)
        self.assertBits(rmsnorm.jax.call(entry, x, w), expected)
        self.assertBits(jax.jit(lambda x, w: rmsnorm.jax.call(entry, x, w))(x, w), expected)
        self.assertBits(rmsnorm.jax.call(entry, np.asarray(x), np.asarray(w)), expected)
        # Between other operations, and of a transposed array.
        y = jax.jit(lambda x, w: rmsnorm.jax.call(entry, x.T + 0, w) * 2)(x.T, w)
        self.assertBits(y, expected * 2)

    def test_several_results(self):
        x = normal(3, 96)
        for made in (rmsnorm.jax.call(NORMS["f32_norm"], x), jax.jit(lambda x: rmsnorm.jax.call(NORMS["f32_norm"], x))(x)):
            self.assertIsInstance(made, tuple)
            for got, expected in zip(made, NORMS["f32_norm"](x), strict=True):
                self.assertBits(got, expected)

    def test_sizes(self):
        """Of one module at several sizes: an entry is registered once, and each size is traced once."""
        traced = []

        @jax.jit
        def run(x):
            traced.append(x.shape)
            return rmsnorm.jax.call(NORMS["f32_norm"], x)[0]

        run(normal(2, 96))
        count = jax_tvm_ffi.registered_count()
        for rows in (5, 2, 0, 5, 2):
            x = normal(rows, 96)
            self.assertBits(run(x), NORMS["f32_norm"](x)[0])
        self.assertEqual(traced, [(2, 96), (5, 96), (0, 96)])
        self.assertEqual(jax_tvm_ffi.registered_count(), count)
        again = rmsnorm.load(NORMS._source, device="sim")  # the same content
        rmsnorm.jax.call(again["f32_norm"], normal(2, 96))
        self.assertEqual(jax_tvm_ffi.registered_count(), count)

    def test_sizes_that_follow(self):
        x = normal(3, 5, 96)
        self.assertBits(jax.jit(lambda x: rmsnorm.jax.call(NORMS["merged"], x))(x), NORMS["merged"](x))

    def test_in_place(self):
        x = normal(4, 96)
        expected = x + jax.jit(plain)(x)
        for run in (rmsnorm.jax.call, jax.jit(rmsnorm.jax.call, static_argnums=0)):
            before = np.array(x)
            np.testing.assert_allclose(run(NORMS["in_place"], x), expected, rtol=1e-5, atol=1e-6)
            self.assertBits(x, before)
        run = jax.jit(lambda x: rmsnorm.jax.call(NORMS["in_place"], x), donate_argnums=0)
        self.assertIn("output_operand_alias", run.lower(x).as_text())
        place = x.unsafe_buffer_pointer()
        y = run(x)
        self.assertEqual((y.unsafe_buffer_pointer(), x.is_deleted()), (place, True))  # nothing was copied
        np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)

    def test_narrow_types(self):
        """Two elements a byte, and bytes: against the numbers that they stand for."""
        x, w, whole = normal(3, 4096, dtype=jnp.bfloat16), normal(4096, dtype=jnp.bfloat16), jnp.float32(20)
        q, scale = jax.jit(lambda *inputs: rmsnorm.jax.call(NVFP4["nvfp4"], *inputs))(x, w, whole)
        self.assertEqual([(r.dtype.name, r.shape) for r in (q, scale)], [("float4_e2m1fn", (3, 4096)), ("float8_e4m3fn", (3, 256))])
        y = np.asarray(plain(x, w)).reshape(3, 256, 16)
        got = np.asarray(q).astype(np.float32).reshape(3, 256, 16) * np.asarray(scale).astype(np.float32)[..., None] / whole
        # A number is at most 6 after the division by a scale that is within 1/16, and numbers are at most 2 apart there.
        largest = abs(y).max(-1, keepdims=True)
        self.assertTrue((abs(got - y) <= largest * (1 / 6 + 1 / 15)).all())
        self.assertGreater(len(np.unique(np.asarray(q).astype(np.float32))), 12)
        q, scale = NVFP4["nvfp4"].infer(x.shape, w.shape, ())
        self.assertEqual([q, scale], [(3, 4096), (3, 256)])

    def test_wide_types(self):
        entry, table = POSITIONS["rope_by_position"], normal(7, 128, dtype=jnp.bfloat16)
        x, w, positions = normal(3, 48, 128, dtype=jnp.bfloat16), normal(128, dtype=jnp.bfloat16), np.array([[6], [0], [2]])
        with jax.enable_x64(True):
            y = jax.jit(lambda *inputs: rmsnorm.jax.call(entry, *inputs))(x, positions, table, w)
            self.assertBits(y, entry(x, jnp.asarray(positions), table, w))
        name = entry.inputs[1].name
        self.refuses(f"argument '{name}': expected the option jax_enable_x64, as its type is i64", rmsnorm.jax.call, entry, x, positions,
                     table, w)

    def test_vmap(self):
        x, w = normal(2, 3, 256, dtype=jnp.bfloat16), normal(2, 256, dtype=jnp.bfloat16)
        run = lambda x, w: rmsnorm.jax.call(NORMS["bf16_norm"], x, w)
        self.assertBits(jax.vmap(run)(x, w), jnp.stack([run(*given) for given in zip(x, w)]))
        self.assertBits(jax.vmap(run, in_axes=(1, None), out_axes=1)(x, w[0]), run(x.reshape(6, 256), w[0]).reshape(2, 3, 256))
        x = normal(2, 3, 96)
        self.assertBits(jax.vmap(lambda x: rmsnorm.jax.call(NORMS["in_place"], x))(x),
                        rmsnorm.jax.call(NORMS["in_place"], x.reshape(6, 96)).reshape(2, 3, 96))

    def test_loops(self):
        x = normal(3, 96)
        run = lambda x: rmsnorm.jax.call(NORMS["f32_norm"], x)[0]
        y, _ = jax.lax.scan(lambda x, _: (run(x), None), x, length=3)
        self.assertBits(y, run(run(run(x))))

    def test_threads(self):
        """Calls with a workspace, of several threads and of several parts of one program."""
        entry = NORMS["f32_gradient"]
        given = [(normal(1100, 96), normal(1100, 96), normal(96), abs(normal(1100))) for _ in range(4)]
        expected = [entry(*inputs) for inputs in given]
        run = jax.jit(lambda given: [rmsnorm.jax.call(entry, *inputs) for inputs in given])
        wrong = []

        def work():
            for _ in range(5):
                for got, right in zip(run(given), expected):
                    wrong.extend(1 for g, r in zip(got, right) if not np.array_equal(g, r))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    @unittest.skipIf(HAS_GPU, "calls end when they are on the stream")
    def test_no_python(self):
        """A call ends while this thread keeps Python to itself, which a function in Python would have to wait for."""
        sleep = ctypes.PyDLL(None).usleep  # a PyDLL's functions keep the lock
        interval = sys.getswitchinterval()

        def ends(run, x):
            run(x).block_until_ready()
            try:
                sys.setswitchinterval(1000)
                y = run(x)
                for _ in range(200):
                    sleep(10000)
                    if y.is_ready():
                        return True
                return False
            finally:
                sys.setswitchinterval(interval)

        def slow(x):  # what is long enough not to be run at once
            return jax.lax.fori_loop(0, 300, lambda _, m: jnp.tanh(m @ m), jnp.full((256, 256), x[0, 0]))[0, 0] * 0

        jax_tvm_ffi.register_ffi_target("in_python", tvm_ffi.convert(lambda x, y: None), platform="cpu")
        in_python = jax.jit(lambda x: jax.ffi.ffi_call("in_python", jax.ShapeDtypeStruct(x.shape, x.dtype))(x + slow(x)))
        ours = jax.jit(lambda x: rmsnorm.jax.call(NORMS["f32_norm"], x + slow(x))[0])
        x = normal(3, 96)
        self.assertTrue(ends(ours, x))
        self.assertFalse(ends(in_python, x))

    def test_cost_of_a_call(self):
        x = normal(0, 96)
        run = jax.jit(lambda x: rmsnorm.jax.call(NORMS["f32_norm"], x))
        run(x)
        best = 1e9
        for _ in range(5):
            begin = time.perf_counter()
            for _ in range(1000):
                run(x)
            best = min(best, (time.perf_counter() - begin) / 1000)
        print(f"a call in jax.jit without rows: {best * 1e6:.2f} us", flush=True)
        self.assertLess(best, 1e-3)  # machines of CI differ

    def test_refusals(self):
        """When JAX traces: by jax.eval_shape nothing runs."""
        x, w = normal(3, 256, dtype=jnp.bfloat16), normal(256, dtype=jnp.bfloat16)

        def refuses(text, name, *inputs):
            run = lambda *inputs: rmsnorm.jax.call(NORMS[name], *inputs)
            self.refuses(text, jax.eval_shape, run, *inputs)
            self.refuses(text, run, *inputs)

        refuses("entry 'bf16_norm': expected 2 arrays, got 1", "bf16_norm", x)
        refuses("argument 'weight': expected size 256 in dimension 0, got 100", "bf16_norm", x, w[:100])
        refuses("argument 'input': expected rank 2, got 1", "bf16_norm", x[0], w)
        refuses("argument 'weight': expected data type bf16, got f32", "bf16_norm", x, w.astype(jnp.float32))
        refuses("argument 'weight': expected data type bf16, got uint16", "bf16_norm", x, w.astype(jnp.uint16))
        rstd = NORMS["f32_gradient"].inputs[3].name
        dy = NORMS["f32_gradient"].inputs[0].name
        refuses(f"argument '{rstd}': expected size 3 in dimension 0, as in dimension 0 of '{dy}', got 4", "f32_gradient",
                normal(3, 96), normal(3, 96), normal(96), normal(4))
        call = rmsnorm.jax.call
        self.refuses("argument 'weight': expected an array bf16[256], got None", call, NORMS["bf16_norm"], x, None)
        self.refuses("argument 'weight': expected an array bf16[256], got an object of type list", call, NORMS["bf16_norm"], x, [1.0])
        self.refuses("argument 'input': expected data type f32, got f64", call, NORMS["f32_norm"], np.zeros((3, 96)))
        self.refuses("entry: expected an entry of a module, got an object of type Module", call, NORMS, x)
        if not HAS_GPU:
            self.refuses("entry 'f32_norm': expected a program for one of this process's devices", jax.eval_shape,
                         lambda x: call(WITHOUT_DEVICE["f32_norm"], x), normal(3, 96))
        self.refuses("cannot be differentiated", jax.grad(lambda x: call(NORMS["f32_norm"], x)[0].sum()), normal(3, 96))


class Norms(Test):
    def make(self, *leading, types):
        dtype, weight_dtype = types
        # Rows of several magnitudes: in some eps counts.
        x = normal(*leading, N) * jnp.exp2(-8 * jax.random.uniform(next(KEYS), (*leading, 1)))
        return [x.astype(dtype)] + ([] if weight_dtype is None else [1 + normal(N, dtype=weight_dtype) / 4])

    def check(self, norm, inputs):
        """What `norm` gives and its gradients, from rows whose errors are bounded."""
        x, *weight = wide = [a.astype(jnp.float32) for a in inputs]
        y, gradient = jax.vjp(norm, *inputs)
        expected, expected_gradient = jax.vjp(plain, *wide)
        self.assertEqual((y.dtype, y.shape), (inputs[0].dtype, inputs[0].shape))
        self.assertWithin(y, expected, ROW * abs(expected))
        dy = normal(*y.shape, dtype=y.dtype)
        got, expected = gradient(dy), expected_gradient(dy.astype(jnp.float32))
        self.assertEqual([(g.dtype, g.shape) for g in got], [(a.dtype, a.shape) for a in inputs])
        g = abs(dy.astype(jnp.float32) * (weight[0] if weight else 1))
        rstd, xhat = jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + EPS), abs(plain(x))
        # rstd * (g - xhat * mean(g * xhat)): rstd three times, one more sum, some products and a difference.
        of_dx = 2 * (3 * RSTD + rounded_sum(N) + 8 * UNIT["float32"])
        self.assertWithin(got[0], expected[0], of_dx * rstd * (g + xhat * jnp.mean(g * xhat, -1, keepdims=True)))
        if weight:
            rows = x.size // N
            of_dw = 2 * (rounded_sum(rows) + RSTD + 4 * UNIT["float32"])
            self.assertWithin(got[1], expected[1], of_dw * (abs(dy.astype(jnp.float32)) * xhat).reshape(rows, N).sum(0))

    def test_values_and_gradients(self):
        for types in TYPES:
            for leading in ((), (5,), (2, 3), (2, 1, 4)):
                with self.subTest(types=types, leading=leading):
                    self.check(jax.jit(rms_norm) if len(leading) != 1 else rms_norm, self.make(*leading, types=types))

    def test_no_rows(self):
        x, w = jnp.zeros((0, 3, N)), jnp.ones(N)
        y, gradient = jax.vjp(rms_norm, x, w)
        dx, dw = gradient(y)
        self.assertEqual((y.shape, dx.shape), (x.shape, x.shape))
        self.assertBits(dw, jnp.zeros(N))

    def test_once(self):
        traced = []

        @jax.jit
        def step(x, w):
            traced.append(x.shape)
            return jax.value_and_grad(lambda x, w: rms_norm(x, w).sum(), argnums=(0, 1))(x, w)

        for rows in (4, 7, 4, 7):
            step(normal(rows, N), normal(N))
        self.assertEqual(traced, [(4, N), (7, N)])
        count = lambda run: jax.jit(run).lower(normal(4, N), normal(N)).as_text().count("custom_call @rmsnorm")
        self.assertEqual([count(rms_norm), count(step)], [1, 2])

    def test_training(self):
        """As with the plain formula, step by step."""
        m, x, target = normal(N, 4) / 8, normal(32, N), normal(32, 4)

        def train(norm):
            def loss(parameters):
                weight, m = parameters
                return jnp.mean((norm(x, weight) @ m - target)**2)

            step = jax.jit(jax.value_and_grad(loss))
            parameters, losses = (jnp.ones(N), m), []
            for _ in range(10):
                value, gradients = step(parameters)
                parameters = jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradients)
                losses.append(float(value))
            return losses

        losses = train(rms_norm)
        np.testing.assert_allclose(losses, train(plain), rtol=1e-4)
        self.assertEqual(losses, sorted(losses, reverse=True))

    def test_vmap(self):
        x, w = normal(2, 5, N), normal(N)
        expected = rms_norm(x, w)
        self.assertBits(jax.vmap(rms_norm, in_axes=(0, None))(x, w), expected)
        self.assertBits(jax.vmap(rms_norm, in_axes=(1, None), out_axes=1)(x, w), expected)
        self.assertBits(jax.vmap(jax.vmap(rms_norm, in_axes=(0, None)), in_axes=(0, None))(x, w), expected)
        # One launch, where only x has more dimensions; one for each weight.
        count = lambda run, *given: str(jax.make_jaxpr(run)(*given)).count("scan[")
        self.assertEqual(count(jax.vmap(rms_norm, in_axes=(0, None)), x, w), 0)
        weights = normal(2, N)
        self.assertEqual(count(jax.vmap(rms_norm), x, weights), 1)
        self.assertBits(jax.vmap(rms_norm)(x, weights), jnp.stack([rms_norm(*given) for given in zip(x, weights)]))
        self.assertBits(jax.vmap(rms_norm, in_axes=(None, 0))(x, weights), jnp.stack([rms_norm(x, w) for w in weights]))

    def test_gradients_per_sample(self):
        x, w, dy = normal(3, 5, N), normal(N), normal(3, 5, N)

        def gradient(x, w, dy):
            return jax.vjp(rms_norm, x, w)[1](dy)

        for got, expected in zip(jax.vmap(gradient, in_axes=(0, None, 0))(x, w, dy), zip(*[gradient(a, w, b) for a, b in zip(x, dy)])):
            self.assertBits(got, jnp.stack(expected))
        one = normal(5, N)  # with cotangents that alone have more dimensions
        for got, expected in zip(jax.vmap(gradient, in_axes=(None, None, 0))(one, w, dy), zip(*[gradient(one, w, b) for b in dy])):
            self.assertBits(got, jnp.stack(expected))
        without = lambda x, dy: jax.vjp(rms_norm, x)[1](dy)[0]
        self.assertBits(jax.vmap(without, in_axes=(None, 0))(one, dy), jnp.stack([without(one, b) for b in dy]))
        row = normal(N)
        np.testing.assert_allclose(jax.jacrev(rms_norm)(row, w), jax.jacrev(plain)(row, w), atol=1e-5)

    def test_checkpoint(self):
        x, w = normal(4, N), normal(N)
        loss = lambda x, w: jnp.sin(rms_norm(x, w)).sum()
        for got, expected in zip(*[jax.grad(f, argnums=(0, 1))(x, w) for f in (jax.checkpoint(loss), loss)]):
            self.assertBits(got, expected)

    def test_shard_map(self):
        """Each device norms its own rows; the gradient of the weight is that of all."""
        mesh = Mesh(np.array(jax.devices()), ("data",))
        x, w, dy = normal(2, 3, N), normal(N), normal(2, 3, N)
        expected = jax.vjp(rms_norm, x, w)
        for check in (True, False):
            norm = jax.shard_map(rms_norm, mesh=mesh, in_specs=(P("data"), P()), out_specs=P("data"), check_vma=check)
            y, gradient = jax.vjp(jax.jit(norm), jax.device_put(x, NamedSharding(mesh, P("data"))), w)
            self.assertBits(y, expected[0])
            self.assertEqual(y.sharding.spec, P("data"))
            self.assertNotIn("all-gather", jax.jit(norm).lower(x, w).compile().as_text())
            dx, dw = gradient(dy)
            self.assertBits(dx, expected[1](dy)[0])
            np.testing.assert_allclose(dw, expected[1](dy)[1], rtol=1e-5, atol=1e-5)

    def test_sharded(self):
        """Without shard_map the rows of all devices are gathered."""
        mesh = Mesh(np.array(jax.devices()), ("data",))
        x, w = normal(4, N), normal(N)
        sharded = jax.device_put(x, NamedSharding(mesh, P("data")))
        self.assertBits(jax.jit(rms_norm)(sharded, w), rms_norm(x, w))
        self.assertEqual("all-gather" in jax.jit(rms_norm).lower(sharded, w).compile().as_text(), mesh.size > 1)

    def test_refusals(self):
        x, w = normal(3, N), normal(N)

        def refuses(text, *inputs, eps=EPS, module=NORM):
            run = lambda *inputs: rmsnorm.jax.rms_norm(*inputs, eps, module=module)
            self.refuses(text, jax.eval_shape, run, *inputs)
            self.refuses(text, run, *inputs)

        refuses("rmsnorm.jax.source(32, 1e-05, jnp.float32, jnp.float32) is the program to compile", normal(3, 32), normal(32))
        refuses("rmsnorm.jax.source(64, 1e-06, jnp.bfloat16, has_weight=False)", x.astype(jnp.bfloat16), None, eps=1e-6)
        refuses("x: expected one of float32, bfloat16, float16, got int32", x.astype(jnp.int32), w)
        refuses("weight: expected one of float32, bfloat16, float16, got int8", x, w.astype(jnp.int8))
        refuses("weight: expected shape [64], as x has rows of 64, got [1, 64]", x, w[None])
        refuses("x: expected rows in the last dimension, got an array without dimensions", jnp.float32(1), None)
        refuses("module: expected a rmsnorm.Module, got an object of type str", x, w, module="norms.rmsn")
        run = rmsnorm.jax.rms_norm
        self.refuses("weight: expected an array, got an object of type list", run, x, [1.0] * N, EPS, module=NORM)
        self.refuses("eps: expected a number that is known when JAX traces", jax.jit(lambda eps: run(x, w, eps, module=NORM)), EPS)
        self.refuses("dtype: expected one of float32, bfloat16, float16, got int8", rmsnorm.jax.source, N, EPS, jnp.int8)
        gradient = jax.grad(lambda x: rms_norm(x, w).sum())
        self.refuses("cannot be differentiated", jax.grad(lambda x: gradient(x).sum()), x)
        with self.assertRaisesRegex(TypeError, "forward-mode"):
            jax.jvp(rms_norm, (x, w), (x, w))


unittest.main(verbosity=2)
