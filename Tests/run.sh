#!/bin/sh
# The tests, from a fresh clone: 25 to 60 minutes on two cores. Arguments go to `swift build`. Long tests run a sample,
# which follows from ASSETVAULT_SEED; Tests/nightly.sh runs all of them.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=Samples/prerequisites.sh
. Samples/prerequisites.sh
need_swift
# shellcheck disable=SC2086 # a list of words
need_packages $build_packages python3 python3-venv curl nginx-light rclone rsync zip xz-utils bzip2 zstd p7zip-full \
    libarchive-tools strace time dpkg openssl man-db jose

# The outside judges, in a private virtual environment, while the build runs.
venv=$PWD/.build-judges
install_judges() {
    requirements=$(printf 'Tests/Interop/%s/requirements.txt ' archive audit crypto keys pack tuf)
    # shellcheck disable=SC2086 # a list of words
    wanted=$(cat $requirements)
    [ "$(cat "$venv/complete" 2>/dev/null)" = "$wanted" ] && return
    rm -rf "$venv"
    python3 -m venv "$venv"
    for file in $requirements; do
        "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$file"
    done
    echo "$wanted" >"$venv/complete"
}
install_judges &
judges=$!
trap 'kill "$judges" 2>/dev/null || true' EXIT

echo "== build"
swift build --build-tests "$@"
wait "$judges"
trap - EXIT
binaries=$(swift build --show-bin-path "$@")

ASSETVAULT_SEED=${ASSETVAULT_SEED:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}
echo "== tests, with ASSETVAULT_SEED=$ASSETVAULT_SEED"
export ASSETVAULT_SEED ASSETVAULT_PYTHON="$venv/bin/python" PYTHONDONTWRITEBYTECODE=1
export ASSETVAULT_COMMAND="${ASSETVAULT_COMMAND:-$binaries/assetvault}"
export ARCHIVE_PEER="$binaries/archive-peer" CRYPTO_PEER="$binaries/crypto-peer" KEYS_PEER="$binaries/keys-peer"
judge() { echo "exec \"\$ASSETVAULT_PYTHON\" -m pytest -q -p no:cacheprovider Tests/Interop/$1"; }
limit=600
[ -z "${ASSETVAULT_WHOLE:-}" ] || limit=7200
python3 Tests/suites.py "$binaries/AssetVaultPackageTests.xctest" --limit "$limit" \
    --also judges-archive "$(judge archive)" --also judges-crypto "$(judge crypto)" \
    --also judges-keys "$(judge keys)" --also judges-pack "$(judge pack)" \
    --also judges-audit "$(judge audit)" \
    --also power-loss "sh Tests/PowerLoss/run.sh --states 12" \
    --also fuzzing "sh Tests/Fuzzing/short.sh '$binaries/fuzzer' 20 '$ASSETVAULT_SEED'" \
    --also command-reference 'python3 Tests/command-reference.py "$ASSETVAULT_COMMAND"' \
    --also manual 'python3 Tests/command-reference.py "$ASSETVAULT_COMMAND" --check-man' \
    --also public-surface "python3 Tests/public-surface.py '$binaries'" \
    --also hosting "sh Samples/hosting/check.sh" --also maze "sh Tests/typecheck.sh '$binaries' Samples/maze/Sources/maze/*.swift" \
    --also requests "sh Tests/typecheck.sh '$binaries' -parse-as-library Samples/requests/Sources/requests/*.swift"
