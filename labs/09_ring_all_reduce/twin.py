# Lab 09 in PyTorch: a sum around the ring, without chunks, beside dist.all_reduce.
import os
import socket
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def pass_around(data):  # sends (n - 1) S bytes; the chunks of this lab: 2 (n - 1)/n S
    rank, n = dist.get_rank(), dist.get_world_size()
    total, leaving, sent = data.clone(), data.clone(), 0
    for _ in range(n - 1):
        arriving = torch.empty_like(data)
        works = [
            dist.irecv(arriving, (rank - 1) % n),
            dist.isend(leaving, (rank + 1) % n),
        ]
        for work in works:
            work.wait()
        sent += leaving.numel() * leaving.element_size()
        total += arriving
        leaving = arriving
    return total, sent


def rank_main(rank, n, store):
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=n)
    data = torch.arange(8.0) + 100 * rank
    mine, sent = pass_around(data)
    dist.all_reduce(data)
    same = torch.equal(mine, data)
    text = f"rank {rank}: {mine[:3].tolist()} ..., all_reduce: {same}, sent {sent} B"
    lines = [None] * n
    dist.all_gather_object(lines, text)
    if rank == 0:
        print(*lines, sep="\n")


if __name__ == "__main__":
    os.environ["GLOO_SOCKET_IFNAME"] = socket.if_indextoname(1)  # loopback interface
    with tempfile.TemporaryDirectory() as folder:
        arguments = (4, f"file://{folder}/store")
        mp.start_processes(rank_main, arguments, nprocs=4, start_method="fork")
