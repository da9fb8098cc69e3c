"""The page of a fit, a description, a search or a comparison in a browser. It draws, makes no requests, and gives labels for
--partial-labels. It works for every reader: by keyboard, in the dark, on paper, without WebGL, without scripts, and for
colour-blind readers."""

import re
import time

import numpy as np
import pytest

from browser import Browser, complaints, contrast, key, luminance, requests
from support import blobs, document, run, texts, write_csv


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


def test_page_draws_map_without_network_requests(browser, page):
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


def test_page_arrays_equal_points_and_labels(browser, page):
    browser.open(page / "page.html")
    told = browser.run("""coterieMap.then(({about}) => about.arrays.filter((a) => a.type !== "text").map((a) => [a.title || a.name, a.names || null,
        Array.from(a.values, (v) => a.low === undefined ? v : a.low + v / 65535 * (a.high - a.low))]))""")
    arrays = {name: (names, np.array(values)) for name, names, values in told}
    points = np.loadtxt(page / "points.csv", delimiter=",", skiprows=1, usecols=(0, 1))
    assert list(arrays["cluster"][1]) == list(np.load(page / "l.npy"))
    assert arrays["truth"][0] == ["<b>kind 0", "<b>kind 1", "<b>kind 2"]
    assert np.allclose(arrays["length"][1], points[:, 0], rtol=1e-6) and np.allclose(arrays["</script>width"][1], points[:, 1], rtol=1e-6)
    assert np.allclose(arrays["the points, axis 1"][1], points[:, 0], atol=np.ptp(points[:, 0]) / 65535)


def test_lasso_labels_can_be_downloaded_and_fitted(browser, page):
    browser.open(page / "page.html")
    browser.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(browser.folder))
    browser.run("coterieMap.then(() => { document.getElementById('map').scrollIntoView(); document.getElementById('map-lasso').click(); })")
    left, top, right, bottom = browser.run(
        "(() => { const r = document.getElementById('map-canvas').getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; })()")
    middle_x, middle_y = (left + right) / 2, (top + bottom) / 2
    # The blobs lie on the diagonal. The upper right quarter contains exactly one of them.
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
    # Adds one point through the search.
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


def coloured_pixels(browser):
    """Number of pixels that are not grey in the map at half its size; 0 if the map is empty."""
    browser.run("document.getElementById('map').scrollIntoView()")
    time.sleep(0.5)
    place = browser.run("""(() => { const { left, top, width, height } = document.getElementById('map-canvas').getBoundingClientRect();
        return { x: left + scrollX, y: top + scrollY, width, height, scale: 0.5 }; })()""")
    seen = browser.pixels(clip=place).reshape(-1, 3).astype(int)
    return int((seen.max(axis=1) - seen.min(axis=1) > 40).sum())


# Maps of more than 200,000 points are drawn differently.
@pytest.mark.parametrize("n", [199_000, 201_000, 1_000_000])
def test_map_of_many_points(browser, tmp_path, n):
    random = np.random.default_rng(0)
    np.save(tmp_path / "points.npy", random.normal(size=(n, 2)).astype(np.float32) + 6 * random.integers(2, size=(n, 1)))
    run("fit", "kmeans", tmp_path / "points.npy", "-k", 2, "--restarts", 1, "--report", tmp_path / "page.html", "--quiet")
    browser.open(tmp_path / "page.html")
    assert browser.run("coterieMap.then(({about}) => about.rows)") == n
    assert browser.run("document.getElementById('picture').hidden") is True
    assert coloured_pixels(browser) > 5_000
    assert complaints(browser) == []


@pytest.mark.parametrize("n", [100, 201_000])
def test_map_of_one_cluster(browser, tmp_path, n):
    np.save(tmp_path / "points.npy", np.random.default_rng(0).normal(size=(n, 2)).astype(np.float32))
    run("fit", "kmeans", tmp_path / "points.npy", "-k", 1, "--report", tmp_path / "page.html", "--quiet")
    browser.open(tmp_path / "page.html")
    browser.run("coterieMap.then(() => 0)")
    assert coloured_pixels(browser) > 150
    rows = browser.run("Array.from(document.querySelectorAll('.cards article tr'), (row) => row.cells[0].textContent)")
    assert rows == ["column", "column 1", "column 2"]
    assert complaints(browser) == []


def test_page_without_scripts_has_picture_and_tables(browser, page):
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(page / "page.html")
    time.sleep(0.3)
    seen = browser.pixels()
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    assert len(np.unique(seen.reshape(-1, 3), axis=0)) > 20, "the picture and its colours"
    text = (page / "page.html").read_text()
    assert "<svg" in text and "typical rows" in text and "<b>kind" not in text


@pytest.fixture(scope="module")
def described(tmp_path_factory):
    """The page of describe for a table with ids, words and an omitted row, compared with another model."""
    folder = tmp_path_factory.mktemp("described")
    points, truth = blobs(d=2)
    rows = [[f"r{i:03}", *row, ["red", "green", "blue"][label]] for i, (row, label) in enumerate(zip(points, truth))]
    rows[5][1] = ""
    rows[10][3] = '"two\nlines"'  # must not shift the colours of later rows
    write_csv(folder / "points.csv", rows, ["name", "length", "width", "colour"])
    common = ["--id-column", "name", "--exclude", "colour"]
    for k in (3, 2):
        run("fit", "kmeans", folder / "points.csv", "-k", k, "--missing", "drop", *common, "--model-out", folder / f"m{k}", "--quiet")
    run("describe", folder / "m3", folder / "points.csv", *common, "--compare-with", folder / "m2", "--report", folder / "page.html", "--quiet")
    return folder


def test_describe_writes_a_page(browser, described):
    browser.open(described / "page.html")
    assert browser.run("coterieMap.then(({numbers}) => numbers[5])") == 6  # row 6 is left out
    shown = browser.run("""coterieMap.then(({plot}) => { const find = document.getElementById('map-search'); find.value = 'r200';
        find.dispatchEvent(new Event('change')); return document.getElementById('map-said').textContent; })""")
    colour = (described / "points.csv").read_text().split("r200,")[1].split("\n")[0].rsplit(",", 1)[1]
    assert shown.startswith(f"row 201: name r200, colour {colour}") and "cluster " in shown and "length" in shown
    browser.run("document.getElementById('map').scrollIntoView()")
    left, top = browser.run("(() => { const r = document.getElementById('map-canvas').getBoundingClientRect(); return [r.left, r.top]; })()")
    x, y = browser.run("coterieMap.then(({plot}) => plot.getScreenPosition(199))")
    browser.mouse("mouseMoved", left + x + 2, top + y + 2, held=False)
    browser.mouse("mouseMoved", left + x, top + y, held=False)
    time.sleep(0.5)
    tip = browser.run("document.getElementById('map-tip').hidden ? '' : document.getElementById('map-tip').innerText")
    assert re.search(r"name r\d\d\d", tip) and re.search("colour (red|green|blue)", tip), tip
    assert browser.run("document.querySelectorAll('#charts-drawn canvas').length") == 2  # sizes, silhouettes
    browser.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(browser.folder))
    (browser.folder / "known.csv").unlink(missing_ok=True)
    browser.run("(() => { document.getElementById('map-label').value = 'mine'; document.getElementById('map-give').click(); document.getElementById('map-download').click(); })()")
    for _ in range(100):
        if (browser.folder / "known.csv").exists() and (browser.folder / "known.csv").stat().st_size > 0:
            break
        time.sleep(0.1)
    lines = (browser.folder / "known.csv").read_text().splitlines()
    assert len(lines) == 301 and [i for i, line in enumerate(lines) if line == '"mine"'] == [201]
    assert complaints(browser) == [] and [url for url in requests(browser) if not url.startswith(("file:", "data:", "blob:"))] == []


def test_moved_rows_agree_with_labels(described):
    value = document("describe", described / "m3", described / "points.csv", "--id-column", "name", "--compare-with", described / "m2")["comparison"]
    labels = []
    for k in (3, 2):
        run("predict", described / f"m{k}", described / "points.csv", "--labels-out", described / f"l{k}.csv", "--quiet")
        labels.append(np.array([int(line.strip('"') or -1) for line in (described / f"l{k}.csv").read_text().splitlines()[1:]]))
    here, there = labels
    # Three clusters are compared with two: one of the two was split, and the best matching leaves out its smaller part.
    counts = np.array([[((here == i) & (there == j)).sum() for j in range(2)] for i in range(3)])
    best = max(counts[a, 0] + counts[b, 1] for a in range(3) for b in range(3) if a != b)
    assert value["scored"] == 299 and value["moved"] == 299 - best == sum(move["points"] for move in value["moves"])
    for move in value["moves"]:
        assert all(str(here[row - 1]) == move["to"] and str(there[row - 1]) == move["from"] for row in move["rows"])
    text = (described / "page.html").read_text()
    assert "Rows that moved, compared with kmeans of" in text and f">{value['moved']}</b><span>rows moved" in text
    same = document("describe", described / "m3", described / "points.csv", "--compare-with", described / "m3")["comparison"]
    assert same["moved"] == 0 and same["moves"] == [] and same["ari"] == 1


def test_ward_dendrogram_with_movable_cut(browser, page, tmp_path):
    from scipy.cluster.hierarchy import fcluster, linkage

    value = document("fit", "ward", page / "points.csv", "-k", 3, "--label-column", "kind", "--report", tmp_path / "page.html")
    points = np.loadtxt(page / "points.csv", delimiter=",", skiprows=1, usecols=(0, 1))
    tree = linkage(points, "ward")
    details = value["details"]
    assert np.allclose(details["tree_heights"], tree[-39:, 2]) and sum(details["tree_sizes"]) == 300
    browser.open(tmp_path / "page.html")
    for clusters in (1, 3, 5, 12, 40):
        said = browser.run(f"""(() => {{ const slider = document.getElementById('dendrogram-clusters'); slider.value = {clusters};
            slider.dispatchEvent(new Event('input')); return document.getElementById('dendrogram-said').textContent; }})()""")
        sizes = sorted(np.bincount(fcluster(tree, clusters, "maxclust"))[1:], reverse=True)
        assert said.startswith(f"{clusters} cluster") and said.endswith("rows: " + ", ".join(map(str, sizes)))
    assert complaints(browser) == []
    assert browser.run("document.querySelectorAll('#dendrogram svg path').length") > 39


def test_page_is_usable_by_keyboard(browser, page):
    browser.open(page / "page.html")
    browser.run("coterieMap.then(() => { document.activeElement.blur(); })")
    order, outlined = [], []
    for _ in range(12):
        key(browser, "Tab", 9)
        order.append(browser.run("document.activeElement.id"))
        outlined.append(browser.run("(() => { const s = getComputedStyle(document.activeElement); return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2; })()"))
    assert order[:11] == ["map-x", "map-y", "map-colour", "map-filter", "map-search", "map-lasso", "map-whole", "map-canvas", "map-label", "map-give", "map-download"]
    assert all(outlined[:11]), "the focus is seen"
    browser.run("document.getElementById('map-canvas').focus()")
    before = browser.run("coterieMap.then(({camera}) => camera())")
    key(browser, "ArrowRight", 39)
    key(browser, "+", 187, "+")
    after = browser.run("coterieMap.then(({camera}) => camera())")
    assert after["cameraTarget"][0] > before["cameraTarget"][0] and after["cameraDistance"] < before["cameraDistance"]
    browser.run("document.getElementById('map-lasso').focus()")
    key(browser, "Enter", 13, "\r")
    assert browser.run("document.getElementById('map-lasso').getAttribute('aria-pressed')") == "true"
    # Every control has a name for screen readers.
    assert browser.run("Array.from(document.querySelectorAll('input, select, button, canvas[tabindex]')).filter((e) => !(e.closest('label') || e.textContent.trim() || e.ariaLabel)).length") == 0


def contrasts(browser):
    """(tag, colour, background colour) of every text."""
    return browser.run("""(() => { const rgb = (text) => { const c = text.match(/[\\d.]+/g).map(Number); return c.length === 3 ? [...c, 1] : c; };
        const behind = (e) => { const layers = [];
            for (; e; e = e.parentElement) { layers.push(rgb(getComputedStyle(e).backgroundColor)); if (layers.at(-1)[3] === 1) break; }
            return layers.reverse().reduce((below, [r, g, b, a]) => [r, g, b].map((c, i) => a * c + (1 - a) * below[i]), [0, 0, 0]); };
        return Array.from(document.querySelectorAll('h1, h2, h3, p, td, th, label, li, .tile b, .tile span'),
            (e) => [e.tagName, rgb(getComputedStyle(e).color).slice(0, 3), behind(e)]); })()""")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_in_light_and_dark_mode(browser, described, scheme):
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    try:
        browser.open(described / "page.html")
        browser.run("coterieMap.then(() => 0)")
        pairs = contrasts(browser)
        for name, ink, paper in pairs:
            assert contrast(ink, paper) >= 4.5, f"{name}: {ink} on {paper}"
        assert (luminance(pairs[0][2]) < 0.1) == (scheme == "dark")
        browser.run("document.getElementById('map').scrollIntoView()")
        left, top, right, bottom = map(int, browser.run("(() => { const r = document.getElementById('map-canvas').getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; })()"))
        time.sleep(0.5)
        map_pixels = browser.pixels()[max(top, 0) + 4 : bottom - 4, left + 4 : right - 4].reshape(-1, 3)
        assert (map_pixels.mean() < 80) == (scheme == "dark")
        assert complaints(browser) == []
    finally:
        browser.call("Emulation.setEmulatedMedia", features=[])


def test_printed_page_has_picture_and_tables(browser, described):
    browser.open(described / "page.html")
    browser.run("coterieMap.then(() => 0)")
    browser.call("Emulation.setEmulatedMedia", media="print")
    try:
        seen = browser.run("""(() => { const there = (e) => e.getClientRects().length > 0;
            return { map: there(document.getElementById('map')), charts: there(document.getElementById('charts')), picture: there(document.querySelector('#picture svg')),
                     tables: Array.from(document.querySelectorAll('table')).filter((t) => !t.closest('#charts')).map(there) }; })()""")
    finally:
        browser.call("Emulation.setEmulatedMedia", media="")
    assert seen["picture"] and not seen["map"] and not seen["charts"] and len(seen["tables"]) >= 5 and all(seen["tables"])
    assert len(browser.call("Page.printToPDF")["data"]) > 10000


def marked(browser, drawing):
    """For each chart, the number of pixels in the colour that marks the choice."""
    return browser.run("""Array.from(document.querySelectorAll('#%s canvas')).map((canvas) => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        let marked = 0;
        for (let i = 0; i < data.length; i += 4) marked += data[i + 3] > 200 && data[i] > 190 && data[i + 1] < 130 && data[i + 2] < 40;
        return marked; })""" % drawing)


def test_page_shows_choice_of_number_of_clusters(browser, tmp_path):
    write_csv(tmp_path / "points.csv", blobs(d=2)[0], ["a", "b"])
    choice = document("fit", "kmeans", tmp_path / "points.csv", "-k", "auto", "--report", tmp_path / "page.html")["choice"]
    browser.open(tmp_path / "page.html")
    curves = [each for each in choice["criteria"] if each["left_out"] is None]
    heads, rows, bold = browser.run("""(() => { const table = document.getElementById('choice'), cells = (row) => Array.from(row.cells, (cell) => cell.textContent);
        return [cells(table.rows[0]), Array.from(table.rows).slice(1).map(cells), Array.from(table.querySelectorAll('b'), (b) => [b.closest('td').cellIndex, b.closest('tr').rowIndex])]; })()""")
    assert heads == ["k"] + [each["name"] for each in curves]
    assert [row[0] for row in rows] == [f"{k} *" if k == choice["recommended"] else str(k) for k in choice["clusters"]]
    assert sorted(bold) == sorted([number + 1, choice["clusters"].index(each["chosen"]) + 1] for number, each in enumerate(curves))
    for number, each in enumerate(curves):
        for row, value in zip(rows, each["values"]):
            assert row[number + 1] == "" if value is None else abs(float(row[number + 1]) - value) <= 1e-3 * abs(value) + 1e-12
    # A line in its own colour marks the choice of each criterion.
    drawn = marked(browser, "charts-drawn")[-len(curves) :]
    assert len(drawn) == len(curves) == 7 and min(drawn) > 30, drawn
    assert complaints(browser) == []


COMPARED = ["-k", 3, "--id-column", "name", "--label-column", "kind", "--missing", "drop"]


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """The page of a comparison for a table with ids, words, an omitted row and markup in its names."""
    folder = tmp_path_factory.mktemp("compared")
    points, truth = blobs(d=2)
    rows = [[f"r{i:03}", *row, f"<i>kind {label}"] for i, (row, label) in enumerate(zip(points, truth))]
    rows[5][1] = ""
    write_csv(folder / "points.csv", rows, ["name", "length", "</script>width", "kind"])
    return folder, document("compare", folder / "points.csv", *COMPARED, "--methods", "kmeans,aml,ward", "--report", folder / "page.html")


def cells_of(browser, table):
    return browser.run(f"Array.from(document.querySelectorAll('#{table} tr'), (row) => Array.from(row.cells, (cell) => cell.textContent))")


def test_compare_writes_a_page(browser, compared):
    folder, value = compared
    assert value["written"] == {"report": str(folder / "page.html")}
    assert value["command"].startswith("coterie compare ") and value["date"].endswith("Z")
    assert value["version"] == document("fit", "kmeans", folder / "points.csv", "--columns", "length", "--missing", "drop", "-k", 2)["version"]
    browser.open(folder / "page.html")
    assert browser.run("coterieMap.then(({numbers}) => numbers[5])") == 6  # row 6 is left out
    heads, *rows = cells_of(browser, "methods")
    assert heads == ["method", "clusters", "silhouette", "calinski-harabasz", "davies-bouldin", "ACC", "NMI", "ARI", "seconds"]
    assert [row[0] for row in rows] == [method["method"] for method in value["methods"]] == ["kmeans", "aml", "ward"]
    for row, method in zip(rows, value["methods"]):
        if method["error"]:
            assert row[1] == "failed"
            continue
        assert int(row[1]) == len(method["sizes"]) and float(row[2]) == pytest.approx(method["silhouette"], rel=1e-3)
        assert [float(cell) for cell in row[5:8]] == pytest.approx([method["scores"][score] for score in ("acc", "nmi", "ari")], abs=1e-4)
    done = [m for m, method in enumerate(value["methods"]) if not method["error"]]
    heads, *rows = cells_of(browser, "agreement")
    assert heads == ["ARI", *(value["methods"][m]["method"] for m in done)] and [row[0] for row in rows] == heads[1:]
    assert [[float(cell) for cell in row[1:]] for row in rows] == [pytest.approx([value["agreement"][a][b] for b in done], abs=0.01) for a in done]
    # The map can be coloured by each method's labels.
    choices = browser.run("Array.from(document.getElementById('map-colour').options, (each) => each.text)")
    assert choices[: len(done) + 1] == [*(value["methods"][m]["method"] for m in done), "truth"]
    shown = browser.run("""coterieMap.then(() => { const find = document.getElementById('map-search'); find.value = 'r200';
        find.dispatchEvent(new Event('change')); return document.getElementById('map-said').textContent; })""")
    assert shown.startswith("row 201: name r200, kind <i>kind ") and "ward " in shown and "truth <i>kind " in shown
    browser.run("document.getElementById('map').scrollIntoView()")
    left, top, right, bottom = map(int, browser.run("""(() => { const r = document.getElementById('map-canvas').getBoundingClientRect();
        return [r.left, r.top, r.right, r.bottom]; })()"""))
    time.sleep(0.5)
    seen = browser.pixels()[max(top, 0) + 2 : bottom - 2, left + 2 : right - 2].reshape(-1, 3).astype(int)
    for colour in ((0x00, 0x72, 0xB2), (0xE6, 0x9F, 0x00), (0x00, 0x9E, 0x73)):  # of the three clusters
        assert (abs(seen - colour).max(axis=1) < 60).sum() > 50
    assert complaints(browser) == [] and [url for url in requests(browser) if not url.startswith(("file:", "data:", "blob:"))] == []


def test_comparison_map_has_labels_of_each_method(browser, compared):
    folder, value = compared
    browser.open(folder / "page.html")
    arrays = {title: (names, values) for title, names, values in browser.run("""coterieMap.then(({about}) =>
        about.arrays.filter((a) => a.type === 'i32').map((a) => [a.title || a.name, a.names, Array.from(a.values)]))""")}
    for method in ("kmeans", "ward"):
        run("fit", method, folder / "points.csv", *COMPARED, "--labels-out", folder / "l.npy", "--quiet")
        names, values = arrays[method]
        assert [names[value] for value in values] == [str(label) for row, label in enumerate(np.load(folder / "l.npy")) if row != 5]
    # Both methods find the three blobs. Equal clusters have the same colour, whatever their numbers.
    assert arrays["ward"][1] == arrays["kmeans"][1]


def test_comparison_page_says_why_methods_failed_or_were_skipped(browser, page, tmp_path):
    value = document("compare", page / "points.csv", "-k", 301, "--label-column", "kind", "--report", tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    told = dict(browser.run("""Array.from(document.querySelectorAll('section'))
        .filter((s) => ['Failed', 'Not compared'].includes(s.firstElementChild.textContent))
        .flatMap((s) => Array.from(s.querySelectorAll('tr'), (row) => Array.from(row.cells, (cell) => cell.textContent)))"""))
    failed = {method["method"]: method["error"] for method in value["methods"] if method["error"]}
    assert "301" in failed["kmeans"] and all(told[method] == why for method, why in failed.items())
    assert "--" in failed["kmeans"] and "`" not in failed["kmeans"]
    assert {method: why for methods, why in told.items() for method in methods.split(", ") if method not in failed} == {
        each["method"]: each["why"] for each in value["left_out"]}
    assert complaints(browser) == []


def test_comparison_page_shows_warnings_about_the_points(browser, tmp_path):
    write_csv(tmp_path / "points.csv", [[number, *row] for number, row in enumerate(blobs(d=2)[0], 1)], ["number", "length", "width"])
    value = document("compare", tmp_path / "points.csv", "-k", 3, "--methods", "kmeans,ward", "--report", tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    told = browser.run("Array.from(document.querySelectorAll('.warn li'), (each) => each.textContent)")
    warnings = texts(value["warnings"])
    assert warnings and "number" in warnings[0] and told[: len(warnings)] == warnings
    assert complaints(browser) == []


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned")
    points, truth = blobs(d=2)
    write_csv(folder / "points.csv", [[*row, f"<b>kind {label}"] for row, label in zip(points, truth)], ["length", "</script>width", "kind"])
    value = document("tune", "kmeans", folder / "points.csv", "--grid", "k=2:6,400", "--grid", "restarts=1,3", "--folds", 2, "--label-column", "kind",
                     "--report", folder / "page.html", "--labels-out", folder / "l.npy")
    return folder, value


def test_tune_writes_a_page(browser, tuned):
    folder, value = tuned
    browser.open(folder / "page.html")
    heads, *rows = cells_of(browser, "cells")
    scores = [(kind, score) for kind in ("seen", "unseen") for score in ("acc", "nmi", "ari")]
    assert heads == ["", "clusters", "restarts", "silhouette", *(f"{kind} {score.upper()}" for kind, score in scores), "seconds"]
    assert len(rows) == len(value["cells"]) == 12
    for place, (row, cell) in enumerate(zip(rows, value["cells"])):
        assert row[0] == ("*" if place == value["best"] else "") and [int(each) for each in row[1:3]] == list(cell["options"].values())
        if cell["error"]:
            assert row[3] == "refused"
            continue
        assert float(row[3]) == pytest.approx(cell["criterion"], rel=1e-5)
        assert [float(each) for each in row[4:10]] == pytest.approx([cell[kind][score] for kind, score in scores], abs=1e-4)
    said = browser.run("document.querySelector('#cells').parentElement.querySelector('p').textContent")
    assert said.startswith("clusters=3, restarts=1 was chosen among 12 cells in 2 folds, by the largest silhouette, 0.")
    # The curve has the best cell for each number of clusters, and marks the chosen one.
    curve, = browser.run("JSON.parse(document.getElementById('curves-about').textContent)")
    assert curve["across_values"] == [2, 3, 4, 5, 6, 400] and curve["mark"] == 3 and curve["title"] == "silhouette by k"
    best = {}
    for cell in value["cells"]:
        best.setdefault(cell["options"]["clusters"], []).append(cell["criterion"])
    assert curve["values"] == pytest.approx([max(values) if None not in values else None for values in best.values()])
    drawn = marked(browser, "curves-drawn")
    assert len(drawn) == 1 and drawn[0] > 30
    refused = browser.run("Array.from(document.querySelectorAll('section')).find((s) => s.firstElementChild.textContent === 'Refused').innerText")
    assert "clusters=400, restarts=3" in refused and value["cells"][-1]["error"] in refused
    # The page of the final fit follows.
    labels = browser.run("coterieMap.then(({about}) => Array.from(about.arrays.find((a) => a.name === 'cluster').values))")
    assert labels == np.load(folder / "l.npy").tolist() and browser.run("document.querySelectorAll('.cards article').length") == 3
    assert browser.run("document.querySelectorAll('#charts-drawn canvas').length") >= 2
    assert complaints(browser) == [] and [url for url in requests(browser) if not url.startswith(("file:", "data:", "blob:"))] == []


def test_tune_page_draws_every_criterion(browser, page, tmp_path):
    choice = document("tune", "kmeans", page / "points.csv", "--label-column", "kind", "--grid", "k=1:5", "--select", "recommended",
                      "--report", tmp_path / "page.html")["choice"]
    browser.open(tmp_path / "page.html")
    heads, *rows = cells_of(browser, "choice")
    assert heads == ["k"] + [each["name"] for each in choice["criteria"]] and [row[0] for row in rows] == ["1", "2", "3 *", "4", "5"]
    drawn = marked(browser, "curves-drawn")
    assert len(drawn) == 7 and min(drawn) > 30
    assert len(cells_of(browser, "cells")) == 6
    assert complaints(browser) == []


def test_tune_page_without_cluster_grid_has_no_curve(browser, page, tmp_path):
    run("tune", "kmeans", page / "points.csv", "-k", 3, "--label-column", "kind", "--grid", "restarts=1:3",
        "--report", tmp_path / "page.html", "--quiet")
    browser.open(tmp_path / "page.html")
    assert len(cells_of(browser, "cells")) == 4 and browser.run("document.getElementById('curves')") is None
    assert complaints(browser) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("of", ["compared", "tuned"])
def test_search_pages_in_light_and_dark_mode(browser, request, of, scheme):
    folder, _ = request.getfixturevalue(of)
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    try:
        browser.open(folder / "page.html")
        browser.run("coterieMap.then(() => 0)")
        pairs = contrasts(browser)
        for name, ink, paper in pairs:
            assert contrast(ink, paper) >= 4.5, f"{name}: {ink} on {paper}"
        assert (luminance(pairs[0][2]) < 0.1) == (scheme == "dark")
    finally:
        browser.call("Emulation.setEmulatedMedia", features=[])


@pytest.mark.parametrize("of", ["compared", "tuned"])
def test_search_pages_without_scripts_and_printed(browser, request, of):
    folder, _ = request.getfixturevalue(of)
    text = (folder / "page.html").read_text()
    assert "<svg" in text and "<b>kind" not in text and "<i>kind" not in text and "</script>width" not in text
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(folder / "page.html")
        time.sleep(0.3)
        assert len(np.unique(browser.pixels().reshape(-1, 3), axis=0)) > 20
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)
    browser.open(folder / "page.html")
    browser.run("coterieMap.then(() => 0)")
    browser.call("Emulation.setEmulatedMedia", media="print")
    try:
        seen = browser.run("""(() => { const there = (e) => e.getClientRects().length > 0;
            return { drawn: Array.from(document.querySelectorAll('#map, .charts')).some(there),
                     picture: there(document.querySelector('#picture svg')),
                     tables: Array.from(document.querySelectorAll('table')).filter((t) => !t.closest('.charts')).map(there) }; })()""")
    finally:
        browser.call("Emulation.setEmulatedMedia", media="")
    assert seen["picture"] and not seen["drawn"] and len(seen["tables"]) >= 2 and all(seen["tables"])


def shows_the_picture(browser, why):
    assert browser.run("[document.getElementById('map').hidden, document.getElementById('picture').hidden]") == [True, False]
    assert browser.run("document.querySelector('#picture svg').getBoundingClientRect().height") > 100
    said = browser.run("document.getElementById('map-missing').textContent")
    assert "cannot be drawn here" in said and why in said


# How WebGL fails before the page is open: it is missing, an extension is missing, a call throws, or nothing is drawn.
BROKEN = {
    "none": ("const get = HTMLCanvasElement.prototype.getContext; HTMLCanvasElement.prototype.getContext = function (kind, ...more) {"
             " return kind.startsWith('webgl') ? null : get.call(this, kind, ...more); }", "WebGL is not available"),
    "no extensions": ("WebGLRenderingContext.prototype.getExtension = () => null", ""),
    "an error": ("WebGLRenderingContext.prototype.createProgram = () => { throw new Error('no programs'); }", "no programs"),
    "nothing drawn": ("CanvasRenderingContext2D.prototype.drawImage = () => undefined", "WebGL drew nothing"),
}


@pytest.mark.parametrize("how", BROKEN)
def test_picture_without_webgl(browser, page, how):
    source, why = BROKEN[how]
    script = browser.call("Page.addScriptToEvaluateOnNewDocument", source=f"(() => {{ {source} }})()")
    try:
        browser.open(page / "page.html")
        browser.run("coterieMap.catch(() => 0)")
        shows_the_picture(browser, why)
        assert browser.run("document.querySelectorAll('#charts-drawn canvas').length") > 0  # these need no WebGL
    finally:
        browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script["identifier"])


def test_picture_after_webgl_context_loss(browser, page):
    browser.open(page / "page.html")
    browser.run("""coterieMap.then(({plot}) => new Promise((done) => {
        const { canvas, regl } = plot.get('renderer');
        canvas.addEventListener('webglcontextlost', () => done(0));
        regl._gl.getExtension('WEBGL_lose_context').loseContext(); }))""")
    shows_the_picture(browser, "WebGL stopped")


def test_colours_differ_for_colour_blind_readers(browser, page):
    """Machado, Oliveira and Fernandes, A physiologically-based model for simulation of color vision deficiency, 2009; differences in CIELAB."""
    browser.open(page / "page.html")
    colours = browser.run("coterieMap.then(({about}) => about.colours)")
    assert len(set(colours)) == 8
    values = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in colours]) / 255
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    to_xyz = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]])
    eyes = {
        "all cones": np.eye(3),
        "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    }
    for name, seen in eyes.items():
        xyz = np.clip(linear @ np.array(seen).T, 0, 1) @ to_xyz.T / [0.95047, 1, 1.08883]
        f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
        lab = np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], axis=1)
        distance = np.linalg.norm(lab[:, None] - lab[None], axis=2) + 1000 * np.eye(len(lab))
        assert distance.min() > 12, name  # a difference of 2.3 is just noticeable


def test_map_of_many_rows_has_cluster_colours(browser, tmp_path):
    random = np.random.default_rng(0)
    np.save(tmp_path / "points.npy", random.normal(size=(201_000, 2)).astype(np.float32) + 6 * random.integers(2, size=(201_000, 1)))
    run("fit", "kmeans", tmp_path / "points.npy", "-k", 2, "--restarts", 1, "--report", tmp_path / "page.html", "--quiet")
    browser.open(tmp_path / "page.html")
    left, top, right, bottom = map(int, browser.run("""coterieMap.then(() => { const canvas = document.getElementById('map-canvas'); canvas.scrollIntoView();
        const r = canvas.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; })"""))
    time.sleep(0.5)
    seen = browser.pixels()[max(top, 0) + 2 : bottom - 2, left + 2 : right - 2].reshape(-1, 3).astype(int)
    for colour in ((0x00, 0x72, 0xB2), (0xE6, 0x9F, 0x00)):
        assert (abs(seen - colour).max(axis=1) < 10).mean() > 0.03, colour
