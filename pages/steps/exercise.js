// Records that are put into groups by hand. The browser keeps who is in which group; Python scores it. Joined to picture.js.

const REST = 250; // milliseconds without a change after which Python is told
const MOVED = 6; // pixels from which on a press is a drag
const LEAST = 12; // the radius of a record that a finger can hit
const exercises = new WeakMap();

const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

class Exercise {
  constructor(root) {
    this.root = root;
    [this.chips, this.stage, this.state, this.undo, this.again, this.best, this.heard] =
      ["chips", "stage", "state", "undo", "again", "best", "heard"].map((name) => root.querySelector(`.${name}`));
    this.drag = this.stage.querySelector(".drag");
    this.undo.onclick = () => this.takeBack();
    this.again.onclick = () => this.change(this.labels.map(() => -1), "All records are taken out of their groups.");
    const { stage } = this;
    stage.addEventListener("pointerdown", (e) => this.press(e));
    stage.addEventListener("pointermove", (e) => this.move(e));
    stage.addEventListener("pointerup", (e) => this.release(e));
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
      this.picture = new Picture(data.records, [], [], LEAST);
      this.root.classList.toggle("mg-line-scene", this.picture.line);
      this.stage.replaceChildren(this.picture.root, this.drag);
    }
    this.lay();
  }

  lay() {
    this.width = this.root.clientWidth;
    if (!this.width) return;
    const small = this.width < 700, focused = this.root.getRootNode().activeElement?.closest?.(".stage .mg-record");
    this.picture.lay(this.width, small);
    this.nodes = this.picture.marks.map((mark) => mark.parentNode);
    this.best.hidden = !this.data.optimum;
    if (this.data.optimum) {
      const optimum = new Picture(this.data.records, [], [], LEAST);
      this.best.replaceChildren(html("p", {}, `Optimum: ${this.data.optimum.text}`), optimum.root);
      optimum.lay(this.width, small);
      optimum.show(this.data.optimum.labels, BLANK);
    }
    this.paint();
    if (focused) this.nodes[this.at].focus();
  }

  sizes() {
    const sizes = Array(this.groups).fill(0);
    for (const group of this.labels) if (group >= 0) sizes[group]++;
    return sizes;
  }

  paint() {
    this.picture.show(this.labels, BLANK);
    this.picture.offer(true);
    this.picture.svg.setAttribute("aria-label", "Records: arrows go from one to the next, a digit puts it into a group");
    this.nodes.forEach((node, i) => {
      const group = this.labels[i], where = group < 0 ? "in no group" : `in group ${group + 1}`;
      node.setAttribute("tabindex", i === this.at ? 0 : -1);
      node.setAttribute("aria-label", `${this.data.records.names[i]}, ${where}`);
    });
    const sizes = this.sizes(), more = html("button", { type: "button", class: "chip more", disabled: sizes.at(-1) === 0 && "" }, "+ new group");
    more.onclick = () => this.choose(this.groups++);
    this.chips.replaceChildren(...sizes.map((size, group) => this.chip(group, size)), more);
    this.state.textContent = this.standing(sizes);
    this.undo.disabled = !this.past.length;
    this.again.disabled = this.labels.every((group) => group < 0);
  }

  chip(group, size) {
    const { k } = this.data, lacks = size < k ? `, needs ${k}` : "";
    const chip = html("button", {
      type: "button", class: `chip${size && lacks ? " few" : ""}`, "aria-pressed": String(group === this.chosen),
      "aria-label": `Group ${group + 1}: ${counted(size, "record")}${lacks}`,
    }, sign(group), html("b", {}, group + 1), html("span", {}, lacks ? `${size} of ${k}` : `${size} ✓`));
    chip.onclick = () => this.choose(group);
    return chip;
  }

  choose(group) {
    this.chosen = group;
    this.paint();
    this.chips.children[group].focus();
  }

  standing(sizes) {
    const { k } = this.data, left = this.labels.filter((group) => group < 0).length;
    const says = sizes.flatMap((size, group) => (size > 0 && size < k ? [`group ${group + 1} has ${size} of ${k}`] : []));
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
    const names = records.map((i) => this.data.records.names[i]).join(", ");
    const says = group < 0 ? `${names}: out of its group.` : `${names}: in group ${group + 1}.`;
    this.change(this.labels.map((old, i) => (records.includes(i) ? group : old)), says);
  }

  toggle(i) { this.put([i], this.labels[i] === this.chosen ? -1 : this.chosen); }

  key(event) {
    const record = event.target.closest(".mg-record");
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

  /** Go to the record that lies nearest in a direction; on a line to the next one. */
  go([dx, dy]) {
    const { px, py, line } = this.picture;
    let next = this.at, least = Infinity;
    px.forEach((x, i) => {
      const [right, down] = [x - px[this.at], py[i] - py[this.at]], along = right * dx + down * dy;
      const far = along + 2 * (Math.abs(right * dy) + Math.abs(down * dx));
      if (along > 0.5 && far < least) [next, least] = [i, far];
    });
    if (line && dx) {
      const order = [...px.keys()].sort((a, b) => px[a] - px[b] || py[b] - py[a]);
      next = order[Math.min(Math.max(order.indexOf(this.at) + dx, 0), order.length - 1)];
    }
    this.at = next;
    this.nodes.forEach((node, i) => node.setAttribute("tabindex", i === next ? 0 : -1));
    this.nodes[next].focus();
  }

  point(event) {
    const box = this.picture.svg.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  press(event) {
    if (event.button) return;
    this.from = this.point(event);
    this.pressed = event.target.closest(".mg-record")?.dataset.record;
    this.dragging = false;
  }

  move(event) {
    if (!this.from) return;
    const to = this.point(event), { line, height, svg: node, tip } = this.picture;
    if (!this.dragging && Math.hypot(to[0] - this.from[0], to[1] - this.from[1]) < MOVED) return;
    if (!this.dragging) node.setPointerCapture(event.pointerId);
    this.dragging = tip.hidden = true;
    const [left, right] = [this.from[0], to[0]].sort((a, b) => a - b), [top, bottom] = [this.from[1], to[1]].sort((a, b) => a - b);
    // On a line height says nothing, so a drag along it takes what stands above and below.
    this.area = line ? [left, 0, right, height] : [left, top, right, bottom];
    const [x, y, toX, toY] = this.area;
    Object.assign(this.drag.style, { left: `${x}px`, top: `${y}px`, width: `${toX - x}px`, height: `${toY - y}px` });
    this.drag.hidden = false;
    const taken = new Set(this.within());
    this.nodes.forEach((record, i) => record.classList.toggle("taken", taken.has(i)));
  }

  /** Return the records in the area of the drag. */
  within() {
    const { px, py } = this.picture, [left, top, right, bottom] = this.area;
    return [...px.keys()].filter((i) => px[i] >= left && px[i] <= right && py[i] >= top && py[i] <= bottom);
  }

  release() {
    if (!this.from) return;
    if (this.dragging) {
      const taken = this.within();
      if (taken.length) this.put(taken, this.chosen);
    } else if (this.pressed !== undefined) {
      this.at = Number(this.pressed);
      this.toggle(this.at);
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
  let exercise = exercises.get(root);
  if (!exercise) exercises.set(root, (exercise = new Exercise(root)));
  exercise.tell = (labels) => setStateValue("labels", labels);
  exercise.show(data);
}
