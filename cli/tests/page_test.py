"""The page of a fit in a browser: it draws, asks for nothing, and gives labels that --partial-labels takes."""

import time

import numpy as np
import pytest

from browser import Browser
from support import blobs, document, run, write_csv


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.close()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    points, truth = blobs(d=2)
    write_csv(folder / "points.csv", [[*row, f"<b>kind {label}"] for row, label in zip(points, truth)], ["length", "</script>width", "kind"])
    run("fit", "kmeans", folder / "points.csv", "-k", 3, "--label-column", "kind", "--report", folder / "page.html", "--labels-out", folder / "l.npy")
    return folder


def complaints(browser):
    return [event for event in browser.events
            if event.get("method") == "Runtime.exceptionThrown"
            or event.get("method") == "Runtime.consoleAPICalled" and event["params"]["type"] in ("error", "warning", "assert")
            or event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error"]


def requests(browser):
    return [event["params"]["request"]["url"] for event in browser.events if event.get("method") == "Network.requestWillBeSent"]


def test_it_draws_and_asks_for_nothing(browser, page):
    browser.open(page / "page.html")
    assert browser.run("coterieMap.then(() => document.getElementById('map').hidden)") is False
    assert browser.run("document.getElementById('picture').hidden") is True
    browser.run("document.getElementById('map').scrollIntoView()")
    place = browser.run("(() => { const r = document.getElementById('map-canvas').getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; })()")
    left, top, right, bottom = map(int, place)
    time.sleep(0.5)
    seen = browser.pixels()[max(top, 0) + 2 : bottom - 2, left + 2 : right - 2].reshape(-1, 3).astype(int)
    for colour in ((0x00, 0x72, 0xB2), (0xE6, 0x9F, 0x00), (0x00, 0x9E, 0x73)):  # of the three clusters
        near = (abs(seen - colour).max(axis=1) < 60).sum()
        assert near > 50, f"{near} pixels of {colour}"
    assert complaints(browser) == []
    assert [url for url in requests(browser) if not url.startswith(("file:", "data:", "blob:"))] == []


def test_the_arrays_are_the_points(browser, page):
    browser.open(page / "page.html")
    told = browser.run("""coterieMap.then(({about}) => about.arrays.map((a) => [a.title || a.name, a.names || null,
        Array.from(a.values, (v) => a.low === undefined ? v : a.low + v / 65535 * (a.high - a.low))]))""")
    arrays = {name: (names, np.array(values)) for name, names, values in told}
    points = np.loadtxt(page / "points.csv", delimiter=",", skiprows=1, usecols=(0, 1))
    assert list(arrays["cluster"][1]) == list(np.load(page / "l.npy"))
    assert arrays["truth"][0] == ["<b>kind 0", "<b>kind 1", "<b>kind 2"]
    assert np.allclose(arrays["length"][1], points[:, 0], rtol=1e-6) and np.allclose(arrays["</script>width"][1], points[:, 1], rtol=1e-6)
    assert np.allclose(arrays["the points, axis 1"][1], points[:, 0], atol=np.ptp(points[:, 0]) / 65535)


def test_lasso_label_download_and_fit_again(browser, page):
    browser.open(page / "page.html")
    browser.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(browser.folder))
    browser.run("coterieMap.then(() => { document.getElementById('map').scrollIntoView(); document.getElementById('map-lasso').click(); })")
    left, top, right, bottom = browser.run(
        "(() => { const r = document.getElementById('map-canvas').getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; })()")
    middle_x, middle_y = (left + right) / 2, (top + bottom) / 2
    # Blobs lie on the diagonal: the upper right quarter has one, whole.
    corners = [(middle_x + 60, middle_y - 40), (right - 6, middle_y - 40), (right - 6, top + 6), (middle_x + 60, top + 6), (middle_x + 60, middle_y - 40)]
    browser.mouse("mouseMoved", *corners[0], held=False)
    browser.mouse("mousePressed", *corners[0])
    for (x, y), (to_x, to_y) in zip(corners, corners[1:]):
        for step in range(1, 9):
            browser.mouse("mouseMoved", x + (to_x - x) * step / 8, y + (to_y - y) * step / 8)
            time.sleep(0.02)
    browser.mouse("mouseReleased", *corners[-1])
    time.sleep(0.5)
    selected = browser.run("coterieMap.then((map) => map.selected())")
    labels = np.load(page / "l.npy")
    assert len(selected) == 100 and len(set(labels[selected])) == 1
    browser.run("document.getElementById('map-label').value = 'far, \"far\"'; document.getElementById('map-give').click()")
    # One point more, by the search.
    other = int(np.flatnonzero(labels != labels[selected[0]])[0])
    browser.run(f"""(() => {{ const find = document.getElementById('map-search'); find.value = '{other + 1}'; find.dispatchEvent(new Event('change'));
        document.getElementById('map-label').value = 'near'; document.getElementById('map-give').click();
        document.getElementById('map-download').click(); }})()""")
    known = browser.folder / "known.csv"
    for _ in range(100):
        if known.exists() and known.stat().st_size > 0:
            break
        time.sleep(0.1)
    assert complaints(browser) == []
    value = document("fit", "kmeans", page / "points.csv", "-k", 3, "--label-column", "kind", "--partial-labels", known)
    assert {label["name"]: label["labelled"] for label in value["labels"]} == {'far, "far"': 100, "near": 1}


def test_a_million_points_open(browser, tmp_path):
    random = np.random.default_rng(0)
    np.save(tmp_path / "points.npy", random.normal(size=(1_000_000, 2)).astype(np.float32) + 6 * random.integers(2, size=(1_000_000, 1)))
    run("fit", "kmeans", tmp_path / "points.npy", "-k", 2, "--restarts", 1, "--report", tmp_path / "page.html", "--quiet")
    browser.open(tmp_path / "page.html")
    assert browser.run("coterieMap.then(({about}) => about.rows)") == 1_000_000
    assert browser.run("document.getElementById('picture').hidden") is True
    assert complaints(browser) == []


def test_without_scripts_it_is_a_picture_and_tables(browser, page):
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(page / "page.html")
    time.sleep(0.3)
    seen = browser.pixels()
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert len(np.unique(seen.reshape(-1, 3), axis=0)) > 20, "the picture and its colours"
    text = (page / "page.html").read_text()
    assert "<svg" in text and "typical rows" in text and "<b>kind" not in text
