#!/usr/bin/env bash
# What only a GPU can prove, the most important first, for a machine that has one for a quarter of an hour:
#
#   tests/gpu/prove.sh [STEP ...]     all steps, or these; --list names them
#
# MINUTES (15): a step that would begin later is left out, one that runs is ended. OUT (build/release/gpu_proofs): a log
# per step, the figures as JSON, and `summary`. CARRIED: a folder with the packages of a machine that cannot install any
# (README.md). DISTLAB_PYTHON: a Python with PyTorch, to compare with. What the figures should be: RESULTS.md.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."

steps=(graphs layers device ddp_64 ddp_1024 ddp_cut messages processes collectives gpt train doctor memory races probe demos)
if [[ ${1:-} == --list ]]; then
  printf '%s\n' "${steps[@]}"
  exit
fi
for step in "$@"; do
  [[ " ${steps[*]} " == *" $step "* ]] || { echo "there is no step \"$step\"; --list names them" >&2 && exit 2; }
done
if [[ ! -e /dev/nvidiactl && ! -e /dev/dxg ]]; then
  echo 'no GPU: neither /dev/nvidiactl nor /dev/dxg is there'
  exit 77
fi

build=$PWD/build/release
out=${OUT:-$build/gpu_proofs} end=$((SECONDS + ${MINUTES:-15} * 60))
mkdir -p "$out"
if [[ -n ${CARRIED:-} ]]; then
  libraries=$CARRIED/usr/lib/$(uname -m)-linux-gnu
  export PATH=$CARRIED/usr/bin:$PATH CMAKE_PREFIX_PATH=$CARRIED/usr${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}
  export LIBRARY_PATH=$libraries${LIBRARY_PATH:+:$LIBRARY_PATH}
  export LD_LIBRARY_PATH=$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi
export DISTLAB_ROOT=$PWD DISTLAB_BUILD=$build DIST_MPI=OFF
gpus=$( (nvidia-smi --list-gpus 2> /dev/null || true) | wc -l) # not every container has it
((gpus > 0)) || gpus=1
if [[ -z ${CUDAARCHS:-} ]]; then # of this GPU alone, to compile sooner; without nvidia-smi, of an H100
  CUDAARCHS=$( (nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2> /dev/null || true) | head -n 1 | tr -d .)
  export CUDAARCHS=${CUDAARCHS:-90}
fi
compare=()
if "${DISTLAB_PYTHON:-/usr/bin/python3}" -c 'import torch' 2> /dev/null; then compare=(--compare pytorch); fi

within() { timeout --kill-after 5 "$((end > SECONDS ? end - SECONDS : 1))" "$@"; }
distlab() { within "$build/bin/distlab" "$@"; }
check() { within ctest --test-dir "$build" --output-on-failure -R "^($1)\$"; }
compile() {
  within cmake --preset release -DDIST_CUDA=ON -DDIST_MPI=OFF -DDIST_ONEDNN=OFF -DDIST_ZLIB=OFF &&
    within cmake --build "$build" --target distlab tests_gpu
}
ddp() { distlab bench ddp --device cuda --repeat 7 "$@" --json "$out/$step.json"; }
train() { distlab train --samples 4000 --epochs 1 "$@"; }
demos() {
  local lab failed=0
  for ((lab = 0; lab <= 20; ++lab)); do
    printf '\nlab %d\n' "$lab"
    within ./distlab --preset release run "$lab" --solution --device cuda < /dev/null || failed=1
  done
  return $failed
}

take() { # STEP
  case $1 in
    graphs) check gpu.graphs ;;
    layers) check gpu.nn ;;
    device) check gpu.device ;;
    ddp_64) ddp -n $((gpus > 4 ? gpus : 4)) "${compare[@]}" ;;
    ddp_1024) ddp -n $((gpus > 2 ? gpus : 2)) --batch-size 1024 "${compare[@]}" ;;
    ddp_cut) ddp -n "$gpus" --cut-graphs ;;
    messages)
      distlab bench send_recv --backend cuda -n 2 --min 1KiB --max 64MiB --factor 256 --json "$out/messages.json"
      ;;
    processes) check gpu.processes ;;
    collectives) check 'gpu.bench|gpu.bandwidth' ;;
    gpt)
      distlab bench train --model gpt --device cuda --dtype bf16 --layers 12 --heads 12 --width 768 --context 1024 \
        --vocab 50257 --batch-size 8 "${compare[@]}" --json "$out/gpt.json"
      ;;
    train) train --device cpu && train --device cuda && train --device cuda --no-graph && train --device cuda --nproc 1 ;;
    doctor) distlab doctor --nccl || [[ $? == 3 ]] ;; # 3: something on this machine is to be fixed
    memory) check 'gpu.memcheck|gpu.nn_memcheck' ;;
    races) check 'gpu.racecheck|gpu.nn_racecheck' ;;
    probe) check gpu.probe ;;
    demos) demos ;;
  esac
}

told() { printf '%-12s %-12s %4d s\n' "$1" "$2" "$3" | tee -a "$out/summary"; }
began=$SECONDS
: > "$out/summary"
compile > "$out/compile.log" 2>&1 || { tail -n 20 "$out/compile.log" && exit 3; }
told compile passed $((SECONDS - began))
failed=0
for step in "${@:-${steps[@]}}"; do
  began=$SECONDS code=0
  if ((began >= end)); then
    told "$step" 'left out' 0
    continue
  fi
  take "$step" > "$out/$step.log" 2>&1 || code=$?
  if ((code != 0)); then
    result=failed failed=1
    ((code != 124 && code != 137)) || result='out of time'
  elif grep -q '\*\*\*Skipped' "$out/$step.log"; then
    result=skipped
  else
    result=passed
  fi
  told "$step" "$result" $((SECONDS - began))
done
echo "logs and figures: $out"
exit $failed
