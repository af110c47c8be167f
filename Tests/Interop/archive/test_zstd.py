"""Our frames against the zstd program, both ways."""
import random
import subprocess

import pytest

TEXT = b"".join(f"node {n % 97} mesh {n * 7919 % 1009}\n".encode() for n in range(40_000))


def zstd(*arguments, data):
    return subprocess.run(["zstd", "-q", "-c", *arguments], input=data, check=True, capture_output=True,
                          timeout=120).stdout


@pytest.mark.parametrize("count", [100, 65_536, 131_072, 262_144, 500_000])
@pytest.mark.parametrize("level", [1, 3, 9, 19])
def test_zstd_reads_ours(peer, count, level):
    frame = peer("compress", level, data=TEXT[:count])
    assert 0 < len(frame) < count
    assert zstd("-d", data=frame) == TEXT[:count]
    assert peer("compress", level, data=TEXT[:count]) == frame


def test_noise_is_left(peer):
    assert peer("compress", 3, data=random.Random(1).randbytes(200_000)) == b""


@pytest.mark.parametrize("arguments", [["-1"], ["-19"], ["--no-check"], ["--check"], ["--long=24"],
                                       ["--stream-size=300000"], ["--fast=5"]])
def test_we_read_zstd(peer, arguments):
    frame = zstd(*arguments, data=TEXT[:300_000])
    assert peer("decompress", 300_000, data=frame) == TEXT[:300_000]


def test_wide_windows(peer):
    """A window is only as wide as the content where its size is known, so this comes from a pipe of unknown length."""
    for arguments in [["--long=25"], ["--ultra", "-22"]]:
        assert "window" in peer("decompress", 300_000, data=zstd(*arguments, data=TEXT[:300_000]), fails=True)


def test_more_than_a_frame(peer):
    frame = zstd(data=TEXT[:1_000])
    for data in [frame + frame, frame + b"\0", frame + b"\x50\x2a\x4d\x18\0\0\0\0"]:
        for count in [1_000, 2_000]:
            assert "follows" in peer("decompress", count, data=data, fails=True)


def test_a_damaged_checksum(peer):
    frame = bytearray(zstd("--check", data=TEXT[:1_000]))
    frame[-1] ^= 1
    assert peer("decompress", 1_000, data=bytes(frame), fails=True).startswith("corrupt: ")


def test_dictionaries(peer, tmp_path):
    samples = []
    for number in range(200):
        path = tmp_path / f"sample {number}"
        path.write_bytes(TEXT[number * 500:number * 500 + 500])
        samples.append(str(path))
    dictionary = tmp_path / "dictionary"
    subprocess.run(["zstd", "-q", "--train", *samples, "-o", dictionary], check=True, capture_output=True, timeout=120)
    frame = zstd("-D", str(dictionary), data=TEXT[:500])
    assert "dictionary" in peer("decompress", 500, data=frame, fails=True)
