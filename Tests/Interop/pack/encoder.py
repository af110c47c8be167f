"""A second sealer, written from the format page alone: "How a pack is sealed"."""

import base64
import itertools
import json
import os
import struct
from collections import Counter

import zstandard
from cryptography.hazmat.primitives.keywrap import aes_key_wrap

from pack_format import (
    CATALOG_CONTEXT, FOOTER_LENGTH, HEADER_LENGTH, PIECE_CONTEXT, RECORD_LENGTH, cobblestone_seal, footer, header,
    hmac_sha256, sha256,
)

KIB = 1024
WORD = (1 << 64) - 1


def scan(folder):
    """(path, kind, bytes) of each entry, sorted by the bytes of the path."""
    entries = []
    for place, folders, files in os.walk(os.fsencode(folder)):
        path = os.path.relpath(place, os.fsencode(folder))
        if not folders and not files and path != b".":
            entries.append((path, 0, b""))
        for name in files:
            full = os.path.join(place, name)
            with open(full, "rb") as file:
                kind = 2 if os.stat(full).st_mode & 0o100 else 1
                entries.append((os.path.normpath(os.path.join(path, name)), kind, file.read()))
    return sorted(entries)


def large_cuts(key, data):
    """Where the pieces of a file of 8 KiB or more end."""
    table = [int.from_bytes(hmac_sha256(key, b"gear\0" + bytes([x]))[:8], "big") for x in range(256)]
    threshold = WORD // 98_304
    start = 0
    while start < len(data):
        if len(data) - start <= 32 * KIB:
            yield len(data)
            return
        limit = min(len(data), start + 512 * KIB)
        end, gear = start + 32 * KIB, 0
        for x in data[end - 64 : end]:
            gear = (gear << 1) + table[x] & WORD
        while end < limit:
            gear = (gear << 1) + table[data[end]] & WORD
            end += 1
            if gear < threshold:
                break
        start = min(end, limit)
        yield start


def kinship(key, first, second):
    """How near two neighbours are: what is split first comes first."""
    first, second = first.split(b"/"), second.split(b"/")
    shared = 0
    while first[shared] == second[shared]:
        shared += 1
    return shared, hmac_sha256(key, b"path\0" + second[shared])[:7]


def split(key, run):
    """The groups of a run of small files, each as the number of its bytes."""
    size = sum(len(data) for _, data in run)
    if len(run) < 2 or size <= 32 * KIB:
        return [size]
    cut = min(range(1, len(run)), key=lambda number: kinship(key, run[number - 1][0], run[number][0]))
    return split(key, run[:cut]) + split(key, run[cut:])


def plan(key, entries):
    """Where pieces end in the joined content."""
    ends, offset = [], 0
    files = ((path, data) for path, _, data in entries if data)
    for large, run in itertools.groupby(files, key=lambda file: len(file[1]) >= 8 * KIB):
        run = list(run)
        if large:
            for _, data in run:
                ends += [offset + cut for cut in large_cuts(key, data)]
                offset += len(data)
        else:
            for size in split(key, run):
                offset += size
                ends.append(offset)
    return ends


def salt(keys, context, message):
    """`message` is codec and data."""
    count = struct.pack(">Q", len(context))
    return hmac_sha256(keys.salt, count + context + message[:1] + sha256(message[1:]))[:24]


def seal_message(keys, key, context, message):
    return cobblestone_seal(key, context, salt(keys, context, message), message)


def looks_random(piece):
    if len(piece) < 32 * KIB:
        return False
    step = (len(piece) - 256) // 31
    samples = (piece[number * step : number * step + 256] for number in range(32))
    return sum(count * count for sample in samples for count in Counter(sample).values()) <= 22_400


def message_of(piece):
    """A piece as codec and data: zstd where that is smaller."""
    if looks_random(piece):
        return b"\0" + piece
    frame = zstandard.ZstdCompressor(level=3, write_checksum=False).compress(piece)
    return b"\1" + frame if len(frame) < len(piece) else b"\0" + piece


def may_be_codec(codec, length, piece):
    """Whether a sealer may store a piece so, in this length. Frames of another release of libzstd, as the command may have, differ
    from ours by up to a tenth, or a few bytes: a piece that these alone make smaller may be uncompressed."""
    if codec == 1:
        return not looks_random(piece) and length < len(piece)
    frame = zstandard.ZstdCompressor(level=3, write_checksum=False).compress(piece)
    return codec == 0 and length == len(piece) and (looks_random(piece) or 1.1 * len(frame) + 8 > length)


def catalog_message(plain):
    """A catalog as codec and data."""
    frame = zstandard.ZstdCompressor(level=3, write_checksum=False).compress(plain)
    if len(frame) < len(plain) <= 16 * len(frame):
        return b"\1" + struct.pack(">I", len(plain)) + frame
    return b"\0" + plain


def seal(entries, keys, pack_id, version, slots):
    """The bytes of the pack and its manifest; `slots` holds (kid, vault key) pairs."""
    content = b"".join(data for *_, data in entries)
    ends = plan(keys.cut, entries)
    pieces = [content[start:end] for start, end in zip([0] + ends, ends)]
    sealed = [seal_message(keys, keys.piece, PIECE_CONTEXT, message_of(piece)) for piece in pieces]
    index = b"".join(struct.pack(">I", len(piece)) + sha256(piece) for piece in sealed)
    paths = b"".join(path for path, *_ in entries)
    plain = sha256(index) + struct.pack(
        ">QHHIII", version, len(pack_id), 0, len(pieces), len(entries), len(paths)
    ) + pack_id.encode()
    plain += b"".join(struct.pack(">Q", end) + sha256(piece) for end, piece in zip(ends, pieces))
    path_end = end = 0
    for path, kind, data in entries:
        path_end, end = path_end + len(path), end + len(data)
        plain += struct.pack(">IB3xQ", path_end, kind, end)
    plain += paths
    head = header(keys.id)
    catalog = seal_message(keys, keys.catalog, CATALOG_CONTEXT + head, catalog_message(plain))
    body = head + b"".join(sealed) + index + catalog
    length = len(body) + FOOTER_LENGTH
    pack = body + footer(length, len(pieces), sha256(index), len(catalog), sha256(catalog))
    return pack, {
        "length": length,
        "hashes": {"sha256": sha256(pack).hex()},
        "custom": {"assetvault": {
            "format": 1, "id": pack_id, "version": version, "policy": "prefetch", "tags": [], "traits": {},
            "openedSize": len(content), "contentKeyID": base64url(keys.id), "pieces": len(pieces),
            "entries": len(entries),
            "index": {"length": RECORD_LENGTH * len(pieces), "sha256": sha256(index).hex()},
            "catalog": {"length": len(catalog), "sha256": sha256(catalog).hex()},
            "slots": [
                {"kid": kid, "alg": "A256KW", "wrapped": base64url(aes_key_wrap(secret, keys.content_key))}
                for kid, secret in slots
            ],
        }},
    }


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def store(pack, manifest, place):
    place.write_bytes(pack)
    place.with_name(place.name + ".json").write_text(json.dumps(manifest))
