#!/usr/bin/env python3
"""Makes the command reference from the help texts of the command, or checks that it is up to date.

    Tests/command-reference.py COMMAND            exits with 1 where Commands.md differs from the help of COMMAND
    Tests/command-reference.py COMMAND --write    writes Commands.md again
"""

import json
import re
import subprocess
import sys
from pathlib import Path

DOCUMENT = Path(__file__).parent.parent / "Sources/VaultAuthoring/VaultAuthoring.docc/Commands.md"
MARK = "<!-- All below is written by Tests/command-reference.py. -->\n"


def output(command, *arguments):
    return subprocess.run([command, *arguments], check=True, capture_output=True, text=True).stdout


def groups(command):
    """The names of the subcommands by group, as the overview shows them."""
    found = []
    for line in output(command, "--help").splitlines():
        if heading := re.fullmatch(r"([A-Z]+) SUBCOMMANDS:", line):
            found.append((heading[1].capitalize(), []))
        elif found and (name := re.match(r"  ([a-z][a-z-]*)  ", line)):
            found[-1][1].append(name[1])
    return found


def escaped(text):
    return re.sub(r"([\\*<>|\[\]`])", r"\\\1", text)


def code(lines):
    return ["```", *(line[2:] for line in lines), "```", ""]


def discussion(text):
    """Paragraphs as paragraphs; indented lines as code."""
    lines, paragraph, block = [], [], []
    for line in text.splitlines() + [""]:
        if paragraph and (not line or line.startswith("  ")):
            lines += [escaped(" ".join(paragraph)), ""]
            paragraph = []
        if line.startswith("  "):
            block.append(line)
            continue
        if block:
            lines += code(block)
            block = []
        if line == "EXAMPLE":
            lines += ["Example:", ""]
        elif line:
            paragraph.append(line)
    return lines


def value(argument):
    name = f"<{argument['valueName']}>"
    if argument["kind"] == "positional":
        return name
    names = ", ".join(("--" if name["kind"] == "long" else "-") + name["name"] for name in argument["names"])
    return names if argument["kind"] == "flag" else f"{names} {name}"


def meaning(argument):
    text = escaped(argument.get("abstract", ""))
    if argument.get("allValues"):
        text += f" One of {', '.join(argument['allValues'])}."
    if "defaultValue" in argument:
        text += f" By default {argument['defaultValue']}."
    if not argument["isOptional"] and argument["kind"] != "positional":
        text += " Required."
    return text


def section(command, path, level):
    name = " ".join(path)
    lines = [f"{'#' * level} {name}", "", escaped(command["abstract"]), ""]
    if command.get("discussion"):
        lines += discussion(command["discussion"])
    shown = [a for a in command.get("arguments", []) if a["shouldDisplay"] and a["valueName"] not in ("help", "version")]
    if shown:
        lines += ["| argument or option | meaning |", "| --- | --- |"]
        lines += [f"| `{value(argument)}` | {meaning(argument)} |" for argument in shown] + [""]
    for child in command.get("subcommands", []):
        if child["commandName"] != "help":
            lines += section(child, path + [child["commandName"]], level + 1)
    return lines


def reference(command):
    root = json.loads(output(command, "--experimental-dump-help"))["command"]
    commands = {child["commandName"]: child for child in root["subcommands"]}
    lines = []
    for group, names in groups(command):
        lines += [f"## {group}", "", "| command | does |", "| --- | --- |"]
        lines += [f"| [`{name}`](#{name}) | {escaped(commands[name]['abstract'])} |" for name in names] + [""]
        for name in names:
            lines += section(commands[name], [name], 3)
    missing = set(commands) - {name for _, names in groups(command) for name in names} - {"help"}
    if missing:
        sys.exit(f"in no group of the overview: {', '.join(sorted(missing))}")
    return "\n".join(lines).rstrip() + "\n"


def main():
    command, options = sys.argv[1], sys.argv[2:]
    written = DOCUMENT.read_text()
    introduction = written.partition(MARK)[0]
    expected = introduction + MARK + "\n" + reference(command)
    if "--write" in options:
        DOCUMENT.write_text(expected)
    elif written != expected:
        sys.exit(f"{DOCUMENT} is not the help of {command}: run Tests/command-reference.py COMMAND --write")


main()
