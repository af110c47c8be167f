#!/bin/sh
# Feeds made-up metadata to the reader, with libFuzzer and AddressSanitizer, and stops at the first finding.
#
#     Tests/Fuzzing/run.sh SECONDS [OPTION-OF-LIBFUZZER...]
#
# What is found is written to .build-fuzzing/findings. To see it again, without the fuzzer:
#
#     swift run metadata-fuzzer .build-fuzzing/findings/crash-...
set -eu
cd "$(dirname "$0")/../.."
seconds=$1
shift
scratch=$PWD/.build-fuzzing
# lld: the sanitizers' sections are too much for gold.
swift build -c release --product metadata-fuzzer --scratch-path "$scratch" \
    -Xswiftc -DFUZZING -Xswiftc -sanitize=fuzzer,address -Xswiftc -use-ld=lld
python3 Tests/Fuzzing/seeds.py "$scratch/seeds"
mkdir -p "$scratch/corpus" "$scratch/findings"
# Leaks are looked for at the end (by AddressSanitizer), not after each input: a task frees its memory after it has ended.
"$scratch/release/metadata-fuzzer" -detect_leaks=0 -max_total_time="$seconds" -dict=Tests/Fuzzing/metadata.dict -max_len=8192 \
    -timeout=10 -artifact_prefix="$scratch/findings/" -print_final_stats=1 "$@" "$scratch/corpus" "$scratch/seeds"
