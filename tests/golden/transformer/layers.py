# Single layers in f64: layers.safetensors, layers.json.
import torch
from torch import nn
from torch.nn import functional as F

from files import prefixed, save_json, save_tensors, with_gradients
from model import (CausalSelfAttention, Config, GatedMLP, LayerNorm, RMSNorm, drawn, drawn_tokens, rotate,
                   with_weights)

tensors, facts = {}, {}
number = 100  # of the case: what is drawn for it


# Takes the layer, a module or a function, forward and backward. `inputs` by name; whole numbers have no gradient.
def case(name, layer, inputs, **settings):
    global number
    number += 10
    module = with_weights(layer if isinstance(layer, nn.Module) else nn.Module(), number, torch.float64)
    for tensor in inputs.values():
        tensor.requires_grad_(tensor.is_floating_point())
    output = layer(*inputs.values())
    grad_output = drawn(output.shape, number + 1, torch.float64)
    output.backward(grad_output)
    grads = {key: tensor.grad for key, tensor in inputs.items() if tensor.requires_grad}
    tensors.update(prefixed(name + "/", {
        **inputs, **prefixed("grad_", grads), "output": output, "grad_output": grad_output,
        **with_gradients(module)}))
    facts[name] = settings


def some(*shape):
    return {"input": drawn(shape, number, torch.float64)}


# An activation's interesting arguments: zeros, both tails and what overflows exp().
def arguments():
    ends = torch.tensor([0.0, -0.0, 1e-9, -1e-9, 1.0, -1.0, 6.0, -6.0, 9.0, -9.0, 40.0, -40.0, 800.0, -800.0])
    return {"input": torch.cat([ends.double(), 2 * drawn((14,), number, torch.float64)]).view(4, 7)}


# Some heads, at `time` positions from `first` on.
def heads(time, first):
    return {"input": drawn((2, 3, time, 6), number, torch.float64), "positions": torch.arange(first, first + time)}


def rotated(x, positions):
    return rotate(x, positions, 10000.0)


case("layer_norm", LayerNorm(9, bias=True), some(2, 5, 9), eps=1e-5)
case("layer_norm_no_bias", LayerNorm(9, bias=False), some(2, 5, 9), eps=1e-5)
case("rms_norm", RMSNorm(9), some(2, 5, 9), eps=1e-5)
case("gelu", nn.GELU(), arguments())
case("gelu_tanh", nn.GELU(approximate="tanh"), arguments())
case("silu", nn.SiLU(), arguments())
case("gated_mlp", GatedMLP(Config(n_embd=6, n_hidden=10, bias=False)), some(2, 5, 6))
case("gated_mlp_bias", GatedMLP(Config(n_embd=6, n_hidden=10, bias=True)), some(2, 5, 6))
case("embedding", nn.Embedding(11, 6), {"input": torch.tensor([[3, 0, 3, 10, 3], [7, 10, 0, 1, 3]])})
case("rotary", rotated, heads(5, 0), base=10000.0, pairs="(i, i + half)")
case("rotary_later", rotated, heads(5, 37), base=10000.0, pairs="(i, i + half)")
case("attention", CausalSelfAttention(Config()), some(2, 5, 12), n_head=3, n_kv_head=3)
case("attention_no_bias", CausalSelfAttention(Config(bias=False)), some(2, 5, 12), n_head=3, n_kv_head=3)
case("attention_grouped", CausalSelfAttention(Config(n_head=4, n_kv_head=2)), some(2, 5, 12),
     n_head=4, n_kv_head=2)

# Cross entropy: a mean, so its gradient is that of the loss itself. One token's logits are far from 0.
logits = 2 * drawn((2, 5, 7), 900, torch.float64)
logits[1, 2] += 900
logits.requires_grad_()
for name, ignored in (("cross_entropy", []), ("cross_entropy_ignore", [(0, 1), (1, 0), (1, 4)])):
    targets = drawn_tokens((2, 5), 7, 901)
    for place in ignored:
        targets[place] = -1
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-1)
    grad, = torch.autograd.grad(loss, logits)
    tensors.update(prefixed(name + "/", {"input": logits, "targets": targets, "grad_input": grad}))
    facts[name] = {"loss": loss.item(), "ignore_index": -1}

save_tensors("layers.safetensors", tensors)
save_json("layers.json", facts)
