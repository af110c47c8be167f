"""Searches files for the keys of a JWK Set, in each form in which they could be there: search.py JWKS FILE..."""

import base64
import json
import pathlib
import sys


def forms(key):
    """Raw, hex, base64 and base64url, and the base64 of these texts at each of its three alignments."""
    texts = [key, key.hex().encode(), key.hex().upper().encode(), base64.b64encode(key), base64.urlsafe_b64encode(key)]
    for text in texts:
        # The last characters depend on what follows.
        yield text if text is key else text.rstrip(b"=")[:-1]
        for shift in range(3):
            encoded = base64.b64encode(bytes(shift) + text).rstrip(b"=")[4 if shift else 0:-2]
            yield encoded
            yield encoded.translate(bytes.maketrans(b"+/", b"-_"))


def keys(path):
    for jwk in json.loads(pathlib.Path(path).read_text())["keys"]:
        key = base64.urlsafe_b64decode(jwk["k"] + "=")
        # A half is found where the halves are apart.
        yield from (key, key[:16], key[16:])


wanted = [form for key in keys(sys.argv[1]) for form in forms(key)]
found = [path for path in sys.argv[2:] if any(form in pathlib.Path(path).read_bytes() for form in wanted)]
for path in found:
    print(f"{path} has the key")
sys.exit(1 if found else 0)
