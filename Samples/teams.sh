#!/bin/sh
# Two teams, one site: a studio lets another team publish packs under dlc1/ with keys of its own, and rotates a key.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=Samples/prerequisites.sh
. Samples/prerequisites.sh

build_command
need_packages python3
make_work_folder
repository=$PWD
cd "$work"
python3 "$repository/Samples/levels/make-levels.py" assets

step "1. The team makes a vault without a root, and seals an island; dlc1.pub.pem goes to the studio"
run init team --team dlc1
run publish team --pack dlc1/island=assets/levels/two

step "2. The studio makes its own vault, names the team, its paths and its key, and publishes both"
run init studio
python3 - <<'END'
import json

with open("studio/vault.json") as file:
    settings = json.load(file)
settings["teams"] = {
    "dlc1": {"paths": ["packs/dlc1/*"], "tags": ["dlc1-*"], "keys": ["../team/dlc1.pub.pem"], "site": "../team/site"}
}
with open("studio/vault.json", "w") as file:
    json.dump(settings, file, indent=2)
END
run publish studio --pack levels/one=assets/levels/one
run trust show studio

step "3. A player fetches from the one site, with both vault keys; trust comes from the studio's root alone"
run fetch studio/site --store player --trust studio/trusted-root.json \
    --keys file:studio/keys/vault.jwks --keys file:team/keys/vault.jwks
diff -r assets/levels/two "$("$assetvault" path dlc1/island --store player)/" && echo "identical"

step "4. The team tries to speak for a pack of the studio: for clients there is no such pack"
run publish team --pack levels/one=assets/music
run publish studio
run fetch studio/site --store player --keys file:studio/keys/vault.jwks --keys file:team/keys/vault.jwks
diff -r assets/levels/one "$("$assetvault" path levels/one --store player)/" && echo "still the studio's"

step "5. The studio replaces the key of its targets; the player goes on with the root that it pinned"
run trust rotate studio targets
run publish studio
run fetch studio/site --store player
run audit studio/site --trust studio/trusted-root.json | tail -n 1

step "6. The root's key is kept offline: what it must sign waits, is signed there, and comes back"
mkdir safe
mv studio/keys/root.pem safe/
run trust rotate studio timestamp
run trust sign studio/pending/*.root.json --key safe/root.pem
run publish studio
run fetch studio/site --store player

step "Done: two teams, one site, and no client was ever locked out."
