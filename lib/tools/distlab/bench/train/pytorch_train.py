# Trains a GPT or the ConvNet of the course notes with PyTorch on one device; prints one line of JSON: how fast,
# and in how much memory. README.md has its keys.
import argparse
import json
import math
import os
import statistics
import sys
import time

options = argparse.ArgumentParser(description="Trains with PyTorch and prints its speed as one line of JSON.")
options.add_argument("--model", choices=["gpt", "convnet"], default="gpt")
for name, value in {"layers": 4, "heads": 4, "width": 128, "context": 64, "vocab": 65, "batch": 12, "steps": 50,
                    "warmup": 5, "threads": 1}.items():
    options.add_argument("--" + name, type=int, default=value)
options.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
options.add_argument("--dtype", choices=["f32", "tf32", "bf16", "f64"], default="f32")
options.add_argument("--weights", help="a safetensors file with the first weights")
options.add_argument("--turns", action="store_true",
                     help="read numbers of steps, one per line, from standard input; answer each with JSON")
asked = options.parse_args()
for library in ("OMP", "OPENBLAS", "MKL"):  # they read it while torch is imported
    os.environ[library + "_NUM_THREADS"] = str(asked.threads)

import torch
from torch import nn
from torch.nn import functional as F

from pytorch_convnet import ConvNet


def rss_bytes(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(field))


# The file that multiplies matrices. Debian's PyTorch takes the system's BLAS; other builds have one of their own.
def blas():
    with open("/proc/self/maps") as maps:
        files = {line.split()[-1] for line in maps if "libblas.so" in line}
    return min(files) if files else "built in"


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_attn = nn.Linear(asked.width, 3 * asked.width)
        self.c_proj = nn.Linear(asked.width, asked.width)
        later = torch.ones(asked.context, asked.context, dtype=torch.bool).triu(1)
        self.register_buffer("later", later, persistent=False)

    def forward(self, x):
        q, k, v = (rows.unflatten(-1, (asked.heads, -1)).transpose(1, 2) for rows in self.c_attn(x).chunk(3, -1))
        if hasattr(F, "scaled_dot_product_attention"):
            mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = q @ k.transpose(-2, -1) * (1 / math.sqrt(q.shape[-1]))
            mixed = scores.masked_fill(self.later, -math.inf).softmax(-1) @ v
        return self.c_proj(mixed.transpose(1, 2).flatten(2))


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_fc, self.c_proj = nn.Linear(asked.width, 4 * asked.width), nn.Linear(4 * asked.width, asked.width)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x)))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.attn = nn.LayerNorm(asked.width), Attention()
        self.ln_2, self.mlp = nn.LayerNorm(asked.width), MLP()

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


# nanoGPT's model and names, with biases and a tied head.
class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.transformer = nn.ModuleDict({
            "wte": nn.Embedding(asked.vocab, asked.width), "wpe": nn.Embedding(asked.context, asked.width),
            "h": nn.ModuleList([Block() for _ in range(asked.layers)]), "ln_f": nn.LayerNorm(asked.width)})
        for parameter in self.parameters():
            if parameter.dim() >= 2:
                nn.init.normal_(parameter, std=0.02)
        self.register_buffer("positions", torch.arange(asked.context), persistent=False)

    def forward(self, tokens):
        x = self.transformer.wte(tokens) + self.transformer.wpe(self.positions)
        for block in self.transformer.h:
            x = block(x)
        return F.linear(self.transformer.ln_f(x), self.transformer.wte.weight).flatten(0, 1)


# One batch, which every step trains on; another program makes the same by the same formulas.
def batch():
    if asked.model == "gpt":
        i = torch.arange(asked.batch * (asked.context + 1))
        rows = ((i * i + 5 * i) // 3 % asked.vocab).view(asked.batch, asked.context + 1)
        return rows[:, :-1].contiguous(), rows[:, 1:].flatten()
    i = torch.arange(asked.batch * 784, dtype=torch.float64)
    return torch.sin(0.37 * i).to(dtype).view(-1, 1, 28, 28), torch.arange(asked.batch) % 10


def load(model, path):
    with open(path, "rb") as file:
        data = file.read()
    begin = 8 + int.from_bytes(data[:8], "little")
    dtypes = {"F32": torch.float32, "F64": torch.float64}
    state = {}
    for name, entry in json.loads(data[8:begin]).items():
        if entry.get("dtype") in dtypes:
            first, last = (begin + offset for offset in entry["data_offsets"])
            flat = torch.frombuffer(bytearray(data[first:last]), dtype=dtypes[entry["dtype"]])
            state[name] = flat.view(entry["shape"])
    missing = [name for name, _ in model.named_parameters() if name not in state]
    if missing:
        sys.exit(f"{path} has no {missing[0]}")
    model.load_state_dict(state, strict=False)


def optimizer_of(model):
    if asked.model == "convnet":
        return torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    parameters = list(model.parameters())
    return torch.optim.AdamW([{"params": [p for p in parameters if p.dim() >= 2], "weight_decay": 0.1},
                              {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0}],
                             lr=1e-3, betas=(0.9, 0.95), **({"fused": True} if asked.device == "cuda" else {}))


at_start = rss_bytes("VmRSS")
torch.manual_seed(1)
torch.set_num_threads(asked.threads)
torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = asked.dtype in ("tf32", "bf16")
dtype = torch.float64 if asked.dtype == "f64" else torch.float32
model = GPT() if asked.model == "gpt" else ConvNet()
if asked.weights:
    load(model, asked.weights)
model.to(asked.device, dtype)
inputs, targets = (tensor.to(asked.device) for tensor in batch())
optimizer = optimizer_of(model)


def step():
    with torch.autocast(asked.device, torch.bfloat16, enabled=asked.dtype == "bf16"):
        loss = F.cross_entropy(model(inputs), targets)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    if asked.model == "gpt":
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss


# The seconds of each step. On a GPU they are measured with events, so that the host is free to run ahead.
def timed(steps):
    if asked.device == "cuda":
        events = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)]
        events[0].record()
        for event in events[1:]:
            loss = step()
            event.record()
        torch.cuda.synchronize()
        return [a.elapsed_time(b) / 1000 for a, b in zip(events, events[1:])], loss.item()
    times = [time.perf_counter()]
    for _ in range(steps):
        loss = step().item()
        times.append(time.perf_counter())
    return [b - a for a, b in zip(times, times[1:])], loss


def report(steps):
    busy = time.process_time()
    seconds, loss = timed(steps)
    busy = time.process_time() - busy
    median = statistics.median(seconds)
    rate = {"tokens_per_s": asked.batch * asked.context / median} if asked.model == "gpt" else \
        {"images_per_s": asked.batch / median}
    print(json.dumps({
        **rate, "step_ms": 1000 * median, "least_step_ms": 1000 * min(seconds), "cpu_ms": 1000 * busy / steps,
        "steps": steps, "loss": loss, "peak_rss_bytes": rss_bytes("VmHWM"), "rss_at_start_bytes": at_start,
        "peak_device_bytes": torch.cuda.max_memory_allocated() if asked.device == "cuda" else None,
        "parameters": sum(p.numel() for p in model.parameters()), "model": asked.model, "device": asked.device,
        "dtype": asked.dtype, "threads": asked.threads, "version": torch.__version__, "blas": blas()}), flush=True)


if asked.warmup:
    timed(asked.warmup)
for steps in map(int, sys.stdin) if asked.turns else [asked.steps]:
    report(steps)
