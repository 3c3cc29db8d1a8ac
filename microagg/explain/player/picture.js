// What all pictures are drawn with, and the picture of records. Python joins this file with account.js and player.js to the
// player, and with what else draws records or points. What users have typed is only ever set as text.

const SVG = "http://www.w3.org/2000/svg";
// Okabe & Ito's, and two that stay apart from them; with three shapes 24 groups differ without their outlines.
const COLORS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#9A8F00", "#A0643C"];
const DARK = new Set(["#0072B2", "#A0643C"]);
// Up to so many records are called by their names in the picture.
const NAMED = 40;
// Below so many pixels records are drawn smaller.
const NARROW_PICTURE = 480;
// Of more, outlines and centroids step back.
const MANY = 120;

// What a step is that has nothing at hand: the groups alone are drawn.
const BLANK = { seed: null, candidates: [], point: null, radius: null, group: null, lines: [], cuts: [], order: null };

function append(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== false) made.setAttribute(name, value);
  made.append(...children.filter((child) => child !== null));
  return made;
}
const html = (tag, attributes = {}, ...children) => append(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => append(document.createElementNS(SVG, tag), attributes, children);

const CORNERS = Array.from({ length: 12 }, (_, i) => [Math.cos((i * Math.PI) / 6), Math.sin((i * Math.PI) / 6)]);
// Where a label stands beside a point: right, left, below, above, and aslant.
const PLACES = [
  [14, 5, "start"], [-14, 5, "end"], [0, 27, "middle"], [0, -15, "middle"], [8, 25, "start"], [8, -12, "start"], [-8, 25, "end"], [-8, -12, "end"],
];
const color = (group) => COLORS[group % COLORS.length];
const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
const mean = (numbers) => sum(numbers) / numbers.length;
const short = (name, most = 14) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);
const written = (number) => String(Number(number.toPrecision(4)));

/** Return the outline of a record of a group: a circle, a square or a diamond; a circle where it is in none. */
function outline(group, r) {
  const shape = group < 0 ? 0 : group % 3, s = 0.9 * r, d = 1.28 * r;
  if (shape === 1) return `M${-s} ${-s}H${s}V${s}H${-s}Z`;
  if (shape === 2) return `M0 ${-d}L${d} 0L0 ${d}L${-d} 0Z`;
  return `M${-r} 0A${r} ${r} 0 1 1 ${r} 0A${r} ${r} 0 1 1 ${-r} 0Z`;
}

/** Return what a group is called by beside a picture: its shape in its color. */
const sign = (group) => svg("svg", { width: 16, height: 16, viewBox: "-9 -9 18 18", "aria-hidden": "true" }, svg("path", { d: outline(group, 6.5), fill: color(group) }));

/** Return the corners of the convex hull of points [x, y] (Andrew's monotone chain). */
function hull(points) {
  if (points.length < 3) return points;
  const ascending = points.slice().sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const left = (p, q, r) => (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]) > 0;
  const half = (list) => {
    const kept = [];
    for (const p of list) {
      while (kept.length > 1 && !left(kept.at(-2), kept.at(-1), p)) kept.pop();
      kept.push(p);
    }
    return kept.slice(0, -1);
  };
  return [...half(ascending), ...half(ascending.reverse())];
}

/** Return round numbers between two, and how they are written. */
function ticks(low, high, most) {
  if (!(high > low)) return [[low, written(low)]];
  const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((part) => part * power).find((each) => each >= rough * 0.999);
  const digits = Math.min(15, Math.max(1, Math.ceil(Math.log10(Math.max(Math.abs(low), Math.abs(high)) / step)) + 1));
  const far = Math.max(Math.abs(low), Math.abs(high)) >= 1e6, found = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) {
    const number = Number((i * step).toPrecision(digits));
    found.push([i * step, far && number ? number.toExponential().replace("e+", "e") : String(number)]);
  }
  return found;
}

/** Return the members of each group, by its number. */
function membersOf(labels) {
  const groups = new Map();
  labels.forEach((group, record) => {
    if (group < 0) return;
    if (!groups.has(group)) groups.set(group, []);
    groups.get(group).push(record);
  });
  return groups;
}

/** Lay intervals on levels so that none meet on one; return the level of each. */
function levels(intervals, gap) {
  const ends = [], found = [];
  const ascending = intervals.map((_, i) => i).sort((a, b) => intervals[a][0] - intervals[b][0]);
  for (const i of ascending) {
    let level = ends.findIndex((end) => end + gap < intervals[i][0]);
    if (level < 0) level = ends.length;
    ends[level] = intervals[i][1];
    found[i] = level;
  }
  return found;
}

/** Records on a line or a plane; `show` draws a step over them. With a radius of at least `least`, each can be clicked on. */
class Picture {
  constructor(records, steps, labels, least = 0) {
    Object.assign(this, { records, steps, labels, least, line: !records.y, n: records.x.length });
    this.svg = svg("svg", { role: "img" });
    this.tip = html("div", { class: "mg-tip", hidden: "" });
    this.root = html("div", { class: "mg-picture" }, this.svg, this.tip);
    this.longest = Math.max(...records.names.map((name) => name.length));
    this.svg.addEventListener("pointermove", (event) => this.hover(event));
    this.svg.addEventListener("pointerleave", () => { this.tip.hidden = true; });
  }

  hover(event) {
    const record = event.target.closest("[data-record]")?.dataset.record;
    this.tip.hidden = record === undefined;
    if (this.tip.hidden) return;
    this.tip.textContent = this.records.says[record];
    const frame = this.root.getBoundingClientRect();
    this.tip.style.left = `${Math.max(0, Math.min(event.clientX - frame.left + 14, frame.width - this.tip.offsetWidth))}px`;
    this.tip.style.top = `${event.clientY - frame.top + 16}px`;
  }

  /** Find where all records are drawn in `width` pixels, and draw what stays. */
  lay(width, small) {
    this.width = width;
    this.svg.setAttribute("class", this.n > MANY ? "mg-many" : "");
    this.inside = this.n <= NAMED && this.longest <= 3;
    const usual = Math.max(this.least, this.n <= NAMED ? 9 : this.n <= MANY ? 6.5 : 5), xs = this.records.x, low = Math.min(...xs), high = Math.max(...xs);
    this.r = this.inside ? (small || width < NARROW_PICTURE ? 12 : 14) + (this.longest > 2 ? 2.5 : 0) : usual;
    if (this.line) this.layLine(width, low, high);
    else {
      this.layPlane(width, low, high);
      if (this.least) this.spread();
      else if (this.inside && this.crowded()) {
        [this.inside, this.r] = [false, usual];
        this.layPlane(width, low, high);
      }
    }
    this.svg.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
    this.layers = ["mg-outlines", "mg-under", "mg-all", "mg-names", "mg-centroids", "mg-over"].map((name) => svg("g", { class: name }));
    [this.outlines, this.under, this.all, this.names, this.centroids, this.over] = this.layers;
    this.pointer = svg("g", { class: "mg-point", visibility: "hidden" });
    this.svg.replaceChildren(this.axes(), ...this.layers, this.pointer);
    this.marks = this.records.names.map((name, i) => {
      const mark = svg("path", { d: outline(-1, this.r) });
      const text = this.inside ? svg("text", { dy: "0.36em", style: `font-size: ${small && this.longest > 2 ? 13 : 15}px` }, name) : null;
      this.all.append(svg("g", { class: "mg-record", "data-record": i, transform: `translate(${this.px[i]} ${this.py[i]})` }, mark, text));
      return mark;
    });
    this.boxes = this.px.map((x, i) => [x - this.r, this.py[i] - this.r, x + this.r, this.py[i] + this.r]);
    this.named = new Set(this.inside ? this.marks.keys() : []);
    if (!this.inside && this.n <= NAMED) this.nameOutside();
    this.drawn = new Int32Array(this.n).fill(-1);
    this.hulls = new Map();
    this.middles = new Map();
  }

  layLine(width, low, high) {
    const pad = this.r + 14, scale = high > low ? (width - 2 * pad) / (high - low) : 0;
    this.toX = (x) => (scale ? pad + (x - low) * scale : width / 2);
    this.domain = [low, high];
    let ups = this.swarm();
    while (Math.max(...ups) > 200 && this.r > 2.5) {
      this.r *= 0.8;
      this.inside &&= this.r >= 11;
      ups = this.swarm();
    }
    const has = (part) => this.steps.some(part);
    this.pointAt = has((step) => step.point) ? 16 : null;
    this.radiusAt = has((step) => step.radius !== null || step.lines.length) ? (this.pointAt === null ? 16 : 42) : null;
    const above = Math.max((this.radiusAt ?? this.pointAt ?? 0) + 14, has((step) => step.cuts.length) ? 30 : 0);
    const tops = this.inside ? 0 : 22;
    this.base = above + tops + Math.max(...ups) + 2 * this.r + 4;
    this.px = this.records.x.map(this.toX);
    this.py = ups.map((up) => this.base - this.r - up);
    this.rows = this.steps.length ? 4 : 2;
    if (this.steps.length) this.rows = Math.max(1, ...this.steps.map((step, i) => (step.changed.length ? Math.max(0, ...this.brackets(this.labels[i]).map((each) => each.level + 1)) : 0)));
    this.axisAt = this.base + 12 + 17 * this.rows;
    this.height = this.axisAt + 52;
  }

  /** Return how far up each record is drawn, so that none covers another: duplicates stand on each other. */
  swarm() {
    const size = 2 * this.r + 2, ups = [], placed = [], xs = this.records.x.map(this.toX);
    for (const i of xs.map((_, j) => j).sort((a, b) => xs[a] - xs[b] || a - b)) {
      const near = placed.filter((j) => xs[i] - xs[j] < size - 0.01);
      const heights = [0, ...near.map((j) => ups[j] + Math.sqrt(size * size - (xs[i] - xs[j]) ** 2))].sort((a, b) => a - b);
      ups[i] = heights.find((up) => near.every((j) => Math.hypot(xs[i] - xs[j], up - ups[j]) >= size - 0.01));
      placed.push(i);
    }
    return ups;
  }

  layPlane(width, low, high) {
    const ys = this.records.y, bottom = Math.min(...ys), top = Math.max(...ys), r = this.r;
    // As much room as the numbers beside the axis need.
    const numbers = Math.max(...ticks(bottom, top, 5).map(([, text]) => text.length));
    const margin = { left: Math.max(52, 36 + 8.6 * numbers) + r, right: 14 + r, top: (this.steps.some((step) => step.cuts.length) ? 30 : 14) + r, bottom: 54 + r };
    this.height = Math.round(Math.max(250, Math.min(0.7 * width, 380)));
    const room = [width - margin.left - margin.right, this.height - margin.top - margin.bottom];
    const spread = [high - low, top - bottom], fits = spread.map((each, i) => (each > 0 ? room[i] / each : Infinity));
    // With equal scales distances look as they are; where one attribute is far wider nothing could be told apart.
    const equal = !(Math.max(...fits) / Math.min(...fits) > 6) || fits.includes(Infinity);
    const scales = (equal ? [Math.min(...fits), Math.min(...fits)] : fits).map((each) => (each === Infinity ? Math.min(...room) / 2 : each));
    [this.scales, this.equal] = [scales, equal];
    const start = [margin.left + (room[0] - spread[0] * scales[0]) / 2, margin.top + (room[1] - spread[1] * scales[1]) / 2];
    this.toX = (x) => start[0] + (x - low) * scales[0];
    this.toY = (y) => this.height - (this.height - start[1] - spread[1] * scales[1]) - (y - bottom) * scales[1];
    this.frame = [margin.left - r - 4, 8, width - 8, this.height - 50];
    const back = ([x0, y0, x1, y1]) => [low + (x0 - start[0]) / scales[0], low + (x1 - start[0]) / scales[0], bottom + (this.toY(bottom) - y1) / scales[1], bottom + (this.toY(bottom) - y0) / scales[1]];
    this.domain = back(this.frame);
    const seen = new Map();
    [this.px, this.py] = [[], []];
    this.records.x.forEach((x, i) => {
      const at = [this.toX(x), this.toY(ys[i])], key = at.map((each) => each.toFixed(1)).join(), same = seen.get(key) || 0;
      seen.set(key, same + 1);
      // Duplicates stand beside each other, in a spiral as seeds do.
      const away = 2.1 * r * Math.sqrt(same), turn = (same - 1) * 2.39996;
      this.px.push(at[0] + away * Math.cos(turn));
      this.py.push(at[1] + away * Math.sin(turn));
    });
  }

  /** Move records apart that cover each other, each as little as possible. */
  spread() {
    const { px, py, r } = this, [left, top, right, bottom] = this.frame, held = (at, low, high) => Math.max(low + r, Math.min(at, high - r));
    for (let round = 0, moved = true; moved && round < 200; round++) {
      moved = false;
      for (let i = 0; i < this.n; i++) {
        for (let j = 0; j < i; j++) {
          const dx = px[i] - px[j], dy = py[i] - py[j], far = Math.hypot(dx, dy) || 1, share = (r + 1) / far - 0.5;
          if (share < 1e-4) continue;
          moved = true;
          [px[i], px[j], py[i], py[j]] = [px[i] + share * dx, px[j] - share * dx, py[i] + share * dy, py[j] - share * dy];
        }
      }
      for (let i = 0; i < this.n; i++) [px[i], py[i]] = [held(px[i], left, right), held(py[i], top, bottom)];
    }
  }

  /** Tell whether records cover each other's names. */
  crowded() {
    return this.px.some((x, i) => this.px.some((other, j) => j < i && Math.hypot(x - other, this.py[i] - this.py[j]) < 1.7 * this.r));
  }

  axes() {
    const made = svg("g", { class: "mg-axes" }), [xTitle, yTitle] = this.records.labels;
    const at = this.line ? this.axisAt : this.frame[3], [left, right] = this.line ? [8, this.width - 8] : [this.frame[0], this.frame[2]];
    made.append(svg("path", { d: `M${left} ${at}H${right}` }));
    for (const [x, text] of ticks(this.domain[0], this.domain[1], Math.max(2, this.width / 110))) {
      made.append(svg("path", { d: `M${this.toX(x)} ${at}v6` }), svg("text", { x: this.within(this.toX(x), text), y: at + 21, "text-anchor": "middle" }, text));
    }
    made.append(svg("text", { class: "mg-title", x: (left + right) / 2, y: at + 40, "text-anchor": "middle" }, short(this.line || this.equal ? xTitle : `${xTitle} (the axes differ in scale)`, Math.floor(this.width / 7.7))));
    if (this.line) {
      // Records that are drawn above each other: here is where they lie.
      made.append(svg("path", { class: "mg-where", d: this.px.map((x) => `M${x} ${at}v-7`).join("") }));
      return made;
    }
    made.append(svg("path", { d: `M${left} ${at}V${this.frame[1]}` }));
    if (this.least) made.append(svg("path", { d: this.px.map((x, i) => `M${x} ${this.py[i]}L${this.toX(this.records.x[i])} ${this.toY(this.records.y[i])}`).join("") }));
    for (const [y, text] of ticks(this.domain[2], this.domain[3], 5)) {
      made.append(svg("path", { d: `M${left} ${this.toY(y)}h-6` }), svg("text", { x: left - 9, y: this.toY(y) + 5, "text-anchor": "end" }, text));
    }
    const middle = (this.frame[1] + at) / 2;
    made.append(svg("text", { class: "mg-title", transform: `translate(14 ${middle}) rotate(-90)`, "text-anchor": "middle" }, short(yTitle, Math.floor(this.height / 8))));
    return made;
  }

  /** Write names beside records, where they cover nothing; those left out are said under the pointer. */
  nameOutside() {
    const taken = this.boxes;
    const free = (box) => box[0] >= 0 && box[2] <= this.width && box[1] >= 0 && taken.every((b) => b[2] <= box[0] || b[0] >= box[2] || b[3] <= box[1] || b[1] >= box[3]);
    this.records.names.forEach((name, i) => {
      const text = short(name), wide = 8 * text.length + 2, x = this.px[i], y = this.py[i], away = this.r + 9;
      const places = [[x + away, y, "start"], [x - away, y, "end"], [x, y - away - 8, "middle"], [x, y + away + 8, "middle"]];
      for (const [at, height, anchor] of this.line ? [places[2]] : places) {
        const from = anchor === "start" ? at : anchor === "end" ? at - wide : at - wide / 2, box = [from, height - 9, from + wide, height + 9];
        if (!free(box)) continue;
        taken.push(box);
        this.named.add(i);
        this.names.append(svg("text", { x: at, y: height, dy: "0.36em", "text-anchor": anchor }, text));
        return;
      }
    });
  }

  /** Let records be chosen as the answer to a question, or no more. */
  offer(asks) {
    this.root.classList.toggle("mg-asks", asks);
    this.svg.setAttribute("role", asks ? "group" : "img");
    this.marks.forEach(({ parentNode: node }, i) => {
      for (const [name, value] of Object.entries({ role: "button", tabindex: 0, "aria-label": this.records.names[i] })) {
        if (asks) node.setAttribute(name, value); else node.removeAttribute(name);
      }
    });
  }

  brackets(labels) {
    const groups = [...membersOf(labels)].map(([group, members]) => {
      const xs = members.map((i) => this.px[i]);
      return { group, members, from: Math.min(...xs) - this.r, to: Math.max(...xs) + this.r };
    });
    levels(groups.map(({ from, to }) => [from, to]), 2).forEach((level, i) => { groups[i].level = Math.min(level, this.rows - 1); });
    return groups;
  }

  show(labels, step) {
    labels.forEach((group, i) => {
      if (this.drawn[i] === group) return;
      this.drawn[i] = group;
      this.marks[i].setAttribute("d", outline(group, this.r));
      this.marks[i].style.fill = group < 0 ? "" : color(group);
      this.marks[i].parentNode.setAttribute("class", `mg-record ${group < 0 ? "" : DARK.has(color(group)) ? "mg-on-dark" : "mg-on-light"}`);
    });
    const groups = membersOf(labels);
    if (this.line) this.showBrackets(labels); else this.showHulls(groups);
    for (const [group, { path }] of this.hulls) path.classList.toggle("mg-meant", group === step.group);
    this.showFocus(step);
    this.svg.setAttribute("aria-label", groups.size ? `${this.n} records, ${groups.size} groups so far` : `${this.n} records, no group yet`);
  }

  showBrackets(labels) {
    const kept = new Set();
    this.outlines.replaceChildren(...this.brackets(labels).map(({ group, members, from, to, level }) => {
      const y = this.base + 9 + 17 * level;
      this.move(group, this.toX(mean(members.map((i) => this.records.x[i]))), y + 1);
      kept.add(group);
      return svg("path", { d: `M${from} ${y - 6}V${y}H${to}V${y - 6}`, stroke: color(group) });
    }));
    this.forget(kept);
  }

  showHulls(groups) {
    for (const [group, members] of groups) {
      const known = this.hulls.get(group), sign = members.join();
      if (known?.sign === sign) continue;
      const round = this.r + 5, points = members.flatMap((i) => CORNERS.map(([x, y]) => [this.px[i] + round * x, this.py[i] + round * y]));
      const d = `M${hull(points).map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}Z`;
      const path = known?.path || svg("path", { fill: color(group), stroke: color(group), "stroke-dasharray": ["none", "7 4", "2 4"][Math.floor(group / COLORS.length) % 3] });
      path.setAttribute("d", d);
      if (!known) this.outlines.append(path);
      this.hulls.set(group, { sign, path });
      this.move(group, this.toX(mean(members.map((i) => this.records.x[i]))), this.toY(mean(members.map((i) => this.records.y[i]))));
    }
    this.forget(new Set(groups.keys()));
  }

  /** Let the centroid of a group slide to where it is now. */
  move(group, x, y) {
    let mark = this.middles.get(group);
    if (!mark) {
      mark = this.line
        ? svg("path", { class: "mg-centroid", d: "M0 -5L8 8H-8Z", fill: color(group) })
        : svg("path", { class: "mg-centroid mg-plus", d: this.n > MANY ? "M-4 0H4M0 -4V4" : "M-7 0H7M0 -7V7" });
      this.centroids.append(mark);
      this.middles.set(group, mark);
    }
    mark.style.transform = `translate(${x}px, ${y}px)`;
  }

  forget(kept) {
    for (const known of [this.middles, this.hulls]) {
      for (const [group, mark] of known) {
        if (kept.has(group)) continue;
        (mark.path || mark).remove();
        known.delete(group);
      }
    }
  }

  at(record) { return [this.px[record], this.py[record]]; }

  /** Write a label that stays readable on whatever is behind it, and within the picture. */
  label(x, y, text, anchor = "middle") {
    return svg("text", { class: "mg-label", x: anchor === "middle" ? this.within(x, text) : x, y, "text-anchor": anchor }, text);
  }

  /** Return where the middle of a text is to be so that none of it is cut off. */
  within(x, text) {
    const half = text.length * 4.8 + 1;
    return Math.max(half, Math.min(x, this.width - half));
  }

  /** Return the name of the record at hand, where it covers neither the record nor those above it. */
  nameOf(seed) {
    const [x, y] = this.at(seed), text = short(this.records.names[seed], 24), half = text.length * 4.8;
    const above = this.line ? Math.min(...this.px.map((other, i) => (Math.abs(other - x) < half + this.r ? this.py[i] : y))) : y;
    return this.label(x, above < this.r + 32 && !this.line ? y + this.r + 24 : above - this.r - 12, text);
  }

  showFocus(step) {
    const over = [], under = [], seed = step.seed, [x, y] = seed === null ? [] : this.at(seed);
    if (step.order?.length && !this.line) under.push(svg("path", { class: "mg-order", d: `M${step.order.map((i) => this.at(i).join(" ")).join("L")}` }));
    for (const i of step.candidates) over.push(svg("circle", { class: "mg-candidate", cx: this.px[i], cy: this.py[i], r: this.r + 4 }));
    this.showPoint(step, under);
    if (step.radius && seed !== null) this.showRadius(step.radius, seed, over, under);
    for (const [a, b, text] of step.lines) this.showLine(a, b, text, over);
    for (const cut of step.cuts) this.showCut(cut, step.cuts.length <= 3, over, under);
    if (seed !== null) {
      over.push(svg("circle", { class: "mg-seed", cx: x, cy: y, r: this.r + 5 }));
      if (!this.named.has(seed)) over.push(this.nameOf(seed));
    }
    this.over.replaceChildren(...over);
    this.under.replaceChildren(...under);
  }

  showPoint(step, under) {
    const seen = step.point && step.measured !== "centroid of the group";
    this.pointer.setAttribute("visibility", seen ? "visible" : "hidden");
    if (!seen) return;
    const x = this.toX(step.point[0]), y = this.line ? this.pointAt : this.toY(step.point[1]);
    const [dx, dy, anchor] = this.line ? (x > this.width * 0.62 ? PLACES[1] : PLACES[0]) : PLACES.find((place) => this.clear(x, y, step.measured, place)) || PLACES[0];
    this.pointer.replaceChildren(
      ...(this.line ? [svg("path", { class: "mg-stem", d: `M0 8V${this.axisAt - y}` })] : []),
      svg("path", { class: "mg-cross", d: "M-7 -7L7 7M-7 7L7 -7" }),
      svg("text", { class: "mg-label", x: dx, y: dy, "text-anchor": anchor }, step.measured),
    );
    this.pointer.style.transform = `translate(${x}px, ${y}px)`;
    if (step.seed === null) return;
    const [sx, sy] = this.at(step.seed);
    under.push(svg("path", { class: "mg-distance", d: this.line ? `M${sx} ${sy}V${y + 18}H${x}` : `M${sx} ${sy}L${x} ${y}` }));
  }

  /** Tell whether a text at a place beside a point lies within the picture and covers no record and no name. */
  clear(x, y, text, [dx, dy, anchor]) {
    const wide = text.length * 8.8, left = x + dx - { start: 0, middle: wide / 2, end: wide }[anchor], middle = y + dy - 5;
    return left > 0 && left + wide < this.width && middle > 10 && this.boxes.every((box) => box[2] <= left || box[0] >= left + wide || box[3] <= middle - 8 || box[1] >= middle + 8);
  }

  showRadius(radius, seed, over, under) {
    const [x, y] = this.at(seed);
    if (!this.line) {
      under.push(svg("ellipse", { class: "mg-radius", cx: x, cy: y, rx: radius * this.scales[0], ry: radius * this.scales[1] }));
      return;
    }
    const value = this.records.x[seed], [from, to] = [value - radius, value + radius].map((each) => Math.max(3, Math.min(this.toX(each), this.width - 3)));
    over.push(svg("path", { class: "mg-radius", d: `M${from} ${this.radiusAt + 7}V${this.radiusAt}H${to}V${this.radiusAt + 7}` }), this.label((from + to) / 2, this.radiusAt - 6, `within ${written(radius)}`));
  }

  showLine(a, b, text, over) {
    const [[x0, y0], [x1, y1]] = [this.at(a), this.at(b)], middle = (x0 + x1) / 2;
    if (!this.line) {
      over.push(svg("path", { class: "mg-line", d: `M${x0} ${y0}L${x1} ${y1}` }));
      if (Math.hypot(x1 - x0, y1 - y0) > 9 * text.length + 2 * this.r) over.push(this.label(middle, (y0 + y1) / 2 - 6, text));
      return;
    }
    if (Math.abs(x1 - x0) < 9 * text.length + 2 * this.r) {
      // Side by side or on each other: their outlines are joined, and their distance is left to the words.
      const long = Math.hypot(x1 - x0, y1 - y0) || 1, [dx, dy] = [((x1 - x0) / long) * this.r, ((y1 - y0) / long) * this.r];
      over.push(svg("path", { class: "mg-line mg-near", d: `M${x0 + 0.75 * dx} ${y0 + 0.75 * dy}L${x1 - 0.75 * dx} ${y1 - 0.75 * dy}` }));
      return;
    }
    // Over the records between the two; its middle is halfway to the point that bends it.
    const tops = this.px.map((x, i) => ((x - x0) * (x - x1) <= 0 ? this.py[i] : y0)), ends = (y0 + y1) / 2 - this.r, up = Math.min(...tops) - this.r - 10;
    over.push(svg("path", { class: "mg-line", d: `M${x0} ${y0 - this.r}Q${middle} ${2 * up - ends} ${x1} ${y1 - this.r}` }), this.label(middle, up - 5, text));
  }

  showCut({ axis, at, text }, named, over, under) {
    const across = axis === "x", where = across ? this.toX(at) : this.toY(at);
    const [top, bottom] = [20, this.line ? this.axisAt : this.frame[3]];
    under.push(svg("path", { class: "mg-cut", d: across ? `M${where} ${top}V${bottom}` : `M${this.frame[0]} ${where}H${this.frame[2]}` }));
    if (named) over.push(across ? this.label(where, top - 6, `cut at ${text}`) : this.label(this.frame[2] - 4, where - 6, `cut at ${text}`, "end"));
  }
}
