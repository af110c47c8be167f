#!/bin/sh
# Checks this folder's samples: uploads a small site with rclone to a local folder, serves it with nginx on loopback,
# and checks order, status codes and headers. Needs nginx, rclone, rsync and curl (apt-get install nginx-light rclone
# rsync curl).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
server=
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM

fail() {
    echo "check.sh: $*" >&2
    exit 1
}

# A site without valid signatures: nothing here checks them.
site=$work/site
pack=targets/packs/levels/$(printf '%064d' 7).one.avpack
mkdir -p "$site/metadata" "$(dirname "$site/$pack")"
head -c 100000 /dev/zero >"$site/$pack"
for name in 1.root 2.root 3.snapshot 3.targets 4.team timestamp; do
    echo "{\"name\": \"$name\"}" >"$site/metadata/$name.json"
done

export RCLONE_CONFIG="$work/rclone.conf" RCLONE_LOG_LEVEL=INFO
touch "$RCLONE_CONFIG"
sh "$here/upload.sh" "$site" "$work/served" 2>"$work/log"
diff -r "$site" "$work/served" || fail "the upload is not equal"
order=$(sed -n 's/.* : \(.*\): Copied (new).*/\1/p' "$work/log" | sed 's/.*\.\(.*\)\..*/\1/; s/timestamp.*/timestamp/' | uniq | xargs)
[ "$order" = "one team targets snapshot timestamp root" ] || fail "uploaded in the order: $order"

# A second upload sends the timestamp alone.
sh "$here/upload.sh" "$site" "$work/served" 2>"$work/log"
[ "$(grep -c ': Copied' "$work/log")" = 1 ] || fail "an upload without news copied more than the timestamp"
grep -q 'timestamp.json: Copied' "$work/log" || fail "an upload without news left the timestamp out"

# Metadata of another publisher under the same number stay, though of equal size, and the timestamp with them.
refused() {
    sed 's/targets/tergats/' "$site/metadata/3.targets.json" >"$1/metadata/3.targets.json"
    echo theirs >"$1/metadata/timestamp.json"
    cp -R "$1" "$work/before"
    shift
    if "$@" 2>"$work/log"; then fail "a version that another publisher uploaded was replaced"; fi
    diff -r "$work/before/metadata" "$work/after/metadata" || fail "a refused upload changed metadata"
    rm -rf "$work/before"
}
ln -s served "$work/after"
refused "$work/served" sh "$here/upload.sh" "$site" "$work/served"
grep -q 'publish again with --against' "$work/log" || fail "a refused upload does not say what to do: $(cat "$work/log")"
rm "$work/served/metadata/3.targets.json" "$work/after"
sh "$here/upload.sh" "$site" "$work/served" 2>"$work/log"
diff -r "$site" "$work/served" || fail "the upload after a refused one is not equal"

# The lines of the README for rsync, with a folder in the place of the server; what they send goes to the log.
sed -n 's/^    rsync /rsync --itemize-changes /p; s/^    test -z "$(rsync/test -z "$(rsync/p' "$here/README.md" |
    sed "s|server:/srv/assetvault/site|$work/copied|; s| site/| $site/|" >"$work/rsync.sh"
[ "$(grep -c . "$work/rsync.sh")" = 5 ] || fail "the README has other lines for rsync"
mkdir -p "$work/copied/targets" "$work/copied/metadata"
sh -e "$work/rsync.sh" >"$work/log"
diff -r "$site" "$work/copied" || fail "what rsync copied is not equal"
grep -q '^>f.*avpack' "$work/log" || fail "rsync did not say what it sent"
sleep 1
touch "$work/copied/metadata/3.targets.json"
sh -e "$work/rsync.sh" >"$work/log"
! grep '^>f.*avpack' "$work/log" || fail "a second upload sent packs again"
ln -s copied "$work/after"
refused "$work/copied" sh -e "$work/rsync.sh"

# nginx in the foreground, as this user, everything it writes in one folder.
start() {
    cat >"$work/nginx.conf" <<CONF
daemon off;
pid $work/pid;
error_log $work/error.log;
events { worker_connections 64; }
http {
    access_log off;
    client_body_temp_path $work/body;
    proxy_temp_path $work/proxy;
    fastcgi_temp_path $work/fastcgi;
    uwsgi_temp_path $work/uwsgi;
    scgi_temp_path $work/scgi;
    include $work/site.conf;
}
CONF
    sed -e "s|listen 80;|listen 127.0.0.1:$1;|" -e "s|root /srv/assetvault/site;|root $work/served;|" \
        "$here/nginx.conf" >"$work/site.conf"
    nginx -e "$work/error.log" -t -c "$work/nginx.conf" 2>"$work/test" || return 1
    nginx -e "$work/error.log" -c "$work/nginx.conf" &
    server=$!
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        if curl --silent --output /dev/null "http://127.0.0.1:$1/"; then return 0; fi
        kill -0 "$server" 2>/dev/null || break
        sleep 0.2
    done
    server=
    return 1
}
# A worker of a root-owned nginx is another user, who must reach the files.
chmod 755 "$work"
port=$((20000 + $$ % 20000))
tries=0
until start $port; do
    tries=$((tries + 1))
    [ $tries -lt 5 ] || fail "nginx does not start: $(cat "$work/test" "$work/error.log" 2>/dev/null)"
    port=$((port + 1))
done

# expect PATH STATUS HEADER-PATTERN [CURL-OPTION ...]
expect() {
    path=$1 status=$2 header=$3
    shift 3
    curl --silent --show-error --dump-header "$work/headers" --output "$work/body.out" "$@" \
        "http://127.0.0.1:$port/$path"
    head -1 "$work/headers" | grep -q " $status " || fail "$path: $(head -1 "$work/headers"), expected $status"
    tr -d '\r' <"$work/headers" | grep -qix "$header" || fail "$path: no header '$header' in: $(cat "$work/headers")"
    if grep -qi '^content-encoding' "$work/headers"; then fail "$path: is compressed"; fi
}
forever='Cache-Control: public, max-age=31536000, immutable, no-transform'
expect metadata/timestamp.json 200 'Cache-Control: no-store' --compressed
expect metadata/timestamp.json 200 'Content-Type: application/json'
expect metadata/2.root.json 200 "$forever" --compressed
expect metadata/3.root.json 404 'Cache-Control: no-store'
expect metadata/3.targets.json 200 "$forever"
expect metadata/4.team.json 200 "$forever"
expect metadata/ 404 'Cache-Control: no-store'
expect "$pack" 200 "$forever" --compressed
expect "$pack" 200 'ETag: "[^"]*"' --compressed
expect "$pack" 206 "$forever" --range 100-199
expect "$pack" 206 'Content-Range: bytes 100-199/100000' --range 100-199
expect "$pack" 206 'Content-Range: bytes 99990-99999/100000' --range -10
expect "$pack" 416 'Content-Range: bytes \*/100000' --range 100000-
expect "$pack" 200 'Content-Length: 100000' --range 1-2,4-5
expect "${pack%/*}/" 404 'Cache-Control: no-store'
echo "hosting: upload order, cache rules and ranges are right"
