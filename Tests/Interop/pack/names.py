"""A reader of the table of opaque names, written from the format page alone (SealedPack.docc/Format.md)."""

from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap

from pack_format import Keys, hmac_sha256
from pack_manifest import WrongKey, base64url, member, need, parse

TABLE_ID, FILE = "assetvault.names", "names.json"


class Names:
    def __init__(self, text):
        table = parse(text)
        need(member(table, "format", int) == 1, "the table has an unknown format")
        self.names = {listed: member(entry, "name", str) for listed, entry in member(table, "packs", dict).items()}
        key = member(table, "key", dict)
        self.key_id = base64url(member(key, "id", str), 16)
        self.slots = member(key, "slots", list)

    def key(self, ring):
        """The key that makes the listed IDs, for the vault's own keys."""
        for slot in self.slots:
            for kid, secret in ring:
                if member(slot, "alg", str) == "A256KW" and member(slot, "kid", str) == kid:
                    try:
                        keys = Keys(aes_key_unwrap(secret, base64url(member(slot, "wrapped", str), 40)))
                    except InvalidUnwrap:
                        continue
                    if keys.id == self.key_id:
                        return keys.derive("name")
        raise WrongKey("no slot of the key of the names opens with the keys that were given")


def listed_id(key, name, tree=None):
    def digest(text):
        return "q" + hmac_sha256(key, text.encode())[:16].hex()

    return digest(name) if tree is None else f"{digest(tree)}/{digest(name)}"
