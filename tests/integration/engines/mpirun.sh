#!/usr/bin/env bash
# Open MPI's mpirun on two nodes: with MASTER_ADDR, and with backend mpi, where MPI says where rank 0 is.
# Usage: mpirun.sh PROGRAM (same_program). Exit status 77: something is missing here.
set -uo pipefail
# shellcheck source=tests/integration/engines/nodes.sh
source "${BASH_SOURCE[0]%/*}/nodes.sh"
ln -s "$1" "$work/program" # so that its ranks have a name of their own among those of other tests
program=$work/program
needs mpirun openmpi-bin
export DIST_TIMEOUT=60 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

run() { on nodea timeout 90 mpirun --mca plm_rsh_agent "$work/on" --mca btl_tcp_if_include 10.78.0.0/24 \
  --mca oob_tcp_if_include 10.78.0.0/24 --host nodea:2,nodeb:2 -x DIST_TIMEOUT "$@"; }
run -x MASTER_ADDR=nodea "$program" > "$work/out" 2>&1
expect "two nodes" $? 0 "$work/out" "all 4 ranks agree"
run "$program" > "$work/out" 2>&1
expect "two nodes without MASTER_ADDR" $? 1 "$work/out" "mpirun started 4 ranks, not all on this host" "-x MASTER_ADDR="
run -x DIST_BACKEND=mpi "$program" > "$work/out" 2>&1
expect "two nodes by backend mpi without MASTER_ADDR" $? 0 "$work/out" "all 4 ranks agree"
exit $((failures > 0))
