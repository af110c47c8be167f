#!/bin/sh
# Type-checks the sample game against the modules that were just built: typecheck-maze.sh BINARIES. Tests/nightly.sh builds and
# plays it.
set -eu
cd "$(dirname "$0")/.."
binaries=$1
set -- -typecheck -swift-version 6 -strict-memory-safety -warnings-as-errors -I "$binaries/Modules"
for feature in ExistentialAny InternalImportsByDefault MemberImportVisibility NonisolatedNonsendingByDefault; do
    set -- "$@" -enable-upcoming-feature "$feature"
done
for map in .build/checkouts/*/Sources/*/include/module.modulemap "$binaries"/*.build/module.modulemap \
    Sources/CVault*/module.modulemap; do
    [ ! -e "$map" ] || set -- "$@" -Xcc "-fmodule-map-file=$map"
done
swiftc "$@" Samples/maze/Sources/maze/*.swift
