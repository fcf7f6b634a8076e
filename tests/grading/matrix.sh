#!/usr/bin/env bash
# matrix.sh: prints the kill matrix, a table per lab: which misconception each wrong answer shows, and which test kills it.
#   matrix.sh --tier [COMMIT]          prints what a build of the commit (HEAD) tries, one "FOLDER NAME" per line
#   matrix.sh --prove [NN|cheats ...]  tries all wrong answers of these labs, or of all labs, in build/dev. A lab where
#                                      each is caught is recorded in proved.sha256: from then on, builds try a sample
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
root=${here%/tests/grading}
record=$here/proved.sha256
build=$root/build/dev

matrix() {
  local file
  for file in "$here"/[0-9][0-9]_*/wrong_answers.cpp; do
    printf '\n## Lab %s\n\n| wrong answer | misconception | killed by |\n|---|---|---|\n' "$(basename "${file%/*}")"
    "$here"/wrong_answers.sh list "$file" |
      awk -F '\t' '{ gsub(/\|/, "\\|"); printf "| %s | %s | %s |\n", $1, $2, $3 }'
  done
}

tier() { # NAME=VALUE
  cmake -D "$1" -P "$root/tests/grading/tier.cmake" 2>&1
}

folders() { # NN|cheats ...: the folders' names, of all when none is given
  local word
  [[ $# -gt 0 ]] || set -- '[0-9][0-9]' cheats
  for word in "$@"; do
    if [[ $word == cheats ]]; then
      echo cheats
    elif ! (cd "$here" && compgen -G "${word}_*" | sort); then
      echo "there is no lab $word: give two digits, or cheats" >&2
      return 1
    fi
  done
}

# Everything ran, nothing was skipped, nothing failed.
all_passed() { # PATTERN COUNT TARGET
  local results=$build/proof.xml counts
  cmake --build "$build" --target "$3" > "$build/proof.log" 2>&1 || return 1
  ctest --test-dir "$build" -j "$(nproc)" -R "$1" --output-on-failure --output-junit "$results" \
    >> "$build/proof.log" 2>&1 || return 1
  counts=$(grep -oE -m 4 '\b(tests|failures|disabled|skipped)="[0-9]+"' "$results" | head -n 4 | paste -sd' ' -)
  [[ $counts == "tests=\"$2\" failures=\"0\" disabled=\"0\" skipped=\"0\"" ]]
}

prove() { # FOLDER
  local folder=$1 number=${1%%_*} digest start=$SECONDS wrong_answers
  digest=$(tier "DIGEST=$folder")
  wrong_answers=$(tier COMMIT= | grep -c "^$folder ")
  if [[ $folder == cheats ]]; then
    all_passed '^grading\.cheat\.' "$wrong_answers" cheats
  else
    all_passed "^grading\\.$number\\.(solution\$|wrong\\.)" $((wrong_answers + 1)) "lab_${number}_wrong"
  fi || {
    echo "not proved: $folder (see build/dev/proof.log)"
    return 1
  }
  [[ $digest == "$(tier "DIGEST=$folder")" ]] || {
    echo "not proved: $folder was changed while it was tried"
    return 1
  }
  { grep -v "  $folder\$" "$record" || true; echo "$digest  $folder"; } | sort -k 2 > "$record.new"
  mv "$record.new" "$record"
  echo "proved: $folder, $wrong_answers wrong answers in $((SECONDS - start)) s"
}

prove_all() { # NN|cheats ...
  local chosen folder status=0
  chosen=$(folders "$@")
  mkdir -p "$build"
  trap 'cmake -DDIST_WRONG_ANSWERS=tier "$build" > /dev/null' EXIT # restores the default, also after Ctrl-C
  (cd "$root" && cmake --preset dev -DDIST_WRONG_ANSWERS=all) > "$build/proof.log" 2>&1 || {
    echo "CMake could not configure the build (see build/dev/proof.log)"
    return 1
  }
  for folder in $chosen; do
    prove "$folder" || status=1
  done
  return "$status"
}

case ${1:-} in
  --tier) tier "COMMIT=${2:-$(git -C "$root" rev-parse HEAD)}" ;;
  --prove) prove_all "${@:2}" ;;
  *) matrix ;;
esac
