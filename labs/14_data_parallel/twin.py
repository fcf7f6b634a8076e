# Lab 14 in PyTorch: gradients averaged by hand, beside one process.
import os
import socket
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def train(weight, samples, optimizer, average):
    for _ in range(10):
        optimizer.zero_grad()
        loss = ((weight - samples) ** 2).mean() / 2
        loss.backward()
        average(weight.grad)
        optimizer.step()
    return weight.item()


def average_gradient(gradient):
    dist.all_reduce(gradient)
    gradient /= dist.get_world_size()


def rank_main(rank, n, store):
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=n)
    samples = torch.tensor([0.0, 30, 120, 270], dtype=torch.float64)
    for name, make in (
        ("momentum", lambda w: torch.optim.SGD([w], lr=0.1, momentum=0.9)),
        ("Adam", lambda w: torch.optim.Adam([w], lr=0.1)),
    ):
        w = torch.tensor(100.0 + rank, dtype=torch.float64)
        dist.broadcast(w, src=0)  # the first weights are those of rank 0
        w.requires_grad_()
        alone = torch.tensor(100.0, dtype=torch.float64, requires_grad=True)
        many = train(w, samples[rank], make(w), average_gradient)
        one = train(alone, samples, make(alone), lambda gradient: None)
        if rank == 0:
            print(f"{name}: four ranks {many:.4f}, one process {one:.4f}")


if __name__ == "__main__":
    os.environ["GLOO_SOCKET_IFNAME"] = socket.if_indextoname(1)  # loopback interface
    with tempfile.TemporaryDirectory() as folder:
        arguments = (4, f"file://{folder}/store")
        mp.start_processes(rank_main, arguments, nprocs=4, start_method="fork")
