// What all pictures are drawn with, and the picture of records. Python joins this file with player.js to the player,
// and with what else draws records. What users have typed is only ever set as text.

const SVG = "http://www.w3.org/2000/svg";
// Okabe & Ito's, and two that stay apart from them; with three shapes 24 groups differ without their outlines.
const COLORS = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#9A8F00", "#A0643C"];
const DARK = new Set(["#0072B2", "#A0643C"]);
// Up to so many records are called by their names in the picture; of more than MANY, outlines and centroids step back.
const NAMED = 40, MANY = 120;
// In pixels: the least width of large records; a letter of a label.
const WIDE_PICTURE = 480, LETTER = 8.6;
// The parts of a step that has nothing at hand: the groups alone are drawn.
const BLANK = { seed: null, candidates: [], point: null, radius: null, group: null, lines: [], cuts: [], order: null };
const CORNERS = Array.from({ length: 12 }, (_, i) => [Math.cos((i * Math.PI) / 6), Math.sin((i * Math.PI) / 6)]);

function append(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) if (value !== null && value !== false) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== null));
  return node;
}
const html = (tag, attributes = {}, ...children) => append(document.createElement(tag), attributes, children);
const svg = (tag, attributes = {}, ...children) => append(document.createElementNS(SVG, tag), attributes, children);
const path = (d, attributes = {}) => svg("path", { d, ...attributes });
const ring = (x, y, r, name) => svg("circle", { cx: x, cy: y, r, class: name });

const color = (group) => COLORS[group % COLORS.length];
const mean = (numbers) => numbers.reduce((total, number) => total + number, 0) / numbers.length;
const between = (low, number, high) => Math.max(low, Math.min(number, high));
const short = (name, most = 14) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);
const minus = (text) => String(text).replaceAll("-", "−");
const written = (number) => minus(Number(number.toPrecision(4)));

/** Return the outline of a record of a group: a circle, a square or a diamond; a circle where it is in none. */
function outline(group, r) {
  const shape = group < 0 ? 0 : group % 3, s = 0.9 * r, d = 1.28 * r;
  if (shape === 1) return `M${-s} ${-s}H${s}V${s}H${-s}Z`;
  if (shape === 2) return `M0 ${-d}L${d} 0L0 ${d}L${-d} 0Z`;
  return `M${-r} 0A${r} ${r} 0 1 1 ${r} 0A${r} ${r} 0 1 1 ${-r} 0Z`;
}

/** Return the sign of a group beside a picture: its shape in its color. */
const sign = (group) => svg("svg", { width: 16, height: 16, viewBox: "-9 -9 18 18", "aria-hidden": "true" }, path(outline(group, 6.5), { fill: color(group) }));

/** Return the corners of the convex hull of points [x, y] (Andrew's monotone chain). */
function hull(points) {
  if (points.length < 3) return points;
  const ascending = points.slice().sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const left = (p, q, r) => (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]) > 0;
  const half = (list) => {
    const corners = [];
    for (const p of list) {
      while (corners.length > 1 && !left(corners.at(-2), corners.at(-1), p)) corners.pop();
      corners.push(p);
    }
    return corners.slice(0, -1);
  };
  return [...half(ascending), ...half(ascending.reverse())];
}

/** Return round numbers between two, and how they are written. */
function ticks(low, high, most) {
  if (!(high > low)) return [[low, written(low)]];
  const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough)), largest = Math.max(Math.abs(low), Math.abs(high));
  const step = [1, 2, 5, 10].map((part) => part * power).find((each) => each >= rough * 0.999);
  const digits = between(1, Math.ceil(Math.log10(largest / step)) + 1, 15), places = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++) {
    const number = Number((i * step).toPrecision(digits));
    places.push([i * step, minus(largest >= 1e6 && number ? number.toExponential().replace("e+", "e") : number)]);
  }
  return places;
}

/** Return the members of each group, by its number. */
function membersOf(labels) {
  const groups = new Map();
  labels.forEach((group, record) => {
    if (group < 0) return;
    if (groups.has(group)) groups.get(group).push(record); else groups.set(group, [record]);
  });
  return groups;
}

/** Show a text beside the pointer, within `frame`; without a text nothing is shown. */
function showTip(tip, frame, event, text) {
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const box = frame.getBoundingClientRect();
  tip.style.left = `${Math.max(0, Math.min(event.clientX - box.left + 14, box.width - tip.offsetWidth))}px`;
  tip.style.top = `${event.clientY - box.top + 16}px`;
}

/** Return the places [dx, dy, anchor] of a label beside a point, `away` pixels from it. */
const around = (away) => [
  [away, 0, "start"], [-away, 0, "end"], [0, away + 8, "middle"], [0, -away - 8, "middle"],
  ...[[1, 1, "start"], [1, -1, "start"], [-1, 1, "end"], [-1, -1, "end"]].map(([x, y, anchor]) => [0.6 * away * x, (away + 6) * y, anchor]),
];

/** Records on a line or a plane; `show` draws a step over them. */
class Picture {
  constructor(records, steps, labels) {
    Object.assign(this, { records, steps, labels, line: !records.y, n: records.x.length });
    this.svg = svg("svg", { role: "img" });
    this.tip = html("div", { class: "mg-tip", hidden: "" });
    this.root = html("div", { class: "mg-picture" }, this.svg, this.tip);
    this.longest = Math.max(...records.names.map((name) => name.length));
    this.svg.addEventListener("pointermove", (event) => showTip(this.tip, this.root, event, records.says[this.recordOf(event)]));
    this.svg.addEventListener("pointerleave", () => { this.tip.hidden = true; });
  }

  /** Return the record that an event is about; -1: none. */
  recordOf(event) { return Number(event.target.closest("[data-record]")?.dataset.record ?? -1); }

  /** Find where all records are drawn in `width` pixels, and draw what stays. */
  lay(width, small) {
    this.width = width;
    this.svg.setAttribute("class", this.n > MANY ? "mg-many" : "");
    const usual = this.n <= NAMED ? 9 : this.n <= MANY ? 6.5 : 5;
    this.inside = this.n <= NAMED && this.longest <= 3;
    this.r = this.inside ? (small || width < WIDE_PICTURE ? 12 : 14) + (this.longest > 2 ? 2.5 : 0) : usual;
    if (this.line) this.layLine(); else this.layPlane();
    if (!this.line && this.inside && this.isCrowded()) {
      [this.inside, this.r] = [false, usual];
      this.layPlane();
    }
    this.svg.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
    const layers = ["outlines", "under", "centroids", "all", "names", "over"];
    for (const name of layers) this[name] = svg("g", { class: `mg-${name}` });
    this.pointer = svg("g", { class: "mg-point", visibility: "hidden" });
    this.svg.replaceChildren(this.axes(), ...layers.map((name) => this[name]), this.pointer);
    this.marks = this.records.names.map((name, i) => {
      const mark = path(outline(-1, this.r));
      const text = this.inside ? svg("text", { dy: "0.36em", style: `font-size: ${small && this.longest > 2 ? 13 : 15}px` }, name) : null;
      this.all.append(svg("g", { class: "mg-record", "data-record": i, transform: `translate(${this.at(i).join(" ")})` }, mark, text));
      return mark;
    });
    this.boxes = this.px.map((x, i) => [x - this.r, this.py[i] - this.r, x + this.r, this.py[i] + this.r]);
    this.named = new Set(this.inside ? this.marks.keys() : []);
    if (!this.inside && this.n <= NAMED) this.records.names.forEach((name, i) => this.nameOutside(short(name), i));
    this.drawn = new Int32Array(this.n).fill(-1);
    [this.hulls, this.middles] = [new Map(), new Map()];
  }

  layLine() {
    const xs = this.records.x, low = Math.min(...xs), high = Math.max(...xs), has = (part) => this.steps.some(part);
    const pad = this.r + 14, scale = high > low ? (this.width - 2 * pad) / (high - low) : 0;
    this.toX = (x) => (scale ? pad + (x - low) * scale : this.width / 2);
    this.domain = [low, high];
    let ups = this.swarm();
    while (Math.max(...ups) > 200 && this.r > 2.5) {
      this.r *= 0.8;
      this.inside &&= this.r >= 11;
      ups = this.swarm();
    }
    this.pointAt = has((step) => step.point) ? 16 : null;
    this.radiusAt = has((step) => step.radius !== null || step.lines.length) ? (this.pointAt === null ? 16 : 42) : null;
    const above = Math.max((this.radiusAt ?? this.pointAt ?? 0) + 14, has((step) => step.cuts.length) ? 30 : 0);
    this.base = above + (this.inside ? 0 : 22) + Math.max(...ups) + 2 * this.r + 4;
    this.px = xs.map(this.toX);
    this.py = ups.map((up) => this.base - this.r - up);
    const rows = this.steps.map((step, i) => (step.changed.length ? Math.max(0, ...this.brackets(this.labels[i]).map((each) => each.level + 1)) : 0));
    this.rows = between(1, Math.max(...rows), 4);
    this.axisAt = this.base + 12 + 17 * this.rows;
    this.height = this.axisAt + 44;
  }

  /** Return how far up each record is drawn, so that none covers another: duplicates stand on each other. */
  swarm() {
    const size = 2 * this.r + 2, ups = [], placed = [], xs = this.records.x.map(this.toX);
    for (const i of [...xs.keys()].sort((a, b) => xs[a] - xs[b] || a - b)) {
      const near = placed.filter((j) => xs[i] - xs[j] < size - 0.01);
      const heights = [0, ...near.map((j) => ups[j] + Math.sqrt(size * size - (xs[i] - xs[j]) ** 2))].sort((a, b) => a - b);
      ups[i] = heights.find((up) => near.every((j) => Math.hypot(xs[i] - xs[j], up - ups[j]) >= size - 0.01));
      placed.push(i);
    }
    return ups;
  }

  layPlane() {
    const { x: xs, y: ys } = this.records, { r, width } = this;
    const [[low, high], [bottom, top]] = [xs, ys].map((values) => [Math.min(...values), Math.max(...values)]);
    // As much room as the numbers beside the axis need.
    const numbers = Math.max(...ticks(bottom, top, 5).map(([, text]) => text.length)), left = Math.max(52, 36 + LETTER * numbers) + r;
    const above = (this.steps.some((step) => step.cuts.length) ? 30 : 14) + r;
    this.height = Math.round(between(250, 0.7 * width, 380));
    const room = [width - left - 14 - r, this.height - above - 54 - r], spread = [high - low, top - bottom];
    const fits = spread.map((each, i) => (each > 0 ? room[i] / each : Infinity));
    // With equal scales distances look as they are; where one attribute is far wider nothing could be told apart.
    this.equal = !(Math.max(...fits) / Math.min(...fits) > 6) || fits.includes(Infinity);
    this.scales = fits.map((each) => (this.equal ? Math.min(...fits) : each)).map((each) => (each === Infinity ? Math.min(...room) / 2 : each));
    const [across, up] = this.scales, startX = left + (room[0] - spread[0] * across) / 2, startY = above + (room[1] - spread[1] * up) / 2;
    this.toX = (x) => startX + (x - low) * across;
    this.toY = (y) => startY + (top - y) * up;
    this.frame = [left - r - 4, 8, width - 8, this.height - 50];
    const valueAt = (x, y) => [low + (x - startX) / across, top - (y - startY) / up];
    const [[fromX, fromY], [toX, toY]] = [valueAt(this.frame[0], this.frame[3]), valueAt(this.frame[2], this.frame[1])];
    this.domain = [fromX, toX, fromY, toY];
    const seen = new Map();
    [this.px, this.py] = [[], []];
    xs.forEach((x, i) => {
      const at = [this.toX(x), this.toY(ys[i])], key = at.map((each) => each.toFixed(1)).join(), same = seen.get(key) || 0;
      seen.set(key, same + 1);
      // Duplicates stand beside each other, in a spiral as seeds do.
      const away = 2.1 * r * Math.sqrt(same), turn = (same - 1) * 2.39996;
      this.px.push(at[0] + away * Math.cos(turn));
      this.py.push(at[1] + away * Math.sin(turn));
    });
  }

  /** Tell whether records cover each other's names. */
  isCrowded() {
    return this.px.some((x, i) => this.px.some((other, j) => j < i && Math.hypot(x - other, this.py[i] - this.py[j]) < 1.7 * this.r));
  }

  axes() {
    const axes = svg("g", { class: "mg-axes" }), [xTitle, yTitle] = this.records.labels, { line, width } = this;
    const [left, top, right, at] = line ? [8, null, width - 8, this.axisAt] : this.frame;
    const title = (text, room, where) => svg("text", { "text-anchor": "middle", ...where }, short(text, Math.floor(room / 7.8)));
    axes.append(path(`M${left} ${at}H${right}`), title(line || this.equal ? xTitle : `${xTitle} (the axes differ in scale)`, width, { x: (left + right) / 2, y: at + 40 }));
    for (const [x, text] of ticks(this.domain[0], this.domain[1], Math.max(2, width / 110))) {
      axes.append(path(`M${this.toX(x)} ${at}v6`), svg("text", { x: this.within(this.toX(x), text), y: at + 21, "text-anchor": "middle" }, text));
    }
    // Records that are drawn above each other: here is where they lie.
    if (line) axes.append(path(this.px.map((x) => `M${x} ${at}v-7`).join(""), { class: "mg-where" }));
    if (line) return axes;
    axes.append(path(`M${left} ${at}V${top}`), title(yTitle, this.height, { transform: `translate(14 ${(top + at) / 2}) rotate(-90)` }));
    for (const [y, text] of ticks(this.domain[2], this.domain[3], 5)) {
      axes.append(path(`M${left} ${this.toY(y)}h-6`), svg("text", { x: left - 9, y: this.toY(y) + 5, "text-anchor": "end" }, text));
    }
    return axes;
  }

  /** Return the first of some places beside a point where a text covers nothing and is not cut off, and its box there. */
  free(x, y, text, places) {
    const wide = LETTER * text.length + 2, [first, , , bottom] = this.line ? [0, 0, 0, this.axisAt] : this.frame;
    for (const [dx, dy, anchor] of places) {
      const left = x + dx - { start: 0, middle: wide / 2, end: wide }[anchor];
      const box = [left, y + dy - 9, left + wide, y + dy + 9];
      const covers = this.boxes.some((b) => b[2] > box[0] && b[0] < box[2] && b[3] > box[1] && b[1] < box[3]);
      if (left >= first && box[2] <= this.width && box[1] >= 0 && box[3] <= bottom && !covers) return { box, place: [dx, dy, anchor] };
    }
    return null;
  }

  /** Write the name of a record beside it, unless it would cover something: then the pointer shows it. */
  nameOutside(text, i) {
    const places = around(this.r + 5), { box, place } = this.free(...this.at(i), text, this.line ? [places[3]] : places) ?? {};
    if (!box) return;
    this.boxes.push(box);
    this.named.add(i);
    this.names.append(svg("text", { x: this.px[i] + place[0], y: this.py[i] + place[1], dy: "0.36em", "text-anchor": place[2] }, text));
  }

  /** Return the groups on a line, each with its ends and the level on which it touches no other. */
  brackets(labels) {
    const groups = [...membersOf(labels)].map(([group, members]) => {
      const xs = members.map((i) => this.px[i]);
      return { group, members, from: Math.min(...xs) - this.r, to: Math.max(...xs) + this.r };
    });
    const ends = [];
    for (const each of groups.slice().sort((a, b) => a.from - b.from)) {
      const level = ends.findIndex((end) => end + 2 < each.from);
      each.level = level < 0 ? ends.length : level;
      ends[each.level] = each.to;
    }
    return groups;
  }

  show(labels, step = BLANK) {
    labels.forEach((group, i) => {
      if (this.drawn[i] === group) return;
      this.drawn[i] = group;
      this.marks[i].setAttribute("d", outline(group, this.r));
      this.marks[i].style.fill = group < 0 ? "" : color(group);
      this.marks[i].parentNode.setAttribute("class", `mg-record ${group < 0 ? "" : DARK.has(color(group)) ? "mg-on-dark" : "mg-on-light"}`);
    });
    const groups = membersOf(labels);
    if (this.line) this.showBrackets(labels); else this.showHulls(groups);
    for (const drawn of [this.middles, this.hulls]) {
      for (const [group, { mark }] of drawn) if (!groups.has(group)) { mark.remove(); drawn.delete(group); }
    }
    for (const [group, { mark }] of this.hulls) mark.classList.toggle("mg-meant", group === step.group);
    this.showFocus(step);
    this.svg.setAttribute("aria-label", groups.size ? `${this.n} records, ${groups.size} groups so far` : `${this.n} records, no group yet`);
  }

  showBrackets(labels) {
    this.outlines.replaceChildren(...this.brackets(labels).map(({ group, members, from, to, level }) => {
      const y = this.base + 9 + 17 * Math.min(level, this.rows - 1);
      this.move(group, this.toX(mean(members.map((i) => this.records.x[i]))), y + 1);
      return path(`M${from} ${y - 6}V${y}H${to}V${y - 6}`, { stroke: color(group) });
    }));
  }

  showHulls(groups) {
    for (const [group, members] of groups) {
      const before = this.hulls.get(group), sign = members.join(), r = this.r + 5;
      if (before?.sign === sign) continue;
      const dash = ["none", "7 4", "2 4"][Math.floor(group / COLORS.length) % 3];
      const mark = before?.mark ?? path("", { fill: color(group), stroke: color(group), "stroke-dasharray": dash });
      const points = members.flatMap((i) => CORNERS.map(([x, y]) => [this.px[i] + r * x, this.py[i] + r * y]));
      mark.setAttribute("d", `M${hull(points).map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}Z`);
      if (!before) this.outlines.append(mark);
      this.hulls.set(group, { sign, mark });
      this.move(group, this.toX(mean(members.map((i) => this.records.x[i]))), this.toY(mean(members.map((i) => this.records.y[i]))));
    }
  }

  /** Let the centroid of a group slide to where it is now. */
  move(group, x, y) {
    if (!this.middles.has(group)) {
      const plus = this.n > MANY ? "M-4 0H4M0 -4V4" : "M-7 0H7M0 -7V7";
      const mark = this.line ? path("M0 -5L8 8H-8Z", { class: "mg-centroid", fill: color(group) }) : path(plus, { class: "mg-centroid mg-plus" });
      this.centroids.append(mark);
      this.middles.set(group, { mark });
    }
    this.middles.get(group).mark.style.transform = `translate(${x}px, ${y}px)`;
  }

  at(record) { return [this.px[record], this.py[record]]; }

  /** Return the middle of a text that is not cut off, near x. */
  within(x, text) {
    const half = text.length * 4.8 + 1;
    return Math.max(half, Math.min(x, this.width - half));
  }

  /** Write a label that stays readable on whatever is behind it, and within the picture. */
  label(x, y, text, anchor = "middle") {
    this.over.append(svg("text", { class: "mg-label", x: anchor === "middle" ? this.within(x, text) : x, y, "text-anchor": anchor }, text));
  }

  /** Write the name of the record at hand, where it covers neither the record nor those above it. */
  labelSeed(seed) {
    const [x, y] = this.at(seed), text = short(this.records.names[seed], 24), half = text.length * 4.8;
    const above = this.line ? Math.min(...this.px.map((other, i) => (Math.abs(other - x) < half + this.r ? this.py[i] : y))) : y;
    this.label(x, above < this.r + 32 && !this.line ? y + this.r + 24 : above - this.r - 12, text);
  }

  showFocus(step) {
    const { seed, order } = step;
    this.over.replaceChildren();
    this.under.replaceChildren();
    if (order?.length && !this.line) this.under.append(path(`M${order.map((i) => this.at(i).join(" ")).join("L")}`, { class: "mg-order" }));
    for (const i of step.candidates) this.over.append(ring(...this.at(i), this.r + 4, "mg-candidate"));
    this.showPoint(step);
    if (step.radius && seed !== null) this.showRadius(step.radius, seed);
    for (const line of step.lines) this.showLine(...line);
    for (const cut of step.cuts) this.showCut(cut, step.cuts.length <= 3);
    if (seed === null) return;
    this.over.append(ring(...this.at(seed), this.r + 5, "mg-seed"));
    if (!this.named.has(seed)) this.labelSeed(seed);
  }

  showPoint({ point, measured, seed }) {
    this.pointer.setAttribute("visibility", point ? "visible" : "hidden");
    if (!point) return;
    const x = this.toX(point[0]), y = this.line ? this.pointAt : this.toY(point[1]), places = around(14);
    const [dx, dy, anchor] = this.line ? places[x > this.width * 0.62 ? 1 : 0] : this.free(x, y, measured, places)?.place ?? places[0];
    this.pointer.replaceChildren(
      ...(this.line ? [path(`M0 8V${this.axisAt - y}`, { class: "mg-stem" })] : []), path("M-7 -7L7 7M-7 7L7 -7", { class: "mg-cross" }),
      svg("text", { class: "mg-label", x: dx, y: dy, dy: "0.36em", "text-anchor": anchor }, measured),
    );
    this.pointer.style.transform = `translate(${x}px, ${y}px)`;
    if (seed === null) return;
    const from = `M${this.at(seed).join(" ")}`;
    this.under.append(path(this.line ? `${from}V${y + 18}H${x}` : `${from}L${x} ${y}`, { class: "mg-distance" }));
  }

  showRadius(radius, seed) {
    if (!this.line) {
      const [cx, cy] = this.at(seed), [across, up] = this.scales;
      this.under.append(svg("ellipse", { class: "mg-radius", cx, cy, rx: radius * across, ry: radius * up }));
      return;
    }
    const value = this.records.x[seed], [from, to] = [value - radius, value + radius].map((each) => between(3, this.toX(each), this.width - 3));
    this.over.append(path(`M${from} ${this.radiusAt + 7}V${this.radiusAt}H${to}V${this.radiusAt + 7}`, { class: "mg-radius" }));
    this.label((from + to) / 2, this.radiusAt - 6, `within ${written(radius)}`);
  }

  showLine(a, b, text) {
    const [[x0, y0], [x1, y1]] = [this.at(a), this.at(b)], middle = (x0 + x1) / 2, least = 9 * text.length + 2 * this.r;
    const line = (d, name = "mg-line") => this.over.append(path(d, { class: name }));
    if (!this.line) {
      line(`M${x0} ${y0}L${x1} ${y1}`);
      if (Math.hypot(x1 - x0, y1 - y0) > least) this.label(middle, (y0 + y1) / 2 - 6, text);
    } else if (Math.abs(x1 - x0) < least) {
      // Side by side or on each other: their outlines are joined, and their distance is left to the words.
      const long = Math.hypot(x1 - x0, y1 - y0) || 1, [dx, dy] = [x1 - x0, y1 - y0].map((each) => (0.75 * each * this.r) / long);
      line(`M${x0 + dx} ${y0 + dy}L${x1 - dx} ${y1 - dy}`, "mg-line mg-near");
    } else {
      // Over the records between the two; its middle is halfway to the point that bends it.
      const tops = this.px.map((x, i) => ((x - x0) * (x - x1) <= 0 ? this.py[i] : y0)), ends = (y0 + y1) / 2 - this.r, up = Math.min(...tops) - this.r - 10;
      line(`M${x0} ${y0 - this.r}Q${middle} ${2 * up - ends} ${x1} ${y1 - this.r}`);
      this.label(middle, up - 5, text);
    }
  }

  showCut({ axis, at, text }, named) {
    const across = axis === "x", where = across ? this.toX(at) : this.toY(at), top = 20;
    const [left, , right, bottom] = this.line ? [0, 0, 0, this.axisAt] : this.frame;
    this.under.append(path(across ? `M${where} ${top}V${bottom}` : `M${left} ${where}H${right}`, { class: "mg-cut" }));
    if (named) this.label(across ? where : right - 4, (across ? top : where) - 6, `cut at ${text}`, across ? "middle" : "end");
  }
}
