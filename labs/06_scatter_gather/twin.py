# Lab 06 in PyTorch: every rank gets a part, and rank 0 gets all of them back.
import os
import socket
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def rank_main(rank, n, store):
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=n)
    root, mine = 0, torch.empty(2)
    parts = results = rows = None  # what the other ranks pass instead of a list
    if rank == root:
        parts = [torch.tensor([10.0 + r, 20.0 + r]) for r in range(n)]
        results = [torch.empty(2) for _ in range(n)]
        rows = list(torch.arange(10).tensor_split(n))  # of different sizes
    dist.scatter(mine, parts, src=root)
    mine *= 2
    dist.gather(mine, results, dst=root)

    my_rows = [None]
    dist.scatter_object_list(my_rows, rows, src=root)
    text = f"rank {rank}: {mine.tolist()}, rows {my_rows[0].tolist()}"
    lines = [None] * n
    dist.all_gather_object(lines, text)
    if rank == 0:
        print(*lines, sep="\n")
    if rank == root:
        print(f"rank {root} gathered {torch.cat(results).tolist()}")


if __name__ == "__main__":
    os.environ["GLOO_SOCKET_IFNAME"] = socket.if_indextoname(1)  # loopback interface
    with tempfile.TemporaryDirectory() as folder:
        arguments = (4, f"file://{folder}/store")
        mp.start_processes(rank_main, arguments, nprocs=4, start_method="fork")
