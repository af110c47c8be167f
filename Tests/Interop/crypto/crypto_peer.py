"""VaultCrypto, asked one question a line; see peer/main.swift. CRYPTO_PEER names the program built from it."""

import os
import subprocess


class CryptoPeer:
    def __init__(self, **options):
        program = os.environ.get("CRYPTO_PEER")
        assert program, "set CRYPTO_PEER to the program crypto-peer that `swift build` makes"
        self.process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options
        )

    def __call__(self, operation, *arguments):
        """The answer's bytes, or the category of the failure as text."""
        self.ask(operation, *arguments)
        return self.answer()

    def ask(self, operation, *arguments):
        words = [operation, *(argument.hex() or "-" for argument in arguments)]
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()

    def answer(self):
        line = self.process.stdout.readline()
        assert line.endswith("\n"), "crypto-peer died"
        kind, result = line.split()
        if kind == "!":
            return result
        return b"" if result == "-" else bytes.fromhex(result)

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(20) == 0
