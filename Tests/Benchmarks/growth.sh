#!/bin/sh
# Measures how the cost of the command grows with files, bytes and packs, and plots it. Arguments go to the program:
# --json FILE, --plot FILE.svg, --rounds N, --only AXIS, --files N, --megabytes N, --packs N.
# BENCHMARK_FOLDER is where packs and files are made, by default in memory; bytes are always made on the disk.
set -eu
repository=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=Tests/Benchmarks/prepare.sh
. "$repository/Tests/Benchmarks/prepare.sh"
need_swift
need_packages nginx-light
need_corpus supertuxkart-data
need_corpus extremetuxracer-data
build
small=$(mktemp -d "${BENCHMARK_FOLDER:-/dev/shm}/growth.XXXXXX")
trap 'rm -rf "$small"' EXIT
trap 'exit 1' INT TERM
"$program" growth --command "$assetvault" --cache "$cache" --work "$cache/work" --small "$small" \
    --plot "$repository/Tests/Benchmarks/growth.svg" "$@"
