# `distlab bench ddp --compare pytorch` starts this for each rank. It has the same model, first weights and batch as
# ours (training.h), with PyTorch's DistributedDataParallel. Each line that it reads is a number of steps; it takes
# these steps and answers with the seconds and the last loss.
import os
import sys
import time

os.environ["OMP_NUM_THREADS"] = "1"  # torch reads it during the import
os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")

import torch
import torch.distributed as dist
from torch import nn

from pytorch_convnet import ConvNet

rank, ranks = int(sys.argv[1]), int(sys.argv[2])
folder, lr, momentum, device = sys.argv[3], float(sys.argv[4]), float(sys.argv[5]), sys.argv[6]


def read(name, dtype):
    with open(os.path.join(folder, name), "rb") as file:
        return torch.frombuffer(bytearray(file.read()), dtype=dtype)


torch.set_num_threads(1)
backend = "gloo"
if device == "cuda":
    gpus = torch.cuda.device_count()
    torch.cuda.set_device(rank % gpus)
    backend = "nccl" if ranks <= gpus else "gloo"  # NCCL does not share a GPU
dist.init_process_group(backend, init_method=f"file://{folder}/rendezvous", rank=rank, world_size=ranks)
model = ConvNet().to(device)
nn.utils.vector_to_parameters(read("weights", torch.float32).to(device), model.parameters())
inputs = read(f"inputs.{rank}", torch.float32).view(-1, 1, 28, 28).to(device)
targets = read(f"targets.{rank}", torch.int64).to(device)
ddp = nn.parallel.DistributedDataParallel(model)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(ddp.parameters(), lr=lr, momentum=momentum)

for line in sys.stdin:
    dist.barrier()
    begun = time.perf_counter()
    for _ in range(int(line)):
        loss = criterion(ddp(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    last = loss.item()
    print(time.perf_counter() - begun, last, flush=True)
