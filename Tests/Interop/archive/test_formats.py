"""Archives that other tools make must unpack to the very tree they were made of, and ours must suit other tools."""
import os
import subprocess
import tarfile

import pytest


def tool(command, **options):
    return subprocess.run(command, shell=True, check=True, capture_output=True, timeout=120, **options).stdout


def same(one, other):
    """Names, kinds, content and executable bits."""
    tool(f"diff -r --no-dereference '{one}' '{other}'")

    def shape(root):
        return sorted((os.path.relpath(os.path.join(folder, name), root),
                       bool(os.stat(os.path.join(folder, name)).st_mode & 0o100))
                      for folder, folders, files in os.walk(root) for name in folders + files)
    assert shape(one) == shape(other)


# 7-Zip's own format has its own test below.
MAKERS = {
    "gnu.tar": "tar --format=gnu -C {tree} -cf {archive} .",
    "pax.tar": "tar --format=posix -C {tree} -cf {archive} .",
    "plain names.tar": "cd {tree} && tar --format=posix -cf {archive} -- *",
    "sparse.tar": "tar --format=gnu -S -C {tree} -cf {archive} .",
    "sparse pax.tar": "tar --format=posix -S -C {tree} -cf {archive} .",
    "bsd.tar": "LANG=C.UTF-8 bsdtar --format=pax -C {tree} -cf {archive} .",
    "a.tar.gz": "tar -C {tree} -czf {archive} .",
    "a.tar.bz2": "tar -C {tree} -cjf {archive} .",
    "a.tar.xz": "tar -C {tree} -cJf {archive} .",
    "a.tar.zst": "tar -C {tree} --zstd -cf {archive} .",
    "many members.tar.gz": "tar -C {tree} -c . | split -b 1M --filter='gzip -c' - > {archive}",
    "many frames.tar.zst": "tar -C {tree} -c . | split -b 1M --filter='zstd -qc' - > {archive}",
    "many streams.tar.xz": "tar -C {tree} -c . | split -b 4M --filter='xz -c' - > {archive}",
    "bsd.zip": "cd {tree} && LANG=C.UTF-8 bsdtar -acf {archive} -- *",
    "7-zip.zip": "cd {tree} && LANG=C.UTF-8 7z a {archive} .",
    "7-zip lzma.zip": "cd {tree} && LANG=C.UTF-8 7z a -mm=lzma {archive} .",
    "python.zip": "cd {tree} && python3 -m zipfile -c {archive} ./*",
}


@pytest.mark.parametrize("name", MAKERS)
def test_unpacks(peer, tree, tmp_path, name):
    archive, folder = tmp_path / name, tmp_path / "folder"
    folder.mkdir()
    tool(MAKERS[name].format(tree=tree, archive=f"'{archive}'"))
    peer("unpack", archive, folder)
    if name == "python.zip":
        # zipfile's command keeps no folders that are empty, and no name that begins with a dash.
        (folder / "empty/inner").mkdir(parents=True, exist_ok=True)
    same(tree, folder)
    assert peer("list", tree) == peer("list", folder)


@pytest.mark.parametrize("name", [name for name in MAKERS if ".tar" in name])
def test_unpacks_from_a_pipe(peer, tree, tmp_path, name):
    archive, folder = tmp_path / name, tmp_path / "folder"
    folder.mkdir()
    tool(MAKERS[name].format(tree=tree, archive=f"'{archive}'"))
    peer("unpack", "-", folder, data=archive.read_bytes())
    same(tree, folder)


@pytest.fixture
def composed(tree, tmp_path):
    """Without names in NFD, for what reads through libarchive's normalisation to NFC."""
    tool(f"cp -a '{tree}' '{tmp_path}/composed' && rm -r '{tmp_path}/composed/decomposed'")
    return tmp_path / "composed"


@pytest.mark.parametrize("method", ["lzma", "lzma2", "ppmd", "bzip2", "deflate", "copy"])
def test_unpacks_7z(peer, composed, tmp_path, method):
    archive, folder = tmp_path / "a.7z", tmp_path / "folder"
    folder.mkdir()
    tool(f"cd '{composed}' && LANG=C.UTF-8 7z a -m0={method} '{archive}' .")
    peer("unpack", archive, folder)
    same(composed, folder)


def test_7z_names_come_composed(peer, tmp_path):
    """libarchive gives names of 7z in NFC only; should it change, this tells."""
    source, archive, folder = tmp_path / "source", tmp_path / "a.7z", tmp_path / "folder"
    source.mkdir()
    folder.mkdir()
    (source / "e\u0301").touch()
    tool(f"cd '{source}' && LANG=C.UTF-8 7z a '{archive}' .")
    peer("unpack", archive, folder)
    assert os.listdir(folder) == ["\u00e9"]


def test_tar_reads_pax(peer, tree, tmp_path):
    archive, folder = tmp_path / "ours.tar", tmp_path / "folder"
    folder.mkdir()
    archive.write_bytes(peer("pax", tree))
    tool(f"tar -xf '{archive}' -C '{folder}'")
    same(tree, folder)
    assert peer("pax", folder) == archive.read_bytes()


def test_bsdtar_reads_pax(peer, composed, tmp_path):
    archive, folder = tmp_path / "ours.tar", tmp_path / "folder"
    folder.mkdir()
    archive.write_bytes(peer("pax", composed))
    tool(f"LANG=C.UTF-8 bsdtar -xf '{archive}' -C '{folder}'")
    same(composed, folder)


def test_pax_says_nothing_but_names_sizes_and_modes(peer, tree, tmp_path):
    archive = tmp_path / "ours.tar"
    archive.write_bytes(peer("pax", tree))
    with tarfile.open(archive, "r:") as tar:
        for entry in tar:
            assert (entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname) == (0, 0, 0, "", "")
            assert entry.mode == (0o755 if entry.isdir() or entry.name == "run.sh" else 0o644)
            assert set(entry.pax_headers) <= {"path"}
