"""Reads what `recorder.py` wrote."""

import dataclasses
import struct

HEAD = struct.Struct(">cQI")
KINDS = {b"W": "write", b"Z": "zero", b"F": "flush"}


@dataclasses.dataclass
class Entry:
    kind: str
    offset: int
    count: int
    data: bytes

    def apply(self, file, start=0, limit=None):
        """Applies the entry to an image, or only that part of it."""
        end = self.count if limit is None else min(self.count, start + limit)
        if self.kind == "write":
            file.seek(self.offset + start)
            file.write(self.data[start:end])
        elif self.kind == "zero":
            file.seek(self.offset + start)
            file.write(bytes(end - start))


def entries(log):
    """All entries, and where each ends in the log."""
    found, ends, position = [], [], 0
    while position < len(log):
        kind, offset, count = HEAD.unpack_from(log, position)
        position += HEAD.size
        data = b""
        if kind == b"W":
            data = log[position : position + count]
            position += count
        found.append(Entry(KINDS[kind], offset, count, data))
        ends.append(position)
    return found, ends
