# Lab 18 in PyTorch: each rank keeps 1/n of a layer's weight.
import os
import socket
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def rank_main(rank, n, store):
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=n)
    # PyTorch 2.x: fully_shard(layer) for each layer, then fully_shard(model).
    torch.manual_seed(0)
    whole, x = torch.randn(4, 3), torch.randn(2, 3)
    shard = whole.chunk(n)[rank].clone()  # what this rank keeps

    shards = [torch.empty_like(shard) for _ in range(n)]
    dist.all_gather(shards, shard)
    weight = torch.cat(shards).requires_grad_()
    (x[rank] @ weight.t()).square().sum().backward()
    parts = weight.grad.chunk(n)
    for r, part in enumerate(parts):  # Gloo of 1.13 has no reduce_scatter_tensor
        dist.reduce(part, dst=r)
    shard -= 0.1 * parts[rank] / n
    del shards, weight, parts  # only the shard is kept

    alone = whole.clone().requires_grad_()  # the same step on one rank
    ((x @ alone.t()).square().sum() / n).backward()
    expected = (alone - 0.1 * alone.grad).chunk(n)[rank]
    sizes = f"{shard.numel()} of {whole.numel()}"
    text = f"rank {rank} keeps {sizes}, as one rank: {torch.allclose(shard, expected)}"
    lines = [None] * n
    dist.all_gather_object(lines, text)
    if rank == 0:
        print(*lines, sep="\n")


if __name__ == "__main__":
    os.environ["GLOO_SOCKET_IFNAME"] = socket.if_indextoname(1)  # loopback interface
    with tempfile.TemporaryDirectory() as folder:
        arguments = (2, f"file://{folder}/store")
        mp.start_processes(rank_main, arguments, nprocs=2, start_method="fork")
