#!/usr/bin/env bash
# pictures_test.sh DISTLAB PAGE ...: the pictures on these pages are what the simulator draws today. A picture is a block
# whose first line is the command, and then what it prints:
#   $ ./distlab sim all_reduce -a ring -n 4 -b 64 --trace t.json && ./distlab trace t.json
#   $ ./distlab show pipeline -m 6 | head -7
# pictures_test.sh DISTLAB --update PAGE ...: draws them anew.
set -euo pipefail
distlab=$(readlink -f "$1")
shift
update=
if [[ $1 == --update ]]; then
  update=yes
  shift
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

picture() { # the line "$ ./distlab ..."
  if [[ $1 == *' show pipeline '* ]]; then
    local command=${1#'$ '}
    COLUMNS=100 DISTLAB=$distlab bash -c "${command//.\/distlab/\"\$DISTLAB\"}"
    return
  fi
  local arguments=${1#*./distlab }
  read -ra arguments <<< "${arguments%%--trace*}"
  "$distlab" "${arguments[@]}" --trace "$folder/t.json" > "$folder/log" 2>&1 || { cat "$folder/log" >&2; return 1; }
  "$distlab" trace "$folder/t.json"
}

status=0
for page in "$@"; do
  count=0
  inside=
  while IFS= read -r line; do
    if [[ $inside && $line != '```' ]]; then continue; fi # the picture that is there
    inside=
    printf '%s\n' "$line"
    if [[ $line == '$ ./distlab sim '*' --trace t.json && ./distlab trace t.json' || $line == '$ ./distlab show pipeline '* ]]; then
      picture "$line"
      inside=yes
      count=$((count + 1))
    fi
  done < "$page" > "$folder/page.md"
  if ((count == 0)); then
    echo "$page has no picture"
    status=1
  elif [[ $update ]]; then
    cp "$folder/page.md" "$page"
  elif ! diff -u "$page" "$folder/page.md"; then
    echo "$page shows what the simulator no longer draws: tests/docs/pictures_test.sh DISTLAB --update $page"
    status=1
  fi
done
exit $status
