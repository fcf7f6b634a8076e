#!/usr/bin/env bash
# Two hosts whose network is cut while four ranks work: what the ranks say, and whether distrun still hears SIGTERM where
# the store is out of reach. Then DIST_SOCKET_IFNAME=lo, which no rank of the other host can reach.
# Usage: cut.sh DISTRUN PROGRAM (same_program). Exit status 77: namespaces are not permitted here.
set -uo pipefail

distrun=$1 program=$2
# shellcheck source=tests/integration/hosts/namespaces.sh
source "${BASH_SOURCE[0]%/*}/namespaces.sh"
ip link add "da$$" netns "$a" type veth peer name "db$$" netns "$b"
ip -n "$a" addr add 10.77.0.1/24 dev "da$$"
ip -n "$b" addr add 10.77.0.2/24 dev "db$$"
for side in "$a da$$" "$b db$$"; do
  read -r namespace device <<<"$side"
  ip -n "$namespace" link set lo up
  ip -n "$namespace" link set "$device" up
done
export OMP_NUM_THREADS=1

launch() { # namespace, node rank, program...
  local namespace=$1 node=$2
  shift 2
  exec ip netns exec "$namespace" "$distrun" --nnodes 2 --node-rank "$node" --nproc-per-node 2 \
    --rdzv-id cut --rdzv-endpoint 10.77.0.1:29400 --grace-period 2 "$@"
}
launch "$a" 0 "$program" stay >"$work/a" 2>&1 &
first=$!
launch "$b" 1 "$program" stay >"$work/b" 2>&1 &
second=$!
for _ in $(seq 300); do [ "$(cat "$work/a" "$work/b" | grep -c stays)" -eq 4 ] && break; sleep 0.1; done
ip -n "$a" link set "da$$" down
sleep 1
began=$SECONDS
kill -TERM "$second"
wait "$second"
status=$?
took=$((SECONDS - began))
wait "$first"
cat "$work/a" "$work/b"
{ [ "$status" -eq 143 ] && [ "$took" -le 15 ]; } || { echo "distrun without its store: status $status after $took s"; exit 1; }
grep -q 'does not answer any more: its machine, or the network between, is down' "$work/a" || exit 1
! grep -q 'died (its connection closed without a goodbye)' "$work/a" || { echo "a cut is called a death"; exit 1; }

ip -n "$a" link set "da$$" up
(DIST_SOCKET_IFNAME=lo DIST_TIMEOUT=20 launch "$a" 0 "$program" >"$work/a" 2>&1) &
first=$!
(DIST_SOCKET_IFNAME=lo DIST_TIMEOUT=20 launch "$b" 1 "$program" >"$work/b" 2>&1)
wait "$first"
cat "$work/a" "$work/b"
grep -q "an address of the loopback device, which only rank 0's own host reaches: if DIST_SOCKET_IFNAME names it" "$work/b"
