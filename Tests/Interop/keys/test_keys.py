"""Key files against another implementation of JWK: jwcrypto from PyPI.

Runs with pytest; KEYS_PEER names the program built from `peer/main.swift`.
"""
import base64
import hashlib
import json
import os
import stat
import subprocess

import pytest
from jwcrypto import jwe, jwk


def peer(*arguments):
    return subprocess.run([os.environ["KEYS_PEER"], *map(str, arguments)], check=True, text=True,
                          capture_output=True, timeout=60).stdout.splitlines()


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
