#!/usr/bin/env bash
# One test under compute-sanitizer: sanitizer.sh memcheck|racecheck PROGRAM TEST. 77: skipped.
set -euo pipefail
tool=$1 program=$2 test=$3

skip() {
  echo "$1"
  exit 77
}
[[ -e /dev/nvidiactl || -e /dev/dxg ]] || skip 'no GPU: neither /dev/nvidiactl nor /dev/dxg is there'
PATH=$PATH:/usr/local/cuda/bin
command -v compute-sanitizer > /dev/null ||
  skip 'no compute-sanitizer on PATH nor in /usr/local/cuda/bin: it comes with the whole CUDA Toolkit'
# Errors of CUDA calls do not count here, because "this event has not ended yet" is one of them. The program checks
# each call itself.
if [[ $tool == memcheck ]]; then set -- --report-api-errors no; else set --; fi
exec compute-sanitizer --tool "$tool" "$@" --error-exitcode 1 "$program" --gtest_filter="$test"
