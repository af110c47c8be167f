"""Checks a store after a power loss, file by file. Implements the layout and the formats from their descriptions,
without the program's code."""

import hashlib
import json
import os
import re
import struct

from game import describe, read_tree
from story import Have

SCRATCH = re.compile(r"\.assetvault-.*\.tmp")
WAITING = re.compile(r"packs/(.+)/@([0-9a-f]{64})\.avpack(\.json|\.places)?")
RECORD = re.compile(r"@state/(.+)/@record\.json")
VERSION = re.compile(r"(.+)/(@\d+-[0-9a-f]{16})(\.avpack)?(\.json|\.tail|\.places)?")
ARRIVING = re.compile(r"(.+)/@\d+-[0-9a-f]{16}\.arriving")
DELEGATED = re.compile(r"packs(-\d+)?\.json")
DAY = re.compile(r"@traffic/\d{4}-\d\d-\d\d")
RECEIVED = re.compile(rb"\d+ (metered|unmetered) (-|[a-z0-9./_-]+)")
ADOPTED = re.compile(r"adopting/(?:(\d+)\.)?([^/]+)")


def is_base(path):
    """Whether a file is only there because a newer version has pieces in it: it has no manifest."""
    return not path.with_name(f"{path.name}.json").exists()


def with_bases(path):
    """The bytes of a sealed pack, with the pieces that its places find in other files of its folder."""
    content = bytearray(path.read_bytes())
    places = path.with_name(f"{path.name}.places")
    if not places.exists():
        return bytes(content)
    saved = places.read_bytes()
    bases, runs = struct.unpack_from(">II", saved, 40)
    position, names = 48, []
    for _ in range(bases):
        length, = struct.unpack_from(">H", saved, position)
        names.append(saved[position + 2:position + 2 + length].decode())
        position += 2 + length
    for start, length, base, offset in struct.iter_unpack(">QQIQ", saved[position:position + 28 * runs]):
        with open(path.with_name(names[base]), "rb") as file:
            file.seek(offset)
            content[start:start + length] = file.read(length)
    return bytes(content)


class Judge:
    """One state of one store. `wrong` lists errors, `scratch` leftover files."""

    def __init__(self, game, store):
        self.game = game
        self.store = store
        self.wrong = []
        self.scratch = []
        # By pack ID: the numbers and paths of complete versions, the live one, and the record.
        self.whole = {}
        self.live = {}
        self.records = {}
        # The same of a downloader, which records only what it downloaded.
        self.brought = {}
        # By name: the publications that a kept metadata file may belong to.
        self.metadata = {}
        for area in ("ephemeral", "shared", "permanent"):
            if (store / area).is_dir():
                self._look_at(store / area, "", getattr(self, f"_{area}"))
        for id, record in self.records.items():
            self._compare(id, record)

    def have(self, id):
        """The state of a pack, as a player sees it."""
        version, sealed = self.live.get(id, (None, False))
        waiting = [number for number, place in self.whole.get(id, []) if place == "shared"]
        removed = self.records.get(id, {}).get("removed", False)
        return Have(version, sealed, max(waiting, default=None), removed)

    def _look_at(self, area, prefix, problem):
        """Everything that has a final name. A version is one thing, whatever it holds."""
        for name in sorted(os.listdir(area / prefix)):
            path = os.path.join(prefix, name)
            groups = ("@state", "@trust", "@traffic", "@work", "root_history", "earlier")
            isGroup = name in groups or not name.startswith("@")
            if SCRATCH.fullmatch(name):
                self.scratch.append(f"{area.name}/{path}")
            elif isGroup and (area / path).is_dir() and not (area / path).is_symlink():
                self._look_at(area, path, problem)
            elif found := problem(path, area / path):
                self.wrong.append(f"{area.name}/{path} {found}")

    def _ephemeral(self, name, path):
        """Errors of a file in ephemeral storage; None if there are none, as below."""
        self.scratch.append(f"ephemeral/{name}")
        if name.endswith(".avpack"):
            digest = describe(path)[1]
            if digest != name.removesuffix(".avpack") or digest not in self.game.versions:
                return "is not the whole pack"
        elif not name.endswith((".part", ".wanted")):
            return "is unknown"

    def _shared(self, name, path):
        if match := WAITING.fullmatch(name):
            id, digest, beside = match.groups()
            version = self.game.versions.get(digest)
            if beside == ".places":
                return self._places(path.read_bytes())
            if beside:
                return self._manifest(version, path)
            if version is None or version.id != id:
                return "is not the whole pack"
            if is_base(path):
                return None
            content = with_bases(path)
            if hashlib.sha256(content).hexdigest() != digest and not self._rests_on_live_version(version, content):
                return "is not the whole pack"
            self.whole.setdefault(id, []).append((version.number, "shared"))
        else:
            return self._kept(name, path, self.brought)

    def _kept(self, name, path, records):
        """What a role keeps in its area: records, trusted metadata, received bytes, locks."""
        if match := RECORD.fullmatch(name):
            return self._record(match[1], path.read_bytes(), records)
        if name.startswith("@trust/") and name != "@trust/lock":
            return self._trusted(name.removeprefix("@trust/"), path.read_bytes())
        if DAY.fullmatch(name):
            return self._received(path.read_bytes())
        if name not in ("@lock", "@trust/lock"):
            return "is unknown"

    def _received(self, content):
        """A day of what was received over the network. The last lines may be missing: one line may have been cut off, and the
        next process appended to what is left of it."""
        wrong = [line for line in content.split(b"\n") if line and not RECEIVED.fullmatch(line)]
        return f"has lines such as {wrong[0]!r}" if len(wrong) > 1 else None

    def _record(self, id, content, records):
        try:
            record = json.loads(content)
            checksum = record.pop("checksum")
        except (ValueError, KeyError):
            return "is a damaged record"
        canonical = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        if checksum != hashlib.sha256(canonical.encode()).hexdigest():
            return "has the wrong checksum"
        records[id] = record

    def _trusted(self, name, content):
        if match := ADOPTED.fullmatch(name):
            return self._adopted(*match.groups(), content)
        # Delegated metadata, those before a refresh, and which of these was read last, may be anything: readers verify them, or fetch
        # them again.
        if DELEGATED.fullmatch(name) or name.startswith("earlier/") or name == "readable":
            return None
        known = self.game.metadata
        if name == "root_history/1.root.json":
            return None if content == known[0]["root.json"] else "is not the root that was pinned"
        found = [number for number, files in enumerate(known, 1) if files.get(name) == content]
        # Each role keeps its own: the newest of all counts.
        self.metadata[name] = max(self.metadata.get(name, []), found, key=lambda numbers: max(numbers, default=0))
        return None if found else "was never published so"

    def _adopted(self, number, name, content):
        """A metadata file copied from the other area, under its hosted name: it is synced before the folder is renamed,
        so even a delegated one is as published. The next command that finds the folder finishes the copy."""
        self.scratch.append(f"@trust/adopting/{number}.{name}" if number else f"@trust/adopting/{name}")
        if not any(files.get(name) == content for files in self.game.metadata):
            return "was never published so"
        if number and json.loads(content)["signed"]["version"] != int(number):
            return "is another version"

    def _permanent(self, name, path):
        if name.startswith("@"):
            return self._kept(name, path, self.records)
        id, last = os.path.split(name)
        if last == "current":
            return self._current(id, path)
        if ARRIVING.fullmatch(name):
            # Every piece of it is read and verified before it counts.
            self.scratch.append(f"permanent/{name}")
            return None
        match = VERSION.fullmatch(name)
        version = self.game.named(*match.group(1, 2)) if match else None
        if version is None:
            return "is unknown"
        sealed, beside = match.group(3, 4)
        if beside == ".json":
            return self._manifest(version, path)
        if beside == ".places":
            return self._places(path.read_bytes())
        if beside:
            return self._tail(version, path.read_bytes())
        if sealed and is_base(path):
            return None
        if sealed:
            isWhole = hashlib.sha256(with_bases(path)).hexdigest() == version.digest
        else:
            isWhole = read_tree(path) == version.tree
        if not isWhole:
            return "is not the whole version"
        self.whole.setdefault(id, []).append((version.number, "permanent"))

    def _tail(self, version, content):
        """The pack that a tree was opened from, but for its pieces."""
        said = version.target["custom"]["assetvault"]
        if len(content) != version.target["length"]:
            return "has another length than its pack"
        end = len(content) - 128
        for part in (said["catalog"], said["index"]):
            start = end - part["length"]
            if hashlib.sha256(content[start:end]).hexdigest() != part["sha256"]:
                return "is not the end of its pack"
            end = start

    def _places(self, content):
        """Where pieces are that the file of a sealed pack has holes for."""
        return None if hashlib.sha256(content[:-32]).digest() == content[-32:] else "has the wrong checksum"

    def _rests_on_live_version(self, version, content):
        """Whether each piece is in the file of a pack that waits, or in the live version: in a tree by the pack that this was opened
        from. What was superseded meanwhile needs no piece."""
        current = self.store / "permanent" / version.id / "current"
        if self._tail(version, content) or not current.is_symlink():
            return False
        name = os.readlink(current)
        live = self.game.named(version.id, name.removesuffix(".avpack"))
        if live is None:
            return False
        if live.number > version.number:
            return True
        tail = current.parent / (name if name.endswith(".avpack") else f"{name}.tail")
        there = {digest for _, digest in pieces(live, tail.read_bytes())}
        return all(
            digest in there or hashlib.sha256(content[place]).digest() == digest
            for place, digest in pieces(version, content))

    def _manifest(self, version, path):
        try:
            return None if version and json.loads(path.read_bytes()) == version.target else "is not what was signed"
        except ValueError:
            return "is a damaged manifest"

    def _current(self, id, path):
        target = os.readlink(path)
        if "/" in target or not path.exists():
            return "leads nowhere"
        if not os.path.exists(f"{path.parent}/{target}.json"):
            return "has no manifest beside it"
        self.live[id] = (int(target[1:].split("-")[0]), target.endswith(".avpack"))

    def _compare(self, id, record):
        """A recorded version exists, or a newer one: the record is written last."""
        if record.get("removed"):
            return
        if "loaded" in record and id not in self.live:
            self.wrong.append(f"{id}: the record says it is loaded, and it is not")
        named = [record.get("waiting", {}), record.get("loaded", {}).get("target", {})]
        numbers = [target["custom"]["assetvault"]["version"] for target in named if target]
        found = [number for number, _ in self.whole.get(id, [])]
        if max(numbers, default=0) > max(found, default=0):
            self.wrong.append(f"{id}: the record names versions {numbers}, and there are {found}")


def pieces(version, content):
    """The place and the digest of each piece of a pack, by its index."""
    said = version.target["custom"]["assetvault"]
    start = len(content) - 128 - said["catalog"]["length"] - said["index"]["length"]
    place = 64
    for record in range(start, start + said["index"]["length"], 36):
        length = int.from_bytes(content[record:record + 4], "big")
        yield slice(place, place + length), content[record + 4:record + 36]
        place += length
