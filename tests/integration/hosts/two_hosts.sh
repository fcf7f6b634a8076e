#!/usr/bin/env bash
# Two hosts on one machine: two network namespaces joined by a veth pair, a distrun in each, four ranks in all.
# Usage: two_hosts.sh DISTRUN PROGRAM. Exit status 77: namespaces are not permitted here.
set -euo pipefail

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

launch() {  # namespace, node rank
  ip netns exec "$1" timeout 60 "$distrun" --nnodes 2 --node-rank "$2" --nproc-per-node 2 \
    --rdzv-id two-hosts --rdzv-backend c10d --rdzv-endpoint 10.77.0.1:29400 "$program"
}
launch "$a" 0 >"$work/a" 2>&1 &
first=$!
status=0
launch "$b" 1 >"$work/b" 2>&1 || status=$?
wait "$first" || status=$?
cat "$work/a" "$work/b"
[ "$status" -eq 0 ] || { echo "a distrun ended with status $status"; exit 1; }
[ "$(grep -c 'two hosts: all is well' "$work/a" "$work/b" | awk -F: '{s += $2} END {print s}')" -eq 4 ]
