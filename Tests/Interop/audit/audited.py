"""A published site, a host of it and a store, in which a test plants faults; and what the command finds there.

ASSETVAULT_COMMAND names the command.
"""

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

from canonicaljson import encode_canonical_json
from cryptography.hazmat.primitives import hashes, serialization

COMMAND = os.environ.get("ASSETVAULT_COMMAND", "assetvault")


def command(*words, ok=True, env=None):
    run = subprocess.run(
        [COMMAND, *map(str, words)], capture_output=True, text=True, timeout=120, env=os.environ | (env or {}))
    assert not ok or run.returncode == 0, (words, run.stdout, run.stderr)
    return run


SCRIPT = pathlib.Path(__file__).parents[2] / "CommandTests/Scripts/Sites/host-audit.txt"


@contextlib.contextmanager
def host(site, fault, place):
    """Serves a site with one fault, by the server of the script that has them all; gives its URL."""
    program = place / "host.py"
    program.write_text(SCRIPT.read_text().split("-- host.py --\n", 1)[1].split("\n-- ", 1)[0])
    with subprocess.Popen([sys.executable, program, fault, site], stdout=subprocess.PIPE, text=True) as server:
        try:
            yield server.stdout.readline().strip()
        finally:
            server.kill()


class Vault:
    """A vault whose site has a pack of several pieces, a small one, and an earlier version of each."""

    def __init__(self, place):
        self.place = pathlib.Path(place)
        self.vault = self.place / "vault"
        self.site = self.vault / "site"

    def publish(self):
        for name in ("large", "small"):
            (self.place / name).mkdir(parents=True)
        (self.place / "large/noise").write_bytes(os.urandom(600_000))
        (self.place / "small/file").write_text("version 1")
        command("init", self.vault)
        command("keygen", "-o", self.vault / "keys/second.jwks")
        command("publish", self.vault, "--pack", f"large={self.place}/large", "--pack", f"small={self.place}/small")
        shutil.copytree(self.site, self.place / "first")
        command("keys", "rekey", self.vault)
        command("keys", "rekey", self.vault, "--finish")
        (self.place / "small/file").write_text("version 2, and longer")
        with open(self.place / "large/noise", "r+b") as file:
            file.seek(300_000)
            file.write(b"changed")
        command("publish", self.vault)
        return self

    def fetch(self):
        """Makes a store that has the large pack opened and the small one sealed."""
        keys = "--keys", f"file:{self.keys}"
        command("fetch", self.site, "--store", self.store, *self.trust, *keys, "large")
        command("fetch", self.site, "--store", self.store, *self.trust, *keys, "--sealed", "small")
        return self

    def stored(self, pattern):
        """The one file of the store that matches."""
        (path,) = self.store.glob(f"permanent/{pattern}")
        return path

    def copy(self, place):
        shutil.copytree(self.place, place, symlinks=True)
        return Vault(place)

    first = property(lambda self: self.place / "first", doc="The site as it was first published.")
    mirror = property(lambda self: self.place / "mirror")
    store = property(lambda self: self.place / "store")
    retired = property(lambda self: next((self.vault / "keys/replaced").glob("*.jwks")).stem)
    keys = property(lambda self: self.vault / "keys/vault.jwks")
    metadata = property(lambda self: self.site / "metadata")
    trust = property(lambda self: ("--trust", self.vault / "trusted-root.json"))

    def role(self, name):
        """The newest file of a role."""
        if name == "timestamp":
            return self.metadata / "timestamp.json"
        return max(self.metadata.glob(f"*.{name}.json"), key=lambda path: int(path.name.split(".")[0]))

    def signed(self, name):
        return json.loads(self.role(name).read_text())["signed"]

    def listed(self, pack):
        return self.signed("targets")["targets"][f"packs/{pack}.avpack"]

    def pack(self, pack):
        return self.site / "targets/packs" / f"{self.listed(pack)['hashes']['sha256']}.{pack}.avpack"

    def earlier(self, pack):
        (path,) = set(self.site.glob(f"targets/packs/*.{pack}.avpack")) - {self.pack(pack)}
        return path

    def sign(self, name, change, key=None):
        """Changes the newest metadata of a role, signs it, and makes all that names it consistent."""
        path = self.role(name)
        envelope = json.loads(path.read_text())
        change(envelope["signed"])
        pem = (self.vault / f"keys/{key or name}.pem").read_bytes()
        private = serialization.load_pem_private_key(pem, None)
        signature = private.sign(encode_canonical_json(envelope["signed"])).hex()
        envelope["signatures"] = [envelope["signatures"][0] | {"sig": signature}]
        path.write_text(json.dumps(envelope))
        parent = {"targets": "snapshot", "snapshot": "timestamp"}.get(name)
        if parent:
            self.sign(parent, lambda signed: signed["meta"][f"{name}.json"].update(described(path)))


def described(path):
    """Of a metadata file, as its parent lists it."""
    data = path.read_bytes()
    digest = hashes.Hash(hashes.SHA256())
    digest.update(data)
    return {"length": len(data), "hashes": {"sha256": digest.finalize().hex()}}


def edit(path, change):
    """Replaces a file by what `change` makes of its bytes."""
    path.write_bytes(change(path.read_bytes()))


def flip(path, offset):
    data = bytearray(path.read_bytes())
    data[offset] ^= 1
    path.write_bytes(data)


def findings(report):
    """The code, place and severity of each finding of an audit, or the condition of each pack of a store."""
    if "findings" not in report:
        severity = {"sound": "note"}
        return {(pack["finding"], pack["id"], severity.get(pack["finding"], "error")) for pack in report["packs"]}
    every = report["findings"] + [finding for pack in report["packs"] for finding in pack["findings"]]
    return {(finding["code"], finding["place"], finding["severity"]) for finding in every}
