"""The page of a tagger in a browser. It shows the mentions, makes no requests, and can be corrected by mouse and keyboard.
The downloaded corrections adapt a better tagger."""

import json
import pathlib
import re
import time

import numpy as np
import pytest

from browser import Browser, complaints, contrast, key, luminance, requests
from support import document, run

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ENCODER = ROOT / "tests" / "ner" / "bert"
VOYAGES = ROOT / "data" / "voyages"
SUPPORT = [2, 16, 24, 26, 32]  # five random sentences with all three types


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("browser"))
    browser.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(browser.folder))
    yield browser
    browser.close()


def marked_sentences():
    """(text, [[begin, end, type], ..]) of every sentence of the voyages, with blanks between words; read without coterie."""
    out = []
    for block in (VOYAGES / "voyages.conll").read_text().strip().split("\n\n"):
        text, marks = "", []
        for line in block.split("\n"):
            word, tag = line.split("\t")
            text += " " if text else ""
            if tag.startswith("B-"):
                marks.append([len(text), len(text) + len(word), tag[2:]])
            elif tag.startswith("I-"):
                marks[-1][1] = len(text) + len(word)
            text += word
        out.append((text, marks))
    return out


def lines_of(sentences):
    return "".join(json.dumps({"text": text, "label": marks}) + "\n" for text, marks in sentences)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Forty raw sentences, five of them annotated, and the pages made from them."""
    folder = tmp_path_factory.mktemp("path")
    sentences = marked_sentences()
    (folder / "raw.txt").write_text("".join(text + "\n" for text, _ in sentences))
    whole, marks = "", []
    for text, own in sentences:
        marks += [[len(whole) + begin, len(whole) + end, kind] for begin, end, kind in own]
        whole += text + "\n"
    (folder / "gold.jsonl").write_text(lines_of([(whole, marks)]))
    (folder / "support.jsonl").write_text(lines_of([sentences[s] for s in SUPPORT]))
    return folder


def adapted(path, support):
    """F1 on all sentences of a tagger adapted from this support."""
    vectors = ["--vectors", VOYAGES / "voyages.npy", "--quiet"]
    run("ner", "adapt", support, "--other", path / "raw.txt", "--model-out", path / "tagger", *vectors)
    run("ner", "tag", path / "tagger", path / "raw.txt", "--out", path / "found.jsonl", "--report", path / "tag.html", *vectors)
    run("ner", "suggest", path / "tagger", path / "raw.txt", "--count", 8, "--report", path / "suggest.html", *vectors)
    return document("ner", "evaluate", path / "found.jsonl", path / "gold.jsonl", "--quiet")["micro"]["f1"]


def downloaded(browser, name="support.jsonl"):
    place = browser.folder / name
    place.unlink(missing_ok=True)
    browser.run("document.getElementById('mentions-download').click()")
    for _ in range(100):
        if place.exists() and place.stat().st_size > 0:
            break
        time.sleep(0.1)
    return place


def shown(browser):
    """(text, [(begin, end, type)], checked) of every sentence, as on the page, in code points."""
    told = browser.run("""Array.from(document.querySelectorAll('.sentence'), (place) => {
        const points = (text) => Array.from(text).length;
        const marks = Array.from(place.querySelectorAll('p mark'), (mark) => {
            const before = document.createRange();
            before.setStart(place.querySelector('p'), 0);
            before.setEndBefore(mark);
            const begin = points(before.toString());
            return [begin, begin + points(mark.textContent), mark.dataset.type];
        });
        return [place.querySelector('p').textContent, marks, place.querySelector('input').checked];
    })""")
    return [(text, [tuple(mark) for mark in marks], checked) for text, marks, checked in told]


def place_of(browser, selector):
    return browser.run(f"""(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{ block: 'center' }});
        const r = e.getClientRects()[0]; return [r.left, r.top, r.right, r.bottom]; }})()""")


def click(browser, selector):
    left, top, right, bottom = place_of(browser, selector)
    for kind in ("mousePressed", "mouseReleased"):
        browser.mouse(kind, (left + right) / 2, (top + bottom) / 2)


def test_corrections_on_the_page_improve_the_tagger(browser, path):
    before = adapted(path, path / "support.jsonl")
    known = dict(marked_sentences())
    first = {text for text, _ in (marked_sentences()[s] for s in SUPPORT)}
    browser.open(path / "suggest.html")
    suggested = browser.run("Array.from(document.querySelectorAll('.sentence > span'), (e) => e.textContent.includes('about'))")
    assert suggested == [True] * 8 + [False] * 32
    assert browser.run("document.getElementById('mentions-download').disabled") is True
    corrected = []
    for s, (text, found, _) in enumerate(shown(browser)):
        if text in first or len(corrected) == 3:
            continue
        paragraph = f"document.querySelectorAll('.sentence > p')[{s}]"
        words = [(match.start(), match.end()) for match in re.finditer(r"\S+", text)]
        browser.run(f"{paragraph}.focus()")
        for begin, end, _ in found:  # removes all mentions, then marks the right ones
            left, top, right, bottom = browser.run(f"""(() => {{ {paragraph}.scrollIntoView({{ block: 'center' }});
                const r = {paragraph}.querySelector('mark').getClientRects()[0]; return [r.left, r.top, r.right, r.bottom]; }})()""")
            for kind in ("mousePressed", "mouseReleased"):
                browser.mouse(kind, left + 8, (top + bottom) / 2)
            browser.run("document.getElementById('mentions-remove').click()")
        types = browser.run("JSON.parse(document.getElementById('mentions-about').textContent).types")
        for begin, end, kind in known[text]:
            inside = [w for w, (b, e) in enumerate(words) if b >= begin and e <= end]
            key(browser, "Escape", 27)
            key(browser, "Home", 36)
            while chosen(browser)[0] < inside[0]:
                key(browser, "ArrowRight", 39)
            for _ in inside[1:]:
                browser.call("Input.dispatchKeyEvent", type="keyDown", key="ArrowRight", code="ArrowRight", windowsVirtualKeyCode=39, modifiers=8)
                browser.call("Input.dispatchKeyEvent", type="keyUp", key="ArrowRight", code="ArrowRight", windowsVirtualKeyCode=39, modifiers=8)
            assert chosen(browser) == inside
            number = str(types.index(kind) + 1)
            key(browser, number, ord(number), number)
        if not found and not known[text]:
            browser.run(f"document.querySelectorAll('.sentence input')[{s}].click()")
        corrected.append(text)
    now = shown(browser)
    assert [text for text, _, checked in now if checked] == corrected
    assert all(found == [tuple(mark) for mark in known[text]] for text, found, checked in now if checked)
    place = downloaded(browser)
    lines = [json.loads(line) for line in place.read_text().splitlines()]
    assert [(line["text"], [[span["start"], span["end"], span["label"]] for span in line["spans"]]) for line in lines] == [(text, known[text]) for text in corrected]
    assert complaints(browser) == [] and [url for url in requests(browser) if not url.startswith(("file:", "blob:"))] == []
    (path / "more.jsonl").write_bytes((path / "support.jsonl").read_bytes() + place.read_bytes())
    assert adapted(path, path / "more.jsonl") > before + 0.05


def chosen(browser):
    return browser.run("Array.from(document.querySelectorAll('[data-word].chosen'), (word) => Number(word.dataset.word))")


def test_page_shows_the_tagged_mentions(browser, path):
    adapted(path, path / "support.jsonl")
    found = json.loads((path / "found.jsonl").read_text())
    browser.open(path / "tag.html")
    text = found["text"]
    expected = [(text[span["start"] : span["end"]], span["label"]) for span in found["spans"]]
    seen = browser.run("Array.from(document.querySelectorAll('.sentence'), (e) => [e.querySelector('span').textContent, "
                       "Array.from(e.querySelectorAll('mark'), (m) => [m.textContent, m.dataset.type, m.title, getComputedStyle(m).backgroundColor])])")
    assert [about for about, _ in seen[:6]] == [about for about, _ in seen[:5] if ", about " in about] + [seen[5][0]] and ", about" not in seen[5][0]
    in_order = sorted(seen, key=lambda one: int(re.match(r"line (\d+)", one[0])[1]))
    assert [int(re.match(r"line (\d+)", one[0])[1]) for one in in_order] == list(range(1, 41))
    marks = [mark for _, own in in_order for mark in own]
    assert [(words, kind) for words, kind, _, _ in marks] == expected
    opacity = lambda colour: float(re.match(r"rgba\(.*, ([\d.]+)\)", colour)[1])
    for (_, kind, title, colour), span in zip(marks, found["spans"]):
        assert re.match(rf"{kind}, probability {span['probability']:.2f}; next (no mention|PERSON|PLACE|SHIP), 0\.\d\d$", title)
        assert opacity(colour) == pytest.approx(0.08 + 0.37 * span["probability"], abs=0.01)
    assert len({re.match(r"rgba\((.*), [\d.]+\)", colour)[1] for _, _, _, colour in marks}) == 3
    assert "All 40 sentences are shown" in browser.run("document.querySelector('p.sub').textContent")
    # For browsers without scripts, the file has the same marks.
    written = (path / "tag.html").read_text()
    assert len(re.findall(r"<mark [^>]*title=", written)) == len(expected)
    assert complaints(browser) == [] and [url for url in requests(browser) if not url.startswith("file:")] == []


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Text that would end the script or the page, runs from right to left, or has more UTF-16 units than code points."""
    folder = tmp_path_factory.mktemp("hostile")
    text = "\u00e9\U0001f600 plain </script><script>stop</script> \"text\" & 'words' <!-- \u05e9\u05dc\u05d5\u05dd \U0001f600\U0001f600 plain text."
    other = "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd plain words"
    (folder / "support.jsonl").write_text(lines_of([("plain text", [[0, 5, "<b>A&"]]), ("words stop", [[0, 5, "B"]])]))
    (folder / "hostile.jsonl").write_text("".join(json.dumps({"text": each}) + "\n" for each in (text, other)))
    run("ner", "adapt", folder / "support.jsonl", "--vectors", ENCODER, "--method", "nearest-word", "--model-out", folder / "t", "--quiet")
    run("ner", "tag", folder / "t", folder / "hostile.jsonl", "--report", folder / "page.html", "--out", folder / "found.jsonl", "--quiet")
    return folder, text, other


def test_hostile_text_on_the_page(browser, hostile):
    folder, text, other = hostile
    browser.open(folder / "page.html")
    assert complaints(browser) == []
    found = {line["text"]: line for line in map(json.loads, (folder / "found.jsonl").read_text().splitlines())}
    for piece, marks, _ in shown(browser):
        line = next(line for line in found.values() if piece in line["text"])
        start = line["text"].index(piece)
        assert marks == [(span["start"] - start, span["end"] - start, span["label"]) for span in line["spans"]
                         if start <= span["start"] < start + len(piece)]
    assert "".join(piece.replace(" ", "") for piece, _, _ in sorted(shown(browser), key=lambda one: (text + other).index(one[0]))) == (text + other).replace(" ", "")
    # The first word of the right-to-left sentence gets a new type. It is selected with the arrow key that points forward there.
    s = next(s for s, (piece, _, _) in enumerate(shown(browser)) if piece == other)
    browser.run(f"document.querySelectorAll('.sentence > p')[{s}].focus()")
    key(browser, "Home", 36)
    key(browser, "ArrowLeft", 37)
    assert chosen(browser)[0] >= 1
    key(browser, "Enter", 13, "\r")
    browser.run("""(() => { const other = document.querySelector('#mentions-menu input'); other.value = 'two words';
        other.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' })); })()""")
    assert "without blanks" in browser.run("document.getElementById('mentions-said').textContent")
    browser.run("""(() => { const other = document.querySelector('#mentions-menu input'); other.value = '</script>"C';
        other.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' })); })()""")
    # A sentence with emoji is marked as checked, without changes.
    t = next(t for t, (piece, _, _) in enumerate(shown(browser)) if "\U0001f600" in piece and "plain" in piece)
    browser.run(f"document.querySelectorAll('.sentence input')[{t}].checked || document.querySelectorAll('.sentence input')[{t}].click()")
    expected = {piece: marks for piece, marks, checked in shown(browser) if checked}
    place = downloaded(browser)
    lines = [json.loads(line) for line in place.read_text(encoding="utf-8").splitlines()]
    assert {line["text"]: [(span["start"], span["end"], span["label"]) for span in line["spans"]] for line in lines} == expected
    assert any(label == '</script>"C' for marks in expected.values() for _, _, label in marks)
    for line in lines:
        for span in line["spans"]:
            piece = line["text"][span["start"] : span["end"]]
            assert piece and piece == piece.strip()
    # The downloaded file is valid input and has the same mentions.
    both = folder / "both.jsonl"
    both.write_bytes((folder / "support.jsonl").read_bytes() + place.read_bytes())
    run("ner", "adapt", both, "--vectors", ENCODER, "--method", "nearest-word", "--model-out", folder / "u", "--quiet")
    assert document("ner", "evaluate", place, place, "--quiet")["micro"]["right"] == sum(map(len, expected.values()))
    assert complaints(browser) == []


def test_mouse_selects_words(browser, path):
    browser.open(path / "tag.html")
    s, (text, marks, _) = next((s, one) for s, one in enumerate(shown(browser)) if not any(begin < 20 for begin, _, _ in one[1]))
    browser.run(f"document.querySelectorAll('.sentence')[{s}].id = 'here'")
    left, top, _, bottom = place_of(browser, "#here [data-word='1']")
    _, _, right, _ = place_of(browser, "#here [data-word='2']")
    browser.mouse("mousePressed", left + 1, (top + bottom) / 2)
    browser.mouse("mouseMoved", (left + right) / 2, (top + bottom) / 2)
    browser.mouse("mouseMoved", right - 1, (top + bottom) / 2)
    browser.mouse("mouseReleased", right - 1, (top + bottom) / 2)
    assert chosen(browser) == [1, 2]
    assert browser.run("document.getElementById('mentions-menu').hidden") is False
    browser.run("document.querySelector('#mentions-menu button').click()")
    words = [(match.start(), match.end()) for match in re.finditer(r"\S+", text)]
    kind = browser.run("JSON.parse(document.getElementById('mentions-about').textContent).types[0]")
    now = shown(browser)[s]
    assert now == (text, [(words[1][0], words[2][1], kind), *marks], True)
    # A click selects the mention, and it gets another type. Escape closes the menu and changes nothing.
    click(browser, "#here mark [data-word]")
    assert chosen(browser) == [1, 2]
    browser.run("document.querySelectorAll('#mentions-menu button')[1].click()")
    assert shown(browser)[s][1][0][2] != kind
    click(browser, "#here mark [data-word]")
    before = shown(browser)[s]
    key(browser, "Escape", 27)
    assert browser.run("document.getElementById('mentions-menu').hidden") is True and shown(browser)[s] == before
    assert browser.run("document.activeElement === document.querySelector('#here p')")
    downloaded(browser)
    assert complaints(browser) == []


def test_page_downloads_conll_columns(browser, path, tmp_path):
    bare = tmp_path / "bare.conll"
    bare.write_text("".join(line.split("\t")[0] + "\n" for line in (VOYAGES / "voyages.conll").read_text().split("\n")))
    run("ner", "tag", path / "tagger", bare, "--vectors", VOYAGES / "voyages.npy", "--report", tmp_path / "page.html", "--out", tmp_path / "found.conll", "--quiet")
    browser.open(tmp_path / "page.html")
    browser.run("document.querySelectorAll('.sentence input').forEach((box) => box.click())")
    place = downloaded(browser, "support.conll")
    blocks = lambda file: sorted(file.read_text().strip().split("\n\n"))
    assert blocks(place) == blocks(tmp_path / "found.conll")
    run("ner", "adapt", place, "--other", VOYAGES / "voyages.conll", "--vectors", VOYAGES / "voyages.npy", "--method", "k-means", "--quiet")
    assert complaints(browser) == []


@pytest.mark.slow
def test_page_shows_only_part_of_a_large_corpus(browser, tmp_path):
    (tmp_path / "s.conll").write_text("plain B-A\nwords O\n\nstop O\ntext B-A\n")
    run("ner", "adapt", tmp_path / "s.conll", "--vectors", ENCODER, "--model-out", tmp_path / "t", "--quiet")
    (tmp_path / "large.txt").write_text("word " * 2001 + "\n" + "Plain words stop.\n" * 1200)
    run("ner", "tag", tmp_path / "t", tmp_path / "large.txt", "--report", tmp_path / "page.html", "--quiet")
    browser.open(tmp_path / "page.html")
    assert browser.run("document.querySelectorAll('.sentence').length") == 1000
    told = browser.run("document.querySelector('p.sub').textContent")
    assert "1,000 of 1,201 sentences are shown: those that are suggested, and the first of the others. 1 is left out for having more than 2,000 words." in told
    (tmp_path / "long.txt").write_text(("word " * 1999 + "end\n") * 80)
    run("ner", "tag", tmp_path / "t", tmp_path / "long.txt", "--report", tmp_path / "page.html", "--quiet")
    assert "50 of 80 sentences" in (tmp_path / "page.html").read_text()
    assert complaints(browser) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_in_light_and_dark_mode(browser, path, scheme):
    browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
    try:
        browser.open(path / "tag.html")
        pairs = browser.run("""(() => { const rgb = (text) => { const c = text.match(/[\\d.]+/g).map(Number); return c.length === 3 ? [...c, 1] : c; };
            const behind = (e) => { const layers = []; for (; e; e = e.parentElement) { layers.push(rgb(getComputedStyle(e).backgroundColor)); if (layers.at(-1)[3] === 1) break; }
                return layers.reverse().reduce((below, [r, g, b, a]) => [r, g, b].map((c, i) => a * c + (1 - a) * below[i]), [0, 0, 0]); };
            return Array.from(document.querySelectorAll('h1, h2, p, mark, label, .sentence > span, b, button'), (e) => [e.tagName, rgb(getComputedStyle(e).color).slice(0, 3), behind(e)]); })()""")
        for name, ink, paper in pairs:
            if name != "BUTTON":  # disabled
                assert contrast(ink, paper) >= 4.5, f"{name}: {ink} on {paper}"
        assert (luminance(pairs[0][2]) < 0.1) == (scheme == "dark")
    finally:
        browser.call("Emulation.setEmulatedMedia", features=[])


def test_page_printed_and_without_scripts(browser, path):
    browser.open(path / "tag.html")
    browser.call("Emulation.setEmulatedMedia", media="print")
    try:
        there = browser.run("['#correct', '.sentence > label', '.sentence > p', 'mark'].map((each) => document.querySelector(each).getClientRects().length > 0)")
    finally:
        browser.call("Emulation.setEmulatedMedia", media="")
    assert there == [False, False, True, True]
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(path / "tag.html")
        time.sleep(0.3)
        assert len(np.unique(browser.pixels().reshape(-1, 3), axis=0)) > 20, "the text and its colours"
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


def test_controls_have_names_and_visible_focus(browser, path):
    browser.open(path / "tag.html")
    assert browser.run("Array.from(document.querySelectorAll('input, select, button')).filter((e) => !(e.closest('label') || e.textContent.trim() || e.ariaLabel)).length") == 0
    key(browser, "Tab", 9)
    assert browser.run("document.activeElement.matches('.sentence > p')")
    assert browser.run("(() => { const s = getComputedStyle(document.activeElement); return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 2; })()")
    key(browser, "Tab", 9)
    assert browser.run("document.activeElement.matches('.sentence > label > input')")


def test_report_name_and_folder_are_checked(path, tmp_path):
    done = run("ner", "tag", path / "tagger", path / "raw.txt", "--vectors", VOYAGES / "voyages.npy", "--report", tmp_path / "page.txt", "--quiet", code=2)
    assert "--report" in done.err and ".html" in done.err
    done = run("ner", "tag", path / "tagger", path / "raw.txt", "--vectors", VOYAGES / "voyages.npy", "--report", tmp_path / "none" / "page.html", "--quiet", code=1)
    assert str(tmp_path / "none") in done.err and list(tmp_path.iterdir()) == []
