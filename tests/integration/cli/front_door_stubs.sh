# Sourced by front_door_test.sh. Needs: $source_root, $work (an empty folder).
# shellcheck shell=bash disable=SC2016,SC2154,SC2034,SC2317
failures=0 checks=0

# --- a checkout with a space in its name, and a PATH of which we know everything -------------------------------
lay_out() {
  mkdir -p "$tree/lib/tools" "$tree/labs/01_init" "$tree/labs/02_group" "$tree/solutions" "$bin"
  cp "$source_root/distlab" "$source_root/CMakePresets.json" "$tree/"
  cp "$source_root/lib/tools/setup.sh" "$tree/lib/tools/"
  touch "$tree/labs/01_init/init.cpp" "$tree/labs/02_group/group.cpp"
  : > "$calls"
  local tool
  for tool in bash env cat chmod cksum cut date dirname find flock grep head id mkdir mktemp mv paste printf readlink rm sed sha256sum sleep \
    sort tail touch uname; do
    ln -s "$(command -v $tool)" "$bin/$tool"
  done
  stub id 'echo ${FAKE_UID:-1000}'
  stub g++ 'cat > /dev/null 2>&1; echo gcc 12'
  stub cmake '[[ $1 == --version ]] && { echo "cmake version ${FAKE_CMAKE:-3.25.1}"; exit; }
    [[ -z ${FAKE_CONFIGURE_ERROR:-} ]] || { printf "%s\n" "-- noise" "CMake Error at x:1:" "  fmt is missing" "" "Call Stack (most recent call first):"; exit 1; }
    [[ -z ${FAKE_CONFIGURE_DEATH:-} ]] || { echo "Bus error"; exit 135; }
    : > build/$2/build.ninja'
  stub ninja 'mkdir -p "$2/bin"; printf "#!%s/bash\n[[ -z \${DISTLAB_CHECK_ONLY:-} ]] || exit \${FAKE_CHECK:-0}\necho program \"\$@\"\n[[ \$1 != explain-build ]] || exit \${FAKE_EXPLAIN:-0}\nexit \${FAKE_EXIT:-0}\n" "'"$bin"'" > "$2/bin/distlab"; chmod +x "$2/bin/distlab"
    echo "@@ 12/40 Building CXX object a.cpp.o"
    [[ -z ${FAKE_LONG:-} ]] || sleep 3.5
    [[ -z ${FAKE_BUILD_ERROR:-} ]] || { printf "%s\n" "FAILED: a.cpp.o" "g++ -long -command -line" "a.cpp:7:1: error: expected ;" "ninja: build stopped: subcommand failed."; exit 1; }
    [[ -z ${FAKE_SLOW:-} ]] || { echo "begin $$" >> "'"$work"'/slow"; sleep 0.3; echo "end $$" >> "'"$work"'/slow"; }'
  ln -s "$bin/cmake" "$bin/ctest"
  local optional
  for optional in mpicxx mpirun ip make ccache bwrap; do stub $optional ':'; done
}

# The same for every case: laid out once, then copied, as a few hundred processes make it.
fresh() {
  rm -rf "${work:?}"/* # leaves .first
  tree="$work/my checkout" bin=$work/bin calls=$work/calls
  if [[ ! -d $work/.first ]]; then
    lay_out
    mkdir "$work/.first"
    cp -a "$work"/* "$work/.first"
  else
    cp -a "$work/.first/." "$work"
  fi
  unset CXX CMAKE_PREFIX_PATH DIST_MPI DIST_CUDA DIST_NCCL DIST_ONEDNN DIST_ZLIB DIST_WRONG_ANSWERS DIST_WERROR DISTLAB_PRESET \
    DISTLAB_NO_INSTALL
}

stub() { # NAME BODY: writes its arguments to $calls, then does BODY
  rm -f "$bin/$1"
  printf '#!%s\necho "%s $*" >> "%s"\n%s\n' "$bin/bash" "$1" "$calls" "$2" > "$bin/$1"
  chmod +x "$bin/$1"
}

# A g++ that does not find these headers.
without_headers() {
  local text='' header
  for header in "$@"; do text+="echo 'MISSING \"$header\"';"; done
  stub g++ "case \"\$*\" in *-std*) cat > /dev/null; $text ;; *) echo gcc 12 ;; esac"
}

door() { # runs the script; leaves $status, $out, $err
  out=$(cd "$work" && PATH=$bin "$bin/bash" "${door:-$tree/distlab}" "$@" 2> "$work/err" < /dev/null)
  status=$?
  err=$(< "$work/err")
}

# --- assertions ---------------------------------------------------------------------------------------------------
expect() { # TEXT CONDITION...
  local text=$1
  shift
  checks=$((checks + 1))
  if ! "$@"; then
    failures=$((failures + 1))
    printf 'FAILED: %s: %s\n  status %s\n  out: %s\n  err: %s\n  calls: %s\n' "$case_name" "$text" "$status" "$out" \
      "$err" "$(< "$calls")"
  fi
}
exits() { [[ $status == "$1" ]]; }
says() { [[ $err == *"$1"* ]]; }
silent() { [[ -z $err ]]; }
prints() { [[ $out == *"$1"* ]]; }
called() { grep -qE -- "$1" "$calls"; }
not() { ! "$@"; }
case_name=''
begin() {
  case_name=$1
  fresh
}

