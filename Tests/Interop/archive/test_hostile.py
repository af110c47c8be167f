"""Archives as another implementation's library writes them, each with one thing that must not get in."""
import io
import os
import shutil
import tarfile
import zipfile

import pytest

BAD_NAMES = {
    "/abs": "absolute", "../x": "'..' segment", "a/../../x": "'..' segment", "a/./b": "'.' segment",
    "a//b": "empty segment", "a\\b": "backslash", "a\x1bb": "control", "a\nb": "control", "a\x85b": "control",
    "n" * 256: "255 bytes", "/".join(["s" * 200] * 21): "4,096 bytes", "/".join("d" * 65): "64 levels",
}
BAD_TYPES = {
    tarfile.SYMTYPE: "is a symbolic link", tarfile.LNKTYPE: "is a hard link", tarfile.CHRTYPE: "is a device",
    tarfile.BLKTYPE: "is a device", tarfile.FIFOTYPE: "is a FIFO",
}
MEETINGS = [
    (["a", "a"], "twice"), (["a", "./a"], "twice"), (["a", "a/b"], "as a file and as a folder"),
    (["A", "a"], "letter case"), (["\u00e9", "e\u0301"], "normalisation"), (["stra\u00dfe", "STRASSE"], "letter case"),
]


def tar(entries, form=tarfile.PAX_FORMAT):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form, errors="surrogateescape") as archive:
        for name, kind in entries:
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, "/etc/passwd"
            entry.size = 1 if kind == tarfile.REGTYPE else 0
            archive.addfile(entry, io.BytesIO(b"x"))
    return buffer.getvalue()


def zipped(entries):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, mode in entries:
            entry = zipfile.ZipInfo("x")
            entry.filename, entry.create_system, entry.external_attr = name, 3, mode << 16
            archive.writestr(entry, "x")
    return buffer.getvalue()


@pytest.fixture
def refusal(peer, tmp_path):
    def refuse(archive):
        path, folder = tmp_path / "archive", tmp_path / "within/folder"
        path.write_bytes(archive)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        line = peer("unpack", path, folder, fails=True)
        assert line.startswith(f"corrupt: {path}: ")
        # Nothing beside the folder.
        assert os.listdir(tmp_path / "within") == ["folder"]
        assert sorted(os.listdir(tmp_path)) == ["archive", "within"]
        return line
    return refuse


@pytest.mark.parametrize("name,problem", BAD_NAMES.items())
def test_names(refusal, name, problem):
    assert problem in refusal(tar([(name, tarfile.REGTYPE)]))
    assert problem in refusal(zipped([(name, 0o100644)]))


def test_nul(refusal):
    assert "NUL" in refusal(zipped([("a\0b", 0o100644)]))


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_names_that_are_not_utf_8(refusal, form):
    assert "not UTF-8" in refusal(tar([("caf\udce9", tarfile.REGTYPE)], form))
    assert "not UTF-8" in refusal(tar([("caf\udce9" + "e" * 120, tarfile.REGTYPE)], tarfile.GNU_FORMAT))


@pytest.mark.parametrize("kind,problem", BAD_TYPES.items())
def test_types(refusal, kind, problem):
    line = refusal(tar([("first", tarfile.REGTYPE), ("a/bad", kind), ("a/bad/x", tarfile.REGTYPE)]))
    assert f"entry 'a/bad': {problem}" in line


@pytest.mark.parametrize("mode,problem", [(0o120777, "is a symbolic link"), (0o010644, "is a FIFO"),
                                          (0o020644, "is a device"), (0o140644, "is a socket")])
def test_types_in_zip(refusal, mode, problem):
    assert problem in refusal(zipped([("bad", mode), ("bad/x", 0o100644)]))


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("names,problem", MEETINGS)
def test_meetings(refusal, names, problem):
    assert problem in refusal(tar([(name, tarfile.REGTYPE) for name in names]))
    assert problem in refusal(zipped([(name, 0o100644) for name in names]))


@pytest.mark.parametrize("command", ["7z a -psecret {0} x", "7z a -psecret -mem=AES256 {0} x", "zip -q -P secret {0} x"])
def test_encrypted_zip(refusal, tmp_path_factory, command):
    assert "entry 'x': is encrypted" in refusal(encrypted(tmp_path_factory, command, "a.zip"))


@pytest.mark.parametrize("command", ["7z a -psecret {0} x", "7z a -psecret -mhe=on {0} x"])
def test_encrypted_7z(refusal, tmp_path_factory, command):
    assert "is encrypted" in refusal(encrypted(tmp_path_factory, command, "a.7z"))


def encrypted(tmp_path_factory, command, name):
    folder = tmp_path_factory.mktemp("encrypted")
    (folder / "x").write_bytes(b"content")
    assert os.system(f"cd '{folder}' && {command.format(name)} > /dev/null") == 0
    return (folder / name).read_bytes()
