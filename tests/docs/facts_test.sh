#!/usr/bin/env bash
# facts_test.sh DISTLAB ROOT [--full]: the figures of README's table "Measured" are those that its commands print today.
# Each fact is read from README and compared with the output in as many digits as README gives. --full adds what takes long
# and what differs between machines and hours: there README's range is held to a factor of two.
set -euo pipefail
export DISTLAB_ROOT=$2
distlab=$(readlink -f "$1")
cd "$2"
full=${3-}
status=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

row() { # the row of README whose first cell begins so
  grep -F "| $1" README.md || { echo "README has no row \"$1\"" >&2; return 1; }
}
# shellcheck disable=SC2016 # the backticks are README's
command_of() { row "$1" | sed -E 's/.*\| `(.*)` \|$/\1/; s/\\\|/|/g'; }
printed() { # what a row's command prints, with the program of this build
  local command
  command=$(command_of "$1")
  DISTLAB=$distlab bash -c "${command//.\/distlab/\"\$DISTLAB\"}" 2>&1
}
check() { # fact, README's figure, the figure now, both in one unit: equal in README's digits
  local digits=0 now
  [[ $2 == *.* ]] && { digits=${2#*.}; digits=${#digits}; }
  now=$(printf '%.*f' "$digits" "$3")
  if [[ $now == "$2" ]]; then echo "ok: $1: $2"; else echo "README says $2 where it is $3: $1"; status=1; fi
}
figure_in() { # row, what comes before the figure
  local figure
  figure=$(row "$1" | sed -nE "s/.*$2 ([0-9.]+).*/\1/p" | tr -d ,)
  [[ $figure ]] || { echo "no figure after \"$2\" in README's row \"$1\"" >&2; return 1; }
  echo "$figure"
}
virtual_us() { awk -v algorithm="$1" '$3 == algorithm { print $5 == "ms" ? $4 * 1000 : $5 == "s" ? $4 * 1e6 : $4 }' "$folder/out"; }
in_range() { # fact, least, most, the figure now
  if awk -v a="$2" -v b="$3" -v x="$4" 'BEGIN { exit !(x >= a / 2 && x <= b * 2) }'
  then echo "ok: $1: $4 (README: $2 to $3)"; else echo "README says $2 to $3 where it is $4: $1"; status=1; fi
}

# Figures that change only with the program.
fact="all_reduce of 8 bytes on 64 GPUs"
printed "$fact" > "$folder/out"
check "$fact, ring, us" "$(figure_in "$fact" ring)" "$(virtual_us ring)"
check "$fact, tree, us" "$(figure_in "$fact" tree)" "$(virtual_us tree)"

fact="all_reduce of 16 MiB on the same machine"
printed "$fact" > "$folder/out"
ms() { virtual_us "$1" | awk '{ print $1 / 1000 }'; }
check "$fact, ring, ms" "$(figure_in "$fact" '\| ring')" "$(ms ring)"
check "$fact, double tree, ms" "$(figure_in "$fact" 'double tree')" "$(ms double_binary_tree)"
check "$fact, tree, ms" "$(figure_in "$fact" 'ms, tree')" "$(ms tree)"

fact="all_reduce of 8 bytes on 24,576 GPUs"
printed "$fact" > "$folder/out"
check "$fact, us" "$(figure_in "$fact" '\|')" "$(virtual_us tree)"

fact="size of the player in a page"
check "$fact, KB gzipped" "$(figure_in "$fact" '\|')" "$(printed "$fact" | awk '{ print $1 / 1000 }')"

fact="wrong answers that the labs' tests must detect"
check "$fact" "$(figure_in "$fact" '\|')" "$(cat tests/grading/*/wrong_answers.cpp | grep -cE '^//// [a-z0-9_]+$')"
check "$fact, cheats" "$(figure_in "$fact" 'and')" "$(grep -l '^// Told:' tests/cheats/*.cpp | wc -l)"

[[ $full == --full ]] || exit $status

fact="training on digits, two ranks"
printed "$fact" > "$folder/out"
right=$(sed -nE 's/.*accuracy ([0-9.]+) %.*/\1/p' "$folder/out" | tail -1)
check "$fact, % right" "$(figure_in "$fact" '\|')" "$right"

if command -v mpirun > /dev/null; then
  for fact in "all_reduce compared with Open MPI 4" "send and recv compared with Open MPI" "all_reduce compared with Open MPI, both over TCP"; do
    printed "$fact" > "$folder/out"
    cat "$folder/out"
    now=$(sed -nE 's/.*geometric mean ([0-9.]+).*/\1/p' "$folder/out" | tail -1)
    least=$(figure_in "$fact" '\|')
    most=$(row "$fact" | sed -nE 's/.*\| [0-9.]+ to ([0-9.]+) times.*/\1/p')
    in_range "$fact" "$least" "${most:-$least}" "$now"
  done
fi
exit $status
