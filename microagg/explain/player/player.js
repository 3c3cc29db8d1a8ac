// The player: pictures and accounts of one or two runs, the controls, the keys; and how a page or Streamlit shows it.

const SPEEDS = [0.5, 1, 2, 4], BEAT = 2000, TELL_AFTER = 400, NARROW = 700, LOW = 860, MARKS_APART = 7;
const KEYS = ["Space plays and pauses", "← → one step", "Home and End", "D first difference", "+ − speed"];

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

/** Return how wide a picture is laid; a page that sets --mg-zoom has it drawn larger. */
function roomOf({ root }) {
  return root.clientWidth / (Number(getComputedStyle(root).getPropertyValue("--mg-zoom")) || 1);
}

class Side {
  constructor(scene, side, folded, answered) {
    Object.assign(this, { records: scene.records, steps: side.steps, labels: labelsOf(side.steps, scene.records.x.length) });
    this.picture = new Picture(scene.records, side.steps, this.labels);
    this.account = new Account(side, folded);
    // What was answered to the question before a step, by its place; null: nothing.
    this.answers = new Map();
    this.answered = answered;
    for (const kind of ["click", "keydown"]) this.picture.svg.addEventListener(kind, (event) => this.pick(event));
    this.graph = side.steps.some((step) => step.arcs.length) ? new Graph(scene.records) : null;
    this.loss = html("span", { class: "mg-loss" });
    this.groups = html("div", { class: "mg-groups" });
    const head = html("header", { class: "mg-head" }, html("h3", {}, side.title, html("small", {}, side.settings)), this.loss);
    const left = html("div", { class: "mg-drawn" }, this.picture.root, this.graph?.root ?? null);
    this.root = html("section", { class: "mg-side", "aria-label": side.title }, head, left, this.account.root, this.groups, this.account.numbers, this.account.code);
  }

  lay(small) {
    this.picture.lay(roomOf(this.picture), small);
    this.groups.replaceChildren(...listed(this.records, this.labels.at(-1)));
    this.groups.style.minHeight = "";
    this.groups.style.minHeight = `${this.groups.offsetHeight}px`;
    this.account.reserve(this.steps);
  }

  show(place) {
    this.place = place;
    const step = this.steps[place], { question } = this, seen = question ? place - 1 : place;
    const order = this.steps.slice(0, place + 1).findLast((each) => each.order)?.order ?? null;
    const labels = this.labels[seen] ?? this.labels[0].map(() => -1), none = labels.every((group) => group < 0);
    this.picture.show(labels, question ? { ...BLANK, ...question.shows, seed: question.seed, order: "order" in question.shows ? order : null } : { ...step, order });
    this.picture.offer(Boolean(question) && !question.options.length);
    this.graph?.show(this.steps, seen, this.picture.width);
    if (question) this.account.ask(step, (option) => this.answer(option)); else this.account.show(step, this.answers.get(place));
    this.groups.replaceChildren(...listed(this.records, labels));
    this.loss.textContent = none ? "no group yet" : `groups so far: SSE ${this.steps[seen].sse}, IL ${this.steps[seen].loss}`;
  }

  /** The question that is open: its step is not shown before it is answered, or skipped. */
  get question() {
    return this.answers.has(this.place) ? null : this.steps[this.place].question ?? null;
  }

  pick(event) {
    const record = event.target.closest("[data-record]")?.dataset.record;
    if (record === undefined || !this.question || this.question.options.length) return;
    if (event.type === "keydown" && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    this.picture.tip.hidden = true;
    this.answer(Number(record));
  }

  answer(given) {
    const { options, right } = this.question;
    this.answers.set(this.place, { right: right.includes(given), name: options[given] ?? this.records.names[given] });
    this.answered();
  }

  skip() { if (this.question) this.answers.set(this.place, null); }
}

/** The best partition that is possible: a picture without steps. */
class Best {
  constructor(scene) {
    const labels = new Int32Array(scene.records.x.length).fill(-1);
    scene.optimum.groups.forEach((members, group) => { for (const i of members) labels[i] = group; });
    this.step = { ...BLANK, changed: [[0, 0]] };
    this.labels = labels;
    this.picture = new Picture(scene.records, [this.step], [labels]);
    const head = html("header", { class: "mg-head" }, html("h3", {}, "Optimum"), html("span", { class: "mg-loss" }, scene.optimum.text));
    const groups = html("div", { class: "mg-groups" }, ...listed(scene.records, labels));
    this.root = html("section", { class: "mg-side mg-best", "aria-label": "Optimum" }, head, html("div", { class: "mg-drawn" }, this.picture.root), groups);
  }

  lay(small) {
    this.picture.lay(roomOf(this.picture), small);
    this.picture.show(this.labels, this.step);
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
    Object.assign(this, { scene, onTick, at: 0, speed: 1, playing: false });
    this.last = scene.ticks.length - 1;
    this.root = html("div", { class: `mg-steps ${scene.records.y ? "mg-plane" : "mg-line-scene"}`, role: "group", "aria-label": "Step by step", tabindex: "0" });
    host.append(this.root);
    const folded = this.root.clientWidth < NARROW || window.innerHeight < LOW;
    this.sides = scene.sides.map((side) => new Side(scene, side, folded, () => {
      this.show(this.at, false);
      this.root.focus({ preventScroll: true });
    }));
    this.best = scene.optimum && new Best(scene);
    const sides = html("div", { class: "mg-sides" }, ...this.sides.map((side) => side.root), this.best ? this.best.root : null);
    const { length } = this.sides;
    Object.assign(sides.dataset, { number: length, columns: scene.records.y ? length : 0, rows: scene.records.y ? 0 : length, best: this.best ? "yes" : "no" });
    const keys = KEYS.filter((each) => scene.differ !== null || !each.startsWith("D "));
    this.root.append(this.controls(), sides, legend(scene), html("p", { class: "mg-small mg-keys" }, `Keys: ${keys.join(", ")}.`));
    this.root.addEventListener("keydown", (event) => this.key(event));
    // Whoever turns to something else, such as another page, must not be called back by a step that is told late.
    this.left = (event) => this.telling && !this.root.contains(event.target) && this.tellNow();
    for (const kind of ["pointerdown", "keydown"]) window.addEventListener(kind, this.left, true);
    // Keys work before anything is clicked, too.
    this.unfocused = (event) => event.target === document.body && this.root.isConnected && this.key(event);
    window.addEventListener("keydown", this.unfocused);
    this.watch = new ResizeObserver(() => this.lay());
    this.watch.observe(this.root);
    this.lay();
    this.show(at ?? scene.at, false);
  }

  controls() {
    const button = (content, label, act, more = {}) => {
      const made = html("button", { type: "button", "aria-label": label, title: label, ...more }, content);
      made.addEventListener("click", (event) => {
        act();
        // After a click by mouse or finger, which have a detail, Space plays instead of pressing this button again.
        if (event.detail) this.root.focus({ preventScroll: true });
      });
      return made;
    };
    this.play = button(icon("play"), "Play", () => this.toggle(), { class: "mg-play" });
    this.first = button(icon("first"), "First step", () => this.begin());
    this.back = button(icon("back"), "One step back", () => this.jump(this.at - 1));
    this.next = button(icon("next"), "One step on", () => this.on());
    this.end = button(icon("end"), "Last step", () => this.jump(this.last));
    this.slider = html("input", { type: "range", min: 0, max: this.last, value: 0, "aria-label": "Step" });
    this.slider.addEventListener("input", () => this.jump(Number(this.slider.value)));
    this.count = html("span", { class: "mg-count" });
    const speed = html("select", { "aria-label": "Speed" }, ...SPEEDS.map((each) => html("option", { value: each }, `${each}×`)));
    speed.addEventListener("change", () => this.quicken(Number(speed.value)));
    speed.value = String(this.speed);
    this.pace = speed;
    const { differ } = this.scene;
    const apart = differ === null ? null : button("First difference", "To the first step at which the groups differ", () => this.jump(differ), { class: "mg-differ" });
    return html("div", { class: "mg-controls" },
      html("div", { class: "mg-buttons" }, this.first, this.back, this.play, this.next, this.end, apart, html("label", { class: "mg-speed" }, html("span", {}, "Speed"), speed), this.count),
      html("div", { class: "mg-slider" }, this.rounds(), this.slider));
  }

  /** Return marks over the slider where groups change, and where they first differ. */
  rounds() {
    const { ticks, sides, differ } = this.scene, changes = [];
    ticks.forEach((tick, t) => {
      const entered = (place, s) => (!t || ticks[t - 1][s] !== place) && sides[s].steps[place].changed.length > 0;
      if (tick.some(entered)) changes.push(t);
    });
    const mark = (t, name) => {
      const made = html("i", { class: name });
      made.style.left = `calc(9px + ${this.last ? t / this.last : 0} * (100% - 18px))`;
      return made;
    };
    return html("div", { class: "mg-marks", "aria-hidden": "true" }, ...(changes.length * MARKS_APART > this.root.clientWidth ? [] : changes.map((t) => mark(t, "mg-round"))), differ === null ? null : mark(differ, "mg-apart"));
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = {
      " ": () => this.toggle(), ArrowLeft: () => this.jump(this.at - 1), ArrowRight: () => this.on(),
      Home: () => this.begin(), End: () => this.jump(this.last),
      d: () => this.scene.differ !== null && this.jump(this.scene.differ),
      "+": () => this.faster(1), "=": () => this.faster(1), "-": () => this.faster(-1),
    }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    // A button, a list and what unfolds have keys of their own.
    if (!act || (event.key === " " && ["BUTTON", "SUMMARY", "SELECT"].includes(event.target.tagName)) || event.target.tagName === "SELECT") return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  faster(by) { this.quicken(SPEEDS[Math.max(0, Math.min(SPEEDS.indexOf(this.speed) + by, SPEEDS.length - 1))]); }

  quicken(speed) {
    this.speed = speed;
    this.pace.value = String(speed);
    if (this.playing) this.wait();
  }

  toggle() { if (this.playing) this.pause(); else this.start(); }

  /** Whether a question is open. */
  get asks() { return this.sides.some((side) => side.question); }

  start() {
    if (this.asks) this.skip();
    else if (this.at === this.last) this.begin();
    this.playing = true;
    this.button();
    this.wait();
  }

  pause(tell = true) {
    this.playing = false;
    clearTimeout(this.beat);
    this.button();
    if (tell) this.tell();
  }

  wait() {
    clearTimeout(this.beat);
    this.beat = setTimeout(() => {
      if (!this.root.isConnected) return this.remove();
      this.show(this.at + 1, false);
      return this.at === this.last || this.asks ? this.pause() : this.wait();
    }, BEAT / this.speed);
  }

  /** Show the answer of what is asked, or the next step. */
  on() { if (this.asks) this.skip(); else this.jump(this.at + 1); }

  skip() {
    for (const side of this.sides) side.skip();
    this.show(this.at, false);
  }

  /** Go back to the first step, and ask anew. */
  begin() {
    for (const side of this.sides) side.answers.clear();
    this.jump(0);
  }

  button() {
    this.play.replaceChildren(icon(this.playing ? "pause" : "play"));
    this.play.title = this.playing ? "Pause" : "Play";
    this.play.setAttribute("aria-label", this.play.title);
    // While it plays, a reader of the screen could not keep up.
    for (const side of this.sides) side.account.says.setAttribute("aria-live", this.playing ? "off" : "polite");
    this.root.dataset.playing = this.playing;
  }

  /** Go to a tick because somebody wants to. */
  jump(tick, tell = true) {
    if (this.playing) this.pause(false);
    this.show(tick, tell);
  }

  show(tick, tell) {
    this.at = Math.max(0, Math.min(tick, this.last));
    this.sides.forEach((side, s) => side.show(this.scene.ticks[this.at][s]));
    this.slider.value = this.at;
    const answers = this.sides.flatMap((side) => [...side.answers.values()].filter(Boolean)), right = answers.filter((each) => each.right).length;
    this.count.textContent = `step ${this.at + 1} of ${this.last + 1}${answers.length ? `, ${right} of ${answers.length} right` : ""}`;
    this.slider.setAttribute("aria-valuetext", this.count.textContent);
    for (const made of [this.first, this.back]) made.disabled = this.at === 0;
    this.next.disabled = this.at === this.last && !this.asks;
    this.end.disabled = this.at === this.last;
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
    for (const part of [...this.sides, this.best].filter(Boolean)) part.lay(width < NARROW);
    this.show(this.at, false);
    requestAnimationFrame(() => this.root.classList.remove("mg-still"));
  }

  remove() {
    clearTimeout(this.beat);
    clearTimeout(this.telling);
    for (const kind of ["pointerdown", "keydown"]) window.removeEventListener(kind, this.left, true);
    window.removeEventListener("keydown", this.unfocused);
    this.watch.disconnect();
    this.root.remove();
  }
}

/** Show a scene below `root`; `onTick(t)` is called after a pause or a jump, `at` is the tick to open at. */
export function mount(root, scene, { onTick, at } = {}) {
  return new Player(root, scene, { onTick, at });
}

/** Draw one tick of a scene below `root`, to be printed; of the last one the groups alone. */
export function still(root, scene, at) {
  const sides = scene.sides.map((side) => new Side(scene, side, true));
  const made = html("div", { class: `mg-steps mg-still${scene.records.y ? "" : " mg-line-scene"}` }, html("div", { class: "mg-sides" }, ...sides.map((side) => side.root)));
  root.append(made);
  sides.forEach((side, s) => {
    side.lay(made.clientWidth < NARROW);
    side.show(scene.ticks[at][s]);
    if (at === scene.ticks.length - 1) side.picture.show(side.labels.at(-1), BLANK);
  });
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
  const { playing = false, speed = 1 } = known?.player ?? {}, before = known?.player;
  before?.remove();
  known = { sign, at, told: [] };
  known.player = mount(parentElement, data, {
    onTick: (tick) => {
      known.told.push(tick);
      setStateValue("tick", tick);
    },
  });
  known.player.quicken(speed);
  if (before && JSON.stringify(before.scene.sides) === JSON.stringify(data.sides)) {
    known.player.sides.forEach((side, s) => { side.answers = before.sides[s].answers; });
    known.player.show(known.player.at, false);
  }
  // After a button of the tour, Space is for the picture that it leads to.
  if (document.activeElement?.closest(".st-key-tour button")) known.player.root.focus({ preventScroll: true });
  if (playing) known.player.start();
  players.set(parentElement, known);
}
