#!/usr/bin/env bash
# matrix.sh: prints the kill matrix, a table for each lab: which misconception each wrong answer shows, and which test
# kills it. It is read from the mutants themselves, where tests/grading/verdict.cpp reads it too.
#   matrix.sh --update    writes it into tests/README.md
#   matrix.sh --check     exit status 1: tests/README.md has another one
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
page=$here/../README.md
marker='<!-- the kill matrix: tests/mutants/matrix.sh --update -->'

field() { # FILE NAME
  sed -n "s|^// $2: *||p" "$1" | head -n 1
}

# The comment's first paragraph, in one line.
misconception() { # FILE
  sed -n '/^\/\/ Misconception:/,/^\/\/$/p' "$1" | sed 's|^// *||; s|^Misconception: *||' | paste -sd' ' - | sed 's/|/\\|/g; s/ *$//'
}

matrix() {
  local folder file
  for folder in "$here"/[0-9][0-9]_*/; do
    printf '\n### Lab %s\n\n| wrong answer | misconception | killed by |\n|---|---|---|\n' "$(basename "$folder")"
    for file in "$folder"*.cpp; do
      printf '| %s | %s | %s |\n' "$(basename "$file" .cpp)" "$(misconception "$file")" "$(field "$file" 'Killed by')"
    done
  done
}

fresh_page() {
  sed "/^${marker//\//\\/}\$/q" "$page"
  matrix
}

grep -qxF "$marker" "$page"
case ${1:-} in
  --update)
    text=$(fresh_page)
    printf '%s\n' "$text" > "$page"
    ;;
  --check)
    fresh_page | diff "$page" - || {
      echo "tests/README.md has not the kill matrix of tests/mutants: tests/mutants/matrix.sh --update"
      exit 1
    }
    ;;
  *) matrix ;;
esac
