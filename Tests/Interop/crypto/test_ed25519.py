"""Ed25519 against its authors' vectors and PyPI cryptography."""

import fcntl
import os
import pty
import select
import termios

import pytest
from crypto_peer import CryptoPeer
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)


def pem(key):
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def flipped(data, bit):
    return bytes(byte ^ (1 << bit % 8 if place == bit // 8 else 0) for place, byte in enumerate(data))


def test_sign_input(peer, count, vectors):
    """Lines of seed || public key : public key : message : signature || message."""
    lines = (vectors / "asymmetric" / "Ed25519" / "sign.input").read_text().splitlines()
    for number, line in enumerate(lines):
        secret, public, message, signed = map(bytes.fromhex, line.split(":")[:4])
        signature = signed[:64]
        text = pem(Ed25519PrivateKey.from_private_bytes(secret[:32]))
        assert peer("ed25519-sign", text, message) == public + signature
        assert peer("ed25519-verify", public, signature, message) == b"\1"
        count("sign.input: signed and verified")
        for wrong in (
            (flipped(public, number % 256), signature, message),
            (public, flipped(signature, number % 512), message),
            (public, signature, message + b"\0"),
            (public, signature[:63], message),
            (public, signature + b"\0", message),
        ):
            assert peer("ed25519-verify", *wrong) == b"\0"
            count("sign.input: changed keys, signatures and messages, refused")


def test_scalars_out_of_range(peer, count, vectors):
    """A signature's second half plus the group's order satisfies the equation, but is not canonical."""
    order = 2**252 + 27742317777372353535851937790883648493
    lines = (vectors / "asymmetric" / "Ed25519" / "sign.input").read_text().splitlines()
    for line in lines[:64]:
        _, public, message, signed = map(bytes.fromhex, line.split(":")[:4])
        scalar = int.from_bytes(signed[32:64], "little") + order
        assert peer("ed25519-verify", public, signed[:32] + scalar.to_bytes(32, "little"), message) == b"\0"
        count("sign.input: signatures made malleable, refused")


def test_private_keys_both_ways(peer, count):
    for _ in range(20):
        text = peer("ed25519-generate")
        key = load_pem_private_key(text, None)
        assert isinstance(key, Ed25519PrivateKey)
        assert pem(key) == text
        message = os.urandom(50)
        answer = peer("ed25519-sign", text, message)
        public = key.public_key()
        assert answer[:32] == public.public_bytes_raw()
        public.verify(answer[32:], message)
        assert peer("ed25519-verify", answer[:32], key.sign(message), message) == b"\1"
        count("fresh private keys that PyPI cryptography reads and that sign alike")


@pytest.mark.filterwarnings("ignore::cryptography.utils.CryptographyDeprecationWarning")
def test_other_private_keys_are_refused(peer, count, vectors):
    """Every PEM file of the collection: only unencrypted Ed25519 keys are read, and nobody is asked for a passphrase."""
    for file in sorted((vectors / "asymmetric").rglob("*.pem")):
        text = file.read_bytes()
        try:
            expected = load_pem_private_key(text, None)
        except Exception:
            expected = None
        answer = peer("ed25519-sign", text, b"message")
        if isinstance(expected, Ed25519PrivateKey):
            assert answer[:32] == expected.public_key().public_bytes_raw(), file
            count("PEM files with an Ed25519 private key, read")
        else:
            assert answer == "key", file
            count("PEM files with anything else, refused")


def test_nobody_is_asked_for_a_passphrase(count, vectors):
    """OpenSSL would ask on the terminal, and wait; so the peer is given one."""
    terminal, its_side = pty.openpty()

    def take_terminal():
        os.setsid()
        fcntl.ioctl(its_side, termios.TIOCSCTTY, 0)

    peer = CryptoPeer(preexec_fn=take_terminal)
    text = (vectors / "asymmetric" / "Ed25519" / "ed25519-pkcs8-enc.pem").read_bytes()
    peer.ask("ed25519-sign", text, b"message")
    asked, _, _ = select.select([terminal, peer.process.stdout], [], [], 20)
    assert asked == [peer.process.stdout], "it asks on the terminal"
    assert peer.answer() == "key"
    peer.end()
    count("encrypted private keys refused without a question")
