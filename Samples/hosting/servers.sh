#!/bin/sh
# Checks nginx, Apache, Caddy and an S3-compatible store (moto), each configured as this folder says and in the usual wrong ways: what
# `assetvault audit` says of them, and uploads to the store and to WebDAV. check.sh runs it; only loopback is used, and all servers write
# into one folder. Debian packages: nginx-light, libnginx-mod-http-dav-ext, apache2-bin, caddy, rclone, curl, faketime; PyPI: moto.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
# shellcheck source=Samples/prerequisites.sh
. Samples/prerequisites.sh
need_packages nginx-light libnginx-mod-http-dav-ext apache2-bin caddy rclone curl openssl faketime python3-venv
build_command
python=${ASSETVAULT_PYTHON:-$PWD/.build-hosting/bin/python}
if ! "$python" -c 'import moto.server' 2>/dev/null; then
    python=$PWD/.build-hosting/bin/python
    [ -x "$python" ] || python3 -m venv "$PWD/.build-hosting"
    "$python" -m pip install --quiet --disable-pip-version-check 'moto[s3,server]==5.2.5'
fi
make_work_folder
chmod 755 "$work"
failures=0

site=$work/vault/site
mkdir "$work/level"
head -c 300000 /dev/urandom >"$work/level/noise"
export RCLONE_CONFIG="$work/rclone.conf" XDG_DATA_HOME="$work/data" XDG_CONFIG_HOME="$work/config"
touch "$RCLONE_CONFIG"
"$assetvault" init "$work/vault" >/dev/null
"$assetvault" publish "$work/vault" --pack levels/one="$work/level" >/dev/null 2>&1
"$assetvault" upload "$site" "$work/served" >/dev/null
# Apache's ETag is weak within a second of the file's time.
sleep 1
(cd "$work" && sh "$here/../keyservice/authority.sh")
echo '<!DOCTYPE html>' >"$work/served/index.html"

free_port() { "$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# launch NAME PROGRAM...: runs a server, and waits until it answers at $url.
launch() {
    name=$1
    shift
    "$@" >"$work/$name.log" 2>&1 &
    server=$!
    tries=0
    until curl --silent --insecure --output /dev/null "$url/"; do
        tries=$((tries + 1))
        kill -0 "$server" 2>/dev/null && [ $tries -lt 100 ] || fail "$name does not start: $(cat "$work/$name.log")"
        sleep 0.1
    done
}
stop() {
    kill "$server"
    wait "$server" 2>/dev/null || true
    server=""
}

# audit CASE [CODE...]: the codes of all findings at $url are these, and none with --quiet means that nothing is to do.
audit() {
    case=$1
    shift
    "$assetvault" audit "$url$path" --trust "$work/vault/trusted-root.json" ${ca:-} --json >"$work/report" 2>"$work/errors" || true
    found=$("$python" -c '
import json, sys
report = json.load(open(sys.argv[1]))
findings = report["findings"] + [finding for pack in report["packs"] for finding in pack["findings"]]
print(*sorted({finding["code"] for finding in findings}))' "$work/report" 2>&1) || found="no report: $(cat "$work/errors")"
    wanted=$(printf '%s\n' "$@" | sort | xargs)
    if [ "$found" = "$wanted" ]; then
        echo "  $case: ${wanted:-nothing}"
    else
        echo "  $case: found '$found', expected '$wanted'"
        failures=$((failures + 1))
    fi
}
path=""

# nginx EDIT: the sample configuration, edited by sed.
start_nginx() {
    port=$(free_port)
    url=http://127.0.0.1:$port
    {
        echo "daemon off; pid $work/nginx.pid; error_log $work/nginx-error.log; ${modules:-} events { }"
        echo "http { access_log off; include $work/nginx-site.conf;"
        for kind in client_body proxy fastcgi uwsgi scgi; do echo "${kind}_temp_path $work/$kind;"; done
        echo "}"
    } >"$work/nginx.conf"
    sed -e "s|listen 80;|listen 127.0.0.1:$port;|" -e "s|/srv/assetvault/site|$work/served|" -e "${1:-}" \
        "${2:-$here/nginx.conf}" >"$work/nginx-site.conf"
    launch nginx nginx -e "$work/nginx-error.log" -c "$work/nginx.conf"
}
echo "nginx:"
start_nginx
audit "as in nginx.conf"
stop
start_nginx 's|max_ranges 1;|max_ranges 0;|'
audit "without ranges" no-range
stop
start_nginx 's|gzip off;|gzip on; gzip_types application/json application/octet-stream;|'
audit "with gzip" compressed
stop
start_nginx 's|return 404;|try_files $uri /index.html;|'
audit "with the page of an app" found-what-is-missing not-looked-at unavailable
stop
start_nginx 's|add_header Cache-Control "no-store";|add_header Cache-Control "max-age=86400";|'
audit "with a cached timestamp" cached-timestamp
stop
start_nginx "s|listen \(.*\);|listen \1 ssl; ssl_certificate $work/service.pem; ssl_certificate_key $work/service.key; ssl_protocols TLSv1.2;|"
url=https://127.0.0.1:$port ca="--ca-file $work/ca.pem --expiry 40d"
audit "with TLS 1.2 and an old certificate" certificate-expires expires-soon old-tls
stop
ca=""

# start_apache EDIT
start_apache() {
    port=$(free_port)
    url=http://127.0.0.1:$port
    {
        echo "ServerName localhost"
        echo "ServerRoot $work"
        echo "PidFile $work/apache.pid"
        echo "ErrorLog $work/apache-error.log"
        echo "Listen 127.0.0.1:$port"
        [ "$(id -u)" != 0 ] || printf 'User nobody\nGroup nogroup\n'
        for module in mpm_event authz_core headers env mime dir filter deflate; do
            echo "LoadModule ${module}_module /usr/lib/apache2/modules/mod_$module.so"
        done
        echo "TypesConfig /dev/null"
        sed -e "s|\*:80|127.0.0.1:$port|" -e "s|/srv/assetvault/site|$work/served|" -e "${1:-}" "$here/apache.conf"
    } >"$work/apache.conf"
    launch apache apache2 -D FOREGROUND -f "$work/apache.conf"
}
echo "Apache:"
start_apache
audit "as in apache.conf"
stop
start_apache 's|FileETag .*|MaxRanges none|'
audit "without ranges" no-range
stop
start_apache 's|SetEnv no-gzip 1|AddOutputFilterByType DEFLATE application/json application/octet-stream|'
audit "with mod_deflate" compressed
stop
start_apache 's|FileETag .*|FallbackResource /index.html|'
audit "with the page of an app" found-what-is-missing not-looked-at unavailable
stop
start_apache 's|Header set Cache-Control "no-store"|Header set Cache-Control "max-age=86400"|'
audit "with a cached timestamp" cached-timestamp
stop
start_apache 's|FileETag .*|FileETag None|'
audit "without ETags" no-etag
stop

# start_caddy EDIT
start_caddy() {
    port=$(free_port)
    url=${scheme:-http}://127.0.0.1:$port
    {
        printf '{\n\tadmin off\n\tauto_https off\n\tservers {\n\t\tprotocols h1 h2\n\t}\n}\n'
        sed -e "s|^packs.example.org|$url|" -e "s|/srv/assetvault/site|$work/served|" -e "${1:-}" "$here/Caddyfile"
    } >"$work/Caddyfile"
    launch caddy caddy run --config "$work/Caddyfile" --adapter caddyfile
}
echo "Caddy:"
start_caddy
audit "as in Caddyfile"
stop
start_caddy 's|^		file_server|		request_header -Range\n&|'
audit "without ranges" no-range
stop
start_caddy 's|^		file_server|		encode {\n			gzip\n			match header Content-Type *\n		}\n&|'
audit "with encode" compressed
stop
start_caddy 's|^		file_server|		try_files {path} /index.html\n&|'
audit "with the page of an app" found-what-is-missing not-looked-at unavailable
stop
start_caddy 's|header Cache-Control "no-store"|header Cache-Control "max-age=86400"|'
audit "with a cached timestamp, and cached errors" cached-absence cached-timestamp
stop
scheme=https
ca="--ca-file $work/ca.pem"
start_caddy "s|^	route|	tls $work/service.pem $work/service.key\n&|"
audit "with TLS 1.3 and HTTP/2"
grep -q '"http2": true' "$work/report" && grep -q '"tls": "TLS 1.3"' "$work/report" || fail "the report does not say so"
stop
ca=""

echo "S3 (moto):"
port=$(free_port)
url=http://127.0.0.1:$port
unset AWS_CA_BUNDLE
export AWS_ACCESS_KEY_ID=access AWS_SECRET_ACCESS_KEY=secret
printf '[packs]\ntype = s3\nprovider = Other\nendpoint = %s\nenv_auth = true\nregion = us-east-1\nacl = public-read\n' "$url" >"$RCLONE_CONFIG"
launch moto "$python" -m moto.server -H 127.0.0.1 -p "$port"
rclone mkdir packs:bucket
path=/bucket/game
"$assetvault" upload "$site" packs:bucket/game >/dev/null
audit "as upload writes it" if-range
timestamp=packs:bucket/game/metadata/timestamp.json
rclone copyto --ignore-times --header-upload 'Cache-Control: max-age=86400' "$site/metadata/timestamp.json" "$timestamp"
audit "with a cached timestamp" cached-timestamp if-range
rclone copyto --ignore-times --header-upload 'Cache-Control: no-store' "$site/metadata/timestamp.json" "$timestamp"
pack=$(cd "$site" && find targets -name '*.avpack')
rclone copyto --ignore-times --header-upload 'Content-Encoding: gzip' "$site/$pack" "packs:bucket/game/$pack"
audit "with a pack that claims to be compressed" compressed encoded unavailable uncached-file
rclone copyto --ignore-times --header-upload 'Cache-Control: max-age=31536000' "$site/$pack" "packs:bucket/game/$pack"

# exits CODE ARGUMENT...: the command must end with this code.
exits() {
    expected=$1 code=0
    shift
    "$@" >"$work/log" 2>&1 || code=$?
    [ "$code" = "$expected" ] || fail "'$*' ended with $code instead of $expected: $(cat "$work/log")"
}

# Between the list of what is there and the writing, another publisher writes a number that this upload writes, too.
mkdir "$work/bin"
cat >"$work/bin/rclone" <<END
#!/bin/sh
case "\$*" in *If-None-Match*) $(command -v rclone) copyto "$work/level/noise" packs:bucket/game/metadata/2.snapshot.json ;; esac
exec $(command -v rclone) "\$@"
END
chmod +x "$work/bin/rclone"
cp -R "$work/vault" "$work/other"
head -c 1000 /dev/urandom >"$work/level/more"
"$assetvault" publish "$work/vault" >/dev/null 2>&1
exits 75 env PATH="$work/bin:$PATH" "$assetvault" upload "$site" packs:bucket/game
grep -q 'another publisher has written it meanwhile' "$work/log" || fail "an upload that lost a race says: $(cat "$work/log")"
rclone cat packs:bucket/game/metadata/2.snapshot.json | cmp -s - "$work/level/noise" || fail "a number that was taken was written"
[ "$(rclone cat "$timestamp" | cmp - "$work/other/site/metadata/timestamp.json" 2>&1)" = "" ] || fail "the timestamp was written"
rclone deletefile packs:bucket/game/metadata/2.snapshot.json
exits 0 "$assetvault" upload "$site" packs:bucket/game
echo "  a number that another upload has just written is refused by the store"

# prune_at DESTINATION: an upload removes what was pruned.
prune_at() {
    exits 0 faketime -f +41d "$assetvault" upload "$site" "$1" --prune
    cp "$work/log" "$work/first"
    grep -q 'removed [1-9]' "$work/log" || fail "upload --prune said: $(cat "$work/log")"
    exits 0 faketime -f +41d "$assetvault" upload "$site" "$1" --prune
    rm -rf "$work/copy"
    rclone copy "$1" "$work/copy"
    diff -r "$site" "$work/copy" || fail "what is left at $1 is not the site"
    echo "  upload --prune: $(cat "$work/first")"
}

# A WebDAV server of nginx, with the module that lists folders.
cat >"$work/dav.conf" <<END
server {
    listen 80;
    root $work/dav;
    location / {
        dav_methods PUT DELETE MKCOL COPY MOVE;
        dav_ext_methods PROPFIND OPTIONS;
        create_full_put_path on;
        dav_access user:rw group:r all:r;
        client_max_body_size 0;
    }
}
END
mkdir -m 777 "$work/dav"
# Ended with the script, too.
game=$server
modules="load_module /usr/lib/nginx/modules/ngx_http_dav_ext_module.so;"
[ "$(id -u)" != 0 ] || modules="user root; $modules"
start_nginx "" "$work/dav.conf"
printf '[dav]\ntype = webdav\nurl = %s\nvendor = other\n' "$url" >>"$RCLONE_CONFIG"
exits 0 "$assetvault" upload "$work/other/site" dav:game
exits 0 "$assetvault" upload "$site" dav:game
exits 0 faketime -f +41d "$assetvault" publish "$work/vault" --pack levels/one="$work/bin"
exits 0 faketime -f +41d "$assetvault" prune "$work/vault" --keep 1 --grace 0d
echo "uploads to S3:"
prune_at packs:bucket/game
echo "uploads to WebDAV of nginx:"
prune_at dav:game
[ "$failures" = 0 ] || fail "$failures audits found something else"
echo "servers: audits and uploads are right"
