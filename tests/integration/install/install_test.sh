#!/usr/bin/env bash
# install_test.sh BUILD_DIR COMPILER LIBDIR SANITIZERS
set -euo pipefail
build=$1 compiler=$2 libdir=$3 sanitize=${4:+-fsanitize=$4}
here=$(cd "${0%/*}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
quietly() { "$@" > "$work/log" 2>&1 || { cat "$work/log"; fail "$*"; }; }

quietly cmake --install "$build" --prefix "$work/first"
mv "$work/first" "$work/a prefix" # nothing in it may remember where it was
prefix="$work/a prefix"
for part in bin/distlab bin/distrun include/dist/dist.h include/dist/core/tensor.h "$libdir/libdist.so" \
  "$libdir/pkgconfig/distlab.pc" "$libdir/cmake/distlab/distlabConfig.cmake"; do
  [[ -e $prefix/$part ]] || fail "$part was not installed"
done
! grep -rIl "$build" "$prefix" || fail 'these installed files name the build tree'

echo 'installed programs find their library'
quietly env -u LD_LIBRARY_PATH "$prefix/bin/distlab" --version
quietly env -u LD_LIBRARY_PATH "$prefix/bin/distrun" --help

check_consumer() { # PROGRAM
  local said
  said=$("$prefix/bin/distrun" --standalone --nproc-per-node 3 "$1" 2>&1) || fail "$1: $said"
  grep -q 'consumer: world size 3, sum 6' <<< "$said" || fail "$1 printed: $said"
}

echo 'find_package(distlab)'
quietly cmake -S "$here/consumer" -B "$work/by cmake" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" \
  -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS="$sanitize -Wall -Wextra -Werror"
quietly cmake --build "$work/by cmake"
check_consumer "$work/by cmake/consumer"

plugin=$prefix/$libdir/libdist_mpi.so
if [[ -e $build/lib/libdist_mpi.so ]]; then
  echo 'the mpi backend, a plugin beside the library'
  alone=("$prefix/bin/distrun" --standalone --nproc-per-node 1 "$work/by cmake/consumer")
  said=$(DIST_BACKEND=mpi "${alone[@]}" 2>&1) || fail "by the mpi backend: $said"
  grep -q 'consumer: world size 1, sum 1' <<< "$said" || fail "by the mpi backend: $said"
  mv "$plugin" "$work/"
  ! said=$(DIST_BACKEND=mpi "${alone[@]}" 2>&1) || fail 'without its plugin there was an mpi backend'
  grep -q 'libdist_mpi.so cannot be loaded: .*; build distlab again' <<< "$said" || fail "without the plugin: $said"
  mv "$work/libdist_mpi.so" "$plugin"
fi

echo 'a newer version than there is, is refused'
sed 's/distlab 0.1/distlab 0.99/' "$here/consumer/CMakeLists.txt" > "$work/CMakeLists.txt"
cp "$here/consumer/consumer.cpp" "$work/"
if cmake -S "$work" -B "$work/refused" -G Ninja -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$prefix" \
  > "$work/log" 2>&1; then
  fail 'find_package(distlab 0.99) was satisfied'
fi

if command -v pkg-config > /dev/null; then
  echo 'pkg-config distlab'
  export PKG_CONFIG_PATH="$prefix/$libdir/pkgconfig"
  eval "flags=($(pkg-config --cflags --libs distlab))"
  # shellcheck disable=SC2154,SC2086  # flags comes from eval; without a sanitizer it is empty
  quietly "$compiler" -std=c++20 $sanitize "$here/consumer/consumer.cpp" -o "$work/by_pkg_config" "${flags[@]}" \
    "-Wl,-rpath,$prefix/$libdir"
  check_consumer "$work/by_pkg_config"
fi
echo 'passed'
