#!/usr/bin/env bash
# PyTorch's torchrun on one node and on two; a killed rank.
# Usage: torchrun.sh PROGRAM (same_program). Exit status 77: something is missing here.
set -uo pipefail
# shellcheck source=tests/integration/engines/nodes.sh
source "${BASH_SOURCE[0]%/*}/nodes.sh"
ln -s "$1" "$work/program" # so that its ranks have a name of their own among those of other tests
program=$work/program
for python in python3 /usr/bin/python3; do # a package of the distribution is the distribution's python3's
  "$python" -c 'import torch.distributed.run' 2> /dev/null && break
  python=''
done
[ -n "$python" ] || { echo "skipped: python3 has no torch here; ./distlab setup --engines installs it (python3-torch)"; exit 77; }
export DIST_TIMEOUT=60 OMP_NUM_THREADS=1
# With underscores: 1.13 knows no others. Under Python 3.11 it does not know the value 0 of --redirects and --tee.
torchrun=("$python" -m torch.distributed.run --no_python --redirects 1 --tee 1)

timeout 120 "${torchrun[@]}" --standalone --nproc_per_node 3 "$program" > "$work/out" 2>&1
expect "one node" $? 0 "$work/out" "all 3 ranks agree"
timeout 120 "${torchrun[@]}" --standalone --nproc_per_node 3 "$program" stay > "$work/out" 2>&1 &
expect_death "$program" 3 "$work/out" $! " died"

both() {  # the command on both nodes; the status of the first
  on nodea timeout 120 "$@" > "$work/out" 2>&1 &
  local first=$!
  on nodeb timeout 120 "$@" > "$work/other" 2>&1
  wait "$first"
}
two_nodes=(--nnodes 2 --nproc_per_node 2 --rdzv_id job --rdzv_backend c10d --rdzv_endpoint nodea:29400)
both "${torchrun[@]}" "${two_nodes[@]}" "$program"
status=$?
cat "$work/other" >> "$work/out"
expect "two nodes" "$status" 0 "$work/out" "all 4 ranks agree"
exit $((failures > 0))
