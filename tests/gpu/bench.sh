#!/usr/bin/env bash
# What collectives cost on this GPU, for RESULTS.md: bench.sh DISTLAB CHECKOUT BUILD. Rows as JSON in BUILD/gpu_bench.
# 77: skipped. Figures of a development build are not worth writing down: ./distlab --preset release test --gpu.
set -euo pipefail
program=$1
export DISTLAB_ROOT=$2 DISTLAB_BUILD=$3

if [[ ! -e /dev/nvidiactl && ! -e /dev/dxg ]]; then
  echo 'no GPU: neither /dev/nvidiactl nor /dev/dxg is there'
  exit 77
fi
out=$DISTLAB_BUILD/gpu_bench
mkdir -p "$out"
for ranks in 2 4 8; do
  "$program" bench all_reduce --backend cuda -n $ranks --min 16 --max 256MiB --factor 16 --json "$out/cuda_$ranks.json"
done
for algorithm in ring tree double_binary_tree; do
  "$program" bench all_reduce --backend cuda -n 8 -a $algorithm --min 64KiB --max 64MiB --factor 16 \
    --json "$out/cuda_8_$algorithm.json"
done
for collective in all_gather reduce_scatter broadcast all_to_all; do
  "$program" bench $collective --backend cuda -n 4 --min 1KiB --max 64MiB --factor 256 --json "$out/cuda_4_$collective.json"
done
"$program" bench send_recv --backend cuda -n 2 --min 1KiB --max 64MiB --factor 256 --json "$out/cuda_send_recv.json"

# Compared with NCCL, where the build has it; without it bench ends with 3.
beside_nccl() { # NAME OPTION...
  local name=$1
  shift
  "$program" bench all_reduce --backend cuda --compare nccl --json "$out/$name.json" "$@" || [[ $? == 3 ]]
}
gpus=$( (nvidia-smi --list-gpus 2> /dev/null || true) | wc -l) # not every container has it
if ((gpus > 1)); then # a rank for each
  beside_nccl "cuda_and_nccl_$gpus" -n "$gpus"
else # NCCL shares one by sockets, for tests
  DIST_NCCL_SHARE_GPU=1 beside_nccl cuda_and_nccl_shared -n 2 --min 1KiB --max 64MiB --factor 256
fi
