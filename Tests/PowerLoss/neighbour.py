"""Another program on the same disk, which saves a file of its own again and again."""

import os
import random
import threading


class Neighbour:
    """At work as long as it is entered. Whenever it saves, ext4 also writes down all changes of names so far, whoever
    made them, but not the content of files that nobody has saved: what is renamed too early is seen to be empty."""

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
