#!/bin/sh
# A key service end to end: packs for players and a film for the press, a service that gives a key to who has a receipt, a client that
# gets it over TLS of a pinned authority, an app that starts without the network, and a receipt that is revoked. Fails unless each of
# these was observed.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=Samples/prerequisites.sh
. Samples/prerequisites.sh

step "1. Build the command and the app"
build_command
need_packages python3 openssl
build_app requests
make_work_folder
repository=$PWD
cd "$work"

step "2. A vault with two audiences, and a host"
mkdir -p level film
echo "The second level" >level/story.txt
echo "Behind the scenes" >film/story.txt
run init vault
players=$(run keygen -o vault/keys/players.jwks)
press=$(run keygen -o vault/keys/press.jwks)
cat >vault/vault.json <<'END'
{"format": 1,
 "audiences": {"players": "file:keys/players.jwks", "press": "file:keys/press.jwks"},
 "packs": {
    "level": {"source": "../level", "for": ["players"], "tags": ["level"]},
    "film": {"source": "../film", "for": ["press"], "tags": ["film"]}}}
END
run publish vault
serve vault/site
host=$server

step "3. The key service, with a certificate of an authority of its own"
"$repository/Samples/keyservice/authority.sh"
keyservice() { python3 "$repository/Samples/keyservice/keyservice.py" receipts.db "$@"; }
# start_service PORT: in the background, its process in `service` and its address in `url`.
start_service() {
    : >service.url
    python3 "$repository/Samples/keyservice/keyservice.py" receipts.db serve --keys vault/keys/players.jwks \
        --keys vault/keys/press.jwks --certificate service.pem --private-key service.key --port "$1" \
        >service.url 2>>service.log &
    service=$!
    server="$host $service"
    tries=0
    until [ -s service.url ]; do
        tries=$((tries + 1))
        [ $tries -lt 50 ] || fail "the key service does not start"
        sleep 0.1
    done
    url=$(cat service.url)
}
start_service 0
echo "$url"

# fetch STORE ARGUMENT...: with the token in the variable TOKEN.
fetch() {
    store=$1
    shift
    run fetch "$site" --store "$store" --trust vault/trusted-root.json --keys "$url" --key-token env:TOKEN --key-ca ca.pem "$@"
}

step "4. A player buys the level, and gets its key"
TOKEN=$(keyservice sell "$players")
export TOKEN
fetch player level
grep -q "The second level" "$("$assetvault" path level --store player)/story.txt" || fail "the level did not open"

# refused STORE PACK TEXT: a fetch after which the pack waits for its key, and which says why.
refused() {
    store=$1 pack=$2 text=$3
    fetch "$store" "$pack" 2>refused || true
    cat refused
    grep -q "$text" refused || fail "it was not said: $text"
    if "$assetvault" path "$pack" --store "$store" >/dev/null 2>&1; then fail "$pack opened"; fi
}

step "5. The same receipt is not for the film: refused (403)"
refused player film "does not give the key '$press'"

step "6. Without a valid token (401), and without the pinned authority"
(TOKEN=7.invalid && refused other level "does not accept the token")
if run fetch "$site" --store other --trust vault/trusted-root.json --keys "$url" --key-token env:TOKEN level 2>refused; then
    fail "any certificate is trusted"
fi
cat refused
grep -q "no secure connection" refused || fail "the certificate was not refused"

step "7. An app asks the same service, and keeps the key sealed on the device"
head -c 32 /dev/urandom >platform.key # stands for the keychain of the platform
story() { KEPT=kept.keys PLATFORM_KEY=platform.key KEY_CA=ca.pem "$app" "$site" vault/trusted-root.json "$url" "$1" level story.txt 2>&1; }
story app | tee output
grep -q "The second level" output || fail "the app did not get the key"
if grep -q '"k"' kept.keys; then fail "the key is kept in the clear"; fi

step "8. The service is down: the app goes on with the kept key"
kill "$service"
wait "$service" 2>/dev/null || true
rm -rf app
story app | tee output
grep -q "The second level" output || fail "the kept key was not used"

step "9. The receipt is revoked: the service refuses the key, and the app forgets it"
keyservice revoke "${TOKEN%%.*}"
start_service "${url##*:}"
rm -rf app
if story app >output; then fail "a revoked receipt opens the level"; fi
cat output
grep -q "^locked" output || fail "the revocation was not noticed"
kill "$service"
wait "$service" 2>/dev/null || true
if story app >output; then fail "the app still has the key"; fi
cat output

step "10. Neither a key nor a token is in what was printed or logged"
secret=$(python3 -c 'import json; print(json.load(open("vault/keys/players.jwks"))["keys"][0]["k"])')
if grep -q -e "$secret" -e "$TOKEN" service.log output refused; then fail "a secret was printed"; fi

step "Done. The service: Samples/keyservice/keyservice.py; the app: Samples/requests/Sources/requests/Requests.swift"
