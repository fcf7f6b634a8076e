#!/usr/bin/env bash
# Ends a training run at random moments (TERM, KILL, a file system that is full, a folder that is gone for a while) and
# resumes it, until it has come to its end. The last checkpoint must be that of an undisturbed run, bit for bit, and at
# each end the checkpoint in force must be one that --resume takes. By hand, some seconds per case:
#   tests/integration/train/random_ends.sh build/dev/bin/distlab 100 1      (program, cases, seed)
set -uo pipefail
program=$(realpath "$1") cases=${2:-20} RANDOM=${3:-1}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
for i in {1..400}; do echo "line $i of a text that a small model learns"; done > text.txt

# The run's options; the last word is the checkpoint.
run() { # KIND CHECKPOINT
  local options=(train --model gpt --layers 1 --heads 2 --width 16 --context 16 --steps 400 --eval-every 10 --data text.txt)
  case $1 in
    file) options+=(--nproc 2 --batch 4) ;;
    mesh) options+=(--mesh "fsdp=2" --batch 4) ;;
  esac
  exec "$program" "${options[@]}" --resume --checkpoint "$2"
}

# The tensors of a checkpoint: a file, or the files of the save in force.
tensors() { # CHECKPOINT
  if [[ -d $1 ]]; then
    cat "$1/$(sed -E 's/.*"save": ?"([^"]*)".*/\1/' "$1/checkpoint.json")"/rank-*.safetensors
  else
    cat "$1"
  fi
}

ends=0
for kind in file mesh; do
  mkdir "$kind"
  (run $kind "$kind/undisturbed") > "$kind/log" 2>&1 || { cat "$kind/log"; exit 1; }
  for ((n = 1; n <= cases; ++n)); do
    mkdir work
    for ((attempt = 1; attempt <= 16; ++attempt)); do
      how=$((attempt == 16 ? 4 : RANDOM % 5))
      if ((how == 2)); then
        (trap '' XFSZ; ulimit -f $((1 + RANDOM % 200)); run $kind work/checkpoint) > work.log 2>&1 &
      else
        (run $kind work/checkpoint) > work.log 2>&1 &
      fi
      pid=$!
      sleep "0.$((200 + RANDOM % 700))"
      case $how in
        0) kill -TERM $pid 2> /dev/null ;;
        1) kill -KILL $pid 2> /dev/null ;;
        3) mv work away; sleep 0.2; if [[ -d work ]]; then cp -r work/. away 2> /dev/null; rm -rf work; fi; mv away work ;;
      esac
      wait $pid 2> /dev/null
      status=$?
      ((how < 4)) && ends=$((ends + 1))
      if grep -Eq 'is damaged|is not a safetensors|its checksum is|broken|internal' work.log; then
        echo "$kind, case $n: a checkpoint that cannot be read (attempt $attempt, end $how)"
        cat work.log
        exit 1
      fi
      ((status == 0 && how == 4)) && break
    done
    if ((status != 0)) || ! cmp -s <(tensors work/checkpoint) <(tensors "$kind/undisturbed"); then
      echo "$kind, case $n: the end is not that of the undisturbed run (exit code $status)"
      cat work.log
      exit 1
    fi
    rm -rf work
  done
done
echo "$ends ends in $((2 * cases)) runs: every one came to the weights of the undisturbed run"
