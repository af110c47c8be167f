#!/usr/bin/env python3
"""Makes the command reference and the manual pages from the help texts of the command.

    Tests/command-reference.py COMMAND                  exits with 1 where Commands.md differs from the help of COMMAND
    Tests/command-reference.py COMMAND --write          writes Commands.md again
    Tests/command-reference.py COMMAND --man FOLDER     writes a manual page for each command: assetvault-fetch.1
    Tests/command-reference.py COMMAND --check-man      exits with 1 where mandoc or man warns of a page
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from datetime import datetime, timezone
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


def blocks(text):
    """Paragraphs, each a text, and indented lines, each block a list."""
    paragraph, block = [], []
    for line in text.splitlines() + [""]:
        if paragraph and (not line or line.startswith("  ")):
            yield " ".join(paragraph)
            paragraph = []
        if line.startswith("  "):
            block.append(line)
            continue
        if block:
            yield block
            block = []
        if line == "EXAMPLE":
            yield line
        elif line:
            paragraph.append(line)


def discussion(text):
    """Paragraphs as paragraphs; indented lines as code."""
    lines = []
    for block in blocks(text):
        if isinstance(block, list):
            lines += code(block)
        else:
            lines += ["Example:" if block == "EXAMPLE" else escaped(block), ""]
    return lines


def value(argument):
    name = f"<{argument['valueName']}>"
    if argument["kind"] == "positional":
        return name
    names = ", ".join(("--" if name["kind"] == "long" else "-") + name["name"] for name in argument["names"])
    return names if argument["kind"] == "flag" else f"{names} {name}"


def meaning(argument, escaped=escaped):
    text = escaped(argument.get("abstract", ""))
    if argument.get("allValues"):
        text += f" One of {', '.join(argument['allValues'])}."
    if "defaultValue" in argument:
        text += f" By default {argument['defaultValue']}."
    if not argument["isOptional"] and argument["kind"] != "positional":
        text += " Required."
    return text


def arguments(command):
    """Those that the help of this command explains."""
    return [
        a for a in command.get("arguments", [])
        if a["shouldDisplay"] and not (a["kind"] == "flag" and a["valueName"] in ("help", "version"))
    ]


def section(command, path, level):
    name = " ".join(path)
    lines = [f"{'#' * level} {name}", "", escaped(command["abstract"]), ""]
    if command.get("discussion"):
        lines += discussion(command["discussion"])
    shown = arguments(command)
    if shown:
        lines += ["| argument or option | meaning |", "| --- | --- |"]
        lines += [f"| `{value(argument)}` | {meaning(argument)} |" for argument in shown] + [""]
    for child in command.get("subcommands", []):
        if child["commandName"] != "help":
            lines += section(child, path + [child["commandName"]], level + 1)
    return lines


def reference(command):
    root = json.loads(output(command, "--experimental-dump-help"))["command"]
    commands = {child["commandName"]: child for child in root["subcommands"] if child["shouldDisplay"]}
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


ROFF = str.maketrans({"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "~": "\\(ti", "^": "\\(ha"})


def roff(text):
    """The text as it is typed: no request, no escape, no typographic sign."""
    text = text.translate(ROFF)
    return f"\\&{text}" if text.startswith(".") else text


def filled(text):
    """Lines of a paragraph."""
    return [roff(line) for line in textwrap.wrap(text, 72, break_long_words=False, break_on_hyphens=False)]


def named(rows):
    """Names with their meanings."""
    return [line for name, text in rows for line in [".TP", f"\\fB{roff(name)}\\fR", *filled(text)]]


def page(command, path, call, title):
    """The manual page of a command."""
    usage = " ".join(re.search(r"USAGE: (.*?)\n\n", output(call, *path[1:], "--help"), re.S)[1].split())
    lines = [f'.TH {"-".join(path).upper()} 1 {title}', ".SH NAME"]
    lines += [roff("-".join(path)) + " \\- " + roff(command["abstract"]), ".SH SYNOPSIS", *filled(usage)]
    lines += [".SH DESCRIPTION", *filled(command["abstract"])]
    for block in blocks(command.get("discussion") or ""):
        if isinstance(block, list):
            lines += [".PP", ".EX", *(roff(line[2:]) for line in block), ".EE"]
        else:
            lines += [".SS Example"] if block == "EXAMPLE" else [".PP", *filled(block)]
    lines = [line for line, last in zip(lines, [""] + lines) if line != ".PP" or not last.startswith(".S")]
    if shown := arguments(command):
        lines += [".SH OPTIONS", *named((value(a), meaning(a, str)) for a in shown)]
    children = [c for c in command.get("subcommands", []) if c["commandName"] != "help" and c["shouldDisplay"]]
    if children:
        lines += [".SH COMMANDS", *named(("-".join(path + [c["commandName"]]), c["abstract"]) for c in children)]
    lines += [".SH EXIT STATUS", "0, or a code of sysexits.h or from 71 to 79 that the reference of exit codes explains."]
    if len(path) > 1:
        lines += [".SH SEE ALSO", f".BR {roff('-'.join(path[:-1]))} (1)"]
    return {"-".join(path): "\n".join(lines) + "\n"} | {
        name: text for c in children for name, text in page(c, path + [c["commandName"]], call, title).items()}


def write_manual(call, folder):
    root = json.loads(output(call, "--experimental-dump-help"))["command"]
    day = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH") or time.time()), timezone.utc)
    title = f'{day:%Y-%m-%d} "AssetVault {output(call, "--version").strip()}"'
    for name, text in page(root, ["assetvault"], call, title).items():
        (Path(folder) / f"{name}.1").write_text(text)


def check_manual(call):
    """Of the readers of manual pages those that are here."""
    readers = [[path, *options] for name, *options in [("mandoc", "-Tlint", "-Wwarning"), ("man", "--warnings", "-Tutf8", "-Z", "-l")]
               if (path := shutil.which(name))]
    with tempfile.TemporaryDirectory() as folder:
        write_manual(call, folder)
        pages = sorted(Path(folder).iterdir())
        for reader, file in ((reader, file) for reader in readers for file in pages):
            result = subprocess.run([*reader, file], capture_output=True, text=True, env=os.environ | {"LC_ALL": "C.UTF-8"})
            warnings = result.stderr + (result.stdout if "lint" in reader[1] else "")
            if warnings or result.returncode != 0:
                sys.exit(f"{reader[0]} warns of {file.name}: {warnings}")
        if Path(folder) / "assetvault-fetch.1" not in pages or not readers:
            sys.exit("there is no page for 'fetch', or nothing that reads pages")


def main():
    command, options = sys.argv[1], sys.argv[2:]
    if options[:1] == ["--man"]:
        return write_manual(command, options[1])
    if options == ["--check-man"]:
        return check_manual(command)
    written = DOCUMENT.read_text()
    introduction = written.partition(MARK)[0]
    expected = introduction + MARK + "\n" + reference(command)
    if "--write" in options:
        DOCUMENT.write_text(expected)
    elif written != expected:
        sys.exit(f"{DOCUMENT} is not the help of {command}: run Tests/command-reference.py COMMAND --write")


main()
