#!/usr/bin/env bash
# The wrong answers that lectures show live: every command of a deck's notes grades, and finds what is wrong.
# demonstrations_test.sh CHECKOUT PROGRAM BUILD
set -euo pipefail
export DISTLAB_ROOT=$1 DISTLAB_BUILD=$3
program=$2 shown=0
cd "$1"
while read -r lab file; do
  shown=$((shown + 1)) status=0
  said=$("$program" grade "$lab" --submission "$file" 2>&1) || status=$?
  if [[ $status != 1 || $said == *'does not compile'* || $said != *'Score '* ]]; then
    echo "./distlab grade $lab --submission $file: exit status $status"
    echo "$said"
    exit 1
  fi
  echo "ok $lab $file: $(grep '^Score' <<< "$said")"
done < <(grep -ohE 'grade [0-9]+ --submission tests/mutants/[a-z0-9_/]+\.cpp' slides/*/slides.md | sed 's/^grade //; s/ --submission / /')
[[ $shown -ge 10 ]] || { echo "only $shown commands were found"; exit 1; }
