#!/usr/bin/env bash
# Runs browser tests: run.sh PROGRAM FILE.test.mjs. Exit status 77, and why, where there is no node, no browser, or the
# packages of slides/ are not installed, and when a test itself says that it can tell nothing here.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
slides=$here/../../slides

skip() {
  echo "skipped: $1"
  exit 77
}
command -v node > /dev/null || skip 'there is no node (./distlab setup --slides)'
[[ $(printf '%s\n' v20.19 "$(node --version)" | sort -V | head -n 1) == v20.19 ]] || skip "node $(node --version) is older than 20.19"
[[ -d $slides/node_modules/playwright-core ]] || skip 'the packages of slides/ are not installed (cd slides && npm ci)'
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || skip 'there is no Chromium (./distlab setup --slides)'

export DISTLAB_PROGRAM=$1 CHROMIUM=$chromium
said=$(mktemp)
trap 'rm -f "$said"' EXIT
node --test --test-reporter=spec "$here/$2" | tee "$said"
reason=$(sed -n 's/^ *﹣ .* # //p' "$said" | head -n 1)
[[ -z $reason ]] || skip "$reason"
