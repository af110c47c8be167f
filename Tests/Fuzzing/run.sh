#!/bin/sh
# Feeds made-up input to what reads bytes from outside, with libFuzzer and AddressSanitizer, and stops at the first finding.
#
#     Tests/Fuzzing/run.sh SECONDS [TARGET...]
#
# Without targets each gets so many seconds: metadata, archives, rules (settings of a vault), answers (of an HTTP host) and
# stores. What is found is written to .build-fuzzing/findings/TARGET. To see it again, without libFuzzer:
#
#     swift run fuzzer TARGET .build-fuzzing/findings/TARGET/crash-...
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=Samples/prerequisites.sh
. Samples/prerequisites.sh
need_swift
# shellcheck disable=SC2086,SC2154 # a list of words, from prerequisites.sh
need_packages $build_packages python3
seconds=$1
shift
[ $# -gt 0 ] || set -- metadata archives rules answers stores
scratch=$PWD/.build-fuzzing
# lld: the sanitizers' sections are too much for gold.
swift build -c release --product fuzzer --scratch-path "$scratch" \
    -Xswiftc -DFUZZING -Xswiftc -sanitize=fuzzer,address -Xswiftc -use-ld=lld
python3 Tests/Fuzzing/seeds.py "$scratch/seeds"
# In memory where that can be: each input of some targets writes files.
TMPDIR=$(mktemp -d -p /dev/shm 2>/dev/null || mktemp -d)
export TMPDIR
trap 'rm -rf "$TMPDIR"' EXIT
for target in "$@"; do
    echo "== $target"
    mkdir -p "$scratch/corpus/$target" "$scratch/findings/$target"
    # Leaks are not looked for: a task frees its memory after it has ended.
    "$scratch/release/fuzzer" "$target" -detect_leaks=0 -max_total_time="$seconds" -dict=Tests/Fuzzing/json.dict \
        -max_len=8192 -timeout=10 -artifact_prefix="$scratch/findings/$target/" -print_final_stats=1 \
        "$scratch/corpus/$target" "$scratch/seeds/$target"
done
