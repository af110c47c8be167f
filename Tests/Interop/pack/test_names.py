"""The outsider reads the table of opaque names of a published site.

ASSETVAULT_COMMAND names the command.
"""

import json

import pytest

import decoder
import names
from pack_manifest import WrongKey, vault_keys
from test_pack import command, fill


@pytest.fixture
def site(tmp_path):
    """A pack and a resource tree for partners, under opaque names."""
    fill(tmp_path / "film", [("file", b"film")])
    fill(tmp_path / "tree", [("music", b"music")])
    vault = tmp_path / "vault"
    command("init", vault)
    command("keygen", "-o", vault / "keys/partner.jwks")
    settings = json.loads((vault / "vault.json").read_text())
    settings |= {
        "opaqueNames": True,
        "audiences": {"partner": "file:keys/partner.jwks"},
        "packs": {"hush/film": {"source": "../film", "tags": ["start"], "for": ["partner"]}},
        "resources": {
            "game": {
                "source": "../tree",
                "for": ["partner"],
                "initial": ["sound"],
                "rules": [{"paths": "music", "tags": ["sound"]}],
            }
        },
    }
    (vault / "vault.json").write_text(json.dumps(settings))
    command("publish", vault)
    return vault


def targets(vault):
    return json.loads((vault / "site/metadata/1.targets.json").read_text())["signed"]["targets"]


def table(vault, key, place):
    path = f"packs/{names.TABLE_ID}.avpack"
    target = targets(vault)[path]
    (place / "table.json").write_text(json.dumps(target))
    pack = vault / "site/targets/packs" / f"{target['hashes']['sha256']}.{names.TABLE_ID}.avpack"
    out = place / "table"
    decoder.read(pack, place / "table.json", key).write(out)
    return names.Names((out / names.FILE).read_text())


def test_the_outsider_reads_the_names(site, tmp_path):
    own, partner = site / "keys/vault.jwks", site / "keys/partner.jwks"
    read = table(site, partner, tmp_path)
    listed = {path.removeprefix("packs/").removesuffix(".avpack") for path in targets(site)} - {names.TABLE_ID}
    assert read.names.keys() == listed
    assert set(read.names.values()) == {"hush/film", "game/sound"}
    key = read.key(list(vault_keys(own.read_text())))
    expected = {names.listed_id(key, "hush/film"): "hush/film"}
    expected[names.listed_id(key, "game/sound", tree="game")] = "game/sound"
    assert read.names == expected
    with pytest.raises(WrongKey):
        read.key(list(vault_keys(partner.read_text())))
