#!/usr/bin/env python3
"""A small key service: gives vault keys to who has a receipt for them. Standard library only.

    keyservice.py receipts.db sell KEY-ID... [--days 30]        prints a token, which is shown this once
    keyservice.py receipts.db revoke RECEIPT                    RECEIPT is the number before the dot of a token
    keyservice.py receipts.db serve --keys vault/keys/press.jwks --certificate cert.pem --private-key key.pem

The keys stay in the publisher's key files, which are read anew for each request; the database knows only receipts: the hash of a token,
the IDs of the keys that it is for, when it ends, and whether it was revoked. So neither a backup nor a thief of the database has a key
or a token.

    GET /KEY-ID   200 the key, as a JWK
    GET /         200 all keys of the token, as a JWK Set
                  401 no token, an unknown, expired or revoked one     403 the token is not for this key
                  404 no such key                                      429 too many requests, with Retry-After
"""

import argparse
import contextlib
import hashlib
import hmac
import json
import os
import re
import secrets
import sqlite3
import ssl
import stat
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
TOKEN = re.compile(r"([0-9]{1,18})\.([A-Za-z0-9_-]{43})")

SCHEMA = """
CREATE TABLE IF NOT EXISTS receipts (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    token_hash BLOB NOT NULL,
    expires INTEGER NOT NULL,
    revoked INTEGER NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS grants (
    receipt INTEGER NOT NULL REFERENCES receipts(id),
    key_id TEXT NOT NULL,
    PRIMARY KEY (receipt, key_id)) WITHOUT ROWID;
"""


class Receipts:
    """Who may have which keys."""

    def __init__(self, path):
        self.path = path
        os.umask(0o077)
        with self.connect() as database:
            database.executescript(SCHEMA)

    @contextlib.contextmanager
    def connect(self):
        with contextlib.closing(sqlite3.connect(self.path, timeout=10)) as database, database:
            yield database

    def sell(self, key_ids, days):
        secret = secrets.token_urlsafe(32)
        with self.connect() as database:
            receipt = database.execute(
                "INSERT INTO receipts (token_hash, expires) VALUES (?, ?)",
                (digest(secret), int(time.time() + days * 86400)),
            ).lastrowid
            database.executemany("INSERT INTO grants VALUES (?, ?)", [(receipt, key) for key in set(key_ids)])
        return f"{receipt}.{secret}"

    def revoke(self, receipt):
        with self.connect() as database:
            return database.execute("UPDATE receipts SET revoked = 1 WHERE id = ?", (receipt,)).rowcount == 1

    def granted(self, token):
        """The receipt and the IDs of the keys that a token is for; None for a token that is not valid."""
        parts = TOKEN.fullmatch(token)
        with self.connect() as database:
            row = database.execute(
                "SELECT token_hash, expires, revoked FROM receipts WHERE id = ?", (int(parts[1]) if parts else 0,)
            ).fetchone()
            # Compared in constant time, also where there is no such receipt.
            known, expires, revoked = row or (bytes(32), 0, 1)
            is_right = hmac.compare_digest(digest(parts[2] if parts else ""), known)
            if not is_right or revoked or expires <= time.time():
                return None
            keys = database.execute("SELECT key_id FROM grants WHERE receipt = ?", (int(parts[1]),))
            return int(parts[1]), {key for (key,) in keys}


def digest(secret):
    # The secret is random and long, so that it needs no salt and no slow hash.
    return hashlib.sha256(secret.encode()).digest()


def read_keys(paths):
    """The keys of some JWK files by their IDs."""
    keys = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
                raise OSError(f"{path} can be read by others: chmod 600 {path}")
            content = json.load(file)
        for key in content.get("keys", [content]):
            if KEY_ID.fullmatch(key.get("kid", "")):
                keys[key["kid"]] = key
    return keys


class RateLimit:
    """At most so many requests of a client in a minute."""

    def __init__(self, count):
        self.count = count
        self.lock = threading.Lock()
        self.minute = 0
        self.seen = {}

    def wait(self, client):
        """How many seconds the client should wait; 0 for none."""
        now = time.time()
        with self.lock:
            if int(now // 60) != self.minute:
                self.minute, self.seen = int(now // 60), {}
            self.seen[client] = self.seen.get(client, 0) + 1
            return 0 if self.seen[client] <= self.count else 60 - int(now % 60)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "keyservice"
    sys_version = ""

    def do_GET(self):
        wait = self.server.limit.wait(self.client_address[0])
        if wait:
            return self.answer(429, headers={"Retry-After": str(wait)})
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        granted = self.server.receipts.granted(token) if scheme.lower() == "bearer" else None
        if granted is None:
            return self.answer(401, headers={"WWW-Authenticate": 'Bearer realm="keys"'})
        receipt, allowed = granted
        keys = read_keys(self.server.key_files)
        name = self.path[1:]
        if name == "":
            found = [key for id, key in sorted(keys.items()) if id in allowed]
            return self.answer(200, {"keys": found}, "application/jwk-set+json")
        if not KEY_ID.fullmatch(name) or name not in keys:
            return self.answer(404)
        if name not in allowed:
            return self.answer(403)
        self.log_message("receipt %d gets the key %s", receipt, name)
        return self.answer(200, keys[name], "application/jwk+json")

    def answer(self, status, content=None, kind="application/json", headers={}):
        body = b"" if content is None else json.dumps(content).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address, context, receipts, key_files, rate):
        super().__init__(address, Handler)
        self.context = context
        self.receipts = receipts
        self.key_files = key_files
        self.limit = RateLimit(rate)

    def finish_request(self, request, client_address):
        # In the client's own thread: a client that is slow with its handshake delays nobody else.
        request.settimeout(10)
        with self.context.wrap_socket(request, server_side=True) as connection:
            super().finish_request(connection, client_address)

    def handle_error(self, request, client_address):
        print(f"{client_address[0]}: {sys.exception() if hasattr(sys, 'exception') else sys.exc_info()[1]}", file=sys.stderr)


def serve(receipts, options):
    read_keys(options.keys)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(options.certificate, options.private_key)
    with Server(("127.0.0.1", options.port), context, receipts, options.keys, options.rate) as server:
        print(f"https://localhost:{server.server_port}", flush=True)
        server.serve_forever()


def main():
    parser = argparse.ArgumentParser(description="Gives vault keys to who has a receipt for them.")
    parser.add_argument("database")
    actions = parser.add_subparsers(dest="action", required=True)
    sell = actions.add_parser("sell")
    sell.add_argument("key_ids", nargs="+", metavar="KEY-ID")
    sell.add_argument("--days", type=float, default=30)
    revoke = actions.add_parser("revoke")
    revoke.add_argument("receipt", type=int)
    service = actions.add_parser("serve")
    service.add_argument("--keys", action="append", required=True, metavar="JWKS")
    service.add_argument("--certificate", required=True, metavar="PEM")
    service.add_argument("--private-key", required=True, metavar="PEM")
    service.add_argument("--port", type=int, default=0)
    service.add_argument("--rate", type=int, default=600, help="requests of a client in a minute")
    options = parser.parse_args()
    receipts = Receipts(options.database)
    if options.action == "sell":
        if not all(KEY_ID.fullmatch(id) for id in options.key_ids):
            parser.error("a key ID has 1 to 64 characters of A-Z a-z 0-9 _ -")
        print(receipts.sell(options.key_ids, options.days))
    elif options.action == "revoke":
        if not receipts.revoke(options.receipt):
            parser.error("there is no such receipt")
    else:
        try:
            serve(receipts, options)
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    main()
