# One Block and GPTs of two layers, forward and backward: block_*.safetensors, gpt_*.safetensors,
# llama_f64.safetensors, gpt.json.
from dataclasses import asdict

import torch

from files import save_json, save_tensors, with_gradients
from model import GPT, GPT_WEIGHTS, Block, Config, drawn, drawn_tokens, loss_of, with_weights

dtypes = {"f64": torch.float64, "f32": torch.float32}
llama = Config(llama=True, n_head=4, n_kv_head=2, n_embd=16, n_hidden=24, bias=False, tied=False)
facts = {}


def block(name, dtype):
    model = with_weights(Block(Config()), 11, dtype)
    x, grad_output = drawn((2, 5, 12), 12, dtype).requires_grad_(), drawn((2, 5, 12), 13, dtype)
    output = model(x)
    output.backward(grad_output)
    save_tensors(name + ".safetensors", {"input": x, "output": output, "grad_output": grad_output,
                                         "grad_input": x.grad, **with_gradients(model)})
    facts[name] = {"config": asdict(Config())}


# The sequences are shorter than block_size, and one target is left out.
def gpt(name, config, dtype):
    model = with_weights(GPT(config), GPT_WEIGHTS, dtype)
    tokens, targets = drawn_tokens((3, 7), config.vocab_size, 22), drawn_tokens((3, 7), config.vocab_size, 23)
    targets[1, 3] = -1
    logits = model(tokens)
    logits.retain_grad()
    loss = loss_of(logits, targets)
    loss.backward()
    save_tensors(name + ".safetensors", {"tokens": tokens, "targets": targets, "logits": logits,
                                         "grad_logits": logits.grad, **with_gradients(model)})
    facts[name] = {"config": asdict(config), "loss": loss.item()}


for suffix, dtype in dtypes.items():
    block("block_" + suffix, dtype)
    gpt("gpt_tied_" + suffix, Config(tied=True), dtype)
    gpt("gpt_untied_" + suffix, Config(tied=False), dtype)
gpt("llama_f64", llama, torch.float64)
save_json("gpt.json", facts)
