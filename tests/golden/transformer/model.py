# A small GPT with nanoGPT's names of parameters and of settings, and the options that make it a small Llama. It is
# written to be compared with, so everything is spelled out: the attention is a matrix product and a softmax, and
# nothing depends on the version of PyTorch.
import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)  # one order for each sum


@dataclass
class Config:
    n_layer: int = 2
    n_head: int = 3
    n_kv_head: int = 3  # fewer than n_head: query head i uses key and value head i // (n_head // n_kv_head)
    n_embd: int = 12
    n_hidden: int = 48  # inside the MLP
    block_size: int = 8
    vocab_size: int = 13
    bias: bool = True
    tied: bool = True
    llama: bool = False  # RMSNorm, gated MLP, rotary positions instead of LayerNorm, GELU, learned positions
    norm_eps: float = 1e-5
    rotary_base: float = 10000.0


class LayerNorm(nn.Module):
    def __init__(self, width, bias, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width))
        self.bias = nn.Parameter(torch.empty(width)) if bias else None
        self.eps = eps

    def forward(self, x):
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


class RMSNorm(nn.Module):
    def __init__(self, width, eps=1e-5):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(width))
        self.eps = eps

    def forward(self, x):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.eps) * self.weight


# Rotates the pair of elements (i, i + half) of each head by the angle position * base^(-i / half), as Llama does
# in Hugging Face's transformers. (Meta's own files pair 2i and 2i + 1.) x: [batch, heads, time, 2 * half].
def rotate(x, positions, base):
    half = x.shape[-1] // 2
    frequencies = base ** (-torch.arange(half, dtype=x.dtype) / half)
    angles = positions.to(x.dtype)[:, None] * frequencies
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * angles.cos() - second * angles.sin(),
                      second * angles.cos() + first * angles.sin()], dim=-1)


# c_attn has the rows of all query heads, then of all key heads, then of all value heads.
class CausalSelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.head_width = config.n_embd // config.n_head
        rows = (config.n_head + 2 * config.n_kv_head) * self.head_width
        self.c_attn = nn.Linear(config.n_embd, rows, bias=config.bias)
        self.c_proj = nn.Linear(config.n_embd, config.n_embd, bias=config.bias)

    def heads(self, x, number):
        return x.unflatten(-1, (number, self.head_width)).transpose(1, 2)  # [batch, heads, time, width of a head]

    def forward(self, x):
        config, time = self.config, x.shape[1]
        kv_rows = config.n_kv_head * self.head_width
        q, k, v = self.c_attn(x).split([config.n_embd, kv_rows, kv_rows], dim=-1)
        q, k, v = self.heads(q, config.n_head), self.heads(k, config.n_kv_head), self.heads(v, config.n_kv_head)
        if config.llama:
            positions = torch.arange(time)
            q, k = rotate(q, positions, config.rotary_base), rotate(k, positions, config.rotary_base)
        group = config.n_head // config.n_kv_head
        k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.head_width)
        later = torch.ones(time, time, dtype=torch.bool).triu(1)
        return self.c_proj((scores.masked_fill(later, -math.inf).softmax(-1) @ v).transpose(1, 2).flatten(2))


class MLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.c_fc = nn.Linear(config.n_embd, config.n_hidden, bias=config.bias)
        self.c_proj = nn.Linear(config.n_hidden, config.n_embd, bias=config.bias)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x)))  # the exact GELU


class GatedMLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.w1 = nn.Linear(config.n_embd, config.n_hidden, bias=config.bias)
        self.w2 = nn.Linear(config.n_hidden, config.n_embd, bias=config.bias)
        self.w3 = nn.Linear(config.n_embd, config.n_hidden, bias=config.bias)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


def norm(config):
    if config.llama:
        return RMSNorm(config.n_embd, config.norm_eps)
    return LayerNorm(config.n_embd, config.bias, config.norm_eps)


class Block(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.ln_1, self.attn = norm(config), CausalSelfAttention(config)
        self.ln_2, self.mlp = norm(config), (GatedMLP if config.llama else MLP)(config)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class GPT(nn.Module):
    def __init__(self, config):
        super().__init__()
        parts = {"wte": nn.Embedding(config.vocab_size, config.n_embd)}
        if not config.llama:
            parts["wpe"] = nn.Embedding(config.block_size, config.n_embd)
        parts["h"] = nn.ModuleList([Block(config) for _ in range(config.n_layer)])
        parts["ln_f"] = norm(config)
        self.transformer = nn.ModuleDict(parts)
        self.lm_head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        if config.tied:
            self.transformer.wte.weight = self.lm_head.weight

    def forward(self, tokens):
        x = self.transformer.wte(tokens)
        if "wpe" in self.transformer:
            x = x + self.transformer.wpe(torch.arange(tokens.shape[1]))
        for block in self.transformer.h:
            x = block(x)
        return self.lm_head(self.transformer.ln_f(x))


# The mean over all targets that are not -1.
def loss_of(logits, targets):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1)


GPT_WEIGHTS = 21  # the number of the weights that gpt.py and adamw.py share


# Weights that tell: far larger than nanoGPT's first weights, so that each head attends to some tokens more than to
# others, norms that do something, biases that are not zero. All are f32 numbers: a model in f32 and one in f64
# begin with the same weights. `number` draws other ones.
def with_weights(module, number, dtype):
    generator = torch.Generator().manual_seed(number)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            drawn = torch.randn(parameter.shape, generator=generator)
            is_norm = "ln_" in name and name.endswith("weight")
            parameter.copy_(1 + 0.2 * drawn if is_norm else 0.4 * drawn)
    return module.to(dtype)


# f32 numbers, in `dtype`.
def drawn(shape, number, dtype):
    return torch.randn(shape, generator=torch.Generator().manual_seed(number)).to(dtype)


def drawn_tokens(shape, vocab_size, number):
    return torch.randint(vocab_size, shape, generator=torch.Generator().manual_seed(number))
