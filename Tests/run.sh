#!/bin/sh
# All tests, from a fresh clone. Further arguments go to `swift build` and `swift test`.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=Samples/prerequisites.sh
. Samples/prerequisites.sh
need_packages python3 python3-venv curl nginx-light rclone rsync zip xz-utils bzip2 zstd p7zip-full \
    libarchive-tools strace faketime time dpkg openssl

# The outside judges, in a private virtual environment.
venv=$PWD/.build-judges
if ! [ -e "$venv/complete" ]; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    for requirements in Tests/Interop/*/requirements.txt; do
        "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"
    done
    touch "$venv/complete"
fi
export ASSETVAULT_PYTHON="$venv/bin/python"

echo "== the command, as it is shipped"
unset ASSETVAULT_COMMAND
build_command
export ASSETVAULT_COMMAND="$assetvault"

echo "== unit and process tests"
swift build --build-tests "$@"
# One suite of tests after the other: they start servers, fill disks and kill processes, and have deadlines of their own.
suites=$(swift test list --skip-build "$@" 2>/dev/null | sed -n 's/^\([A-Za-z]*Tests\)\..*/\1/p' | sort -u)
[ -n "$suites" ] || { echo "no tests were found" >&2; exit 1; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=
for tests in $suites; do
    echo "-- $tests"
    # A suite that hangs fails, well within the time that CI gives. The others run all the same.
    { timeout -k 10 3600 swift test --skip-build --no-parallel "$@" --filter "^$tests\." 2>&1 ||
        echo "✘ $tests failed"; } | tee "$log.now"
    grep '^✘' "$log.now" >>"$log" || true
    grep -q "^✘ $tests failed" "$log.now" && failed="$failed $tests"
    rm -f "$log.now"
done
if [ -n "$failed" ]; then
    echo "== what failed"
    cat "$log"
    exit 1
fi

echo "== outside judges"
binaries=$(swift build --show-bin-path "$@")
ARCHIVE_PEER="$binaries/archive-peer" CRYPTO_PEER="$binaries/crypto-peer" KEYS_PEER="$binaries/keys-peer" \
    PYTHONDONTWRITEBYTECODE=1 "$ASSETVAULT_PYTHON" -m pytest -q -p no:cacheprovider Tests/Interop
sh Samples/hosting/check.sh

echo "== power loss"
sh Tests/PowerLoss/run.sh

echo "== the quickstart"
sh Samples/quickstart.sh

echo "== two teams"
sh Samples/teams.sh

echo "== the sample game"
sh Samples/maze.sh
