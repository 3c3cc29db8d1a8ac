// Records that are put into groups by hand. The browser keeps who is in which group; Python scores it. Joined to picture.js.

const REST = 250; // milliseconds without a change after which Python is told
const MOVED = 6; // pixels from which on a press is a drag
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const exercises = new WeakMap();

const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

class Exercise {
  constructor(root) {
    this.root = root;
    [this.chips, this.stage, this.state, this.undo, this.again, this.best, this.heard, this.drag] =
      ["chips", "stage", "state", "undo", "again", "best", "heard", "drag"].map((name) => root.querySelector(`.${name}`));
    this.undo.onclick = () => this.takeBack();
    this.again.onclick = () => this.change(this.labels.map(() => -1), "All records are taken out of their groups.");
    const { stage } = this;
    stage.addEventListener("pointerdown", (e) => this.press(e));
    stage.addEventListener("pointermove", (e) => this.move(e));
    stage.addEventListener("pointerup", () => this.release());
    stage.addEventListener("pointercancel", () => this.letGo());
    stage.addEventListener("keydown", (e) => this.key(e));
    new ResizeObserver(() => this.data && this.root.clientWidth !== this.width && this.lay()).observe(root);
  }

  show(data) {
    const other = this.data?.id !== data.id;
    this.data = data;
    if (other) {
      this.labels = data.labels.slice();
      [this.past, this.chosen, this.at] = [[], 0, 0];
      this.groups = Math.max(1, ...this.labels.map((group) => group + 1));
      this.picture = new Picture(data.records, [], [], true);
      this.root.classList.toggle("mg-line-scene", this.picture.line);
      this.stage.replaceChildren(this.picture.root, this.drag);
    }
    this.lay();
  }

  lay() {
    this.width = this.root.clientWidth;
    if (!this.width) return;
    const { records, optimum } = this.data, small = this.width < 700, focused = this.root.getRootNode().activeElement?.closest?.(".stage .mg-record");
    this.picture.lay(this.width, small);
    this.nodes = this.picture.marks.map((mark) => mark.parentNode);
    this.best.hidden = !optimum;
    if (optimum) {
      const picture = settled(records, optimum.labels, true);
      this.best.replaceChildren(html("p", {}, `Optimum: ${optimum.text}`), picture.root);
      picture.lay(this.width, small);
      picture.show(optimum.labels);
    }
    this.paint();
    if (focused) this.nodes[this.at].focus();
  }

  paint() {
    const { k, records } = this.data, { labels } = this, sizes = Array.from({ length: this.groups }, (_, group) => labels.filter((each) => each === group).length);
    this.sizes = sizes;
    this.picture.show(labels);
    this.picture.offer(true, this.at);
    this.picture.svg.setAttribute("aria-label", "Records: arrows go from one to the next, a digit puts it into a group");
    this.nodes.forEach((node, i) => node.setAttribute("aria-label", `${records.names[i]}, ${labels[i] < 0 ? "in no group" : `in group ${labels[i] + 1}`}`));
    const more = html("button", { type: "button", class: "chip more", disabled: sizes.at(-1) === 0 && "" }, "+ new group");
    more.onclick = () => this.choose(this.groups++);
    this.chips.replaceChildren(...sizes.map((size, group) => this.chip(group, size)), more);
    const left = labels.filter((group) => group < 0).length, lacking = sizes.flatMap((size, group) => (size > 0 && size < k ? [`group ${group + 1} has ${size} of ${k}`] : []));
    const says = [...(left ? [`${counted(left, "record")} in no group yet`] : []), ...lacking].join("; ");
    this.state.textContent = says ? `${says[0].toUpperCase()}${says.slice(1)}.` : `All ${labels.length} records are in groups of ${k} or more.`;
    this.undo.disabled = !this.past.length;
    this.again.disabled = left === labels.length;
  }

  chip(group, size) {
    const { k } = this.data, lacks = size < k, name = `Group ${group + 1}: ${counted(size, "record")}${lacks ? `, needs ${k}` : ""}`;
    const attributes = { type: "button", class: `chip${size && lacks ? " few" : ""}`, "aria-pressed": String(group === this.chosen), "aria-label": name };
    const chip = html("button", attributes, sign(group), html("b", {}, group + 1), html("span", {}, lacks ? `${size} of ${k}` : `${size} ✓`));
    chip.onclick = () => this.choose(group);
    return chip;
  }

  choose(group) {
    this.chosen = group;
    this.paint();
    this.chips.children[group].focus();
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
    const names = records.map((i) => this.data.records.names[i]).join(", ");
    this.change(this.labels.map((old, i) => (records.includes(i) ? group : old)), `${names}: ${group < 0 ? "out of its group" : `in group ${group + 1}`}.`);
  }

  toggle(i) { this.put([i], this.labels[i] === this.chosen ? -1 : this.chosen); }

  key(event) {
    const record = this.picture.recordOf(event), { key } = event, command = event.ctrlKey || event.metaKey;
    if (record < 0) return;
    this.at = record;
    if (key === "u" || (command && key.toLowerCase() === "z")) this.takeBack();
    else if (command || event.altKey) return;
    else if (ARROWS[key]) this.go(...ARROWS[key]);
    else if (key === "Enter" || key === " ") this.toggle(this.at);
    else if (key === "Delete" || key === "Backspace") this.put([this.at], -1);
    else if (key === "+") this.digit(this.sizes.at(-1) ? this.groups : this.groups - 1);
    else if (/^[1-9]$/.test(key)) this.digit(Number(key) - 1);
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

  /** Go to the next record to the left or right, or up or down. */
  go(dx, dy) {
    const { px, py } = this.picture, [along, other] = dx ? [px, py] : [py, px];
    const order = [...px.keys()].sort((a, b) => along[a] - along[b] || other[b] - other[a]);
    this.at = order[between(0, order.indexOf(this.at) + dx + dy, order.length - 1)];
    this.nodes.forEach((node, i) => node.setAttribute("tabindex", i === this.at ? 0 : -1));
    this.nodes[this.at].focus();
  }

  press(event) {
    if (event.button) return;
    [this.from, this.pressed, this.dragging] = [this.picture.pixel(event), this.picture.recordOf(event), false];
  }

  move(event) {
    if (!this.from) return;
    const to = this.picture.pixel(event), { line, height, svg: node, tip } = this.picture;
    if (!this.dragging && Math.hypot(to[0] - this.from[0], to[1] - this.from[1]) < MOVED) return;
    if (!this.dragging) node.setPointerCapture(event.pointerId);
    this.dragging = tip.hidden = true;
    const [[left, right], [top, bottom]] = [0, 1].map((j) => [this.from[j], to[j]].sort((a, b) => a - b));
    // On a line height means nothing, so a drag along it takes what stands above and below.
    this.area = line ? [left, 0, right, height] : [left, top, right, bottom];
    const [x, y, toX, toY] = this.area;
    Object.assign(this.drag.style, { left: `${x}px`, top: `${y}px`, width: `${toX - x}px`, height: `${toY - y}px` });
    this.drag.hidden = false;
    const taken = this.within();
    this.nodes.forEach((record, i) => record.classList.toggle("taken", taken.includes(i)));
  }

  /** Return the records in the area of the drag. */
  within() {
    const { px, py } = this.picture, [left, top, right, bottom] = this.area;
    return [...px.keys()].filter((i) => px[i] >= left && px[i] <= right && py[i] >= top && py[i] <= bottom);
  }

  release() {
    if (!this.from) return;
    const taken = this.dragging ? this.within() : [];
    if (taken.length) this.put(taken, this.chosen);
    else if (!this.dragging && this.pressed >= 0) {
      this.toggle((this.at = this.pressed));
      this.nodes[this.at].focus({ preventScroll: true });
    }
    this.letGo();
  }

  letGo() {
    this.from = null;
    this.drag.hidden = true;
    this.nodes.forEach((node) => node.classList.remove("taken"));
  }
}

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".mg-exercise");
  if (!exercises.has(root)) exercises.set(root, new Exercise(root));
  const exercise = exercises.get(root);
  exercise.tell = (labels) => setStateValue("labels", labels);
  exercise.show(data);
}
