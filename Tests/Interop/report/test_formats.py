"""The reports of audits against the schemas of their formats, and the parser of Prometheus."""
import json

import jsonschema
import pytest
from lxml import etree
from prometheus_client.parser import text_string_to_metric_families

AUDITS = ["clean", "remembered", "unpinned", "damaged", "expiring", "hostile", "missing"]


@pytest.mark.parametrize("kind", AUDITS)
def test_junit(audits, junit_schema, kind):
    folder, code = audits[kind]
    document = etree.parse(folder / "report.xml")
    etree.XMLSchema(etree.fromstring(junit_schema)).assertValid(document)
    cases = document.findall(".//testcase")
    assert int(document.getroot().get("tests")) == len(cases)
    assert bool(document.findall(".//failure")) == (code != 0)


@pytest.mark.parametrize("kind", AUDITS)
def test_sarif(audits, sarif_schema, kind):
    folder, code = audits[kind]
    report = json.loads((folder / "report.sarif").read_text())
    jsonschema.validate(report, sarif_schema, format_checker=jsonschema.FormatChecker())
    [run] = report["runs"]
    assert run["invocations"][0]["exitCode"] == code
    rules = run["tool"]["driver"]["rules"]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])
    order = ["error", "warning", "note"]
    levels = [order.index(result["level"]) for result in run["results"]]
    assert levels == sorted(levels) and (0 in levels) == (code != 0)


@pytest.mark.parametrize("kind", AUDITS)
def test_prometheus(audits, kind):
    folder, code = audits[kind]
    families = {family.name: family for family in
                text_string_to_metric_families((folder / "report.prom").read_text())}
    assert all(family.type == "gauge" and family.documentation for family in families.values())

    def value(name, **labels):
        return sum(sample.value for sample in families[f"assetvault_audit_{name}"].samples
                   if labels.items() <= sample.labels.items())

    assert value("success") == (code == 0) and value("exit_code") == code
    assert (value("problems", severity="error") > 0) == (code != 0)
    assert value("findings") == value("problems")
    assert value("last_run_timestamp_seconds") > 1.7e9
    if kind == "damaged":
        assert value("packs", state="bad") == 3 and value("findings", code="damaged") > 2
        assert value("expiry_timestamp_seconds", role="root") > value("last_run_timestamp_seconds")


def test_the_report_can_take_the_place_of_the_text(tmp_path):
    from conftest import assetvault, publish
    site = publish(tmp_path, {"one": 1000}) / "site"
    assert assetvault("audit", site, "--prometheus", "-").startswith("# HELP assetvault_audit_success")
    assert assetvault("audit", site, "--junit", "-", "--sarif", tmp_path / "s").startswith("<?xml")
    assert json.loads((tmp_path / "s").read_text())["version"] == "2.1.0"
    for both in (["--junit", "-", "--sarif", "-"], ["--html", "-", "--json"]):
        assetvault("audit", site, *both, expects=64)
