# Lab 11 in PyTorch: each half of the data has a tree of its own.
import os
import socket
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def rank_main(rank, n, store):
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=n)
    data = torch.arange(6.0) + 10 * rank
    expected = data.clone()
    dist.all_reduce(expected)

    halves, roots = data.chunk(2), (0, n - 1)  # two trees with different roots
    works = [dist.reduce(h, dst=r, async_op=True) for h, r in zip(halves, roots)]
    for work in works:
        work.wait()
    works = [dist.broadcast(h, src=r, async_op=True) for h, r in zip(halves, roots)]
    for work in works:
        work.wait()
    same = torch.equal(data, expected)
    lines = [None] * n
    dist.all_gather_object(lines, f"rank {rank}: {data.tolist()}, all_reduce: {same}")
    if rank == 0:
        print(*lines, sep="\n")


if __name__ == "__main__":
    os.environ["GLOO_SOCKET_IFNAME"] = socket.if_indextoname(1)  # loopback interface
    with tempfile.TemporaryDirectory() as folder:
        arguments = (4, f"file://{folder}/store")
        mp.start_processes(rank_main, arguments, nprocs=4, start_method="fork")
