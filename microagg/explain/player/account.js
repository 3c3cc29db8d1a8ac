// What is said beside a picture: the sentence, the quantities, the pseudo-code, the groups, the graph that is searched.

const MOST_BARS = 8;

/** The graph of possible groups of records in an order, and the shortest path that is known through it. */
class Graph {
  constructor(records) {
    this.records = records;
    this.svg = svg("svg", { role: "img", "aria-label": "Graph of possible groups; the shortest path so far is bold." });
    this.root = html("div", { class: "mg-graph" }, html("p", { class: "mg-small" }, "Possible groups as arcs with their SSE; the path with the lowest SSE is bold."), this.svg);
  }

  /** Draw what the steps up to `last` have looked at. */
  show(steps, last, width) {
    let order = [], latest = [];
    const arcs = new Map();
    for (const step of steps.slice(0, last + 1)) {
      order = step.order || order;
      latest = step.arcs;
      for (const arc of step.arcs) arcs.set(`${arc[0]} ${arc[1]}`, arc);
    }
    const n = order.length, pad = 12, cell = (width - 2 * pad) / Math.max(n, 1), x = (node) => pad + node * cell, top = 34;
    const spans = [...arcs.values()].map(([start, stop]) => stop - start), least = Math.min(...spans), most = Math.max(...spans);
    const depth = ([start, stop]) => 42 + (most > least ? (80 * (stop - start - least)) / (most - least) : 0);
    const path = (arc) => `M${x(arc[0])} ${top}Q${(x(arc[0]) + x(arc[1])) / 2} ${top + 2 * depth(arc)} ${x(arc[1])} ${top}`;
    const before = new Map([...arcs.values()].filter((arc) => arc[3]).map((arc) => [arc[1], arc])), bold = [];
    for (let node = Math.max(0, ...before.keys()); before.has(node); node = before.get(node)[0]) bold.push(before.get(node));
    const named = cell >= 8.5 * Math.max(0, ...order.map((i) => this.records.names[i].length)) + 2;
    this.svg.setAttribute("viewBox", `0 0 ${width} 170`);
    this.svg.replaceChildren(
      svg("path", { class: "mg-arc", d: [...arcs.values()].map(path).join("") }),
      svg("path", { class: "mg-arc mg-latest", d: latest.map(path).join("") }),
      svg("path", { class: "mg-arc mg-bold", d: bold.map(path).join("") }),
      ...(named ? order.map((i, place) => svg("text", { x: x(place + 0.5), y: 18, "text-anchor": "middle" }, this.records.names[i])) : []),
      svg("path", { class: "mg-nodes", d: order.length ? Array.from({ length: n + 1 }, (_, node) => `M${x(node)} ${top - 4}v8`).join("") : "" }),
      ...(n <= NAMED ? latest.map((arc) => svg("text", { class: "mg-label", x: (x(arc[0]) + x(arc[1])) / 2, y: top + depth(arc) + 5, "text-anchor": "middle" }, arc[2])) : []),
    );
  }
}

/** Return how long the bars of quantities are, as shares, and what is to be said of their scale. */
function lengths(values) {
  const sizes = values.map((value) => Math.abs(value ?? 0)), most = Math.max(...sizes), least = Math.min(...sizes.filter((size) => size > 0));
  if (!(most > 0)) return [sizes, ""];
  const ratio = most / least;
  if (ratio <= 30) return [sizes.map((size) => size / most), ""];
  if (ratio <= 900) return [sizes.map((size) => Math.sqrt(size / most)), "Bars on a square-root scale."];
  return [sizes.map((size) => (size > 0 ? 0.1 + 0.9 * Math.log(size / least) / Math.log(ratio) : 0)), "Bars on a logarithmic scale."];
}

/** Return in a word why a quantity was chosen. */
function why(chosen, values) {
  const known = values.filter((value) => value !== null), others = values.length > 2 ? "est" : "er";
  if (chosen.value === null || known.filter((value) => value === chosen.value).length > 1) return "chosen";
  if (chosen.value === Math.min(...known)) return `small${others}`;
  return chosen.value === Math.max(...known) ? (others === "er" ? "larger" : "largest") : "chosen";
}

/** What a step does: the decision, large, and a sentence; below the picture the quantities and the pseudo-code. */
class Account {
  constructor(side, folded) {
    this.title = html("h4");
    this.says = html("p", { class: "mg-says", "aria-live": "polite" });
    this.options = html("div", { class: "mg-bars" });
    this.bars = html("div", { class: "mg-bars" });
    this.verdict = html("p", { class: "mg-verdict", "aria-live": "polite", hidden: "" });
    this.root = html("section", { class: "mg-now" }, this.verdict, this.title, this.says, this.options);
    this.numbers = html("details", { class: "mg-numbers", open: folded ? false : "" }, html("summary", {}, "Numbers"), this.bars);
    this.lines = side.code.map((line) => html("li", { style: `padding-left: ${1.4 + 0.4 * (line.length - line.trimStart().length)}rem` }, line.trim()));
    this.list = html("ol", { tabindex: "-1" }, ...this.lines);
    this.code = html("details", { class: "mg-code", open: folded ? false : "" }, html("summary", {}, "Pseudo-code"), this.list);
    this.code.addEventListener("toggle", () => this.follow());
  }

  /** Say what a step does; before it, if a question was answered, whether `answered` was right. */
  show(step, answered = null) {
    this.verdict.hidden = !answered;
    this.verdict.className = `mg-verdict ${answered?.right ? "mg-right" : "mg-wrong"}`;
    this.verdict.textContent = answered && (answered.right ? `✓ Right: ${answered.name}` : `✗ Not ${answered.name}`);
    this.title.textContent = step.title;
    this.says.textContent = step.text;
    this.options.replaceChildren();
    this.showBars(step.quantities, step.quantities.length > 1 && step.quantities.some((each) => each.chosen) && step.kind !== "move");
    this.mark(step);
  }

  /** Ask about a step before it is shown; `answer` is called with the place of the option that is clicked. */
  ask(step, answer) {
    const { text, options } = step.question;
    this.verdict.hidden = true;
    this.title.textContent = "What comes next?";
    this.says.textContent = text;
    this.bars.replaceChildren();
    this.options.replaceChildren(...options.map((option, place) => {
      const made = html("button", { type: "button" }, option);
      made.addEventListener("click", () => answer(place));
      return made;
    }));
    this.mark(step);
  }

  /** Mark the line of the pseudo-code that a step carries out. */
  mark(step) {
    this.lines.forEach((line, i) => (i === step.line ? line.setAttribute("aria-current", "step") : line.removeAttribute("aria-current")));
    this.follow();
  }

  follow() {
    const line = this.list.querySelector("[aria-current]");
    if (line && this.code.open && this.list.scrollHeight > this.list.clientHeight) this.list.scrollTop = line.offsetTop - this.list.clientHeight / 2 + line.offsetHeight / 2;
  }

  /** Show quantities, as bars where they are compared: where one of several decides. */
  showBars(quantities, compared) {
    const place = quantities.findIndex((each) => each.chosen), drawn = quantities.slice(0, MOST_BARS);
    if (place >= MOST_BARS) drawn[MOST_BARS - 1] = quantities[place];
    const values = quantities.map((each) => each.value), [shares, scale] = lengths(drawn.map((each) => each.value));
    const rows = drawn.map((each, i) => {
      const chosen = each.chosen && compared;
      const bar = compared ? html("div", { class: "mg-bar" }, html("i")) : null;
      if (bar) bar.firstChild.style.width = `${100 * shares[i]}%`;
      return html("div", { class: chosen ? "mg-quantity mg-chosen" : "mg-quantity" },
        html("div", { class: "mg-name" }, html("span", {}, each.name), html("b", {}, each.text), chosen ? html("em", {}, `✓ ${why(each, values)}`) : null),
        bar, each.formula ? html("p", { class: "mg-formula" }, each.formula) : null);
    });
    const more = quantities.length - drawn.length;
    const notes = [more > 0 ? `${more} more are not listed.` : "", compared ? scale : ""].filter(Boolean).join(" ");
    this.bars.replaceChildren(...rows, ...(notes ? [html("p", { class: "mg-small" }, notes)] : []));
  }

  /** Keep room for the longest words, so that nothing below jumps. */
  reserve(steps) {
    const longest = (part) => steps.reduce((most, step) => (step[part].length > most.length ? step[part] : most), "");
    this.root.style.minHeight = "";
    this.show({ ...steps[0], title: longest("title"), text: longest("text") }, steps.some((each) => each.question) ? { right: true, name: "" } : null);
    this.root.style.minHeight = `${this.root.offsetHeight}px`;
  }
}

/** The groups as a list, from left to right. */
function listed(records, labels) {
  const groups = [...membersOf(labels)].map(([group, members]) => ({ group, members, at: mean(members.map((i) => records.x[i])) }));
  const free = [...labels.keys()].filter((i) => labels[i] < 0);
  if (labels.length > NAMED) return [html("span", {}, `${groups.length} groups, ${free.length} records unassigned`)];
  const ascending = (members) => members.slice().sort((a, b) => records.x[a] - records.x[b] || a - b).map((i) => records.names[i]).join(", ");
  groups.sort((a, b) => a.at - b.at);
  return [
    ...groups.map(({ group, members }) => html("span", {}, sign(group), `{${ascending(members)}}`)),
    ...(free.length ? [html("span", { class: "mg-free" }, `unassigned: ${ascending(free)}`)] : []),
  ];
}
