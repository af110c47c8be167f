"""What the crypto judges share: the Swift side, the published vectors, and the count of what was judged."""

import pathlib
from collections import Counter

import cryptography_vectors
import pytest
from crypto_peer import CryptoPeer

judged = Counter()


@pytest.fixture(scope="session")
def peer():
    peer = CryptoPeer()
    yield peer
    peer.end()


@pytest.fixture(scope="session")
def vectors():
    return pathlib.Path(cryptography_vectors.__file__).parent


@pytest.fixture
def count():
    """Counts judged vectors; a test that judged none has failed."""
    before = judged.copy()

    def add(what):
        judged[what] += 1

    yield add
    assert judged != before, "not one vector was found"


def pytest_terminal_summary(terminalreporter):
    if not judged:
        return
    terminalreporter.section("cryptography: judged")
    for what, number in sorted(judged.items()):
        terminalreporter.line(f"{number:6} {what}")
