"""A strict reader of packs, written from the format page alone (SealedPack.docc/Format.md).

    decoder.py PACK MANIFEST JWK           prints the list of entries as JSON
    decoder.py PACK MANIFEST JWK -o DIR    writes the tree to the new folder DIR

Exits with 65 and a line on stderr for whatever the page doesn't allow, with 77 when no key fits.
"""

import argparse
import hashlib
import json
import pathlib
import re
import struct
import sys

import zstandard
from cryptography.cobblestone import Cobblestone256Decryptor
from cryptography.exceptions import InvalidTag

from pack_manifest import Corrupt, Manifest, WrongKey, check_id, content_keys, need, vault_keys
from pack_format import (
    CATALOG_CONTEXT, CATALOG_LIMIT, ENTRIES_LIMIT, FOOTER_LENGTH, HEADER_LENGTH, INTEGER_LIMIT, PIECE_CONTEXT,
    PIECE_LIMIT, PIECES_LIMIT, RECORD_LENGTH, footer, header, sealed_length, sha256,
)


def cobblestone_open(key, context, sealed):
    try:
        decryptor = Cobblestone256Decryptor(key, context)
        return decryptor.update(sealed) + decryptor.finalize()
    except InvalidTag as error:
        raise Corrupt("a message does not decrypt") from error


def expand(frame, count):
    """The `count` bytes that one zstd frame holds, in bounded memory."""
    need(frame[:4] == bytes.fromhex("28B52FFD"), "no zstd frame")
    try:
        parameters = zstandard.get_frame_parameters(frame)
        need(parameters.window_size <= PIECE_LIMIT, "the frame's window is too large")
        need(frame[4] & 3 == 0, "the frame names a dictionary")
        decompressor = zstandard.ZstdDecompressor(max_window_size=PIECE_LIMIT).decompressobj()
        data = bytearray()
        for start in range(0, len(frame), 1024):
            need(not decompressor.eof, "something stands behind the frame")
            data += decompressor.decompress(frame[start : start + 1024])
            need(len(data) <= count, "the frame holds more than the piece")
    except zstandard.ZstdError as error:
        raise Corrupt(f"zstd: {error}") from error
    need(decompressor.eof and not decompressor.unused_data, "the frame doesn't end where its piece ends")
    return bytes(data)


def check_path(path):
    need(1 <= len(path) <= 4096, "a path is empty or too long")
    try:
        text = path.decode()
    except UnicodeDecodeError as error:
        raise Corrupt("a path is not UTF-8") from error
    need(not re.search("[\\\\\x00-\x1f\x7f-\x9f]", text), "a path has a character that is not allowed")
    segments = path.split(b"/")
    need(len(segments) <= 64, "a path is too deep")
    for segment in segments:
        need(1 <= len(segment) <= 255 and segment not in (b".", b".."), "a path has a bad segment")
    return text


def catalog_bytes(message):
    """What a catalog's message, codec and data, holds."""
    need(len(message) >= 1 and message[0] <= 1, "the catalog has an unknown codec")
    if message[0] == 0:
        return message[1:]
    need(len(message) >= 5, "the catalog states no length")
    count, frame = int.from_bytes(message[1:5], "big"), message[5:]
    need(count <= min(CATALOG_LIMIT, 16 * len(frame)), "the catalog states an impossible length")
    plaintext = expand(frame, count)
    need(len(plaintext) == count, "the catalog has another length than it states")
    return plaintext


class Catalog:
    def __init__(self, plaintext):
        need(56 <= len(plaintext) <= CATALOG_LIMIT, "the catalog has no head")
        self.plaintext = plaintext
        fields = struct.unpack_from(">32sQHHIII", plaintext)
        self.index_digest, self.version, id_length, zero, pieces, entries, table = fields
        need(zero == 0 and self.version <= INTEGER_LIMIT, "the catalog's head is wrong")
        need(pieces <= PIECES_LIMIT and entries <= ENTRIES_LIMIT, "the catalog is over the limits")
        places = [56 + id_length]
        places += [places[0] + 40 * pieces, places[0] + 40 * pieces + 16 * entries]
        need(len(plaintext) == places[2] + table, "the catalog has another length than its parts")
        try:
            self.id = plaintext[56 : places[0]].decode("ascii")
        except UnicodeDecodeError as error:
            raise Corrupt("the catalog's pack ID is not ASCII") from error
        check_id(self.id)

        self.pieces, end = [], 0  # (end, digest)
        for piece_end, piece_digest in struct.iter_unpack(">Q32s", plaintext[places[0] : places[1]]):
            need(1 <= piece_end - end <= PIECE_LIMIT, "a piece's end is wrong")
            self.pieces.append((piece_end, piece_digest))
            end = piece_end

        self.entries, offset, path_offset, last = [], 0, 0, b""  # (path, kind, offset, end)
        paths = plaintext[places[2] :]
        for path_end, kind, zero, entry_end in struct.iter_unpack(">IB3sQ", plaintext[places[1] : places[2]]):
            need(zero == bytes(3) and kind <= 2, "an entry's kind is wrong")
            need(path_offset < path_end <= table, "a path's end is wrong")
            need(entry_end >= offset, "an entry's end falls")
            need(kind != 0 or entry_end == offset, "an empty folder has bytes")
            path = paths[path_offset:path_end]
            need(path > last, "entries are not sorted")
            self.entries.append((check_path(path), kind, offset, entry_end))
            offset, path_offset, last = entry_end, path_end, path
        need(offset == end and path_offset == table, "the parts of the catalog end at different places")
        names = {path for path, *_ in self.entries}
        for path in names:
            segments = path.split("/")
            for count in range(1, len(segments)):
                need("/".join(segments[:count]) not in names, "an entry stands below an entry")


class Pack:
    """A pack whose every byte was checked; `content` is all its files, joined."""

    def __init__(self, file, manifest, ring):
        need(len(file) == manifest.length and sha256(file) == manifest.digest, "not the file described")
        keys = content_keys(manifest, ring)
        need(file[:HEADER_LENGTH] == header(manifest.key_id), "the header is wrong")
        end = len(file) - FOOTER_LENGTH
        catalog_offset = end - manifest.catalog_length
        index_offset = catalog_offset - RECORD_LENGTH * manifest.pieces
        need(index_offset >= HEADER_LENGTH, "the parts are larger than the file")
        need(manifest.pieces <= PIECES_LIMIT, "too many pieces")
        index, catalog = file[index_offset:catalog_offset], file[catalog_offset:end]
        need(sha256(index) == manifest.index_digest, "the index is not the one described")
        need(sha256(catalog) == manifest.catalog_digest, "the catalog is not the one described")
        place = footer(len(file), manifest.pieces, manifest.index_digest, len(catalog), manifest.catalog_digest)
        need(file[end:] == place, "the footer is wrong")

        self.header, self.catalog_salt = file[:HEADER_LENGTH], catalog[:24]
        self.catalog_message = cobblestone_open(keys.catalog, CATALOG_CONTEXT + file[:HEADER_LENGTH], catalog)
        self.catalog = Catalog(catalog_bytes(self.catalog_message))
        need(len(self.catalog.entries) == manifest.entries, "the catalog has another number of entries")
        need(self.catalog.index_digest == manifest.index_digest, "the catalog is of another index")
        need((self.catalog.id, self.catalog.version) == (manifest.id, manifest.version), "another pack's catalog")
        need(len(self.catalog.pieces) == manifest.pieces, "the catalog has another number of pieces")

        self.messages, content, offset = [], bytearray(), HEADER_LENGTH  # messages: (salt, codec and data)
        for record, (piece_end, piece_digest) in zip(struct.iter_unpack(">I32s", index), self.catalog.pieces):
            need(sealed_length(2) <= record[0] <= sealed_length(PIECE_LIMIT + 1), "a piece's size is wrong")
            sealed = file[offset : offset + record[0]]
            offset += record[0]
            need(offset <= index_offset and sha256(sealed) == record[1], "a piece is not the one of the index")
            message = cobblestone_open(keys.piece, PIECE_CONTEXT, sealed)
            need(message[0] <= 1, "unknown codec")
            data = expand(message[1:], piece_end - len(content)) if message[0] else message[1:]
            need(len(content) + len(data) == piece_end and sha256(data) == piece_digest, "a piece is not the catalog's")
            content += data
            self.messages.append((sealed[:24], message))
        need(offset == index_offset, "the pieces don't fill their place")
        need(len(content) == manifest.opened_size, "openedSize is wrong")
        self.keys, self.content = keys, bytes(content)

    def files(self):
        for path, kind, offset, end in self.catalog.entries:
            yield path, kind, self.content[offset:end]

    def write(self, folder):
        folder.mkdir()
        for path, kind, data in self.files():
            place = folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            if kind == 0:
                place.mkdir()
            else:
                place.write_bytes(data)
                place.chmod(0o755 if kind == 2 else 0o644)

    def listing(self):
        entries = [
            {"path": path, "kind": kind, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for path, kind, data in self.files()
        ]
        return {"id": self.catalog.id, "version": self.catalog.version, "codecs": [message[0] for _, message in self.messages], "entries": entries}


def read(pack, manifest, jwk):
    ring = list(vault_keys(pathlib.Path(jwk).read_bytes()))
    return Pack(pathlib.Path(pack).read_bytes(), Manifest(pathlib.Path(manifest).read_bytes()), ring)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("pack")
    parser.add_argument("manifest")
    parser.add_argument("jwk")
    parser.add_argument("-o", "--output", type=pathlib.Path)
    arguments = parser.parse_args()
    try:
        pack = read(arguments.pack, arguments.manifest, arguments.jwk)
        pack.write(arguments.output) if arguments.output else print(json.dumps(pack.listing(), indent=2))
    except Corrupt as error:
        sys.exit(print(f"decoder: {error}", file=sys.stderr) or 65)
    except WrongKey as error:
        sys.exit(print(f"decoder: {error}", file=sys.stderr) or 77)
