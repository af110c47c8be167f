#!/bin/sh
# A studio's day: 30 packs for three audiences in two channels, with opaque names and a team's pack, published by CI runners that
# have none of the old packs. A release, an update, a leaked key, a rollback, a pruned host, and an upload from a machine that is
# behind. Ends with what each step cost. Fails unless each step was observed.
set -eu
cd "$(dirname "$0")/.."
# shellcheck source=Samples/prerequisites.sh
. Samples/prerequisites.sh

build_command
need_packages python3

make_work_folder
cd "$work"

# measured LABEL COMMAND...: runs it, and notes how long it took, and by how much the host grew.
measured() {
    label=$1
    shift
    before=$(du -sb host 2>/dev/null | cut -f 1)
    begin=$(date +%s%N)
    "$@"
    end=$(date +%s%N)
    after=$(du -sb host 2>/dev/null | cut -f 1)
    printf '%-44s %6d ms  host %+9d bytes\n' "$label" $(((end - begin) / 1000000)) $((${after:-0} - ${before:-0})) >>costs
}

# A runner gets the vault from version control and its keys from a safe, and no site.
runner() {
    rm -rf runner
    mkdir runner
    cp -R vault/keys vault/vault.json vault/trusted-root.json runner/
}
publish_from_runner() {
    run publish runner --against "$site"
    run upload runner/site host
}
press="--keys file:press.jwks"
everyone="--keys file:vault/keys/vault.jwks --keys file:team/keys/vault.jwks"
# player NAME OPTION...: fetches into a store of that name.
player() {
    store=players/$1
    shift
    run fetch "$site" --store "$store" --trust vault/trusted-root.json "$@"
}

step "1. Thirty packs: 26 levels for everyone, two for the press, two for partners; a team adds one more"
python3 - <<'END'
import json
import pathlib
import random

packs = {}
for number in range(30):
    name = f"levels/{number:02}"
    chance = random.Random(number)
    folder = pathlib.Path("assets") / name
    folder.mkdir(parents=True)
    (folder / "map.json").write_text(json.dumps([chance.randrange(9) for _ in range(20_000)]))
    (folder / "sound.bin").write_bytes(chance.randbytes(300_000))
    packs[name] = {"source": f"../assets/{name}", "policy": "essential" if number < 3 else "prefetch"}
    if number >= 26:
        packs[name]["for"] = ["press" if number < 28 else "partners"]
pathlib.Path("assets/island").mkdir()
pathlib.Path("assets/island/map.json").write_text("[1, 2, 3]")
settings = {
    "format": 1, "packs": packs, "channels": ["beta", "live"], "opaqueNames": True,
    "audiences": {"press": "file:keys/press.jwks", "partners": "file:keys/partners.jwks"},
    "teams": {"dlc1": {"paths": ["packs/dlc1/*"], "keys": ["../team/dlc1.pub.pem"], "site": "../team/site"}},
}
pathlib.Path("settings.json").write_text(json.dumps(settings, indent=2))
END
run init team --team dlc1
run publish team --pack dlc1/island=assets/island
run init vault
cp settings.json vault/vault.json
for audience in press partners; do run keygen -o "vault/keys/$audience.jwks"; done
cp vault/keys/press.jwks press.jwks

step "2. The release: published to beta, promoted to live, uploaded into an empty host"
mkdir host
measured "release: seal and publish 30 packs" run publish vault
measured "release: promote to live" run promote vault --all --from beta --to live --keys file:vault/keys/vault.jwks
measured "release: upload" run upload vault/site host
serve host
# shellcheck disable=SC2086 # lists of words
measured "release: a player fetches" player one $everyone
measured "release: a reviewer fetches" player reviewer $press
diff -r assets/levels/07 "$("$assetvault" path levels/07 --store players/one)/" || fail "the player has another level"
diff -r assets/island "$("$assetvault" path dlc1/island --store players/one)/" || fail "the player has no island"
diff -r assets/levels/26 "$("$assetvault" path levels/26 --store players/reviewer)/" || fail "the press has no level"

step "3. An update of one level, from a runner without old packs"
printf 'new' >>assets/levels/07/sound.bin
runner
measured "update: publish from CI and upload" publish_from_runner
measured "update: promote from CI" run promote runner --all --from beta --to live --against "$site" \
    --keys file:vault/keys/vault.jwks
run upload runner/site host
# shellcheck disable=SC2086
measured "update: the player fetches" player one $everyone
diff -r assets/levels/07 "$("$assetvault" path levels/07 --store players/one)/" || fail "the player missed the update"

step "4. The key of the press leaks: a new one in every channel, from a runner; what the old one still opens is said"
mv vault/keys/press.jwks vault/keys/press-leaked.jwks
run keygen -o vault/keys/press.jwks
python3 - <<'END'
import json

with open("vault/vault.json") as file:
    settings = json.load(file)
settings["audiences"]["press-leaked"] = "file:keys/press-leaked.jwks"
with open("vault/vault.json", "w") as file:
    json.dump(settings, file, indent=2)
END
runner
measured "leak: publish from CI and upload" publish_from_runner
leaked=$(python3 -c 'import json; print(json.load(open("press.jwks"))["keys"][0]["kid"])')
for channel in beta live; do
    run list "$site" --trust vault/trusted-root.json --channel "$channel" --keys file:vault/keys/vault.jwks >listed
    if grep -q "$leaked" listed; then fail "the channel $channel is still sealed for the leaked key"; fi
done

step "5. The update was a mistake: version 1 of that level goes live again, from a runner"
runner
measured "rollback: restore from CI and upload" sh -c \
    "'$assetvault' restore runner levels/07 --version 1 --against '$site' && '$assetvault' upload runner/site host"
cp runner/vault.json vault/
runner
run promote runner --all --from beta --to live --allow-older --against "$site" --keys file:vault/keys/vault.jwks
run upload runner/site host
# shellcheck disable=SC2086
measured "rollback: the player fetches" player one $everyone
[ "$(wc -c <"$("$assetvault" path levels/07 --store players/one)/sound.bin")" = 300000 ] || fail "nothing was rolled back"

step "6. The operator, who has no vault, prunes the host"
measured "prune: by the operator" run prune host --trust vault/trusted-root.json --keep 1 --grace 0d

step "7. A machine that slept through the day uploads what it has: refused, and the host stays as it is"
cp host/metadata/timestamp.json before
if run upload vault/site host; then fail "the host went back"; else code=$?; fi
[ "$code" = 76 ] || fail "the upload ended with $code"
cmp before host/metadata/timestamp.json || fail "the host changed"
run audit host --trust vault/trusted-root.json | tail -n 1
# shellcheck disable=SC2086
player one $everyone

step "Done. What each step cost:"
cat costs
