#!/bin/sh
# The engine's tests under ThreadSanitizer and under AddressSanitizer, one after the other: `run.sh [thread|address]`.
# Takes about half an hour, two builds of everything included.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=Samples/prerequisites.sh
. Samples/prerequisites.sh
need_swift
# shellcheck disable=SC2086
need_packages $build_packages strace

# A finding ends the process that it is in, with a code that no test expects.
export TSAN_OPTIONS="halt_on_error=1 exitcode=99 suppressions=$PWD/Tests/Sanitizing/thread.txt"
export ASAN_OPTIONS="detect_leaks=0 exitcode=99 detect_stack_use_after_return=0"
for sanitizer in ${1:-thread address}; do
    echo "== $sanitizer"
    swift build --build-tests --sanitize="$sanitizer" --scratch-path ".build-$sanitizer"
    ASSETVAULT_COMMAND=$(swift build --sanitize="$sanitizer" --scratch-path ".build-$sanitizer" --show-bin-path)/assetvault
    export ASSETVAULT_COMMAND
    swift test --skip-build --no-parallel --sanitize="$sanitizer" --scratch-path ".build-$sanitizer" \
        --filter '^(AssetVaultTests|SealedPackTests|VaultFileSystemTests|VaultTransportTests)\.' \
        --filter 'CommandTests\.(SharedStoreHistoryTests|RandomlyKilledFetchTests|InterruptedFetchTests|NetworkFaultTests)'
done
