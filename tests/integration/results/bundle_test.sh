#!/usr/bin/env bash
# ./distlab gradescope build, and what the autograder does when it is unpacked as Gradescope unpacks it. The checkout is a
# small one, and ./distlab in it a stand-in that does what FAKE says. Usage: bundle_test.sh ROOT DISTLAB_PROGRAM
# shellcheck disable=SC2016,SC2154,SC2317  # stand-ins expand their own text; names are shared with front_door_stubs.sh
set -uo pipefail
umask 022
source_root=$1 program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/integration/cli/front_door_stubs.sh
source "$source_root/tests/integration/cli/front_door_stubs.sh"

checkout() { # a checkout with a space in its name, known to git
  begin "$1"
  tree="$work/my checkout" calls=$work/calls unpacked="$work/auto grader"
  rm -rf "${work:?}"/*
  : > "$calls"
  mkdir -p "$tree"/{labs,solutions}/{01_first,12_twelfth} "$tree/lib/dist" "$tree/lib/tools" "$tree/tests"
  cp "$source_root/CMakePresets.json" "$tree/"
  cp -r "$source_root/lib/tools/gradescope" "$tree/lib/tools/"
  touch "$tree/lib/dist/dist.h" "$tree/solutions/01_first/first.cpp" "$tree/tests/a_test.cpp"
  echo '# Lab 01: the first' > "$tree/labs/01_first/README.md"
  echo '# Lab 12: the twelfth' > "$tree/labs/12_twelfth/README.md"
  touch "$tree/deleted.txt" "$tree/with a space.txt"
  ln -s 'with a space.txt' "$tree/link"
  cat > "$tree/distlab" << STUB
#!/usr/bin/env bash
echo "\$*" >> "$calls"
previous=
for argument in "\$@"; do
  [[ \$previous != --gradescope ]] || results=\$argument
  previous=\$argument
done
eval "\${FAKE:-:}"
STUB
  chmod +x "$tree/distlab"
  git -C "$tree" init -q
  git -C "$tree" add -A
  rm "$tree/deleted.txt"
  mkdir -p "$tree/build/dev" "$tree/.distlab"
  touch "$tree/build/dev/program" "$tree/.distlab/progress" "$tree/notes.txt"
}

build() { # leaves $status, $out, $err
  out=$(cd "$work" && DISTLAB_ROOT=$tree DISTLAB_BUILD=$tree/build/dev "$program" gradescope build "$@" 2> "$work/err")
  status=$?
  err=$(< "$work/err")
}

unpack() { # ZIP: as Gradescope does
  mkdir -p "$unpacked"/{source,submission,results}
  (cd "$unpacked/source" && cmake -E tar xf "$1")
  cp "$unpacked/source/run_autograder" "$unpacked/"
  echo '{"id": 1, "users": [{"name": "\"title\": \"Lab 9\""}], "assignment": {"title": "'"${title:-Lab 12}"'"}}' \
    > "$unpacked/submission_metadata.json"
}

run() { # SCRIPT: leaves $status, $out, $err
  (cd / && AUTOGRADER_ROOT=$unpacked FAKE=${FAKE:-} bash "$1" > "$work/out" 2> "$work/err" < /dev/null)
  status=$?
  out=$(tr -d '\0' < "$work/out")
  err=$(< "$work/err")
}

result() { # KEY: of results.json, as CMake reads it
  cmake -D "FILE=$unpacked/results/results.json" -D "KEYS=$1" -P "$source_root/lib/tools/gradescope/json_get.cmake" 2>&1
}
is_ungraded() { [[ $(result score) == 0 && $(result output) == 'ungraded: the grader failed, not you; tell your instructor.'*"$1"* ]]; }
is_in() { [[ -e $unpacked/source/$1 || -L $unpacked/source/$1 ]]; }

checkout 'the bundle has what git tracks, and no more'
build first -o 'a zip.zip'
expect 'exits 0' exits 0
expect 'names it and the lab' prints 'a zip.zip'
expect 'warns of what is in it' prints 'do not give it to students'
unpack "$work/a zip.zip"
for file in setup.sh run_autograder lab distlab/distlab distlab/link 'distlab/with a space.txt' distlab/solutions/01_first/first.cpp; do
  expect "$file is there" is_in "$file"
done
for file in distlab/notes.txt distlab/build distlab/.distlab distlab/.git distlab/deleted.txt; do
  expect "$file is not" not is_in "$file"
done
expect 'scripts can be run' test -x "$unpacked/source/setup.sh" -a -x "$unpacked/source/run_autograder" -a -x "$unpacked/source/distlab/distlab"
expect 'the lab is written down' [ "$(cat "$unpacked/source/lab")" = 1 ]
expect 'a seed is drawn and told' prints "random tests of seed $(cat "$unpacked/source/seed")"
for script in setup.sh run_autograder; do
  expect "$script is a script" bash -n "$unpacked/source/$script"
  ! command -v shellcheck > /dev/null || expect "$script has no flaw that shellcheck knows" shellcheck "$unpacked/source/$script"
done

checkout 'without git it has what is there, without builds'
rm -rf "$tree/.git"
build 12
expect 'exits 0' exits 0
unpack "$work/autograder_lab_12.zip"
expect 'all files' is_in distlab/notes.txt
expect 'links as links' test -L "$unpacked/source/distlab/link"
expect 'no build' not is_in distlab/build
expect 'no progress' not is_in distlab/.distlab

checkout 'what cannot be built says why'
build 7
expect 'no such lab: exits 2' exits 2
build 1 -o /nowhere/x.zip
expect 'no such folder: exits 1' exits 1
expect 'and says so' says 'distlab: --output /nowhere/x.zip: there is no folder /nowhere; make it: mkdir -p /nowhere'

checkout 'setup.sh sets up and grades the solution'
build 1 -o a.zip
unpack "$work/a.zip"
mkdir -p "$unpacked/source/distlab/build/dev/bin" && touch "$unpacked/source/distlab/build/dev/bin/lab_01_"{solution_runner,runner}
run "$unpacked/source/setup.sh"
expect 'exits 0' exits 0
expect 'sets up' called '^setup$'
expect 'grades the solution as a submission' called '^grade 1 --submission solutions/01_first/first.cpp$'
expect 'not that of other labs' not called 'grade 12'
expect 'closes the solutions to others' [ "$(stat -c %a "$unpacked/source/distlab/solutions/01_first/first.cpp")" = 600 ]
expect 'and what is built of them' [ "$(stat -c %a "$unpacked/source/distlab/build/dev/bin/lab_01_solution_runner")" = 600 ]
expect 'but not what graded code is run with' [ "$(stat -c %a "$unpacked/source/distlab/build/dev/bin/lab_01_runner")" = 644 ]
FAKE='[[ $1 != grade ]]' run "$unpacked/source/setup.sh"
expect 'fails when the solution is not right here' exits 1
expect 'and says so' says 'the solution of lab 1 does not get 100 points here'

checkout 'a submission is graded into results.json'
build 1 -o a.zip --seed 17
unpack "$work/a.zip"
for code in 0 1; do
  FAKE='echo "{\"score\": 50, \"output\": \"all\"}" > "$results"; exit '$code run "$unpacked/run_autograder"
  expect "exits 0 after $code" exits 0
  expect "leaves what distlab wrote" [ "$(result output)" = all ]
done
expect 'calls as it must' called "^grade 1 --submission $unpacked/submission --seed 17 --gradescope $unpacked/results/results.json\$"

checkout 'whatever goes wrong is ungraded, and said'
build 1 -o a.zip
unpack "$work/a.zip"
echo '{"score": 100, "output": "of another submission"}' > "$unpacked/results/results.json"
FAKE='printf "no \"memory\" \\\\ \033[1m\n\tsecond line 中文 \377\000"; exit 3' run "$unpacked/run_autograder"
expect 'exit code 3: exits 0' exits 0
expect 'says what happened' is_ungraded 'no "memory" \ [1m
second line'
FAKE='exit 1' run "$unpacked/run_autograder"
expect 'exit code 1 without a result' is_ungraded 'exit code 1'
FAKE='echo "{\"score\": 50, \"output\": \"so far\"}" > "$results"; kill -9 $$' run "$unpacked/run_autograder"
expect 'killed on the way' is_ungraded 'exit code 137'
FAKE='echo "{\"score\": 50, \"output\": \"so far\", \"extra_data\": {\"status\": \"unfinished\"}}" > "$results"; echo no memory; exit 1' run "$unpacked/run_autograder"
expect 'ended on the way with exit code 1' is_ungraded 'no memory'
FAKE='printf "%0100000d" 7; exit 3' run "$unpacked/run_autograder"
expect 'a long log is cut' test "$(wc -c < "$unpacked/results/results.json")" -lt 4000
rm "$unpacked/source/seed"
run "$unpacked/run_autograder"
expect 'a bundle without a seed' is_ungraded 'build the autograder again'
rm "$unpacked/source/lab"
run "$unpacked/run_autograder"
expect 'a bundle with a part missing' is_ungraded 'build the autograder again'

checkout 'an autograder for all labs takes the one that the title names'
build
expect 'exits 0' exits 0
unpack "$work/autograder.zip"
good='echo "{\"score\": 50, \"output\": \"all\"}" > "$results"'
FAKE=$good run "$unpacked/run_autograder"
expect 'Lab 12' called '^grade 12 '
for pair in 'Homework 3 (lab 01: ranks):1' 'LAB_12:12' 'Lab 00:0' 'lab 0, first steps:0'; do
  : > "$calls"
  title=${pair%:*} unpack "$work/autograder.zip"
  FAKE=$good run "$unpacked/run_autograder"
  expect "${pair%:*}" called "^grade ${pair##*:} "
done
title='Homework 3' unpack "$work/autograder.zip"
run "$unpacked/run_autograder"
expect 'a title without a lab' is_ungraded 'does not name a lab'
rm "$unpacked/submission_metadata.json"
run "$unpacked/run_autograder"
expect 'no metadata' is_ungraded 'cannot read the assignment'
: > "$calls"
mkdir "$unpacked/source/distlab/build"
run "$unpacked/source/setup.sh"
expect 'setup.sh tries all' called '^grade 12 --submission solutions/12_twelfth/twelfth.cpp$'

echo "$((checks - failures)) of $checks checks passed"
exit $((failures > 0))
