# ./distlab sources this file when it does not know yet whether everything needed is installed. It finds what is missing
# in less than a second, and installs it where that is allowed. Its caller must define $root, say(), die() and
# show_progress().
# shellcheck shell=bash

# The packages that the build needs, then those that it uses if they are installed:
#   name | header, or command | Debian and Ubuntu | Fedora | Arch
required_parts='
C++20 compiler|cmd:@compiler|g++|gcc-c++|gcc
CMake >= 3.25|cmd:@cmake|cmake|cmake|cmake
Ninja|cmd:ninja|ninja-build|ninja-build|ninja
GoogleTest|hdr:gtest/gtest.h|libgtest-dev|gtest-devel|gtest
fmt|hdr:fmt/core.h|libfmt-dev|fmt-devel|fmt
CLI11|hdr:CLI/CLI.hpp|libcli11-dev|cli11-devel|cli11
nlohmann-json|hdr:nlohmann/json.hpp|nlohmann-json3-dev|json-devel|nlohmann-json
Boost.Context|hdr:boost/context/fiber.hpp|libboost-context-dev|boost-devel|boost
'
optional_parts='
Open MPI|cmd:@mpi|libopenmpi-dev openmpi-bin|openmpi-devel|openmpi
zlib|hdr:zlib.h|zlib1g-dev|zlib-devel|zlib
oneDNN|hdr:dnnl.hpp|libdnnl-dev|onednn-devel|onednn
ip (two-hosts test)|cmd:ip|iproute2|iproute|iproute2
make (links on all cores)|cmd:make|make|make|make
ccache|cmd:ccache|ccache|ccache|ccache
bubblewrap (trusted grades)|cmd:bwrap|bubblewrap|bubblewrap|bubblewrap
'
developer_parts='
clang-format|cmd:clang-format|clang-format|clang-tools-extra|clang
clang-tidy|cmd:clang-tidy|clang-tidy|clang-tools-extra|clang
ShellCheck|cmd:shellcheck|shellcheck|ShellCheck|shellcheck
pkg-config|cmd:pkg-config|pkg-config|pkgconf-pkg-config|pkgconf
Doxygen|cmd:doxygen|doxygen|doxygen|doxygen
'
# Only `./distlab slides` and the tests of its pages need these.
slides_parts='
node >= 20.19|cmd:@node|nodejs|nodejs|nodejs
npm|cmd:npm|npm|nodejs-npm|npm
Chromium|cmd:@chromium|chromium|chromium|chromium
'
# Only the tests of real launchers (tests/integration/engines) need these.
engine_parts='
MPICH|cmd:mpiexec.hydra|mpich|mpich|mpich
Slurm|cmd:slurmctld|slurm-wlm|slurm-slurmctld slurm-slurmd|slurm-llnl
MUNGE|cmd:munged|munge|munge|munge
PyTorch (torchrun)|cmd:@torch|python3-torch|python3-torch|python-pytorch
'
# Only CI's build by clang needs it.
clang_parts='
clang >= 16|cmd:@clang|clang-16|clang|clang
'

compiler='' compiler_note='' cmake_note='' node_note=''

# Prints "gcc 12" or "clang 16" for a compiler that works, otherwise nothing.
compiler_kind() {
  printf '#ifdef __clang__\nclang __clang_major__\n#else\ngcc __GNUC__\n#endif\n' |
    "$1" -x c++ -E -P - 2> /dev/null | tail -n 1
}

# Sets $compiler to the first compiler that is new enough. It tries $CXX, the usual names, then names with a version.
find_compiler() {
  local candidate kind version
  compiler='' compiler_note=''
  for candidate in ${CXX:+"$CXX"} c++ g++ clang++ g++-{15,14,13,12} clang++-{20,19,18,17,16}; do
    command -v "$candidate" > /dev/null || continue
    read -r kind version <<< "$(compiler_kind "$candidate")" || true
    if [[ $kind == gcc && $version -ge 12 || $kind == clang && $version -ge 16 ]]; then
      compiler=$candidate
      return 0
    fi
    compiler_note=${compiler_note:-"$candidate is ${kind:-not a compiler that works} ${version:-}: distlab needs g++ 12 or clang 16, or newer"}
  done
  return 1
}

has_clang() {
  local candidate kind version
  for candidate in clang++-{16,17,18,19,20} clang++; do
    command -v "$candidate" > /dev/null || continue
    read -r kind version <<< "$(compiler_kind "$candidate")" || true
    [[ $kind == clang && $version -ge 16 ]] && return
  done
  return 1
}

# A package of the distribution is the distribution's python3's, which need not be the first one.
has_torch() {
  local python
  for python in python3 /usr/bin/python3; do
    "$python" -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)' 2> /dev/null && return
  done
  return 1
}

cmake_is_new_enough() {
  local version
  cmake_note=''
  command -v cmake > /dev/null || return 1
  version=$(cmake --version | sed -n 's/^cmake version \([0-9.]*\).*/\1/p')
  [[ $(printf '%s\n' 3.25 "$version" | sort -V | head -n 1) == 3.25 ]] && return 0
  cmake_note="CMake $version is too old, 3.25 is needed: install a newer one from cmake.org, or a newer release of your system"
  return 1
}

node_is_new_enough() {
  local version
  node_note=''
  command -v node > /dev/null || return 1
  version=$(node --version) version=${version#v}
  [[ $(printf '%s\n' 20.19 "$version" | sort -V | head -n 1) == 20.19 ]] && return 0
  node_note="node $version is too old, 20.19 is needed: install a newer one from nodejs.org, or a newer release of your system"
  return 1
}

# Prints the headers, of those named on standard input, that one run of the preprocessor cannot find.
missing_headers() {
  local header folder includes=() folders
  IFS=: read -r -a folders <<< "${CMAKE_PREFIX_PATH:-}"
  for folder in "${folders[@]}"; do includes+=("-I$folder/include"); done
  while read -r header; do
    printf '#if !__has_include(<%s>)\nMISSING %s\n#endif\n' "$header" "\"$header\""
  done | "$compiler" -x c++ -std=c++20 "${includes[@]}" -E -P - 2> /dev/null | sed -n 's/^MISSING "\(.*\)"/\1/p'
}

part_is_missing() { # CHECK HEADERS_MISSING
  case $1 in
    cmd:@compiler) [[ -z $compiler ]] ;;
    cmd:@cmake) ! cmake_is_new_enough ;;
    cmd:@mpi) ! { command -v mpicxx && command -v mpirun; } > /dev/null && ! [[ ${DIST_MPI:-AUTO} =~ ^([Oo][Ff][Ff]|[Nn][Oo]?|[Ff][Aa][Ll][Ss][Ee]|0)$ ]] ;;
    cmd:@node) ! node_is_new_enough ;;
    cmd:@torch) ! has_torch ;;
    cmd:@clang) ! has_clang ;;
    cmd:@chromium) ! { command -v chromium || command -v chromium-browser || command -v google-chrome; } > /dev/null ;;
    cmd:*) ! command -v "${1#cmd:}" > /dev/null ;;
    hdr:*) [[ -z $compiler ]] || grep -qxF "${1#hdr:}" <<< "$2" ;;
  esac
}

# Prints the lines of a table whose package is missing.
missing_parts() {
  local line check headers
  find_compiler || true
  headers=''
  if [[ -n $compiler ]]; then
    headers=$(cut -d'|' -f2 <<< "$1" | sed -n 's/^hdr://p' | missing_headers)
  fi
  while IFS= read -r line; do
    [[ -n $line ]] || continue
    check=$(cut -d'|' -f2 <<< "$line")
    if part_is_missing "$check" "$headers"; then printf '%s\n' "$line"; fi
  done <<< "$1"
}

names_of() { cut -d'|' -f1 <<< "$1" | paste -sd, - | sed 's/,/, /g'; }
packages_of() { cut -d'|' -f"$2" <<< "$1" | paste -sd' ' -; }

# Prints the command that installs the packages on this system, or nothing if we do not know the system.
install_command() {
  local become=''
  [[ $(id -u) == 0 ]] || become='sudo '
  if command -v apt-get > /dev/null; then
    echo "${become}apt-get install -y $(packages_of "$1" 3)"
  elif command -v dnf > /dev/null; then
    echo "${become}dnf install -y $(packages_of "$1" 4)"
  elif command -v pacman > /dev/null; then
    echo "${become}pacman -S --needed $(packages_of "$1" 5)"
  fi
}

# Prints "env" as root, "sudo -n env" if sudo needs no password, and nothing when we may not install packages.
privilege() {
  [[ -z ${DISTLAB_NO_INSTALL:-} ]] && command -v apt-get > /dev/null || return 0
  if [[ $(id -u) == 0 ]]; then
    echo env
  elif command -v sudo > /dev/null && sudo -n true 2> /dev/null; then
    echo sudo -n env
  fi
}

# apt_install PRIVILEGE PACKAGE... refreshes the package lists only if they are missing or out of date.
apt_install() {
  local -a run packages
  local log=${root:?}/build/setup.log
  read -r -a run <<< "$1"
  shift
  packages=("$@")
  run+=(DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120)
  local -a install=("${run[@]}" install -y --no-install-recommends "${packages[@]}")
  {
    apt-cache show "${packages[@]}" > /dev/null 2>&1 || "${run[@]}" update
    "${install[@]}" || { "${run[@]}" update && "${install[@]}"; }
  } 2>&1 < /dev/null | show_progress installing > "$log"
}

explain_missing() { # LINES
  local command='' installable=$1
  # If a program is too old, the system's package is that old version: installing it again would not help.
  [[ -z $cmake_note ]] || installable=$(grep -vF '|cmd:@cmake|' <<< "$installable" || true)
  [[ -z $node_note ]] || installable=$(grep -vF '|cmd:@node|' <<< "$installable" || true)
  [[ -z $installable ]] || command=$(install_command "$installable")
  say "missing: $(names_of "$1")"
  for note in "$compiler_note" "$cmake_note" "$node_note"; do [[ -z $note ]] || say "$note"; done
  if [[ -n $command ]]; then
    say 'type this, then run the same ./distlab command again:'
    printf '\n  %s\n\n' "$command" >&2
  elif [[ -n $installable ]]; then
    say "install them with your system's package manager; their names in Debian: $(packages_of "$installable" 3)"
  fi
}

# set_up [--dev] [--slides] [--engines] [--clang] returns when everything required is installed; otherwise it says what to do and exits with 3.
set_up() {
  local required=$required_parts missing wanted privilege
  [[ $(uname -s) == Linux ]] || die 3 "distlab runs on Linux, but this is $(uname -s); on Windows use WSL 2, on a Mac a Linux container"
  [[ " $* " != *' --dev '* ]] || required+=$developer_parts
  [[ " $* " != *' --slides '* ]] || required+=$slides_parts
  [[ " $* " != *' --engines '* ]] || required+=$engine_parts
  [[ " $* " != *' --clang '* ]] || required+=$clang_parts
  missing=$(missing_parts "$required")
  wanted=$(missing_parts "$optional_parts")
  privilege=$(privilege)

  if [[ -n $missing$wanted && -n $privilege ]]; then
    local all=$missing${missing:+${wanted:+$'\n'}}$wanted
    local -a packages
    read -r -a packages <<< "$(packages_of "$all" 3)"
    say "installing $(names_of "$all"), which takes a minute or two"
    if ! apt_install "$privilege" "${packages[@]}" && [[ -n $missing ]]; then
      # An optional package that does not exist here must not prevent the installation of the others.
      read -r -a packages <<< "$(packages_of "$missing" 3)"
      apt_install "$privilege" "${packages[@]}" ||
        die 3 "apt-get could not install ${packages[*]}: $(grep -m1 '^E:' "$root/build/setup.log" || echo 'see the log') (log: $root/build/setup.log)"
    fi
    missing=$(missing_parts "$required")
    wanted=$(missing_parts "$optional_parts")
  fi
  # The checks above ran in subshells, so repeat them here to keep what they found out about compiler and CMake.
  find_compiler || true
  cmake_is_new_enough || true
  [[ $missing != *cmd:@node* ]] || node_is_new_enough || true
  if [[ -n $missing ]]; then
    explain_missing "$missing"
    exit 3
  fi
  [[ -z $wanted ]] || say "continuing without $(names_of "$wanted") (./distlab doctor says what you lose)"
}
