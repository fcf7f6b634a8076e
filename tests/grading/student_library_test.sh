#!/usr/bin/env bash
# student_library_test LIBRARY FULL: the library of graded code has no algorithm of a collective, no transport and no
# simulator, and the full one has what is looked for.
set -euo pipefail
library=$1 full=$2
foreign='dist::(ring_|tree_|bruck|binomial|recursive_|rabenseifner|pairwise|run_collective|HostCollectives|AlgorithmChooser|net::Engine|net::Mesh|sim::(Scheduler|Network|Simulation|Session)|DistributedDataParallel|DeviceMesh|data::DistributedSampler)'
names() { nm -C --defined-only "$1" | cut -c 20-; }
if ! grep -qE "^$foreign" <<< "$(names "$full")"; then
  echo "the full library has none of these names either: $foreign"
  exit 1
fi
if found=$(grep -E "(^|[ ,<(])$foreign" <<< "$(names "$library")"); then
  echo "graded code would be linked with:"
  head -n 20 <<< "$found"
  exit 1
fi
