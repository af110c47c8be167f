#!/bin/sh
# Measures the command against the tools that people use instead, on the assets of real games and on real histories.
# Arguments go to the program: --json FILE, --rounds N, --only WORK.
set -eu
repository=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=Tests/Benchmarks/prepare.sh
. "$repository/Tests/Benchmarks/prepare.sh"
need_swift
need_packages zstd age openssl restic casync zchunk nginx-light curl python3
need_corpus supertuxkart-data
need_corpus extremetuxracer-data
need_history arcade 3.0.0 3.0.2 3.3.0
need_history fontawesomefree 6.5.1 6.6.0
need_containers
build
exec "$program" compare --command "$assetvault" --cache "$cache" --work "$cache/work" "$@"
