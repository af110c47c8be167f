"""The Swift side of the judges, and the count of what they judged."""

import os
import pathlib
import subprocess
from collections import Counter

import cryptography_vectors
import pytest

judged = Counter()


def peer_path():
    folder = os.environ.get("ASSETVAULT_BIN")
    assert folder, "set ASSETVAULT_BIN to the output of `swift build --show-bin-path`"
    return pathlib.Path(folder) / "crypto-peer"


class Peer:
    """VaultCrypto, asked one question a line; see peer/main.swift."""

    def __init__(self, executable, **options):
        self.process = subprocess.Popen(
            [executable], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options
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


@pytest.fixture(scope="session")
def peer():
    peer = Peer(peer_path())
    yield peer
    peer.process.stdin.close()
    assert peer.process.wait() == 0


@pytest.fixture(scope="session")
def vectors():
    return pathlib.Path(cryptography_vectors.__file__).parent


@pytest.fixture
def count(request):
    """Counts judged vectors; a test that judged none has failed."""
    before = judged.copy()

    def add(what):
        judged[what] += 1

    yield add
    assert judged != before, "not one vector was found"


def pytest_terminal_summary(terminalreporter):
    terminalreporter.section("judged")
    for what, number in sorted(judged.items()):
        terminalreporter.line(f"{number:6} {what}")
