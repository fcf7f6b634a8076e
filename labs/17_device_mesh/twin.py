# Lab 17 in PyTorch: ranks on a grid of 2 x 3, with a group for each row and column.
import os
import socket
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def rank_main(rank, n, store):
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=n)
    # PyTorch 2.x: mesh = init_device_mesh("cpu", (2, 3), mesh_dim_names=("dp", "tp")),
    # then mesh.get_coordinate() and mesh.get_group("dp").
    grid = torch.arange(n).view(2, 3)
    groups = {}
    for axis, lines in (("dp", grid.t().tolist()), ("tp", grid.tolist())):
        for line in lines:
            group = dist.new_group(line)  # every rank makes every group
            if rank in line:
                groups[axis] = group
    place = [dist.get_rank(group) for group in groups.values()]

    loss = torch.tensor([6.0, 3.0] if place[0] == 0 else [1.0, 1.0])  # sum, tokens
    dist.all_reduce(loss, group=groups["dp"])
    text = f"rank {rank} is at {place}, mean loss {(loss[0] / loss[1]).item()}"
    lines = [None] * n
    dist.all_gather_object(lines, text)
    if rank == 0:
        print(*lines, sep="\n")


if __name__ == "__main__":
    os.environ["GLOO_SOCKET_IFNAME"] = socket.if_indextoname(1)  # loopback interface
    with tempfile.TemporaryDirectory() as folder:
        arguments = (6, f"file://{folder}/store")
        mp.start_processes(rank_main, arguments, nprocs=6, start_method="fork")
