// Draws records on a canvas over axes that Plotly makes. Python computes everything else (figures.py); here things stand out,
// fade, slide and are clicked. Joined to picture.js and paper.js.

const KINDS = { f4: Float32Array, i4: Int32Array, u1: Uint8Array };
const STACKED = 560, REACH = 11, PLAYS = 2000, DENSE = 300, NEUTRAL = "#7F8C99";
// How opaque records are that fade, are as usual, are of an outlined group, and stand out; usual ones are light if many.
const OPACITY = [0.1, 1, 1, 1], LIGHT = 0.45, [FADED, USUAL, CLEAR, STANDING] = [0, 1, 2, 3];
const figures = new WeakMap();

/** Return data with each part that Python has packed as an array. */
function unpacked(data) {
  if (data?.bytes) return new KINDS[data.kind](Uint8Array.from(atob(data.bytes), (c) => c.charCodeAt(0)).buffer);
  if (Array.isArray(data) || !data || typeof data !== "object") return Array.isArray(data) ? data.map(unpacked) : data;
  return Object.fromEntries(Object.entries(data).map(([name, part]) => [name, unpacked(part)]));
}

class Figure {
  constructor(parent) {
    this.root = parent.querySelector(".mg-clusters");
    [this.plot, this.canvas, this.tip, this.play, this.differ, this.clear, this.scale, this.won] =
      [".mg-plot", "canvas", ".mg-tip", ".mg-play", ".mg-differ input", ".mg-clear", ".mg-scale", ".mg-won"].map((s) => this.root.querySelector(s));
    this.pen = this.canvas.getContext("2d");
    this.slid = 0;
    this.chosen = this.pointed = null;
    this.play.onclick = () => this.slide();
    this.differ.onchange = () => this.draw();
    this.clear.onclick = () => this.choose(null, true);
    const stage = this.plot.parentElement;
    stage.addEventListener("pointerdown", (e) => { this.pressed = [e.clientX, e.clientY]; this.tip.hidden = true; }, true);
    stage.addEventListener("pointermove", (e) => e.buttons || this.point(this.hit(e), e));
    stage.addEventListener("pointerleave", (e) => this.point(null, e));
    const lay = () => this.plotted && this.lay();
    new ResizeObserver(lay).observe(stage);
    // A change of theme changes the variables that Streamlit sets.
    new MutationObserver(() => this.text !== this.color("--st-text-color") && lay())
      .observe(document.documentElement, { attributes: true, subtree: true, attributeFilter: ["style", "class"] });
  }

  /** Hear of clicks anywhere, and of choices made elsewhere on the page; return what ends that. */
  listen() {
    const heard = { pointerup: (e) => this.click(e), "microagg-chosen": (e) => this.scene && this.choose(e.detail, false) };
    for (const [kind, act] of Object.entries(heard)) window.addEventListener(kind, act, true);
    return () => { for (const [kind, act] of Object.entries(heard)) window.removeEventListener(kind, act, true); };
  }

  color(name) { return getComputedStyle(this.root).getPropertyValue(name).trim(); }

  show(data) {
    const scene = (this.scene = unpacked(data)), { sides, scale, palette } = scene, n = scene.x.length;
    this.sides = sides.map((side, s) => {
      const { groups, shares, loss } = side, other = sides.at(-1 - s), places = () => new Float32Array(n);
      const lower = Uint8Array.from(shares, (share, i) => share * loss < other.shares[i] * other.loss * (1 - 1e-6));
      return { ...side, lower, members: membersOf(groups), strength: new Uint8Array(n), px: places(), py: places() };
    });
    const count = (flags) => flags.reduce((sum, one) => sum + one, 0), number = (each) => each.toLocaleString("en");
    this.won.textContent = `In color: lower loss, ${this.sides.map(({ label, lower }) => `${label} for ${number(count(lower))} records`).join(", ")}`;
    this.canvas.setAttribute("aria-label", scene.alt);
    this.play.hidden = !sides[0].centroids;
    this.differ.parentElement.hidden = sides.length < 2;
    this.differ.nextElementSibling.textContent = `Differences only (${number(n - count(scene.alike))} of ${number(n)} records)`;
    if (scale) {
      const [of, low, bar, high] = this.scale.children;
      [of.textContent, low.textContent, high.textContent] = [`Loss of a record, ${scale.of}`, ...scale.ends];
      bar.style.background = `linear-gradient(90deg, ${palette.join(", ")})`;
    }
    this.chosen = this.pointed = null;
    this.choose(window.microaggChosen, false);
    this.lay();
  }

  /** Have Plotly draw the axes for the width there is, and the records over them. */
  async lay() {
    const { scene } = this, width = this.plot.parentElement.clientWidth;
    if (!width) return;
    this.text = this.color("--st-text-color");
    const modeBarButtons = [["zoomIn2d", "zoomOut2d", "resetScale2d"], ["pan2d", "zoom2d"], ["png", "svg"].map((format) => this.saving(format))];
    const config = { displaylogo: false, responsive: false, displayModeBar: width < STACKED ? false : "hover", modeBarButtons };
    await window.Plotly.react(this.plot, scene.figure.data, this.layout(width), config);
    if (!this.plotted) {
      this.plotted = true;
      this.plot.on("plotly_relayouting", () => this.draw(true));
      this.plot.on("plotly_afterplot", () => this.draw());
    }
    this.draw();
    this.root.dataset.scene = scene.id;
  }

  /** Return Plotly's layout for a width: the panels beside each other, or one above the other where it is narrow. */
  layout(width) {
    const { layout } = this.scene.figure, two = this.sides.length > 1, narrow = width < STACKED, stacked = two && narrow;
    const line = this.color("--st-border-color"), look = { gridcolor: line, linecolor: line };
    const across = stacked || !two ? [[0, 1], [0, 1]] : [[0, 0.485], [0.515, 1]], up = stacked ? [[0.55, 1], [0, 0.45]] : [[0, 1], [0, 1]];
    const made = {
      ...layout, width, height: stacked ? 620 : narrow ? 340 : 430, uirevision: this.scene.axes,
      font: { family: this.color("--st-font"), size: 12.5, color: this.text },
      modebar: { ...layout.modebar, color: this.color("--st-gray-color") || NEUTRAL, activecolor: this.text },
      dragmode: matchMedia("(pointer: coarse)").matches ? false : "pan",
      annotations: layout.annotations.map((note, s) => ({ ...note, x: across[s][0], y: up[s][1] })),
    };
    this.sides.forEach((_, s) => {
      for (const [letter, domain, labelled] of [["x", across[s], !stacked || s === 1], ["y", up[s], stacked || !s]]) {
        const name = `${letter}axis${s ? 2 : ""}`, axis = layout[name], title = { text: labelled ? axis.title.text : "", font: { size: 12.5 } };
        made[name] = { ...axis, ...look, domain, title, showticklabels: labelled && axis.showticklabels !== false };
      }
    });
    return made;
  }

  /** Return the button of Plotly's that saves what is drawn: as PNG as it is, as SVG for a paper. */
  saving(format) {
    const title = `Save as ${format.toUpperCase()}`, icon = window.Plotly.Icons[format === "png" ? "camera" : "disk"];
    const click = () => {
      const now = this.plot.layout, margin = { ...now.margin, b: this.scale.hidden ? 12 : 104 }; // with the scale of colors
      const print = { ...this.layout(PAPER), margin, height: this.sides.length > 1 ? 520 : 300 };
      for (const name of Object.keys(print)) if (name.includes("axis")) print[name].range = now[name].range;
      const layout = format === "svg" ? paper(print) : { ...now, margin, paper_bgcolor: this.color("--st-background-color") };
      const { width, height } = layout, scale = format === "png" ? 2 : 1;
      window.Plotly.downloadImage({ data: this.traces(), layout }, { format, filename: "clusters", width, height, scale });
    };
    return { name: title, title, icon, click };
  }

  /** Return what is drawn on the canvas as traces of Plotly's. */
  traces() {
    const { xaxis, yaxis } = this.plot._fullLayout, of = (axis, values) => Array.from(values, (v) => (axis.type === "log" ? 10 ** v : v));
    const xs = of(xaxis, this.scene.x), ys = of(yaxis, this.scene.y), { whole, scale } = this.scene;
    return this.sides.flatMap((side, s) => {
      const { palette, hues } = this.inks(side), axes = { type: "scatter", xaxis: s ? "x2" : "x", yaxis: s ? "y2" : "y" };
      const lines = (x, y, more) => ({ ...axes, mode: "lines", x, y, line: { width: 0.7, color: NEUTRAL }, ...more });
      const opacity = Array.from(side.strength, (strength) => this.opacity(strength)), cmax = palette.length - 1, font = { size: 10.67 };
      const bar = { orientation: "h", yref: "container", y: 0, yanchor: "bottom", thickness: 6, len: 0.6, outlinewidth: 0, tickvals: [0, cmax], ticktext: scale?.ends, tickfont: font, title: { text: `Loss of a record, ${scale?.of}<br> `, font, side: "top" } };
      const marker = { size: 4, color: Array.from(hues), opacity, cmin: 0, cmax, colorscale: palette.map((ink, i) => [i / cmax, ink]), showscale: !s && !this.scale.hidden, colorbar: bar };
      const corners = (group) => [...this.corners(side, group), this.corners(side, group)[0]];
      const drawn = this.marked(s), outlined = whole ? drawn.flatMap((group) => [...corners(group), null]) : [];
      const traces = [lines(outlined.map((i) => xs[i] ?? null), outlined.map((i) => ys[i] ?? null), { fill: "toself", fillcolor: "rgba(127, 140, 153, 0.15)" })];
      if (side.centroids) {
        const spokes = [[xs, xaxis, 0], [ys, yaxis, 1]].map(([from, axis, at]) => {
          const to = of(axis, side.centroids[at]);
          return drawn.flatMap((group) => side.members.get(group) ?? []).flatMap((i) => [from[i], to[side.groups[i]], null]);
        });
        traces.push(lines(...spokes));
      }
      return [...traces, { ...axes, mode: "markers", x: xs, y: ys, marker }];
    });
  }

  /** Return how a panel places what it draws: pixel = offset + factor · value along both axes, and its frame. */
  panel(s) {
    const full = this.plot._fullLayout, suffix = s ? "2" : "", x = full[`xaxis${suffix}`], y = full[`yaxis${suffix}`];
    const [left, right] = x.range.map((v) => x.r2l(v)), [bottom, top] = y.range.map((v) => y.r2l(v));
    const kx = x._length / (right - left), ky = y._length / (bottom - top);
    return { toX: (v) => x._offset + kx * (v - left), toY: (v) => y._offset + ky * (v - top), frame: [x._offset, y._offset, x._length, y._length] };
  }

  /** Whether only differences are shown. */
  get only() { return this.differ.checked && this.sides.length > 1; }

  opacity(strength) { return strength === USUAL && this.scene.x.length > DENSE && !this.only ? LIGHT : OPACITY[strength]; }

  /** Return the colors of a side's records: each has the number of one. */
  inks({ color, lower, colors }) { return this.only ? { palette: [NEUTRAL, color], hues: lower } : { palette: this.scene.palette, hues: colors }; }

  /** Return the records at the corners of a group. */
  corners({ members }, group) { return hull((members.get(group) ?? []).map((i) => [this.scene.x[i], this.scene.y[i], i])).map(([, , i]) => i); }

  /** Return the groups of side s that are drawn with outline and spokes. */
  marked(s) {
    const { outlined, members } = this.sides[s], worst = this.chosen || this.only ? [] : outlined.filter((group) => members.has(group));
    return [...new Set([...worst, ...this.company[s]])];
  }

  /** Settle how strong each record is drawn, and which groups have the members of the group chosen or pointed at. */
  weigh() {
    const { chosen, only } = this, central = chosen ?? this.pointed, all = central ? this.sides[central.side].members.get(central.group) ?? [] : [];
    this.company = this.sides.map(({ strength, members, groups, outlined }, s) => {
      const company = !central ? [] : s === central.side ? [central.group] : [...new Set(all.map((i) => groups[i]))];
      strength.forEach((_, i) => { strength[i] = chosen || (only && this.scene.alike[i]) ? FADED : USUAL; });
      for (const group of [...(chosen || only ? [] : outlined), ...company]) for (const i of members.get(group) ?? []) strength[i] = CLEAR;
      if (chosen) for (const i of all) strength[i] = STANDING;
      return company;
    });
  }

  draw(moving = false) {
    if (!this.plotted) return;
    const { pen, canvas, scene } = this, ratio = window.devicePixelRatio || 1, { width, height } = this.plot._fullLayout;
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    pen.scale(ratio, ratio);
    if (!moving) this.weigh();
    this.areas = this.sides.map(() => []);
    [this.scale.hidden, this.won.hidden, this.clear.hidden] = [!scene.scale || this.only, !this.only, !this.chosen];
    this.sides.forEach((side, s) => {
      const { toX, toY, frame } = this.panel(s), { centroids, groups } = side, { slid } = this;
      const along = (value, i, axis) => (slid ? value + slid * (centroids[axis][groups[i]] - value) : value);
      scene.x.forEach((x, i) => { [side.px[i], side.py[i]] = [toX(along(x, i, 0)), toY(along(scene.y[i], i, 1))]; });
      pen.save();
      pen.beginPath();
      pen.rect(...frame);
      pen.clip();
      for (const group of this.marked(s)) {
        const isCompany = this.company[s].includes(group);
        if (scene.whole) this.outline(s, group, isCompany, isCompany && s !== (this.chosen ?? this.pointed).side);
        if (centroids && slid < 1) this.spokes(side, group, toX(centroids[0][group]), toY(centroids[1][group]), isCompany ? 1.2 : 0.8);
      }
      this.dots(side, moving);
      pen.restore();
    });
    const count = (...levels) => this.sides.map(({ strength }) => strength.reduce((sum, one) => sum + levels.includes(one), 0)).join();
    Object.assign(this.root.dataset, { standing: this.chosen ? count(STANDING) : "", usual: count(USUAL, CLEAR) });
  }

  /** Return the color of a group's lines: that of its records, unless colors show losses. */
  ink({ colors, members }, group) { return this.scene.scale || !members.has(group) ? this.text : this.scene.palette[colors[members.get(group)[0]]]; }

  outline(s, group, isCompany, isDashed) {
    const side = this.sides[s], { pen } = this, area = new Path2D();
    for (const i of this.corners(side, group)) area.lineTo(side.px[i], side.py[i]);
    area.closePath();
    this.areas[s].push({ group, area });
    pen.strokeStyle = pen.fillStyle = this.ink(side, group);
    pen.globalAlpha = this.scene.scale ? 0.05 : 0.1;
    pen.fill(area);
    pen.globalAlpha = 1;
    pen.setLineDash(isDashed ? [5, 4] : []);
    pen.lineWidth = isCompany ? 1.8 : 1.2;
    pen.stroke(area);
    pen.setLineDash([]);
  }

  spokes(side, group, x, y, width) {
    const { pen } = this, lines = new Path2D();
    for (const i of side.members.get(group) ?? []) {
      lines.moveTo(side.px[i], side.py[i]);
      lines.lineTo(x, y);
    }
    [pen.strokeStyle, pen.lineWidth, pen.globalAlpha] = [this.ink(side, group), width, 0.5];
    pen.stroke(lines);
    pen.globalAlpha = 1;
  }

  dots(side, moving) {
    const { strength, px, py } = side, { palette, hues } = this.inks(side), { pen } = this, usual = px.length < 2500 ? 3 : 2.3, inks = palette.length, dots = [];
    strength.forEach((level, i) => {
      const r = level === STANDING ? usual + 1.7 : usual, same = (dots[level * inks + hues[i]] ??= new Path2D());
      // Squares are drawn many times as fast as disks.
      if (moving) return same.rect(px[i] - 0.9 * r, py[i] - 0.9 * r, 1.8 * r, 1.8 * r);
      same.moveTo(px[i] + r, py[i]);
      same.arc(px[i], py[i], r, 0, 7);
    });
    [pen.strokeStyle, pen.lineWidth] = [this.text, 1.2];
    dots.forEach((same, place) => {
      pen.globalAlpha = this.opacity(Math.floor(place / inks));
      pen.fillStyle = palette[place % inks];
      pen.fill(same);
      if (place >= STANDING * inks) pen.stroke(same);
    });
  }

  /** Return the side, the record and the group nearest to the pointer: -1 for no record, but inside an outline; null outside a panel. */
  hit(event) {
    if (!this.plotted || event.target.closest?.(".modebar")) return null;
    const box = this.plot.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top, ratio = window.devicePixelRatio || 1;
    const frames = this.sides.map((_, s) => this.panel(s).frame);
    const side = frames.findIndex(([left, top, width, height]) => x >= left && x <= left + width && y >= top && y <= top + height);
    if (side < 0) return null;
    const { px, py, groups } = this.sides[side];
    let record = -1, least = REACH ** 2;
    px.forEach((_, i) => {
      const apart = (px[i] - x) ** 2 + (py[i] - y) ** 2;
      if (apart < least) [record, least] = [i, apart];
    });
    const within = () => this.areas[side].find(({ area }) => this.pen.isPointInPath(area, x * ratio, y * ratio))?.group ?? -1;
    return { side, record, group: record >= 0 ? groups[record] : within() };
  }

  /** Show the group of what lies under the pointer, on both sides. */
  point(hit, event) {
    const before = this.pointed, { side, record, group = -1 } = hit ?? {};
    this.pointed = group < 0 ? null : { side, group };
    showTip(this.tip, this.plot, event, this.pointed && this.describe(this.sides[side], record, group));
    if (this.plotted && (before?.group !== this.pointed?.group || before?.side !== this.pointed?.side)) this.draw();
  }

  describe({ shares, sizes }, record, group) {
    const { names, rows, loss } = this.scene, says = `Group ${group + 1} of ${sizes[group]} records`;
    return record < 0 ? says : `Record ${(names ?? rows)[record]}: ${shares[record].toPrecision(3)} % of the ${loss}\n${says}`;
  }

  click(event) {
    const [x, y] = this.pressed ?? [NaN, NaN];
    this.pressed = null;
    if (!(Math.hypot(event.clientX - x, event.clientY - y) < 5)) return;
    const { side, record, group } = this.hit({ clientX: x, clientY: y, target: event.target }) ?? {};
    if (side !== undefined) this.choose(group < 0 ? null : { side, record: this.scene.rows[record >= 0 ? record : this.sides[side].members.get(group)[0]] }, true);
  }

  /** Have the group of a record stand out on both sides, or none; ``tell`` Python of it. */
  choose(choice, tell) {
    const side = choice && this.sides[choice.side], i = side ? this.scene.rows.indexOf(choice.record) : -1;
    if (!side && !this.chosen) return;
    // A record that is not in the sample that is drawn stands for its group nevertheless.
    this.chosen = side ? { side: choice.side, group: i >= 0 ? side.groups[i] : choice.group } : null;
    this.draw();
    if (tell) this.tell(side ? { side: choice.side, record: choice.record } : null);
  }

  /** Slide all records into their centroids and back. */
  slide() {
    this.play.disabled = true;
    let began = 0;
    const step = (now) => {
      began ||= now;
      const passed = Math.min((now - began) / PLAYS, 1), half = Math.min(2.2 * (passed < 0.5 ? passed : 1 - passed), 1);
      this.slid = half * half * (3 - 2 * half);
      this.root.dataset.slid = this.slid.toFixed(2);
      this.draw(passed < 1);
      if (passed < 1) return requestAnimationFrame(step);
      this.play.disabled = false;
    };
    requestAnimationFrame(step);
  }
}

export default function ({ data, parentElement, setStateValue }) {
  if (!figures.has(parentElement)) figures.set(parentElement, new Figure(parentElement));
  const figure = figures.get(parentElement);
  figure.tell = (choice) => { window.microaggChosen = choice; setStateValue("chosen", choice); };
  const start = () => {
    if (!window.Plotly) return setTimeout(start, 30);
    if (figure.scene?.id !== data.id) figure.show(data);
  };
  start();
  return figure.listen();
}
