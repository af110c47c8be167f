"""Another program on the same disk, which repeatedly saves a file of its own."""

import os
import random
import threading


class OtherWriter:
    """Runs within the context. Whenever it syncs, ext4 also commits all renames so far, of any program, but not the
    content of unsynced files: a file that is renamed too early turns out empty."""

    def __init__(self, path):
        self._path = path
        self._leaving = threading.Event()
        self._thread = threading.Thread(target=self._work)

    def __enter__(self):
        self._thread.start()

    def __exit__(self, *_):
        self._leaving.set()
        self._thread.join()

    def _work(self):
        chance = random.Random(1)
        with open(self._path, "wb", buffering=0) as file:
            while not self._leaving.wait(chance.uniform(0, 0.01)):
                file.write(b"saved")
                os.fsync(file)
