"""Repositories with delegations, made by python-tuf's library alone, for our client to read.

    make_delegations.py KIND OUT

Writes OUT/metadata and OUT/targets, and prints as one line of JSON which paths are found and who lists them, and
which are not. KIND is one of

    roles   roles with paths, one below another, one that ends the search
    bins    the targets delegate to hash bins
    nested  the targets delegate by hash prefixes to one role, which delegates to hash bins
    plain   as roles, without consistent snapshots

Each role has keys of another kind: Ed25519, ECDSA and RSA.
"""

import datetime
import itertools
import json
import pathlib
import sys

from securesystemslib.signer import CryptoSigner
from tuf.api.metadata import (
    DelegatedRole,
    Delegations,
    Metadata,
    MetaFile,
    Root,
    Snapshot,
    SuccinctRoles,
    TargetFile,
    Targets,
    Timestamp,
)
from tuf.api.serialization.json import JSONSerializer

GENERATORS = itertools.cycle(
    [CryptoSigner.generate_ecdsa, CryptoSigner.generate_rsa, CryptoSigner.generate_ed25519]
)
EXPIRES = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0) + datetime.timedelta(days=30)


class Site:
    def __init__(self, folder, consistent):
        self.folder = folder
        self.consistent = consistent
        self.roles = {"targets": Targets(expires=EXPIRES)}
        self.signers = {}
        (folder / "metadata").mkdir(parents=True)

    def signer(self, role):
        if role not in self.signers:
            self.signers[role] = next(GENERATORS)()
        return self.signers[role]

    def list(self, role, *paths):
        for path in paths:
            info = TargetFile.from_data(path, path.encode(), ["sha256", "sha512"])
            info.unrecognized_fields["custom"] = {"by": role}
            self.roles[role].targets[path] = info
            for hosted in info.get_prefixed_paths() if self.consistent else [path]:
                file = self.folder / "targets" / hosted
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(path.encode())

    def delegate(self, delegator, role, terminating=False, **scope):
        targets = self.roles[delegator]
        if targets.delegations is None:
            targets.delegations = Delegations({}, {})
        targets.delegations.roles[role] = DelegatedRole(role, [], 1, terminating, **scope)
        targets.add_key(self.signer(role).public_key, role)
        self.roles[role] = Targets(expires=EXPIRES)

    def delegate_to_bins(self, delegator, bits, prefix, paths):
        signer = next(GENERATORS)()
        bins = SuccinctRoles([], 1, bits, prefix)
        targets = self.roles[delegator]
        targets.delegations = Delegations({}, succinct_roles=bins)
        targets.add_key(signer.public_key)
        for name in bins.get_roles():
            self.roles[name] = Targets(expires=EXPIRES)
            self.signers[name] = signer
        found = {path: bins.get_role_for_target(path) for path in paths}
        for path, name in found.items():
            self.list(name, path)
        return found

    def write(self, name, role, signed, versioned):
        metadata = Metadata(signed)
        metadata.sign(self.signer(role))
        data = metadata.to_bytes(JSONSerializer(compact=True))
        file = f"1.{name}.json" if versioned else f"{name}.json"
        (self.folder / "metadata" / file).write_bytes(data)
        return MetaFile.from_data(signed.version, data, ["sha512"])

    def publish(self):
        root = Root(expires=EXPIRES, consistent_snapshot=self.consistent)
        snapshot = Snapshot(expires=EXPIRES)
        timestamp = Timestamp(expires=EXPIRES)
        for role in ("root", "timestamp", "snapshot", "targets"):
            root.add_key(self.signer(role).public_key, role)
        self.write("root", "root", root, True)
        for role, targets in self.roles.items():
            snapshot.meta[f"{role}.json"] = self.write(role, role, targets, self.consistent)
        timestamp.snapshot_meta = self.write("snapshot", "snapshot", snapshot, self.consistent)
        self.write("timestamp", "timestamp", timestamp, False)


def make_roles(site):
    site.list("targets", "packs/own")
    site.delegate("targets", "team", paths=["levels/*", "maps/*"])
    site.delegate("team", "below", terminating=True, paths=["maps/?.map"])
    site.delegate("team", "never", paths=["maps/?.map"])
    site.delegate("targets", "other", paths=["*/*"])
    site.list("team", "levels/1", "packs/stolen")
    site.list("below", "maps/a.map", "levels/stolen")
    site.list("never", "maps/b.map")
    site.list("other", "levels/1", "levels/2", "maps/b.map", "odd/\u00e9 e\u0301")
    found = {
        "packs/own": "targets", "levels/1": "team", "maps/a.map": "below", "levels/2": "other",
        "odd/\u00e9 e\u0301": "other",
    }
    return found, ["packs/stolen", "levels/stolen", "maps/b.map", "missing", "a/b/c"]


def make_bins(site):
    paths = [f"packs/{number}.avpack" for number in range(20)]
    return site.delegate_to_bins("targets", 4, "bin", paths), ["packs/20.avpack"]


def make_nested(site):
    site.delegate("targets", "packs", path_hash_prefixes=[f"{digit:x}" for digit in range(16)])
    paths = [f"packs/{number}.avpack" for number in range(20)]
    return site.delegate_to_bins("packs", 3, "packs", paths), ["packs/20.avpack"]


def main(kind, folder):
    site = Site(folder, kind != "plain")
    make = {"roles": make_roles, "bins": make_bins, "nested": make_nested, "plain": make_roles}
    found, missing = make[kind](site)
    site.publish()
    print(json.dumps({"found": found, "missing": missing}))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: make_delegations.py KIND OUT")
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
