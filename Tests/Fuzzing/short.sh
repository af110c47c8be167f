#!/bin/sh
# A short run of each fuzzer's target without libFuzzer, so that a target that no longer holds is seen early. An input that
# stops the program is kept, and its path printed:
#
#     short.sh FUZZER SECONDS SEED
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# In memory where that can be: each input of some targets writes files.
folder=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 "$here/seeds.py" "$folder/seeds"
for target in metadata archives rules answers stores; do
    TMPDIR=$folder "$1" "$target" --seconds "$2" --seed "$3" --dictionary "$here/json.dict" "$folder/seeds/$target"/* || {
        code=$?
        kept=$(mktemp)
        cp "$folder/fuzzer-$target-"* "$kept"
        echo "look again: fuzzer $target $kept" >&2
        exit $code
    }
done
