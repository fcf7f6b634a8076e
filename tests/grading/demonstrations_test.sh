#!/usr/bin/env bash
# The wrong answers that lectures show live: every command of a deck's notes grades, and finds what is wrong.
# demonstrations_test.sh CHECKOUT PROGRAM BUILD [COMMIT]    with COMMIT, a sample (tests/support/sample.cmake)
set -euo pipefail
export DISTLAB_ROOT=$1 DISTLAB_BUILD=$3
program=$2 commit=${4:-}
one_in=8
cd "$1"
mapfile -t shown < <(grep -ohE 'grade [0-9]+ --submission tests/grading/[a-z0-9_]+/wrong_answers\.cpp:[a-z0-9_]+' slides/*/slides.md |
  sed 's/^grade //; s/ --submission / /')
[[ ${#shown[@]} -ge 10 ]] || { echo "only ${#shown[@]} commands were found"; exit 1; }
for demonstration in "${shown[@]}"; do
  shown_in=${demonstration#* }
  grep -qx "//// ${shown_in##*:}" "${shown_in%:*}" || { echo "a deck shows $shown_in, which is not there"; exit 1; }
done
if [[ -n $commit ]]; then
  chosen=$(cmake -P tests/support/sample.cmake "$commit" demonstrations "$one_in" "${shown[@]}")
  mapfile -t shown <<< "$chosen"
fi
for demonstration in "${shown[@]}"; do
  read -r lab file <<< "$demonstration"
  status=0
  said=$("$program" grade "$lab" --submission "$file" 2>&1) || status=$?
  if [[ $status != 1 || $said == *'does not compile'* || $said != *'Score '* ]]; then
    echo "./distlab grade $lab --submission $file: exit status $status"
    echo "$said"
    exit 1
  fi
  echo "ok $lab $file: $(grep '^Score' <<< "$said")"
done
