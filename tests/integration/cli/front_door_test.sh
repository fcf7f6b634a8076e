#!/usr/bin/env bash
# Tests of the ./distlab script in a small checkout of its own, with stand-ins for the programs it calls: package
# managers, compiler, CMake, Ninja. They write down how they were called. Usage: front_door_test.sh ROOT
# shellcheck disable=SC1091,SC2016,SC2034,SC2154  # stand-ins expand their own text; names are shared with front_door_stubs.sh
set -uo pipefail
source_root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

source "${0%/*}/front_door_stubs.sh"

begin 'help needs no set-up and no build'
for argument in '' help --help -h; do
  door ${argument:+"$argument"}
  expect "exits 0 for '$argument'" exits 0
  expect 'says what to do first' prints './distlab demo'
  expect 'starts nothing' not called 'cmake|ninja|g\+\+'
done

begin 'a mistyped command, lab or option does not wait for a build'
mkdir -p "$tree/lib/tools/distlab/command_line"
printf '%s\n' 'add_command(app, exit_code, "grade", "Grade your code", grade_lab);' 'add_option("-s,--seed", seed);' \
  > "$tree/lib/tools/distlab/command_line/labs.cpp"
door grad 1
expect 'exits 2' exits 2
expect 'names the word' says 'there is no command "grad"; see ./distlab --help'
door grade 99
expect 'exits 2' exits 2
expect 'names the lab' says 'there is no lab "99"'
door grade --sed=5 1
expect 'exits 2' exits 2
expect 'names the option' says 'there is no option "--sed"; see ./distlab --help'
expect 'builds nothing' not called 'cmake|ninja'
door grade --seed=5 01 -- --sed
expect 'builds for a lab and an option that exist' called 'ninja -C .* distlab lab_01$'
: > "$calls"
FAKE_EXIT=2 door grade --sed 5 1
expect 'once it is built, the program refuses an option' exits 2
expect 'before the lab is built' not called 'cmake|ninja'

begin 'first start: configures, builds, runs with the arguments as they are'
door doctor --json 'two words'
expect 'exits 0' exits 0
expect 'runs the program' prints 'program doctor --json two words'
expect 'keeps standard output for the program' [ "$out" = 'program doctor --json two words' ]
expect 'configures the dev preset' called 'cmake --preset dev'
expect 'builds the program only' called 'ninja -C .*/my checkout/build/dev distlab$'
: > "$calls"
door doctor
expect 'second start does not configure' not called 'cmake'
expect 'nor look for packages' not called 'g\+\+|apt'
expect 'says nothing' silent

begin 'a long build says how long it takes and how far it has come'
stub nproc 'echo 4'
FAKE_LONG=1 door doctor
expect 'exits 0' exits 0
expect 'at once' says 'building for the first time, which takes about 2 min on 4 cores'
expect 'after two seconds, without a terminal as well' says 'distlab: building, 12 of 40 steps, '
expect 'in three lines, with the one about CMake' [ "$(wc -l < "$work/err")" = 3 ]
expect 'keeps standard output for the program' [ "$out" = 'program doctor' ]
stub nproc 'echo 1'
rm -rf "$tree/build"
door doctor
expect 'one core' says 'about 8 min on 1 core'

begin 'the exit code is the program'\''s'
FAKE_EXIT=7 door grade 1
expect 'exits 7' exits 7

begin 'works through a symbolic link from elsewhere'
ln -s "$tree/distlab" "$work/link"
door=$work/link door doctor
expect 'exits 0' exits 0
expect 'builds in the checkout' test -f "$tree/build/dev/build.ninja"

begin 'each command builds what it needs'
for pair in 'test:all' 'run 1:distlab lab_01' 'grade 01:distlab lab_01' 'grade 2 --solution:distlab lab_02_solution' \
  'grade --solution 1:distlab lab_01_solution' 'grade all:distlab lab_01 lab_02' 'submit -o x.zip 1:distlab lab_01' 'run group:distlab lab_02' 'grade 02_group:distlab lab_02' \
  'grade 99:distlab' 'grade nonsense:distlab' 'grade --seed 2 1:distlab lab_01' 'grade --csv 2 --markdown 2 --gradescope 2 1:distlab lab_01' 'hint 1:distlab' 'list:distlab' \
  'watch 1:distlab' 'trace 1:distlab lab_01' 'trace --test 1 group:distlab lab_02' 'trace 1.json:distlab' \
  'demo:distlab' 'run 08:distlab' 'class grade x --lab 2 -j 1:distlab lab_02' \
  'grade 02_group/:distlab lab_02' 'submit labs/02_group/:distlab lab_02' 'run --nproc 1 2:distlab lab_02' 'class grade --lab=1 2:distlab lab_01' 'class handout:distlab' 'bench all_reduce:distlab bench_rank'; do
  : > "$calls"
  read -r -a words <<< "${pair%%:*}"
  door "${words[@]}"
  expect "${pair%%:*} builds ${pair#*:}" called "ninja -C .* ${pair#*:}\$"
done

begin "a student's tree has no solutions"
rmdir "$tree/solutions"
door grade 1 --solution
expect 'exits 3' exits 3
expect 'says so' says 'this checkout has no solutions: it was made for students'
expect 'builds nothing' not called 'ninja'

begin 'labs that are begun'
mkdir -p "$tree/tests/grading"
echo 'a starter' > "$tree/labs/01_init/init.cpp"
echo 'a starter' > "$tree/labs/02_group/group.cpp"
(cd "$tree" && sha256sum labs/*/*.cpp > tests/grading/starters.sha256)
door grade begun --junit x.xml
expect 'none: the program only' called 'ninja -C .* distlab$'
echo 'more' >> "$tree/labs/02_group/group.cpp"
door grade begun
expect 'one' called 'ninja -C .* distlab lab_02$'

begin 'tests of one label need no more than those'
door doctor
printf 'build tests_%s: phony\n' unit concurrency quick > "$tree/build/dev/build.ninja"
door test --label unit
expect 'one' called 'ninja -C .* distlab tests_unit$'
door test --full --label 'unit|concurrency' -j 2
expect 'two' called 'ninja -C .* distlab tests_unit tests_concurrency$'
door test -j 3
expect 'without a choice: the quick ones' called 'ninja -C .* distlab tests_quick$'
: > "$calls"
door test --rest
expect 'the rest: everything' called 'ninja -C .* all$'
door test --label 'uni.*'
expect 'a pattern: everything' called 'ninja -C .* all$'

begin 'presets and options'
door --preset release doctor
expect 'takes --preset' called 'cmake --preset release'
DISTLAB_PRESET=asan door doctor
expect 'takes DISTLAB_PRESET' called 'cmake --preset asan'
door --preset=nonsense doctor
expect 'refuses an unknown preset' exits 2
expect 'and lists them' says 'dev, release, asan'
door --preset
expect 'refuses --preset without a name' exits 2
: > "$calls"
DIST_CUDA=OFF DIST_MPI=OFF door doctor
expect 'passes options to CMake' called 'cmake --preset dev .*-DDIST_CUDA=OFF -DDIST_MPI=OFF'
: > "$calls"
DIST_WRONG_ANSWERS=all door doctor
expect 'also how many wrong answers are tried' called 'cmake --preset dev .*-DDIST_WRONG_ANSWERS=all'
DIST_CUDA=OFF DIST_MPI=OFF door doctor
: > "$calls"
DIST_CUDA=OFF DIST_MPI=OFF door doctor
expect 'once' not called 'cmake --preset'
door doctor
expect 'an option stays until it is given again' not called 'cmake --preset'
sleep 0.01
touch "$tree/CMakePresets.json"
door doctor
expect 'changed presets configure again' called 'cmake --preset'

begin 'speed is measured in a release build'
door bench all_reduce
expect 'makes one' called 'cmake --preset release'
expect 'builds there' called 'ninja -C .*/build/release distlab bench_rank$'
expect 'says why it takes a while' says 'on 2 cores (timings need an optimised build: build/release)'
expect 'runs it' prints 'program bench all_reduce'
door --preset dev bench all_reduce
expect 'or another that was asked for' called 'ninja -C .*/build/dev distlab bench_rank$'
door bench --help
expect 'help needs no release build' called 'ninja -C .*/build/dev distlab bench_rank$'
door bench ddp --help
expect 'nor does help of a part' called 'ninja -C .*/build/dev distlab bench_rank$'

begin 'what cannot be measured is said before the release build'
FAKE_CHECK=2 door bench nonsense
expect 'unknown without any build' called 'ninja -C .*/build/release distlab bench_rank$'
fresh
door doctor
: > "$calls"
FAKE_CHECK=2 door bench nonsense
expect 'has the exit code of wrong usage' exits 2
expect 'builds nothing' not called 'ninja|cmake --preset'
for other in 3 127; do
  rm -rf "$tree/build/release"
  : > "$calls"
  FAKE_CHECK=$other door bench all_reduce --compare mpi
  expect "another build may have what this one lacks ($other)" called 'ninja -C .*/build/release distlab bench_rank$'
done
rm -rf "$tree/build/release"
: > "$calls"
mkdir -p "$tree/lib/tools/distlab"
touch -d 'now + 1 minute' "$tree/lib/tools/distlab/bench_command.cpp"
FAKE_CHECK=2 door bench nonsense
expect 'an older program is not asked' called 'ninja -C .*/build/release distlab bench_rank$'
: > "$calls"
FAKE_CHECK=2 door bench nonsense
expect 'nor is one asked where the release build is there' exits 0
door bench all_reduce --explain 4MiB
expect 'estimates need no release build' called 'ninja -C .*/build/dev distlab$'

begin 'a moved checkout is configured again'
door doctor
mv "$tree" "$work/moved"
tree=$work/moved
echo 'CMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere' > "$tree/build/dev/CMakeCache.txt"
: > "$calls"
door doctor
expect 'exits 0' exits 0
expect 'configures' called 'cmake --preset dev'
expect 'without the old cache' test ! -f "$tree/build/dev/CMakeCache.txt"

begin 'a compiler error is told in short by the program'
FAKE_BUILD_ERROR=1 door grade 1
expect 'exits 1' exits 1
expect 'asks it' says 'program explain-build'
expect 'not the raw log' not says 'error: expected'

begin 'a compiler error is all that is shown when the program cannot tell it'
FAKE_EXPLAIN=2 FAKE_BUILD_ERROR=1 door grade 1
expect 'exits 1' exits 1
expect 'shows the error' says 'a.cpp:7:1: error: expected ;'
expect 'names the log' says 'build.log'
expect 'not the command line' not says '-long -command'
expect 'not the progress of a short build' not says '12 of 40'
expect 'does not run the program' not prints 'program'

begin 'a CMake error is one message with its log'
FAKE_CONFIGURE_ERROR=1 door doctor
expect 'exits 1' exits 1
expect 'shows the error' says 'fmt is missing'
expect 'names the log' says 'configure.log'
expect 'hides the noise' not says '-- noise'
expect 'does not build' not called ninja

begin 'a CMake that dies without a word of its own is reported as well'
FAKE_CONFIGURE_DEATH=1 door doctor
expect 'exits 1' exits 1
expect 'shows the end of its log' says 'Bus error'
expect 'names the log' says 'configure.log'

begin 'missing packages, no rights: the one command to type'
without_headers fmt/core.h boost/context/fiber.hpp
stub apt-get ':'
stub sudo 'exit 1'
door doctor
expect 'exits 3' exits 3
expect 'names what is missing' says 'missing: fmt, Boost.Context'
expect 'gives the command' says 'sudo apt-get install -y libfmt-dev libboost-context-dev'
expect 'installs nothing' not called '^apt-get'
expect 'configures nothing' not called 'cmake --preset'

begin 'missing packages as root: installed without questions'
without_headers fmt/core.h
stub apt-get "printf '#!$bin/bash\necho gcc 12\n' > $bin/g++" # installing makes the header appear
stub apt-cache ':'
FAKE_UID=0 door doctor
expect 'exits 0' exits 0
expect 'installs' called 'apt-get .*install -y --no-install-recommends libfmt-dev$'
expect 'package lists that know it are not refreshed' not called 'apt-get .*update'
expect 'says so in a line' says 'installing fmt'
FAKE_UID=0 DISTLAB_NO_INSTALL=1 door setup
expect 'set-up alone says that all is there' says 'everything needed is installed'

begin 'package lists are refreshed when they do not know a package'
without_headers fmt/core.h
stub apt-get "printf '#!$bin/bash\necho gcc 12\n' > $bin/g++"
stub apt-cache 'exit 100'
FAKE_UID=0 door doctor
expect 'exits 0' exits 0
expect 'updates' called 'apt-get .*update'

begin 'missing packages with sudo that asks for no password'
without_headers gtest/gtest.h
stub apt-get "printf '#!$bin/bash\necho gcc 12\n' > $bin/g++"
stub apt-cache ':'
stub sudo '[[ $2 == true ]] || { shift; exec "$@"; }'
door test
expect 'exits 0' exits 0
expect 'installs through sudo' called 'sudo -n env DEBIAN_FRONTEND=noninteractive apt-get .*install'

begin 'DISTLAB_NO_INSTALL is respected'
without_headers fmt/core.h
stub apt-get ':'
DISTLAB_NO_INSTALL=1 FAKE_UID=0 door doctor
expect 'exits 3' exits 3
expect 'root needs no sudo in the command' says '  apt-get install -y libfmt-dev'
expect 'installs nothing' not called '^apt-get'

begin 'a failing installation is one line with its log'
without_headers fmt/core.h
stub apt-get 'echo "E: Unable to locate package libfmt-dev"; exit 100'
stub apt-cache ':'
FAKE_UID=0 door doctor
expect 'exits 3' exits 3
expect 'quotes apt' says 'E: Unable to locate package libfmt-dev'
expect 'names the log' says 'setup.log'
expect 'in two lines' [ "$(wc -l < "$work/err")" = 2 ]

begin 'other distributions'
without_headers fmt/core.h CLI/CLI.hpp
stub dnf ':'
door doctor
expect 'Fedora: its own names' says 'sudo dnf install -y fmt-devel cli11-devel'
rm "$bin/dnf"
stub pacman ':'
door doctor
expect 'Arch: its own names' says 'sudo pacman -S --needed fmt cli11'
rm "$bin/pacman"
door doctor
expect 'others: a list' says 'their names in Debian: libfmt-dev libcli11-dev'
expect 'exit 3 each time' exits 3

begin 'a missing optional package stops nothing'
rm "$bin/mpirun"
door doctor
expect 'exits 0' exits 0
expect 'says what it goes without' says 'continuing without Open MPI'
door doctor
expect 'once' silent
begin 'nor is one that cannot be installed'
rm "$bin/ccache"
stub apt-get 'exit 100'
stub apt-cache ':'
FAKE_UID=0 door doctor
expect 'exits 0' exits 0
begin 'DIST_MPI=OFF does not ask for Open MPI'
rm "$bin/mpirun"
DIST_MPI=OFF door doctor
expect 'says nothing of it' not says 'Open MPI'

begin 'tools that are too old are told apart from missing ones'
FAKE_CMAKE=3.22.1 DISTLAB_NO_INSTALL=1 door doctor
expect 'exits 3' exits 3
expect 'old CMake' says 'CMake 3.22.1 is too old, 3.25 is needed'
stub g++ 'cat > /dev/null; echo gcc 9'
DISTLAB_NO_INSTALL=1 door doctor
expect 'old compiler' says 'g++ is gcc 9: distlab needs g++ 12 or clang 16'
stub g++-13 'cat > /dev/null; echo gcc 13'
door doctor
expect 'a newer one beside it is taken' called 'cmake --preset dev -DCMAKE_CXX_COMPILER=g\+\+-13'
expect 'exits 0' exits 0

: > "$calls"
door --preset release doctor
expect 'also in a build that set-up is not run for' called 'cmake --preset release -DCMAKE_CXX_COMPILER=g\+\+-13'
echo 'CMAKE_HOME_DIRECTORY:INTERNAL=/elsewhere' > "$tree/build/dev/CMakeCache.txt"
touch "$tree/CMakePresets.json"
: > "$calls"
door doctor
expect 'and when the cache of a tree that was moved is dropped' called 'cmake --preset dev -DCMAKE_CXX_COMPILER=g\+\+-13'

begin 'a tool that was removed later is noticed'
door doctor
rm "$bin/ninja"
DISTLAB_NO_INSTALL=1 door doctor
expect 'exits 3' exits 3
expect 'names it' says 'missing: Ninja'

begin 'two at once: one waits for the other'
door doctor
: > "$work/slow"
(FAKE_SLOW=1 door doctor) &
sleep 0.1
FAKE_SLOW=1 door doctor
wait $!
expect 'says that it waits' says 'another distlab is building'
expect 'builds one after the other' [ "$(cut -d' ' -f1 "$work/slow" | paste -sd' ' -)" = 'begin end begin end' ]

begin "the file of a lab is not there"
rm "$tree/labs/02_group/group.cpp"
: > "$calls"
door grade 2
expect 'exits 3' exits 3
expect 'says how to get it back' says 'labs/02_group/group.cpp is missing; to get the untouched file: ./distlab reset 02'
expect 'builds nothing' not called ninja

begin 'a tree that cannot be written'
rm -rf "$tree/build"
echo 'a file' > "$tree/build"
door doctor
expect 'exits 3' exits 3
expect 'says where' says "cannot write in $tree/build"

echo "$((checks - failures)) of $checks checks passed"
exit $((failures > 0))
