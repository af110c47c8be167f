#!/bin/sh
# How soon the first file of a large pack can be read, over a slow link: MEGABYTES (700), ROUND_TRIP in ms (50), MBIT a second (100).
set -eu
size=${1:-700} delay=${2:-50} rate=${3:-100}
here=$(cd "$(dirname "$0")" && pwd)
command=${ASSETVAULT_COMMAND:-assetvault}
work=$(mktemp -d "${BENCHMARK_FOLDER:-/dev/shm}/first.XXXXXX")
trap 'kill $server $link $fetch 2>/dev/null || true; rm -rf "$work"' EXIT
server= link= fetch=
cd "$work"
mkdir -p level/textures level/menu
number=0
while [ $number -lt $((size / 10)) ]; do
    number=$((number + 1))
    head -c 10000000 /dev/zero | openssl enc -aes-128-ctr -K $number -iv 0 2>/dev/null >level/textures/$number
done
head -c 50000 level/textures/1 >level/menu/start
"$command" init vault
cat >vault/vault.json <<'END'
{"format": 1, "packs": {"level": {"source": "../level", "first": ["menu/**"], "policy": "essential"}}}
END
"$command" publish vault
"$command" serve vault/site >url & server=$!
while [ ! -s url ]; do sleep 0.05; done
python3 "$here/link.py" "$(sed 's/.*:\([0-9]*\).*/\1/' url)" "$delay" "$rate" >link & link=$!
while [ ! -s link ]; do sleep 0.05; done
keys="--trust vault/trusted-root.json --keys file:vault/keys/vault.jwks"

seconds() {
    start=$(date +%s%N)
    "$@" >read
    end=$(date +%s%N)
    cmp read level/menu/start
    echo "$(((end - start) / 1000000)) ms"
}

for turn in 1 2 3 4 5; do
    rm -rf store
    # shellcheck disable=SC2086
    echo "$(seconds "$command" cat level menu/start --site "$(cat link)" --store store $keys): nothing is here"
done
rm -rf store
# shellcheck disable=SC2086
"$command" fetch "$(cat link)" --store store $keys >/dev/null 2>&1 & fetch=$!
until ls store/ephemeral/*.part >/dev/null 2>&1; do sleep 0.02; done
# shellcheck disable=SC2086
echo "$(seconds "$command" cat level menu/start --site "$(cat link)" --store store $keys): while all of it is downloaded"
kill $fetch
