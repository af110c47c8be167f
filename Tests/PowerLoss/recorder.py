"""A disk in memory for nbdkit, which records every change and every flush in order.

    nbdkit python recorder.py log=FILE size=BYTES

The log is read by `entries.py`. Every entry is in the log before the kernel hears that it is done.
"""

import os
import struct

import nbdkit

API_VERSION = 2
ENTRY = struct.Struct(">cQI")

settings = {}
disk = bytearray()


def config(name, value):
    settings[name] = value


def config_complete():
    settings["log"] = os.open(settings["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    disk.extend(bytes(int(settings["size"])))


def thread_model():
    # One request after the other: they end in the order of the log.
    return nbdkit.THREAD_MODEL_SERIALIZE_ALL_REQUESTS


def open(readonly):
    return 1


def get_size(handle):
    return len(disk)


def can_flush(handle):
    return True


def can_fua(handle):
    # A write that must last at once is a write and a flush.
    return nbdkit.FUA_EMULATE


def can_multi_conn(handle):
    return False


def pread(handle, buffer, offset, flags):
    buffer[:] = disk[offset : offset + len(buffer)]


def pwrite(handle, buffer, offset, flags):
    disk[offset : offset + len(buffer)] = buffer
    note(b"W", offset, len(buffer), buffer)


def zero(handle, count, offset, flags):
    disk[offset : offset + count] = bytes(count)
    note(b"Z", offset, count)


def trim(handle, count, offset, flags):
    zero(handle, count, offset, flags)


def flush(handle, flags):
    note(b"F", 0, 0)


def note(kind, offset, count, data=b""):
    entry = ENTRY.pack(kind, offset, count)
    if os.writev(settings["log"], [entry, data]) != len(entry) + len(data):
        raise OSError("the log is full")
