#!/usr/bin/env python3
"""Makes the source of a game whose files are tagged by level: PNG images, WAV sounds and JSON maps and texts.

    make-game.py OUTPUT

OUTPUT must be new or empty. The bytes are the same every time, on every machine. Needs Python 3.9 and nothing else; 27
files, under 1 MB, in a second.

    level1 ... level5   a map and a tune each: packs of their own
    shared              sky and hero in three scales, boss in one: for all levels, a device fetches each of them once
    texts               in two languages: for all levels, a device fetches one language
"""
import argparse
import importlib.util
import os
import pathlib
import random
import struct
import sys
import zlib

sys.dont_write_bytecode = True
SPEC = importlib.util.spec_from_file_location(
    "make_levels", pathlib.Path(__file__).resolve().parent.parent / "levels" / "make-levels.py")
levels = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(levels)

LINES = {"de": ["Los!", "Die Brücke ist offen.", "Schau unter dem Moos nach.", "Geschafft."],
         "en": ["Go!", "The bridge is open.", "Look below the moss.", "Done."]}


def png(path, size, pixel):
    """Writes a square true-colour PNG that is not compressed: releases of zlib differ in what they make of an image."""

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    rows = bytearray()
    for y in range(size):
        rows.append(0)  # filter: none
        for x in range(size):
            rows += bytes(pixel(x, y))
    stored = b"\x78\x01"
    for start in range(0, len(rows), 65_535):
        block = rows[start:start + 65_535]
        last = start + 65_535 >= len(rows)
        stored += struct.pack("<BHH", last, len(block), len(block) ^ 0xFFFF) + block
    stored += struct.pack(">I", zlib.adler32(rows))
    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    levels.write(path, b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", stored) + chunk(b"IEND", b""))


def level(folder, number):
    dice = random.Random(number)
    width = 60 + 20 * number
    rows = ["".join(dice.choice(".......#~^o") for _ in range(width)) for _ in range(32)]
    levels.text(folder / "map.json", {"name": f"Level {number}", "start": [2, 30], "rows": rows})
    notes = [dice.choice([-9, -5, -2, 0, 3, 7, 10]) for _ in range(2 + number)]
    levels.wav(folder / "tune.wav", levels.tone(notes, 0.4))


def game(output):
    for number in range(1, 6):
        level(output / f"level{number}", number)
    for scale in (1, 2, 3):
        png(output / "shared" / f"sky@{scale}x.png", 96 * scale,
            levels.background(random.Random(7), 96 * scale, (150, 200, 250), (90, 180, 90)))
        png(output / "shared" / f"hero@{scale}x.png", 32 * scale, levels.sprite(random.Random(8), 32 * scale, [200, 80, 60]))
    png(output / "shared" / "boss@3x.png", 72, levels.sprite(random.Random(9), 72, [90, 60, 160]))
    for language, lines in LINES.items():
        for number in range(1, 6):
            levels.text(output / "texts" / language / f"level{number}.json",
                        {"title": f"Level {number}", "lines": lines})


def main():
    arguments = argparse.ArgumentParser(description="Makes the source of a game whose files are tagged by level.")
    arguments.add_argument("output", type=pathlib.Path, help="a new or empty folder")
    given = arguments.parse_args()
    if given.output.exists() and (not given.output.is_dir() or any(given.output.iterdir())):
        arguments.error(f"{given.output} exists and is not an empty folder")
    os.umask(0o022)
    game(given.output)


if __name__ == "__main__":
    main()
