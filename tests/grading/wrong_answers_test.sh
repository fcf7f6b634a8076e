#!/usr/bin/env bash
# A test of wrong_answers.sh, on a small lab of its own.
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
lab=$tree/tests/grading/05_small
mkdir -p "$lab" "$tree/solutions/05_small" "$tree/out"
cp "$here/wrong_answers.sh" "$tree/tests/grading"
echo 'int f() { return 1; }' > "$tree/solutions/05_small/small.cpp"
cat > "$lab/wrong_answers.cpp" << 'END'
// All of them.
#include "small.h"

//// shared helper
// For several.

int help() { return 3; }

//// plain
// Misconception: one is two, or
// \n is a line's end.
// Replaces: f, Class kept as RightClass
// Uses: helper
// Killed by: Part1.f
// Diagnosis: none

int f() { return help(); }

//// before_it
// Misconception: a macro.
// Killed by: Part2.g
// Diagnosis: two

#define g 2
#include SOLUTION
END
reader() { "$tree/tests/grading/wrong_answers.sh" "$1" "$lab/wrong_answers.cpp" "${@:2}"; }
compare() { diff <(printf '%s\n' "$2") - || { echo "$1"; exit 1; }; }
code() { sed '/^#include "small.h"/,$!d' "$1"; }

reader list | compare "the list" $'plain\tone is two, or \\n is a line\'s end.\tPart1.f\tnone
before_it\ta macro.\tPart2.g\ttwo'
reader split "$tree/out"
code "$tree/out/plain.cpp" | compare "what replaces functions" '#include "small.h"

#define f right_f
#define Class RightClass
#include "solutions/05_small/small.cpp"
#undef f
#undef Class

namespace lab {

int help() { return 3; }

}  // namespace lab

namespace lab {

int f() { return help(); }

}  // namespace lab'
code "$tree/out/before_it.cpp" | compare "what comes before the solution" '#include "small.h"

#define g 2
#include "solutions/05_small/small.cpp"'
grep -E '^// (Killed by|Diagnosis): ' "$tree/out/plain.cpp" | compare "what verdict.cpp reads" '// Killed by: Part1.f
// Diagnosis: none'
[[ $(cd "$tree/out" && echo *) == 'before_it.cpp plain.cpp' ]]
reader whole before_it | sed '/^#include "small.h"/,$!d' | compare "a file to hand in" '#include "small.h"

#define g 2
int f() { return 1; }'

touch -d @0 "$tree"/out/*
sed -i 's/return help/\n  return 1 + help/' "$lab/wrong_answers.cpp"
reader split "$tree/out"
find "$tree/out" -newermt @1 -name '*.cpp' -printf '%f\n' | compare "an edit changes one source" plain.cpp

refused() { # MESSAGE SED_SCRIPT
  cp "$lab/wrong_answers.cpp" "$tree/kept"
  sed -i "$2" "$lab/wrong_answers.cpp"
  ! reader split "$tree/out" 2> "$tree/said" || { echo "not refused: $1"; exit 1; }
  compare "$1" "tests/grading/05_small/wrong_answers.cpp: $1" < "$tree/said"
  mv "$tree/kept" "$lab/wrong_answers.cpp"
}
refused 'plain has no "// Killed by: "' '/Killed by: Part1/d'
refused 'there are two of the name plain' 's/before_it/plain/'
refused '"//// before it" is not "//// NAME"' 's/before_it/before it/'
refused 'plain uses nothing, but there is no "//// shared nothing"' 's/Uses: helper/Uses: nothing/'
if said=$(reader whole other 2>&1) || [[ $said != *'there is no wrong answer other' ]]; then
  echo "no wrong answer other: $said"
  exit 1
fi
