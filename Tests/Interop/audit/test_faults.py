"""Faults that are planted into a site, its packs, its host and a store: each is found under its code, and nothing where there is none.

`python test_faults.py --write` writes the table of the documentation, which a test compares.
"""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from audited import Vault, command, edit, findings, flip, host
from codes import codes

PAGE = pathlib.Path(__file__).parents[3] / "Sources/VaultAuthoring/VaultAuthoring.docc/AuditFaults.md"


class Fault:
    def __init__(self, what, code, plant, also=()):
        self.what, self.code, self.plant, self.also = what, code, plant, set(also)


def swapped(data, first, second, count):
    data = bytearray(data)
    data[first:first + count], data[second:second + count] = data[second:second + count], data[first:first + count]
    return bytes(data)


def change_slot(vault, change):
    """Changes the slots of the small pack, and signs them."""
    def apply(signed):
        change(signed["targets"]["packs/small.avpack"]["custom"]["assetvault"]["slots"])
    vault.sign("targets", apply)


def bare(path):
    """Removes a file, and puts a folder in its place."""
    path.unlink()
    path.mkdir()


def extended(data):
    """Metadata with another time of expiry, under the same signature."""
    envelope = json.loads(data)
    envelope["signed"]["expires"] = "2098-01-01T00:00:00Z"
    return json.dumps(envelope, separators=(",", ":")).encode()


def take_signature(path):
    edit(path, lambda data: json.dumps(json.loads(data) | {"signatures": []}).encode())


def other_site(vault):
    return Vault(vault.place.parent / f"{vault.place.name}-other").publish()


def wrong_key(vault):
    command("keygen", "-o", vault.place / "wrong.jwks")
    shutil.copy(vault.place / "wrong.jwks", vault.keys)


def second_slot(vault):
    """A slot for a second key that has another content key: that of the other pack."""
    large = vault.listed("large")["custom"]["assetvault"]["slots"][0]
    second = json.loads((vault.vault / "keys/second.jwks").read_text())["keys"][0]
    own = json.loads(vault.keys.read_text())
    vault.keys.write_text(json.dumps({"keys": own["keys"] + [second]}))
    change_slot(vault, lambda slots: slots.append(large | {"kid": second["kid"]}))


def swap_slots(vault):
    """The content key of another pack, under the right key."""
    large = vault.listed("large")["custom"]["assetvault"]["slots"][0]["wrapped"]
    change_slot(vault, lambda slots: slots[0].update(wrapped=large))


def damaged_slot(slots):
    wrapped = bytearray(base64.urlsafe_b64decode(slots[0]["wrapped"] + "=="))
    wrapped[0] ^= 1
    slots[0]["wrapped"] = base64.urlsafe_b64encode(wrapped).decode().rstrip("=")


def say(vault, pack, **members):
    def change(signed):
        signed["targets"][f"packs/{pack}.avpack"]["custom"]["assetvault"].update(members)
    vault.sign("targets", change)


def claim(signed):
    """Lists a pack under a second name."""
    target = json.loads(json.dumps(signed["targets"]["packs/small.avpack"]))
    target["custom"]["assetvault"]["id"] = "other"
    signed["targets"]["packs/other.avpack"] = target


def link_to_open_file(vault):
    elsewhere = vault.place / "elsewhere"
    SMALL(vault).rename(elsewhere)
    elsewhere.chmod(0o666)
    SMALL(vault).symlink_to(elsewhere)


def listed_twice(vault):
    vault.sign("targets", claim)
    digest = vault.pack("small").name.split(".")[0]
    shutil.copy(vault.pack("small"), vault.site / f"targets/packs/{digest}.other.avpack")


def expiring(time):
    return lambda signed: signed.update(expires=time)


LARGE, SMALL = (lambda vault: vault.pack("large")), (lambda vault: vault.pack("small"))

PACKS = [
    Fault("a bit of the magic number", "no-pack", lambda v: flip(SMALL(v), 0)),
    Fault("a higher version of the format", "newer-format", lambda v: flip(SMALL(v), 9)),
    Fault("a bit of the header's reserved bytes", "damaged-header", lambda v: flip(SMALL(v), 60)),
    Fault("a bit of the content key's ID", "other-pack", lambda v: flip(SMALL(v), 20)),
    Fault("a bit of the first piece", "damaged", lambda v: flip(LARGE(v), 64)),
    Fault("a bit of a later piece", "damaged", lambda v: flip(LARGE(v), 400_000)),
    Fault("two pieces exchanged", "damaged", lambda v: edit(LARGE(v), lambda d: swapped(d, 64, 200_000, 1_000))),
    Fault("a part of zeros, as a hole", "damaged", lambda v: edit(LARGE(v), lambda d: d[:99_999] + bytes(9_999) + d[109_998:])),
    Fault("a bit of the catalog", "damaged", lambda v: flip(SMALL(v), -170)),
    Fault("a bit of the footer", "other-pack", lambda v: flip(SMALL(v), -40)),
    Fault("a bit of the last byte", "other-pack", lambda v: flip(SMALL(v), -1)),
    Fault("the last byte is missing", "wrong-length", lambda v: edit(SMALL(v), lambda d: d[:-1])),
    Fault("the second half is missing", "wrong-length", lambda v: edit(LARGE(v), lambda d: d[:len(d) // 2])),
    Fault("one byte too many", "wrong-length", lambda v: edit(SMALL(v), lambda d: d + b"0")),
    Fault("an empty file", "wrong-length", lambda v: edit(SMALL(v), lambda d: b"")),
    Fault("the pack is missing", "missing-file", lambda v: SMALL(v).unlink()),
    Fault("the other pack of the site in its place", "wrong-length", lambda v: shutil.copy(LARGE(v), SMALL(v))),
    Fault("its earlier version in its place", "wrong-length", lambda v: shutil.copy(v.earlier("small"), SMALL(v))),
    Fault("a page of HTML in its place", "wrong-length", lambda v: SMALL(v).write_text("<!DOCTYPE html>")),
    Fault("a folder in its place", "corrupt", lambda v: bare(SMALL(v))),
    Fault("a pipe in its place", "corrupt", lambda v: (SMALL(v).unlink(), os.mkfifo(SMALL(v)))),
    Fault("all packs are missing", "missing-file", lambda v: shutil.rmtree(v.site / "targets"), also=["gone"]),
    Fault("an earlier version has a wrong bit", "damaged", lambda v: flip(v.earlier("small"), 64)),
    Fault("an earlier version is missing", "gone", lambda v: v.earlier("small").unlink()),
]

KEYED = [
    Fault("the key opens no pack", "key", wrong_key),
    Fault("a slot that does not unwrap", "key", lambda v: change_slot(v, damaged_slot)),
    Fault("a slot with another pack's content key", "key", swap_slots),
    Fault("a second key's slot has another content key", "wrong-slot", second_slot),
    Fault("no slot", "key", lambda v: change_slot(v, lambda slots: slots.clear())),
]

METADATA = [
    Fault("another time of expiry in the timestamp", "not-signed", lambda v: edit(v.role("timestamp"), extended)),
    Fault("the timestamp without a signature", "not-signed", lambda v: take_signature(v.role("timestamp"))),
    Fault("the timestamp cut in half", "not-metadata", lambda v: edit(v.role("timestamp"), lambda d: d[:len(d) // 2])),
    Fault("an empty timestamp", "not-metadata", lambda v: edit(v.role("timestamp"), lambda d: b"")),
    Fault("a page of HTML as the timestamp", "not-metadata", lambda v: v.role("timestamp").write_text("<!DOCTYPE html>")),
    Fault("the timestamp is missing", "missing-metadata", lambda v: v.role("timestamp").unlink()),
    Fault("a timestamp of 20 MB", "oversized-metadata", lambda v: edit(v.role("timestamp"), lambda d: d + b" " * 20_000_000)),
    Fault("another site's timestamp", "not-signed", lambda v: shutil.copy(other_site(v).role("timestamp"), v.role("timestamp"))),
    Fault("another site in its place", "other-root", lambda v: (shutil.rmtree(v.site), shutil.copytree(other_site(v).site, v.site))),
    Fault("the timestamp has expired", "expired", lambda v: v.sign("timestamp", expiring("2020-01-01T00:00:00Z"))),
    Fault("the snapshot has expired", "expired", lambda v: v.sign("snapshot", expiring("2020-01-01T00:00:00Z"))),
    Fault("the targets have expired", "expired", lambda v: v.sign("targets", expiring("2020-01-01T00:00:00Z"))),
    Fault("the timestamp signed by the snapshot's key", "not-signed", lambda v: v.sign("timestamp", lambda s: None, key="snapshot")),
    Fault("an unreadable time of expiry", "malformed-metadata", lambda v: v.sign("timestamp", expiring("soon"))),
    Fault("another time of expiry in the snapshot", "mixed-metadata", lambda v: edit(v.role("snapshot"), extended)),
    Fault("the snapshot is missing", "missing-metadata", lambda v: v.role("snapshot").unlink()),
    Fault("the earlier snapshot under the newest name", "mixed-metadata", lambda v: shutil.copy(v.metadata / "1.snapshot.json", v.role("snapshot"))),
    Fault("another time of expiry in the targets", "mixed-metadata", lambda v: edit(v.role("targets"), extended)),
    Fault("the targets are missing", "missing-metadata", lambda v: v.role("targets").unlink()),
    Fault("the targets signed by the timestamp's key", "not-signed", lambda v: v.sign("targets", lambda s: None, key="timestamp")),
    Fault("another time in the first root", "other-root", lambda v: edit(v.metadata / "1.root.json", extended)),
    Fault("the first root is missing", "missing-root", lambda v: (v.metadata / "1.root.json").unlink()),
    Fault("the first root as the second one", "rollback", lambda v: shutil.copy(v.metadata / "1.root.json", v.metadata / "2.root.json")),
    Fault("damaged earlier targets", "damaged", lambda v: edit(v.metadata / "1.targets.json", lambda d: d[:99])),
    Fault("one content key for two names", "contested-content-key", listed_twice),
    Fault("a pack that is listed with a wrong length", "wrong-file", lambda v: v.sign("targets", lambda s: s["targets"]["packs/small.avpack"].update(length=5))),
    Fault("a target that is no pack", "skipped-target", lambda v: say(v, "small", format="assetvault/99")),
    Fault("a slot for a key that is retired", "retired-key", lambda v: change_slot(v, lambda slots: slots.append(slots[0] | {"kid": v.retired}))),
]

FOLDER = [
    Fault("a signing key", "secret-key", lambda v: shutil.copy(v.vault / "keys/targets.pem", v.site / "targets.pem")),
    Fault("vault keys under another name", "secret-key", lambda v: shutil.copy(v.keys, v.site / "targets/backup.txt")),
    Fault("vault keys in a folder of their own", "secret-key", lambda v: shutil.copytree(v.vault / "keys", v.site / "metadata/keys"), also=["foreign-file"]),
    Fault("an asset beside the packs", "foreign-file", lambda v: shutil.copy(v.place / "small/file", v.site / "targets/packs/file.png")),
    Fault("an asset in a folder of its own", "foreign-file", lambda v: shutil.copytree(v.place / "small", v.site / "targets/small")),
    Fault("a page at the top", "foreign-file", lambda v: (v.site / "index.html").write_text("<!DOCTYPE html>")),
    Fault("a pack that nothing lists", "prunable", lambda v: shutil.copy(SMALL(v), v.site / "targets/packs/old.avpack")),
    Fault("what an interrupted run left", "prunable", lambda v: (v.site / "targets/.assetvault-1-2.tmp").write_text("a part")),
    Fault("metadata of a role that is not there", "prunable", lambda v: shutil.copy(v.role("targets"), v.metadata / "3.team.json")),
    Fault("a link to elsewhere", "prunable", lambda v: (v.site / "link").symlink_to("/etc")),
    Fault("a folder that everybody may change", "world-writable", lambda v: v.metadata.chmod(0o777)),
    Fault("a pack that everybody may change", "world-writable", lambda v: SMALL(v).chmod(0o666)),
    Fault("a pack that is a link to a file that everybody may change", "world-writable", link_to_open_file),
    Fault("metadata with a sign before its number", "prunable", lambda v: shutil.copy(v.role("snapshot"), v.metadata / "+9.snapshot.json")),
    Fault("the timestamp is writable for everybody", "world-writable", lambda v: v.role("timestamp").chmod(0o666)),
]

OPENED, SEALED = (lambda vault: vault.stored("large/@*/noise")), (lambda vault: vault.stored("small/@*.avpack"))

OPENED_FOLDER = lambda vault: next(path for path in vault.store.glob("permanent/large/@*") if path.is_dir())  # noqa: E731

STORE = [
    Fault("a bit of an opened file", "damaged", lambda v: flip(OPENED(v), 300_000)),
    Fault("an opened file is cut short", "damaged", lambda v: edit(OPENED(v), lambda d: d[:-1])),
    Fault("an opened file is longer", "damaged", lambda v: edit(OPENED(v), lambda d: d + b"0")),
    Fault("an opened file is missing", "damaged", lambda v: OPENED(v).unlink()),
    Fault("an opened file is a link", "damaged", lambda v: (OPENED(v).unlink(), OPENED_FOLDER(v).joinpath("noise").symlink_to("/etc/passwd"))),
    Fault("a file that is not in the pack", "damaged", lambda v: (OPENED_FOLDER(v) / "more").write_text("more")),
    Fault("a bit of a sealed pack", "damaged", lambda v: flip(SEALED(v), 70)),
    Fault("a bit of a sealed pack's footer", "damaged", lambda v: flip(SEALED(v), -40)),
    Fault("a sealed pack is cut short", "damaged", lambda v: edit(SEALED(v), lambda d: d[:-1])),
    Fault("a bit of the catalog beside an opened pack", "damaged", lambda v: flip(v.stored("large/@*.tail"), 20)),
    Fault("the key of an opened pack is missing", "unverified", wrong_key),
]


def of_store(vault):
    return command("verify", "--store", vault.store, "--keys", f"file:{vault.keys}", "--json", ok=False)

HOST = [
    Fault("it serves no parts of files", "no-range", "no-range"),
    Fault("it serves no parts of files, behind a redirect", "no-range", "redirect-no-range", also=["redirected"]),
    Fault("it sends a part under another place", "wrong-range", "other-part"),
    Fault("it sends another part, now and then", "wrong-range", "shifted-part"),
    Fault("a part behind the end is the whole file", "range-behind-end", "open-end"),
    Fault("no ETag", "no-etag", "no-tag"),
    Fault("a weak ETag", "weak-etag", "weak-tag"),
    Fault("ETags that differ from server to server", "changing-etag", "other-tags"),
    Fault("it ignores If-Range", "if-range", "no-if-range"),
    Fault("it sends a part although If-Range does not match", "if-range", "any-if-range"),
    Fault("packs are always compressed", "encoded", "encoded-packs", also=["unavailable", "compressed"]),
    Fault("the timestamp is always compressed", "encoded", "encoded-metadata", also=["unavailable"]),
    Fault("packs are compressed on request", "compressed", "compressed"),
    Fault("metadata are compressed on request", "compressed", "compressed-metadata"),
    Fault("the timestamp is cached for a day", "cached-timestamp", "late-timestamp"),
    Fault("the timestamp is cached for a minute", "cached-timestamp", "short-timestamp"),
    Fault("the timestamp comes from a cache", "cached-timestamp", "aged-timestamp"),
    Fault("nothing says how long the timestamp may be cached", "cached-timestamp", "silent-timestamp"),
    Fault("that a file is missing is cached for hours", "cached-absence", "late-root"),
    Fault("that a file is missing is cached for minutes", "cached-absence", "short-absence"),
    Fault("a page with status 200 for a file that is missing", "found-what-is-missing", "page"),
    Fault("a redirect to a page for a file that is missing", "found-what-is-missing", "redirect-page"),
    Fault("an app that answers every path", "found-what-is-missing", "app", also=["unavailable", "not-metadata"]),
    Fault("files that never change are not cached", "uncached-file", "uncached"),
    Fault("packs are not cached", "uncached-file", "uncached-pack"),
    Fault("it redirects each request", "redirected", "redirect"),
]


HOSTED = [
    Fault("a pack is missing there", "not-hosted", lambda v: SMALL(v).unlink()),
    Fault("the targets are missing there", "missing-metadata", lambda v: v.role("targets").unlink()),
    Fault("the pinned root is missing there", "missing-root", lambda v: (v.metadata / "1.root.json").unlink()),
    Fault("its pack has a wrong bit", "damaged", lambda v: flip(LARGE(v), 400_000)),
    Fault("its timestamp is cut in half", "not-metadata", lambda v: edit(v.role("timestamp"), lambda d: d[:len(d) // 2])),
]


def replace(folder, other):
    shutil.rmtree(folder)
    shutil.copytree(other, folder)


RUNS = [
    Fault("the host is back at an earlier state", "rolled-back", lambda v: replace(v.site, v.first), also=["fewer-packs", "changed-size", "prunable", "gone"]),
    Fault("another timestamp under the same version", "changed-file", lambda v: v.sign("timestamp", expiring("2098-01-01T00:00:00Z"))),
    Fault("other targets under the same version", "changed-file", lambda v: v.sign("targets", expiring("2098-01-01T00:00:00Z"))),
    Fault("another site in its place", "other-site", lambda v: replace(v.vault, other_site(v).vault)),
]

def after_audit(plant):
    """A fault that an audit of everything has found."""
    return lambda vault: (plant(vault), of_url(vault, *state(vault)))


SAMPLES = [
    Fault("a pack has a wrong bit", "known-damage", after_audit(lambda v: flip(SMALL(v), 64))),
    Fault("a pack is missing there", "known-missing", after_audit(lambda v: SMALL(v).unlink())),
]

MIRRORS = [
    Fault("the mirror is behind", "mirror-behind", lambda v: replace(v.mirror, v.first)),
    Fault("the mirror is ahead", "mirror-ahead", lambda v: replace(v.site, v.first), also=["prunable", "gone"]),
    Fault("the mirror has another timestamp of the version", "mirror-differs", lambda v: v.sign("timestamp", expiring("2098-01-01T00:00:00Z"))),
    Fault("a pack is missing at the mirror", "mirror-missing-file", lambda v: (v.mirror / SMALL(v).relative_to(v.site)).unlink()),
    Fault("a pack of the mirror has another length", "mirror-wrong-length", lambda v: edit(v.mirror / LARGE(v).relative_to(v.site), lambda d: d[:-1])),
]


def state(vault):
    return "--state", vault.place / "state.json"


def of_runs(vault):
    return command("audit", vault.site, *vault.trust, *state(vault), "--json", ok=False)


def of_samples(vault):
    """The first one verifies the other pack."""
    return of_url(vault, *state(vault), "--budget", "1B")


def of_mirrors(vault):
    if not vault.mirror.exists():
        shutil.copytree(vault.site, vault.mirror)
    return command("audit", vault.site, *vault.trust, "--against", vault.mirror, "--json", ok=False)


def of_url(vault, *options):
    with host(vault.site, "right", vault.place) as url:
        run = command("audit", url, *vault.trust, *options, "--json", ok=False)
    # The port differs from run to run.
    run.stdout = run.stdout.replace(url, "http://host")
    return run


def of_folder(vault):
    return command("audit", vault.site, *vault.trust, "--json", ok=False)


def with_keys(vault):
    return command("audit", vault.site, *vault.trust, "--keys", f"file:{vault.keys}", "--json", ok=False)


AREAS = [
    ("Packs", "in a site's folder, without a key", of_folder, PACKS),
    ("Slots", "with `--keys`", with_keys, KEYED),
    ("Metadata", "in a site's folder", of_folder, METADATA),
    ("Folder", "as a site's folder", of_folder, FOLDER),
    ("Hosted files", "at their URL", of_url, HOSTED),
    ("Runs", "with `--state`, after an audit that found nothing", of_runs, RUNS),
    ("Samples", "at their URL, with `--state` and `--budget`, after an audit that found the fault", of_samples, SAMPLES),
    ("Mirrors", "with `--against`", of_mirrors, MIRRORS),
    ("Store", "by `assetvault verify`, with keys", of_store, STORE),
]
HOSTS = ("Host", "at its URL", None, HOST)
CASES = [(title, audit, fault) for title, _, audit, faults in AREAS for fault in faults]


@pytest.fixture(scope="session")
def clean(tmp_path_factory):
    return Vault(tmp_path_factory.mktemp("clean") / "vault").publish().fetch()


@pytest.mark.parametrize(("audit", "fault"), [case[1:] for case in CASES], ids=[f"{c[0]}: {c[2].what}" for c in CASES])
def test_a_fault_is_found(clean, tmp_path, audit, fault):
    vault = clean.copy(tmp_path / "vault")
    before = findings(json.loads(audit(vault).stdout))
    fault.plant(vault)
    run = audit(vault)
    report = json.loads(run.stdout)
    new = findings(report) - before
    assert {code for code, _, _ in new} - fault.also - {"not-looked-at"} == {fault.code}, run.stdout + run.stderr
    assert (run.returncode != 0) == ("error" in {severity for _, _, severity in new}), run.stderr
    if "findings" in report:
        assert {code for code, _, _ in new} <= codes().keys()


@pytest.mark.parametrize("fault", HOST, ids=[fault.what for fault in HOST])
def test_a_fault_of_the_host_is_found(clean, tmp_path, fault):
    with host(clean.site, fault.plant, tmp_path) as url:
        report = json.loads(command("audit", url, *clean.trust, "--json", ok=False).stdout)
    assert {code for code, _, _ in findings(report)} - fault.also - {"not-looked-at"} == {fault.code}, report


def test_nothing_is_found_where_a_host_is_right(clean, tmp_path):
    with host(clean.site, "right", tmp_path) as url:
        assert findings(json.loads(command("audit", url, *clean.trust, "--json").stdout)) == set()


@pytest.mark.parametrize("audit", [of_folder, with_keys, of_url, of_runs, of_samples, of_mirrors, of_store])
def test_nothing_is_found_where_nothing_is_wrong(clean, tmp_path, audit):
    run = audit(clean.copy(tmp_path / "vault"))
    assert run.returncode == 0, run.stderr
    assert {severity for _, _, severity in findings(json.loads(run.stdout))} <= {"note"}, run.stdout


TUF = pathlib.Path(__file__).parents[1] / "tuf/judge.py"


def is_sound_for_others(vault, place):
    """Whether python-tuf takes both packs from the site."""
    return all(
        subprocess.run([
            sys.executable, TUF, vault.site, vault.vault / "trusted-root.json", f"packs/{pack}.avpack", place / pack
        ], capture_output=True).returncode == 0
        for pack in ("large", "small"))


def test_what_others_refuse_is_an_error(clean, tmp_path):
    """python-tuf, which knows nothing of packs, agrees: no site that it refuses is sound for an audit."""
    assert is_sound_for_others(clean, tmp_path)
    refused = 0
    for number, fault in enumerate(PACKS + METADATA):
        vault = clean.copy(tmp_path / f"vault-{number}")
        fault.plant(vault)
        if any(path.is_fifo() for path in vault.site.rglob("*")):
            # The server of these files would wait for ever.
            continue
        if not is_sound_for_others(vault, tmp_path):
            refused += 1
            assert of_folder(vault).returncode != 0, fault.what
    # The others are of earlier versions, or are no fault for a client that has the newest root.
    assert refused >= 35


@pytest.mark.parametrize("fault", PACKS, ids=[fault.what for fault in PACKS])
def test_sha256sum_agrees(clean, tmp_path, fault):
    vault = clean.copy(tmp_path / "vault")
    packs = {str(vault.pack(name)): vault.listed(name)["hashes"]["sha256"] for name in ("large", "small")}
    fault.plant(vault)
    bad = {place for _, place, severity in findings(json.loads(of_folder(vault).stdout)) if severity == "error"}
    for path, digest in packs.items():
        if not pathlib.Path(path).is_fifo():
            line = f"{digest}  {path}\n"
            check = subprocess.run(["sha256sum", "--check", "--status"], input=line, text=True)
            assert (check.returncode != 0) == (path in bad)


def page():
    """The table of the documentation."""
    areas = [*AREAS[:4], HOSTS, *AREAS[4:]]
    count = sum(len(faults) for *_, faults in areas)
    lines = [
        "# What an audit finds",
        "",
        f"{count} kinds of faults, by the part that has them. A test plants each of them into a copy of one site: the audit finds it under",
        "this code (`code` in the JSON), and nothing else. Without a fault it finds no error and no warning.",
    ]
    for title, where, _, faults in areas:
        lines += ["", f"## {title}", "", f"Audited {where}.", ""]
        lines += ["| fault | code |", "| --- | --- |"]
        lines += [f"| {fault.what} | `{fault.code}` |" for fault in faults]
    lines += ["", "## All codes", "", "Of findings and errors of all commands; stable, as their texts are not.", ""]
    lines += ["| code | severity |", "| --- | --- |"]
    lines += [f"| `{code}` | {' or '.join(sorted(severities))} |" for code, severities in sorted(codes().items())]
    return "\n".join(lines) + "\n"


def test_all_codes_are_known():
    assert {fault.code for *_, faults in [*AREAS[:-1], HOSTS] for fault in faults} <= codes().keys()


def test_the_documentation_has_this_table():
    assert PAGE.read_text() == page(), f"write it: python {__file__} --write"


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    PAGE.write_text(page())
