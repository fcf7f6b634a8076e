#!/usr/bin/env bash
# starter_test.sh FILE COMMAND ...: runs COMMAND, the check of an untouched starter, if the lab's FILE is one, that is, if
# its checksum is in starters.sha256. Exit status 77: the file was edited, as it is when the lab is being solved.
#   starter_test.sh --update     after a starter was changed on purpose
set -euo pipefail
here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
cd "$here/../.."

if [[ $1 == --update ]]; then
  for folder in labs/[0-9][0-9]_*/; do
    name=$(basename "$folder")
    sha256sum "$folder${name#*_}.cpp"
  done > "$here/starters.sha256"
  exit
fi

file=$1
shift
if ! grep -F "  $file" "$here/starters.sha256" | sha256sum --check --status; then
  if [[ -n ${DISTLAB_PRISTINE:-} ]]; then # as in CI, where no one solves labs
    echo "$file is not the starter of tests/grading/starters.sha256; after changing it: tests/grading/starter_test.sh --update"
    exit 1
  fi
  echo "skipped: $file is no longer the untouched starter"
  exit 77
fi
exec "$@"
