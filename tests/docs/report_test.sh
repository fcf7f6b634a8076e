#!/usr/bin/env bash
# report_test.sh DISTLAB ROOT: lab 00's handout gives a wrong version of Part 2 and shows the report about it. A file with
# that version, in the place that the starter has for it, still gets this report, in every language.
set -euo pipefail
distlab=$(readlink -f "$1")
cd "$2/labs/00_first_steps"
export NO_COLOR=1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
grep -F '  labs/00_first_steps/' "$2/tests/grading/starters.sha256" | (cd "$2" && sha256sum --check --status) || {
  echo "skipped: the lab's file is no longer the untouched starter, whose lines the report names"
  exit 77
}

# A block is what is between two lines of ```; the one that is asked for has a line that begins that way.
block() { # PAGE WORDS
  awk -v words="$2" '/^```/ { if (inside && found) exit; inside = !inside; text = ""; next }
       inside { text = text $0 "\n"; if (index($0, words) == 1) found = 1 }
       END { printf "%s", text }' "$1"
}
for page in README.md README.zh-CN.md; do
  awk -v joined='  dist::init_process_group();\n  return fmt::format("rank {} of {}", dist::get_rank(), dist::get_world_size());' \
      -v wrong="$(block "$page" '  if (dist::get_rank')" \
      '/^std::string introduce/ { print; print joined; skip = 1; next }
       /^float sum_of_all/ { print wrong; drop = 1; next }
       /^}/ { if (drop) { drop = 0; next } skip = 0 }
       !skip && !drop' first_steps.cpp > "$folder/first_steps.cpp"
  "$distlab" grade 0 --seed 1 --submission "$folder/first_steps.cpp" > "$folder/said" 2>&1 || true
  diff <(block "$page" 'part 2') <(sed -n '/^part 2/,/about the rank/p' "$folder/said") || {
    echo "$page: the report about its wrong version is what is marked >, and not what is marked <"
    exit 1
  }
done
