#!/bin/sh
# A short run of each fuzzer's target without libFuzzer, so that a target that no longer holds is seen early:
#
#     short.sh FUZZER SECONDS SEED
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# In memory where that can be: each input of some targets writes files.
TMPDIR=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
python3 "$here/seeds.py" "$TMPDIR/seeds"
for target in metadata archives rules answers stores; do
    "$1" "$target" --seconds "$2" --seed "$3" --dictionary "$here/json.dict" "$TMPDIR/seeds/$target"/*
done
