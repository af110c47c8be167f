"""NIST's response files: sections of [name = value], then records of name = value lines."""


def records(path):
    """Each record of the file with its section's settings; a lone word such as FAIL becomes a name."""
    settings, record = {}, {}
    for line in [*path.read_text().splitlines(), ""]:
        line = line.strip()
        if line.startswith("#"):
            continue
        if not line:
            if record:
                yield {**settings, **record}
            record = {}
            continue
        if line.startswith("["):
            name, _, value = line[1:-1].partition("=")
            settings[name.strip().lower()] = value.strip()
            continue
        name, _, value = line.partition("=")
        record[name.strip().lower()] = value.strip()
