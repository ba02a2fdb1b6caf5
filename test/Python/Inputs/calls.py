"""Calls compiled entries with NumPy's arrays: calls.py MODULE"""
import os
import pathlib
import subprocess
import sys
import threading
import time
import unittest

import ml_dtypes
import numpy as np

import rmsnorm

PATH = sys.argv.pop(1)
MODULE = rmsnorm.load(PATH, device="sim")
ORACLE = rmsnorm.load(PATH, device="oracle")
RANDOM = np.random.default_rng(1)
BF16 = np.dtype(ml_dtypes.bfloat16)


def normal(*shape, dtype=np.float32):
    return RANDOM.standard_normal(shape).astype(np.float32).astype(dtype)


def norm(x, eps):
    x = x.astype(np.float64)
    rstd = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + eps)
    return x * rstd, rstd[..., 0]


def intervals(array):
    """As the oracle takes numbers: two ends in a complex one."""
    return array.astype(np.float64) * (1 + 1j)


class Calls(unittest.TestCase):
    def test_results_are_made(self):
        x = normal(7, 96)
        y, rstd = MODULE["f32_norm"](x)
        self.assertIsInstance(y, np.ndarray)
        expected, expected_rstd = norm(x, 1e-6)
        np.testing.assert_allclose(y, expected, rtol=1e-5)
        np.testing.assert_allclose(rstd, expected_rstd, rtol=1e-5)

    def test_results_are_given(self):
        x = normal(7, 96)
        out = np.full((7, 96), np.nan, np.float32), np.full(7, np.nan, np.float32)
        self.assertIs(MODULE["f32_norm"](x, out=out), out)
        for given, made in zip(out, MODULE["f32_norm"](x)):
            np.testing.assert_array_equal(given, made)

    def test_types_that_numpy_does_not_have(self):
        x, w = normal(9, 256, dtype=BF16), normal(256, dtype=BF16)
        y = MODULE["bf16_norm"](x, w)
        self.assertEqual(y.dtype, BF16)
        given = np.zeros_like(y)
        MODULE["bf16_norm"](x, w, out=given)
        np.testing.assert_array_equal(given.view(np.uint16), y.view(np.uint16))
        may_be = ORACLE["bf16_norm"](intervals(x), intervals(w))
        exact = y.astype(np.float64)
        self.assertTrue(((may_be.real <= exact) & (exact <= may_be.imag)).all())
        self.assertTrue((may_be.real == may_be.imag).mean() > 0.99)

    def test_gradient_with_a_workspace(self):
        dy, x, w = normal(33, 96), normal(33, 96), normal(96)
        _, rstd = MODULE["f32_norm"](x)
        dx, dw = MODULE["f32_gradient"](dy, x, w, rstd)
        xhat, r = norm(x, 1e-6)
        g = dy.astype(np.float64) * w
        np.testing.assert_allclose(dx, (g - xhat * (g * xhat).mean(-1, keepdims=True)) * r[:, None], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(dw, (dy * xhat).sum(0), rtol=1e-4, atol=1e-4)
        # More rows than before, then fewer: a workspace that grows.
        for rows in (1025, 2):
            dy, x = normal(rows, 96), normal(rows, 96)
            _, rstd = MODULE["f32_norm"](x)
            _, dw = MODULE["f32_gradient"](dy, x, w, rstd)
            np.testing.assert_allclose(dw, (dy * norm(x, 1e-6)[0]).sum(0), rtol=1e-3, atol=1e-3)

    def test_slices(self):
        wide = normal(5, 200)
        y, _ = MODULE["f32_norm"](wide[:, 100:196])
        np.testing.assert_array_equal(y, MODULE["f32_norm"](wide[:, 100:196].copy())[0])

    def test_no_rows(self):
        y, rstd = MODULE["f32_norm"](normal(0, 96))
        self.assertEqual((y.shape, rstd.shape), ((0, 96), (0,)))

    def test_sizes_that_follow(self):
        self.assertEqual(MODULE["merged"].infer((3, 5, 96)), ((15, 96),))
        x = normal(3, 5, 96)
        np.testing.assert_allclose(MODULE["merged"](x), norm(x, 1e-5)[0].reshape(15, 96), rtol=1e-5)

    def test_in_place(self):
        x = normal(4, 96)
        before = x.copy()
        self.assertIsNone(MODULE["in_place"](x))
        np.testing.assert_allclose(x, before + norm(before, 1e-5)[0], rtol=1e-5)

    def test_any_framework(self):
        class Tensor:
            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        x = normal(3, 96)
        y, _ = MODULE["f32_norm"](Tensor(x))
        np.testing.assert_array_equal(np.from_dlpack(y), MODULE["f32_norm"](x)[0])

    def test_results_outlive_the_module(self):
        module = rmsnorm.load(PATH, device="sim")
        x = normal(3, 96)
        y, _ = module["f32_norm"](x)
        del module
        np.testing.assert_array_equal(y, MODULE["f32_norm"](x)[0])

    def test_threads(self):
        module = rmsnorm.load(PATH, device="sim")  # that none has prepared yet
        dy, x, w = normal(33, 96), normal(33, 96), normal(96)
        _, rstd = MODULE["f32_norm"](x)
        expected = MODULE["f32_gradient"](dy, x, w, rstd)
        wrong = []

        def work():
            for _ in range(3):
                for got, right in zip(module["f32_gradient"](dy, x, w, rstd), expected):
                    if not np.array_equal(got, right):
                        wrong.append(got)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_cost_of_a_call(self):
        x, out = normal(0, 96), (normal(0, 96), normal(0))
        function = MODULE["f32_norm"]
        function(x, out=out)
        best = 1e9
        for _ in range(5):
            begin = time.perf_counter()
            for _ in range(1000):
                function(x, out=out)
            best = min(best, (time.perf_counter() - begin) / 1000)
        print(f"a call without rows: {best * 1e6:.2f} us", flush=True)
        self.assertLess(best, 100e-6)  # a hundredfold of the goal: machines of CI differ


class Refusals(unittest.TestCase):
    def refuses(self, text, call, *arguments, kind=ValueError, **named):
        with self.assertRaises(kind) as caught:
            call(*arguments, **named)
        self.assertIn(text, str(caught.exception))

    def test_tensors(self):
        function, x, w = MODULE["bf16_norm"], normal(3, 256, dtype=BF16), normal(256, dtype=BF16)
        self.refuses("argument 'weight': expected size 256 in dimension 0, got 100", function, x, w[:100])
        self.refuses("argument 'input': expected rank 2, got 1", function, x[0], w)
        self.refuses("argument 'weight': expected data type bf16, got f32", function, x, w.astype(np.float32))
        self.refuses("expected 2 tensors, or 3 with those for results, got 1", function, x)
        self.refuses("expected 2 tensors, or 3 with those for results, got 0", function)
        self.refuses("argument 'output': expected size 3 in dimension 0", function, x, w, out=x[:2].copy())
        self.refuses("expected memory of its own, got some of that of 'input'", function, x, w, out=x)
        self.refuses("", function, x, "weight", kind=TypeError)

    def test_sizes_that_follow(self):
        self.refuses("argument 'output': expected size 15", MODULE["merged"], normal(3, 5, 96), out=normal(14, 96))

    def test_place(self):
        module = rmsnorm.load(PATH)
        self.refuses("expected tensors of a GPU, got one in host memory", module["f32_norm"], normal(3, 96))

    def test_device(self):
        self.refuses('device: expected "sim", "sim:CHIP" or "oracle"', rmsnorm.load, PATH, device="cuda")
        module = rmsnorm.load(PATH, device="sim:gfx942")
        self.refuses("entry 'f32_norm' has no program for", module["f32_norm"], normal(3, 96))

    def test_files(self):
        self.refuses("No such file or directory", rmsnorm.load, "nothing.rmsn")
        self.refuses("expected an rmsnorm module, got 14 bytes", rmsnorm.load, b"something else")
        whole = pathlib.Path(PATH).read_bytes()
        self.assertEqual(set(rmsnorm.load(whole)), set(MODULE))
        with self.assertRaises(ValueError):
            rmsnorm.load(whole[:-100])

    def test_entries(self):
        with self.assertRaises(KeyError) as caught:
            MODULE["nothing"]
        self.assertIn("bf16_norm, f32_norm", str(caught.exception))
        self.assertNotIn("nothing", MODULE)
        self.assertEqual(len(MODULE), 5)

    def test_compiler(self):
        source = (pathlib.Path(__file__).parent / "norms.mlir").read_text()
        module = rmsnorm.compile(source, target="sim:sm_90", options=["--host-optimization=0"])
        x = normal(3, 96)
        np.testing.assert_array_equal(module["f32_norm"](x)[0], MODULE["f32_norm"](x)[0])
        self.refuses("expected", rmsnorm.compile, "func.func @f(", target="sim:sm_90")
        self.refuses("sm_9", rmsnorm.compile, source, target="sm_9")
        for name in ("NORM_COMPILE", "PATH"):
            before = os.environ.get(name)
            try:
                os.environ[name] = "/nowhere"
                self.refuses("norm-compile", rmsnorm.compile, source, kind=FileNotFoundError)
            finally:
                os.environ.pop(name)
                if before is not None:
                    os.environ[name] = before


class Package(unittest.TestCase):
    def test_library(self):
        library, = pathlib.Path(rmsnorm.__file__).parent.glob("*.so")
        names = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
        self.assertIn("__tvm_ffi_get_entry", names)
        self.assertEqual([line for line in names.splitlines() if " T " in line and "__tvm_ffi_" not in line], [])
        needs = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
        self.assertIn("libtvm_ffi.so", needs)
        for name in ("LLVM", "MLIR", "cuda", "hip", "rmsnorm_runtime.so"):
            self.assertNotIn(name, needs)
        self.assertLess(library.stat().st_size, 3 << 20)


class Descriptions(unittest.TestCase):
    def test_signature(self):
        self.assertEqual(repr(MODULE["bf16_norm"]), "bf16_norm(input: bf16[s0, 256], weight: bf16[256]) -> output: bf16[s0, 256]")
        self.assertEqual([a.role for a in MODULE["in_place"].inputs], ["inout"])
        self.assertEqual(MODULE["f32_norm"].results[1].dims, ("s0",))
        self.assertIn("entry merged", MODULE.describe("merged"))
        self.assertIn("entry merged", MODULE.describe())


unittest.main(verbosity=2)
