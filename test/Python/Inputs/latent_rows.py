"""DeepSeek's latents in one buffer of rows of 656 bytes, of which a kernel gets three views."""
import pathlib
import sys

import ml_dtypes
import numpy as np

import rmsnorm

TOKENS, SLOTS = 37, 64
random = np.random.default_rng(1)
BF16, F8 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn

kv, weight = (random.standard_normal(shape).astype(BF16) for shape in ((TOKENS, 576), 512))
cos, sin = (random.standard_normal((TOKENS, 32)).astype(np.float32) for _ in range(2))
slots = random.permutation(SLOTS)[:TOKENS].astype(np.int64)
slots[3] = -1
cache = np.zeros((SLOTS, 656), np.uint8)


def part(offset, columns, dtype):
    return np.ndarray((SLOTS, columns), dtype, cache.data, offset, (656, np.dtype(dtype).itemsize))


latents, scales, keys = part(0, 512, F8), part(512, 4, np.float32), part(528, 64, BF16)
module = rmsnorm.compile(pathlib.Path(sys.argv[1]), target="sim:sm_90")
module["latent"](kv, weight, cos, sin, slots, latents, scales, keys)

x = kv[:, :512].astype(float)
groups = (x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * weight.astype(float)).reshape(TOKENS, 4, 128)
scale = np.maximum(abs(groups).max(-1), 1e-4) / 448
first, second = kv[:, 512:544].astype(float), kv[:, 544:].astype(float)
turned = np.concatenate([first * cos - second * sin, second * cos + first * sin], -1)
for token, slot in enumerate(slots):
    if slot >= 0:
        np.testing.assert_allclose(scales[slot], scale[token], rtol=1e-5)
        stored = latents[slot].astype(float).reshape(4, 128) * scale[token][:, None]
        np.testing.assert_allclose(stored, groups[token], rtol=2**-4, atol=scale[token].max() * 2**-9)
        np.testing.assert_allclose(keys[slot].astype(float), turned[token], rtol=2**-8)
unused = sorted(set(range(SLOTS)) - set(slots))
print(TOKENS - 1, "rows,", len(unused), "others of", np.count_nonzero(cache[unused]), "bytes")
