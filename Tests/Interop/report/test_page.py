"""The pages in a real browser: nothing is loaded or logged, the keyboard reaches all, and axe finds nothing.

REPORT_PICTURES names a folder for pictures of the pages.
"""
import http.server
import os
import pathlib
import threading

import pytest

PAGES = ["clean", "remembered", "damaged", "expiring", "hostile", "missing", "plan"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("kind", PAGES)
def test_page(audits, browser, axe, kind, scheme):
    path = audits[kind][0] / "report.html"
    events = browser.open(path, scheme)
    requests = [event["params"]["request"]["url"] for event in events
                if event["method"] == "Network.requestWillBeSent"]
    assert requests == [path.as_uri()]
    told = [event for event in events
            if event["method"] in ("Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown")]
    assert told == []
    assert browser.run("document.querySelectorAll('script, img, iframe, object, link').length") == 0
    assert browser.run("getComputedStyle(document.body).backgroundColor") != "rgba(0, 0, 0, 0)", "no style"
    browser.run(axe)
    violations = browser.run("""axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa',
        'best-practice']}).then(done => done.violations.map(found =>
            [found.id, found.help, found.nodes.slice(0, 3).map(node => node.html.slice(0, 200))]))""")
    assert violations == []
    pictures = os.environ.get("REPORT_PICTURES")
    if pictures:
        browser.screenshot(pathlib.Path(pictures) / f"{kind}-{scheme}.png")


@pytest.mark.parametrize("kind", PAGES)
def test_keyboard(audits, browser, kind):
    browser.open(audits[kind][0] / "report.html")
    expected = browser.run("""[...document.querySelectorAll('a[href], summary, [tabindex="0"]')]
        .map((element, number) => { element.dataset.number = number; return number; })""")
    seen = []
    for _ in expected:
        browser.press("Tab", 9)
        seen.append(browser.run("Number(document.activeElement.dataset.number)"))
    assert seen == expected
    assert browser.run("document.querySelector('a').textContent") == "Skip to the content"
    details = "document.querySelector('details')"
    if browser.run(f"{details} !== null"):
        browser.run(f"{details}.querySelector('summary').focus()")
        browser.press("Enter", 13)
        assert browser.run(f"{details}.open")


@pytest.mark.parametrize("kind", PAGES)
def test_narrow_screen(audits, browser, kind):
    browser.open(audits[kind][0] / "report.html", width=320)
    assert browser.run("document.documentElement.scrollWidth") <= 320
    pictures = os.environ.get("REPORT_PICTURES")
    if pictures:
        browser.screenshot(pathlib.Path(pictures) / f"{kind}-narrow.png")


def test_structure(audits, browser):
    """The verdict is first, then what to do; headings go down one level at a time."""
    browser.open(audits["damaged"][0] / "report.html")
    headings = browser.run("[...document.querySelectorAll('h1, h2, h3')].map(e => [Number(e.tagName[1]), e.textContent])")
    assert headings[0][0] == 1 and headings[0][1].endswith("problems")
    assert headings[1] == [2, "What was found"]
    assert all(after[0] <= before[0] + 1 for before, after in zip(headings, headings[1:]))
    severities = browser.run("[...document.querySelectorAll('.findings > li')].map(e => e.className)")
    order = ["error", "warning", "note"]
    assert severities == sorted(severities, key=order.index)
    assert browser.run("[...document.querySelectorAll('table')].every(e => e.caption && e.querySelector('th[scope=row]'))")
    assert browser.run("[...document.querySelectorAll('svg[role=img]')].every(e => e.querySelector('title').textContent)")
    crosses = browser.run("[...document.querySelectorAll('.map .cross')].map(e => e.getAttribute('d')).join('')")
    assert crosses.count("M") >= 3


def test_charts(audits, browser):
    """Each chart has a text in its place, and a table with a row for each of its columns."""
    browser.open(audits["remembered"][0] / "report.html")
    for chart, table in (("growth", "growth"), ("coverage", "coverage-runs")):
        columns = browser.run(f"document.querySelectorAll('[aria-labelledby={chart}-chart] .column').length")
        rows = browser.run(f"document.querySelectorAll('[aria-labelledby={table}-caption] tbody tr').length")
        assert columns == rows > 4
        heights = browser.run(f"""[...document.querySelectorAll('[aria-labelledby={chart}-chart] .column')]
            .map(e => Number(e.getAttribute('height')))""")
        assert min(heights) >= 0 and len(set(heights)) > 4
    said = browser.call("Accessibility.getFullAXTree")["nodes"]
    images = [node["name"]["value"] for node in said if node.get("role", {}).get("value") in ("img", "image")]
    assert any(text.startswith("From ") and "The table below" in text for text in images), images
    assert any(text.startswith("What each of the last 25 audits verified") for text in images), images


def test_nothing_can_be_loaded(audits, browser):
    """Even markup that got into the page loads nothing and runs nothing."""
    asked = []

    class Host(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Host)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    page = audits["clean"][0] / "report.html"
    forged = page.with_name("forged.html")
    forged.write_text(page.read_text().replace(
        "</main>", f'<img src="{url}/a"><script>fetch("{url}/b"); document.title = "ran"</script>'
        f'<style>body {{ background: url({url}/c) }}</style><iframe src="{url}/d"></iframe></main>'))
    events = browser.open(forged)
    refusals = [event for event in events if event["method"] == "Log.entryAdded"]
    server.shutdown()
    assert asked == [] and browser.run("document.title") != "ran" and len(refusals) >= 4
