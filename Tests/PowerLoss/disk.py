"""Disks for the test: one that is recorded while it is used, and images of its states after a power loss."""

import contextlib
import os
import pathlib
import subprocess
import time

HERE = pathlib.Path(__file__).resolve().parent
SIZE = 96 << 20
# Off: ext4 would hide a missing sync of a file that is renamed over another one.
OPTIONS = "noatime,noauto_da_alloc"
PATIENCE = 60


def tool(*words):
    """Runs a program to its end, in bounded time, and returns what it printed."""
    words = [str(word) for word in words]
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip() or done.returncode}")
    return done.stdout.strip()


def release(*words):
    """Runs a program that releases something, which stays busy for a moment after its users ended."""
    deadline = time.monotonic() + 10
    while True:
        try:
            return tool(*words)
        except RuntimeError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


class RecordedDisk:
    """A fresh ext4 file system on a disk whose writes and flushes are recorded within the context."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.log = self.folder / "log"
        self.root = self.folder / "mounted"

    def __enter__(self):
        device = self.folder / "device"
        for folder in (device, self.root):
            folder.mkdir(parents=True)
        with contextlib.ExitStack() as cleaning:
            file = device / "disk"
            self._connect(device, file, cleaning)
            loop = tool("losetup", "--find", "--show", file)
            cleaning.callback(tool, "losetup", "--detach", loop)
            tool("mkfs.ext4", "-q", "-F", "-b", 4096, "-J", "size=4", "-O", "^resize_inode",
                 "-E", "nodiscard,lazy_itable_init=0,lazy_journal_init=0", loop)
            tool("mount", "-t", "ext4", "-o", OPTIONS, loop, self.root)
            cleaning.callback(release, "umount", self.root)
            tool("sync", "-f", self.root)
            self._cleaning = cleaning.pop_all()
        return self

    def __exit__(self, *_):
        self._cleaning.close()

    def position(self):
        """The current length of the recording."""
        return self.log.stat().st_size

    def _connect(self, device, file, cleaning):
        recorder = ["nbdkit", "--foreground", "--exit-with-parent", "python", HERE / "recorder.py",
                    f"log={self.log}", f"size={SIZE}"]
        errors = cleaning.enter_context(open(self.folder / "errors", "w+"))
        # In its own session: after Ctrl-C the test unmounts first and ends this process last.
        bridge = subprocess.Popen(["nbdfuse", file, "[", *recorder, "]"], stdout=errors, stderr=errors,
                                  start_new_session=True)

        def disconnect():
            try:
                if bridge.poll() is None:
                    release("fusermount3", "-u", device)
                else:
                    # Left by a killed run.
                    tool("umount", "--lazy", device)
                bridge.wait(10)
            finally:
                bridge.kill()
                bridge.wait()

        cleaning.callback(disconnect)
        deadline = time.monotonic() + 20
        while not os.path.exists(file):
            if bridge.poll() is not None or time.monotonic() > deadline:
                errors.seek(0)
                raise RuntimeError(f"nbdfuse does not run: {errors.read().strip()}")
            time.sleep(0.02)


@contextlib.contextmanager
def mounted(image, folder):
    """The content of an image, after ext4 has replayed its journal."""
    tool("mount", "-t", "ext4", "-o", f"loop,{OPTIONS}", image, folder)
    try:
        yield folder
    finally:
        release("umount", folder)
