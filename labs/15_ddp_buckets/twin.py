# Lab 15 in PyTorch: DDP fills buckets from the last gradient to the first.
import os
import socket
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel


def rank_main(rank, n, store):
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=n)
    torch.manual_seed(rank)  # other first weights on each rank: DDP sends rank 0's
    layers = [torch.nn.Linear(512, 512) for _ in range(4)]  # 1 MiB and 2 KiB each
    model = DistributedDataParallel(torch.nn.Sequential(*layers), bucket_cap_mb=2)
    seen = []

    def average(state, bucket):  # DDP calls it when a bucket is complete
        seen.append(len(bucket.gradients()))
        work = dist.all_reduce(bucket.buffer() / n, async_op=True)
        return work.get_future().then(lambda future: future.value()[0])

    model.register_comm_hook(None, average)
    for _ in range(2):  # after the first step DDP fills the buckets anew
        seen.clear()
        model.zero_grad()
        (model(torch.ones(1, 512)).sum() * (rank + 1)).backward()
    gradient = layers[3].bias.grad[0].item()
    text = f"rank {rank}: gradients per bucket {seen}, mean gradient {gradient}"
    lines = [None] * n
    dist.all_gather_object(lines, text)
    if rank == 0:
        print(*lines, sep="\n")


if __name__ == "__main__":
    os.environ["GLOO_SOCKET_IFNAME"] = socket.if_indextoname(1)  # loopback interface
    with tempfile.TemporaryDirectory() as folder:
        arguments = (2, f"file://{folder}/store")
        mp.start_processes(rank_main, arguments, nprocs=2, start_method="fork")
