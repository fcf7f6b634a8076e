# Lab 03 in PyTorch: one rank sends first. What happens if both do?
import os
import socket
import tempfile
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def rank_main(rank, n, store):
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=n)
    mine, theirs = torch.tensor([11.0 + rank] * 2), torch.empty(2)
    other = 1 - rank
    if rank == 0:
        dist.send(mine, other)
        dist.recv(theirs, other)
    else:
        dist.recv(theirs, other)
        dist.send(mine, other)

    group = dist.new_group()  # connections of its own, which will be lost
    try:  # what dist.send does, but for one second at most
        dist.isend(mine, other, group=group).wait(timedelta(seconds=1))
        both = "it goes on"
    except RuntimeError:
        both = "it still waits after 1 s"
    text = f"rank {rank} received {theirs.tolist()}; if both send first, {both}"
    lines = [None] * n
    dist.all_gather_object(lines, text)
    if rank == 0:
        print(*lines, sep="\n")


if __name__ == "__main__":
    os.environ["GLOO_SOCKET_IFNAME"] = socket.if_indextoname(1)  # loopback interface
    with tempfile.TemporaryDirectory() as folder:
        arguments = (2, f"file://{folder}/store")
        mp.start_processes(rank_main, arguments, nprocs=2, start_method="fork")
