"""Which packs of a site a vault key opens, by any slot in any metadata that the site still has.

    exposure.py SITE JWK     prints an object: "ID VERSION" to whether every byte of that version was decrypted
"""

import json
import pathlib
import sys

from decoder import Pack
from pack_manifest import Manifest, WrongKey, vault_keys


def versions(site):
    """Each listed version once, with all slots of its content key."""
    targets, slots = {}, {}
    for file in sorted((site / "metadata").glob("*.json")):
        for path, target in json.loads(file.read_bytes())["signed"].get("targets", {}).items():
            pack = target["custom"]["assetvault"]
            targets[path, target["hashes"]["sha256"]] = target
            slots.setdefault(pack["contentKeyID"], []).extend(pack["slots"])
    for (path, digest), target in targets.items():
        pack = target["custom"]["assetvault"]
        # A manifest has at most 64 slots.
        own = {json.dumps(slot, sort_keys=True): slot for slot in slots[pack["contentKeyID"]]}
        pack["slots"] = list(own.values())[:64]
        place = pathlib.PurePosixPath(path)
        yield target, site / "targets" / place.parent / f"{digest}.{place.name}"


def main(site, jwk):
    ring = list(vault_keys(pathlib.Path(jwk).read_bytes()))
    opened = {}
    for target, file in versions(pathlib.Path(site)):
        pack = target["custom"]["assetvault"]
        try:
            Pack(file.read_bytes(), Manifest(json.dumps(target).encode()), ring)
            opened[f"{pack['id']} {pack['version']}"] = True
        except WrongKey:
            opened[f"{pack['id']} {pack['version']}"] = False
    print(json.dumps(opened))


if __name__ == "__main__":
    main(*sys.argv[1:])
