#!/bin/sh
# Measures the command against the tools that people use instead, on the assets of a real game.
# Arguments go to the benchmarks program: --json FILE, --rounds N, --only WORK.
set -eu
repository=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=Samples/prerequisites.sh
. "$repository/Samples/prerequisites.sh"
need_swift
# shellcheck disable=SC2086 # a list of words
need_packages $build_packages zstd age openssl

cache=$repository/.build-benchmarks
corpus=$cache/supertuxkart-data
if ! [ -e "$corpus.complete" ]; then
    echo "fetching the corpus: the Debian package supertuxkart-data, 630 MB" >&2
    apt-cache show supertuxkart-data >/dev/null 2>&1 || $(command -v sudo || true) apt-get update -qq >&2
    download=$cache/download
    rm -rf "$corpus" "$download"
    mkdir -p "$download"
    (cd "$download" && apt-get download -qq -o APT::Sandbox::User=root supertuxkart-data) >&2
    dpkg-deb -x "$download"/supertuxkart-data_*.deb "$corpus"
    find "$corpus" -type l -delete # the command refuses links
    basename "$download"/supertuxkart-data_*.deb .deb >"$corpus.complete"
    rm -rf "$download"
fi

command=${ASSETVAULT_COMMAND:-}
if [ -z "$command" ]; then
    swift build -c release --package-path "$repository" --product assetvault >&2
    command=$(swift build -c release --package-path "$repository" --show-bin-path)/assetvault
fi
set -- --command "$command" --corpus "$corpus" --corpus-name "$(cat "$corpus.complete")" --work "$cache/work" "$@"
swift build -c release --package-path "$repository/Tests/Benchmarks" --scratch-path "$cache/build" >&2
exec "$cache/build/release/benchmarks" "$@"
