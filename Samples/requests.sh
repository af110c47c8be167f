#!/bin/sh
# An app of one file that asks for packs by tag: downloaded with progress, then read without the network; a wrong key, and no network
# at all. Fails unless each of these was observed.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=Samples/prerequisites.sh
. Samples/prerequisites.sh

step "1. Build the command and the app"
build_command
build_app requests
make_work_folder
repository=$PWD
cd "$work"

step "2. A level with a tag, and a host"
mkdir -p assets/two
echo "The second level" >assets/two/story.txt
head -c 3000000 /dev/urandom >assets/two/picture
run init game
cat >game/vault.json <<'END'
{"format": 1, "packs": {"levels/two": {"source": "../assets/two", "policy": "onDemand", "tags": ["level-2"]}}}
END
run publish game
serve game/site --throttle 2MB
# app STORE KEYS: the story of the level.
story() { "$app" "$site" game/trusted-root.json "$2" "$1" level-2 story.txt 2>&1; }

step "3. Asked for by its tag: downloaded, with progress"
story store game/keys/vault.jwks | tee output
grep -q "%" output && grep -q "The second level" output || fail "the level did not come with progress"

step "4. A wrong key: the download waits, and the right key needs only to open it"
install -m 600 "$repository/Keys/development-only.vault.jwks" wrong.jwks
if story other wrong.jwks >output; then fail "a wrong key opens the level"; fi
cat output
grep -q "^locked" output || fail "the wrong key was not noticed"
story other game/keys/vault.jwks | tee output
grep -q "The second level" output || fail "the right key does not open the level"

step "5. Without the network: what is there is read, what is missing can't come"
kill "$server"
wait "$server" 2>/dev/null || true
server=""
story store game/keys/vault.jwks | tee output
grep -q "all there" output && grep -q "The second level" output || fail "the level is not read without the network"
if story empty game/keys/vault.jwks >output; then fail "an empty store has the level"; fi
cat output
grep -q "^offline" output || fail "the missing network was not noticed"

step "Done. The app: Samples/requests/Sources/requests/Requests.swift"
