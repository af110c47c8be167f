"""NIST's and the RFCs' vectors for AES-256-GCM, AES Key Wrap, SHA-256, SHA-512, HMAC and HKDF."""

import os

import pytest
from cryptography.hazmat.primitives.hashes import SHA512
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from nist import records


def of(record, *names):
    return [bytes.fromhex(record[name]) for name in names]


@pytest.mark.parametrize("name", ["gcmEncryptExtIV256.rsp", "gcmDecrypt256.rsp"])
def test_gcm(peer, count, vectors, name):
    for record in records(vectors / "ciphers" / "AES" / "GCM" / name):
        assert record["keylen"] == "256"
        key, nonce, associated, ciphertext, tag = of(record, "key", "iv", "aad", "ct", "tag")
        answer = peer("gcm-open", key, nonce, associated, ciphertext + tag)
        if record["ivlen"] != "96":
            assert answer == "usage"
            count(f"NIST {name}: other nonces than 96 bits, refused")
        elif record["taglen"] != "128":
            assert answer == "corrupt"
            count(f"NIST {name}: shorter tags than 128 bits, refused")
        elif "fail" in record:
            assert answer == "corrupt"
            count(f"NIST {name}: wrong tags, refused")
        else:
            (plaintext,) = of(record, "pt")
            assert answer == plaintext
            assert peer("gcm-seal", key, nonce, associated, plaintext) == ciphertext + tag
            count(f"NIST {name}: opened and sealed")


def test_key_wrap(peer, count, vectors):
    folder = vectors / "keywrap" / "kwtestvectors"
    for record in records(folder / "KW_AE_256.txt"):
        key, plain, wrapped = of(record, "k", "p", "c")
        assert peer("wrap", key, plain) == wrapped
        assert peer("unwrap", key, wrapped) == plain
        count("NIST KW_AE_256: wrapped and unwrapped")
    for record in records(folder / "KW_AD_256.txt"):
        key, wrapped = of(record, "k", "c")
        if "fail" in record:
            assert peer("unwrap", key, wrapped) == "key"
            count("NIST KW_AD_256: refused")
        else:
            assert peer("unwrap", key, wrapped) == bytes.fromhex(record["p"])
            count("NIST KW_AD_256: unwrapped")
    # Wrapped with the inverse cipher, or with padding: other algorithms under the same keys.
    for name in ("KW_AD_256_inv.txt", "KWP_AD_256.txt"):
        for record in records(folder / name):
            assert peer("unwrap", *of(record, "k", "c")) == "key"
            count("NIST key wraps of other kinds, refused")


@pytest.mark.parametrize("name", ["SHA256ShortMsg.rsp", "SHA256LongMsg.rsp"])
def test_sha256(peer, count, vectors, name):
    for record in records(vectors / "hashes" / "SHA2" / name):
        message, digest = of(record, "msg", "md")
        assert peer("sha256", message[: int(record["len"]) // 8]) == digest
        count("NIST SHA-256 messages")


@pytest.mark.parametrize("name", ["SHA512ShortMsg.rsp", "SHA512LongMsg.rsp"])
def test_sha512(peer, count, vectors, name):
    for record in records(vectors / "hashes" / "SHA2" / name):
        message, digest = of(record, "msg", "md")
        assert peer("sha512", message[: int(record["len"]) // 8]) == digest
        count("NIST SHA-512 messages")


def test_hmac(peer, count, vectors):
    for record in records(vectors / "HMAC" / "rfc-4231-sha256.txt"):
        key, message, tag = of(record, "key", "msg", "md")
        assert peer("hmac-sha256", key, message) == tag
        count("RFC 4231 HMAC-SHA-256")


@pytest.mark.parametrize("size", [0, 1, 12, 63, 64, 65, 76, 128, 1_000, 255 * 64])
@pytest.mark.parametrize("info", [0, 1, 90, 1_023, 1_025, 5_000])
def test_hkdf(peer, count, size, info):
    """PyPI carries no vectors with SHA-512, so PyPI cryptography itself is asked."""
    key, info = os.urandom(32), os.urandom(info)
    answer = peer("hkdf-expand-sha512", key, info, size.to_bytes(4, "big"))
    assert answer == (HKDFExpand(SHA512(), size, info).derive(key) if size else b"")
    count("HKDF-Expand-SHA-512 as PyPI cryptography does it")
