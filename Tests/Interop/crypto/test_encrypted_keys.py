"""Ed25519 private keys under a passphrase, both ways with PyPI cryptography."""

import os

import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519, x25519
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)


def pem(key, encryption=NoEncryption()):
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)


def passphrases():
    """Of every byte but zero, because HMAC fills keys up with zeros."""
    for length in (1, 2, 13, 64, 65, 1_000):
        yield bytes(byte % 255 + 1 for byte in os.urandom(length))
    yield "Schlüssel\n".encode()


def test_their_keys_open_here(peer, count):
    for passphrase in passphrases():
        key = ed25519.Ed25519PrivateKey.generate()
        text = pem(key, BestAvailableEncryption(passphrase))
        assert peer("is-encrypted", text) == b"\1"
        assert peer("ed25519-decrypt", text, passphrase) == pem(key)
        assert peer("ed25519-decrypt", text, passphrase + b"x") == "key"
        assert peer("ed25519-decrypt", text, b"") == "key"
        assert peer("ed25519-sign", text, b"message") == "key"
        count("keys that PyPI cryptography encrypted, opened")


def test_our_keys_open_there(peer, count):
    for passphrase in passphrases():
        key = ed25519.Ed25519PrivateKey.generate()
        text = peer("ed25519-encrypt", pem(key), passphrase)
        assert pem(load_pem_private_key(text, passphrase)) == pem(key)
        with pytest.raises(ValueError):
            load_pem_private_key(text, passphrase + b"x")
        with pytest.raises(TypeError):
            load_pem_private_key(text, None)
        count("keys encrypted here, opened by PyPI cryptography")


def test_other_keys_are_refused(peer, count):
    assert peer("is-encrypted", pem(ed25519.Ed25519PrivateKey.generate())) == b"\0"
    assert peer("ed25519-decrypt", pem(ed25519.Ed25519PrivateKey.generate()), b"x") == "key"
    other = pem(x25519.X25519PrivateKey.generate(), BestAvailableEncryption(b"x"))
    assert peer("ed25519-decrypt", other, b"x") == "key"
    count("keys that are of another kind or not encrypted, refused")


def test_collected_encrypted_keys(peer, count, vectors):
    text = (vectors / "asymmetric" / "Ed25519" / "ed25519-pkcs8-enc.pem").read_bytes()
    assert peer("ed25519-decrypt", text, b"password") == pem(load_pem_private_key(text, b"password"))
    count("the collection's encrypted key, opened")
