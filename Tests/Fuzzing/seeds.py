"""Writes seeds for the metadata fuzzer, one file each.

    seeds.py FOLDER

The first byte of a seed is the role's number (root, timestamp, snapshot, targets), plus 4 where only the signed
part follows, plus 8 where a site is to be made of it: the fuzzer signs with the first key of RFC 8032, section
7.1, which is named here.
"""

import hashlib
import json
import pathlib
import sys

ROLES = ["root", "timestamp", "snapshot", "targets"]
PUBLIC = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
KEY = {"keytype": "ed25519", "keyval": {"public": PUBLIC}, "scheme": "ed25519"}
ID = hashlib.sha256(json.dumps(KEY, separators=(",", ":"), sort_keys=True).encode()).hexdigest()
KEYS = {ID: KEY}
TRUST = {"keyids": [ID], "threshold": 1}
HASHES = {"sha256": hashlib.sha256(b"").hexdigest(), "sha512": hashlib.sha512(b"").hexdigest()}
FILE = {"length": 0, "hashes": HASHES, "custom": {"note": "\u00e9 e\u0301 \U0001f600 \"\\\n", "n": 2**53 - 1}}


def signed(role, version=1, **members):
    common = {"_type": role, "spec_version": "1.0.34", "version": version, "expires": "2999-12-31T23:59:59Z"}
    return common | members


def delegation(name, terminating=False, **scope):
    return TRUST | {"name": name, "terminating": terminating} | scope


def targets(**delegations):
    files = {"a": FILE, "a/b": FILE, "packs/b.avpack": FILE, "e\u0301": FILE, "\u00e9": FILE}
    members = {"delegations": {"keys": KEYS} | delegations} if delegations else {}
    return signed("targets", targets=files, **members)


def bins(bits):
    return TRUST | {"bit_length": bits, "name_prefix": "bin"}


def seeds():
    listed = {"version": 1, "length": 3, "hashes": HASHES}
    roles = {role: TRUST for role in ROLES}
    yield "root", signed("root", 2, consistent_snapshot=True, keys=KEYS, roles=roles)
    odd = {"odd": {"keytype": "x", "keyval": {"public": "00"}, "scheme": "x"}}
    for kind, scheme in [("ecdsa", "ecdsa-sha2-nistp256"), ("rsa", "rsassa-pss-sha256")]:
        pem = "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----\n"
        odd[kind] = {"keytype": kind, "keyval": {"public": pem}, "scheme": scheme}
    more = {role: {"keyids": [ID, *odd], "threshold": 1} for role in ROLES}
    yield "root-kinds", signed("root", 2, keys=KEYS | odd, roles=more)
    yield "timestamp", signed("timestamp", meta={"snapshot.json": listed})
    names = ["targets", "team", "bin-0", "bin-1", "a/b", "e\u0301", "\u00e9"]
    yield "snapshot", signed("snapshot", meta={f"{name}.json": listed for name in names})
    yield "targets", targets()
    yield "targets-roles", targets(roles=[
        delegation("team", paths=["a/*", "*"]), delegation("?", True, paths=["pack?/*.avpack", "*a*a*b"]),
        delegation("../x", path_hash_prefixes=["0", "ab", ""]), delegation("\u00e9", paths=[]),
    ])
    for bits in [1, 3, 4, 14]:
        yield f"targets-bins-{bits}", targets(succinct_roles=bins(bits))
    yield "targets-both", targets(roles=[], succinct_roles=bins(1))


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in seeds():
        role = ROLES.index(name.split("-")[0])
        text = json.dumps(content, ensure_ascii=False).encode()
        (folder / f"{name}-signed").write_bytes(bytes([role + 4]) + text)
        (folder / f"{name}-site").write_bytes(bytes([role + 12]) + text)
        file = json.dumps({"signatures": [{"keyid": ID, "sig": "00" * 64}], "signed": content}, indent=1)
        (folder / f"{name}-file").write_bytes(bytes([role]) + file.encode())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: seeds.py FOLDER")
    main(pathlib.Path(sys.argv[1]))
