#!/bin/sh
# Feeds made-up input to what reads bytes from outside, with libFuzzer and AddressSanitizer; a target stops at its first finding.
#
#     Tests/Fuzzing/run.sh SECONDS [TARGET...]
#
# Without targets each gets this number of seconds: metadata, archives, rules (settings of a vault), answers (of an HTTP host) and
# stores. What is found is written to .build-fuzzing/findings/TARGET, what libFuzzer said beside it. To see it again, without libFuzzer:
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
# One core each. Leaks are not looked for, also not at the end: a task frees its memory after it has ended.
export ASAN_OPTIONS=detect_leaks=0
# shellcheck disable=SC2016 # the inner shell expands them
printf '%s\n' "$@" | scratch=$scratch seconds=$seconds xargs -P "$(nproc)" -I TARGET sh -euc '
    findings=$scratch/findings/TARGET
    mkdir -p "$scratch/corpus/TARGET" "$findings"
    "$scratch/release/fuzzer" TARGET -detect_leaks=0 -max_total_time="$seconds" -dict=Tests/Fuzzing/json.dict \
        -max_len=8192 -timeout=10 -artifact_prefix="$findings/" -print_final_stats=1 \
        "$scratch/corpus/TARGET" "$scratch/seeds/TARGET" >"$findings.log" 2>&1 || {
        echo "== TARGET: a finding"
        cat "$findings.log"
        exit 1
    }
    echo "== TARGET: no finding"
    grep "^stat::number_of_executed_units\|^stat::peak_rss_mb" "$findings.log"
'
