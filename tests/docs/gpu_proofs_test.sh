#!/usr/bin/env bash
# docs.gpu_proofs: the steps of tests/gpu/prove.sh and those of RESULTS.md's table are the same, in one order; without a GPU
# it says so. gpu_proofs_test.sh CHECKOUT.
set -euo pipefail
cd "$1/tests/gpu"
fail() {
  echo "$1"
  exit 1
}

steps=$(./prove.sh --list)
# shellcheck disable=SC2016 # backticks of Markdown
table=$(sed -n '/^## Never seen/,/^On several/p' RESULTS.md | sed -n 's/^| \(`[^|]*`\) |.*/\1/p' | tr -d '`,' | tr ' ' '\n' | uniq)
[[ $steps == "$table" ]] || fail "$(diff <(echo "$steps") <(echo "$table"))"

code=0
./prove.sh nonsense 2> /dev/null || code=$?
((code == 2)) || fail "a step that does not exist: $code"
if [[ ! -e /dev/nvidiactl && ! -e /dev/dxg ]]; then
  code=0
  text=$(./prove.sh) || code=$?
  [[ $code == 77 && $text == 'no GPU: '* ]] || fail "without a GPU: $code, $text"
fi
