// Draws records on a canvas over axes that Plotly makes: what it is given, where Plotly's axes say.
// Python computes everything else (figures.py); here things stand out, fade, slide and are clicked. Joined to picture.js.

const KINDS = { f4: Float32Array, i4: Int32Array, u1: Uint8Array };
const NARROW = 560, GAP = 0.03, REACH = 11, PLAYS = 2000, DENSE = 300;
// How opaque records are that fade, are as usual, are of an outlined group, and stand out; usual ones are light if many.
const OPACITY = [0.1, 1, 1, 1], LIGHT = 0.45, [FADED, USUAL, CLEAR, STANDING] = [0, 1, 2, 3];
const figures = new WeakMap();

function unpacked({ kind, bytes }) {
  return new KINDS[kind](Uint8Array.from(atob(bytes), (c) => c.charCodeAt(0)).buffer);
}

/** Return the positions of the records with each number 0, 1, …, as one array and where each number's begin. */
function sorted(numbers, most) {
  const starts = new Int32Array(most + 1);
  for (const number of numbers) starts[number + 1]++;
  for (let i = 0; i < most; i++) starts[i + 1] += starts[i];
  const places = starts.slice(), order = new Int32Array(numbers.length);
  numbers.forEach((number, i) => { order[places[number]++] = i; });
  return { order, of: (number) => order.subarray(starts[number], starts[number + 1]) };
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
    stage.addEventListener("pointermove", (e) => this.hover(e));
    stage.addEventListener("pointerleave", () => this.point(null));
    this.released = (e) => this.click(e);
    this.told = (e) => this.scene && this.choose(e.detail, false);
    new ResizeObserver(() => this.scene && this.plotted && this.lay()).observe(stage);
    // A change of theme changes the variables that Streamlit sets.
    new MutationObserver(() => this.scene && this.plotted && this.text !== this.color("--st-text-color") && this.lay())
      .observe(document.documentElement, { attributes: true, subtree: true, attributeFilter: ["style", "class"] });
  }

  listen() {
    window.addEventListener("pointerup", this.released, true);
    window.addEventListener("microagg-chosen", this.told);
  }

  silence() {
    window.removeEventListener("pointerup", this.released, true);
    window.removeEventListener("microagg-chosen", this.told);
  }

  color(name) { return getComputedStyle(this.root).getPropertyValue(name).trim(); }

  show(scene) {
    this.scene = scene;
    [this.x, this.y, this.rows, this.alike] = [scene.x, scene.y, scene.rows, scene.alike].map(unpacked);
    this.sides = scene.sides.map((side) => {
      const [groups, sizes, shares, colors] = [side.groups, side.sizes, side.shares, side.colors].map(unpacked);
      return {
        groups, sizes, shares, hues: colors, outlined: side.outlined,
        centroids: side.centroids && side.centroids.map(unpacked),
        members: sorted(groups, sizes.length), colored: sorted(colors, scene.palette.length),
        strength: new Uint8Array(groups.length), losses: shares.map((share) => share * side.loss), color: side.color, label: side.label,
        px: new Float32Array(groups.length), py: new Float32Array(groups.length),
      };
    });
    const same = this.alike.reduce((sum, one) => sum + one, 0), n = this.x.length;
    this.sides.forEach((side, s) => {
      const other = this.sides[this.sides.length - 1 - s].losses;
      const lower = side.losses.map((loss, i) => Number(loss < other[i] * (1 - 1e-6)));
      side.lower = sorted(lower, 2);
    });
    const wins = this.sides.map(({ label, lower }) => `${label} for ${lower.of(1).length.toLocaleString("en")} records`);
    this.won.textContent = `In color: lower loss, ${wins.join(", ")}`;
    this.canvas.setAttribute("aria-label", scene.alt);
    this.play.hidden = !this.sides[0].centroids;
    this.differ.parentElement.hidden = this.sides.length < 2;
    this.differ.nextElementSibling.textContent = `Differences only (${(n - same).toLocaleString("en")} of ${n.toLocaleString("en")} records)`;
    if (scene.scale) {
      const [of, low, bar, high] = this.scale.children;
      [of.textContent, low.textContent, high.textContent] = [`Loss of a record, ${scene.scale.of}`, ...scene.scale.ends];
      bar.style.background = `linear-gradient(90deg, ${scene.palette.join(", ")})`;
    }
    this.chosen = this.pointed = null;
    this.choose(window.microaggChosen, false);
    this.lay();
  }

  /** Have Plotly draw the axes for the width there is, and the records over them. */
  async lay() {
    const { data, layout } = this.scene.figure, width = this.plot.parentElement.clientWidth, narrow = width < NARROW;
    if (!width) return;
    const many = this.sides.length > 1, spans = many ? [[0, 0.5 - GAP / 2], [0.5 + GAP / 2, 1]] : [[0, 1]];
    this.text = this.color("--st-text-color");
    const look = { gridcolor: this.color("--st-border-color"), linecolor: this.color("--st-border-color"), showline: true, automargin: true };
    const drawn = {
      ...layout, uirevision: this.scene.axes, width, height: narrow && many ? 620 : narrow ? 340 : 430,
      margin: { l: 12, r: 12, t: 26, b: 12 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      modebar: { orientation: "v", bgcolor: "rgba(0,0,0,0)", color: this.color("--st-gray-color") || "#7F8C99", activecolor: this.text },
      font: { family: this.color("--st-font"), size: 12.5, color: this.text },
      dragmode: matchMedia("(pointer: coarse)").matches ? false : "pan",
      annotations: layout.annotations.map((note, s) => {
        const from = narrow && many ? [0, s ? 0.45 : 1] : [spans[s][0], 1];
        return { ...note, x: from[0], y: from[1], font: { size: 14 } };
      }),
    };
    spans.forEach((span, s) => {
      const own = s ? "2" : "", below = !narrow || s === spans.length - 1;
      const y = narrow && many ? (s ? [0, 0.45] : [0.55, 1]) : [0, 1];
      const axis = (letter, domain, labelled) => {
        const given = layout[`${letter}axis${own}`], title = { text: labelled ? given.title.text : "", font: { size: 12.5 } };
        drawn[`${letter}axis${own}`] = { showticklabels: labelled, ...given, ...look, domain, title };
        if (!labelled) drawn[`${letter}axis${own}`].showticklabels = false;
      };
      axis("x", narrow ? [0, 1] : span, below);
      axis("y", y, narrow || !s);
    });
    const config = { displaylogo: false, responsive: false, displayModeBar: narrow ? false : "hover", modeBarButtons: [["zoomIn2d", "zoomOut2d", "resetScale2d"], ["pan2d", "zoom2d"], ["png", "svg"].map((format) => this.saving(format))] };
    const scene = this.scene;
    await window.Plotly.react(this.plot, data, drawn, config);
    if (!this.plotted) {
      this.plotted = true;
      this.plot.on("plotly_relayouting", () => this.draw(true));
      this.plot.on("plotly_afterplot", () => this.draw());
    }
    this.draw();
    this.root.dataset.scene = scene.id;
  }

  /** Return the button of Plotly's that saves the figure as a picture, the records as traces of its own. */
  saving(format) {
    const of = (axis, values) => Array.from(values, (v) => (axis.type === "log" ? 10 ** v : v));
    const click = () => {
      const { width, height, xaxis, yaxis } = this.plot._fullLayout, { palette } = this.scene;
      const data = this.sides.flatMap((side, s) => {
        const own = { type: "scatter", xaxis: s ? "x2" : "x", yaxis: s ? "y2" : "y" }, xs = of(xaxis, this.x), ys = of(yaxis, this.y);
        const color = Array.from(side.hues, (hue) => palette[hue]), opacity = Array.from(side.strength, (strength) => this.opacity(strength));
        const records = { ...own, mode: "markers", x: xs, y: ys, marker: { size: 5, color, opacity } };
        if (!side.centroids) return [records];
        const [cx, cy] = [of(xaxis, side.centroids[0]), of(yaxis, side.centroids[1])], drawn = this.marked(s).flatMap((group) => [...side.members.of(group)]);
        const spokes = [[xs, cx], [ys, cy]].map(([from, to]) => drawn.flatMap((i) => [from[i], to[side.groups[i]], null]));
        return [{ ...own, mode: "lines", x: spokes[0], y: spokes[1], line: { width: 0.6, color: "#7F8C99" } }, records];
      });
      const layout = { ...this.plot.layout, paper_bgcolor: this.color("--st-background-color") };
      window.Plotly.downloadImage({ data, layout }, { format, filename: "clusters", width, height, scale: format === "png" ? 2 : 1 });
    };
    const title = `Save as ${format.toUpperCase()}`, icon = window.Plotly.Icons[format === "png" ? "camera" : "disk"];
    return { name: title, title, icon, click };
  }

  /** Return how a panel places what it draws: pixel = offset + factor · value along both axes, and its frame. */
  panel(s) {
    const full = this.plot._fullLayout, own = s ? "2" : "", x = full[`xaxis${own}`], y = full[`yaxis${own}`];
    const [left, right] = x.range.map((v) => x.r2l(v)), [bottom, top] = y.range.map((v) => y.r2l(v));
    const kx = x._length / (right - left), ky = y._length / (bottom - top);
    return { kx, ky, ox: x._offset - kx * left, oy: y._offset - ky * top, frame: [x._offset, y._offset, x._length, y._length] };
  }

  /** Settle where the records of side s are drawn, in pixels, as far as they have slid. */
  locate(s, panel) {
    const side = this.sides[s], { kx, ky, ox, oy } = panel, { slid } = this, [cx, cy] = side.centroids || [];
    for (let i = 0; i < this.x.length; i++) {
      let x = this.x[i], y = this.y[i];
      if (slid) {
        const group = side.groups[i];
        x += slid * (cx[group] - x);
        y += slid * (cy[group] - y);
      }
      side.px[i] = ox + kx * x;
      side.py[i] = oy + ky * y;
    }
  }

  /** Whether only differences are asked for. */
  get only() { return this.differ.checked && this.sides.length > 1; }

  opacity(strength) { return strength === USUAL && this.x.length > DENSE && !this.only ? LIGHT : OPACITY[strength]; }

  /** Return the groups of side s that are drawn with outline and spokes. */
  marked(s) {
    const { outlined, strength, members } = this.sides[s];
    const worst = this.chosen || this.only ? [] : outlined.filter((group) => strength[members.of(group)[0]]);
    return [...new Set([...worst, ...this.company[s]])];
  }

  /** Settle how strong each record is drawn, and which groups have the members of the group chosen or pointed at. */
  weigh() {
    const { chosen, only } = this, central = chosen || this.pointed;
    for (const side of this.sides) {
      side.strength.forEach((_, i) => { side.strength[i] = chosen || (only && this.alike[i]) ? FADED : USUAL; });
      if (!chosen && !only) for (const group of side.outlined) for (const i of side.members.of(group)) side.strength[i] = CLEAR;
    }
    this.company = this.sides.map(() => []);
    if (!central) return;
    const members = this.sides[central.side].members.of(central.group);
    this.sides.forEach((side, s) => {
      this.company[s] = s === central.side ? [central.group] : [...new Set(Array.from(members, (i) => side.groups[i]))];
      for (const group of this.company[s]) for (const i of side.members.of(group)) side.strength[i] = CLEAR;
      if (chosen) for (const i of members) side.strength[i] = STANDING;
    });
  }

  draw(moving = false) {
    if (!this.plotted) return;
    const { pen, plot } = this, ratio = window.devicePixelRatio || 1, { width, height } = plot._fullLayout;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      [this.canvas.width, this.canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
      [this.canvas.style.width, this.canvas.style.height] = [`${width}px`, `${height}px`];
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    if (!moving) this.weigh();
    this.areas = this.sides.map(() => []);
    [this.scale.hidden, this.won.hidden] = [!this.scene.scale || this.only, !this.only];
    this.sides.forEach((side, s) => {
      const panel = this.panel(s);
      this.locate(s, panel);
      pen.save();
      pen.beginPath();
      pen.rect(...panel.frame);
      pen.clip();
      const central = this.chosen || this.pointed;
      for (const group of this.marked(s)) {
        const isCompany = this.company[s].includes(group);
        this.outline(s, group, isCompany && s !== central.side ? [5, 4] : [], isCompany ? 1.8 : 1.2);
        this.spokes(s, panel, group, isCompany ? 1.2 : 0.8);
      }
      this.dots(s, moving);
      pen.restore();
    });
    const number = (strengths) => this.sides.map((side) => side.strength.reduce((sum, one) => sum + strengths.includes(one), 0)).join();
    this.root.dataset.standing = this.chosen ? number([STANDING]) : "";
    this.root.dataset.usual = number([USUAL, CLEAR]);
    this.clear.hidden = !this.chosen;
  }

  outline(s, group, dash, width) {
    if (!this.scene.whole) return;
    const { members, px, py } = this.sides[s];
    const corners = hull(Array.from(members.of(group), (i) => [px[i], py[i]]));
    const path = new Path2D();
    corners.forEach(([x, y]) => path.lineTo(x, y));
    path.closePath();
    this.areas[s].push({ group, path });
    const { pen } = this;
    pen.strokeStyle = this.text;
    if (!this.scene.scale) {
      // Colors tell groups apart.
      pen.strokeStyle = pen.fillStyle = this.scene.palette[this.sides[s].hues[members.of(group)[0]]];
      pen.globalAlpha = 0.1;
      pen.fill(path);
      pen.globalAlpha = 1;
    }
    pen.setLineDash(dash);
    pen.lineWidth = width;
    pen.stroke(path);
    pen.setLineDash([]);
  }

  spokes(s, panel, group, width) {
    const { centroids, members, px, py } = this.sides[s], { pen } = this;
    if (!centroids || this.slid === 1) return;
    const { kx, ky, ox, oy } = panel, center = [ox + kx * centroids[0][group], oy + ky * centroids[1][group]];
    pen.strokeStyle = this.text;
    pen.lineWidth = width;
    pen.globalAlpha = 0.5;
    pen.beginPath();
    for (const i of members.of(group)) {
      pen.moveTo(px[i], py[i]);
      pen.lineTo(...center);
    }
    pen.stroke();
    pen.globalAlpha = 1;
  }

  dots(s, moving) {
    const { strength, px, py, color: winner, lower, colored: usualColors } = this.sides[s], { pen } = this, usual = this.x.length < 2500 ? 3 : 2.3;
    const [palette, colored] = this.only ? [["#7F8C99", winner], lower] : [this.scene.palette, usualColors];
    for (const wanted of [FADED, USUAL, CLEAR, STANDING]) {
      const r = wanted === STANDING ? usual + 1.7 : usual;
      pen.globalAlpha = this.opacity(wanted);
      for (let color = 0; color < palette.length; color++) {
        pen.fillStyle = palette[color];
        pen.beginPath();
        for (const i of colored.of(color)) {
          if (strength[i] !== wanted) continue;
          if (moving) {
            // Squares are drawn many times as fast as disks.
            pen.fillRect(px[i] - 0.9 * r, py[i] - 0.9 * r, 1.8 * r, 1.8 * r);
          } else {
            pen.moveTo(px[i] + r, py[i]);
            pen.arc(px[i], py[i], r, 0, 7);
          }
        }
        if (!moving) pen.fill();
        if (wanted === STANDING) { pen.strokeStyle = this.text; pen.lineWidth = 1.2; pen.stroke(); }
      }
    }
    pen.globalAlpha = 1;
  }

  /** Return the side and the record nearest to the pointer; on an outlined group the nearest of it; null elsewhere. */
  hit(event) {
    const box = this.plot.getBoundingClientRect(), px = event.clientX - box.left, py = event.clientY - box.top;
    if (!this.plotted || event.target.closest?.(".modebar")) return null;
    for (let s = 0; s < this.sides.length; s++) {
      const [left, top, width, height] = this.panel(s).frame, { px: xs, py: ys } = this.sides[s];
      if (px < left || px > left + width || py < top || py > top + height) continue;
      let record = -1, least = REACH ** 2;
      for (let i = 0; i < this.x.length; i++) {
        const apart = (xs[i] - px) ** 2 + (ys[i] - py) ** 2;
        if (apart < least) [record, least] = [i, apart];
      }
      if (record >= 0) return { s, i: record, px, py };
      const ratio = window.devicePixelRatio || 1;
      const area = this.areas[s].find(({ path }) => this.pen.isPointInPath(path, px * ratio, py * ratio));
      return { s, i: area ? this.sides[s].members.of(area.group)[0] : -1, group: area?.group, px, py };
    }
    return null;
  }

  hover(event) {
    if (event.buttons || this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      const found = this.hit(event);
      this.point(found);
      if (this.tip.hidden) return;
      const side = this.sides[found.s], group = side.groups[found.i];
      const name = this.scene.names ? this.scene.names[found.i] : this.rows[found.i];
      const record = `Record ${name}: ${side.shares[found.i].toPrecision(3)} % of the ${this.scene.loss}\n`;
      this.tip.textContent = `${found.group === undefined ? record : ""}Group ${group + 1} of ${side.sizes[group]} records`;
      this.tip.style.left = `${Math.min(found.px + 12, this.plot.clientWidth - 190)}px`;
      this.tip.style.top = `${found.py + 14}px`;
    });
  }

  /** Show the group of what lies under the pointer, on both sides. */
  point(found) {
    this.tip.hidden = !found || found.i < 0;
    const group = this.tip.hidden ? -1 : this.sides[found.s].groups[found.i], before = this.pointed;
    this.pointed = group < 0 ? null : { side: found.s, group };
    if (this.plotted && (before?.group !== this.pointed?.group || before?.side !== this.pointed?.side)) this.draw();
  }

  click(event) {
    const [x, y] = this.pressed || [NaN, NaN];
    this.pressed = null;
    if (!(Math.hypot(event.clientX - x, event.clientY - y) < 5)) return;
    const found = this.hit({ clientX: x, clientY: y, target: event.target });
    if (found) this.choose(found.i < 0 ? null : { side: found.s, record: this.rows[found.i] }, true);
  }

  /** Have the group of a record stand out on both sides, or none; ``tell`` Python of it. */
  choose(choice, tell) {
    const side = choice && this.sides[choice.side], i = side ? this.rows.indexOf(choice.record) : -1;
    // A record that is not in the sample that is drawn stands for its group nevertheless.
    const chosen = side ? { side: choice.side, group: i >= 0 ? side.groups[i] : choice.group } : null;
    if (!chosen && !this.chosen) return;
    this.chosen = chosen;
    this.draw();
    if (tell) this.tell(chosen && { side: choice.side, record: choice.record });
  }

  /** Slide all records into their centroids and back. */
  slide() {
    if (this.play.disabled) return;
    this.play.disabled = true;
    let began = 0, frames = 0;
    const step = (now) => {
      began ||= now;
      const passed = Math.min((now - began) / PLAYS, 1), half = Math.min(2.2 * (passed < 0.5 ? passed : 1 - passed), 1);
      this.slid = half * half * (3 - 2 * half);
      this.root.dataset.slid = this.slid.toFixed(2);
      frames += 1;
      this.draw(passed < 1);
      if (passed < 1) return requestAnimationFrame(step);
      this.root.dataset.frames = frames;
      this.play.disabled = false;
    };
    requestAnimationFrame(step);
  }
}

export default function ({ data, parentElement, setStateValue }) {
  let figure = figures.get(parentElement);
  if (!figure) figures.set(parentElement, (figure = new Figure(parentElement)));
  figure.tell = (choice) => { window.microaggChosen = choice; setStateValue("chosen", choice); };
  figure.listen();
  const start = () => {
    if (!window.Plotly) return setTimeout(start, 30);
    if (figure.scene?.id !== data.id) figure.show(data);
  };
  start();
  return () => figure.silence();
}
