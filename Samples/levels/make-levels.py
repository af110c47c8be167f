#!/usr/bin/env python3
"""Makes the source of a small game vault: levels of PNG images, WAV sounds and JSON maps.

    make-levels.py OUTPUT [--edition N]

OUTPUT must be new or empty. The same edition gives the same bytes every time. Edition 2 is the
game's next release: one map and one image of `levels/two` change and one sound is new, so that an
update can be tried. Needs Python 3.9 and nothing else; about 3 MB in 90 files, in a second or two.

    levels/one     meadow       essential   needed before the first start
    levels/two     night cave   prefetch    fetched soon after
    music          three songs  onDemand    fetched when asked for
"""
import argparse
import array
import json
import math
import os
import pathlib
import random
import struct
import sys
import zlib

RATE = 22_050  # samples a second
SINE = [round(32_767 * math.sin(2 * math.pi * step / 4_096)) for step in range(4_096)]


def png(path, width, height, pixel):
    """Writes a true-colour PNG; `pixel(x, y)` gives three bytes."""

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    rows = bytearray()
    for y in range(height):
        rows.append(0)  # filter: none
        for x in range(width):
            rows += bytes(pixel(x, y))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    write(path, b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
          + chunk(b"IDAT", zlib.compress(bytes(rows), 9)) + chunk(b"IEND", b""))


def wav(path, samples):
    """Writes 16-bit mono RIFF/WAVE."""
    data = array.array("h", samples)
    if sys.byteorder == "big":
        data.byteswap()
    body = data.tobytes()
    write(path, b"RIFF" + struct.pack("<I", 36 + len(body)) + b"WAVEfmt "
          + struct.pack("<IHHIIHH", 16, 1, 1, RATE, 2 * RATE, 2, 16)
          + b"data" + struct.pack("<I", len(body)) + body)


def text(path, value):
    write(path, (json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode())


def write(path, data, executable=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    path.chmod(0o755 if executable else 0o644)


def tone(notes, seconds, loudness=0.4):
    """One melody: each note (semitones from A4) fades out; harmonics in whole numbers of steps."""
    length = int(RATE * seconds)
    for note in notes:
        step = round(440 * 2 ** (note / 12) * 4_096 * 256 / RATE)
        for at in range(length):
            place = at * step >> 8
            wave = SINE[place & 4_095] * 4 + SINE[place * 2 & 4_095] * 2 + SINE[place * 3 & 4_095]
            yield int(wave * (length - at) // length * loudness) // 7


def sprite(dice, size, hue):
    """A symmetrical creature on a soft ground; a little noise keeps it like a drawn picture."""
    cells = {(x, y): dice.random() < 0.5 for x in range(4) for y in range(8)}

    def pixel(x, y):
        column, row = x * 8 // size, y * 8 // size
        lit = cells[(min(column, 7 - column), row)]
        grain = dice.getrandbits(3)
        return [(level if lit else 250 - level // 8) - grain & 255 for level in hue]

    return pixel


def background(dice, size, top, bottom):
    hills = [(dice.randrange(20, 60), dice.randrange(1, 4), dice.randrange(4_096)) for _ in range(3)]

    def pixel(x, y):
        ridge = size // 2 + sum(SINE[(x * turns * 4_096 // size + phase) & 4_095] * height // 65_536
                                for height, turns, phase in hills)
        base = bottom if y > ridge else top
        shade = (y * 40 // size) + (dice.getrandbits(8) >> 5)
        return [max(0, level - shade) for level in base]

    return pixel


def level(folder, name, seed, palette, texts):
    dice = random.Random(seed)
    tiles = [[dice.choice(".......#~^o") for _ in range(96)] for _ in range(48)]
    text(folder / "map.json", {"name": name, "width": 96, "height": 48, "start": [2, 40],
                               "rows": ["".join(row) for row in tiles]})
    png(folder / "images" / "background.png", 384, 384, background(dice, 384, *palette))
    for number in range(24):
        hue = [dice.randrange(60, 230) for _ in range(3)]
        png(folder / "images" / "tiles" / f"tile {number:02}.png", 48, 48, sprite(dice, 48, hue))
    for number, sound in enumerate(["jump", "land", "coin", "door"]):
        wav(folder / "sounds" / f"{sound}.wav", tone([12 + number, 7 - number * 3, number], 0.2))
    for number in range(8):
        words = [dice.choice(["north", "gate", "lantern", "river", "old", "key", "moss"]) for _ in range(200)]
        text(folder / "dialogues" / f"scene-{number}.json", {"scene": number, "words": words})
    for language, line in texts.items():
        text(folder / "texts" / f"{language}.json", {"title": line})
    (folder / "replays").mkdir()  # the game writes here; the pack carries the empty folder
    write(folder / "credits.txt", b"")


def music(folder):
    songs = {"Morgengrüße": [0, 4, 7, 12, 7, 4], "洞窟の夜": [-12, -9, -5, -9], "thème final": [3, 7, 10, 15, 14, 10]}
    for title, notes in songs.items():
        wav(folder / f"{title}.wav", tone(notes * 3, 1.2 if len(notes) < 5 else 0.8))
    text(folder / "playlist.json", {"songs": list(songs)})


def game(output, edition):
    level(output / "levels" / "one", "Meadow", 1, ([150, 200, 250], [90, 180, 90]),
          {"en": "Meadow", "français": "Prairie fleurie", "日本語": "草原"})
    level(output / "levels" / "two", "Night cave", 2, ([40, 40, 90], [70, 60, 80]),
          {"en": "Night cave", "ελληνικά": "Νυχτερινή σπηλιά", "hàn tự 🌙": "Đêm"})
    two = output / "levels" / "two"
    write(two / "mini game" / "index.html",
          b"<!doctype html><title>Lantern</title><script src=lantern.js></script>\n")
    write(two / "mini game" / "lantern.js", b"document.body.textContent = 'Find the lantern.'\n")
    write(two / "mini game" / "play.sh", b"#!/bin/sh\nexec xdg-open index.html\n", executable=True)
    music(output / "music")
    if edition == 2:
        dice = random.Random(22)
        place = two / "map.json"
        plan = json.loads(place.read_bytes())
        plan["rows"][20] = plan["rows"][20][:40] + "ooooo" + plan["rows"][20][45:]
        text(place, plan)
        png(two / "images" / "tiles" / "tile 07.png", 48, 48, sprite(dice, 48, [220, 160, 60]))
        wav(two / "sounds" / "lantern.wav", tone([0, 5, 9], 0.3))


def main():
    arguments = argparse.ArgumentParser(description="Makes the source of a small game vault.")
    arguments.add_argument("output", type=pathlib.Path, help="a new or empty folder")
    arguments.add_argument("--edition", type=int, choices=[1, 2], default=1)
    given = arguments.parse_args()
    if given.output.exists() and (not given.output.is_dir() or any(given.output.iterdir())):
        arguments.error(f"{given.output} exists and is not an empty folder")
    os.umask(0o022)
    game(given.output, given.edition)


if __name__ == "__main__":
    main()
