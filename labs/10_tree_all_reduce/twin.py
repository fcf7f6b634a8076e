# Lab 10 in PyTorch: up the tree is reduce, down the tree is broadcast.
import os
import socket
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def rank_main(rank, n, store):
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=n)
    data = torch.tensor([1.0 + rank, 10.0 * rank])
    at_once = data.clone()
    dist.all_reduce(at_once)

    segments = data.split(1)  # views: one element per segment
    going_up = [dist.reduce(s, dst=0, async_op=True) for s in segments]
    coming_down = []
    for segment, work in zip(segments, going_up):
        work.wait()  # this segment only: the next one is on its way up
        coming_down.append(dist.broadcast(segment, src=0, async_op=True))
    for work in coming_down:
        work.wait()
    text = f"rank {rank}: {data.tolist()}, all_reduce: {at_once.tolist()}"
    lines = [None] * n
    dist.all_gather_object(lines, text)
    if rank == 0:
        print(*lines, sep="\n")


if __name__ == "__main__":
    os.environ["GLOO_SOCKET_IFNAME"] = socket.if_indextoname(1)  # loopback interface
    with tempfile.TemporaryDirectory() as folder:
        arguments = (4, f"file://{folder}/store")
        mp.start_processes(rank_main, arguments, nprocs=4, start_method="fork")
