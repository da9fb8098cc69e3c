// Corrects the mentions of a page. The page also has its text and mentions as JSON, with offsets in code points. Every
// change draws the sentence again. The reader chooses words with the mouse or arrow keys, gives them a type in a menu,
// and downloads the checked sentences.
(() => {
  const element = (id) => document.getElementById(id);
  const about = JSON.parse(element("mentions-about").textContent);
  const types = about.types;
  const sentences = about.sentences.map(({ text, words, mentions }) => ({
    points: Array.from(text),
    words: Array.from({ length: words.length / 2 }, (_, w) => [words[2 * w], words[2 * w + 1]]),
    mentions: mentions.map(([begin, end, type, sure, title]) => ({ begin, end, type, sure, title })),
    checked: false,
  }));
  const places = Array.from(document.querySelectorAll(".sentence"));
  const menu = element("mentions-menu");
  let chosen = null; // {s, anchor, head}: words of sentence s, including both ends
  let saved = true;

  const ends = () => [Math.min(chosen.anchor, chosen.head), Math.max(chosen.anchor, chosen.head) + 1];
  const mentionAt = (s, w) => sentences[s].mentions.find(({ begin, end }) => begin <= w && w < end);
  const made = (name, text, attributes = {}) => {
    const out = document.createElement(name);
    if (text) out.textContent = text;
    for (const [key, value] of Object.entries(attributes)) out.setAttribute(key, value);
    return out;
  };
  const countText = (n, one, more) => `${n.toLocaleString("en")} ${n === 1 ? one : more}`;

  function draw(s) {
    const { points, words, mentions, checked } = sentences[s];
    const between = (begin, end) => points.slice(begin, end).join("");
    const [first, last] = chosen && chosen.s === s ? ends() : [0, 0];
    const paragraph = places[s].querySelector("p");
    const drawn = [];
    let holder = null;
    let at = 0;
    words.forEach(([begin, end], w) => {
      const mention = mentionAt(s, w);
      const gap = document.createTextNode(between(at, begin));
      if (mention && mention.begin < w) holder.append(gap);
      else drawn.push(gap);
      if (mention && mention.begin === w) {
        holder = made("mark", "", { class: `t${mention.type % about.colours}`, "data-type": types[mention.type], title: mention.title });
        holder.style.setProperty("--Sure", mention.sure);
        drawn.push(holder);
      }
      const word = made("span", between(begin, end), { "data-word": w });
      if (w >= first && w < last) word.className = "chosen";
      if (mention) holder.append(word);
      else drawn.push(word);
      at = end;
    });
    paragraph.replaceChildren(...drawn);
    places[s].classList.toggle("checked", checked);
    places[s].querySelector("input").checked = checked;
  }

  function say(text) {
    const count = sentences.filter(({ checked }) => checked).length;
    element("mentions-download").disabled = count === 0;
    element("mentions-count").textContent = countText(count, "sentence is checked", "sentences are checked");
    if (text !== undefined) element("mentions-said").textContent = text;
  }

  function choose(s, anchor, head) {
    const before = chosen;
    chosen = s === null ? null : { s, anchor, head };
    if (before && before.s !== s) draw(before.s);
    if (!chosen) return before && draw(before.s);
    draw(s);
    const [begin, end] = ends();
    const mention = mentionAt(s, begin);
    const { points, words } = sentences[s];
    say(mention && mention.end >= end ? mention.title : points.slice(words[begin][0], words[end - 1][1]).join(""));
  }

  function check(s, checked) {
    sentences[s].checked = checked;
    saved = false;
    draw(s);
    say();
  }

  // The chosen words become a mention of this type (-1: no mention). Mentions that overlap them are removed.
  function give(type) {
    if (!chosen) return;
    const { s } = chosen;
    const [begin, end] = ends();
    const sentence = sentences[s];
    sentence.mentions = sentence.mentions.filter((one) => one.end <= begin || one.begin >= end);
    if (type >= 0) sentence.mentions.push({ begin, end, type, sure: 1, title: `${types[type]}, marked by you` });
    close();
    check(s, true);
    choose(s, begin, end - 1);
    places[s].querySelector("p").focus();
  }

  function typeNamed(name) {
    if (!types.includes(name)) types.push(name);
    return types.indexOf(name);
  }

  function close() {
    menu.hidden = true;
  }

  function open() {
    const { s } = chosen;
    const [begin, end] = ends();
    const touched = sentences[s].mentions.filter((one) => one.end > begin && one.begin < end);
    const rows = touched.map(({ title }) => made("p", title));
    types.forEach((name, type) => {
      const button = made("button", type < 9 ? `${type + 1} ${name}` : name, { type: "button", class: `t${type % about.colours}` });
      button.addEventListener("click", () => give(type));
      rows.push(button);
    });
    if (touched.length) {
      const button = made("button", "no mention (Delete)", { type: "button", id: "mentions-remove" });
      button.addEventListener("click", () => give(-1));
      rows.push(button);
    }
    const other = made("input", "", { placeholder: "another type", "aria-label": "another type, a word without blanks" });
    other.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Escape") leave();
      if (event.key !== "Enter") return;
      const name = other.value.trim();
      if (name && !/\s/u.test(name)) give(typeNamed(name));
      else say("a type is a word without blanks");
    });
    rows.push(other);
    menu.replaceChildren(...rows);
    menu.hidden = false;
    const word = places[s].querySelector(`[data-word="${end - 1}"]`).getBoundingClientRect();
    menu.style.left = `${Math.max(8, Math.min(word.left, document.documentElement.clientWidth - menu.offsetWidth - 8)) + scrollX}px`;
    menu.style.top = `${word.bottom + 6 + scrollY}px`;
    menu.querySelector("button").focus();
  }

  function leave() {
    const s = chosen?.s;
    close();
    if (s !== undefined) places[s].querySelector("p").focus();
  }

  // Handles the keys that change mentions. Returns true if this key is one of them.
  function acts(event) {
    if (/^[1-9]$/.test(event.key) && event.key <= types.length) give(event.key - 1);
    else if (event.key === "Delete" || event.key === "Backspace") give(-1);
    else return false;
    return true;
  }

  function keyInSentence(s, event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const last = sentences[s].words.length - 1;
    const head = chosen && chosen.s === s ? chosen.head : -1;
    const forward = getComputedStyle(event.currentTarget).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    let to = null;
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") to = head < 0 ? 0 : head + (event.key === forward ? 1 : -1);
    if (event.key === "Home") to = 0;
    if (event.key === "End") to = last;
    if (to !== null) {
      to = Math.max(0, Math.min(last, to));
      const mention = mentionAt(s, to);
      if (event.shiftKey && head >= 0) choose(s, chosen.anchor, to);
      else if (mention && to >= head) choose(s, mention.begin, mention.end - 1); // moves over a whole mention at once
      else if (mention) choose(s, mention.end - 1, mention.begin);
      else choose(s, to, to);
    } else if (head < 0) {
      return;
    } else if (event.key === "Enter" || event.key === " ") {
      open();
    } else if (event.key === "Escape") {
      choose(null);
    } else if (!acts(event)) {
      return;
    }
    event.preventDefault();
  }

  // The words that a selection with the mouse overlaps.
  function wordsSelected(s) {
    const selection = getSelection();
    if (selection.rangeCount === 0 || selection.isCollapsed) return [];
    const range = selection.getRangeAt(0);
    const touched = (word) => {
      const own = document.createRange();
      own.selectNodeContents(word.firstChild);
      return range.compareBoundaryPoints(Range.START_TO_END, own) > 0 && range.compareBoundaryPoints(Range.END_TO_START, own) < 0;
    };
    return Array.from(places[s].querySelectorAll("[data-word]")).filter(touched).map((word) => Number(word.dataset.word));
  }

  document.addEventListener("mouseup", (event) => {
    if (event.button !== 0 || menu.contains(event.target)) return;
    const place = event.target.closest?.(".sentence > p")?.parentElement;
    if (!place) return close();
    const s = places.indexOf(place);
    const words = wordsSelected(s);
    const mark = event.target.closest("mark");
    const word = event.target.closest("[data-word]") ?? mark?.querySelector("[data-word]");
    getSelection().removeAllRanges();
    if (words.length > 0) {
      choose(s, words[0], words[words.length - 1]);
    } else if (word) {
      const w = Number(word.dataset.word);
      const { begin, end } = mentionAt(s, w) ?? { begin: w, end: w + 1 };
      choose(s, begin, end - 1);
    } else {
      return close();
    }
    open();
  });

  menu.addEventListener("keydown", (event) => {
    const buttons = Array.from(menu.querySelectorAll("button, input"));
    const at = buttons.indexOf(document.activeElement);
    if (event.key === "Escape") leave();
    else if (event.key === "ArrowDown" || event.key === "ArrowRight") buttons[(at + 1) % buttons.length].focus();
    else if (event.key === "ArrowUp" || event.key === "ArrowLeft") buttons[(at + buttons.length - 1) % buttons.length].focus();
    else if (!acts(event)) return;
    event.preventDefault();
  });

  // The text of the download: JSON lines with offsets in code points, or CoNLL columns.
  function support() {
    const asked = sentences.filter(({ checked }) => checked);
    const sorted = (mentions) => mentions.slice().sort((a, b) => a.begin - b.begin);
    if (about.columns)
      return asked.map(({ points, words, mentions }) => words.map(([begin, end], w) => {
        const mention = mentions.find((one) => one.begin <= w && w < one.end);
        return `${points.slice(begin, end).join("")}\t${mention ? (mention.begin === w ? "B-" : "I-") + types[mention.type] : "O"}\n`;
      }).join("") + "\n").join("");
    return asked.map(({ points, words, mentions }) => JSON.stringify({
      text: points.join(""),
      spans: sorted(mentions).map(({ begin, end, type }) => ({ start: words[begin][0], end: words[end - 1][1], label: types[type] })),
    }) + "\n").join("");
  }

  element("mentions-download").addEventListener("click", () => {
    const link = made("a", "", { download: about.columns ? "support.conll" : "support.jsonl" });
    link.href = URL.createObjectURL(new Blob([support()], { type: "text/plain" }));
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    saved = true;
    say(`written: ${link.download}`);
  });
  addEventListener("beforeunload", (event) => {
    if (!saved) event.preventDefault();
  });

  places.forEach((place, s) => {
    const label = made("label", " right as it stands");
    const box = made("input", "", { type: "checkbox" });
    box.addEventListener("change", () => check(s, box.checked));
    label.prepend(box);
    place.append(label);
    const paragraph = place.querySelector("p");
    paragraph.tabIndex = 0;
    paragraph.setAttribute("aria-describedby", "mentions-help");
    paragraph.addEventListener("keydown", (event) => keyInSentence(s, event));
    draw(s);
  });
  for (const id of ["correct", "mentions-help"]) element(id).hidden = false;
  say();
})();
