#!/usr/bin/env python3
"""Records a disk while a store is used on it, and checks many states that a power loss could have left.

    power_loss.py COMMAND [--states N] [--seed N]
    power_loss.py COMMAND --again FOLDER

Needs root, nbdkit with its Python plugin, nbdfuse, loop devices and a C compiler: see run.sh. When something is wrong
the recording is kept, to be looked at again.
"""

import argparse
import contextlib
import json
import os
import pathlib
import pickle
import shutil
import signal
import sys
import tempfile
import time

from disk import SIZE, RecordedDisk, mounted
from game import PACKS, PUBLICATIONS, Game
from judge import Judge
from other_writer import OtherWriter
from planted import BUGS, find
from recording import Disk, Recording, states
from story import NOTHING, STORY, Have, Player, Promise, Step, served
from verdict import broken, unclean


def main():
    parser = argparse.ArgumentParser(description="What a power loss leaves of a store.")
    parser.add_argument("command", type=pathlib.Path)
    parser.add_argument("--states", type=int, default=240)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", type=pathlib.Path)
    options = parser.parse_args()
    # However this is ended, everything is unmounted.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    # In memory where that can be: every state is written, mounted and saved to again.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    folder = options.again or pathlib.Path(tempfile.mkdtemp(prefix="power-loss-", dir=memory))
    test = PowerLoss(folder, options)
    isWrong = True
    try:
        isWrong = not test.run()
    except KeyboardInterrupt:
        isWrong = False
        sys.exit(130)
    finally:
        if not options.again and not (isWrong and test.kept.exists()):
            shutil.rmtree(folder)
    if isWrong:
        sys.exit(f"look again: {sys.argv[0]} {options.command} --seed {options.seed} --again {folder}")


class PowerLoss:
    def __init__(self, folder, options):
        self.folder = folder
        self.options = options
        self.kept = folder / "recording"

    def run(self):
        """Whether there are no errors."""
        if self.options.again:
            self.game, recordings = pickle.loads(self.kept.read_bytes())
        else:
            self.game, recordings = Game(self.folder / "game", self.options.command), []
        with served(self.game) as urls:
            self.player = Player(self.game, urls, self.folder / "memory")
            isSeen = self.options.again or self.plant()
            if not recordings:
                recordings = [self.record("alone"), self.record("beside another program", OtherWriter)]
                self.kept.write_bytes(pickle.dumps((self.game, recordings)))
            return all([self.replay(recording) for recording in recordings]) and isSeen

    def plant(self):
        """Whether the judge finds each planted bug, and finds it for its own reason."""
        unseen = 0
        for number, bug in enumerate(BUGS):
            folder = self.folder / f"planted-{number}"
            wrong, count = find(bug, self.player, folder, self.options.seed)
            shutil.rmtree(folder)
            seen = next((problem for problem in wrong if bug.shows in problem), None)
            if seen:
                print(f"caught at state {count}: {bug.name}\n  {seen}")
            else:
                print(f"NOT caught in {count} states: {bug.name}", *wrong, sep="\n  ")
                unseen += 1
        return unseen == 0

    def record(self, name, other_writer=contextlib.nullcontext):
        """Runs the story on a new disk."""
        promises = [NOTHING]
        with RecordedDisk(self.folder / name) as disk, other_writer(disk.root / "other-writer"):
            marks = [disk.position()]
            for step in STORY:
                self.player.run(step, disk.root)
                marks.append(disk.position())
                promises.append(step.promise(promises[-1]))
                if wrong := unclean(Judge(self.game, disk.root / "store"), promises[-1]):
                    raise SystemExit(f"after {step}: {wrong}")
        return Recording(name, disk.log, marks, promises)

    def replay(self, recording):
        """Whether every state is correct."""
        began = time.monotonic()
        chosen = states(recording, self.options.states // 2, self.options.seed)
        disk = Disk(recording, SIZE, self.folder)
        root = self.folder / "replayed"
        root.mkdir(exist_ok=True)
        failures = 0
        for number, state in enumerate(chosen):
            with mounted(disk.write(state), root):
                judge = Judge(self.game, root / "store")
                wrong = broken(judge, *recording.promises_around(state)) or self.recover(root)
            if wrong:
                failures += 1
                command = [*STORY, "the last one"][recording.commands(state)]
                print(f"WRONG: state {number}, {recording.name}, {command}: {state}", *wrong, sep="\n  ")
        seconds = time.monotonic() - began
        print(f"{recording}: {len(chosen)} states in {seconds:.0f} s, {failures} wrong")
        return failures == 0

    def recover(self, root):
        """Errors after the restart: every pack must be available again, without leftover files."""
        commands = ("fetch levels/one levels/two", "fetch music --sealed", "status --json")
        try:
            said = [self.player.run(Step(len(PUBLICATIONS), words), root) for words in commands]
        except RuntimeError as error:
            return [str(error)]
        packs = {id: Have(self.game.newest(id).number, sealed=id == "music") for id in PACKS}
        wrong = unclean(Judge(self.game, root / "store"), Promise(packs, len(PUBLICATIONS)))
        status = {pack["id"]: (pack["state"], pack.get("version")) for pack in json.loads(said[-1])["packs"]}
        if status != {id: ("loaded", have.loaded) for id, have in packs.items()}:
            wrong.append(f"the status is {status}")
        return [f"after it was fetched again: {problem}" for problem in wrong]


main()
