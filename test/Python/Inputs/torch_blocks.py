# Blocks of models as their authors write them: `make(name, sizes)` is a module, `arguments(name, sizes, ...)` makes what it takes.
# The tests of torch.compile run them small, benchmarks/graphs.py at the sizes of real models.
import dataclasses

import torch
import torch.nn.functional as F
from torch import nn


@dataclasses.dataclass
class Sizes:
    width: int = 256
    heads: int = 4
    kv_heads: int = 2
    head: int = 64
    hidden: int = 512
    layers: int = 2
    vocabulary: int = 64


class LlamaNorm(nn.Module):
    """The weight after the rounding; Qwen's, OLMo's, GPT-OSS's (that multiplies first), T5's, Gemma's are next to it."""

    def __init__(self, width, style="llama", eps=1e-6):
        super().__init__()
        self.weight, self.style, self.eps = nn.Parameter(torch.rand(width) + (0.5 if style != "gemma" else -0.5)), style, eps

    def forward(self, x):
        h = x.float()
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + self.eps)
        if self.style == "gemma":
            return (h * (1.0 + self.weight.float())).to(x.dtype)
        if self.style == "gpt_oss":
            return (self.weight * h).to(x.dtype)
        return self.weight * h.to(x.dtype)


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


def tables(tokens, head, device):
    angles = torch.outer(torch.arange(tokens, device=device).float(), 10000.0 ** (-torch.arange(0, head, 2, device=device).float() / head))
    return torch.cat((angles, angles), -1).cos(), torch.cat((angles, angles), -1).sin()


class Attention(nn.Module):
    """`qk`: no norms of q and k, of each head, or of all heads together (OLMo 2)."""

    def __init__(self, c, qk=None, style="llama"):
        super().__init__()
        self.c, self.qk = c, qk
        q, kv = c.heads * c.head, c.kv_heads * c.head
        self.q, self.k, self.v = (nn.Linear(c.width, n, bias=False) for n in (q, kv, kv))
        self.o = nn.Linear(q, c.width, bias=False)
        if qk:
            self.qn, self.kn = (LlamaNorm(c.head if qk == "head" else n, style) for n in (q, kv))

    def forward(self, x, cos, sin):
        b, n, _ = x.shape
        q, k, v = self.q(x), self.k(x), self.v(x)
        if self.qk == "all":
            q, k = self.qn(q), self.kn(k)
        q, k, v = (t.view(b, n, -1, self.c.head) for t in (q, k, v))
        if self.qk == "head":
            q, k = self.qn(q), self.kn(k)
        q, k, v = (t.transpose(1, 2) for t in (q, k, v))
        q, k = rotate(q, cos.to(x.dtype), sin.to(x.dtype)), rotate(k, cos.to(x.dtype), sin.to(x.dtype))
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=self.c.heads != self.c.kv_heads)
        return self.o(a.transpose(1, 2).reshape(b, n, -1))


class GatedMLP(nn.Module):
    def __init__(self, c, activation=F.silu):
        super().__init__()
        self.gate, self.up = (nn.Linear(c.width, c.hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(c.hidden, c.width, bias=False)
        self.activation = activation

    def forward(self, x):
        return self.down(self.activation(self.gate(x)) * self.up(x))


class Block(nn.Module):
    """Norms in front of attention and MLP (Llama, Qwen 3, GPT-OSS), after them (OLMo 2), or both (Gemma 3)."""

    def __init__(self, c, style="llama", qk=None, before=True, after=False, activation=F.silu):
        super().__init__()
        norm = lambda there: LlamaNorm(c.width, style) if there else nn.Identity()
        self.attention, self.mlp = Attention(c, qk, style), GatedMLP(c, activation)
        self.before1, self.before2, self.after1, self.after2 = norm(before), norm(before), norm(after), norm(after)

    def forward(self, x, cos, sin):
        x = x + self.after1(self.attention(self.before1(x), cos, sin))
        return x + self.after2(self.mlp(self.before2(x)))


class Decoder(nn.Module):
    def __init__(self, c, **kinds):
        super().__init__()
        self.c = c
        self.embedding, self.blocks = nn.Embedding(c.vocabulary, c.width), nn.ModuleList(Block(c, **kinds) for _ in range(c.layers))
        self.norm, self.head = LlamaNorm(c.width, kinds.get("style", "llama")), nn.Linear(c.width, c.vocabulary, bias=False)

    def forward(self, ids):
        x = self.embedding(ids)
        cos, sin = tables(ids.shape[1], self.c.head, ids.device)
        for block in self.blocks:
            x = block(x, cos, sin)
        return self.head(self.norm(x))


class T5Encoder(nn.Module):
    """No rotation, no gate."""

    def __init__(self, c):
        super().__init__()
        self.c, w = c, c.width
        self.embedding = nn.Embedding(c.vocabulary, w)
        self.layers = nn.ModuleList(nn.ModuleDict({
            "n1": LlamaNorm(w), "qkv": nn.Linear(w, 3 * w, bias=False), "o": nn.Linear(w, w, bias=False), "n2": LlamaNorm(w),
            "wi": nn.Linear(w, c.hidden, bias=False), "wo": nn.Linear(c.hidden, w, bias=False)}) for _ in range(c.layers))
        self.norm = LlamaNorm(w)

    def forward(self, ids):
        x = self.embedding(ids)
        b, n, w = x.shape
        for layer in self.layers:
            q, k, v = (t.view(b, n, self.c.heads, -1).transpose(1, 2) for t in layer["qkv"](layer["n1"](x)).chunk(3, -1))
            scores = (q @ k.transpose(-1, -2)).float().softmax(-1).to(x.dtype)
            x = x + layer["o"]((scores @ v).transpose(1, 2).reshape(b, n, w))
            x = x + layer["wo"](F.relu(layer["wi"](layer["n2"](x))))
        return self.norm(x)


class DiTBlock(nn.Module):
    """AdaLN-zero: LayerNorms without weights, shift, scale and gate of an image, norms of q and k."""

    def __init__(self, c):
        super().__init__()
        self.c, w = c, c.width
        self.ada = nn.Sequential(nn.SiLU(), nn.Linear(w, 6 * w))
        self.n1, self.n2 = (nn.LayerNorm(w, elementwise_affine=False, eps=1e-6) for _ in range(2))
        self.qkv, self.o = nn.Linear(w, 3 * w), nn.Linear(w, w)
        self.qn, self.kn = (nn.RMSNorm(w // c.heads, eps=1e-6) for _ in range(2))
        self.mlp = nn.Sequential(nn.Linear(w, c.hidden), nn.GELU(approximate="tanh"), nn.Linear(c.hidden, w))

    def forward(self, x, condition):
        b, n, w = x.shape
        shift1, scale1, gate1, shift2, scale2, gate2 = self.ada(condition).unsqueeze(1).chunk(6, -1)
        q, k, v = self.qkv(self.n1(x) * (1 + scale1) + shift1).view(b, n, 3, self.c.heads, -1).unbind(2)
        q, k = self.qn(q), self.kn(k)
        a = F.scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2))
        x = x + gate1 * self.o(a.transpose(1, 2).reshape(b, n, w))
        return x + gate2 * self.mlp(self.n2(x) * (1 + scale2) + shift2)


class DiT(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.blocks = nn.ModuleList(DiTBlock(c) for _ in range(c.layers))

    def forward(self, x, condition):
        for block in self.blocks:
            x = block(x, condition)
        return x


class Quantised(nn.Module):
    """A residual sum, its norm, and that in fp8 with a scale for each token."""

    def __init__(self, c):
        super().__init__()
        self.norm = LlamaNorm(c.width)

    def forward(self, x, residual):
        h = x + residual
        y = self.norm(h)
        scale = y.abs().amax(-1, keepdim=True).float().clamp(min=1e-12) / 448.0
        return (y.float() / scale).clamp(-448, 448).to(torch.float8_e4m3fn), scale, h


_GELU = lambda x: F.gelu(x, approximate="tanh")
_MODELS = {
    "llama": Decoder,
    "qwen3": lambda c: Decoder(c, qk="head"),
    "gemma3": lambda c: Decoder(c, style="gemma", qk="head", after=True, activation=_GELU),
    "olmo2": lambda c: Decoder(c, qk="all", before=False, after=True),
    "gpt_oss": lambda c: Decoder(c, style="gpt_oss"),
    "t5": T5Encoder,
    "dit": DiT,
    "fp8": Quantised,
}
NAMES = list(_MODELS)


def make(name, sizes=None):
    return _MODELS[name](sizes or Sizes())


def arguments(name, sizes=None, batch=2, tokens=16, dtype=torch.bfloat16, device="cpu"):
    c = sizes or Sizes()
    noise = lambda *shape: torch.randn(*shape, device=device).to(dtype)
    if name == "dit":
        return noise(batch, tokens, c.width), noise(batch, c.width)
    if name == "fp8":
        return noise(batch * tokens, c.width), noise(batch * tokens, c.width)
    return (torch.randint(0, c.vocabulary, (batch, tokens), device=device),)
