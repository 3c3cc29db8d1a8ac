// Records that are put into groups by hand. The browser keeps who is in which group; Python scores it.

const SVG = "http://www.w3.org/2000/svg";
const REST = 250; // milliseconds without a change after which Python is told
const MOVED = 6; // pixels from which on a press is a drag
// In pixels: half the height of a record, the margin of the picture, and what the title of the upper axis takes.
const HIGH = 16, SIDE = 30, TOP = 22;
const exercises = new WeakMap();

function svg(name, attributes = {}, text = null) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== null) node.textContent = text;
  return node;
}

function html(name, className, text = "") {
  const node = document.createElement(name);
  node.className = className;
  node.textContent = text;
  return node;
}

const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
const short = (name) => ([...name].length > 6 ? `${[...name].slice(0, 5).join("")}…` : name);

/** Return about `most` round numbers between two others. */
function ticks(low, high, most) {
  if (!(high > low)) return [low];
  const rough = (high - low) / most, unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * unit).find((one) => one >= rough);
  const found = [];
  for (let at = Math.ceil(low / step); at * step <= high + step * 1e-9; at++) found.push(Number((at * step).toPrecision(12)));
  return found;
}

/** Return a map from [low, high] to [from, to]; a single value goes to the middle. */
function scale(values, from, to) {
  const low = Math.min(...values), high = Math.max(...values);
  const map = (value) => (high > low ? from + ((value - low) / (high - low)) * (to - from) : (from + to) / 2);
  return Object.assign(map, { low, high });
}

/** Return black or white, whichever is read better on a color. */
function ink(color) {
  const [red, green, blue] = [1, 3, 5].map((i) => (parseInt(color.slice(i, i + 2), 16) / 255) ** 2.2);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.22 ? "#10161D" : "#FFFFFF";
}

/** Move boxes apart that overlap, each as little as possible, within a frame. */
function spread(boxes, [left, top, right, bottom]) {
  for (let round = 0; round < 200; round++) {
    let moved = false;
    boxes.forEach((a, i) => {
      for (const b of boxes.slice(i + 1)) {
        const dx = b.x - a.x, dy = b.y - a.y;
        const across = a.wide + b.wide + 2 - Math.abs(dx), down = 2 * HIGH + 2 - Math.abs(dy);
        if (across <= 0.01 || down <= 0.01) continue;
        moved = true;
        const [axis, by, away] = across < down ? ["x", across, dx] : ["y", down, dy];
        const shift = (away < 0 ? -1 : 1) * by / 2;
        a[axis] -= shift;
        b[axis] += shift;
      }
    });
    for (const box of boxes) {
      box.x = Math.min(Math.max(box.x, left + box.wide + 2), right - box.wide - 2);
      box.y = Math.min(Math.max(box.y, top + HIGH), bottom - HIGH - 2);
    }
    if (!moved) return;
  }
}

/** A picture of records on a line or a plane; `choose` makes them buttons. */
class Picture {
  constructor(node) { this.node = node; }

  lay(data, width, label) {
    this.data = data;
    const boxes = data.names.map((name, i) => ({ i, wide: Math.max(HIGH, 5 + 4.6 * [...short(name)].length) }));
    this.height = data.y ? this.onPlane(boxes, width) : this.onLine(boxes, width);
    this.boxes = boxes;
    const frame = { viewBox: `0 0 ${width} ${this.height}`, width, height: this.height, "aria-label": label };
    for (const [key, value] of Object.entries(frame)) this.node.setAttribute(key, value);
    this.links = svg("g");
    // Below all records, as the stem of one may pass another.
    this.stems = svg("g", { class: "stems" });
    this.records = boxes.map((box) => this.record(box));
    this.node.replaceChildren(this.axes, this.links, this.stems, ...this.records);
  }

  onLine(boxes, width) {
    const place = scale(this.data.x, SIDE, width - SIDE), rows = [];
    for (const box of boxes) [box.x, box.trueX] = [place(this.data.x[box.i]), place(this.data.x[box.i])];
    for (const box of boxes.slice().sort((a, b) => a.x - b.x || a.i - b.i)) {
      let row = rows.findIndex((end) => end + 2 <= box.x - box.wide);
      if (row < 0) row = rows.length;
      rows[row] = box.x + box.wide;
      box.row = row;
    }
    const base = rows.length * (2 * HIGH + 4) + 20;
    for (const box of boxes) [box.y, box.trueY] = [base - 12 - HIGH - box.row * (2 * HIGH + 4), base];
    this.base = base;
    this.axes = svg("g", { class: "axis" });
    this.axes.append(svg("line", { x1: 6, x2: width - 6, y1: base, y2: base }));
    this.ticksBelow(place, width, base, base + 76);
    return base + (this.data.titles[0] ? 82 : 60);
  }

  onPlane(boxes, width) {
    const height = Math.round(Math.min(Math.max(width * 0.5, 300), 460)), left = 46, bottom = height - 50;
    const across = scale(this.data.x, left + SIDE, width - SIDE), up = scale(this.data.y, bottom - SIDE, TOP + SIDE);
    for (const box of boxes) {
      [box.x, box.y] = [across(this.data.x[box.i]), up(this.data.y[box.i])];
      [box.trueX, box.trueY] = [box.x, box.y];
    }
    spread(boxes, [left, TOP, width, bottom]);
    this.axes = svg("g", { class: "axis" });
    this.axes.append(svg("line", { x1: left, x2: width - 6, y1: bottom, y2: bottom }));
    this.axes.append(svg("line", { x1: left, x2: left, y1: TOP, y2: bottom }));
    this.ticksBelow(across, width, bottom, bottom + 42);
    for (const value of ticks(up.low, up.high, 4)) {
      this.axes.append(svg("line", { x1: left - 5, x2: left, y1: up(value), y2: up(value) }));
      this.axes.append(svg("text", { x: left - 8, y: up(value) + 5, "text-anchor": "end" }, String(value)));
    }
    if (this.data.titles[1]) this.axes.append(svg("text", { x: 4, y: 14 }, this.data.titles[1]));
    return height;
  }

  ticksBelow(place, width, base, titled) {
    for (const value of ticks(place.low, place.high, Math.max(2, Math.floor(width / 110)))) {
      this.axes.append(svg("line", { x1: place(value), x2: place(value), y1: base, y2: base + 6 }));
      this.axes.append(svg("text", { x: place(value), y: base + 22, "text-anchor": "middle" }, String(value)));
    }
    if (!this.data.titles[0]) return;
    this.axes.append(svg("text", { x: width - 6, y: titled, "text-anchor": "end" }, this.data.titles[0]));
  }

  record(box) {
    const node = svg("g", { class: "record", "data-record": box.i, transform: `translate(${box.x} ${box.y})` });
    node.append(svg("title", {}, this.data.says[box.i] || this.data.names[box.i]));
    this.stems.append(svg("line", { x1: box.x, y1: box.y, x2: box.trueX, y2: box.trueY }));
    node.append(svg("rect", { x: -box.wide, y: -HIGH, width: 2 * box.wide, height: 2 * HIGH, rx: HIGH }));
    node.append(svg("text", { y: 5.5, "text-anchor": "middle" }, short(this.data.names[box.i])));
    const badge = svg("g", { class: "badge", transform: `translate(${box.wide - 3} ${-HIGH + 3})` });
    badge.append(svg("circle", { r: 8.5 }), svg("text", { y: 4.5, "text-anchor": "middle" }));
    node.append(badge);
    return node;
  }

  color(group) { return this.data.palette[group % this.data.palette.length]; }

  paint(labels) {
    this.records.forEach((node, i) => {
      const group = labels[i], color = this.color(Math.max(group, 0));
      node.classList.toggle("in", group >= 0);
      node.querySelector("rect").style.fill = group >= 0 ? color : "";
      node.querySelector("text").style.fill = group >= 0 ? ink(color) : "";
      node.querySelector(".badge").style.stroke = color;
      node.querySelector(".badge text").textContent = group >= 0 ? group + 1 : "";
    });
    this.links.replaceChildren(...(this.data.y ? this.spokes(labels) : this.brackets(labels)));
  }

  members(labels) {
    const found = new Map();
    labels.forEach((group, i) => group >= 0 && found.set(group, [...(found.get(group) || []), this.boxes[i]]));
    return [...found].map(([group, boxes]) => [group, boxes.sort((a, b) => a.trueX - b.trueX)]);
  }

  /** On a line: from the first to the last record of each group, with its centroid. */
  brackets(labels) {
    const rows = [], drawn = [];
    for (const [group, boxes] of this.members(labels).sort((a, b) => a[1][0].trueX - b[1][0].trueX)) {
      const from = boxes[0].trueX - 5, to = boxes.at(-1).trueX + 5;
      let row = rows.findIndex((end) => end + 6 <= from);
      if (row < 0) row = rows.length;
      rows[row] = to;
      const y = this.base + 36 + Math.min(row, 1) * 14, color = this.color(group);
      const mean = boxes.reduce((sum, box) => sum + box.trueX, 0) / boxes.length;
      drawn.push(svg("line", { class: "link", x1: from, x2: to, y1: y, y2: y, stroke: color }));
      drawn.push(svg("path", { d: `M ${mean} ${y - 7} l 7 12 h -14 z`, fill: color, class: "centroid" }));
    }
    return drawn;
  }

  /** On a plane: from each record to the centroid of its group. */
  spokes(labels) {
    const drawn = [];
    for (const [group, boxes] of this.members(labels)) {
      const [x, y] = ["trueX", "trueY"].map((axis) => boxes.reduce((sum, box) => sum + box[axis], 0) / boxes.length);
      const color = this.color(group);
      for (const box of boxes) drawn.push(svg("line", { class: "link", x1: box.x, y1: box.y, x2: x, y2: y, stroke: color }));
      drawn.push(svg("path", { d: `M ${x} ${y - 7} l 7 12 h -14 z`, fill: color, class: "centroid" }));
    }
    return drawn;
  }

  /** Return the record that lies nearest to another in a direction; the same one if there is none. */
  next(from, dx, dy) {
    const here = this.boxes[from];
    let best = from, least = Infinity;
    for (const box of this.boxes) {
      const along = (box.x - here.x) * dx + (box.y - here.y) * dy;
      const aside = Math.abs((box.x - here.x) * dy) + Math.abs((box.y - here.y) * dx);
      if (along > 0.5 && along + 2 * aside < least) [best, least] = [box.i, along + 2 * aside];
    }
    return best;
  }

  within([left, top, right, bottom]) {
    return this.boxes.filter((b) => b.x >= left && b.x <= right && b.y >= top && b.y <= bottom).map((b) => b.i);
  }
}

class Exercise {
  constructor(root) {
    this.root = root;
    const at = (name) => root.querySelector(`.${name}`);
    [this.chips, this.stage, this.state, this.undo, this.again, this.best, this.heard] =
      ["chips", "stage", "state", "undo", "again", "best", "heard"].map(at);
    this.picture = new Picture(this.stage.querySelector("svg"));
    this.optimum = new Picture(this.best.querySelector("svg"));
    this.drag = this.stage.querySelector(".drag");
    this.undo.onclick = () => this.takeBack();
    this.again.onclick = () => this.change(this.labels.map(() => -1), "All records are taken out of their groups.");
    const node = this.picture.node;
    node.addEventListener("pointerdown", (e) => this.press(e));
    node.addEventListener("pointermove", (e) => this.move(e));
    node.addEventListener("pointerup", (e) => this.release(e));
    node.addEventListener("pointercancel", () => this.letGo());
    node.addEventListener("keydown", (e) => this.key(e));
    new ResizeObserver(() => this.data && this.root.clientWidth !== this.width && this.lay()).observe(root);
  }

  show(data) {
    const other = this.data?.id !== data.id;
    this.data = data;
    if (other) {
      this.labels = data.labels.slice();
      [this.past, this.chosen, this.at] = [[], 0, 0];
      this.groups = Math.max(1, ...this.labels.map((group) => group + 1));
    }
    this.lay();
  }

  lay() {
    this.width = this.root.clientWidth;
    if (!this.width) return;
    const focused = this.root.getRootNode().activeElement?.closest?.(".stage .record");
    this.picture.lay(this.data, this.width, "Records: arrows go from one to the next, a digit puts it into a group");
    this.best.hidden = !this.data.optimum;
    if (this.data.optimum) {
      this.best.querySelector("p").textContent = `Best possible: ${this.data.optimum.text}`;
      this.optimum.lay(this.data, this.width, "The groups of the best possible partition");
      this.optimum.paint(this.data.optimum.labels);
    }
    this.paint();
    if (focused) this.picture.records[this.at].focus();
  }

  sizes() {
    const sizes = Array(this.groups).fill(0);
    for (const group of this.labels) if (group >= 0) sizes[group]++;
    return sizes;
  }

  paint() {
    this.picture.paint(this.labels);
    this.picture.records.forEach((node, i) => {
      const group = this.labels[i];
      const where = group < 0 ? "in no group" : `in group ${group + 1}`;
      const says = { role: "button", tabindex: i === this.at ? 0 : -1, "aria-label": `${this.data.names[i]}, ${where}` };
      for (const [key, value] of Object.entries(says)) node.setAttribute(key, value);
    });
    const sizes = this.sizes();
    const chips = sizes.map((size, group) => this.chip(group, size));
    const more = html("button", "chip more", "+ new group");
    more.type = "button";
    more.disabled = sizes.at(-1) === 0;
    more.onclick = () => { this.chosen = this.groups++; this.paint(); this.chips.children[this.chosen].focus(); };
    this.chips.replaceChildren(...chips, more);
    this.state.textContent = this.standing(sizes);
    this.undo.disabled = !this.past.length;
    this.again.disabled = this.labels.every((group) => group < 0);
  }

  chip(group, size) {
    const { k, palette } = this.data, color = palette[group % palette.length];
    const chip = html("button", "chip"), number = html("b", "", group + 1);
    chip.type = "button";
    [number.style.background, number.style.color] = [color, ink(color)];
    chip.append(number, html("span", "", size >= k ? `${size} ✓` : `${size} of ${k}`));
    chip.classList.toggle("few", size > 0 && size < k);
    chip.setAttribute("aria-pressed", group === this.chosen);
    chip.setAttribute("aria-label", `Group ${group + 1}: ${counted(size, "record")}${size < k ? `, needs ${k}` : ""}`);
    chip.onclick = () => { this.chosen = group; this.paint(); this.chips.children[group].focus(); };
    return chip;
  }

  standing(sizes) {
    const { k } = this.data, left = this.labels.filter((group) => group < 0).length;
    const few = sizes.map((size, group) => [group + 1, size]).filter(([, size]) => size > 0 && size < k);
    const says = few.map(([group, size]) => `group ${group} has ${size} of ${k}`);
    if (left) says.unshift(`${counted(left, "record")} in no group yet`);
    if (!says.length) return `All ${this.labels.length} records are in groups of ${k} or more.`;
    const text = says.join("; ");
    return `${text[0].toUpperCase()}${text.slice(1)}.`;
  }

  change(labels, says) {
    if (labels.every((group, i) => group === this.labels[i])) return;
    this.past.push([this.labels, this.groups]);
    this.labels = labels;
    this.groups = Math.max(this.groups, ...labels.map((group) => group + 1));
    this.changed(says);
  }

  takeBack() {
    if (!this.past.length) return;
    [this.labels, this.groups] = this.past.pop();
    this.chosen = Math.min(this.chosen, this.groups - 1);
    this.changed("Taken back.");
  }

  changed(says) {
    this.paint();
    this.heard.textContent = says;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.tell(this.labels), REST);
  }

  put(records, group) {
    const names = records.map((i) => this.data.names[i]).join(", ");
    const says = group < 0 ? `${names}: out of its group.` : `${names}: in group ${group + 1}.`;
    this.change(this.labels.map((old, i) => (records.includes(i) ? group : old)), says);
  }

  toggle(i) { this.put([i], this.labels[i] === this.chosen ? -1 : this.chosen); }

  key(event) {
    const record = event.target.closest(".record");
    if (!record) return;
    this.at = Number(record.dataset.record);
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z") this.takeBack();
    else if (event.ctrlKey || event.metaKey || event.altKey) return;
    else if (arrows[event.key]) this.go(arrows[event.key]);
    else if (event.key === "Enter" || event.key === " ") this.toggle(this.at);
    else if (event.key === "Delete" || event.key === "Backspace") this.put([this.at], -1);
    else if (event.key === "u") this.takeBack();
    else if (event.key === "+") this.digit(this.sizes().at(-1) ? this.groups : this.groups - 1);
    else if (/^[1-9]$/.test(event.key)) this.digit(Number(event.key) - 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  digit(group) {
    if (group > this.groups) {
      this.heard.textContent = `There is no group ${group + 1} yet: ${this.groups + 1} is the next.`;
      return;
    }
    this.chosen = group;
    this.put([this.at], group);
    this.paint();
  }

  go([dx, dy]) {
    let next = this.picture.next(this.at, dx, dy);
    if (!this.data.y && dx) {
      const order = this.picture.boxes.slice().sort((a, b) => a.x - b.x || a.row - b.row).map((box) => box.i);
      next = order[Math.min(Math.max(order.indexOf(this.at) + dx, 0), order.length - 1)];
    }
    this.at = next;
    this.picture.records.forEach((node, i) => node.setAttribute("tabindex", i === next ? 0 : -1));
    this.picture.records[next].focus();
  }

  point(event) {
    const box = this.picture.node.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  press(event) {
    if (event.button) return;
    this.from = this.point(event);
    this.pressed = event.target.closest(".record")?.dataset.record;
    this.dragging = false;
  }

  move(event) {
    if (!this.from) return;
    const to = this.point(event);
    if (!this.dragging && Math.hypot(to[0] - this.from[0], to[1] - this.from[1]) < MOVED) return;
    if (!this.dragging) this.picture.node.setPointerCapture(event.pointerId);
    this.dragging = true;
    const [left, right] = [this.from[0], to[0]].sort((a, b) => a - b), [top, bottom] = [this.from[1], to[1]].sort((a, b) => a - b);
    // On a line height says nothing, so a drag along it takes what stands above and below.
    this.area = this.data.y ? [left, top, right, bottom] : [left, 0, right, this.picture.height];
    const [x, y, toX, toY] = this.area;
    Object.assign(this.drag.style, { left: `${x}px`, top: `${y}px`, width: `${toX - x}px`, height: `${toY - y}px` });
    this.drag.hidden = false;
    const taken = new Set(this.picture.within(this.area));
    this.picture.records.forEach((node, i) => node.classList.toggle("taken", taken.has(i)));
  }

  release() {
    if (!this.from) return;
    if (this.dragging) {
      const taken = this.picture.within(this.area);
      if (taken.length) this.put(taken, this.chosen);
    } else if (this.pressed !== undefined) {
      this.at = Number(this.pressed);
      this.toggle(this.at);
      this.picture.records[this.at].focus({ preventScroll: true });
    }
    this.letGo();
  }

  letGo() {
    this.from = null;
    this.drag.hidden = true;
    this.picture.records.forEach((node) => node.classList.remove("taken"));
  }
}

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".mg-exercise");
  let exercise = exercises.get(root);
  if (!exercise) exercises.set(root, (exercise = new Exercise(root)));
  exercise.tell = (labels) => setStateValue("labels", labels);
  exercise.show(data);
}
