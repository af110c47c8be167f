"""Planted bugs, to test the judge: the same program without one of its syncs."""

import dataclasses
import pathlib
import shutil
import subprocess

from disk import SIZE, RecordedDisk, mounted
from judge import Judge
from recording import Disk, Recording, states
from story import NOTHING, Have, Step
from verdict import broken

HERE = pathlib.Path(__file__).resolve().parent
SCRATCH = ".assetvault-*"
# How many states are checked before a bug counts as not found: the search ends with the first that shows it.
STATES = 240


@dataclasses.dataclass(frozen=True)
class Bug:
    """A call that is skipped in the last of these commands."""

    name: str
    steps: list
    call: str
    path: str
    # What the judge must find because of it, as a part of the finding: another one would show that the judge is wrong.
    shows: str
    # Which of the calls with such a path; 0 skips all of them.
    number: int = 1


FETCH = [Step(1, "fetch levels/one", levels_one=Have(1))]
SEALED = [Step(1, "fetch music --sealed", music=Have(1, sealed=True))]
UNLOCK = [
    Step(1, "fetch levels/one", levels_one=Have(1)),
    Step(3, "downloader --request update", levels_one=Have(1, waiting=2), levels_two=Have(waiting=3)),
    Step(3, "unlock levels/two", levels_two=Have(3)),
]
REMOVE = FETCH + [Step(1, "remove levels/one", levels_one=Have(removed=True))]

# One skipped call is enough to damage a file with a final name. For folders all must be skipped: ext4 commits all
# renames together and in order, so a later call makes up for a skipped one.
BUGS = [
    Bug("a download is not saved before it gets its name", SEALED, "fsync", "*/ephemeral/*.part", ".avpack is not the whole "),
    Bug("a record is not saved before it gets its name", FETCH, "fsync", f"*/@state/levels/one/{SCRATCH}",
        "is a damaged record"),
    Bug("metadata are not saved before they get their name", FETCH, "fsync", f"*/@trust/{SCRATCH}",
        "was never published so", 2),
    Bug("a tree is not saved, neither at first nor before it gets its name", FETCH, "syncfs", "*",
        "is not the whole version", 0),
    Bug("metadata are not saved before they are taken over", UNLOCK, "syncfs", f"*/@trust/{SCRATCH}",
        "was never published so"),
    Bug("a removal is not saved", REMOVE, "fsync", "*", "levels/one: Have(loaded=1", 0),
]


def library(folder):
    """The compiled forget.c."""
    path = folder / "forget.so"
    if not path.exists():
        compiler = shutil.which("clang") or "cc"
        subprocess.run([compiler, "-shared", "-fPIC", "-o", path, HERE / "forget.c", "-ldl"], check=True)
    return path


def find(bug, player, folder, seed):
    """Records the commands with the bug. Returns the errors of the first state that shows it, and how many states
    were checked; nothing where none shows it."""
    folder.mkdir()
    log = folder / "forgotten"
    forgetful = ["env", f"LD_PRELOAD={library(folder.parent)}", f"FORGET_CALL={bug.call}", f"FORGET_PATH={bug.path}",
                 f"FORGET_NUMBER={bug.number}", f"FORGET_LOG={log}"]
    *before, last = bug.steps
    promise = NOTHING
    with RecordedDisk(folder / "disk") as disk:
        for step in before:
            player.run(step, disk.root)
            promise = step.promise(promise)
        marks = [disk.position()]
        player.run(last, disk.root, wrapper=forgetful)
        marks.append(disk.position())
    if not log.exists():
        raise SystemExit(f"{bug.name}: the program never calls {bug.call} for {bug.path}")
    recording = Recording(bug.name, disk.log, marks, [promise, last.promise(promise)])
    image = Disk(recording, SIZE, folder)
    root = folder / "replayed"
    root.mkdir()
    chosen = states(recording, STATES, seed)
    for number, state in enumerate(chosen, 1):
        with mounted(image.write(state), root):
            if wrong := broken(Judge(player.game, root / "store"), *recording.promises_around(state)):
                return wrong, number
    return [], len(chosen)
