# shellcheck shell=bash
# Sourced: makes two network namespaces, $a and $b, and a folder, $work; they end with the script, and so do its jobs.
# Ends it with status 77 where namespaces are not permitted.
a=distlab-a-$$ b=distlab-b-$$
work=$(mktemp -d)
cleanup() {
  for job in $(jobs -p); do kill "$job" 2>/dev/null || true; done
  ip netns del "$a" 2>/dev/null || true
  ip netns del "$b" 2>/dev/null || true
  rm -rf "$work"
}
trap cleanup EXIT

if ! command -v ip >/dev/null || ! ip netns add "$a" 2>"$work/why"; then
  echo "skipped: network namespaces are not permitted here ($(tail -n 1 "$work/why" 2>/dev/null || echo 'no ip command'))"
  exit 77
fi
ip netns add "$b"
