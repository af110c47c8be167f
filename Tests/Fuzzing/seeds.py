"""Writes seeds for the fuzzer, one file each, in a folder for each target.

    seeds.py FOLDER
"""

import bz2
import gzip
import hashlib
import io
import json
import lzma
import pathlib
import sys
import tarfile
import zipfile

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


def metadata():
    """The first byte is the role's number (root, timestamp, snapshot, targets), plus 4 where only the signed part follows,
    plus 8 where a site is to be made of it: the fuzzer signs with the first key of RFC 8032, section 7.1, which is named
    above."""
    for name, content in seeds():
        role = ROLES.index(name.split("-")[0])
        text = json.dumps(content, ensure_ascii=False).encode()
        yield f"{name}-signed", bytes([role + 4]) + text
        yield f"{name}-site", bytes([role + 12]) + text
        file = json.dumps({"signatures": [{"keyid": ID, "sig": "00" * 64}], "signed": content}, indent=1)
        yield f"{name}-file", bytes([role]) + file.encode()


def archives():
    files = {"a.txt": b"first\n", "folder/b.bin": bytes(range(256)), "folder/\u00e9": b"", "folder/deep/c": b"x" * 1000}
    for name, kind in [("pax", tarfile.PAX_FORMAT), ("gnu", tarfile.GNU_FORMAT), ("ustar", tarfile.USTAR_FORMAT)]:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=kind) as tar:
            for path, content in files.items():
                entry = tarfile.TarInfo(path)
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
        yield name, buffer.getvalue()
        yield f"{name}-gzip", gzip.compress(buffer.getvalue(), mtime=0)
        yield f"{name}-bzip2", bz2.compress(buffer.getvalue())
        yield f"{name}-xz", lzma.compress(buffer.getvalue())
    for name, method in [("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)]:
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", method) as archive:
            for path, content in files.items():
                archive.writestr(path, content)
        yield f"zip-{name}", buffer.getvalue()


def rules():
    """The settings of a vault; after a zero `.assetvault.json` in its folder `levels`."""
    traits = {"scale": {"match": "nearest"}, "language": {"match": "language", "fallback": ["en"]}}
    settings = {
        "format": 1,
        "packs": {"one": {"source": "../assets/music", "include": ["*.ogg"], "exclude": ["**/x*", "/a/**/b"], "tags": ["t"]}},
        "resources": {"game": {
            "source": "../assets", "exclude": ["*.psd"], "traits": traits,
            "rules": [
                {"paths": "levels/1/**", "tags": ["level1"]}, {"paths": ["*@2x.png", "**a**b"], "traits": {"scale": 2}},
                {"paths": "*", "tags": ["\u00e9", "all"]},
            ],
            "initial": ["level1"], "prefetch": ["all"], "preservation": {"level1": 90},
        }},
        "channels": ["beta", "live"], "apps": {"from": "1.0", "before": "2.0"}, "limits": {"pack": 1000000},
        "audiences": {"press": "file:keys/press.jwks"}, "expiry": {"root": 365},
    }
    labels = {"tags": ["levels"], "traits": {"scale": 1}, "rules": [{"paths": "*.json", "tags": ["maps"]}]}
    both = [json.dumps(value, ensure_ascii=False).encode() for value in (settings, labels)]
    yield "settings", both[0]
    yield "settings-and-labels", b"\0".join(both)
    for name in ("packs", "resources"):
        yield name, json.dumps({"format": 1, name: settings[name]}, ensure_ascii=False).encode()


def answers():
    """The first byte chooses the request: 0 for a file of 1,000 bytes, 1 for bytes 100 to 299 of it, 2 for a small file."""
    body = b"0123456789" * 100

    def answer(mode, head, body=b""):
        return bytes([mode]) + "\r\n".join(head).encode() + b"\r\n\r\n" + body

    for mode in range(3):
        yield f"whole-{mode}", answer(mode, ["HTTP/1.1 200 OK", "Content-Length: 1000", 'ETag: "a-1"'], body)
        yield f"busy-{mode}", answer(mode, ["HTTP/1.1 503 So", "Retry-After: 0", "Content-Length: 0"])
        date = "Sun, 06 Nov 1994 08:49:37 GMT"
        yield f"date-{mode}", answer(mode, ["HTTP/1.1 429 So", f"Retry-After: {date}", f"Date: {date}"])
        yield f"moved-{mode}", answer(mode, ["HTTP/1.1 301 So", "Location: /elsewhere", "Content-Length: 0"])
        chunks = b"1f4\r\n" + body[:500] + b"\r\n1f4\r\n" + body[500:] + b"\r\n0\r\n\r\n"
        yield f"chunked-{mode}", answer(mode, ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked"], chunks)
    part = ["HTTP/1.1 206 Partial", "Content-Range: bytes 100-299/1000", "Content-Length: 200"]
    yield "part", answer(1, part, body[100:300])
    yield "unsatisfied", answer(1, ["HTTP/1.1 416 So", "Content-Range: bytes */1000", "Content-Length: 0"])
    yield "encoded", answer(0, ["HTTP/1.1 200 OK", "Content-Encoding: gzip", "Content-Length: 1000"], body)


def stores():
    """Changes of a store: a byte for the kind, one for the file, two for the place, and some bytes with their count."""
    for kind in range(8):
        for file in range(0, 40, 3):
            text = b'{"length": 9007199254740991}'[: 4 * kind]
            yield f"{kind}-{file}", bytes([kind, file, 0, 17, len(text)]) + text
    yield "several", b"".join(bytes([kind, 5 * kind, 1, 0, 1, 0xFF]) for kind in range(8))


TARGETS = {"metadata": metadata, "archives": archives, "rules": rules, "answers": answers, "stores": stores}


def main(folder):
    for target, inputs in TARGETS.items():
        (folder / target).mkdir(parents=True, exist_ok=True)
        for name, content in inputs():
            (folder / target / name).write_bytes(content)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: seeds.py FOLDER")
    main(pathlib.Path(sys.argv[1]))
