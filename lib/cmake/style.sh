#!/usr/bin/env bash
# style.sh format|format_check|tidy: see DistStyle.cmake. Runs in the repository's root.
set -euo pipefail
verb=$1

sources() { git ls-files -z -- '*.cpp' '*.h' '*.cu' '*.cuh'; }
need() {
  command -v "$1" >/dev/null && return
  echo "style.sh: $1 is missing: ./distlab setup --dev installs it" >&2
  exit 3
}
jobs=$(nproc)

case $verb in
  format)
    need clang-format
    sources | xargs -0 -r -P "$jobs" -n 16 clang-format -i
    ;;
  format_check)
    need clang-format
    need shellcheck
    sources | xargs -0 -r -P "$jobs" -n 16 clang-format --dry-run --Werror
    git ls-files -z -- '*.sh' distlab .ci/run lib/tools/gradescope/run_autograder | xargs -0 -r shellcheck -x
    ;;
  tidy)
    # Each file by itself: a build tree of its own that is configured and never built. CUDA sources are nvcc's.
    need clang-tidy
    build=build/tidy
    cmake --preset dev -B "$build" -D CMAKE_UNITY_BUILD=OFF > /dev/null
    git ls-files -- 'lib/*.cpp' 'labs/*.cpp' | while read -r file; do
      if grep -qF "/$file\"" "$build/compile_commands.json"; then printf '%s\0' "$file"; fi
    done | xargs -0 -r -P "$jobs" -n 1 clang-tidy --quiet -p "$build" --warnings-as-errors='*' 2> \
      >(grep -v 'warnings\? generated\|Suppressed\|Use -header-filter' >&2)
    ;;
  *)
    echo "style.sh: unknown verb $verb" >&2
    exit 2
    ;;
esac
