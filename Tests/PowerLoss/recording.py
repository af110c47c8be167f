"""The recording of a disk, and the states that a power loss could have left it in."""

import bisect
import pathlib
import random
import subprocess

from entries import entries

# What a disk writes atomically.
BLOCK = 4096


class Recording:
    """All changes and flushes in their order. `marks` are where the log was before the first command and after each,
    `promises` what was guaranteed then."""

    def __init__(self, name, log, marks, promises):
        self.name = name
        self.promises = promises
        self.entries, ends = entries(pathlib.Path(log).read_bytes())
        self.flushes = [number for number, entry in enumerate(self.entries) if entry.kind == "flush"]
        # As numbers of entries.
        self.marks = [bisect.bisect_right(ends, mark) for mark in marks]

    def commands(self, state):
        """How many commands had ended."""
        return sum(mark <= state.end for mark in self.marks[1:])

    def promises_around(self, state):
        """The marks before and after the interrupted command; equal when all had ended."""
        count = self.commands(state)
        return self.promises[count], self.promises[min(count + 1, len(self.promises) - 1)]

    def __str__(self):
        writes = sum(entry.kind == "write" for entry in self.entries)
        return f"{self.name}, {writes} writes, {len(self.flushes)} flushes"


class State:
    """The power failed after `end` entries. Everything written before the last flush is there; of later writes only
    `blocks`, as pairs of an entry and a block of it."""

    def __init__(self, end, flushed, blocks):
        self.end = end
        self.flushed = flushed
        self.blocks = blocks

    def __str__(self):
        return f"{len(self.blocks)} of the blocks of entries {self.flushed} to {self.end} are there"

    @property
    def key(self):
        return (self.flushed, frozenset(self.blocks))


def states(recording, count, seed):
    """So many different states, in the order of the recording: the end of each command, and more of them at random."""
    chance = random.Random(seed)
    first, last = recording.marks[0], len(recording.entries)
    flushes = [number for number in recording.flushes if number >= first]
    found = {}
    for end in recording.marks:
        # What a command has promised was flushed before it ended.
        for share in (0.0, 0.5, 1.0):
            keep(found, cut(recording, end, share, chance))
    for _ in range(100 * count):
        if len(found) >= count:
            break
        # Most often just before a flush, when most is unsynced.
        if chance.random() < 0.6:
            end = chance.choice(flushes)
        else:
            end = chance.randint(first, last)
        keep(found, cut(recording, end, chance.choice([0.0, 0.1, 0.5, 0.9, 1.0, None]), chance))
    return sorted(found.values(), key=lambda state: state.end)


def keep(found, state):
    found.setdefault(state.key, state)


def cut(recording, end, share, chance):
    """A state at one moment in which each unflushed block was written with this probability; None loses a single one."""
    flushed = max((number + 1 for number in recording.flushes if number < end), default=0)
    blocks = [
        (number, block)
        for number in range(flushed, end)
        for block in range(-(-recording.entries[number].count // BLOCK))
    ]
    if share is None:
        lost = chance.randrange(len(blocks)) if blocks else 0
        chosen = blocks[:lost] + blocks[lost + 1 :]
    else:
        chosen = [block for block in blocks if chance.random() < share]
    return State(end, flushed, chosen)


class Disk:
    """The image of a recorded disk. Its states come in the order of the recording."""

    def __init__(self, recording, size, folder):
        self.recording = recording
        self.base = pathlib.Path(folder) / "flushed"
        self.image = pathlib.Path(folder) / "image"
        self.flushed = 0
        with open(self.base, "wb") as file:
            file.truncate(size)

    def write(self, state):
        """The image of a state, as a file of its own."""
        assert state.flushed >= self.flushed
        with open(self.base, "r+b", buffering=0) as file:
            for entry in self.recording.entries[self.flushed : state.flushed]:
                entry.apply(file)
        self.flushed = state.flushed
        self.image.unlink(missing_ok=True)
        subprocess.run(["cp", "--sparse=always", self.base, self.image], check=True, timeout=60)
        with open(self.image, "r+b", buffering=0) as file:
            for number, block in state.blocks:
                self.recording.entries[number].apply(file, block * BLOCK, BLOCK)
        return self.image
