# Lab 19 in PyTorch: a column-parallel layer, then a row-parallel one.
import os
import socket
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def rank_main(rank, n, store):
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=n)
    # PyTorch 2.x: plan = {"up": ColwiseParallel(), "down": RowwiseParallel()},
    # then parallelize_module(model, mesh, plan).
    torch.manual_seed(0)
    up, down = torch.randn(6, 3), torch.randn(3, 6)
    x = torch.randn(2, 3, requires_grad=True)
    my_up, my_down = up.chunk(n, dim=0)[rank], down.chunk(n, dim=1)[rank]

    hidden = torch.relu(x @ my_up.t())  # 3 of the 6 columns
    partial = hidden @ my_down.t()
    y = partial.detach().clone()
    dist.all_reduce(y)  # the forward's
    partial.backward(torch.ones_like(y))  # every rank has the whole gradient of y
    dist.all_reduce(x.grad)  # the backward's

    alone = x.detach().requires_grad_()
    whole = torch.relu(alone @ up.t()) @ down.t()
    whole.backward(torch.ones_like(whole))
    checks = torch.allclose(y, whole), torch.allclose(x.grad, alone.grad)
    text = f"rank {rank}: {hidden.shape[1]} columns; y, x.grad as on one rank: {checks}"
    lines = [None] * n
    dist.all_gather_object(lines, text)
    if rank == 0:
        print(*lines, sep="\n")


if __name__ == "__main__":
    os.environ["GLOO_SOCKET_IFNAME"] = socket.if_indextoname(1)  # loopback interface
    with tempfile.TemporaryDirectory() as folder:
        arguments = (2, f"file://{folder}/store")
        mp.start_processes(rank_main, arguments, nprocs=2, start_method="fork")
