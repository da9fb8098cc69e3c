// The charts of a page, which uPlot draws from numbers in the page, and the movable cut of a dendrogram. Without this
// script, the tables and pictures next to them show the same.
(() => {
  const element = (id) => document.getElementById(id);
  const text = (number) => (Number.isInteger(number) ? number.toLocaleString("en") : Number(number.toPrecision(5)).toString());

  function charts(root) {
    const about = JSON.parse(element(`${root.id}-about`).textContent);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    let drawn = [];
    const draw = () => {
      for (const plot of drawn) plot.destroy();
      drawn = [];
      const ink = dark.matches ? "#cbd5e1" : "#374151", line = dark.matches ? "#334155" : "#e5e7eb";
      const fill = dark.matches ? "#56b4e9" : "#0072b2";
      const holders = element(`${root.id}-drawn`);
      holders.replaceChildren();
      for (const chart of about) {
        const holder = document.createElement("figure");
        holder.setAttribute("role", "img");
        holder.setAttribute("aria-label", `${chart.title}: ${chart.values.length} values, of ${chart.across}`);
        holders.append(holder);
        const x = chart.across_values ?? chart.values.map((_, i) => chart.first + i);
        const bars = chart.kind === "bars";
        const name = (v) => (chart.names ? (chart.names[v - chart.first] ?? "") : text(v));
        drawn.push(new uPlot({
          title: chart.title, width: Math.min(440, root.clientWidth - 42), height: 230,
          scales: {
            x: { time: false, range: bars || chart.mark !== undefined ? [x[0] - 0.6, x[x.length - 1] + 0.6] : undefined },
            y: bars ? { range: (_, low, high) => [Math.min(0, low * 1.05), Math.max(0, high * 1.05) || 1] } : {},
          },
          axes: [
            { stroke: ink, grid: { stroke: line }, ticks: { stroke: line }, values: (_, ticks) => ticks.map((v) => (Number.isInteger(v) ? name(v) : "")) },
            { stroke: ink, grid: { stroke: line }, ticks: { stroke: line }, size: 64, values: (_, ticks) => ticks.map(text) },
          ],
          series: [
            { label: chart.across, value: (_, v) => (v == null ? "" : name(v)) },
            { label: chart.up, stroke: fill, width: bars ? 1 : 2, fill: bars ? fill : undefined,
              paths: bars ? uPlot.paths.bars({ size: [0.7, 60] }) : undefined,
              points: { show: !bars && x.length <= 60 }, value: (_, v) => (v == null ? "" : text(v)) },
          ],
          hooks: chart.mark === undefined ? {} : { draw: [(plot) => {  // marks the chosen value
            const across = Math.round(plot.valToPos(chart.mark, "x", true)), { ctx, bbox } = plot;  // whole pixels are sharp
            ctx.save();
            ctx.strokeStyle = dark.matches ? "#e69f00" : "#d55e00";
            ctx.lineWidth = 2 * devicePixelRatio;
            ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
            ctx.beginPath();
            ctx.moveTo(across, bbox.top);
            ctx.lineTo(across, bbox.top + bbox.height);
            ctx.stroke();
            ctx.restore();
          }] },
        }, [x, chart.values], holder));
      }
    };
    root.hidden = false;
    draw();
    dark.addEventListener("change", draw);
    for (const picture of document.querySelectorAll(".charted")) picture.hidden = true;
  }

  // The clusters of a cut of a tree: sizes, the largest first.
  function sizesOfCut(tree, clusters) {
    const sizes = tree.sizes.slice(), there = new Set(sizes.keys());
    for (let t = 0; t + clusters < tree.sizes.length; ++t) {
      sizes.push(sizes[tree.left[t]] + sizes[tree.right[t]]);
      there.delete(tree.left[t]);
      there.delete(tree.right[t]);
      there.add(sizes.length - 1);
    }
    return Array.from(there, (node) => sizes[node]).sort((a, b) => b - a);
  }

  function dendrogram() {
    const root = element("dendrogram");
    if (!root) return;
    const tree = JSON.parse(element("dendrogram-about").textContent);
    const slider = element("dendrogram-clusters");
    const show = () => {
      const clusters = Number(slider.value), merges = tree.heights.length;
      const above = clusters > 1 ? tree.heights[merges - clusters + 1] : tree.heights[merges - 1] * 1.05;
      const below = clusters <= merges ? tree.heights[merges - clusters] : 0;
      const y = tree.bottom - ((above + below) / 2) * tree.scale;
      for (const end of ["y1", "y2"]) element("dendrogram-cut").setAttribute(end, y);
      element("dendrogram-said").textContent =
        `${clusters} ${clusters === 1 ? "cluster" : "clusters"}, cut between ${text(below)} and ${clusters > 1 ? text(above) : "the top"}; rows: ${sizesOfCut(tree, clusters).map(text).join(", ")}`;
    };
    slider.addEventListener("input", show);
    element("dendrogram-controls").hidden = false;
    show();
  }

  document.querySelectorAll("section.charts").forEach(charts);
  dendrogram();
})();
