# Whole models in f32 as PyTorch's users save them: nanogpt_*.safetensors, checkpoint.json.
from dataclasses import asdict

import torch

from files import save_json, save_tensors
from model import GPT, Config, drawn_tokens, loss_of, with_weights

tokens, targets = drawn_tokens((2, 8), 13, 42), drawn_tokens((2, 8), 13, 43)
facts = {"tokens": tokens.tolist(), "targets": targets.tolist()}


def save(name, state, model, config, metadata=None):
    save_tensors(name, state, metadata)
    facts[name] = {"config": asdict(config), "loss": loss_of(model(tokens), targets).item(),
                   "loss_f64": loss_of(model.double()(tokens), targets).item()}
    model.float()


untied, tied = (with_weights(GPT(Config(tied=answer)), 41, torch.float32) for answer in (False, True))
save("nanogpt_untied.safetensors", untied.state_dict(), untied, Config(tied=False))
# state_dict() of a tied model names the one matrix twice. safetensors.torch.save_model() writes it once, by the
# name that comes first in the alphabet, and notes the other one.
save("nanogpt_tied.safetensors", tied.state_dict(), tied, Config(tied=True))
once = {name: tensor for name, tensor in tied.state_dict().items() if name != "transformer.wte.weight"}
save("nanogpt_tied_once.safetensors", once, tied, Config(tied=True), {"transformer.wte.weight": "lm_head.weight"})
save_json("checkpoint.json", facts)
