#!/usr/bin/env bash
# make_class.sh OUT COUNT [LAB]: a class that hands in a lab (default: 7), always the same: right answers, starters, the
# wrong answers of tests/grading, cheats, what does not compile, and what archives, editors and people make of a
# file and of its name.
#   OUT/class      one submission per entry
#   OUT/expected   for each "VERDICT<tab>NAME<zero byte>", where VERDICT is
#                    N              that many points
#                    killed:TEST    fewer than all, and TEST fails
#                    refused:WORDS  nothing to run, for a reason with these words
# The first sixteen are one of each kind (a right answer takes longest, so its kinds come together); the next seven do not
# compile or have odd names. Then come the other wrong answers and the cheats (some take minutes), with right answers and
# starters between them.
set -euo pipefail
out=$1 count=$2
number=$(printf %02d "$((10#${3:-7}))")
root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.." && pwd)
lab=$(basename "$root"/labs/"$number"_*)
file=${lab#*_}.cpp
solution=$root/solutions/$lab/$file starter=$root/tests/grading/starters/$lab.cpp
[[ -f $starter ]] || starter=$root/labs/$lab/$file
wrong_answers=$root/tests/grading/$lab/wrong_answers.cpp
class=$out/class
mkdir -p "$class"
: > "$out/expected"
made=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

wanted() { ((made < count)); }
expect() { # VERDICT NAME
  printf '%s\t%s\0' "$1" "$2" >> "$out/expected"
  made=$((made + 1))
}
zip() { # ZIP FOLDER FILES...
  local to=$1 folder=$2
  shift 2
  (cd "$folder" && cmake -E tar cf "$to" --format=zip -- "$@")
}

# As a file, a folder, a zip file with it, a zip file with a folder; in turn.
hand_in() { # VERDICT NAME FILE
  wanted || return 0
  local name=$2 text=$3
  rm -rf "$work/in" && mkdir -p "$work/in/labs/$lab"
  cp -- "$text" "$work/in/labs/$lab/$file"
  case $((made % 4)) in
    0) cp -- "$text" "$class/$name.cpp" ;;
    1) cp -r -- "$work/in/labs" "$class/$name" ;;
    2) zip "$class/$name.zip" "$work/in/labs/$lab" "$file" ;;
    3) zip "$class/$name.zip" "$work/in" labs ;;
  esac
  expect "$1" "$name"
}
as_is() { # VERDICT NAME EXTENSION COMMAND...: the command makes the entry, whose path is its last argument
  wanted || return 0
  local verdict=$1 name=$2 extension=$3
  shift 3
  "$@" "$class/$name$extension"
  expect "$verdict" "$name"
}

wrong_answer() { # NAME<tab>TEST
  "$root"/tests/grading/wrong_answers.sh whole "$wrong_answers" "${1%$'\t'*}" > "$work/wrong.cpp"
  hand_in "killed:${1#*$'\t'}" "wrong ${1%$'\t'*}" "$work/wrong.cpp"
}
# The cheats are written for lab 07. In another lab, the starter's functions call what needs nothing of lab 07.
cheat() { # FILE
  if [[ $number == 07 ]]; then
    cat "$1" > "$work/cheat.cpp"
    grep -qF '// Whole:' "$1" || cat "$root/tests/cheats/frame.txt" >> "$work/cheat.cpp"
  else
    {
      sed "s/all_gather_all_reduce[.]h/${file%.cpp}.h/" "$1"
      cat << 'END'
#include <stdexcept>

#include <unistd.h>

static void tried() {
  if (getuid() < 60000) throw std::runtime_error("a cheat runs only as a user that owns nothing");
  auto two = dist::zeros({2});
  cheat(two, two);
}
END
      sed 's/DIST_TODO(/tried(); DIST_TODO(/' "$starter"
    } > "$work/cheat.cpp"
  fi
  hand_in 0 "cheat $(basename "$1" .cpp)" "$work/cheat.cpp"
}

truncated_zip() { zip "$work/whole.zip" "$(dirname "$solution")" "$file" && head -c 200 "$work/whole.zip" > "$1"; }
empty_zip() { printf 'PK\005\006\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' > "$1"; }
climbing_zip() { mkdir -p "$work/up/here" && cp "$solution" "$work/up/$file" && zip "$1" "$work/up/here" "../$file"; }
zip_of_zeros() { mkdir -p "$work/zeros" && truncate -s 50M "$work/zeros/$file" && zip "$1" "$work/zeros" "$file"; }
fifty_megabytes() { cp "$solution" "$1" && head -c 50000000 /dev/zero | tr '\0' ' ' >> "$1"; }
utf16() { iconv -f UTF-8 -t UTF-16 "$solution" > "$1"; }
latin1() { { cat "$solution" && printf '// \374ber\n'; } > "$1"; }
windows() { { printf '\357\273\277' && sed 's/$/\r/' "$solution"; } > "$1"; }
nothing() { : > "$1"; }
two_copies() { mkdir -p "$1/old" "$1/new" && latin1 "$1/old/$file" && cp "$1/old/$file" "$1/new/"; }
two_of_them() { two_copies "$1" && echo '// newer' >> "$1/new/$file"; }
as_browsers_call_it() { mkdir "$1" && windows "$1/${file%.cpp} (1).cpp"; }
link() { ln -s "$solution" "$1"; }
folder_with_link() { mkdir "$1" && ln -s "$solution" "$1/$file"; }
report_only() { mkdir "$1" && printf '%%PDF-1.4\n\0\n' > "$1/report.pdf"; }
starter_file() { cp -- "$starter" "$1"; }
right_file() { cp -- "$solution" "$1"; }
right_folder() { mkdir -p "$1/a folder/(2)/$lab" && cp -- "$solution" "$1/a folder/(2)/$lab/"; }
half_of_it() { head -c "$(($(stat -c %s "$solution") * 2 / 3))" "$solution" > "$1"; }
a_word_too_much() { sed 's/^namespace lab {/&\nretrun;/' "$solution" > "$1"; }
another_lab() { cp -- "$root/labs/09_ring_all_reduce/ring_all_reduce.cpp" "$1"; }
a_header_of_its_own() { { echo '#include "helpers.h"' && cat "$solution"; } > "$1"; }

# Which wrong answers and cheats a small class has does not depend on their names.
shuffled() { cksum "$@" | sort -n | cut -d ' ' -f 3-; }
mapfile -t wrong < <("$root"/tests/grading/wrong_answers.sh list "$wrong_answers" | cut -f 1,3 | sort | shuf --random-source="$wrong_answers")
if [[ $number == 07 ]]; then
  mapfile -t cheats < <(shuffled "$root"/tests/cheats/*.cpp | grep -v -e '/exits\.cpp$' -e '/verdict\.cpp$')
else
  cheats=()
  for each in forges_records prints_passed redefines_write exits_before_main reads_the_judge writes_results its_own_main \
    kills_its_siblings leaves_a_daemon preloads redefines_googletest declares_the_inside includes_the_inside; do
    cheats+=("$root/tests/cheats/$each.cpp")
  done
fi

as_is 100 'windows, BOM, saved twice' '' as_browsers_call_it
as_is 0 $'-n "new\nline" $(id) \'<b>=1+1' .cpp starter_file
wrong_answer "${wrong[0]}"
cheat "$root/tests/cheats/exits.cpp"
as_is 'refused:damaged' 'truncated zip' .zip truncated_zip
as_is "refused:$file is not in" 'empty zip' .zip empty_zip
as_is 'refused:leads out of the zip' 'climbing zip' .zip climbing_zip
as_is 'refused:larger than' 'zip of zeros' .zip zip_of_zeros
as_is 'refused:at most' 'fifty megabytes' .cpp fifty_megabytes
as_is 'refused:UTF-16' 'utf 16' .cpp utf16
as_is 'refused:does not link' 'nothing in it' .cpp nothing
as_is 'refused:hand in one' 'two of them' '' two_of_them
as_is 'refused:is a link' 'a link' '' link
as_is 'refused:is a link' 'a link in a folder' '' folder_with_link
as_is 'refused:was not handed in' 'a report' '' report_only
as_is 100 'Zoë 王芳, two copies in Latin-1' '' two_copies
as_is 'refused:does not compile' 'half of it' .cpp half_of_it
as_is 'refused:does not compile' 'a word too much' .cpp a_word_too_much
as_is 'refused:so it is the file of lab 9' "another lab's file" .cpp another_lab
as_is 'refused:does not compile' 'a header of its own' .cpp a_header_of_its_own
as_is 100 "$(printf 'long%.0s' {1..55})" .cpp right_file
as_is 100 'عائشة & "Ø" 100 %s' .cpp right_file
as_is 100 'in a folder ' '' right_folder
wrong=("${wrong[@]:1}")
for ((i = 1; made < count; i++)); do
  if ((${#wrong[@]} > 0)); then
    wrong_answer "${wrong[0]}"
    wrong=("${wrong[@]:1}")
  fi
  if ((${#cheats[@]} > 0)); then
    cheat "${cheats[0]}"
    cheats=("${cheats[@]:1}")
  fi
  if ((${#wrong[@]} + ${#cheats[@]} == 0 || i % 2 == 0)); then
    if ((i % 3 == 0)); then hand_in 0 "starter $i" "$starter"; else hand_in 100 "right $i" "$solution"; fi
  fi
done
