"""The command and an outsider's sealer and reader of packs, each judging the other.

ASSETVAULT_COMMAND names the command.
"""

import hashlib
import json
import os
import pathlib
import random
import subprocess
import sys
import zlib

import pytest

import decoder
import encoder
from pack_manifest import Corrupt, WrongKey, vault_keys
from pack_format import CATALOG_CONTEXT, PIECE_CONTEXT, Keys

CHUNK, KIB = 16_384, 1024


def command(*arguments, status=0):
    done = subprocess.run(
        [os.environ["ASSETVAULT_COMMAND"], *map(str, arguments)], capture_output=True, timeout=300, check=False
    )
    assert done.returncode == status, done.stderr.decode(errors="replace")
    return done.stdout


def tree(folder):
    """Every file and folder below, with kind and bytes."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        found[name] = None if path.is_dir() else (path.stat().st_mode & 0o777, path.read_bytes())
    return found


def fill(folder, files, folders=()):
    """Files are (path, bytes) or (path, bytes, mode)."""
    folder.mkdir()
    for path, data, *mode in files:
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        place.chmod(mode[0] if mode else 0o644)
    for path in folders:
        (folder / path).mkdir(parents=True)
    return folder


def noise(seed, count):
    """Incompressible bytes, the same in every run."""
    return random.Random(seed).randbytes(count)


def text(seed, count):
    words = random.Random(seed)
    return b"".join(b"%d level enemy %x\n" % (number, words.getrandbits(9)) for number in range(count // 16))[:count]


SOURCES = {
    "nothing": lambda at: fill(at, []),
    "empty files": lambda at: fill(at, [("a", b""), ("z/y", b"")]),
    "empty folders": lambda at: fill(at, [], ["one", "two/three", "ä"]),
    "one byte": lambda at: fill(at, [("b", b"!")]),
    "executable": lambda at: fill(at, [("run", b"#!/bin/sh\n", 0o755), ("data", b"x" * 900)]),
    "unicode": lambda at: fill(at, [
        ("日本/ファイル", b"1"), ("ü/é", b"2"), ("a b", b"3"), ("a/b", b"4"), ("a-b", b"5"), ("\U0001f600", b"6"),
        ("\uffee", b"7"), ("x" * 255, b"8"), ("/".join("d" * 64), b"9"),
    ]),
    "around chunks": lambda at: fill(at, [
        (f"{count}", noise(count, count)) for count in
        (CHUNK - 2, CHUNK - 1, CHUNK, CHUNK + 1, 64 * KIB - 1, 64 * KIB, 64 * KIB + 1, 4 * CHUNK - 1)
    ]),
    "zstd": lambda at: fill(at, [("text", text(1, 700_000)), ("zeros", bytes(3_000_000)), ("small", text(2, 9_000))]),
    "large": lambda at: fill(at, [("noise", noise(3, 2_500_000)), ("cut", noise(4, 512 * KIB))]),
    "only looks random": lambda at: fill(at, [("twice", 2 * noise(7, 20_000)), ("thrice", 3 * noise(8, 11_000))]),
    "small ones": lambda at: fill(at, [
        (f"{number % 7}/{number:04}", noise(number, number * 37 % 70_000)) for number in range(300)
    ]),
    "many in folders": lambda at: fill(at, [
        (f"{number % 3}/{number % 11}/{number % 5:x}{number}", noise(number, 1 + number * 13 % 3_000))
        for number in range(400)
    ]),
    "mixed": lambda at: fill(at, [
        *((f"levels/{number % 6}/{number}.json", text(number, number * 311 % 50_000)) for number in range(150)),
        *((f"images/{number}.bin", noise(number, number * 9_001)) for number in range(60)),
        ("sound", text(5, 400_000) + noise(6, 400_000)), ("empty", b""), ("play", b"#!", 0o755),
    ], ["later", "also/empty"]),
}
INCOMPRESSIBLE = ["nothing", "empty files", "empty folders", "one byte", "unicode", "around chunks", "large",
                  "only looks random", "small ones", "many in folders"]


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    place = tmp_path_factory.mktemp("keys") / "vault.jwks"
    command("keygen", "-o", place)
    return place


@pytest.fixture
def sealed(request, tmp_path, key):
    """A source, the pack that the command makes of it, and how the outsider reads that."""
    source = SOURCES[request.param](tmp_path / "source")
    pack = tmp_path / "pack.avpack"
    command("seal", source, "-o", pack, "--keys", f"file:{key}", "--id", "levels/one", "--pack-version", 3)
    return source, pack, decoder.read(pack, f"{pack}.json", key)


@pytest.mark.parametrize("sealed", SOURCES, indirect=True)
def test_the_outsider_opens_our_packs(sealed, tmp_path, key):
    source, pack, read = sealed
    script = pathlib.Path(decoder.__file__)
    subprocess.run(
        [sys.executable, script, pack, f"{pack}.json", key, "-o", tmp_path / "out"], check=True, timeout=300
    )
    assert tree(tmp_path / "out") == tree(source)
    assert (read.catalog.id, read.catalog.version) == ("levels/one", 3)


@pytest.mark.parametrize("sealed", SOURCES, indirect=True)
def test_salts_and_cuts_are_those_of_the_page(sealed):
    source, _, read = sealed
    entries = encoder.scan(source)
    assert [(path.encode(), kind) for path, kind, *_ in read.catalog.entries] == [entry[:2] for entry in entries]
    assert [end for end, _ in read.catalog.pieces] == encoder.plan(read.keys.cut, entries)
    offset = 0
    for (end, _), (salt, message) in zip(read.catalog.pieces, read.messages):
        assert salt == encoder.salt(read.keys, PIECE_CONTEXT, message)
        assert encoder.may_be_codec(message[0], len(message) - 1, read.content[offset:end])
        offset = end
    context = CATALOG_CONTEXT + read.header
    assert read.catalog_salt == encoder.salt(read.keys, context, read.catalog_message)


def test_the_mixed_source_shows_every_rule(tmp_path):
    """Otherwise the test above checks less than it claims."""
    entries = encoder.scan(SOURCES["mixed"](tmp_path / "source"))
    cut = Keys(bytes(32)).cut
    ends = encoder.plan(cut, entries)
    starts, content = [0] + ends[:-1], b"".join(data for *_, data in entries)
    assert {encoder.message_of(content[start:end])[0] for start, end in zip(starts, ends)} == {0, 1}
    assert any(32 * KIB < end - start < 512 * KIB for start, end in zip(starts, ends))
    offset = 0
    first = inside = whole = cut_inside = 0
    for _, _, data in entries:
        small, begins = 0 < len(data) < 8 * KIB, offset in starts
        first += small and begins
        inside += small and not begins
        cuts = sum(offset < start < offset + len(data) for start in starts)
        whole += len(data) >= 8 * KIB and cuts == 0
        cut_inside += cuts > 0
        offset += len(data)
    assert min(first, inside, whole, cut_inside) >= 3


@pytest.mark.parametrize("sealed", INCOMPRESSIBLE, indirect=True)
def test_the_outsider_seals_the_same_bytes(sealed, key):
    source, pack, read = sealed
    ring = list(vault_keys(key.read_bytes()))
    again, manifest = encoder.seal(encoder.scan(source), read.keys, "levels/one", 3, ring)
    assert all(message[0] == 0 for _, message in read.messages)
    ours, described = pack.read_bytes(), json.loads(pathlib.Path(f"{pack}.json").read_text())
    vault, other = described["custom"]["assetvault"], manifest["custom"]["assetvault"]
    if read.catalog_message[0] == 0:
        assert again == ours
        assert manifest == described
        return
    # Two releases of libzstd may compress the catalog in two ways: then all that stands before it is the same.
    assert again[: -128 - other["catalog"]["length"]] == ours[: -128 - vault["catalog"]["length"]]
    assert {**vault, "catalog": None} == {**other, "catalog": None}
    theirs = pack.with_name("theirs.avpack")
    encoder.store(again, manifest, theirs)
    assert decoder.read(theirs, f"{theirs}.json", key).catalog.plaintext == read.catalog.plaintext


@pytest.mark.parametrize("name", SOURCES)
def test_we_open_the_outsiders_packs(name, tmp_path, key):
    source = SOURCES[name](tmp_path / "source")
    keys = Keys(noise(zlib.crc32(name.encode()), 32))
    pack = tmp_path / "theirs.avpack"
    encoder.store(*encoder.seal(encoder.scan(source), keys, "a/b", 7, list(vault_keys(key.read_bytes()))), pack)
    command("open", pack, "-o", tmp_path / "out", "--keys", f"file:{key}")
    assert tree(tmp_path / "out") == tree(source)
    for path, data in list(tree(source).items())[:20]:
        if data:
            assert command("cat", pack, path, "--keys", f"file:{key}") == data[1]


@pytest.mark.parametrize("sealed", ["executable"], indirect=True)
def test_the_outsider_refuses_what_changed(sealed, key):
    """A decoder that accepts everything would verify nothing."""
    _, pack, _ = sealed
    place, whole = pathlib.Path(f"{pack}.json"), pack.read_bytes()
    text = place.read_text()
    for number in range(len(whole)):
        damaged = bytearray(whole)
        damaged[number] ^= 1
        pack.write_bytes(damaged)
        described = json.loads(text)
        described["hashes"]["sha256"] = hashlib.sha256(damaged).hexdigest()
        place.write_text(json.dumps(described))
        with pytest.raises(Corrupt):
            decoder.read(pack, place, key)
    pack.write_bytes(whole)
    place.write_text(text)
    decoder.read(pack, place, key)

    other = key.with_name("other.jwks")
    command("keygen", "-o", other)
    with pytest.raises(WrongKey):
        decoder.read(pack, place, other)
