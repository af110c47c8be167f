"""What a pack's writer and reader share: the cryptography and the limits of the format page."""

import hashlib
import hmac
import struct

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

MAGIC = bytes.fromhex("894156500D0A1A0A")
HEADER_LENGTH, FOOTER_LENGTH, RECORD_LENGTH = 64, 128, 36
CHUNK = 16_384
PIECE_LIMIT = 16 << 20
PIECES_LIMIT, ENTRIES_LIMIT, CATALOG_LIMIT, SLOTS_LIMIT = 1 << 21, 1 << 22, 64 << 20, 64
INTEGER_LIMIT = (1 << 53) - 1
PIECE_CONTEXT, CATALOG_CONTEXT = b"assetvault/v1/piece", b"assetvault/v1/catalog"


class Keys:
    """A content key and what is derived from it."""

    def __init__(self, content_key):
        self.content_key = content_key
        self.id = self.derive("key-id", 16)
        self.piece, self.catalog = self.derive("piece"), self.derive("catalog")
        self.salt, self.cut = self.derive("salt"), self.derive("cut")

    def derive(self, name, count=32):
        info = b"assetvault/v1/" + name.encode()
        return HKDFExpand(algorithm=hashes.SHA512(), length=count, info=info).derive(self.content_key)


def sha256(data):
    return hashlib.sha256(data).digest()


def hmac_sha256(key, message):
    return hmac.digest(key, message, "sha256")


def sealed_length(message_length):
    """The bytes of the Cobblestone message that holds so many bytes."""
    return 56 + message_length + 16 * (message_length // CHUNK + 1)


def header(key_id):
    return MAGIC + struct.pack(">HHI", 1, 1, HEADER_LENGTH) + key_id + bytes(32)


def footer(length, pieces, index_digest, catalog_length, catalog_digest):
    """The footer of a file of `length` bytes, which these five determine."""
    catalog = length - FOOTER_LENGTH - catalog_length
    places = struct.pack(">QIIQQ", catalog - RECORD_LENGTH * pieces, pieces, 0, catalog, catalog_length)
    return places + index_digest + catalog_digest + bytes(24) + MAGIC


def cobblestone_seal(key, context, salt, message):
    """Cobblestone-256 with a chosen salt, which PyPI cryptography's own sealer doesn't take."""
    info = b"c2sp.org/chunked-encryption@v1+AEAD_AES_256_GCM\0" + salt + context
    material = HKDFExpand(algorithm=hashes.SHA512(), length=76, info=info).derive(key)
    aead, nonce, commitment = AESGCM(material[:32]), int.from_bytes(material[32:44], "big"), material[44:]
    chunks = (
        aead.encrypt((nonce ^ number).to_bytes(12, "big"), message[number * CHUNK : (number + 1) * CHUNK], None)
        for number in range(len(message) // CHUNK + 1)
    )
    return salt + commitment + b"".join(chunks)
