"""A pack's manifest and the keys that open it, as the format page has them; strict."""

import base64
import binascii
import hashlib
import json
import re

from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap

from pack_format import ENTRIES_LIMIT, INTEGER_LIMIT, RECORD_LENGTH, SLOTS_LIMIT, Keys


class Corrupt(Exception):
    pass


class WrongKey(Exception):
    pass


def need(condition, what):
    if not condition:
        raise Corrupt(what)


def parse(text):
    def unique(pairs):
        members = dict(pairs)
        need(len(members) == len(pairs), "a member stands twice")
        return members

    def refuse(literal):
        raise Corrupt(f"{literal} is no integer")

    try:
        return json.loads(text, object_pairs_hook=unique, parse_float=refuse, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise Corrupt(f"not JSON: {error}") from error


def base64url(text, count):
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError) as error:
        raise Corrupt(f"not base64url: {error}") from error
    need(base64.urlsafe_b64encode(data).rstrip(b"=").decode() == text, "not strict base64url")
    need(len(data) == count, f"{len(data)} bytes of base64url in place of {count}")
    return data


def member(members, name, kind):
    need(type(members.get(name)) is kind, f"{name} is absent or no {kind.__name__}")
    value = members[name]
    need(kind is not int or 0 <= value <= INTEGER_LIMIT, f"{name} is out of range")
    return value


def digest(members, name):
    text = member(members, name, str)
    need(re.fullmatch("[0-9a-f]{64}", text), f"{name} is no digest")
    return bytes.fromhex(text)


def check_id(text):
    need(1 <= len(text.encode()) <= 512, "pack ID is empty or longer than 512 bytes")
    for segment in text.split("/"):
        need(re.fullmatch("[a-z0-9][a-z0-9._-]{0,63}", segment), "pack ID has a bad segment")
        need(".." not in segment and segment != "current", "pack ID has a reserved segment")


class Manifest:
    """A pack's own target object; everything in it that a reader of the file needs, checked."""

    def __init__(self, text):
        target = parse(text)
        need(type(target) is dict, "the manifest is no object")
        self.length = member(target, "length", int)
        self.digest = digest(member(target, "hashes", dict), "sha256")
        custom = member(member(target, "custom", dict), "assetvault", dict)
        need(member(custom, "format", int) == 1, "unknown format")
        self.id, self.version = member(custom, "id", str), member(custom, "version", int)
        check_id(self.id)
        need(member(custom, "policy", str) in ("essential", "prefetch", "onDemand"), "unknown policy")
        need(all(type(tag) is str for tag in member(custom, "tags", list)), "a tag is no string")
        member(custom, "traits", dict)
        self.opened_size = member(custom, "openedSize", int)
        self.key_id = base64url(member(custom, "contentKeyID", str), 16)
        self.pieces = member(custom, "pieces", int)
        self.entries = member(custom, "entries", int)
        need(self.entries <= ENTRIES_LIMIT, "too many entries")
        index, catalog = member(custom, "index", dict), member(custom, "catalog", dict)
        self.index_digest = digest(index, "sha256")
        need(member(index, "length", int) == RECORD_LENGTH * self.pieces, "index.length is not 36 x pieces")
        self.catalog_length, self.catalog_digest = member(catalog, "length", int), digest(catalog, "sha256")
        self.slots = []
        need(len(member(custom, "slots", list)) <= SLOTS_LIMIT, "too many slots")
        for slot in custom["slots"]:
            need(type(slot) is dict, "a slot is no object")
            if member(slot, "alg", str) == "A256KW":
                kid = member(slot, "kid", str)
                need(re.fullmatch("[A-Za-z0-9_-]{1,64}", kid), "a slot's kid is no key ID")
                self.slots.append((kid, base64url(member(slot, "wrapped", str), 40)))


def vault_keys(text):
    """The (kid, secret) pairs of a JWK or JWK Set."""
    value = parse(text)
    for jwk in value.get("keys", [value]):
        if jwk.get("kty") == "oct" and jwk.get("alg") == "A256KW":
            secret = base64url(jwk["k"], 32)
            thumbprint = hashlib.sha256(json.dumps({"k": jwk["k"], "kty": "oct"}, separators=(",", ":")).encode())
            yield jwk.get("kid") or base64.urlsafe_b64encode(thumbprint.digest()).rstrip(b"=").decode(), secret


def content_keys(manifest, ring):
    """The pack's own keys: an unwrapped key counts only if it gives the pack's content key ID."""
    for kid, wrapped in manifest.slots:
        for candidate, secret in ring:
            if candidate == kid:
                try:
                    keys = Keys(aes_key_unwrap(secret, wrapped))
                except InvalidUnwrap:
                    continue
                if keys.id == manifest.key_id:
                    return keys
    raise WrongKey("no slot opens with the keys that were given")
