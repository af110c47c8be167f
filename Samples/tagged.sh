#!/bin/sh
# A game of five levels whose files are tagged, end to end: installed, played with a kill in every level, each level downloaded
# when it is needed and removed when space is. After each step the disk report. Fails unless each of these was observed.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=Samples/prerequisites.sh
. Samples/prerequisites.sh

step "1. Build the command"
build_command
need_packages python3

make_work_folder
repository=$PWD
cd "$work"

step "2. A vault whose packs are made by tags: level 1 with the installation, 2 and 3 prefetched, the rest on demand"
python3 "$repository/Samples/tagged/make-game.py" game
run init vault
cp "$repository/Samples/tagged/vault.json" vault/
run plan vault --device scale=2 --device language=de-AT
run publish vault

step "3. A host that is slow, and loses every tenth request"
serve vault/site --throttle 400KB --latency 30 --error-rate 0.1 --seed 7

# A device of scale 2, in German.
cat >device <<END
--device scale=2 --device language=de-AT
END
# shellcheck disable=SC2046 # lists of words
fetch() { run fetch "$site" --store player --trust vault/trusted-root.json --keys file:vault/keys/vault.jwks $(cat device) "$@"; }
usage() { run usage --store player; }
# One member of a pack in the report.
report() {
    "$assetvault" usage --store player --json | python3 -c '
import json, sys
pack = next((p for p in json.load(sys.stdin)["packs"] if p["id"] == sys.argv[1]), {})
print(pack.get(sys.argv[2], "absent"))' "$1" "$2"
}

# The game, which knows nothing of packs: it reads files by their names, and notes in a journal how far it is.
cat >play <<'END'
#!/bin/sh
set -eu
level=$1
cd "$ASSETVAULT_RESOURCES"
# Only the files of this level and the shared ones are there, each once, of one scale and one language.
for file in "level$level/map.json" "level$level/tune.wav" shared/sky.png shared/hero.png shared/boss.png "texts/level$level.json"; do
    test -s "$file"
done
set -- shared/*
test $# -eq 3 && test ! -e texts/en
grep -q "Geschafft" "texts/level$level.json"
# 192 pixels wide: the scale 2.
test "$(wc -c <shared/sky.png)" -gt 100000 && test "$(wc -c <shared/sky.png)" -lt 150000
row=$(cat "$JOURNAL/level$level" 2>/dev/null || echo 0)
echo "level $level from row $row: $(head -c 40 "texts/level$level.json" | tr -d '\n')"
while [ "$row" -lt 20 ]; do
    row=$((row + 1))
    cksum <"level$level/map.json" >/dev/null
    echo "$row" >"$JOURNAL/level$level"
    [ -z "${PACE:-}" ] || sleep "$PACE"
done
echo "level $level is played"
END
chmod +x play
mkdir journal
JOURNAL=$work/journal
export JOURNAL
# Replaces the shell that runs it, so that a signal reaches the game itself.
play() {
    # shellcheck disable=SC2046 # a list of words
    exec "$assetvault" access "level$1" --store player --site "$site" --keys file:vault/keys/vault.jwks \
        $(cat device) -- ./play "$1"
}

step "4. The installation: level 1 is there, and nothing else was waited for"
fetch game/level1 game/level1.level2.level3.level4.level5 game/level1.level2.level3.level4.level5/scale-2 \
    game/level1.level2.level3.level4.level5/language-de
usage
[ "$(report game/level1 form)" = opened ] || fail "level 1 was not installed"
[ "$(report game/level2 form)" = absent ] || fail "level 2 came with the installation"

for level in 1 2 3 4 5; do
    if [ $level = 2 ]; then
        step "While level 1 was played, levels 2 and 3 were prefetched, in this order; nothing came in another scale or language"
        fetch --parallel 1 2>prefetched
        cat prefetched
        grep -n "^loaded" prefetched | head -n 1 | grep -q "game/level2" || fail "level 2 was not the first to come"
        [ "$(report game/level3 form)" = opened ] || fail "level 3 was not prefetched"
        [ "$(report game/level1.level2.level3.level4.level5/scale-3 form)" = absent ] || fail "another scale came"
    fi
    if [ $level = 4 ]; then
        [ "$(report game/level4 form)" = absent ] || fail "level 4 came before it was asked for"
    fi
    step "Level $level is played, and killed"
    (PACE=0.2 play $level) >output 2>progress &
    game=$!
    tries=0
    until [ "$(cat "journal/level$level" 2>/dev/null || echo 0)" -ge 3 ]; do
        tries=$((tries + 1))
        kill -0 "$game" 2>/dev/null || { cat output progress >&2; fail "the game ended before it was killed"; }
        [ $tries -lt 600 ] || fail "level $level does not begin"
        sleep 0.1
    done
    usage
    [ "$(report "game/level$level" inAccess)" = True ] || fail "level $level is not in access while it is played"
    # What is in access stays, whatever else happens.
    run purge --store player
    [ "$(report "game/level$level" form)" = opened ] || fail "level $level was removed while it was played"
    kill -9 "$game"
    wait "$game" 2>/dev/null || true
    game=""
    reached=$(cat "journal/level$level")
    [ "$reached" -lt 20 ] || fail "level $level was over before the kill"
    tries=0
    # Its last child reads on until it notices.
    while [ "$(report "game/level$level" inAccess)" = True ]; do
        tries=$((tries + 1))
        [ $tries -lt 50 ] || fail "a killed game holds level $level"
        sleep 0.1
    done

    step "Level $level goes on at row $reached"
    (play $level) >output || fail "level $level does not go on"
    cat output
    grep -q "from row $reached" output || fail "level $level began anew"
    usage
done

step "The disk is full: what was used least recently goes first, the installation stays"
run preserve --tag level5 --priority 0.9 --store player
run purge --store player --dry-run
run purge --store player
usage
[ "$(report game/level1 form)" = opened ] || fail "the installation was removed"
[ "$(report game/level4 form)" = absent ] || fail "level 4 was not removed"

step "What was removed comes back when it is asked for, and is played without the network after that"
rm journal/level4
(play 4) >output || fail "level 4 does not come back"
cat output
kill "$server"
wait "$server" 2>/dev/null || true
server=""
rm journal/level4
(play 4) >output || fail "level 4 is not played without the network"
cat output
usage

step "Done: installed, prefetched, played, killed, gone on, removed, brought back. Read Sources/AssetVault/AssetVault.docc/Requests.md"
