# Lab 20 in PyTorch: two stages and three micro-batches, by GPipe.
import os
import socket
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def first_stage(layer, micro_batches):
    outputs = []
    for x in micro_batches:  # all forwards
        outputs.append(layer(x))
        dist.send(outputs[-1].detach(), 1)
    for output in outputs:  # all backwards
        gradient = torch.empty_like(output)
        dist.recv(gradient, 1)
        output.backward(gradient)


def last_stage(layer, micro_batches):
    inputs = [torch.empty(len(m), layer.in_features) for m in micro_batches]
    losses, samples = [], sum(len(m) for m in micro_batches)
    for x in inputs:
        dist.recv(x, 0)
        losses.append(layer(x.requires_grad_()).square().sum() / samples)
    for x, loss in zip(inputs, losses):
        loss.backward()  # the gradients of all micro-batches add up
        dist.send(x.grad, 0)


def rank_main(rank, n, store):
    dist.init_process_group("gloo", init_method=store, rank=rank, world_size=n)
    # PyTorch 2.x: ScheduleGPipe(PipelineStage(...), n_microbatches=3).step(batch)
    torch.manual_seed(0)
    layers, batch = [torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)], torch.randn(6, 3)
    stage = (first_stage, last_stage)[rank]
    stage(layers[rank], batch.split(2))
    mine = layers[rank].weight.grad.clone()

    layers[rank].zero_grad()  # the same step on one rank
    (layers[1](layers[0](batch)).square().sum() / len(batch)).backward()
    is_equal = torch.allclose(mine, layers[rank].weight.grad)
    text = f"rank {rank}: its gradient is that of one process: {is_equal}"
    lines = [None] * n
    dist.all_gather_object(lines, text)
    if rank == 0:
        print(*lines, sep="\n")


if __name__ == "__main__":
    os.environ["GLOO_SOCKET_IFNAME"] = socket.if_indextoname(1)  # loopback interface
    with tempfile.TemporaryDirectory() as folder:
        arguments = (2, f"file://{folder}/store")
        mp.start_processes(rank_main, arguments, nprocs=2, start_method="fork")
