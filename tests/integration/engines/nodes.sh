# shellcheck shell=bash
# Sourced: two nodes, nodea (10.78.0.1) and nodeb (10.78.0.2), which are network namespaces with their own host names.
# Sets $work, and ends with status 77 where namespaces are not permitted; `needs PROGRAM PACKAGE` does where an engine
# is missing.
needs() {
  command -v "$1" > /dev/null || { echo "skipped: there is no $1 here; ./distlab setup --engines installs it ($2)"; exit 77; }
}
# shellcheck source=tests/integration/hosts/namespaces.sh
source "${BASH_SOURCE[0]%/*}/../hosts/namespaces.sh"
unshare --uts --mount true 2> /dev/null || { echo "skipped: host names of their own are not permitted here"; exit 77; }
ip link add "ea$$" netns "$a" type veth peer name "eb$$" netns "$b"
ip -n "$a" addr add 10.78.0.1/24 dev "ea$$"
ip -n "$b" addr add 10.78.0.2/24 dev "eb$$"
for side in "$a ea$$" "$b eb$$"; do
  read -r namespace device <<< "$side"
  ip -n "$namespace" link set lo up
  ip -n "$namespace" link set "$device" up
done
printf '127.0.0.1 localhost\n10.78.0.1 nodea\n10.78.0.2 nodeb\n' > "$work/hosts"
chmod 755 "$work"

# An rsh agent: "on HOST COMMAND..." runs the command, as a shell would, on that node.
cat > "$work/on" << AGENT
#!/bin/sh
while [ "\${1#-}" != "\$1" ]; do shift; done  # ssh's options
host=\$1
shift
[ "\$host" = nodea ] && namespace=$a || namespace=$b
exec ip netns exec "\$namespace" unshare --uts --mount sh -c '
  hostname "\$0"
  mount --bind $work/hosts /etc/hosts
  [ -d /sys/fs/cgroup/cpu ] || mount -t tmpfs none /sys/fs/cgroup
  exec sh -c "\$*"' "\$host" "\$@"
AGENT
chmod +x "$work/on"
on() { "$work/on" "$@"; }

failures=0
# expect WHAT STATUS WANTED FILE WORDS...: the status, and words that the file has.
expect() {
  local what=$1 status=$2 wanted=$3 file=$4 word
  shift 4
  [ "$status" = "$wanted" ] || { echo "$what: exit status $status, not $wanted"; cat "$file"; failures=$((failures + 1)); return; }
  for word in "$@"; do
    grep -qF -- "$word" "$file" || { echo "$what: \"$word\" is missing in:"; cat "$file"; failures=$((failures + 1)); return; }
  done
  echo "$what: as expected"
}
# The process numbers of `PROGRAM stay` on both nodes, oldest first.
staying() { pgrep -f "^$1 stay\$" || true; }
# Kills the youngest rank of `PROGRAM stay`, of which COUNT write to FILE, and waits for JOB: the death is told in these
# WORDS, and no rank is left behind.
expect_death() { # PROGRAM COUNT FILE JOB WORDS
  for _ in $(seq 300); do
    [ "$(grep -c stays "$3")" = "$2" ] && break
    sleep 0.1
  done
  kill -9 "$(staying "$1" | tail -n 1)"
  wait "$4"
  expect "a killed rank" 0 0 "$3" "$5"
  [ -z "$(staying "$1")" ] || { echo "ranks are left behind"; failures=$((failures + 1)); }
}
