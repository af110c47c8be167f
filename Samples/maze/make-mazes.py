#!/usr/bin/env python3
"""Makes the levels of the sample game, and moves that win them.

    make-mazes.py OUTPUT

The same bytes every time. OUTPUT/assets/{one,two,three} are the sources of the packs, OUTPUT/moves/{one,two,three} one
letter a step. Level two has a sound of wind, which is noise: 6 MB that no compression makes smaller. Level three is far
too large to be seen at once. Needs Python 3.9 and nothing else.
"""
import pathlib
import random
import struct
import sys
from collections import deque

STEPS = {"w": (0, -1), "a": (-1, 0), "s": (0, 1), "d": (1, 0)}


def carve(dice, width, height):
    """A maze without loops: odd cells are rooms, a walk opens the walls between them."""
    cells = [bytearray(b"#" * width) for _ in range(height)]
    cells[1][1] = ord(" ")
    way = [(1, 1)]
    while way:
        x, y = way[-1]
        open_sides = [(dx, dy) for dx, dy in STEPS.values()
                      if 0 < x + 2 * dx < width and 0 < y + 2 * dy < height
                      and cells[y + 2 * dy][x + 2 * dx] == ord("#")]
        if not open_sides:
            way.pop()
            continue
        dx, dy = dice.choice(open_sides)
        cells[y + dy][x + dx] = cells[y + 2 * dy][x + 2 * dx] = ord(" ")
        way.append((x + 2 * dx, y + 2 * dy))
    return cells


def paths(cells, length):
    """The moves to each place that is up to so many steps away from the start."""
    found = {(1, 1): ""}
    queue = deque([(1, 1)])
    while queue:
        x, y = queue.popleft()
        if len(found[x, y]) == length:
            continue
        for key, (dx, dy) in STEPS.items():
            place = (x + dx, y + dy)
            if place not in found and cells[place[1]][place[0]] != ord("#"):
                found[place] = found[x, y] + key
                queue.append(place)
    return found


def level(output, name, seed, width, height, length, story):
    dice = random.Random(seed)
    cells = carve(dice, width, height)
    found = paths(cells, length)
    exit_place = max(found, key=lambda place: (len(found[place]), place))
    moves = found[exit_place]
    x, y = 1, 1
    for number, key in enumerate(moves[:-1], 1):
        x, y = x + STEPS[key][0], y + STEPS[key][1]
        if number % 8 == 0:
            cells[y][x] = ord("*")
    cells[exit_place[1]][exit_place[0]] = ord(">")
    write(output / "assets" / name / "maze.txt", b"".join(bytes(line) + b"\n" for line in cells))
    write(output / "assets" / name / "story.txt", story.encode())
    write(output / "moves" / name, moves.encode())


def write(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def wind(path, size):
    data = random.Random(5).randbytes(size)
    header = b"RIFF" + struct.pack("<I", 36 + size) + b"WAVEfmt "
    write(path, header + struct.pack("<IHHIIHH", 16, 1, 1, 22_050, 44_100, 2, 16)
          + b"data" + struct.pack("<I", size) + data)


output = pathlib.Path(sys.argv[1])
level(output, "one", 1, 41, 15, 60, "A meadow with hedges. Somewhere is a way out.")
level(output, "two", 2, 79, 31, 90, "A cave, and the wind in it.")
level(output, "three", 3, 1201, 601, 120, "The secret labyrinth: larger than anybody has ever seen.")
wind(output / "assets" / "two" / "wind.wav", 6_000_000)
