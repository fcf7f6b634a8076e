# Lab 12 in PyTorch: two ways to the same sum. Which one is faster, and for which size?
import os
import socket
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def naive(data):
    everything = [torch.empty_like(data) for _ in range(dist.get_world_size())]
    dist.all_gather(everything, data)
    return sum(everything)


def library(data):
    total = data.clone()
    dist.all_reduce(total)
    return total


def seconds(algorithm, data, repeats=20):
    algorithm(data)  # the first call opens connections
    dist.barrier()
    begin = time.perf_counter()
    for _ in range(repeats):
        algorithm(data)
    return (time.perf_counter() - begin) / repeats


def rank_main(rank, n, store):
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=n)
    for elements in (2, 1 << 18):
        data = torch.ones(elements) * (rank + 1)
        is_equal = torch.equal(naive(data), library(data))
        times = torch.tensor([seconds(naive, data), seconds(library, data)])
        dist.all_reduce(times, op=dist.ReduceOp.MAX)  # the slowest rank counts
        if rank == 0:
            print(f"{4 * elements} bytes on {n} ranks, equal sums: {is_equal}")
            both = "naive {:.0f} us, all_reduce {:.0f} us".format(*times * 1e6)
            print(both, file=sys.stderr)  # other numbers in every run


if __name__ == "__main__":
    os.environ["GLOO_SOCKET_IFNAME"] = socket.if_indextoname(1)  # loopback interface
    with tempfile.TemporaryDirectory() as folder:
        arguments = (4, f"file://{folder}/store")
        mp.start_processes(rank_main, arguments, nprocs=4, start_method="fork")
