#!/bin/sh
# The main job, end to end: real assets are sealed, published, served, fetched, verified, opened, updated and audited.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=Samples/prerequisites.sh
. Samples/prerequisites.sh

step "1. Build (the first time takes a few minutes)"
build_command
need_packages python3

make_work_folder
repository=$PWD
cd "$work"

step "2. Assets: two levels and music, made on the spot"
python3 "$repository/Samples/levels/make-levels.py" assets
du -sh assets

step "3. Seal one level by hand: one encrypted file, and its manifest with the wrapped key"
install -m 600 "$repository/Keys/development-only.vault.jwks" vault.jwks
run seal assets/levels/one -o one.avpack --keys file:vault.jwks
run inspect one.avpack

step "4. Open it again, and read one file in place without opening the rest"
run open one.avpack -o one --keys file:vault.jwks
diff -r assets/levels/one one && echo "identical"
run cat one.avpack map.json --keys file:vault.jwks | head -c 60
echo " ..."

step "5. One flipped byte is refused, and nothing is written"
cp one.avpack flipped.avpack
cp one.avpack.json flipped.avpack.json
python3 - <<'END'
with open("flipped.avpack", "r+b") as pack:
    pack.seek(1000)
    byte = pack.read(1)[0]
    pack.seek(1000)
    pack.write(bytes([byte ^ 1]))
END
if run open flipped.avpack -o flipped --keys file:vault.jwks; then
    echo "the flipped byte was not seen" >&2
    exit 1
fi
test ! -e flipped

step "6. A vault: signing keys, settings, and the root of trust that clients pin"
mkdir -m 700 game game/keys
for key in vault.jwks root.pem targets.pem snapshot.pem timestamp.pem; do
    install -m 600 "$repository/Keys/development-only.$key" "game/keys/$key"
done
cp "$repository/Samples/levels/vault.json" game/
run init game

step "7. Publish: packs are sealed, and metadata signed, into a static site"
run publish game
find game/site -type f | sort

step "8. Upload it, serve it (any web server will do), and fetch without a key: packs stop in shared storage"
run upload game/site host
serve host
run fetch "$site" --store player --trust game/trusted-root.json
run status --store player

step "9. Fetch with the key: the packs are opened and staged for good"
run fetch "$site" --store player --keys file:vault.jwks --all
run status --store player
diff -r assets/levels/two "$("$assetvault" path levels/two --store player)/" && echo "identical"

step "10. Or keep packs sealed, and read files in place: no plaintext on the disk"
run fetch "$site" --store kiosk --trust game/trusted-root.json --keys file:vault.jwks --sealed levels/one
run cat "$("$assetvault" path levels/one --store kiosk)" map.json --keys file:vault.jwks | head -c 60
echo " ..."

step "11. Change the game and publish again: unchanged pieces are taken over byte for byte"
rm -rf assets
python3 "$repository/Samples/levels/make-levels.py" assets --edition 2
run publish game
run upload game/site host
run fetch "$site" --store player --keys file:vault.jwks --all
diff -r assets/levels/one "$("$assetvault" path levels/one --store player)/" && echo "identical"

step "12. Audit what is hosted: signatures and every byte without a key, every file with one"
run audit "$site" --trust game/trusted-root.json
run audit game/site --trust game/trusted-root.json --keys file:vault.jwks

step "Done: sealed, hosted, fetched, verified, opened. Next: README.md, and your own 'assetvault init my-game'."
