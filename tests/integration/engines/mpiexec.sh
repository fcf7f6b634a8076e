#!/usr/bin/env bash
# MPICH's mpiexec (Intel MPI's has the same variables) on one node and on two; a killed rank.
# Usage: mpiexec.sh PROGRAM (same_program). Exit status 77: something is missing here.
set -uo pipefail
# shellcheck source=tests/integration/engines/nodes.sh
source "${BASH_SOURCE[0]%/*}/nodes.sh"
ln -s "$1" "$work/program" # so that its ranks have a name of their own among those of other tests
program=$work/program
needs mpiexec.hydra mpich
export DIST_TIMEOUT=60

timeout 60 mpiexec.hydra -n 3 "$program" > "$work/out" 2>&1
expect "one node" $? 0 "$work/out" "all 3 ranks agree"
timeout 60 mpiexec.hydra -n 2 sh -c "$program; exit \$?" > "$work/out" 2>&1
expect "through a shell" $? 0 "$work/out" "all 2 ranks agree"
(timeout 60 mpiexec.hydra -n 1 "$program" & timeout 60 mpiexec.hydra -n 2 "$program"; wait) > "$work/out" 2>&1
expect "two jobs at once" $? 0 "$work/out" "all 1 ranks agree" "all 2 ranks agree"

hydra() { on nodea timeout 60 mpiexec.hydra -launcher ssh -launcher-exec "$work/on" -hosts nodea,nodeb -n 4 -ppn 2 "$@"; }
hydra -genv MASTER_ADDR nodea "$program" > "$work/out" 2>&1
expect "two nodes" $? 0 "$work/out" "all 4 ranks agree"
hydra "$program" > "$work/out" 2>&1
expect "two nodes without MASTER_ADDR" $? 1 "$work/out" "mpiexec started 4 ranks, not all on this host" "-genv MASTER_ADDR"

timeout 60 mpiexec.hydra -n 3 "$program" stay > "$work/out" 2>&1 &
# mpiexec kills the other ranks at once, before they have a word.
expect_death "$program" 3 "$work/out" $! "EXIT CODE: 9"
exit $((failures > 0))
