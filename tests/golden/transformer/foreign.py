# State dicts with the names and layouts of Hugging Face's transformers, whose own code is not needed:
# foreign_gpt2.safetensors, foreign_llama.safetensors, foreign.json.
from dataclasses import asdict, replace

import torch
from torch.nn import functional as F

import model as models
from files import save_json, save_tensors
from model import GPT, Config, drawn_tokens, with_weights

tokens = drawn_tokens((2, 8), 13, 52)
facts = {"tokens": tokens.tolist()}


def save(name, state, model, config):
    save_tensors(name + ".safetensors", state)
    facts[name] = {"config": asdict(config), "logits": model(tokens).detach().flatten().tolist()}


# GPT-2 has its GELU by tanh. Its linear layers are Conv1D, with weights [in, out]. Older files have the masks of the
# attention, too. The head is tied, and left out.
def gpt2_names(state, block_size):
    linear = ("c_attn.weight", "c_proj.weight", "c_fc.weight")
    named = {name: tensor.t() if name.endswith(linear) else tensor for name, tensor in state.items()
             if name != "lm_head.weight"}
    for block in range(2):
        named[f"transformer.h.{block}.attn.bias"] = torch.ones(block_size, block_size).tril().view(
            1, 1, block_size, block_size)
        named[f"transformer.h.{block}.attn.masked_bias"] = torch.tensor(-1e4)
    return named


# Llama has the rows of c_attn as three layers; rotary positions pair the halves of a head in both.
def llama_names(state, config):
    size = config.n_embd // config.n_head
    kv_rows = config.n_kv_head * size
    named = {"model.embed_tokens.weight": state["transformer.wte.weight"],
             "model.norm.weight": state["transformer.ln_f.weight"], "lm_head.weight": state["lm_head.weight"],
             "model.layers.0.self_attn.rotary_emb.inv_freq": 10000.0 ** (-torch.arange(0, size, 2) / size)}
    for block in range(config.n_layer):
        ours, theirs = f"transformer.h.{block}.", f"model.layers.{block}."
        qkv = state[ours + "attn.c_attn.weight"].split([config.n_embd, kv_rows, kv_rows])
        for letter, rows in zip("qkv", qkv):
            named[theirs + f"self_attn.{letter}_proj.weight"] = rows
        for our, their in (("ln_1", "input_layernorm"), ("attn.c_proj", "self_attn.o_proj"),
                           ("ln_2", "post_attention_layernorm"), ("mlp.w1", "mlp.gate_proj"),
                           ("mlp.w3", "mlp.up_proj"), ("mlp.w2", "mlp.down_proj")):
            named[theirs + their + ".weight"] = state[ours + our + ".weight"]
    return named


llama = Config(llama=True, n_head=4, n_kv_head=2, n_embd=16, n_hidden=24, bias=False, tied=False)
model = with_weights(GPT(llama), 53, torch.float32)
save("foreign_llama", llama_names(model.state_dict(), llama), model, llama)

# The same weights with what only config.json says.
other = replace(llama, norm_eps=1e-2, rotary_base=500000.0)
model = with_weights(GPT(other), 53, torch.float32)
facts["foreign_llama_config"] = {"config": asdict(other), "logits": model(tokens).detach().flatten().tolist()}

models.MLP.forward = lambda self, x: self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))
model = with_weights(GPT(Config()), 51, torch.float32)
save("foreign_gpt2", gpt2_names(model.state_dict(), 8), model, Config())
save_json("foreign.json", facts)
