#!/bin/sh
# Uploads a published site with rclone, to an S3-compatible store or anything else that rclone knows:
#
#     upload.sh SITE REMOTE:BUCKET[/FOLDER]
#
# The order keeps the site consistent for every client, also when this is interrupted: packs first, then the metadata
# that names them, each file before those that list it; the timestamp, which publishes it; and new roots last, since
# what came before them is signed by the old keys, too. Upload after every change of trust, before the next. Files are
# added, and never replaced or removed, but for the timestamp; it can be run again at any time.
# Don't publish into SITE meanwhile. RCLONE_* variables and rclone's configuration apply.
set -eu

if [ $# -ne 2 ]; then
    echo "usage: upload.sh SITE REMOTE:BUCKET[/FOLDER]" >&2
    exit 64
fi
site=$1
remote=$2
if [ ! -f "$site/metadata/timestamp.json" ]; then
    echo "upload.sh: $site: no metadata/timestamp.json; name a site that 'assetvault publish' has written" >&2
    exit 66
fi

immutable='Cache-Control: public, max-age=31536000, immutable, no-transform'

copy() {
    rclone copy --header-upload "$immutable" "$@"
}

# The hash in a pack's name is that of its content, so a file of that name and size is there already.
copy --size-only "$site/targets" "$remote/targets"

# A number in a name stands for one content. Where the host has another one, another machine has published this version,
# or an interrupted upload has left it: the timestamp, which would make clients of one content meet the other, is not uploaded.
copy_metadata() {
    if ! copy --immutable --checksum "$@" "$site/metadata" "$remote/metadata"; then
        echo "upload.sh: stopped before the timestamp. Where rclone says that an immutable file was modified, another" \
            "publisher has taken this version's number: publish again with --against and the host's URL, then upload" >&2
        exit 75
    fi
}

# Roles that targets delegate to: teams, bins.
copy_metadata --exclude '/*.{targets,snapshot,root}.json' --exclude /timestamp.json
copy_metadata --include '/*.targets.json'
copy_metadata --include '/*.snapshot.json'
rclone copyto --ignore-times --header-upload 'Cache-Control: no-store' \
    "$site/metadata/timestamp.json" "$remote/metadata/timestamp.json"
copy_metadata --include '/*.root.json'
