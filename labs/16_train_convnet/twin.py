# Lab 16 in PyTorch: a run that was resumed ends as one that was never interrupted.
import os
import socket
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def train(epochs, file, resume=False):
    torch.manual_seed(0)
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    saved = {"epochs_done": 0}
    if resume:
        saved = torch.load(file)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
    ddp = DistributedDataParallel(model)
    x = torch.arange(64.0).view(16, 4) / 64
    samples = TensorDataset(x, x.sum(dim=1, keepdim=True))
    sampler = DistributedSampler(samples)
    for epoch in range(saved["epochs_done"], epochs):
        sampler.set_epoch(epoch)
        for inputs, targets in DataLoader(samples, batch_size=3, sampler=sampler):
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(ddp(inputs), targets).backward()
            optimizer.step()
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
    if dist.get_rank() == 0:
        torch.save({**state, "epochs_done": epochs}, file)
    dist.barrier()  # the file is complete before a rank reads it
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def rank_main(rank, n, store):
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=n)
    file = store.replace("file://", "") + ".checkpoint"
    undisturbed = train(3, file)
    first_part = train(1, file)
    resumed = train(3, file, resume=True)
    checks = torch.equal(first_part, undisturbed), torch.equal(resumed, undisturbed)
    text = f"rank {rank}: as 3 epochs: after 1 {checks[0]}, resumed {checks[1]}"
    lines = [None] * n
    dist.all_gather_object(lines, text)
    if rank == 0:
        print(*lines, sep="\n")


if __name__ == "__main__":
    os.environ["GLOO_SOCKET_IFNAME"] = socket.if_indextoname(1)  # loopback interface
    with tempfile.TemporaryDirectory() as folder:
        arguments = (2, f"file://{folder}/store")
        mp.start_processes(rank_main, arguments, nprocs=2, start_method="fork")
