"""Cobblestone-256 against PyPI cryptography's own implementation, and against C2SP's vectors."""

import base64
import hashlib
import json
import os
import zlib

import pytest
from cryptography.cobblestone import Cobblestone256Decryptor, Cobblestone256Encryptor
from cryptography.exceptions import InvalidTag

CHUNK = 16_384
SIZES = sorted(
    {0, 1, 15, 16, 17, 100_000, 128 * 1024, 128 * 1024 + 1, 300 * CHUNK + 7}
    | {chunks * CHUNK + offset for chunks in (1, 2, 3, 8) for offset in (-17, -16, -15, -1, 0, 1, 15, 16, 17)}
)
CONTEXTS = [b"", b"assetvault/v1/piece", bytes(range(256)), os.urandom(5_000)]


@pytest.mark.parametrize("size", SIZES)
def test_both_ways(peer, count, size):
    key = Cobblestone256Encryptor.generate_key()
    context = CONTEXTS[size % len(CONTEXTS)]
    message = os.urandom(size)

    encryptor = Cobblestone256Encryptor(key, context)
    theirs = encryptor.update(message) + encryptor.finalize()
    assert peer("cobblestone-open", key, context, theirs) == message
    assert peer("cobblestone-open-backwards", key, context, theirs) == message
    assert peer("cobblestone-seal", key, context, theirs[:24], message) == theirs
    count("messages sealed by PyPI cryptography, opened whole, backwards, and sealed again")

    ours = peer("cobblestone-seal", key, context, os.urandom(24), message)
    decryptor = Cobblestone256Decryptor(key, context)
    assert decryptor.update(ours) + decryptor.finalize() == message
    count("messages sealed by AssetVault, opened by PyPI cryptography")


@pytest.mark.parametrize("size", [0, 5, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK])
def test_both_refuse_the_same(peer, count, size):
    """Truncations, extensions and changed bytes: wherever one of the two refuses, so does the other."""
    key, context = Cobblestone256Encryptor.generate_key(), b"context"
    sealed = peer("cobblestone-seal", key, context, os.urandom(24), os.urandom(size))
    wrong = [sealed[:-cut] for cut in (1, 15, 16, 17, CHUNK, CHUNK + 16) if cut <= len(sealed)]
    wrong += [sealed + bytes(more) for more in (1, 15, 16, 17, CHUNK, CHUNK + 16)]
    for place in {0, 23, 24, 55, 56, len(sealed) // 2, len(sealed) - 17, len(sealed) - 16, len(sealed) - 1}:
        if 0 <= place < len(sealed):
            wrong.append(sealed[:place] + bytes([sealed[place] ^ 1]) + sealed[place + 1 :])
    for message in wrong:
        with pytest.raises(InvalidTag):
            decryptor = Cobblestone256Decryptor(key, context)
            decryptor.update(message)
            decryptor.finalize()
        assert peer("cobblestone-open", key, context, message) == "corrupt"
        count("damaged messages that both refuse")


def test_vectors(peer, count, vectors):
    """The AES-256-GCM vectors of C2SP chunked encryption.

    They are older than the name Cobblestone and derive their keys with SHA-256, so they run through the same code
    with that hash; Cobblestone-256 itself must refuse every one of them, as PyPI cryptography's does.
    """
    file = vectors / "chunked-encryption" / "vectors.json"
    for vector in json.loads(file.read_text())["vectors"]:
        if vector["aead"] != "AEAD_AES_256_GCM":
            continue
        key, context = bytes.fromhex(vector["key"]), vector["context"].encode()
        sealed = base64.b64decode(vector["ciphertext"] or "")
        if vector.get("compressed"):
            sealed = zlib.decompress(sealed)
        answer = peer("chunked-sha256-open", key, context, sealed)
        if vector["expect"] == "success":
            assert len(answer) == vector["payload_length"], vector["name"]
            assert hashlib.sha256(answer).hexdigest() == vector["payload_sha256"], vector["name"]
            assert peer("chunked-sha256-seal", key, context, sealed[:24], answer) == sealed, vector["name"]
            count("C2SP chunked-encryption vectors opened and sealed again")
        else:
            assert answer in ("corrupt", "key"), vector["name"]
            count("C2SP chunked-encryption vectors refused")
        assert peer("cobblestone-open", key, context, sealed) in ("corrupt", "key"), vector["name"]
