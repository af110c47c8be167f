#!/bin/sh
# An app with the key built in: the build takes it from the environment and masks it, and the app opens packs with it. Without the
# secret there is no build. Fails unless each of these was observed.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=Samples/prerequisites.sh
. Samples/prerequisites.sh

step "1. Build the command"
build_command
need_packages python3
repository=$PWD
make_work_folder

step "2. A vault with two levels and music, and its key"
cd "$work"
python3 "$repository/Samples/levels/make-levels.py" assets
run init game
cp "$repository/Samples/levels/vault.json" game/
run publish game
run keygen -o other.jwks
cd "$repository"
# build KEYS: the app with a key file's text in the variable.
build() {
    GAME_KEY=$(cat "$1") EMBEDDED_KEYS_ENVIRONMENT=production build_app embedded
}
# play: a file of level one, as the app that was built last reads it.
play() { "$app" "$work/game/site" "$work/game/trusted-root.json" "$work/$1" levels/one map.json; }

step "3. Without the secret the build fails, and says what to do"
if (EMBEDDED_KEYS_ENVIRONMENT=production build_app embedded) >"$work/output" 2>&1; then
    fail "an app without its key was built"
fi
grep "error: .*GAME_KEY" "$work/output" || fail "the build does not name the secret"
if (GAME_KEY=none EMBEDDED_KEYS_ENVIRONMENT=production build_app embedded) >"$work/output" 2>&1; then
    fail "an app with a wrong secret was built"
fi
grep "error: .*not a JWK" "$work/output" || fail "the build does not say what is wrong with the secret"

step "4. With it the app opens the pack"
build "$work/game/keys/vault.jwks"
play store >"$work/output" || fail "the app does not open its pack: $(cat "$work/output")"
head -c 60 "$work/output"
echo " ..."

step "5. Neither the app nor what the plugin wrote has the key in one piece: raw, hex or base64"
search="python3 Samples/embedded/search.py"
cp "$app" "$work/app"
if $search "$work/game/keys/vault.jwks" "$work/game/keys/vault.jwks"; then fail "the search finds nothing"; fi
find .build/plugins/outputs -path '*embedded*' -type f >"$work/files"
grep -q "EmbeddedKeys.swift$" "$work/files" || fail "the source with the shares is missing"
# shellcheck disable=SC2046 # a list of words
$search "$work/game/keys/vault.jwks" "$work/app" .build/release.yaml $(cat "$work/files") || fail "the key is in one piece"
# SwiftPM keeps the environment in which it compiled a plugin: Keys/README.md.
rm -f .build/plugins/cache/EmbeddedKeys-state.json

step "6. The same key changes nothing; another key makes another app, which does not open the pack"
build "$work/game/keys/vault.jwks"
cmp "$app" "$work/app" || fail "the app changed without a reason"
build "$work/other.jwks"
rm -f .build/plugins/cache/EmbeddedKeys-state.json
if play other >"$work/output"; then fail "a wrong key opens the pack"; fi
cat "$work/output"
grep -q "^locked" "$work/output" || fail "the wrong key was not noticed"

step "Done. The app: Samples/embedded/Sources/embedded; what this protects: Keys/README.md"
