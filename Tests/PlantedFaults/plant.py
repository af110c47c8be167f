"""Plants faults in a copy of the sources and runs the tests that must fail: plant.py FAULTS [ROUND...]

FAULTS has rounds (`== NAME`) of stanzas:

    # What the fault does, in a sentence.
    file Sources/...
    - the lines that it replaces, found exactly once in the file
    + the lines in their place, if any
    red Module.Suite/test          or: red script AREA/NAME

A test that stays green, or does not exist, is a gap in the tests: its fault is printed, and the exit code is 1.
The faults of a round have different tests: of one test with two faults nobody knows which it has found.
"""

import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys

TREE = pathlib.Path(".build-faults/tree")
TIME_LIMIT = 600


@dataclasses.dataclass
class Fault:
    title: str
    file: str = ""
    old: list = dataclasses.field(default_factory=list)
    new: list = dataclasses.field(default_factory=list)
    tests: list = dataclasses.field(default_factory=list)

    def plant(self):
        path = TREE / self.file
        text, old = path.read_text(), "".join(f"{line}\n" for line in self.old)
        if text.count(old) != 1:
            sys.exit(f"{self.file}: the lines of '{self.title}' are there {text.count(old)} times")
        path.write_text(text.replace(old, "".join(f"{line}\n" for line in self.new)))


def read(path):
    """The faults of each round, by its name."""
    rounds, faults = {}, []
    for line in path.read_text().splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "==":
            faults = rounds.setdefault(rest, [])
        elif kind == "#":
            faults.append(Fault(rest))
        elif kind == "file":
            faults[-1].file = rest
        elif kind == "-":
            faults[-1].old.append(rest)
        elif kind == "+":
            faults[-1].new.append(rest)
        elif kind == "red":
            faults[-1].tests.append(rest)
        elif line:
            sys.exit(f"{path}: not understood: {line}")
    for name, faults in rounds.items():
        tests = [test for fault in faults for test in fault.tests]
        for test in set(tests):
            if tests.count(test) > 1:
                sys.exit(f"{path}: two faults of round {name} have the test {test}")
    return rounds


def copy_sources():
    """The sources as they are, beside what earlier rounds have built."""
    TREE.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["rsync", "--archive", "--delete", "--checksum", "--exclude", "/.*", "./", f"{TREE}/"], check=True)


def build():
    result = subprocess.run(
        ["swift", "build", "--build-tests"], cwd=TREE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        sys.exit("\n".join(line for line in result.stdout.splitlines() if "error: " in line) or result.stdout)
    folder = subprocess.run(
        ["swift", "build", "--show-bin-path"], cwd=TREE, check=True, capture_output=True, text=True).stdout.strip()
    return pathlib.Path(folder)


def is_caught(test, binaries):
    """Whether a test fails, of those that there are."""
    environment = {**os.environ, "ASSETVAULT_COMMAND": f"{binaries}/assetvault"}
    if test.startswith("script "):
        environment["ASSETVAULT_SCRIPT"] = test.removeprefix("script ")
        test = "CommandTests.ScriptTests/script"
    command = [
        binaries / "AssetVaultPackageTests.xctest", "--testing-library", "swift-testing", "--no-parallel",
        "--filter", f"^{re.escape(test)}[(/]"]
    try:
        result = subprocess.run(
            command, cwd=TREE, env=environment, capture_output=True, text=True, errors="replace", timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired:
        print(f"  no end after {TIME_LIMIT} s: {test}")
        return False
    return result.returncode != 0 and "Test run with 0 tests" not in result.stdout + result.stderr


def main():
    rounds = read(pathlib.Path(sys.argv[1]))
    wanted = sys.argv[2:] or list(rounds)
    missed = 0
    for name in wanted:
        print(f"== {name}", flush=True)
        copy_sources()
        for fault in rounds[name]:
            fault.plant()
        binaries = build()
        for fault in rounds[name]:
            green = [test for test in fault.tests if not is_caught(test, binaries)]
            missed += bool(green)
            print(f"{'MISSED' if green else 'caught'}  {fault.title} {' '.join(green)}", flush=True)
    shutil.rmtree(TREE / ".build/test-logs", ignore_errors=True)
    print(f"{sum(len(rounds[name]) for name in wanted)} faults, {missed} missed")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
