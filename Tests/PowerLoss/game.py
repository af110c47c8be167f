"""The author's side: a game that is published several times, with all its published versions."""

import dataclasses
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import subprocess

PATIENCE = 120

# Policy, number of files, and how large they get.
PACKS = {
    "levels/one": ("essential", 30, 20_000),
    "levels/two": ("prefetch", 40, 40_000),
    "music": ("onDemand", 6, 300_000),
}
# The packs that each publication changes.
PUBLICATIONS = [set(PACKS), set(PACKS), {"levels/two", "music"}]


@dataclasses.dataclass(frozen=True)
class Version:
    """One published version of a pack: its signed metadata, and the sealed tree."""

    id: str
    number: int
    digest: str
    target: dict
    tree: dict

    @property
    def name(self):
        return f"@{self.number}-{self.digest[:16]}"


class Game:
    def __init__(self, folder, command):
        self.folder = pathlib.Path(folder)
        self.command = pathlib.Path(command).resolve()
        self.vault = self.folder / "vault"
        self.keys = ["--keys", f"file:{self.vault}/keys/vault.jwks"]
        self.trust = ["--trust", self.vault / "trusted-root.json"]
        self.versions = {}
        # Of each publication, the metadata as a client keeps them: by name.
        self.metadata = []
        self.run("init", self.vault)
        packs = {id: {"source": f"../source/{id}", "policy": policy} for id, (policy, _, _) in PACKS.items()}
        settings = {"format": 1, "bins": 2, "packs": packs}
        (self.vault / "vault.json").write_text(json.dumps(settings))
        for edition, ids in enumerate(PUBLICATIONS, 1):
            for id in ids:
                self._write(id, edition)
            self.run("publish", self.vault)
            shutil.copytree(self.vault / "site", self.site(edition))
            self._remember()

    def site(self, publication):
        return self.folder / f"site-{publication}"

    def run(self, *words, wrapper=()):
        words = [str(word) for word in [*wrapper, self.command, *words]]
        done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode:
            raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout

    def newest(self, id):
        return max((v for v in self.versions.values() if v.id == id), key=lambda v: v.number)

    def named(self, id, name):
        """The version that has this name in permanent storage; None for a name that nothing has."""
        return next((v for v in self.versions.values() if (v.id, v.name) == (id, name)), None)

    def _write(self, id, edition):
        _, count, size = PACKS[id]
        chance = random.Random(f"{id} {edition}")
        folder = self.folder / "source" / id
        for number in range(count):
            path = folder / f"part-{number % 3}" / f"{number}.bin"
            path.parent.mkdir(parents=True, exist_ok=True)
            # Some files stay as they are.
            if edition == 1 or number % 4:
                noise = chance.randbytes(chance.randrange(size))
                path.write_bytes(f"{id} {edition} {number}\n".encode() + noise)
        (folder / "empty").mkdir(exist_ok=True)
        (folder / "start").write_text("#!/bin/sh\n")
        (folder / "start").chmod(0o755)

    def _remember(self):
        metadata = {}
        for path in (self.vault / "site/metadata").iterdir():
            number, name = re.fullmatch(r"(?:(\d+)\.)?(.*)", path.name).groups()
            if int(number or 0) >= metadata.get(name, (-1,))[0]:
                metadata[name] = (int(number or 0), path.read_bytes())
        self.metadata.append({name: content for name, (_, content) in metadata.items()})
        for content in self.metadata[-1].values():
            for target in json.loads(content)["signed"].get("targets", {}).values():
                digest, said = target["hashes"]["sha256"], target["custom"]["assetvault"]
                if digest not in self.versions:
                    tree = read_tree(self.folder / "source" / said["id"])
                    self.versions[digest] = Version(said["id"], said["version"], digest, target, tree)


def read_tree(folder):
    """The content of a folder, by path."""
    found = {}
    for parent, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(parent, name)
            found[os.path.relpath(path, folder)] = describe(path)
    return found


def describe(path):
    """Who may read and run a file, and its digest, or the kind of another entry. Nobody may write what is staged."""
    if os.path.islink(path):
        return ("link", os.readlink(path))
    if os.path.isdir(path):
        return ("folder",)
    with open(path, "rb") as file:
        return (oct(os.stat(path).st_mode & 0o555), hashlib.file_digest(file, "sha256").hexdigest())
