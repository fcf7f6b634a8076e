# Lab 07 in PyTorch: every rank gets everything, every rank gets the sum.
import os
import socket
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def rank_main(rank, n, store):
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=n)
    mine = torch.tensor([2.0 * rank + 1, 2.0 * rank + 2])
    everything = torch.empty(2 * n)
    # With NCCL: dist.all_gather_into_tensor(everything, mine); not in Gloo of 1.13.
    dist.all_gather(list(everything.chunk(n)), mine)  # views: nothing is copied later

    mean = mine.clone()
    dist.all_reduce(mean, op=dist.ReduceOp.SUM)  # ReduceOp.AVG is for NCCL only
    mean /= n

    counts = torch.tensor([10, 10] if rank == 0 else [0, 500])  # correct, seen
    dist.all_reduce(counts)
    accuracy = (counts[0] / counts[1]).item()
    text = f"rank {rank}: {everything.tolist()}, mean {mean.tolist()}, {accuracy:.4f}"
    lines = [None] * n
    dist.all_gather_object(lines, text)
    if rank == 0:
        print(*lines, sep="\n")


if __name__ == "__main__":
    os.environ["GLOO_SOCKET_IFNAME"] = socket.if_indextoname(1)  # loopback interface
    with tempfile.TemporaryDirectory() as folder:
        arguments = (3, f"file://{folder}/store")
        mp.start_processes(rank_main, arguments, nprocs=3, start_method="fork")
