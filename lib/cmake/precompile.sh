#!/bin/sh
# precompile.sh COMMAND ...: runs the compiler. Beside a precompiled header it puts the checksum that ccache tells its
# versions apart by (CCACHE_PCH_EXTSUM): else ccache reads all its 120 MB for every source that includes it.
"$@" || exit
for word; do
  case $previous:$word in
    -o:*.gch) sha256sum < "$word" > "$word.sum" ;;
  esac
  previous=$word
done
