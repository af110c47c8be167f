"""What the archive tests share. ARCHIVE_PEER names the program built from `peer/main.swift`."""
import os
import random
import subprocess

import pytest


def run_peer(*arguments, data=b"", fails=False):
    """The peer's output, or its one line of error. The environment is empty, as under cron and systemd."""
    done = subprocess.run([os.environ["ARCHIVE_PEER"], *map(str, arguments)], input=data, capture_output=True,
                          timeout=120, env={})
    assert done.returncode == (1 if fails else 0), done.stderr.decode()
    if not fails:
        return done.stdout
    [line] = done.stderr.decode().splitlines()
    return line


@pytest.fixture
def peer():
    return run_peer


@pytest.fixture(scope="session")
def tree(tmp_path_factory):
    """Files and folders with every oddity of name and content that is allowed."""
    root = tmp_path_factory.mktemp("tree")
    noise = random.Random(1)
    files = {
        "zero": b"", "levels/01 first/map.json": b'{"tiles": []}' * 900, "é/ñ.txt": "hola".encode(),
        "decomposed/e\u0301/o\u0308": b"x", "日本語/📦": b"y" * 700, "-rf": b"-", "a": b"1", "a-b": b"2", "a.b": b"3",
        "x/*?:\"<>|": b"4", "deep/" + "/".join("d" * 62) + "/f": b"5", "long/" + "n" * 255: b"6",
        "far/" + "/".join(["s" * 200] * 4) + "/f": b"7", "noise": noise.randbytes(1_500_000),
        "run.sh": b"#!/bin/sh\n",
    }
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (root / "run.sh").chmod(0o755)
    with open(root / "sparse", "wb") as sparse:
        sparse.seek(1_000_000)
        sparse.write(b"end of data")
        sparse.truncate(3_000_000)
    (root / "empty/inner").mkdir(parents=True)
    return root
