#!/usr/bin/env python3
"""Makes large single files of real content, each in two versions that differ in 1 KB near the start:

    make-containers.py OUTPUT FOLDER...

OUTPUT/pak/{1,2}/game.pak   a PACK file as games have them: the files of all folders, then the directory that places
                            them; in version 2 the first file is 1 KB longer, so that all others move
OUTPUT/sqlite/{1,2}/game.db a database of the same files, one row for each 1,800 bytes; version 2 has one row more
"""

import os
import shutil
import sqlite3
import struct
import sys

SIZE = 1_000_000_000
ROW = 1_800


def files(folders):
    """Paths and names in a fixed order, until they have SIZE bytes."""
    total = 0
    for folder in folders:
        for parent, below, names in os.walk(folder):
            below.sort()
            for name in sorted(names):
                path = os.path.join(parent, name)
                total += os.path.getsize(path)
                if total > SIZE:
                    return
                yield path, os.path.relpath(path, folder)


def make_pak(output, paths, inserted):
    os.makedirs(os.path.dirname(output))
    directory = []
    with open(output, "wb") as pak:
        pak.write(bytes(12))
        for path, name in paths:
            start = pak.tell()
            with open(path, "rb") as source:
                if not directory:
                    pak.write(inserted)
                shutil.copyfileobj(source, pak, 1 << 20)
            directory.append((name.encode()[-55:], start, pak.tell() - start))
        start = pak.tell()
        for entry in directory:
            pak.write(struct.pack("<56sII", *entry))
        pak.seek(0)
        pak.write(struct.pack("<4sII", b"PACK", start, 64 * len(directory)))


def rows(paths):
    number = 0
    for path, name in paths:
        with open(path, "rb") as source:
            part = 0
            while content := source.read(ROW):
                # Even numbers, so that a row can come between.
                number += 2
                part += 1
                yield number, name, part, content


def make_database(output, paths):
    os.makedirs(os.path.dirname(output))
    database = sqlite3.connect(output)
    database.execute("CREATE TABLE assets (number INTEGER PRIMARY KEY, name TEXT, part INTEGER, content BLOB)")
    database.executemany("INSERT INTO assets VALUES (?, ?, ?, ?)", rows(paths))
    database.commit()
    database.close()


def main():
    output, folders = sys.argv[1], sys.argv[2:]
    paths = list(files(folders))
    inserted = bytes(range(256)) * 4
    make_pak(f"{output}/pak/1/game.pak", paths, b"")
    make_pak(f"{output}/pak/2/game.pak", paths, inserted)
    make_database(f"{output}/sqlite/1/game.db", paths)
    os.makedirs(f"{output}/sqlite/2")
    shutil.copyfile(f"{output}/sqlite/1/game.db", f"{output}/sqlite/2/game.db")
    database = sqlite3.connect(f"{output}/sqlite/2/game.db")
    database.execute("INSERT INTO assets VALUES (101, 'inserted', 1, ?)", (inserted,))
    database.commit()
    database.close()


main()
