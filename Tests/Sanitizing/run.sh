#!/bin/sh
# The tests of everything that handles memory or runs at the same time, under ThreadSanitizer and under AddressSanitizer,
# one after the other: `run.sh [thread|address]`. Takes about an hour, two builds of everything included.
set -eu
cd "$(dirname "$0")/../.."
# shellcheck source=Samples/prerequisites.sh
. Samples/prerequisites.sh
need_swift
# shellcheck disable=SC2086
need_packages $build_packages python3 strace

# Modules; of the commands' tests none that runs the command with the tests' clock: AddressSanitizer waits for itself when another
# library comes before it.
modules='AssetVaultTests|SealedPackTests|VaultFileSystemTests|VaultTransportTests'
commands='SharedStoreHistoryTests|RandomlyKilledFetchTests|InterruptedFetchTests|NetworkFaultTests'
for sanitizer in ${1:-thread address}; do
    echo "== $sanitizer"
    scratch=$PWD/.build-$sanitizer
    swift build --build-tests --sanitize="$sanitizer" --scratch-path "$scratch"
    binaries=$(swift build --sanitize="$sanitizer" --scratch-path "$scratch" --show-bin-path)
    export ASSETVAULT_COMMAND="$binaries/assetvault"
    # What calls C, and has no other threads.
    [ "$sanitizer" = thread ] || modules="$modules|VaultAuthoringTests|VaultCryptoTests"

    # A process with a finding ends with a code that no test expects. A test may still take that for the end that it waits
    # for, or print nothing of it: all reports are looked for below.
    rm -rf "$scratch/reports"
    mkdir "$scratch/reports"
    common="exitcode=99 log_path=$scratch/reports/report"
    export TSAN_OPTIONS="$common halt_on_error=0 suppressions=$PWD/Tests/Sanitizing/thread.txt"
    # Swift allocates often; long traces of every allocation would take half of the time.
    export ASAN_OPTIONS="$common detect_leaks=0 detect_stack_use_after_return=0 malloc_context_size=5"
    code=0
    # ResourceTests measure memory, of which the sanitizers take more.
    python3 Tests/suites.py "$binaries/AssetVaultPackageTests.xctest" --limit 3600 \
        --only "^($modules)(\.|\$)|^CommandTests\.($commands)\$" --skip '\.ResourceTests$' || code=$?
    find "$scratch/reports" -type f -exec cat {} + >&2
    [ "$code" = 0 ] && [ -z "$(ls "$scratch/reports")" ] || exit 1
done
