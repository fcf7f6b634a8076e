# Lab 13 in PyTorch: which samples a rank reads in an epoch.
import os
import socket
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, DistributedSampler


def rank_main(rank, n, store):
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=n)
    samples = torch.arange(10)
    sampler = DistributedSampler(samples, shuffle=True, seed=0)  # for this rank
    loader = DataLoader(samples, batch_size=2, sampler=sampler)
    epochs = []
    for epoch in range(2):
        sampler.set_epoch(epoch)  # without it, every epoch has the order of epoch 0
        epochs.append([batch.tolist() for batch in loader])

    steps, batches = 0, 3 + rank  # not every rank has the same number
    while True:
        has_batch = torch.tensor(int(steps < batches))
        dist.all_reduce(has_batch, op=dist.ReduceOp.MIN)
        if not has_batch:
            break
        steps += 1
    text = f"rank {rank}: epochs {epochs[0]}, {epochs[1]}; {steps} steps"
    lines = [None] * n
    dist.all_gather_object(lines, text)
    if rank == 0:
        print(*lines, sep="\n")


if __name__ == "__main__":
    os.environ["GLOO_SOCKET_IFNAME"] = socket.if_indextoname(1)  # loopback interface
    with tempfile.TemporaryDirectory() as folder:
        arguments = (4, f"file://{folder}/store")
        mp.start_processes(rank_main, arguments, nprocs=4, start_method="fork")
