#!/usr/bin/env bash
# transcripts_test.sh DISTLAB PAGE ...: the output that a lab's pages show is what its solved program prints today.
# Such a block follows the sentence with `./distlab run N --solution`, in every language. Ranks are processes,
# whose lines come in any order.
set -euo pipefail
distlab=$(readlink -f "$1")
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export LC_ALL=C

# What every run prints on every machine: numbers that are measured, pids, and what a training's last bits decide (they are
# the instruction set's) are left open.
comparable() {
  sed -E '/one way|fitted:|loss .* accuracy/ s/-?[0-9][-.0-9e]*/#/g
          s/(pid|waited) +[0-9]+/\1 #/; s/weights [0-9a-f]{8}/weights #/; s/ +/ /g' | awk NF | sort
}

# A handout's blocks have at most 100 columns (handouts_test.cpp). There a longer line goes on in the next one, two
# columns further in than it begins. (Lines with characters other than ASCII are never that long.)
wrapped() {
  awk 'function wrap(line, indent,   cut) {
         if (length(line) <= 100 || line ~ /[^ -~]/) { print line; return }
         for (cut = 101; cut > length(indent) && substr(line, cut, 1) != " ";) cut--
         if (cut <= length(indent)) { print line; return }
         print substr(line, 1, cut - 1)
         wrap(indent substr(line, cut + 1), indent)
       }
       { match($0, /^ */); wrap($0, sprintf("%*s", RLENGTH + 2, "")) }'
}

block() { # PAGE: the block after the sentence
  awk '/`\.\/distlab run [0-9]+ --solution`/ { asked = 1 }
       asked && /^```/ { if (inside) exit; inside = 1; next }
       inside' "$1" | comparable
}

status=0
for page in "$@"; do
  sentence=$(grep -om1 'distlab run [0-9]* --solution' "$page") || {
    echo "$page does not say what its solved program prints"
    status=1
    continue
  }
  read -r _ _ number _ <<< "$sentence"
  printed=$folder/$number # once for all languages
  [[ -e $printed ]] || "$distlab" run "$number" --solution 2>&1 | wrapped | comparable > "$printed"
  diff <(block "$page") "$printed" || {
    echo "$page: ./$sentence prints the lines marked >, and not those marked <"
    status=1
  }
done
exit $status
