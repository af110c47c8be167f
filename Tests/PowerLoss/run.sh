#!/bin/sh
# What a power loss leaves of a store: see power_loss.py, which gets the arguments. Needs root, FUSE and loop devices;
# where the machine has none, it says so and ends.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=Samples/prerequisites.sh
. "$here/../../Samples/prerequisites.sh"

skip() {
    echo "skipped: $*"
    exit 0
}

[ "$(id -u)" = 0 ] || skip "only root may mount a disk"
[ -c /dev/fuse ] || skip "there is no /dev/fuse"
[ -c /dev/loop-control ] || skip "there are no loop devices"
need_packages e2fsprogs mount
trial=$(mktemp -d)
finish() {
    umount "$trial/mounted" 2>/dev/null || true
    rm -rf "$trial"
}
trap finish EXIT
trap 'exit 1' INT TERM
mkdir "$trial/mounted"
truncate -s 8M "$trial/image"
mkfs.ext4 -q -F "$trial/image"
mount -t ext4 -o loop "$trial/image" "$trial/mounted" 2>"$trial/error" || skip "$(head -n 1 "$trial/error")"
finish

need_packages nbdkit nbdkit-plugin-python libnbd-bin fuse3 python3
build_command "$here/../.."
# In the foreground, so that Ctrl-C reaches it.
PYTHONDONTWRITEBYTECODE=1 timeout --foreground -k 60 1200 python3 -u "$here/power_loss.py" "$assetvault" "$@"
