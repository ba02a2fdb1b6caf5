#!/usr/bin/env python3
"""Times norms with what stands around them on a CUDA device, next to torch.compile and the fastest copy of the same bytes.

On a machine with LLVM, the forms of examples/quantised, examples/models and benchmarks/forms, as FOLDER/FORM_N.rmsn:

    benchmarks/compile_forms.sh FOLDER [N...]

On the machine with the GPU (PyTorch, CuPy and librmsnorm_runtime.so are all it needs):

    python3 benchmarks/neighbours.py FOLDER 64x4096 32768x4096 --library=lib/librmsnorm_runtime.so --compile=default

Ours, theirs and the copies are timed in rounds, and medians are printed; timing.py says how a time is taken. The ceiling is
the best of six copies that read as many bytes and write as many, 16 at a time. Outputs are compared with the form in f64
before they are timed, and poisoned before that: no more than `differing` of them may be further off than one step of their
type.

After models of libraries (gemma3_sandwich and the four below it in FORMS), at the widths of the models:

    benchmarks/compile_forms.sh FOLDER models
    python3 benchmarks/neighbours.py FOLDER 3000x3584 3000x5120 3000x7168 --library=... --compile default max-autotune

benchmarks/data/performance/forms.json, with --commit and --json=forms.json for each:

    ... 4096x7168 4096x4096 32768x4096 64x4096 1x7168 --compile default
    ... 14563x4608 7281x9216 8192x8192 4096x16384 --group wide --forms fp8_row mxfp8
    ... 99840x384 60160x640 37632x1024 25088x1536 --group narrow --forms llama3_8b silu gated_silu mamba_gated fp8_static fp8_row
    ... 8192x3072 --group other --compile default --forms dit_ln

benchmarks/data/performance/rotations.json likewise, of "models":

    ... 32768x6144 4096x6144 64x6144 --compile default --forms qk_rope qwen3_8b_rope
    ... 4096x3840 4096x4608 4096x5376 4096x9216 --compile default --forms qk_rope80 qk_rope96 qk_rope112 qk_rope192
    ... 32768x4096 4096x4096 64x4096 --compile default --forms rope_mxfp8
    ... 4096x9216 64x9216 --compile default --forms heads_rope heads_rope_fp8
    ... 4096x5120 --compile default max-autotune --forms rope_sections

benchmarks/data/performance/caches.json likewise, of "models"; rows are stored into caches of 8,192 tokens, by torch.compile in
place, too, and the copies write the rows alone:

    ... 4096x6144 64x6144 4096x576 64x576 4096x128 64x128 --compile default max-autotune --forms append latent indexer_key
"""
import argparse
import os
import sys

import torch

import capi
import record
import timing

BF16, F32, I8, I64, E4M3 = torch.bfloat16, torch.float32, torch.int8, torch.int64, torch.float8_e4m3fn
E8M0, E2M1 = "e8m0", "e2m1"  # bytes in PyTorch, of E2M1 with two numbers each
SLOTS = "slots"  # of a cache, each once
CACHED = 8192  # tokens of a cache


def norm(x, w, eps=1e-5):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * w


def silu(z):
    return z * torch.sigmoid(z)


class Form:
    """`inputs` and `outputs`: (shape of M and N, dtype), I64 for positions below 4096; `compute`: of inputs in f32 or f64, what
    is stored before it is converted, and what stands for it in PyTorch; `read`: the part of the first input that it reads.
    The first `caches` outputs are caches, into which rows are stored at the slots that the last input has."""

    def __init__(self, inputs, outputs, compute, tolerance=2**-7, read=1, caches=0):
        self.inputs, self.outputs, self.compute, self.tolerance, self.read, self.caches = inputs, outputs, compute, tolerance, read, caches

    def stored(self, inputs):
        """What `compute` makes of them, clamped and of the outputs' types."""
        given = inputs[:-1] if self.caches else inputs
        return [narrowed(value, dtype) for value, (_, dtype) in zip(self.compute(*given), self.outputs)]

    def append(self, inputs, caches):
        """The same stored into caches, and the rest."""
        values = self.stored(inputs)
        for cache, rows in zip(caches, values):
            if cache.element_size() == 1:  # of f8, too
                cache, rows = cache.view(torch.uint8), rows.view(torch.uint8)
            cache.view(CACHED, *rows.shape[1:])[inputs[-1]] = rows
        return values[self.caches:]

    def expected(self, inputs):
        """The outputs in f64; of caches what is not stored is 0."""
        values = self.compute(*(inputs[:-1] if self.caches else inputs))
        whole = [rows.new_zeros((CACHED, *rows.shape[1:])).index_copy_(0, inputs[-1], rows) for rows in values[:self.caches]]
        return whole + values[self.caches:]


def in_floats(tensor, dtype):
    return tensor if tensor.dtype == I64 else tensor.to(dtype)


def narrowed(value, dtype):
    if dtype == E4M3:
        return value.float().clamp(-448, 448).to(E4M3)
    if dtype == I8:
        return value.round().clamp(-128, 127).to(I8)
    return value if dtype in (E8M0, E2M1) else value.to(dtype)


def row_scale(most, floor=1e-12):
    """A quantisation by the largest element of a row, or of a group of one."""
    return lambda y: torch.clamp(y.abs().amax(-1, keepdim=True) / most, min=floor)


def by_row(x, w, most):
    y = norm(x, w)
    scale = row_scale(most)(y)
    return [(y * (1 / scale)).clamp(-most, most), scale.squeeze(-1)]


def by_block(x, w, size=128):
    y = norm(x, w).unflatten(-1, (-1, size))
    scale = row_scale(448.0)(y)
    return [(y * (1 / scale)).clamp(-448, 448).flatten(-2), scale.squeeze(-1)]


def by_power(y, size):
    """In groups of `size`, by the least power of two by which no element is above 448."""
    groups = y.unflatten(-1, (-1, size))
    share = (groups.abs().amax(-1, keepdim=True).float() * (1 / 448)).view(torch.int32)
    power = ((share + 0x7FFFFF) >> 23).clamp(0, 254)
    scale = (power << 23).view(F32).to(y.dtype)
    return [(groups / scale).clamp(-448, 448).flatten(-2), power.squeeze(-1).to(torch.uint8)]


def by_nvfp4(x, w, whole):
    groups = norm(x, w).unflatten(-1, (-1, 16))
    scale = (groups.abs().amax(-1, keepdim=True) * (1 / 6) * whole).clamp(max=448).float().to(E4M3)
    divisor = scale.to(x.dtype)
    scaled = groups * torch.where(divisor == 0, 0, whole / divisor)
    size = scaled.abs()  # what lies in the middle of two numbers goes to the even one
    bits = sum((size > bound).to(torch.uint8) for bound in (.25, 1.25, 2.5, 5)) + \
        sum((size >= bound).to(torch.uint8) for bound in (.75, 1.75, 3.5))
    low, high = (bits | (torch.signbit(scaled).to(torch.uint8) << 3)).flatten(-2).unflatten(-1, (-1, 2)).unbind(-1)
    return [low | (high << 4), scale.squeeze(-1)]


def rounded(compute):
    """Of the norm in bf16, which is an output, too."""
    def both(x, w):
        y = norm(x, w).bfloat16()
        return [*compute(y.to(x.dtype)), y]
    return both


def transposed(values):
    return [values[0], values[1].mT.contiguous(), *values[2:]]


def layer_norm(x, scale, shift, eps):
    centered = x - x.mean(-1, keepdim=True)
    return norm(centered, 1 + scale, eps) + shift


def dit_ln(x, residual, scale, shift, scale_bias, shift_bias):
    h = x + residual
    return [layer_norm(h, scale + scale_bias, shift + shift_bias, 1e-5), h]


def sandwich(h, branch, w1, w2):
    """Gemma 3: a branch is normalized, rounded and added, and the rounded sum normalized."""
    branch = norm(branch, 1 + w1, 1e-6).bfloat16().to(h.dtype)
    return added(lambda x: [norm(x, 1 + w2, 1e-6)])(branch, h)


def added(quantise):
    """Of a residual stream that goes on, rounded."""
    def compute(x, r, *rest):
        h = (x + r).bfloat16().to(x.dtype)
        return [*quantise(h, *rest), h]
    return compute


def static(x, w, s):
    return [(norm(x, w) * (1 / s)).clamp(-448, 448)]


def turned(heads, cos, sin):
    first, second = heads.chunk(2, -1)
    cos, sin = cos[:, None], sin[:, None]
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)


def rotated(heads, w, cos, sin, eps=1e-5):
    return [turned(norm(heads, w, eps), cos, sin)]


def rotated_transposed(heads, w, cos, sin):
    """As Hugging Face writes it."""
    y = norm(heads, w, 1e-6).transpose(0, 1)
    first, second = y.chunk(2, -1)
    return y * cos + torch.cat([-second, first], -1) * sin


def by_sections(qkv, wq, wk, table, *positions):
    """Angles of 24, 20 and 20 columns, each of the row that a position says."""
    cos, sin = (torch.cat([half[p] for half, p in zip(part.split([24, 20, 20], -1), positions)], -1) for part in table.chunk(2, -1))
    return [*rotated(qkv[:, :32], wq, cos, sin, 1e-6), *rotated(qkv[:, 32:36], wk, cos, sin, 1e-6)]


def of_heads(x, wq, wk, cos, sin, scale=None):
    """Norms of all heads of q and of k, and v as it is; what is rotated was rounded if it is not scaled."""
    q, k, v = x.chunk(3, -1)
    done = []
    for part, weight in (q, wq), (k, wk):
        heads = norm(part, weight, 1e-6)
        heads = heads.bfloat16().to(x.dtype) if scale is None else heads
        done.append(turned(heads.unflatten(-1, (24, 128)), cos, sin))
    done.append(v)
    return done if scale is None else [(part * (1 / scale)).clamp(-448, 448) for part in done]


def appended(qkv, wq, wk, cos, sin):
    return [*rotated(qkv[:, 32:40], wk, cos, sin, 1e-6), qkv[:, 40:], *rotated(qkv[:, :32], wq, cos, sin, 1e-6)]


def quantised_rows(y, size):
    groups = y.unflatten(-1, (-1, size))
    scale = torch.clamp(groups.abs().amax(-1, keepdim=True), min=1e-4) * (1 / 448)
    return [(groups / scale).clamp(-448, 448).flatten(-2), scale.squeeze(-1)]


def latent(kv, w, cos, sin):
    first, second = kv[:, 512:].chunk(2, -1)
    key = torch.cat([first * cos - second * sin, second * cos + first * sin], -1)
    return [*quantised_rows(norm(kv[:, :512], w, 1e-6), 128), key]


def indexer_key(x, w, b, cos, sin):
    centered = x - x.mean(-1, keepdim=True)
    y = norm(centered, w, 1e-6) + b
    first, second, rest = y[:, :32], y[:, 32:64], y[:, 64:]
    key, scale = quantised_rows(torch.cat([first * cos - second * sin, second * cos + first * sin, rest], -1), 128)
    return [key, scale.squeeze(-1)]


def modulated(x, both):
    shift, scale = both[:, None].chunk(2, -1)
    return [norm(x, 1 + scale, 1e-6) + shift]


def gated_groups(x, z, w):
    return [norm((x * silu(z)).unflatten(-1, (2, -1)), 1, 1e-5).flatten(-2) * w]


ROW, COLUMNS, ROWS, BLOCKS = (lambda m, n: (m, n)), (lambda m, n: (n,)), (lambda m, n: (m,)), (lambda m, n: (m, n // 128))
THREE = lambda m, n: (3, m // 3, n)  # batches
BATCHED, BATCHES = (lambda m, n: (max(1, m // 4096), min(m, 4096), n)), (lambda m, n: (max(1, m // 4096), n))
GROUPED, ANGLES, HEADS = (lambda m, n: (m, 8, n // 8)), (lambda m, n: (m, 64)), (lambda m, n: (m, 32, 128))
THIRD = lambda m, n: (n // 3,)
SIXTYFOURS, TRANSPOSED = (lambda m, n: (m, n // 64)), (lambda m, n: (n // 128, m))
FORMS = {
    "llama3_8b": Form([(ROW, BF16), (COLUMNS, BF16)], [(ROW, BF16)], lambda x, w: [norm(x, w)]),
    "gemma2_9b": Form([(ROW, BF16), (COLUMNS, BF16)], [(ROW, BF16)], lambda x, w: [norm(x, w + 1, 1e-6)]),
    "residual_add": Form([(ROW, BF16), (ROW, BF16), (COLUMNS, BF16)], [(ROW, BF16), (ROW, BF16)],
                         added(lambda x, w: [norm(x, w)])),
    "silu": Form([(ROW, BF16), (COLUMNS, BF16)], [(ROW, BF16)], lambda x, w: [silu(norm(x, w))]),
    "silu_fp8": Form([(ROW, BF16), (COLUMNS, BF16)], [(ROW, E4M3)], lambda x, w: [silu(norm(x, w))]),
    "gated_silu": Form([(ROW, BF16), (ROW, BF16), (COLUMNS, BF16)], [(ROW, BF16)],
                       lambda x, z, w: [norm(x, w) * silu(z)]),
    "mamba_gated": Form([(ROW, BF16), (ROW, BF16), (COLUMNS, BF16)], [(ROW, BF16)],
                        lambda x, z, w: [norm((x * silu(z)).bfloat16().to(x.dtype), w)]),
    "bias_gelu": Form([(ROW, BF16), (COLUMNS, BF16), (COLUMNS, BF16)], [(ROW, BF16)],
                      lambda x, b, w: [norm(torch.nn.functional.gelu(x + b), w)]),
    "fp8_static": Form([(ROW, BF16), (COLUMNS, BF16), (lambda m, n: (), F32)], [(ROW, E4M3)], static),
    "fp8_row": Form([(ROW, BF16), (COLUMNS, BF16)], [(ROW, E4M3), (ROWS, F32)], lambda x, w: by_row(x, w, 448.0)),
    "int8_row": Form([(ROW, BF16), (COLUMNS, BF16)], [(ROW, I8), (ROWS, F32)], lambda x, w: by_row(x, w, 127.0)),
    "fp8_block": Form([(ROW, BF16), (COLUMNS, BF16)], [(ROW, E4M3), (BLOCKS, F32)], by_block),
    "fp8_block_t": Form([(ROW, BF16), (COLUMNS, BF16)], [(ROW, E4M3), (TRANSPOSED, F32)],
                        lambda x, w: transposed(by_block(x, w))),
    "fp8_block64": Form([(ROW, BF16), (COLUMNS, BF16)], [(ROW, E4M3), (SIXTYFOURS, F32)], lambda x, w: by_block(x, w, 64)),
    "fp8_block_t64": Form([(ROW, BF16), (COLUMNS, BF16)], [(ROW, E4M3), (lambda m, n: (n // 64, m), F32)],
                          lambda x, w: transposed(by_block(x, w, 64))),
    "mxfp8": Form([(ROW, BF16), (COLUMNS, BF16)], [(ROW, E4M3), (lambda m, n: (m, n // 32), E8M0)],
                  lambda x, w: by_power(norm(x, w), 32)),
    "mxfp8_y": Form([(ROW, BF16), (COLUMNS, BF16)], [(ROW, E4M3), (lambda m, n: (m, n // 32), E8M0), (ROW, BF16)],
                    rounded(lambda y: by_power(y, 32))),
    "e8m0_block_y": Form([(ROW, BF16), (COLUMNS, BF16)], [(ROW, E4M3), (TRANSPOSED, E8M0), (ROW, BF16)],
                         rounded(lambda y: transposed(by_power(y, 128)))),
    "nvfp4": Form([(ROW, BF16), (COLUMNS, BF16), (lambda m, n: (), F32)],
                  [(lambda m, n: (m, n // 2), E2M1), (lambda m, n: (m, n // 16), E4M3)], by_nvfp4),
    "add_fp8_static": Form([(ROW, BF16), (ROW, BF16), (COLUMNS, BF16), (lambda m, n: (), F32)], [(ROW, E4M3), (ROW, BF16)],
                           added(static)),
    "add_fp8_row": Form([(ROW, BF16), (ROW, BF16), (COLUMNS, BF16)], [(ROW, E4M3), (ROWS, F32), (ROW, BF16)],
                        added(lambda x, w: by_row(x, w, 448.0))),
    "add_int8_row": Form([(ROW, BF16), (ROW, BF16), (COLUMNS, BF16)], [(ROW, I8), (ROWS, F32), (ROW, BF16)],
                         added(lambda x, w: by_row(x, w, 127.0))),
    "add_fp8_block": Form([(ROW, BF16), (ROW, BF16), (COLUMNS, BF16)], [(ROW, E4M3), (BLOCKS, F32), (ROW, BF16)],
                          added(by_block)),
    "adaln": Form([(BATCHED, BF16), (BATCHES, BF16), (BATCHES, BF16)], [(BATCHED, BF16)],
                  lambda x, scale, shift: [norm(x, 1 + scale[:, None]) + shift[:, None]]),
    "dit_ln": Form([(ROW, BF16)] * 4 + [(COLUMNS, BF16)] * 2, [(ROW, BF16)] * 2, dit_ln),
    "grouped": Form([(GROUPED, BF16), (lambda m, n: (8, n // 8), BF16)], [(GROUPED, BF16)], lambda x, w: [norm(x, w)]),
    "qk_rope": Form([(lambda m, n: (m, n // 128, 128), BF16), (lambda m, n: (128,), BF16), (ANGLES, F32), (ANGLES, F32)],
                    [(lambda m, n: (m, 32, 128), BF16)], lambda qkv, *rest: rotated(qkv[:, :32], *rest), read=2 / 3),
    "rope_mxfp8": Form([(HEADS, BF16), (lambda m, n: (128,), BF16), (ANGLES, F32), (ANGLES, F32)],
                       [(HEADS, E4M3), (lambda m, n: (m, 32, 4), E8M0)],
                       lambda q, w, *angles: by_power(rotated(q, w, *angles, 1e-6)[0], 32)),
    **{f"qk_rope{d}": Form([(lambda m, n, d=d: (m, 48, d), BF16), (lambda m, n, d=d: (d,), BF16)] +
                           [(lambda m, n, d=d: (m, d // 2), F32)] * 2,
                           [(lambda m, n, d=d: (m, 32, d), BF16)], lambda qkv, *rest: rotated(qkv[:, :32], *rest), read=2 / 3)
       for d in (80, 96, 112, 192)},
    "rope_sections": Form([(lambda m, n: (m, 40, 128), BF16), (lambda m, n: (128,), BF16), (lambda m, n: (128,), BF16),
                           (lambda m, n: (4096, 128), F32), (ROWS, I64), (ROWS, I64), (ROWS, I64)],
                          [(HEADS, BF16), (lambda m, n: (m, 4, 128), BF16)], by_sections, read=0.9),
    "heads_rope": Form([(ROW, BF16), (THIRD, BF16), (THIRD, BF16), (ANGLES, F32), (ANGLES, F32)],
                       [(lambda m, n: (m, 24, 128), BF16)] * 2 + [(lambda m, n: (m, n // 3), BF16)], of_heads),
    "heads_rope_fp8": Form([(ROW, BF16), (THIRD, BF16), (THIRD, BF16), (ANGLES, F32), (ANGLES, F32), (lambda m, n: (), F32)],
                           [(lambda m, n: (m, 24, 128), E4M3)] * 2 + [(lambda m, n: (m, n // 3), E4M3)], of_heads),
    "append": Form([(lambda m, n: (m, 48, 128), BF16), (lambda m, n: (128,), BF16), (lambda m, n: (128,), BF16), (ANGLES, F32),
                    (ANGLES, F32), (ROWS, SLOTS)],
                   [(lambda m, n: (CACHED // 16, 16, 8, 128), BF16)] * 2 + [(HEADS, BF16)], appended, caches=2),
    "latent": Form([(ROW, BF16), (lambda m, n: (512,), BF16), (lambda m, n: (m, 32), F32), (lambda m, n: (m, 32), F32), (ROWS, SLOTS)],
                   [(lambda m, n: (CACHED, 512), E4M3), (lambda m, n: (CACHED, 4), F32), (lambda m, n: (CACHED, 64), BF16)], latent,
                   caches=3),
    "indexer_key": Form([(ROW, BF16), (COLUMNS, F32), (COLUMNS, F32), (lambda m, n: (m, 32), F32), (lambda m, n: (m, 32), F32),
                         (ROWS, SLOTS)],
                        [(lambda m, n: (CACHED, 128), E4M3), (lambda m, n: (CACHED,), F32)], indexer_key, caches=2),
    # With --merge-launches=0 as two launches.
    "qwen3_8b_rope": Form([(lambda m, n: (m, n // 128, 128), BF16), (lambda m, n: (128,), BF16), (lambda m, n: (128,), BF16),
                           (ANGLES, F32), (ANGLES, F32)],
                          [(lambda m, n: (m, 32, 128), BF16), (lambda m, n: (m, 8, 128), BF16)],
                          lambda qkv, wq, wk, *angles: [*rotated(qkv[:, :32], wq, *angles),
                                                        *rotated(qkv[:, 32:40], wk, *angles)], read=5 / 6),
    # After models of libraries, at their own widths.
    "gemma3_sandwich": Form([(ROW, BF16), (ROW, BF16), (COLUMNS, BF16), (COLUMNS, BF16)], [(ROW, BF16), (ROW, BF16)], sandwich),
    "qwen3_hf_rope": Form([(lambda m, n: (m, 32, 128), BF16), (lambda m, n: (m, 8, 128), BF16), (lambda m, n: (128,), BF16),
                           (lambda m, n: (128,), BF16), (lambda m, n: (m, 128), BF16), (lambda m, n: (m, 128), BF16)],
                          [(lambda m, n: (32, m, 128), BF16), (lambda m, n: (8, m, 128), BF16)],
                          lambda q, k, wq, wk, *angles: [rotated_transposed(q, wq, *angles), rotated_transposed(k, wk, *angles)]),
    "adaln_zero": Form([(THREE, BF16), (lambda m, n: (3, 2 * n), BF16)], [(THREE, BF16)], modulated),
    "zamba2_gated": Form([(ROW, BF16), (ROW, BF16), (COLUMNS, BF16)], [(ROW, BF16)], gated_groups),
    "layer_norm_modulated": Form([(THREE, BF16), (lambda m, n: (3, n), BF16), (lambda m, n: (3, n), BF16)], [(THREE, BF16)],
                                 lambda x, scale, shift: [layer_norm(x, scale[:, None], shift[:, None], 1e-6)]),
}


# What docs/performance.md calls them; others by their names.
TITLES = {
    "llama3_8b": "norm(x)", "residual_add": "x + residual, kept, and its norm", "silu": "silu(norm(x))",
    "silu_fp8": "silu(norm(x)), fp8", "gated_silu": "norm(x) * silu(z)", "mamba_gated": "norm(x * silu(z))",
    "fp8_static": "fp8, static scale", "fp8_row": "fp8, a scale per row", "int8_row": "int8, a scale per row",
    "fp8_block": "fp8, a scale per 128 columns", "fp8_block_t": "fp8, a scale per 128 columns, scales transposed",
    "fp8_block64": "fp8, a scale per 64 columns", "fp8_block_t64": "fp8, a scale per 64 columns, scales transposed",
    "mxfp8_y": "mxfp8 of the rounded norm, which is kept",
    "e8m0_block_y": "mxfp8 of the rounded norm, which is kept, a scale per 128 columns, scales transposed",
    "add_fp8_static": "residual, fp8, static scale", "add_fp8_row": "residual, fp8, a scale per row",
    "add_int8_row": "residual, int8, a scale per row", "add_fp8_block": "residual, fp8, a scale per 128 columns",
    "adaln": "scale and shift per batch (AdaLN)", "grouped": "8 groups with weights of their own",
    "bias_gelu": "norm(gelu(x + b))", "gemma2_9b": "norm(x), weight + 1", "dit_ln": "LayerNorm of a diffusion transformer",
    "rope_mxfp8": "q: a norm for each of 32 heads, a rotation, mxfp8",
    "qk_rope": "q of packed qkv: a norm for each head, and a rotation",
    **{f"qk_rope{d}": f"q of packed qkv: a norm for each head of {d}, and a rotation" for d in (80, 96, 112, 192)},
    "rope_sections": "q and k of packed qkv: a norm for each head, a rotation by sections",
    "heads_rope": "q, k and v of a row: norms over 24 heads, rotations, v copied",
    "heads_rope_fp8": "q, k and v of a row: norms over 24 heads, rotations, all in fp8, static scale",
    "append": "q, k and v of packed qkv: norms and rotations of heads, k and v into paged caches",
    "latent": "DeepSeek's latent: norm, fp8 with a scale per 128 columns, rotated key, into a cache",
    "indexer_key": "DeepSeek's indexer: LayerNorm, rotation, fp8 with a scale, into a cache",
    "qwen3_8b_rope": "q and k of packed qkv: the same, in one launch"}


def tensors(shapes, m, n, filled):
    made = []
    for shape, dtype in shapes:
        size = shape(m, n)
        if dtype in (I64, SLOTS):
            made.append(torch.randint(0, 4096, size, device="cuda") if dtype == I64 else torch.randperm(CACHED, device="cuda")[:m])
            continue
        # Weights about 1, a scale that is one.
        value = torch.randn(size, device="cuda") * 0.5 + (len(size) == 1) if size else torch.tensor(0.02, device="cuda")
        made.append(value.to(dtype) if filled else
                    torch.zeros(size, device="cuda", dtype=torch.uint8 if dtype in (E8M0, E2M1) else dtype))
    return made


def differing(form, inputs, outputs):
    """The largest share, of an output, that is further from f64 than its type's step and what f32 adds."""
    share = 0.0
    for value, output, (_, dtype) in zip(form.expected([in_floats(t, torch.float64) for t in inputs]), outputs, form.outputs):
        value = value.reshape(output.shape)  # caches may be of blocks
        if dtype in (E8M0, E2M1):
            share = max(share, (output != value).double().mean().item())
            continue
        if dtype == E4M3:
            value = value.float().clamp(-448, 448)
        elif dtype == I8:
            value = value.round()
        off = (output.double() - value.double()).abs()
        step = {I8: 1.0, F32: 0.0}.get(dtype, 0.0)
        relative = {E4M3: 2**-3, F32: 2**-18}.get(dtype, form.tolerance)
        share = max(share, (~(off <= step + value.double().abs() * relative + 2**-9 * (dtype == E4M3) + 1e-30)).double().mean().item())
    return share


def described(tensor, dtype):
    if dtype not in (E8M0, E2M1):
        return timing.to_dlpack(tensor)
    code, per_byte = {E8M0: (capi.E8M0FNU, 1), E2M1: (capi.E2M1FN, 2)}[dtype]
    return capi.Tensor(tensor.data_ptr(), (*tensor.shape[:-1], per_byte * tensor.shape[-1]), code, capi.PLACES[capi.CUDA])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="has FORM_N.rmsn for the forms and N to time")
    parser.add_argument("shapes", nargs="+", metavar="MxN")
    parser.add_argument("--library", default="librmsnorm_runtime.so")
    parser.add_argument("--compile", nargs="*", default=[], help="modes of torch.compile to time beside")
    parser.add_argument("--group", help="of the times, for --json: benchmarks/data/performance/forms.json has wide, narrow and other")
    parser.add_argument("--forms", nargs="+", default=list(FORMS), help="those to time")
    record.add_options(parser)
    options = parser.parse_args()
    torch.manual_seed(1)
    run = record.Record("Norms with the work around them", timing.get_facts(), options.commit,
                        "the fastest of six copies that read as many bytes and write as many, in the same rounds",
                        "benchmarks/neighbours.py: CUDA-graph replays in rounds of changing order",
                        "torch.compile, the fastest of the modes " + ", ".join(options.compile) if options.compile else None, options.group)
    failed = False
    print(f"{'form':>18} {'shape':>12} {'ceiling us':>10} {'ours':>8} {'share':>6}" +
          "".join(f" {mode:>28}" for mode in options.compile))
    for shape in options.shapes:
        m, n = map(int, shape.split("x"))
        for name, form in FORMS.items():
            module = os.path.join(options.folder, f"{name}_{n}.rmsn")
            if name not in options.forms or not os.path.exists(module):
                continue
            runtime = capi.Runtime(options.library, module, capi.CUDA)
            function = runtime.prepare(name if f"entry {name}\n" in runtime.text() else "f")
            first = tensors(form.inputs, m, n, True), tensors(form.outputs, m, n, False)
            size = sum(t.numel() * t.element_size() for part in first for t in part)
            sets = [first] + [(tensors(form.inputs, m, n, True), tensors(form.outputs, m, n, False))
                              for _ in range(min(15, (1 << 30) // size))]

            def bind(inputs, outputs):
                return function.bind([described(t, d) for t, (_, d) in zip([*inputs, *outputs], [*form.inputs, *form.outputs])])

            for output in first[1][form.caches:]:
                output.view(torch.uint8).fill_(0xFF)
            bind(*first)(torch.cuda.current_stream().cuda_stream)
            torch.cuda.synchronize()
            bad = differing(form, *first)
            if bad > 1e-4:
                failed = True
                print(f"{name:>18} {shape:>12} {bad:.4f} of an output differ: not timed")
                continue
            launches = {"ours": [bind(*s) for s in sets]}
            for mode in options.compile:
                torch._dynamo.reset()

                def plain(inputs, caches):
                    return form.append([in_floats(t, F32) for t in inputs], caches)

                compiled = torch.compile(plain, mode=None if mode == "default" else mode + "-no-cudagraphs", dynamic=False)
                compiled(first[0], first[1][:form.caches])

                def theirs(inputs, outputs, compiled=compiled):
                    def launch(stream):
                        with torch.cuda.stream(torch.cuda.ExternalStream(stream)):
                            launch.results = compiled(inputs, outputs[:form.caches])  # kept, so that outputs are in rotation, too
                    return launch

                launches[mode] = [theirs(*s) for s in sets]
            read, written = (sum(t.numel() * t.element_size() for t in part) for part in first)
            written -= sum(t.numel() * t.element_size() * (CACHED - m) // CACHED for t in first[1][:form.caches])
            kernels = timing.copies(int(read - (1 - form.read) * first[0][0].numel() * first[0][0].element_size()), written)
            times = timing.in_rounds({**launches, **kernels})
            top = min(times[name] for name in kernels)
            ours = times["ours"]
            run.add(TITLES.get(name, name), "bf16", m, n, ours, top, min((times[mode] for mode in options.compile), default=None))
            print(f"{name:>18} {shape:>12} {top:10.2f} {ours:8.2f} {top / ours:6.3f}" + "".join(
                f" {times[mode]:18.2f} ({times[mode] / ours:5.2f} x)" for mode in options.compile),
                flush=True)
            del sets, launches, kernels
    if options.json:
        run.write(options.json)
    sys.exit(failed)


if __name__ == "__main__":
    main()
