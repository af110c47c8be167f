"""Compares the findings of a judge with the guarantees of the commands."""


def broken(judge, before, after):
    """Errors of a state during a command: of each pack the old or the new version is live, and unchanged packs stay
    available."""
    wrong = list(judge.wrong)
    for id in {**before.packs, **after.packs}:
        old, new, found = before.packs.get(id), after.packs.get(id), judge.have(id)
        allowed = {(have.loaded, have.sealed) if have else (None, False) for have in (old, new)}
        if (found.loaded, found.sealed) not in allowed:
            wrong.append(f"{id}: {found}, between {old} and {new}")
        for number in versions(old) & versions(new):
            if number not in [whole for whole, _ in judge.whole.get(id, [])]:
                wrong.append(f"{id}: version {number} is lost")
        if old == new and found != (old or found):
            wrong.append(f"{id}: {found} although {old} was promised")
    return wrong + disbelieved(judge, before.publication, after.publication)


def disbelieved(judge, oldest, newest):
    """Metadata of the wrong publication. Delegated metadata may be anything: they are verified whenever they are read."""
    wrong = []
    for name in ("timestamp.json", "snapshot.json", "targets.json", "root.json"):
        found = judge.metadata.get(name, [0])
        if not any(oldest <= publication <= newest for publication in found):
            wrong.append(f"{name} is of publication {found}, not {oldest} to {newest}")
    return wrong


def versions(have):
    return {have.loaded, have.waiting} - {None} if have else set()


def unclean(judge, promise):
    """Errors of a store at rest, where exactly this is guaranteed."""
    wrong = judge.wrong + disbelieved(judge, promise.publication, promise.publication)
    wrong += [f"{name} was left over" for name in judge.scratch]
    for id, have in promise.packs.items():
        if judge.have(id) != have:
            wrong.append(f"{id}: {judge.have(id)}, not {have}")
        found = sorted(number for number, _ in judge.whole.get(id, []))
        if found != sorted(versions(have)):
            wrong.append(f"{id}: versions {found} are there")
    return wrong
