#!/bin/sh
# A game on packs, end to end: preloaded, played while the next level downloads, killed, resumed, unlocked without
# any host, and updated. Fails unless each of these was observed.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=Samples/prerequisites.sh
. Samples/prerequisites.sh

fail() {
    echo "maze.sh: $*" >&2
    [ ! -e "$work/output" ] || cat "$work/output" "$work/progress" >&2
    exit 1
}

step "1. Build the command and the game"
build_command
need_packages python3 curl nginx-light
build_app maze

make_work_folder
repository=$PWD
cd "$work"

step "2. Two vaults: the game's, and one for the secret level, with a vault key of its own"
python3 "$repository/Samples/maze/make-mazes.py" .
cp "$repository/Samples/maze/vault.json" vault.json
run init secret --team secret
run publish secret --pack secret/three=assets/three
run init game
mv vault.json game/
run publish game

step "3. A host that is slow: 1 MB a second"
# A worker of a root-owned nginx is another user, who must reach the files.
chmod 755 .
cp -r game/site served
chmod -R a+rX served
start() {
    cat >nginx.conf <<END
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
    limit_rate 1m;
    server {
        listen 127.0.0.1:$1;
        root $work/served;
    }
}
END
    nginx -e "$work/error.log" -t -c "$work/nginx.conf" 2>/dev/null || return 1
    nginx -e "$work/error.log" -c "$work/nginx.conf" &
    server=$!
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        if curl --silent --output /dev/null "http://127.0.0.1:$1/"; then return 0; fi
        kill -0 "$server" 2>/dev/null || break
        sleep 0.2
    done
    server=""
    return 1
}
port=$((20000 + $$ % 20000))
until start $port; do
    port=$((port + 1))
    [ $port -lt 40005 ] || fail "nginx does not start"
done
site=http://127.0.0.1:$port

state() {
    "$assetvault" status --store player | grep " $1 " || echo "absent  $1"
}
# Bytes of level two that are on the disk.
arrived() {
    state levels/two | sed -n 's/.*, \([0-9]*\) of [0-9]* bytes are there/\1/p'
}

step "4. With the installation the essential level comes, and the secret one sealed. Level two comes on demand"
run downloader "$site" --store player --trust game/trusted-root.json --request install
state levels/one | grep '^waiting' || fail "level one was not preloaded"
state secret/three | grep '^waiting' || fail "the secret level was not preloaded"
state levels/two | grep '^absent' || fail "level two came although nobody asked"

# The player has the game's key, and not that of the secret level.
mkdir -m 700 keys
install -m 600 game/keys/vault.jwks keys/game.jwks
# Always in the background or a pipe: there it replaces its shell, so that a signal reaches the game itself.
play() {
    exec "$app" "$site" --store player --trust game/trusted-root.json --keys keys "$@"
}

step "5. Level one is played while level two downloads; then the game is killed"
play --moves moves/one --pace 60 >output 2>progress &
game=$!
tries=0
until [ "$(arrived || true)" ] && [ "$(arrived)" -gt 2000000 ] && grep -q "coin 3" output; do
    tries=$((tries + 1))
    kill -0 "$game" 2>/dev/null || fail "the game ended before it was killed"
    [ $tries -lt 300 ] || fail "the download of level two does not come on"
    sleep 0.1
done
kill -9 "$game"
wait "$game" 2>/dev/null || true
game=""
cat output
tail -n 1 progress
before=$(arrived)
[ "$before" ] || fail "level two was not on its way when the game was killed"
steps=$(cut -d ' ' -f 4 player/journey)
echo "killed at step $steps, with $before bytes of level two"
[ "$steps" -gt 0 ] || fail "nothing was played before"

step "6. Started again it goes on at that step and with these bytes, to the gate of the secret level"
tail -c +$((steps + 1)) moves/one >rest
cat rest moves/two moves/three >moves/all
play --moves moves/all --wait 120 >output 2>progress &
game=$!
tries=0
until grep -q "the gate to secret/three is locked" output; do
    tries=$((tries + 1))
    kill -0 "$game" 2>/dev/null || fail "the game ended before the gate"
    [ $tries -lt 600 ] || fail "the gate is not reached"
    sleep 0.1
done
grep -q "after $steps steps" output || fail "the journey began anew"
first=$(sed -n 's/^fetching levels\/two .* from byte \([0-9]*\)$/\1/p' progress | head -n 1)
# An incomplete piece can't be verified: it is fetched again.
[ "${first:-0}" -gt $((before - 524288)) ] || fail "the download began anew: at ${first:-0}, not near $before"
echo "level two went on from byte $first"
grep -q "the exit of levels/two" output || fail "level two was not played"
if grep -q "== secret/three" output; then fail "the gate was not locked"; fi
state secret/three | grep '^waiting' || fail "the secret level does not wait"

step "7. The host goes away; a key comes, and the waiting game goes on into the secret level"
kill "$server"
wait "$server" 2>/dev/null || true
server=""
if curl --silent --output /dev/null "$site/"; then fail "the host still answers"; fi
install -m 600 secret/keys/vault.jwks arriving
mv arriving keys/secret.jwks
wait "$game" || fail "the game failed"
game=""
cat output
grep -q "the gate opens" output || fail "the gate did not open"
grep -q "== the end, with" output || fail "the end was not reached"
state secret/three | grep '^loaded .* sealed' || fail "the secret level was not kept sealed"
if grep -rqsF "secret labyrinth" player; then fail "the secret level stands on the disk in plain"; fi

step "8. Without the host the whole game can be played again, with the same output each time"
for number in 1 2; do
    rm player/journey
    cat moves/one moves/two moves/three | play >"again.$number" 2>/dev/null || fail "the second game failed"
done
cmp again.1 again.2 || fail "the output differs"
tail -n 1 again.1

step "9. A new version of level one is published; the next start of the game gets it"
echo "The meadow again, by night." >assets/one/story.txt
run publish game
# What the metadata list comes before them.
cp -r game/site/targets served/
cp -r game/site/metadata served/
chmod -R a+rX served
until start $port; do
    port=$((port + 1))
    [ $port -lt 40005 ] || fail "nginx does not start again"
done
site=http://127.0.0.1:$port
rm player/journey
play --moves moves/one >output 2>progress &
game=$!
wait "$game" || fail "the game failed"
game=""
head -n 2 output
grep -q "by night" output || fail "the new version is not played"
state levels/one | grep '^loaded .* version 2 ' || fail "version 2 of level one is not loaded"

step "Done: played, killed, gone on, unlocked, updated. Samples/maze/README.md tells how to play yourself"
