"""Public keys of every kind, and what they accept, against PyPI cryptography."""

import base64
import os

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256, SHA512
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key


def pss(salt, hashed=SHA256):
    return padding.PSS(padding.MGF1(hashed()), salt)


def pem(key):
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


# Kinds of keys: how one is made, and the ways in which it signs.
KINDS = {
    "Ed25519": (ed25519.Ed25519PrivateKey.generate, {"": lambda key, message: key.sign(message)}),
    "ECDSA P-256": (
        lambda: ec.generate_private_key(ec.SECP256R1()),
        {"": lambda key, message: key.sign(message, ec.ECDSA(SHA256()))},
    ),
    **{
        f"RSA-PSS {bits}": (
            lambda bits=bits: rsa.generate_private_key(65_537, bits),
            {
                ", salt as long as the digest": lambda key, message: key.sign(
                    message, pss(padding.PSS.DIGEST_LENGTH), SHA256()
                ),
                ", longest salt": lambda key, message: key.sign(message, pss(padding.PSS.MAX_LENGTH), SHA256()),
                ", no salt": lambda key, message: key.sign(message, pss(0), SHA256()),
            },
        )
        for bits in (2_048, 2_049, 3_072)
    },
}


@pytest.mark.parametrize("kind", KINDS)
def test_signatures(peer, count, kind):
    make, ways = KINDS[kind]
    key, other = make(), make()
    for way, sign in ways.items():
        for _ in range(40):
            message = os.urandom(os.urandom(1)[0])
            signature = sign(key, message)
            assert peer("verify", pem(key), signature, message) == b"\1"
            count(f"{kind}{way}: accepted")
            place = int.from_bytes(os.urandom(2), "big") % len(signature)
            changed = signature[:place] + bytes([signature[place] ^ 0x40]) + signature[place + 1 :]
            for wrong in (
                (pem(other), signature, message),
                (pem(key), changed, message),
                (pem(key), signature[:-1], message),
                (pem(key), signature + b"\0", message),
                (pem(key), b"\0" + signature, message),
                (pem(key), signature, message + b"\0"),
            ):
                assert peer("verify", *wrong) == b"\0"
                count(f"{kind}{way}: changed keys, signatures and messages, refused")


def test_other_hashes_and_paddings(peer, count):
    message = os.urandom(50)
    key = ec.generate_private_key(ec.SECP256R1())
    assert peer("verify", pem(key), key.sign(message, ec.ECDSA(SHA512())), message) == b"\0"
    key = rsa.generate_private_key(65_537, 2_048)
    for scheme, hashed in (
        (padding.PKCS1v15(), SHA256()),
        (pss(32, SHA512), SHA256()),
        (pss(32), SHA512()),
        (pss(32, SHA512), SHA512()),
    ):
        assert peer("verify", pem(key), key.sign(message, scheme, hashed), message) == b"\0"
        count("signatures with other hashes and paddings, refused")


def test_one_encoding_for_a_key(peer, count):
    for kind, (make, _) in KINDS.items():
        text = pem(make())
        assert peer("public-key", text) == text
        assert peer("public-key", text.replace(b"\n", b"\r\n")) == text
        count(f"{kind}: text comes back as PyPI cryptography writes it")
    for _ in range(20):
        key = ec.generate_private_key(ec.SECP256R1())
        compressed = key.public_key().public_bytes(Encoding.X962, PublicFormat.CompressedPoint)
        header = bytes.fromhex("3039301306072a8648ce3d020106082a8648ce3d030107032200")
        assert peer("public-key", armoured(header + compressed)) == pem(key)
        count("compressed points, written uncompressed")


def armoured(der):
    return b"-----BEGIN PUBLIC KEY-----\n" + base64.encodebytes(der) + b"-----END PUBLIC KEY-----\n"


@pytest.mark.filterwarnings("ignore::cryptography.utils.CryptographyDeprecationWarning")
def test_collected_public_keys(peer, count, vectors):
    """Every PEM file of the collection that is one public key."""
    for file in sorted((vectors / "asymmetric").rglob("*.pem")):
        text = file.read_bytes()
        answer = peer("public-key", text)
        try:
            key = load_pem_public_key(text)
        except Exception:
            key = None
        named = text.startswith(b"-----BEGIN PUBLIC KEY-----") and "explicit" not in file.name
        supported = named and (
            isinstance(key, ed25519.Ed25519PublicKey)
            or (isinstance(key, ec.EllipticCurvePublicKey) and isinstance(key.curve, ec.SECP256R1))
            or (isinstance(key, rsa.RSAPublicKey) and key.key_size >= 2_048)
        )
        if supported:
            assert answer == key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo), file
            count("PEM files with a supported public key, read")
        else:
            assert answer == "key", file
            count("PEM files with anything else, refused")
