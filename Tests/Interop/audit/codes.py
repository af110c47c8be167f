"""The codes that findings and errors have, as the sources of the command name them."""

import pathlib
import re

SOURCES = pathlib.Path(__file__).parents[3] / "Sources"
CODE = r'"([a-z]+(?:-[a-z]+)*)"'


def categories():
    """The codes of errors of which only the category is known."""
    text = (SOURCES / "VaultBase/Errors/VaultError.swift").read_text()
    names = re.findall(r"^ +case (\w+)$", text.split("enum Category")[1].split("\n    }\n")[0], re.M)
    return [re.sub(r"[A-Z]", lambda letter: "-" + letter[0].lower(), name) for name in names]


def codes():
    """The severities of each code."""
    found = {code: {"error"} for code in categories()}

    def add(code, *severities):
        found.setdefault(code, set()).update(severities)

    for path in SOURCES.rglob("*.swift"):
        text = path.read_text()
        for severity, code in re.findall(r"\bFinding\(\s*([^,\"]*?),\s*" + CODE, text):
            add(code, *re.findall(r"\.(error|warning|note)\b", severity))
        for code in re.findall(r"\b(?:warning|finding)\(\s*" + CODE, text):
            add(code, "warning")
        for code in re.findall(r"\bcode: " + CODE, text):
            add(code, "error")
        for choice in re.findall(r"\blet code: Finding\.Code =(\s*switch[^{]*\{[^}]*\}|.*)", text):
            for code in re.findall(CODE, choice):
                add(code, "error" if "switch" in choice else "note")
        for code in re.findall(r"static let \w+: (?:Finding\.Code|Self) = " + CODE, text) if "extension Finding.Code" in text else []:
            add(code, "error")
    return found
