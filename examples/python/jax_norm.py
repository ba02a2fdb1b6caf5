# A compiled norm inside jax.jit, with its gradient: on a GPU, or on the simulator where there is none.
import jax
import jax.numpy as jnp

import rmsnorm.jax

N, EPS = 256, 1e-5
target = "native" if jax.default_backend() == "gpu" else "sim:sm_90"
module = rmsnorm.jax.compile(N, EPS, jnp.bfloat16, target=target)  # or rmsnorm.load("norms.rmsn")


def loss(parameters, x, y):
    h = rmsnorm.jax.rms_norm(jnp.tanh(x @ parameters["in"]), parameters["weight"], EPS, module=module)
    return jnp.mean((h @ parameters["out"] - y).astype(jnp.float32)**2)


@jax.jit
def step(parameters, x, y):
    value, gradients = jax.value_and_grad(loss)(parameters, x, y)
    return value, jax.tree.map(lambda p, g: p - 0.05 * g, parameters, gradients)


keys = jax.random.split(jax.random.key(1), 4)
x, y, first, last = (jax.random.normal(key, shape, jnp.bfloat16) / 8
                     for key, shape in zip(keys, [(4, 16, 32), (4, 16, 8), (32, N), (N, 8)]))
parameters = {"in": first, "weight": jnp.ones(N, jnp.bfloat16), "out": last}
losses = []
for _ in range(20):
    value, parameters = step(parameters, x, y)
    losses.append(float(value))
print("the loss falls:", losses[0] > losses[10] > losses[19])
