#!/bin/sh
# Measures how the cost of a site grows with the number of its packs, in one list and divided into bins.
# Arguments: numbers of packs, by default 100 1000 10000 100000. With --tagged first it measures requests for one tag instead,
# by default of 10000 packs. The table goes to standard output.
# BENCHMARK_FOLDER is where it works, by default .build-benchmarks; in /dev/shm no disk is measured.
set -eu
repository=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=Samples/prerequisites.sh
. "$repository/Samples/prerequisites.sh"
need_packages time nginx-light
build_command "$repository"
rounds=5
# One list is a file of metadata, and clients read no more than 64 MB of that.
longest_list=50000
# Loading more packs takes minutes: each is saved to the disk by itself.
most_loaded=10000

folder=${BENCHMARK_FOLDER:-$repository/.build-benchmarks}
mkdir -p "$folder"
work=$(mktemp -d "$folder/sites.XXXXXX")
server=
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM

# The power of two next to 2.5 times the square root of the number of packs.
bins() {
    awk -v packs="$1" 'BEGIN { print 2 ^ int(log(2.5 * sqrt(packs)) / log(2) + 0.5) }'
}

# make_vault PACKS: a new vault with sources of one small file each, all for packs on demand.
make_vault() {
    rm -rf "$work/vault" "$work/sources"
    "$assetvault" init "$work/vault" >"$work/said" 2>&1
    mkdir "$work/sources"
    (cd "$work/sources" && seq -f '%06.0f' "$1" | xargs mkdir)
    seq -f '%06.0f' "$1" | while read -r name; do echo "level $name" >"$work/sources/$name/level.txt"; done
}

# declare_packs PACKS [BINS]: writes vault.json. With `tagged` set ten packs have one tag each, and half of all another one.
declare_packs() {
    {
        echo '{ "format": 1,'
        [ -z "${2:-}" ] || echo "  \"bins\": $2,"
        echo '  "packs": {'
        seq -f '%06.0f' "$1" |
            awk -v tagged="$tagged" '{
                tags = tagged ? sprintf(", \"tags\": [\"tag %d\", \"%s\"]", $1 / 10, $1 % 2 ? "odd" : "even") : ""
                printf "%s    \"levels/%s\": { \"source\": \"../sources/%s\", \"policy\": \"onDemand\"%s }", \
                    (NR == 1 ? "" : ",\n"), $1, $1, tags
            }'
        echo '  } }'
    } >"$work/vault/vault.json"
}

# nginx in the foreground, as this user, everything it writes in one folder. It notes what it sends: the size of each
# answer, head and body, and the path.
start() {
    cat >"$work/nginx.conf" <<CONF
daemon off;
$([ "$(id -u)" != 0 ] || echo 'user root;')
pid $work/pid;
error_log $work/error.log;
events { worker_connections 64; }
http {
    log_format sizes '\$bytes_sent \$uri';
    access_log $work/access.log sizes;
    client_body_temp_path $work/body;
    proxy_temp_path $work/proxy;
    fastcgi_temp_path $work/fastcgi;
    uwsgi_temp_path $work/uwsgi;
    scgi_temp_path $work/scgi;
    keepalive_requests 100000;
    server {
        listen 127.0.0.1:$1;
        root $work/vault/site;
    }
}
CONF
    nginx -e "$work/error.log" -t -c "$work/nginx.conf" 2>"$work/said" || return 1
    nginx -e "$work/error.log" -c "$work/nginx.conf" &
    server=$!
    sleep 0.5
    kill -0 "$server" 2>/dev/null && return 0
    server=
    return 1
}

# fetch STORE [ARGUMENT ...]: one whole process; its wall time in seconds and its peak memory in KiB go to `taken`.
fetch() {
    store=$1
    shift
    : >"$work/access.log"
    /usr/bin/time -o "$work/taken" -f '%e %M' "$assetvault" fetch "http://127.0.0.1:$port" "$@" \
        --store "$work/$store" --trust "$work/vault/trusted-root.json" >"$work/said" 2>&1 ||
        fail "fetch failed: $(cat "$work/said")"
    # nginx notes a request when it has ended.
    sleep 0.1
}

# Of the last fetch: requests and kilobytes of metadata.
sent() { awk '$2 ~ /^\/metadata\// { n++; bytes += $1 } END { printf "%.1f KB in %d", bytes / 1000, n }' "$work/access.log"; }

peak() { awk '{ printf "%d MiB", $2 / 1024 }' "$work/taken"; }
seconds() { awk '{ print $1 }' "$work/taken"; }
median() { sort -n | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }

# planning STORE [ARGUMENT ...]: the median of fetches with nothing to do, without the start of a process; the largest
# peak memory.
planning() {
    : >"$work/times"
    for _ in $(seq "$rounds"); do
        fetch "$@"
        cat "$work/taken" >>"$work/times"
    done
    awk -v start="$start_time" -v wall="$(awk '{ print $1 }' "$work/times" | median)" '
        $2 > peak { peak = $2 } END { printf "%.2f s, %d MiB", wall - start, peak / 1024 }' "$work/times"
}

# publish: the seconds that it takes, and its peak memory.
publish() {
    /usr/bin/time -o "$work/taken" -f '%e %M' "$assetvault" publish "$work/vault" >"$work/said" 2>&1 ||
        fail "publish failed: $(tail -n 5 "$work/said")"
    awk '{ printf "%.1f s, %d MiB", $1, $2 / 1024 }' "$work/taken"
}

# report PACKS BINS PUBLISHED: measures the site as it is, then with one pack changed.
report() {
    rm -rf "$work"/store-*
    fetch store-all
    first="$(sent), $(seconds) s"
    fetch store-all
    unchanged=$(sent)
    plan=$(planning store-all)
    held=$(find "$work/store-all/permanent/@trust" -type f -printf '%s\n' | awk '{ sum += $1 } END { printf "%.0f KB", sum / 1000 }')
    fetch store-one levels/000007
    named=$(sent)
    loaded=
    if [ "$1" -le $most_loaded ]; then
        fetch store-loaded --all --sealed --keys "file:$work/vault/keys/vault.jwks"
        loaded=$(planning store-loaded --all --sealed --keys "file:$work/vault/keys/vault.jwks")
    fi
    echo "changed $2" >>"$work/sources/000007/level.txt"
    again=$(publish)
    fetch store-all
    echo "| $1 | $2 | $first | $unchanged | $(sent) | $named | $held | $plan | $loaded | $3 | $again |"
}

# report_tag PACKS BINS PUBLISHED: measures requests of fresh clients, and the same again.
report_tag() {
    rm -rf "$work"/store-*
    fetch store-one --tag "tag 7" --keys "file:$work/vault/keys/vault.jwks"
    one="$(sent), $(seconds) s, $(peak)"
    fetch store-one --tag "tag 7" --keys "file:$work/vault/keys/vault.jwks"
    again="$(sent), $(seconds) s"
    fetch store-many --tag odd --dry-run
    echo "| $1 | $2 | $one | $again | $(sent), $(seconds) s, $(peak) | $3 |"
}

tagged=
if [ "${1:-}" = --tagged ]; then
    tagged=yes
    shift
fi
start_time=$(for _ in $(seq $rounds); do
    /usr/bin/time -f %e "$assetvault" --version 2>&1 >/dev/null
done | median)
port=$((20000 + $$ % 20000))
tries=0
until start $port; do
    tries=$((tries + 1))
    [ $tries -lt 5 ] || fail "nginx does not start: $(cat "$work/said" "$work/error.log" 2>/dev/null)"
    port=$((port + 1))
done

if [ -n "$tagged" ]; then
    [ $# -gt 0 ] || set -- 10000
    echo "$("$assetvault" --version), $(nproc) cores, start of a process $start_time s"
    echo
    echo "| packs | bins | ten packs of a tag, fresh client | the same again | half of all packs, dry run | first publish |"
    echo "| --- | --- | --- | --- | --- | --- |"
    for packs in "$@"; do
        make_vault "$packs"
        declare_packs "$packs" "$(bins "$packs")"
        report_tag "$packs" "$(bins "$packs")" "$(publish)"
    done
    exit 0
fi
[ $# -gt 0 ] || set -- 100 1000 10000 100000
echo "$("$assetvault" --version), $(nproc) cores, start of a process $start_time s, medians of $rounds rounds"
echo
echo "| packs | bins | first refresh | nothing changed | one pack changed | one pack, fresh client | metadata held | planning, on demand | planning, loaded | first publish | publish one change |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
for packs in "$@"; do
    make_vault "$packs"
    published=
    if [ "$packs" -le $longest_list ]; then
        declare_packs "$packs"
        published=$(publish)
        report "$packs" none "$published"
    fi
    declare_packs "$packs" "$(bins "$packs")"
    divided=$(publish)
    report "$packs" "$(bins "$packs")" "$([ -n "$published" ] || echo "$divided")"
done
