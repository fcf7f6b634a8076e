# Lab 08 in PyTorch: the softmax of a row that is spread over the ranks.
import os
import socket
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def softmax_of_row(shard):
    largest = shard.max()
    dist.all_reduce(largest, op=dist.ReduceOp.MAX)
    exps = torch.exp(shard - largest)
    total = exps.sum()
    dist.all_reduce(total, op=dist.ReduceOp.SUM)
    return exps / total


def rank_main(rank, n, store):
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=n)
    row = torch.tensor([10001.0, 10003, 9999, 10004, -torch.inf, 10002, 9000, 10000])
    mine = softmax_of_row(row.chunk(n)[rank])
    whole = torch.softmax(row, dim=0).chunk(n)[rank]
    numbers = [round(x, 4) for x in mine.tolist()]
    text = f"rank {rank}: {numbers}, torch.softmax: {torch.allclose(mine, whole)}"
    lines = [None] * n
    dist.all_gather_object(lines, text)
    if rank == 0:
        print(*lines, sep="\n")


if __name__ == "__main__":
    os.environ["GLOO_SOCKET_IFNAME"] = socket.if_indextoname(1)  # loopback interface
    with tempfile.TemporaryDirectory() as folder:
        arguments = (4, f"file://{folder}/store")
        mp.start_processes(rank_main, arguments, nprocs=4, start_method="fork")
