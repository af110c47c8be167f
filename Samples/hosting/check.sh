#!/bin/sh
# Checks this folder's samples: uploads a small site with the command, through rclone to a local folder, serves it with nginx on
# loopback, and checks status codes and headers. Needs nginx, rclone and curl (apt-get install nginx-light rclone curl).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
# shellcheck source=Samples/prerequisites.sh
. Samples/prerequisites.sh
build_command
make_work_folder

# A site with two roots, and a pack of 100,000 bytes and more.
site=$work/vault/site
mkdir "$work/level"
head -c 100000 /dev/urandom >"$work/level/noise"
export RCLONE_CONFIG="$work/rclone.conf"
touch "$RCLONE_CONFIG"
"$assetvault" init "$work/vault" >/dev/null
"$assetvault" publish "$work/vault" --pack levels/one="$work/level" >/dev/null 2>&1
"$assetvault" upload "$site" ":local:$work/served" >"$work/log"
grep -q '^sent 5 files, ' "$work/log" || fail "the first upload said: $(cat "$work/log")"
cp -R "$work/vault" "$work/stale"
"$assetvault" trust rotate "$work/vault" targets >/dev/null 2>&1
"$assetvault" upload "$site" ":local:$work/served" --dry-run >"$work/log"
grep -q '^would send ' "$work/log" || fail "a dry run said: $(cat "$work/log")"
"$assetvault" upload "$site" ":local:$work/served" >"$work/log"
diff -r "$site" "$work/served" || fail "the upload is not equal"
"$assetvault" upload "$site" ":local:$work/served" >"$work/log"
grep -q '^nothing to send' "$work/log" || fail "an upload without news said: $(cat "$work/log")"

# A machine that has slept since then.
code=0
"$assetvault" upload "$work/stale/site" ":local:$work/served" 2>"$work/log" || code=$?
[ "$code" = 76 ] || fail "an upload from a stale vault ended with $code"
grep -q 'publish again with --against' "$work/log" || fail "a refused upload does not say what to do: $(cat "$work/log")"
diff -r "$site" "$work/served" || fail "a refused upload changed the host"
targets=metadata/$(cd "$site/metadata" && ls ./*.targets.json | tail -n 1 | sed 's|^./||')
pack=$(cd "$site" && find targets -name '*.avpack')
length=$(wc -c <"$site/$pack" | tr -d ' ')

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
        -e "s|max_ranges 1;|max_ranges ${ranges:-1};|" "$here/nginx.conf" >"$work/site.conf"
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
expect "$targets" 200 "$forever"
expect metadata/ 404 'Cache-Control: no-store'
expect "$pack" 200 "$forever" --compressed
expect "$pack" 200 'ETag: "[^"]*"' --compressed
expect "$pack" 206 "$forever" --range 100-199
expect "$pack" 206 'Content-Range: bytes 100-199/'"$length" --range 100-199
expect "$pack" 206 "Content-Range: bytes $((length - 10))-$((length - 1))/$length" --range -10
expect "$pack" 416 "Content-Range: bytes \*/$length" --range "$length-"
expect "$pack" 200 "Content-Length: $length" --range 1-2,4-5
expect "${pack%/*}/" 404 'Cache-Control: no-store'

# An audit asks the same questions: it finds nothing here, and a server without ranges.
"$assetvault" audit "http://127.0.0.1:$port/" --trust "$work/vault/trusted-root.json" --quiet >"$work/log" 2>&1 ||
    fail "an audit of nginx ended with $?: $(cat "$work/log")"
[ ! -s "$work/log" ] || fail "an audit of nginx found: $(cat "$work/log")"
kill "$server"
wait "$server" 2>/dev/null || true
ranges=0
port=$((port + 1))
start $port || fail "nginx does not start: $(cat "$work/test" "$work/error.log" 2>/dev/null)"
code=0
"$assetvault" audit "http://127.0.0.1:$port/" --trust "$work/vault/trusted-root.json" --json >"$work/log" 2>/dev/null || code=$?
[ "$code" = 69 ] && grep -q '"code": "no-range"' "$work/log" || fail "an audit of nginx without ranges ended with $code"
echo "hosting: uploads, cache rules and ranges are right, and an audit says so"
