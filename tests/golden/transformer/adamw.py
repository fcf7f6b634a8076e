# Ten steps of AdamW with warm-up, cosine decay and clipping: adamw.safetensors, adamw.json.
import math
from dataclasses import asdict

import torch
from torch import nn

from files import prefixed, save_json, save_tensors
from model import GPT, GPT_WEIGHTS, Config, drawn_tokens, loss_of, with_weights

config = Config(tied=True)
steps = 10
settings = {"learning_rate": 2e-2, "min_lr": 2e-3, "warmup_iters": 3, "lr_decay_iters": 8,
            "beta1": 0.9, "beta2": 0.95, "eps": 1e-8, "weight_decay": 0.1, "grad_clip": 1.0}
# What follows a token depends on that token alone, so that the model learns it and the last steps are not clipped.
tokens = drawn_tokens((steps, 3, 8), config.vocab_size, 32)
targets = (5 * tokens + 2) % config.vocab_size


# nanoGPT's schedule: a line that would reach the peak one step after the last of the warm-up, half a cosine, the
# least.
def lr_at(step):
    peak, least = settings["learning_rate"], settings["min_lr"]
    warmup, decay = settings["warmup_iters"], settings["lr_decay_iters"]
    if step < warmup:
        return peak * (step + 1) / (warmup + 1)
    if step > decay:
        return least
    return least + (peak - least) * 0.5 * (1 + math.cos(math.pi * (step - warmup) / (decay - warmup)))


def norm_of(tensors):
    return math.sqrt(sum(tensor.detach().square().sum().item() for tensor in tensors))


# Begins with the weights of gpt_tied_*.safetensors.
def train(dtype):
    model = with_weights(GPT(config), GPT_WEIGHTS, dtype)
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW(
        [{"params": [p for p in parameters if p.dim() >= 2], "weight_decay": settings["weight_decay"]},
         {"params": [p for p in parameters if p.dim() < 2], "weight_decay": 0.0}],
        betas=(settings["beta1"], settings["beta2"]), eps=settings["eps"])
    losses, grad_norms, param_norms = [], [], []
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = lr_at(step)
        optimizer.zero_grad()
        loss = loss_of(model(tokens[step]), targets[step])
        loss.backward()
        losses.append(loss.item())
        grad_norms.append(nn.utils.clip_grad_norm_(parameters, settings["grad_clip"]).item())
        optimizer.step()
        param_norms.append(norm_of(parameters))
    return model, losses, grad_norms, param_norms


model, losses, grad_norms, param_norms = train(torch.float64)
save_tensors("adamw.safetensors", {"tokens": tokens, "targets": targets,
                                   **prefixed("final.", dict(model.named_parameters()))})
save_json("adamw.json", {
    "config": asdict(config), "settings": settings, "lr": [lr_at(step) for step in range(steps)], "loss": losses,
    "grad_norm": grad_norms, "param_norm_after": param_norms, "loss_f32": train(torch.float32)[1]})
