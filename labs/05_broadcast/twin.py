# Lab 05 in PyTorch: one rank of a group sends its weights to the others.
import os
import socket
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def rank_main(rank, n, store):
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=n)
    group = dist.new_group([0, 2, 3])  # every rank calls it, rank 1 too
    weights = [torch.full((2, 2), 10.0 * rank), torch.full((3,), 10.0 * rank + 1)]
    if rank in (0, 2, 3):
        bucket = torch.cat([w.flatten() for w in weights])
        dist.broadcast(bucket, src=2, group=group)  # a global rank
        parts = bucket.split([w.numel() for w in weights])
        for w, part in zip(weights, parts):
            w.copy_(part.view_as(w))
    text = f"rank {rank}: {[w.flatten().tolist() for w in weights]}"
    lines = [None] * n
    dist.all_gather_object(lines, text)
    if rank == 0:
        print(*lines, sep="\n")


if __name__ == "__main__":
    os.environ["GLOO_SOCKET_IFNAME"] = socket.if_indextoname(1)  # loopback interface
    with tempfile.TemporaryDirectory() as folder:
        arguments = (4, f"file://{folder}/store")
        mp.start_processes(rank_main, arguments, nprocs=4, start_method="fork")
