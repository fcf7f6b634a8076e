# The files of this folder: tensors as safetensors, everything else as JSON.
import json
import os
import struct

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = {torch.float64: "F64", torch.float32: "F32", torch.int64: "I64"}


# Writes what safetensors.torch.save_file() writes: wide dtypes first, then by name, the header padded to 8 bytes.
def save_tensors(name, tensors, metadata=None):
    ordered = sorted(tensors.items(), key=lambda item: (-item[1].element_size(), item[0]))
    header, data = {"__metadata__": {"format": "pt", **(metadata or {})}}, b""
    for key, tensor in ordered:
        raw = tensor.detach().contiguous().numpy().tobytes()
        header[key] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape),
                       "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(HERE, name), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


# One line per key. Python writes the shortest digits that give the same double again.
def save_json(name, content):
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in content.items()]
    with open(os.path.join(HERE, name), "w") as file:
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


def prefixed(prefix, tensors):
    return {prefix + name: tensor for name, tensor in tensors.items()}


# Parameters and their gradients, by the module's names: a tied weight occurs once.
def with_gradients(module):
    parameters = dict(module.named_parameters())
    return {**prefixed("param.", parameters),
            **prefixed("grad.", {name: parameter.grad for name, parameter in parameters.items()})}
