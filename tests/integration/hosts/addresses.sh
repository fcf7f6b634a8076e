#!/usr/bin/env bash
# Addresses that do not lead anywhere, and what is reported about them: two network namespaces joined by a veth
# pair, one rank in each. Usage: addresses.sh PROGRAM. Exit status 77: namespaces are not permitted here.
set -euo pipefail

program=$1
# shellcheck source=tests/integration/hosts/namespaces.sh
source "${BASH_SOURCE[0]%/*}/namespaces.sh"
ip link add "x$$" netns "$a" type veth peer name "y$$" netns "$a"  # before the real one: its address is named first
ip link add "c$$" netns "$a" type veth peer name "d$$" netns "$b"
ip -n "$a" addr add 10.88.0.1/24 dev "x$$"
ip -n "$a" addr add 10.77.0.1/24 dev "c$$"
ip -n "$b" addr add 10.77.0.2/24 dev "d$$"
ip -n "$b" addr add 10.88.0.2/24 dev "d$$"
ip -n "$a" addr add fe80::a/64 dev "c$$" nodad
ip -n "$b" addr add fe80::b/64 dev "d$$" nodad
for dead in 10.77.0.3 10.88.0.1; do  # packets reach no host, and nothing comes back
  ip -n "$b" neigh add "$dead" lladdr 02:00:00:00:00:77 dev "d$$"
done
for side in "$a lo" "$a x$$" "$a y$$" "$a c$$" "$b lo" "$b d$$"; do
  read -r namespace device <<<"$side"
  ip -n "$namespace" link set "$device" up
done

# If $work/hosts exists, it takes the place of /etc/hosts.
in_namespace() {
  local namespace=$1
  shift
  if [ -e "$work/hosts" ]; then
    ip netns exec "$namespace" unshare -m bash "$work/with_hosts" "$@"
  else
    ip netns exec "$namespace" "$@"
  fi
}
cat >"$work/with_hosts" <<EOF
mount --bind $work/hosts /etc/hosts
[ ! -e /etc/host.conf ] || mount --bind $work/host.conf /etc/host.conf
exec "\$@"
EOF

# what is tried; where rank 0 and rank 1 look for the store
meet() {
  local what=$1 first=$2 second=$3 begun=$SECONDS status=0
  in_namespace "$a" timeout 40 "$program" "$first" 0 2 30 >"$work/0" 2>&1 &
  local rank0=$!
  in_namespace "$b" timeout 40 "$program" "$second" 1 2 30 >"$work/1" 2>&1 || status=$?
  wait "$rank0" || status=$?
  local took=$((SECONDS - begun))
  if [ "$status" -ne 0 ] || [ "$took" -gt 8 ]; then
    echo "$what: status $status after $took s"
    cat "$work/0" "$work/1"
    exit 1
  fi
}
# what, a file, what it must hold
expect() {
  grep -qF "$3" "$work/$2" || { echo "$1: '$3' is not said:"; cat "$work/$2"; exit 1; }
}

# A name whose first address is dead.
printf '127.0.0.1 localhost\n10.77.0.3 two-ways\n10.77.0.1 two-ways\n' >"$work/hosts"
printf 'multi on\n' >"$work/host.conf"
meet "a name with a dead first address" tcp://two-ways:29501 tcp://two-ways:29501
rm "$work/hosts"

# A rank that can be reached only at the second address of its card.
meet "a dead first address of a rank" "file://$work/store" "file://$work/store"
expect "a dead first address of a rank" 1 "rank 1 reaches rank 0 at 10.77.0.1, but not at tcp://10.88.0.1"
expect "a dead first address of a rank" 1 DIST_SOCKET_IFNAME
[ "$(grep -c DIST_SOCKET_IFNAME "$work/1")" -eq 1 ]

# Rank 0 is started on a machine to which its address does not lead.
in_namespace "$b" env MASTER_ADDR=10.77.0.1 MASTER_PORT=29503 timeout 40 "$program" env:// 0 2 2 >"$work/0" 2>&1 || true
expect "rank 0 on the wrong machine" 0 "rank 0 keeps the store here, but 10.77.0.1 is not an address of this machine, which has 10.77.0.2, 10.88.0.2; unless"
expect "rank 0 on the wrong machine" 0 "rank 0 keeps the store, and 10.77.0.1 is not an address of this machine"

# Nothing but link-local addresses leads from one host to the other.
for side in "$a 10.77.0.1/24 c$$" "$b 10.77.0.2/24 d$$" "$b 10.88.0.2/24 d$$"; do
  read -r namespace address device <<<"$side"
  ip -n "$namespace" addr del "$address" dev "$device"
done
link_local() {
  in_namespace "$a" env MASTER_ADDR="$1" MASTER_PORT=29502 timeout 40 "$program" env:// 0 2 20 >"$work/0" 2>&1 &
  local rank0=$!
  in_namespace "$b" env MASTER_ADDR="$2" MASTER_PORT=29502 timeout 40 "$program" env:// 1 2 20 >"$work/1" 2>&1 || true
  wait "$rank0" || true
  expect "MASTER_ADDR=$1" 0 met
  expect "MASTER_ADDR=$2" 1 met
}
link_local "fe80::a%c$$" "[fe80::a%d$$]"

# A loopback device that is down is named, at once and at the end.
ip -n "$a" link set lo down
in_namespace "$a" env MASTER_ADDR=127.0.0.1 MASTER_PORT=29504 timeout 40 "$program" env:// 1 2 2 >"$work/1" 2>&1 || true
[ "$(grep -c 'the loopback device of this host is down' "$work/1")" -eq 2 ] || { cat "$work/1"; exit 1; }
echo "addresses: all is well"
