#!/usr/bin/env bash
# still.sh DISTLAB OUT.png: the picture at the top of README.md (labs/handbook/ring.png): the player in the third step of a ring.
set -euo pipefail
distlab=$(readlink -f "$1") out=$(readlink -m "$2")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$distlab" show ring --html "$folder/ring.html" > "$folder/log"
cat >> "$folder/ring.html" << 'END'
<script>
setTimeout(() => {
  const slider = document.querySelector('distlab-player').shadowRoot.querySelector('input[type=range]');
  slider.value = Number(slider.max) * 0.44;
  slider.dispatchEvent(new Event('input'));
}, 500);
</script>
END
"${CHROMIUM:-chromium}" --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking \
  --disable-component-update --disable-sync --user-data-dir="$folder/profile" --window-size=1000,620 \
  --virtual-time-budget=3000 --screenshot="$out" "file://$folder/ring.html" > "$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
