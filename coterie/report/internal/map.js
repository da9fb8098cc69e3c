// The map of a page: unpacks the arrays, draws the points with regl-scatterplot, and stores the labels that the user
// gives. Everything it needs is in the page. Without WebGL, the picture below it remains.
(() => {
  const element = (id) => document.getElementById(id);
  const root = element("map");
  const about = JSON.parse(element("map-about").textContent);
  const n = about.rows;

  const all = n + about.left_out.length;  // rows that are left out are not shown, but row numbers count them
  const numbers = new Int32Array(n);
  for (let i = 0, out = 0; i < n; ++i) {
    while (about.left_out[out] === i + out) ++out;
    numbers[i] = i + out;
  }

  function bytesOf(base64) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
    const text = atob(base64), bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
    return bytes;
  }

  async function unpack() {
    const bytes = bytesOf(element("map-data").textContent.trim());
    element("map-data").remove();
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    const buffer = await new Response(stream).arrayBuffer();
    let at = 0;
    for (const array of about.arrays) {
      const Type = { f32: Float32Array, u16: Uint16Array, i32: Int32Array, text: Uint8Array }[array.type];
      array.values = new Type(buffer, at, array.type === "text" ? array.bytes : n);
      at += (array.values.byteLength + 3) & ~3;
    }
  }

  const lines = (array) => (array.lines ??= new TextDecoder().decode(array.values).split("\n"));

  // An entry of an array in the array's own units.
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

  // Dark violet to yellow, with even steps of brightness for all readers (a coarse cividis).
  const ramp = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"];

  async function start() {
    await unpack();
    const byName = (name) => about.arrays.find((array) => array.name === name);
    const clusters = byName("cluster");
    const canvas = element("map-canvas");
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const many = n > 200000;
    const background = dark ? "#0f172a" : "#ffffff";
    // Without antialiasing, a million points are drawn four times as fast. The renderer copies from the canvas that it
    // is given, whatever canvas regl draws on, so both must be the same.
    const drawing = document.createElement("canvas");
    const gl = drawing.getContext("webgl", { antialias: !many, preserveDrawingBuffer: true });
    if (!gl) throw new Error("WebGL is not available");
    const regl = createREGL({ gl, extensions: ["OES_texture_float", "OES_element_index_uint"],
      optionalExtensions: ["WEBGL_color_buffer_float", "EXT_float_blend"] });
    const renderer = createScatterplot.createRenderer({ regl, canvas: drawing });
    const resize = () => renderer.resize();
    resize();
    for (const event of ["resize", "orientationchange"]) addEventListener(event, resize);
    drawing.addEventListener("webglcontextlost", () => showPicture(new Error("WebGL stopped")));
    const plot = createScatterplot.default({
      canvas, renderer, width: "auto", height: "auto",
      backgroundColor: background,
      pointSize: many ? 1.5 : n > 20000 ? 3 : 6, opacity: many ? 1 : 0.8,  // performanceMode does not blend, so an opacity below 1 would change colours
      pointSizeSelected: 2, pointOutlineWidth: 1,
      lassoOnLongPress: true, lassoInitiator: false, performanceMode: many, cameraIsFixed: many,
      spatialIndexUseWorker: false,  // the worker, used from a million points on, never answers in the minified script
      pointColorActive: dark ? "#ffffff" : "#111827", pointColorHover: dark ? "#ffffff" : "#111827",
      lassoColor: dark ? "#ffffff" : "#111827",
    });
    if (!plot.isSupported) throw new Error("WebGL is missing what the map needs");

    // Drawing so many points is slow. While the map moves, a part of them is drawn on top; at rest, all are drawn.
    let moving = null;  // the plot of a part; made after the first drawing of all points
    const mostMoving = 30000;
    let resting = 0, drawnMoving = 0;
    const camera = () => ({ cameraTarget: Array.from(plot.get("cameraTarget")), cameraDistance: plot.get("cameraDistance") });
    let view = null;  // of the moving map
    let held = false;  // whether the map is being dragged
    const look = (to) => {
      if (!many) return plot.set(to);
      if (!moving) drawMoving();
      view = { ...(view || camera()), ...to };
      element("map-moving").style.visibility = "visible";
      moving.set(view);
      clearTimeout(resting);
      resting = setTimeout(function rest() {
        if (held) return (resting = setTimeout(rest, 250));
        plot.set(view);
        view = null;
        // After two frames, all points are drawn.
        requestAnimationFrame(() => requestAnimationFrame(() => { if (!view) element("map-moving").style.visibility = "hidden"; }));
      }, 250);
    };
    const drawMoving = () => {
      if (!many) return;
      if (!moving) {
        moving = createScatterplot.default({
          canvas: element("map-moving"), renderer, width: "auto", height: "auto", backgroundColor: background,
          pointSize: 2.5, opacity: 1, performanceMode: true, cameraIsFixed: true, spatialIndexUseWorker: false,
        });
        moving.subscribe("draw", () => ++drawnMoving);
      }
      const { points, kinds } = drawn;
      const rows = filtered || null, count = rows ? rows.length : n, step = Math.max(1, Math.ceil(count / mostMoving));
      const part = { x: [], y: [], valueA: [] };
      for (let i = 0; i < count; i += step) for (const name in part) part[name].push(points[name][rows ? rows[i] : i]);
      moving.set({ colorBy: "valueA", pointColor: plot.get("pointColor") });
      return moving.draw(part, { zDataType: kinds ? "categorical" : "continuous" });
    };
    if (many) {
      let from = null;
      const perPixel = () => 2 / canvas.clientHeight;
      canvas.addEventListener("pointerdown", (event) => {
        if (event.button !== 0 || event.shiftKey || plot.get("mouseMode") !== "panZoom") return;
        from = { x: event.clientX, y: event.clientY, ...(view || camera()) };
        held = true;
      });
      const release = () => {
        from = null;
        held = false;
      };
      addEventListener("pointermove", (event) => {
        if (!from || !(event.buttons & 1)) return release();
        const dx = event.clientX - from.x, dy = event.clientY - from.y, unit = perPixel() * from.cameraDistance;
        if (Math.hypot(dx, dy) > 3) look({ cameraTarget: [from.cameraTarget[0] - dx * unit, from.cameraTarget[1] + dy * unit] });
      });
      addEventListener("pointerup", release);
      // The plot of all points would search for the point under the pointer, and draw everything again to mark it.
      addEventListener("mousemove", (event) => from && event.stopImmediatePropagation(), true);
      canvas.addEventListener("wheel", (event) => {
        event.preventDefault();
        const { cameraTarget, cameraDistance } = view || camera(), box = canvas.getBoundingClientRect();
        const factor = Math.exp(Math.max(-0.5, Math.min(0.5, event.deltaY * 0.002)));
        const right = (event.clientX - box.left - box.width / 2) * perPixel() * cameraDistance;
        const up = (box.top + box.height / 2 - event.clientY) * perPixel() * cameraDistance;
        look({ cameraTarget: [cameraTarget[0] + right * (1 - factor), cameraTarget[1] + up * (1 - factor)], cameraDistance: cameraDistance * factor });
      }, { passive: false });
    }

    const axes = about.arrays.filter((array) => array.axis || array.column);
    const options = (select, arrays, chosen) => {
      for (const array of arrays) select.add(new Option(array.title || array.name, array.name, false, array.name === chosen));
    };
    options(element("map-x"), axes, axes[0].name);
    options(element("map-y"), axes, (axes[1] || axes[0]).name);
    options(element("map-colour"), about.arrays.filter((array) => !array.axis && array.type !== "text"), "cluster");

    let filtered = null;  // rows shown; null: all
    let selected = [];
    let drawn = null;
    const draw = async () => {
      const x = scaled(byName(element("map-x").value)), y = scaled(byName(element("map-y").value));
      for (let i = 0; i < n; ++i) {
        x[i] = 1.9 * x[i] - 0.95;
        y[i] = 1.9 * y[i] - 0.95;
      }
      const colour = byName(element("map-colour").value);
      const kinds = colour.names;
      const z = kinds ? new Float32Array(n) : scaled(colour);
      if (kinds) for (let i = 0; i < n; ++i) z[i] = colour.values[i] < 0 ? kinds.length : colour.values[i];
      plot.set({ colorBy: "valueA", pointColor: kinds ? [...kinds.map((_, j) => about.colours[j % about.colours.length]), "#9ca3af"] : ramp });
      await plot.draw({ x, y, valueA: z }, { zDataType: kinds ? "categorical" : "continuous" });
      drawn = { points: { x, y, valueA: z }, kinds };
      if (many) setTimeout(drawMoving, 300);
      if (filtered) await plot.filter(filtered, { preventEvent: true });
      if (selected.length) plot.select(selected, { preventEvent: true });
      element("map-key").replaceChildren(
        ...(kinds
          ? kinds.map((name, j) => [name, j]).filter(([name]) => name !== "").slice(0, 24).map(([name, j]) => {
              const item = document.createElement("span");
              item.textContent = name;
              item.style.setProperty("--colour", about.colours[j % about.colours.length]);
              return item;
            })
          : [document.createTextNode(`${colour.title || colour.name}: dark low, bright high`)]));
    };

    const without = (array) => (array.name === "truth" ? "not known" : "noise");
    const shown = (array, i) =>
      array.type === "text" ? lines(array)[i] : array.names ? (array.names[array.values[i]] ?? without(array)) : text(value(array, i));
    // The row's own texts first, then the results for it, then its numbers.
    const facts = (i) =>
      [...about.arrays.filter((array) => array.type === "text"), ...about.arrays.filter((array) => !array.axis && array.type !== "text")]
        .map((array) => `${array.title || array.name} ${shown(array, i)}`)
        .concat(given[i] ? [`label ${given[i]}`] : []);
    const told = (i) => `row ${numbers[i] + 1}: ${facts(i).join(", ")}`;
    const tip = element("map-tip");
    const point = (i) => {
      say(told(i));
      const head = document.createElement("b");
      head.textContent = `row ${numbers[i] + 1}`;
      const some = facts(i);
      tip.replaceChildren(head, ...some.slice(0, 12).flatMap((fact) => [document.createTextNode(fact), document.createElement("br")]),
        ...(some.length > 12 ? ["..."] : []));
      const [x, y] = plot.getScreenPosition(i) || [0, 0];
      const left = x > canvas.clientWidth / 2, above = y > canvas.clientHeight / 2;
      tip.style.inset = `${above ? "auto" : `${y + 12}px`} ${left ? `${canvas.clientWidth - x + 12}px` : "auto"} ${above ? `${canvas.clientHeight - y + 12}px` : "auto"} ${left ? "auto" : `${x + 12}px`}`;
      tip.hidden = false;
    };
    const given = {};  // row: label
    const say = (words) => (element("map-said").textContent = words);
    const choose = (rows, show) => {
      selected = Array.from(rows);
      if (show) selected.length ? plot.select(selected, { preventEvent: true }) : plot.deselect({ preventEvent: true });
      say(selected.length === 1 ? told(selected[0]) : `${selected.length} points selected`);
    };
    plot.subscribe("pointOver", point);
    plot.subscribe("pointOut", () => (tip.hidden = true));
    plot.subscribe("select", ({ points }) => choose(points, false));
    plot.subscribe("deselect", () => choose([], false));

    for (const id of ["map-x", "map-y", "map-colour"]) element(id).addEventListener("change", () => draw().catch(showPicture));
    element("map-lasso").addEventListener("click", (event) => {
      const lasso = plot.get("mouseMode") !== "lasso";
      plot.set({ mouseMode: lasso ? "lasso" : "panZoom" });
      event.target.setAttribute("aria-pressed", lasso);
    });
    element("map-whole").addEventListener("click", () => (many ? look({ cameraTarget: [0, 0], cameraDistance: 1 }) : plot.reset()));
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
      drawMoving();
    });
    element("map-search").addEventListener("change", (event) => {
      const wanted = event.target.value.trim();
      const ids = about.arrays.find((array) => array.name === "id");
      const called = ids && wanted !== "" ? lines(ids).indexOf(wanted) : -1;
      if (called >= 0) return choose([called], true);
      const row = numbers.indexOf(Number(wanted) - 1);
      if (wanted !== "" && row >= 0) return choose([row], true);
      const named = about.arrays.filter((array) => array.names && array.names.includes(wanted));
      if (!named.length) return say(`no row or label is called ${wanted}; rows are 1 to ${all}`);
      choose(rowsWhere((i) => named.some((array) => array.names[array.values[i]] === wanted)), true);
    });
    element("map-give").addEventListener("click", () => {
      const label = element("map-label").value.trim();
      if (!selected.length || !label) return say("select points with the lasso or the search, and write a label");
      for (const i of selected) given[i] = label;
      say(`selected points with label ${label}: ${selected.length}; labelled points in total: ${Object.keys(given).length}`);
    });
    element("map-download").addEventListener("click", () => {
      const rows = new Array(all).fill('""');
      for (const i in given) rows[numbers[i]] = `"${given[i].replaceAll('"', '""')}"`;
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob(["label\n", rows.join("\n"), "\n"], { type: "text/csv" }));
      link.download = "known.csv";
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    });
    canvas.addEventListener("keydown", (event) => {
      const { cameraTarget: [cx, cy], cameraDistance } = view || camera();
      const moves = { ArrowLeft: [-0.2, 0], ArrowRight: [0.2, 0], ArrowUp: [0, 0.2], ArrowDown: [0, -0.2] };
      const zoom = { "+": 0.8, "-": 1.25 }[event.key];
      if (moves[event.key]) look({ cameraTarget: [cx + moves[event.key][0] * cameraDistance, cy + moves[event.key][1] * cameraDistance] });
      else if (zoom) look({ cameraDistance: cameraDistance * zoom });
      else return;
      event.preventDefault();
    });

    root.hidden = false;  // the canvas needs a size before it is drawn on
    await new Promise(requestAnimationFrame);
    await draw();
    if (isBlank(canvas)) throw new Error("WebGL drew nothing");
    element("picture").hidden = true;
    element("picture").classList.add("printed");
    say(`${n.toLocaleString("en")} points. Drag to move, scroll to zoom, hold or press Lasso to select.` +
      (many ? ` While the map moves, at most ${mostMoving.toLocaleString("en")} of them are drawn; at rest, all are.` : "") +
      (all > n ? ` ${all - n === 1 ? "1 row was" : `${(all - n).toLocaleString("en")} rows were`} left out, and not shown.` : ""));
    return { plot, about, selected: () => selected, numbers, drawnMoving: () => drawnMoving, camera, look };
  }

  function isBlank(canvas) {
    const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    return pixels.every((pixel) => pixel === pixels[0]);
  }

  function showPicture(error) {
    root.hidden = true;
    element("picture").hidden = false;
    element("picture").classList.remove("printed");
    element("map-missing").textContent = `The map cannot be drawn here (${error.message}); this is a picture of some of the points.`;
  }

  globalThis.coterieMap = start();
  globalThis.coterieMap.catch(showPicture);
})();
