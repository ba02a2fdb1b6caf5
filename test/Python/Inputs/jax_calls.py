"""Calls compiled entries with JAX's arrays on the CPU: jax_calls.py MODULE"""
import sys

import jax
import jax.numpy as jnp

import rmsnorm

module = rmsnorm.load(sys.argv[1], device="sim")
x, w = jax.random.normal(jax.random.key(1), (7, 256), dtype=jnp.bfloat16), jnp.ones(256, jnp.bfloat16)
y = module["bf16_norm"](x, w)
x = x.astype(jnp.float32)
expected = (x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5)).astype(jnp.bfloat16)
print(isinstance(y, jax.Array), y.dtype, bool(jnp.allclose(y, expected, rtol=2**-7)))
print([isinstance(r, jax.Array) for r in module["f32_norm"](jnp.ones((3, 96), jnp.float32))])
for call in (lambda: module["in_place"](jnp.ones((3, 96), jnp.float32)),
             lambda: module["bf16_norm"](y, w, out=y)):  # JAX's arrays never change
    try:
        call()
    except ValueError as error:
        print(error)
