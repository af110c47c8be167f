"""Key files against other implementations of JWK and JWE: jwcrypto from PyPI, and the program jose.

Runs with pytest; KEYS_PEER names the program built from `peer/main.swift`.
"""
import base64
import hashlib
import json
import os
import stat
import subprocess

import pytest
from jwcrypto import jwa, jwe, jwk

PASSPHRASE = "correct horse – battery staple"


def peer(*arguments, passphrase=None):
    environment = dict(os.environ)
    if passphrase is not None:
        environment["KEYS_PASSPHRASE"] = passphrase
    return subprocess.run([os.environ["KEYS_PEER"], *map(str, arguments)], check=True, text=True,
                          capture_output=True, timeout=60, env=environment).stdout.splitlines()


def secret(key):
    text = key.export(as_dict=True)["k"]
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def line(key, kid=None):
    return f"vault {kid or key['kid']} {hashlib.sha256(secret(key)).hexdigest()}"


def stored(path, text):
    path.write_text(text)
    path.chmod(0o600)
    return f"file:{path}"


def vault_key(**members):
    return jwk.JWK.generate(kty="oct", size=256, alg="A256KW", **members)


def test_single_key(tmp_path):
    key = vault_key(kid="one", use="enc")
    assert peer("list", stored(tmp_path / "key", key.export())) == [line(key)]


def test_absent_kid_is_the_thumbprint(tmp_path):
    for number in range(20):
        key = vault_key()
        assert peer("list", stored(tmp_path / f"key{number}", key.export())) == [line(key, key.thumbprint())]


def test_set_with_other_types(tmp_path):
    mine = [vault_key(kid="first", key_ops=["wrapKey", "unwrapKey"]), vault_key(kid="second")]
    ring = jwk.JWKSet()
    for key in [jwk.JWK.generate(kty="RSA", size=2048, kid="a.b/c"), mine[0],
                jwk.JWK.generate(kty="EC", crv="P-256"), mine[1], jwk.JWK.generate(kty="OKP", crv="Ed25519")]:
        ring.add(key)
    # jwcrypto keeps a set in no order.
    found = peer("list", stored(tmp_path / "ring", ring.export()))
    assert sorted(found) == sorted(line(key) for key in mine)


@pytest.mark.parametrize("members", [
    {"alg": "A128KW", "size": 128}, {"alg": "A256KW", "size": 128}, {"alg": "A256GCM", "size": 256},
    {"size": 256}, {"alg": "A256KW", "size": 256, "use": "sig"}, {"alg": "A256KW", "size": 512},
    {"alg": "A256KW", "size": 256, "kid": "a.b"}, {"alg": "A256KW", "size": 256, "key_ops": ["encrypt"]},
])
def test_keys_for_something_else(tmp_path, members):
    key = jwk.JWK.generate(kty="oct", **members)
    output = peer("list", stored(tmp_path / "key", key.export()))
    assert len(output) == 1 and output[0].startswith("key: ")
    assert key.export(as_dict=True)["k"][:8] not in output[0]


def test_keygen(tmp_path):
    path = tmp_path / "vault.jwks"
    [kid] = peer("keygen", path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    ring = jwk.JWKSet.from_json(path.read_text())
    [key] = ring["keys"]
    assert ring.get_key(kid) is key and len(secret(key)) == 32
    assert {name: value for name, value in key.export(as_dict=True).items() if name != "k"} == {
        "kty": "oct", "alg": "A256KW", "use": "enc", "kid": kid}
    assert peer("list", f"file:{path}") == [line(key)]
    # The other implementation wraps and unwraps with it.
    token = jwe.JWE(b"content", json.dumps({"alg": "A256KW", "enc": "A256GCM"}))
    token.add_recipient(key)
    again = jwe.JWE()
    again.deserialize(token.serialize(compact=True), key=key)
    assert again.payload == b"content"


def test_development_key_says_what_it_is():
    folder = os.path.join(os.path.dirname(__file__), "../../../Keys")
    with open(os.path.join(folder, "development-only.vault.jwks")) as file:
        text = file.read()
    [key] = jwk.JWKSet.from_json(text)["keys"]
    assert key["kid"] == "development-only-do-not-ship" and "DO NOT SHIP" in json.loads(text)["warning"]


def encrypted(text, compact, **header):
    token = jwe.JWE(text.encode(), json.dumps(header))
    token.add_recipient(jwk.JWK.from_password(PASSPHRASE))
    return token.serialize(compact=compact)


WRAPPINGS = ["PBES2-HS256+A128KW", "PBES2-HS384+A192KW", "PBES2-HS512+A256KW"]
ENCRYPTIONS = ["A128GCM", "A192GCM", "A256GCM", "A128CBC-HS256", "A192CBC-HS384", "A256CBC-HS512"]


@pytest.mark.parametrize("compact", [True, False])
@pytest.mark.parametrize("encryption", ENCRYPTIONS)
@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_encrypted_by_jwcrypto(tmp_path, wrapping, encryption, compact):
    key = vault_key(kid="one")
    header = {"alg": wrapping, "enc": encryption}  # p2c is jwcrypto's default
    for text, kind in [(key.export(), "jwk+json"), (json.dumps({"keys": [key.export(as_dict=True)]}), "jwk-set+json")]:
        for header in [header, header | {"cty": kind, "p2c": 1000}]:
            file = stored(tmp_path / "key", encrypted(text, compact, **header))
            assert peer("list", file, passphrase=PASSPHRASE) == [line(key)]
    [refusal] = peer("list", file, passphrase=PASSPHRASE + "x")
    assert refusal.startswith("key: ") and "passphrase does not open" in refusal


def test_jwcrypto_reads_ours(tmp_path, monkeypatch):
    # It refuses more than 16,384 iterations unless told otherwise.
    monkeypatch.setattr(jwa, "default_max_pbkdf2_iterations", 10_000_000)
    path = tmp_path / "vault.jwks"
    [kid] = peer("keygen", path, passphrase=PASSPHRASE)
    token = jwe.JWE()
    token.deserialize(path.read_text(), jwk.JWK.from_password(PASSPHRASE))
    assert token.jose_header["p2c"] >= 600_000
    [key] = jwk.JWKSet.from_json(token.payload.decode())["keys"]
    assert key["kid"] == kid
    assert peer("list", f"file:{path}", passphrase=PASSPHRASE) == [line(key)]
    wrong = jwe.JWE()
    with pytest.raises(jwe.InvalidJWEData):
        wrong.deserialize(path.read_text(), jwk.JWK.from_password(PASSPHRASE + "x"))


def jose(*arguments, text=None):
    done = subprocess.run(["jose", *map(str, arguments)], input=text, text=True, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def password(tmp_path):
    """The passphrase as jose takes it without a terminal."""
    return stored(tmp_path / "password", jwk.JWK.from_password(PASSPHRASE).export())[len("file:"):]


@pytest.mark.parametrize("compact", [[], ["-c"]])
@pytest.mark.parametrize("header", [
    {"alg": "PBES2-HS256+A128KW"},  # enc, p2c and p2s are jose's defaults
    *({"alg": wrapping, "enc": encryption} for wrapping in WRAPPINGS for encryption in ENCRYPTIONS)])
def test_encrypted_by_jose(tmp_path, password, header, compact):
    ring = jose("jwk", "gen", "-s", "-i", json.dumps({"alg": "A256KW", "kid": "x"}))
    (tmp_path / "ring").write_text(ring)
    text = jose("jwe", "enc", "-I", tmp_path / "ring", "-k", password, "-i", json.dumps({"protected": header}), *compact)
    [key] = jwk.JWKSet.from_json(ring)["keys"]
    assert peer("list", stored(tmp_path / "key", text), passphrase=PASSPHRASE) == [line(key)]
    assert peer("list", stored(tmp_path / "plain", ring)) == [line(key)]


def test_jose_reads_ours_with_fewer_iterations(tmp_path, password):
    """jose 11 refuses more than 32,768 iterations, so that it can't read the files themselves: the header says how many."""
    path = tmp_path / "vault.jwks"
    [kid] = peer("keygen", path, 32_768, passphrase=PASSPHRASE)
    [key] = json.loads(jose("jwe", "dec", "-i", path, "-k", password))["keys"]
    assert key["kid"] == kid
    assert peer("list", f"file:{path}", passphrase=PASSPHRASE) == [line(jwk.JWK(**key))]
