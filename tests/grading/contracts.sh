#!/usr/bin/env bash
# contracts.sh: for each lab the table "sentence of the contract, wrong answers that break it, tests that kill these".
#   contracts.sh --update    writes CONTRACTS.md: sentences are those of the headers in labs/, tests those that the wrong
#                            answers name; which wrong answers belong to a sentence is kept from the page as it is
#   contracts.sh --check     exit status 1 if the page is not up to date, or if a sentence has no wrong answer
# Instead of wrong answers, a sentence may have a word in parentheses that says why there is none: "(a name)".
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
root=${here%/tests/grading}
page=$here/CONTRACTS.md

# PART<tab>SENTENCE for each sentence of a header's comments. A paragraph, an item of a list and a comment beside code end
# one. Examples are left out: they repeat what the sentences say.
sentences() { # FILE
  awk '
    function flush() {
      gsub(/[ \t]+/, " ", unit); sub(/^ /, "", unit); sub(/ $/, "", unit); gsub(/\|/, "\\|", unit)
      if (unit !~ /^Example: /)
        while (match(unit, /[.?] [A-Z(`"]/)) {
          say(substr(unit, 1, RSTART)); unit = substr(unit, RSTART + 2)
        }
      say(unit); unit = ""
    }
    function say(text) {
      if (text ~ /^Parts? [0-9].*[.]$/ && length(text) < 50 && text !~ / are /) { part = text; gsub(/[^0-9]/, "", part); part = substr(part, 1, 1) }
      else if (text ~ /[a-z]/ && text !~ /^(---|Example: |Lab [0-9]+[,:] |You write |Do not change this file|Not for this lab)/)
        print part "\t" text
    }
    BEGIN { part = "-" }
    /^ *\/\/( |$)/ {
      line = $0; sub(/^ *\/\/ ?/, "", line)
      if (line ~ /^ *- / || line == "") flush()
      sub(/^ *- /, "", line); unit = unit " " line
      next
    }
    { flush() }
    /[;,{(] +\/\/ / { unit = $0; sub(/^.*[;,{(] +\/\/ /, "", unit); flush() }
    END { flush() }' "$1"
}

table() { # FOLDER
  local folder=$1 header
  header=$root/labs/$folder/${folder#*_}.h
  printf '\n## Lab %s\n\n| part | sentence | wrong answers | killed by |\n|---|---|---|---|\n' "$folder"
  awk -F '\t' -v folder="$folder" '
    FILENAME == ARGV[1] { killer[$1] = $3; next }
    FILENAME == ARGV[2] {  # the page as it is
      if (/^## Lab /) here = $0 == "## Lab " folder
      if (here && /^\| / && split($0, cell, / \| /) >= 3) { sub(/^\| /, "", cell[1]); known[cell[1] "\t" cell[2]] = cell[3] }
      next
    }
    {
      wrong = known[$0]; tests = ""
      if (wrong ~ /^\(/) tests = "-"
      else {
        count = split(wrong, name, /, /)
        for (i = 1; i <= count; ++i) {
          test = name[i] ~ /^cheats\// ? "grading.cheat" : killer[name[i]]
          if (test == "") { print "no wrong answer of lab " folder " is called " name[i] > "/dev/stderr"; bad = 1 }
          if (index(", " tests ", ", ", " test ", ") == 0) tests = tests (tests == "" ? "" : ", ") test
        }
      }
      print "| " $1 " | " $2 " | " wrong " | " tests " |"
    }
    END { exit bad }' <("$here"/wrong_answers.sh list "$here/$folder/wrong_answers.cpp") "$page" <(sentences "$header")
}

fresh_page() {
  local folder
  cat << 'END'
# Contracts

For each sentence of the labs' contracts: wrong answers that break it, and the tests that kill these. A sentence that asks
for nothing, or that the whole grading rests on, says so in parentheses. `tests/grading/contracts.sh --update` writes all
columns but the third, which is written by hand.
END
  for folder in "$here"/[0-9][0-9]_*/; do
    table "$(basename "$folder")"
  done
}

[[ -e $page ]] || touch "$page"
case ${1:-} in
  --update)
    text=$(fresh_page)
    printf '%s\n' "$text" > "$page"
    ;;
  --check)
    fresh_page | diff "$page" - || {
      echo "tests/grading/CONTRACTS.md does not agree with the contracts: run tests/grading/contracts.sh --update"
      exit 1
    }
    if grep -n '|  |' "$page"; then
      echo "these sentences have no wrong answer: give each one, or say in parentheses why it has none"
      exit 1
    fi
    ;;
  *) fresh_page ;;
esac
