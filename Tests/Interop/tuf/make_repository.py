"""Repositories made by python-tuf alone, for our client to refresh from.

    make_repository.py OUT

Writes OUT/first and OUT/second, each with metadata/ and targets/: the same repository before and after
a release that also rotates the root, timestamp and snapshot keys. Ed25519 keys; two of three targets keys
must sign, and a fourth is of another kind; members that a client need not know, a role; names and texts that strain
canonical JSON.
"""

import copy
import datetime
import hashlib
import pathlib
import shutil
import sys

from securesystemslib.signer import CryptoSigner
from tuf.api.metadata import (
    DelegatedRole,
    Delegations,
    Metadata,
    MetaFile,
    Root,
    Snapshot,
    TargetFile,
    Targets,
    Timestamp,
)
from tuf.api.serialization.json import JSONSerializer
from tuf.repository import Repository

ROLES = {"root": Root, "timestamp": Timestamp, "snapshot": Snapshot, "targets": Targets}
DELEGATED = "levels"
ODD_TEXT = 'quote " backslash \\ control \x01\x1f newline \n é e\u0301 \U0001f600'


class FolderRepository(Repository):
    """Keeps every version in memory and in a folder; consistent snapshots, hashes and lengths."""

    def __init__(self, folder):
        self.folder = folder
        self.metadata = {}
        self.signers = {}
        self.files = {}

    def open(self, role):
        if role not in self.metadata:
            signed = ROLES.get(role, Targets)()
            signed.version = 0
            return Metadata(signed)
        return copy.deepcopy(self.metadata[role])

    def close(self, role, md):
        md.signed.version += 1
        days = 30 if role in ("timestamp", "snapshot") else 365
        md.signed.expires = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=days)
        md.signatures.clear()
        for signer in self.signers[role]:
            md.sign(signer, append=True)
        data = md.to_bytes(JSONSerializer(compact=role == "snapshot"))
        self.metadata[role] = md
        self.files[role] = MetaFile(
            md.signed.version, len(data), {"sha256": hashlib.sha256(data).hexdigest()}
        )
        name = f"{role}.json" if role == "timestamp" else f"{md.signed.version}.{role}.json"
        (self.folder / "metadata").mkdir(parents=True, exist_ok=True)
        (self.folder / "metadata" / name).write_bytes(data)

    @property
    def targets_infos(self):
        return {f"{role}.json": self.files[role] for role in ("targets", DELEGATED)}

    @property
    def snapshot_info(self):
        return self.files["snapshot"]

    def add_target(self, targets, path, content):
        info = TargetFile.from_data(path, content, ["sha256"])
        info.unrecognized_fields["custom"] = {"note": ODD_TEXT, "n": 2**53 - 1, "none": None, "yes": True}
        targets.targets[path] = info
        for hosted in info.get_prefixed_paths():
            file = self.folder / "targets" / hosted
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)

    def rotate(self, role, count=1):
        self.signers[role] = [CryptoSigner.generate_ed25519() for _ in range(count)]
        return [signer.public_key for signer in self.signers[role]]


def main(out):
    repository = FolderRepository(out / "first")
    with repository.edit_root() as root:
        for role in ROLES:
            for key in repository.rotate(role, 3 if role == "targets" else 1):
                root.add_key(key, role)
        root.roles["targets"].threshold = 2
        root.add_key(CryptoSigner.generate_ecdsa().public_key, "targets")
        root.unrecognized_fields["x-note"] = ODD_TEXT
    repository.signers["targets"].pop()

    (delegate,) = repository.rotate(DELEGATED)
    with repository.edit_targets(DELEGATED):
        pass
    with repository.edit_targets() as targets:
        role = DelegatedRole(DELEGATED, [], 1, False, ["levels/*"])
        targets.delegations = Delegations({}, {DELEGATED: role})
        targets.add_key(delegate, DELEGATED)
        repository.add_target(targets, "packs/first.avpack", b"first pack")
        repository.add_target(targets, "packs/odd e\u0301 \u00e9 \U0001f600.avpack", b"")
    repository.do_snapshot()
    repository.do_timestamp()

    shutil.copytree(out / "first", out / "second")
    repository.folder = out / "second"
    old_root = repository.signers["root"]
    with repository.edit_root() as root:
        for role in ("root", "timestamp", "snapshot"):
            for key_id in list(root.roles[role].keyids):
                root.revoke_key(key_id, role)
            for key in repository.rotate(role):
                root.add_key(key, role)
        repository.signers["root"] += old_root
    with repository.edit_targets() as targets:
        repository.add_target(targets, "packs/second.avpack", b"second pack")
    repository.do_snapshot()
    repository.do_timestamp()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: make_repository.py OUT")
    main(pathlib.Path(sys.argv[1]))
