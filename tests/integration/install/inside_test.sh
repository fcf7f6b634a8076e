#!/usr/bin/env bash
# inside_test.sh SOURCE COMPILER DISTRUN compile|run: another project builds distlab as a part of itself. compile: in both ways, up to
# the objects of its programs; run: with the library, which takes minutes.
set -euo pipefail
source=$1 compiler=$2 distrun=$3 what=$4
here=$(cd "${0%/*}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
quietly() { "$@" > "$work/log" 2>&1 || { tail -n 40 "$work/log"; fail "$*"; }; }
configure() { # HOW
  quietly cmake -S "$here/inside" -B "$work/$1" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DHOW="$1" -DDISTLAB="$source" \
    -DFETCHCONTENT_FULLY_DISCONNECTED=ON -DFETCHCONTENT_SOURCE_DIR_DISTLAB="$source" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
    -DCMAKE_UNITY_BUILD=ON
}

if [[ $what == compile ]]; then
  for how in add_subdirectory FetchContent; do
    echo "$how"
    configure "$how"
    targets=$(ninja -C "$work/$how" -t targets all)
    mapfile -t objects < <(sed -nE 's/^(CMakeFiles\/(consumer|own_backend)\.dir\/.*\.o): .*/\1/p' <<< "$targets")
    ((${#objects[@]} == 2)) || fail "objects of two programs were expected: ${objects[*]}"
    quietly ninja -C "$work/$how" "${objects[@]}"
    ! grep -E '^(lab_|unit_|tests_|grading)' <<< "$targets" || fail 'labs or tests are built, too'
  done
else
  configure FetchContent
  quietly cmake --build "$work/FetchContent" --target consumer own_backend
  check() { # PROGRAM WORDS
    local said
    said=$("$distrun" --standalone --nproc-per-node 3 "$work/FetchContent/$1" 2>&1) || fail "$1: $said"
    grep -q "$2" <<< "$said" || fail "$1 printed: $said"
  }
  check consumer 'consumer: world size 3, sum 6'
  check own_backend 'counting: sum 6 after 1 call'
fi
echo 'passed'
