// The player: pictures and accounts of one or two runs, the controls, the keys; and how a page or Streamlit shows it.

const SPEEDS = [0.5, 1, 2, 4], BEAT = 2000, TELL_AFTER = 400, NARROW = 700, LOW = 860, MOST_BARS = 8;
const KEYS = ["Space plays and pauses", "← → one step", "Home and End", "D first difference"];

// Drawn, as not every font has such signs.
const ICONS = {
  first: "M3 2h2.5v12H3zM14 2v12L6 8z", back: "M12 2v12L4 8z", play: "M4 2l9 6-9 6z", pause: "M3 2h3.5v12H3zM9.5 2H13v12H9.5z",
  next: "M4 2v12l8-6z", end: "M2 2v12l8-6zM10.5 2H13v12h-2.5z",
};

/** Return the labels after each step of a side, as arrays. */
function labelsOf(steps, n) {
  const labels = new Int32Array(n).fill(-1);
  return steps.map((step) => {
    for (const [record, group] of step.changed) labels[record] = group;
    return labels.slice();
  });
}

const icon = (name) => svg("svg", { width: 16, height: 16, viewBox: "0 0 16 16", "aria-hidden": "true", class: "mg-icon" }, svg("path", { d: ICONS[name] }));

/** Return in a word why a quantity was chosen. */
function why(chosen, values) {
  const ending = values.length > 2 ? "est" : "er";
  if (values.filter((value) => value === chosen.value).length > 1) return "chosen";
  return chosen.value === Math.min(...values) ? `small${ending}` : chosen.value === Math.max(...values) ? `larg${ending}` : "chosen";
}

/** What a step does: the decision, large, and a sentence; below the picture the quantities and the pseudo-code. */
class Account {
  constructor(side, folded) {
    const open = folded ? false : "";
    this.title = html("h3");
    this.says = html("p", { class: "mg-says", "aria-live": "polite" });
    this.bars = html("div", { class: "mg-bars" });
    this.root = html("section", { class: "mg-now" }, this.title, this.says);
    this.numbers = html("details", { class: "mg-numbers", open }, html("summary", {}, "Numbers"), this.bars);
    this.lines = side.code.map((line) => html("li", { style: `padding-left: ${1.4 + 0.4 * (line.length - line.trimStart().length)}rem` }, line.trim()));
    this.list = html("ol", { tabindex: "0" }, ...this.lines);
    this.code = html("details", { class: "mg-code", open }, html("summary", {}, "Pseudo-code"), this.list);
    this.code.addEventListener("toggle", () => this.follow());
  }

  /** Show what a step does, and mark its line of the pseudo-code. */
  show({ title, text, line, quantities }) {
    [this.title.textContent, this.says.textContent] = [title, text];
    this.lines.forEach((each, i) => (i === line ? each.setAttribute("aria-current", "step") : each.removeAttribute("aria-current")));
    this.follow();
    this.showBars(quantities, quantities.length > 1 && quantities.some((each) => each.chosen));
  }

  follow() {
    const { list, code } = this, line = list.querySelector("[aria-current]");
    if (line && code.open && list.scrollHeight > list.clientHeight) list.scrollTop = line.offsetTop - list.clientHeight / 2 + line.offsetHeight / 2;
  }

  /** Show quantities, as bars where they are compared: where one of several decides. */
  showBars(quantities, compared) {
    const place = quantities.findIndex((each) => each.chosen), drawn = quantities.slice(0, MOST_BARS), more = quantities.length - drawn.length;
    if (place >= MOST_BARS) drawn[MOST_BARS - 1] = quantities[place];
    const values = quantities.map((each) => each.value), most = Math.max(...drawn.map((each) => Math.abs(each.value)));
    this.bars.replaceChildren(...drawn.map((each) => {
      const chosen = each.chosen && compared, width = most ? (100 * Math.abs(each.value)) / most : 0;
      return html("div", { class: chosen ? "mg-chosen" : "" },
        html("div", { class: "mg-name" }, html("span", {}, each.name), html("b", {}, each.text), chosen ? html("em", {}, `✓ ${why(each, values)}`) : null),
        compared ? html("div", { class: "mg-bar" }, html("i", { style: `width: ${width}%` })) : null,
        each.formula ? html("p", { class: "mg-formula" }, each.formula) : null);
    }), ...(more > 0 ? [html("p", { class: "mg-small" }, `${more} more are not listed.`)] : []));
  }

  /** Keep room for the longest words, so that nothing below jumps. */
  reserve(steps) {
    const longest = (part) => steps.reduce((most, step) => (step[part].length > most.length ? step[part] : most), "");
    this.root.style.minHeight = "";
    this.show({ ...steps[0], title: longest("title"), text: longest("text") });
    this.root.style.minHeight = `${this.root.offsetHeight}px`;
  }
}

/** The groups as a list, from left to right. */
function listed({ x, names }, labels) {
  const groups = [...membersOf(labels)], free = [...labels.keys()].filter((i) => labels[i] < 0);
  if (labels.length > NAMED) return [html("span", {}, `${groups.length} groups, ${free.length} records unassigned`)];
  const ascending = (members) => members.slice().sort((a, b) => x[a] - x[b] || a - b).map((i) => names[i]).join(", ");
  const places = new Map(groups.map(([group, members]) => [group, mean(members.map((i) => x[i]))]));
  groups.sort(([a], [b]) => places.get(a) - places.get(b));
  const spans = groups.map(([group, members]) => html("span", {}, sign(group), `{${ascending(members)}}`));
  return free.length ? [...spans, html("span", { class: "mg-free" }, `unassigned: ${ascending(free)}`)] : spans;
}

/** The part of the player that shows a run, or the optimum: a heading, a picture and groups. */
class Part {
  constructor(records, { title, settings = "", name = "" }, picture) {
    Object.assign(this, { records, picture, loss: html("span", { class: "mg-loss" }), groups: html("div", { class: "mg-groups" }) });
    const head = html("header", { class: "mg-head" }, html("h2", {}, title, html("small", {}, settings)), this.loss);
    this.root = html("section", { class: `mg-side ${name}`, "aria-label": title }, head, html("div", { class: "mg-drawn" }, picture.root), this.groups);
  }

  /** Lay the picture for the width there is. */
  lay(small) {
    const { root } = this.picture;
    this.picture.lay(root.clientWidth, small);
  }

  tell(labels, loss) {
    this.groups.replaceChildren(...listed(this.records, labels));
    this.loss.textContent = loss;
  }
}

class Side extends Part {
  /** Show side `s` of a scene. Its picture keeps room for what either side shows, so that their axes are in one line. */
  constructor(scene, s, folded) {
    const { records, sides } = scene, labels = sides.map((side) => labelsOf(side.steps, records.x.length)), { steps } = sides[s];
    super(records, sides[s], new Picture(records, sides.flatMap((side) => side.steps), labels.flat()));
    Object.assign(this, { steps, labels: labels[s], account: new Account(sides[s], folded) });
    this.root.insertBefore(this.account.root, this.groups);
    this.root.append(this.account.numbers, this.account.code);
  }

  lay(small) {
    super.lay(small);
    this.tell(this.labels.at(-1), "");
    this.groups.style.minHeight = "";
    this.groups.style.minHeight = `${this.groups.offsetHeight}px`;
    this.account.reserve(this.steps);
  }

  show(place) {
    const step = this.steps[place], labels = this.labels[place], none = labels.every((group) => group < 0);
    const order = this.steps.slice(0, place + 1).findLast((each) => each.order)?.order ?? null;
    this.picture.show(labels, { ...step, order });
    this.account.show(step);
    this.tell(labels, none ? "no group yet" : `groups so far: SSE ${step.sse}, IL ${step.loss}`);
  }
}

/** The best partition that is possible. */
class Best extends Part {
  constructor({ records, optimum: { labels, text } }) {
    super(records, { title: "Optimum", name: "mg-best" }, new Picture(records, [{ ...BLANK, changed: [[0, 0]] }], [labels]));
    this.tell(labels, text);
    this.lay = (small) => { super.lay(small); this.picture.show(labels); };
  }
}

/** Return what the marks of a scene mean, those that occur in it. */
function legend(scene) {
  const steps = scene.sides.flatMap((side) => side.steps), line = !scene.records.y;
  const marks = [
    [true, "unassigned record", svg("g", { class: "mg-record" }, svg("path", { d: outline(-1, 7) }))],
    [steps.some((step) => step.seed !== null), "current record", svg("circle", { class: "mg-seed", r: 8 })],
    [steps.some((step) => step.candidates.length), "candidate for its group", svg("circle", { class: "mg-candidate", r: 8 })],
    [!line && steps.some((step) => step.radius && step.seed !== null), "distance of the farthest candidate", svg("circle", { class: "mg-radius", r: 8 })],
    [!line && steps.some((step) => step.order?.length), "order of the records", svg("path", { class: "mg-order", d: "M-10 4L-2 -4L4 4L10 -4" })],
    [steps.some((step) => step.cuts.length), "cut", svg("path", { class: "mg-cut", d: "M0 -10V10" })],
    [true, "centroid of a group", line ? svg("path", { class: "mg-centroid", d: "M0 -6L8 7H-8Z" }) : svg("path", { class: "mg-plus", d: "M-7 0H7M0 -7V7" })],
    [steps.some((step) => step.point && step.seed !== null), "measured distance", svg("path", { class: "mg-distance", d: "M-10 0H10" })],
    [steps.some((step) => step.lines.length), "two records compared", svg("path", { class: "mg-line", d: line ? "M-9 5Q0 -11 9 5" : "M-9 5L9 -5" })],
  ];
  return html("div", { class: "mg-legend" }, ...marks.filter(([seen]) => seen).map(([, text, mark]) => html("span", {}, svg("svg", { width: 24, height: 20, viewBox: "-12 -10 24 20", "aria-hidden": "true" }, mark), text)));
}

class Player {
  constructor(host, scene, { onTick, at } = {}) {
    Object.assign(this, { scene, onTick, at: 0, speed: 1, playing: false, last: scene.ticks.length - 1 });
    const plane = Boolean(scene.records.y), { length } = scene.sides;
    this.root = html("div", { class: `mg-steps${plane ? "" : " mg-line-scene"}`, role: "group", "aria-label": "Step by step", tabindex: "0" });
    host.append(this.root);
    const folded = this.root.clientWidth < NARROW || window.innerHeight < LOW;
    this.sides = scene.sides.map((_, s) => new Side(scene, s, folded));
    this.parts = scene.optimum ? [...this.sides, new Best(scene)] : this.sides;
    const sides = html("div", { class: "mg-sides" }, ...this.parts.map((part) => part.root));
    Object.assign(sides.dataset, { number: length, columns: plane ? length : 0, rows: plane ? 0 : length, best: scene.optimum ? "yes" : "no" });
    const keys = KEYS.filter((each) => scene.differ !== null || !each.startsWith("D "));
    this.root.append(this.controls(), sides, legend(scene), html("p", { class: "mg-small mg-keys" }, `Keys: ${keys.join(", ")}.`));
    this.root.addEventListener("keydown", (event) => this.key(event));
    // Whoever turns to something else, such as another page, must not be called back by a step that is told late; and keys
    // work before anything is clicked, too.
    const left = (event) => this.telling && !this.root.contains(event.target) && this.tellNow();
    this.heard = [["pointerdown", left, true], ["keydown", left, true], ["keydown", (event) => event.target === document.body && this.root.isConnected && this.key(event)]];
    for (const each of this.heard) window.addEventListener(...each);
    this.watch = new ResizeObserver(() => this.lay());
    this.watch.observe(this.root);
    this.lay();
    this.show(at ?? scene.at, false);
  }

  controls() {
    const { differ, ticks } = this.scene;
    const button = (content, label, act, name = "") => {
      const made = html("button", { type: "button", "aria-label": label, title: label, class: name }, content);
      made.addEventListener("click", (event) => {
        act();
        // After a click by mouse or finger, which have a detail, Space plays instead of pressing this button again.
        if (event.detail) this.root.focus({ preventScroll: true });
      });
      return made;
    };
    this.play = button(icon("play"), "Play", () => this.toggle(), "mg-play");
    this.first = button(icon("first"), "First step", () => this.jump(0));
    this.back = button(icon("back"), "One step back", () => this.jump(this.at - 1));
    this.next = button(icon("next"), "One step on", () => this.jump(this.at + 1));
    this.end = button(icon("end"), "Last step", () => this.jump(this.last));
    const toDiffer = differ === null ? null : button("First difference", "To the first step at which the groups differ", () => this.jump(differ), "mg-differ");
    this.slider = html("input", { type: "range", min: 0, max: this.last, value: 0, "aria-label": "Step" });
    this.slider.addEventListener("input", () => this.jump(Number(this.slider.value)));
    this.count = html("span", { class: "mg-count" });
    this.pace = html("select", { "aria-label": "Speed" }, ...SPEEDS.map((each) => html("option", { value: each }, `${each}×`)));
    this.pace.addEventListener("change", () => this.quicken(Number(this.pace.value)));
    this.pace.value = String(this.speed);
    // Marks over the slider where groups change, as many as can be told apart, and where they first differ.
    const mark = (t, name) => html("i", { class: name, style: `left: calc(9px + ${this.last ? t / this.last : 0} * (100% - 18px))` });
    const changes = [...ticks.keys()].filter((t) => ticks[t].some((place, s) => ticks[t - 1]?.[s] !== place && this.sides[s].steps[place].changed.length));
    const rounds = changes.length * 7 > this.root.clientWidth ? [] : changes.map((t) => mark(t, "mg-round"));
    const marks = html("div", { class: "mg-marks", "aria-hidden": "true" }, ...rounds, differ === null ? null : mark(differ, "mg-apart"));
    return html("div", { class: "mg-controls" },
      html("div", { class: "mg-buttons" }, this.first, this.back, this.play, this.next, this.end, toDiffer, html("label", { class: "mg-speed" }, html("span", {}, "Speed"), this.pace), this.count),
      html("div", { class: "mg-slider" }, marks, this.slider));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = {
      " ": () => this.toggle(), ArrowLeft: () => this.jump(this.at - 1), ArrowRight: () => this.jump(this.at + 1),
      Home: () => this.jump(0), End: () => this.jump(this.last), d: () => this.scene.differ !== null && this.jump(this.scene.differ),
    }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    // A button, a list and what unfolds have keys of their own.
    if (!act || (event.key === " " && ["BUTTON", "SUMMARY"].includes(event.target.tagName)) || event.target.tagName === "SELECT") return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  quicken(speed) {
    this.speed = speed;
    this.pace.value = String(speed);
    if (this.playing) this.wait();
  }

  toggle() { if (this.playing) this.pause(); else this.start(); }

  start() {
    if (this.at === this.last) this.jump(0);
    this.mark(true);
    this.wait();
  }

  pause() {
    clearTimeout(this.beat);
    this.mark(false);
    this.tell();
  }

  wait() {
    clearTimeout(this.beat);
    this.beat = setTimeout(() => {
      if (!this.root.isConnected) return this.remove();
      this.show(this.at + 1, false);
      return this.at === this.last ? this.pause() : this.wait();
    }, BEAT / this.speed);
  }

  /** Have it play or not, as the button shows. While it plays, a reader of the screen could not keep up. */
  mark(playing) {
    const label = playing ? "Pause" : "Play";
    this.playing = this.root.dataset.playing = playing;
    this.play.replaceChildren(icon(label.toLowerCase()));
    this.play.title = label;
    this.play.setAttribute("aria-label", label);
    for (const side of this.sides) side.account.says.setAttribute("aria-live", playing ? "off" : "polite");
  }

  /** Go to a tick because somebody wants to. */
  jump(tick, tell = true) {
    clearTimeout(this.beat);
    if (this.playing) this.mark(false);
    this.show(tick, tell);
  }

  show(tick, tell) {
    this.at = between(0, tick, this.last);
    this.sides.forEach((side, s) => side.show(this.scene.ticks[this.at][s]));
    this.slider.value = this.at;
    this.count.textContent = `step ${this.at + 1} of ${this.last + 1}`;
    this.slider.setAttribute("aria-valuetext", this.count.textContent);
    this.first.disabled = this.back.disabled = this.at === 0;
    this.next.disabled = this.end.disabled = this.at === this.last;
    this.root.dataset.tick = this.at;
    if (tell) this.tell();
  }

  tell() {
    clearTimeout(this.telling);
    this.telling = setTimeout(() => this.tellNow(), TELL_AFTER);
  }

  tellNow() {
    clearTimeout(this.telling);
    this.telling = null;
    this.onTick?.(this.at);
  }

  lay() {
    const width = this.root.clientWidth;
    if (!width || width === this.width) return;
    this.width = width;
    this.root.classList.add("mg-still");
    for (const part of this.parts) part.lay(width < NARROW);
    this.show(this.at, false);
    requestAnimationFrame(() => this.root.classList.remove("mg-still"));
  }

  remove() {
    clearTimeout(this.beat);
    clearTimeout(this.telling);
    for (const each of this.heard) window.removeEventListener(...each);
    this.watch.disconnect();
    this.root.remove();
  }
}

/** Show a scene below `root`; `onTick(t)` is called after a pause or a jump, `at` is the tick to open at. */
export function mount(root, scene, { onTick, at } = {}) {
  return new Player(root, scene, { onTick, at });
}

const players = new WeakMap();

/** The same as a component of Streamlit: `data` is the scene; what is drawn stays while only `at` changes. */
export default function ({ data, parentElement, setStateValue }) {
  const { at, ...drawn } = data, sign = JSON.stringify(drawn);
  let known = players.get(parentElement);
  if (known?.sign === sign) {
    // The page answers with the ticks that it was told, maybe late; any other is one that somebody asks for.
    const place = known.told.indexOf(at);
    if (place >= 0) known.told.splice(0, place + 1);
    else if (at !== known.at) known.player.jump(at, false);
    known.at = at;
    return;
  }
  const { playing = false, speed = 1 } = known?.player ?? {};
  known?.player.remove();
  known = { sign, at, told: [] };
  known.player = mount(parentElement, data, {
    onTick: (tick) => {
      known.told.push(tick);
      setStateValue("tick", tick);
    },
  });
  known.player.quicken(speed);
  if (playing) known.player.start();
  players.set(parentElement, known);
}
