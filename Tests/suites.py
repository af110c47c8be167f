#!/usr/bin/env python3
"""Runs the suites of a test binary, several at once:

suites.py BINARY [--limit SECONDS] [--only PATTERN] [--skip PATTERN] [--also NAME COMMAND]...

Each suite is a process of its own, whose output goes to a file. Long ones come first; those that measure time run alone,
last. `--only` and `--skip` are regular expressions for names such as CommandTests.PruneTests. `--also` runs a shell command
beside the suites. What failed is printed at the end, with its output; then the exit code is 1.
"""

import argparse
import collections
import os
import pathlib
import queue
import re
import signal
import subprocess
import sys
import threading
import time

# More than the two cores: tests of the command wait for a third of their time.
LANES = 4

SCRIPT_SUITE = "CommandTests.ScriptTests"
SCRIPTS = pathlib.Path(__file__).parent / "CommandTests" / "Scripts"

# Modules whose tests are short: all their suites are one process.
WHOLE_MODULES = {
    "DevelopmentServerTests", "ReadmeTests", "VaultBaseTests", "VaultCryptoTests", "VaultFileSystemTests",
    "VaultTransportTests",
}

# They expect a rate, which others would spoil.
ALONE = ["AssetVaultTests.SlowRetrievalTests"]

# Most of their time is waiting, for a host that is to be asked again: their tests run at once.
WAITING = {
    "AssetVaultTests.IdleDownloadTests", "CommandTests.CaptivePortalTests", "CommandTests.ClockJumpTests",
    "CommandTests.RefusedDownloadTests", "CommandTests.ResumedDownloadTests",
}

# The longest ones, so that none of them is left at the end.
LONG = [
    "CommandTests.KilledAtEachStepTests", "AssetVaultTests.PackSetTests", "CommandTests.KilledHostPruningTests", "judges-audit",
    "fuzzing", "AssetVaultTests.RequestModelTests", "CommandTests.CanaryTests", "CommandTests.MountedAreaTests", "judges-archive",
]

Job = collections.namedtuple("Job", "name command")


def jobs_of(binary, only, skipped):
    """A job for each suite, or for all suites of a module, whose name matches `only`, and not `skipped`."""
    swift_testing = [binary, "--testing-library", "swift-testing"]
    listed = subprocess.run(
        [*swift_testing, "--list-tests"], check=True, capture_output=True, text=True, timeout=120).stdout
    names = set()
    for test in listed.splitlines():
        module, _, rest = test.partition(".")
        names.add(module if module in WHOLE_MODULES else f"{module}.{rest.partition('/')[0]}")
    # Each script is a job of its own.
    names.discard(SCRIPT_SUITE)
    names.update(f"script-{path.relative_to(SCRIPTS).with_suffix('')}" for path in SCRIPTS.rglob("*.txt"))
    names = {name for name in names if re.search(only, name) and not (skipped and re.search(skipped, name))}
    if not names:
        sys.exit("no tests were found")

    def job(name):
        if name.startswith("script-"):
            return Job(name, ["env", f"ASSETVAULT_SCRIPT={name.removeprefix('script-')}", *job(SCRIPT_SUITE).command])
        order = [] if name in WAITING else ["--no-parallel"]
        return Job(name, [*swift_testing, *order, "--filter", f"^{re.escape(name)}[./]"])

    return [job(name) for name in sorted(names)]


class Lanes:
    """Runs jobs, and keeps what failed."""

    def __init__(self, logs, limit):
        self.logs, self.limit = logs, limit
        self.lock = threading.Lock()
        self.running = set()
        self.is_stopped = False
        self.failed = []

    def run(self, jobs, count):
        """In their order, `count` at once."""
        waiting = queue.SimpleQueue()
        for job in jobs:
            waiting.put(job)
        threads = [threading.Thread(target=self.work, args=(waiting,), daemon=True) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def work(self, waiting):
        while not self.is_stopped:
            try:
                job = waiting.get_nowait()
            except queue.Empty:
                return
            self.run_one(job)

    def run_one(self, job):
        start = time.monotonic()
        with open(self.log(job.name), "wb") as log:
            with self.lock:
                if self.is_stopped:
                    return
                process = subprocess.Popen(
                    job.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
                self.running.add(process)
            try:
                ending = f"exit code {code}" if (code := process.wait(self.limit)) else ""
            except subprocess.TimeoutExpired:
                ending = f"no end after {self.limit} s"
                end(process)
                process.wait()
        with self.lock:
            self.running.discard(process)
            if ending:
                self.failed.append((job.name, ending))
            mark = f"✘ {ending}:" if ending else "✔"
            print(f"{time.monotonic() - start:7.1f} s  {mark} {job.name}", flush=True)

    def log(self, name):
        return self.logs / f"{name.replace('/', '-')}.log"

    def stop(self):
        with self.lock:
            self.is_stopped = True
            for process in self.running:
                end(process)


def end(process):
    """With what it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def main():
    parser = argparse.ArgumentParser(description="Runs the suites of a test binary, several at once.")
    parser.add_argument("binary")
    parser.add_argument("--limit", type=int, default=600, help="seconds that each suite has")
    parser.add_argument("--only", default="", metavar="PATTERN")
    parser.add_argument("--skip", metavar="PATTERN")
    parser.add_argument("--also", nargs=2, action="append", default=[], metavar=("NAME", "COMMAND"))
    options = parser.parse_args()
    logs = pathlib.Path(".build/test-logs")
    logs.mkdir(parents=True, exist_ok=True)

    jobs = [Job(name, ["sh", "-ec", command]) for name, command in options.also] + jobs_of(options.binary, options.only, options.skip)
    jobs.sort(key=lambda job: LONG.index(job.name) if job.name in LONG else len(LONG))
    lanes = Lanes(logs, options.limit)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    start = time.monotonic()
    try:
        lanes.run([job for job in jobs if job.name not in ALONE], LANES)
        lanes.run([job for job in jobs if job.name in ALONE], 1)
    finally:
        lanes.stop()
    print(f"{len(jobs)} suites in {time.monotonic() - start:.0f} s; their output: {logs}")
    for name, ending in lanes.failed:
        print(f"\n== {name}: {ending}")
        sys.stdout.flush()
        sys.stdout.buffer.write(lanes.log(name).read_bytes())
    for name, ending in lanes.failed:
        print(f"✘ {name}: {ending}")
    return 1 if lanes.failed else 0


if __name__ == "__main__":
    sys.exit(main())
