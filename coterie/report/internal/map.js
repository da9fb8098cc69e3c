// The map of a page: opens the packed arrays, draws the points with regl-scatterplot, and keeps the labels that a person
// gives. Everything it needs is in the page; without WebGL the picture below it stays.
(() => {
  const element = (id) => document.getElementById(id);
  const root = element("map");
  const about = JSON.parse(element("map-about").textContent);
  const n = about.rows;

  async function unpack() {
    const text = atob(element("map-data").textContent.trim());
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
    element("map-data").remove();
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const buffer = await new Response(stream).arrayBuffer();
    let at = 0;
    for (const array of about.arrays) {
      const Type = { f32: Float32Array, u16: Uint16Array, i32: Int32Array }[array.type];
      array.values = new Type(buffer, at, n);
      at += (array.values.byteLength + 3) & ~3;
    }
  }

  // A number of an array in its own units.
  const value = (array, i) =>
    array.low === undefined ? array.values[i] : array.low + (array.values[i] / 65535) * (array.high - array.low);
  const text = (number) => (Number.isInteger(number) ? String(number) : Number(number.toPrecision(6)).toString());

  function scaled(array) {
    let low = Infinity, high = -Infinity;
    for (let i = 0; i < n; ++i) {
      const v = array.values[i];
      if (v < low) low = v;
      if (v > high) high = v;
    }
    const width = high > low ? high - low : 1;
    const out = new Float32Array(n);
    for (let i = 0; i < n; ++i) out[i] = (array.values[i] - low) / width;
    return out;
  }

  // Dark violet to yellow, as even in brightness for every eye (cividis, coarsely).
  const ramp = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"];

  async function start() {
    await unpack();
    const byName = (name) => about.arrays.find((array) => array.name === name);
    const clusters = byName("cluster");
    const canvas = element("map-canvas");
    const box = canvas.parentElement;
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const plot = createScatterplot.default({
      canvas, width: "auto", height: "auto",
      backgroundColor: dark ? "#0f172a" : "#ffffff",
      pointSize: n > 200000 ? 1.5 : n > 20000 ? 3 : 6, opacity: n > 200000 ? 0.5 : 0.8,
      pointSizeSelected: 2, pointOutlineWidth: 1,
      lassoOnLongPress: true, lassoInitiator: false, performanceMode: n > 200000,
      spatialIndexUseWorker: false,  // its worker, which it takes from a million points on, never answers in the minified script
      pointColorActive: dark ? "#ffffff" : "#111827", pointColorHover: dark ? "#ffffff" : "#111827",
      lassoColor: dark ? "#ffffff" : "#111827",
    });
    if (!plot.isSupported) throw new Error("WebGL is missing what the map needs");

    const axes = about.arrays.filter((array) => array.axis || array.column);
    const options = (select, arrays, chosen) => {
      for (const array of arrays) select.add(new Option(array.title || array.name, array.name, false, array.name === chosen));
    };
    options(element("map-x"), axes, axes[0].name);
    options(element("map-y"), axes, (axes[1] || axes[0]).name);
    options(element("map-colour"), about.arrays.filter((array) => !array.axis), "cluster");

    let filtered = null;  // rows shown; null: all
    let selected = [];
    const draw = async () => {
      const x = scaled(byName(element("map-x").value)), y = scaled(byName(element("map-y").value));
      for (let i = 0; i < n; ++i) {
        x[i] = 1.9 * x[i] - 0.95;
        y[i] = 1.9 * y[i] - 0.95;
      }
      const colour = byName(element("map-colour").value);
      const kinds = colour.names;
      const z = kinds ? Float32Array.from(colour.values, (v) => (v < 0 ? kinds.length : v)) : scaled(colour);
      plot.set({ colorBy: "valueA", pointColor: kinds ? [...kinds.map((_, j) => about.colours[j % about.colours.length]), "#9ca3af"] : ramp });
      await plot.draw({ x, y, valueA: z }, { zDataType: kinds ? "categorical" : "continuous" });
      if (filtered) await plot.filter(filtered, { preventEvent: true });
      if (selected.length) plot.select(selected, { preventEvent: true });
      element("map-key").replaceChildren(
        ...(kinds
          ? kinds.slice(0, 24).map((name, j) => {
              const item = document.createElement("span");
              item.textContent = name;
              item.style.setProperty("--colour", about.colours[j % about.colours.length]);
              return item;
            })
          : [document.createTextNode(`${colour.title || colour.name}: dark low, bright high`)]));
    };

    const told = (i) =>
      `row ${i + 1}: ` +
      about.arrays
        .filter((array) => !array.axis)
        .map((array) => `${array.title || array.name} ${array.names ? array.names[array.values[i]] ?? "not known" : text(value(array, i))}`)
        .concat(given[i] ? [`label ${given[i]}`] : [])
        .join(", ");
    const given = {};  // row: label
    const say = (words) => (element("map-said").textContent = words);
    const choose = (rows, show) => {
      selected = Array.from(rows);
      if (show) selected.length ? plot.select(selected, { preventEvent: true }) : plot.deselect({ preventEvent: true });
      say(selected.length === 1 ? told(selected[0]) : `${selected.length} points selected`);
    };
    plot.subscribe("pointOver", (i) => say(told(i)));
    plot.subscribe("select", ({ points }) => choose(points, false));
    plot.subscribe("deselect", () => choose([], false));

    for (const id of ["map-x", "map-y", "map-colour"]) element(id).addEventListener("change", draw);
    element("map-lasso").addEventListener("click", (event) => {
      const lasso = plot.get("mouseMode") !== "lasso";
      plot.set({ mouseMode: lasso ? "lasso" : "panZoom" });
      event.target.setAttribute("aria-pressed", lasso);
    });
    element("map-whole").addEventListener("click", () => plot.reset());
    const filter = element("map-filter");
    filter.append(new Option("all clusters", ""), ...clusters.names.map((name, j) => new Option(`cluster ${name}`, j)));
    const rowsWhere = (test) => {
      const out = [];
      for (let i = 0; i < n; ++i) if (test(i)) out.push(i);
      return out;
    };
    filter.addEventListener("change", async () => {
      filtered = filter.value === "" ? null : rowsWhere((i) => clusters.values[i] === Number(filter.value));
      if (filtered) await plot.filter(filtered);
      else plot.unfilter();
    });
    element("map-search").addEventListener("change", (event) => {
      const wanted = event.target.value.trim();
      const row = Number(wanted);
      if (Number.isInteger(row) && row >= 1 && row <= n) return choose([row - 1], true);
      const named = about.arrays.filter((array) => array.names && array.names.includes(wanted));
      if (!named.length) return say(`nothing is called ${wanted}; rows are 1 to ${n}`);
      choose(rowsWhere((i) => named.some((array) => array.names[array.values[i]] === wanted)), true);
    });
    element("map-give").addEventListener("click", () => {
      const label = element("map-label").value.trim();
      if (!selected.length || !label) return say("select points with the lasso or the search, and write a label");
      for (const i of selected) given[i] = label;
      say(`${selected.length} points have the label ${label}; ${Object.keys(given).length} have one`);
    });
    element("map-download").addEventListener("click", () => {
      const lines = ["label"];
      for (let i = 0; i < n; ++i) lines.push(`"${(given[i] || "").replaceAll('"', '""')}"`);
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/csv" }));
      link.download = "known.csv";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
    canvas.addEventListener("keydown", (event) => {
      const [cx, cy] = plot.get("cameraTarget"), view = plot.get("cameraDistance");
      const moves = { ArrowLeft: [-0.2, 0], ArrowRight: [0.2, 0], ArrowUp: [0, 0.2], ArrowDown: [0, -0.2] };
      const zoom = { "+": 0.8, "-": 1.25 }[event.key];
      if (moves[event.key]) plot.set({ cameraTarget: [cx + moves[event.key][0] * view, cy + moves[event.key][1] * view] });
      else if (zoom) plot.set({ cameraDistance: view * zoom });
      else return;
      event.preventDefault();
    });

    root.hidden = false;  // the canvas needs a size before it is drawn on
    await new Promise(requestAnimationFrame);
    await draw();
    element("picture").hidden = true;
    element("picture").classList.add("printed");
    say(`${n.toLocaleString("en")} points. Drag to move, scroll to zoom, hold or press Lasso to select.`);
    return { plot, about, selected: () => selected };
  }

  globalThis.coterieMap = start();
  globalThis.coterieMap.catch((error) => {
    root.hidden = true;
    element("picture").hidden = false;
    element("map-missing").textContent = `The map cannot be drawn here (${error.message}); this is a picture of some of the points.`;
  });
})();
