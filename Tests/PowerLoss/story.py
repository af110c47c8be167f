"""What happens while the disk is recorded: a player's store follows the game, and each command guarantees something."""

import contextlib
import dataclasses
import pathlib
import subprocess


@dataclasses.dataclass(frozen=True)
class Have:
    """What a player has of one pack, by version numbers."""

    # In use, opened or sealed.
    loaded: int | None = None
    sealed: bool = False
    # In shared storage, for later.
    waiting: int | None = None
    # The player does not want it.
    removed: bool = False


@dataclasses.dataclass(frozen=True)
class Promise:
    """What is guaranteed when a command has succeeded."""

    packs: dict
    # Which publication the store has seen: it never accepts an older one again.
    publication: int


NOTHING = Promise({}, 0)


class Step:
    """One command, what it changes, and how often the game had been published by then."""

    def __init__(self, publications, words, **changes):
        self.publications = publications
        self.words = words.split()
        self.changes = {id.replace("_", "/"): have for id, have in changes.items()}

    def __str__(self):
        return " ".join(self.words)

    def promise(self, before):
        packs = {**before.packs, **self.changes}
        asks = self.words[0] in ("fetch", "downloader")
        return Promise(packs, self.publications if asks else before.publication)


STORY = [
    Step(1, "fetch levels/one", levels_one=Have(1)),
    Step(1, "downloader --request install", levels_two=Have(waiting=1)),
    Step(1, "unlock levels/two", levels_two=Have(1)),
    Step(1, "fetch music --sealed", music=Have(1, sealed=True)),
    Step(2, "fetch levels/one levels/two", levels_one=Have(2), levels_two=Have(2)),
    Step(3, "downloader --request update", levels_two=Have(2, waiting=3), music=Have(1, sealed=True, waiting=3)),
    Step(3, "unlock levels/two", levels_two=Have(3)),
    Step(3, "unlock music --sealed", music=Have(3, sealed=True)),
    Step(3, "remove levels/two", levels_two=Have(removed=True)),
    Step(3, "fetch levels/two", levels_two=Have(3)),
    Step(3, "remove music", music=Have(removed=True)),
]


class Player:
    """Runs the commands on a store. Background downloads use a folder in memory, as on devices that spare their disk:
    a power loss clears it, and files are copied to the disk."""

    def __init__(self, game, urls, folder):
        self.game = game
        self.urls = urls
        self.memory = pathlib.Path(folder)

    def run(self, step, root, wrapper=()):
        """Runs a command on the store that lies on a mounted disk. Returns what it printed."""
        name, *rest = step.words
        store = ["--store", root / "store"]
        site = [self.urls[step.publications - 1]] if name in ("fetch", "downloader") else []
        trust = self.game.trust if site else []
        keys = self.game.keys if name in ("fetch", "unlock") else []
        place = ["--ephemeral", self.memory] if name == "downloader" else []
        return self.game.run(name, *site, *rest, *store, *trust, *keys, *place, wrapper=wrapper)


@contextlib.contextmanager
def served(game):
    """The URLs of the game's site as it was after each publication, on loopback."""
    with contextlib.ExitStack() as cleaning:
        urls = []
        for publication in range(1, len(game.metadata) + 1):
            words = [game.command, "serve", game.site(publication)]
            server = cleaning.enter_context(
                subprocess.Popen(words, stdout=subprocess.PIPE, text=True, start_new_session=True))
            cleaning.callback(server.terminate)
            urls.append(server.stdout.readline().strip())
        yield urls
