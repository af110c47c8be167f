#!/bin/sh
# Type-checks Swift files as one app against the modules that were just built: typecheck.sh BINARIES FILE...
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
binaries=$1
shift
set -- "$@" -typecheck -swift-version 6 -strict-memory-safety -warnings-as-errors -I "$binaries/Modules"
for feature in ExistentialAny InternalImportsByDefault MemberImportVisibility NonisolatedNonsendingByDefault; do
    set -- "$@" -enable-upcoming-feature "$feature"
done
for map in "$root"/.build/checkouts/*/Sources/*/include/module.modulemap "$binaries"/*.build/module.modulemap \
    "$root"/Sources/CVault*/module.modulemap; do
    [ ! -e "$map" ] || set -- "$@" -Xcc "-fmodule-map-file=$map"
done
swiftc "$@"
