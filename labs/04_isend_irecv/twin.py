# Lab 04 in PyTorch: messages under way while a rank computes.
import os
import socket
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def rank_main(rank, n, store):
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=n)
    before, after = (rank - 1) % n, (rank + 1) % n  # a ring
    mine = torch.full((2,), float(rank))
    top, bottom = torch.empty(2), torch.empty(2)

    works = [dist.isend(mine, after), dist.irecv(top, before)]
    computed = sum(range(1000))  # touches neither tensor
    for work in works:
        work.wait()

    messages = [
        dist.P2POp(dist.isend, mine, before),
        dist.P2POp(dist.irecv, bottom, after),
    ]
    for work in dist.batch_isend_irecv(messages):
        work.wait()
    text = f"rank {rank}: {top.tolist()} before, {bottom.tolist()} after"
    lines = [None] * n
    dist.all_gather_object(lines, text)
    if rank == 0:
        print(*lines, sep="\n")


if __name__ == "__main__":
    os.environ["GLOO_SOCKET_IFNAME"] = socket.if_indextoname(1)  # loopback interface
    with tempfile.TemporaryDirectory() as folder:
        arguments = (4, f"file://{folder}/store")
        mp.start_processes(rank_main, arguments, nprocs=4, start_method="fork")
