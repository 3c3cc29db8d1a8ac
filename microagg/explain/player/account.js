// What stands beside a picture: the sentence, the quantities, the pseudo-code, the groups, the graph that is searched.

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
    const seen = steps.slice(0, last + 1), order = seen.findLast((step) => step.order)?.order ?? [], latest = seen.at(-1)?.arcs ?? [];
    const arcs = [...new Map(seen.flatMap((step) => step.arcs).map((arc) => [arc.slice(0, 2).join(), arc])).values()];
    const n = order.length, pad = 12, top = 34, cell = (width - 2 * pad) / Math.max(n, 1), x = (node) => pad + node * cell;
    const spans = arcs.map(([start, stop]) => stop - start), least = Math.min(...spans), most = Math.max(...spans);
    const depth = ([start, stop]) => 42 + (most > least ? (80 * (stop - start - least)) / (most - least) : 0), middle = ([start, stop]) => (x(start) + x(stop)) / 2;
    const drawn = (list, name) => path(list.map((arc) => `M${x(arc[0])} ${top}Q${middle(arc)} ${top + 2 * depth(arc)} ${x(arc[1])} ${top}`).join(""), { class: `mg-arc ${name}` });
    const before = new Map(arcs.filter((arc) => arc[3]).map((arc) => [arc[1], arc])), bold = [];
    for (let node = Math.max(0, ...before.keys()); before.has(node); node = before.get(node)[0]) bold.push(before.get(node));
    const named = cell >= 8.5 * Math.max(0, ...order.map((i) => this.records.names[i].length)) + 2;
    const text = (at, y, says, name = "") => svg("text", { class: name, x: at, y, "text-anchor": "middle" }, says);
    this.svg.setAttribute("viewBox", `0 0 ${width} 170`);
    this.svg.replaceChildren(
      drawn(arcs, ""), drawn(latest, "mg-latest"), drawn(bold, "mg-bold"),
      ...(named ? order.map((i, place) => text(x(place + 0.5), 18, this.records.names[i])) : []),
      path(n ? Array.from({ length: n + 1 }, (_, node) => `M${x(node)} ${top - 4}v8`).join("") : "", { class: "mg-nodes" }),
      ...(n <= NAMED ? latest.map((arc) => text(middle(arc), top + depth(arc) + 5, arc[2], "mg-label")) : []),
    );
  }
}

/** Return in a word why a quantity was chosen. */
function why(chosen, values) {
  const known = values.filter((value) => value !== null), least = Math.min(...known), ending = values.length > 2 ? "est" : "er";
  if (chosen.value === null || known.filter((value) => value === chosen.value).length > 1) return "chosen";
  return chosen.value === least ? `small${ending}` : chosen.value === Math.max(...known) ? `larg${ending}` : "chosen";
}

/** What a step does: the decision, large, and a sentence; below the picture the quantities and the pseudo-code. */
class Account {
  constructor(side, folded) {
    const open = folded ? false : "";
    this.title = html("h3");
    this.says = html("p", { class: "mg-says", "aria-live": "polite" });
    [this.options, this.bars] = [html("div", { class: "mg-bars" }), html("div", { class: "mg-bars" })];
    this.verdict = html("p", { "aria-live": "polite", hidden: "" });
    this.root = html("section", { class: "mg-now" }, this.verdict, this.title, this.says, this.options);
    this.numbers = html("details", { class: "mg-numbers", open }, html("summary", {}, "Numbers"), this.bars);
    this.lines = side.code.map((line) => html("li", { style: `padding-left: ${1.4 + 0.4 * (line.length - line.trimStart().length)}rem` }, line.trim()));
    this.list = html("ol", { tabindex: "0" }, ...this.lines);
    this.code = html("details", { class: "mg-code", open }, html("summary", {}, "Pseudo-code"), this.list);
    this.code.addEventListener("toggle", () => this.follow());
  }

  /** Show what a step does; before it, if a question was answered, whether `answered` was right. */
  show(step, answered = null) {
    this.verdict.hidden = !answered;
    this.verdict.className = `mg-verdict ${answered?.right ? "mg-right" : "mg-wrong"}`;
    this.verdict.textContent = answered && (answered.right ? `✓ Right: ${answered.name}` : `✗ Not ${answered.name}`);
    this.write(step.title, step.text, step.line);
    this.showBars(step.quantities, step.quantities.length > 1 && step.quantities.some((each) => each.chosen) && step.kind !== "move");
  }

  /** Ask about a step before it is shown; `answer` is called with the place of the option that is clicked. */
  ask({ question: { text, options }, line }, answer) {
    this.verdict.hidden = true;
    this.write("What comes next?", text, line);
    this.bars.replaceChildren();
    this.options.append(...options.map((option) => html("button", { type: "button" }, option)));
    [...this.options.children].forEach((button, place) => { button.onclick = () => answer(place); });
  }

  /** Write title and sentence, and mark the line of the pseudo-code. */
  write(title, text, line) {
    [this.title.textContent, this.says.textContent] = [title, text];
    this.options.replaceChildren();
    this.lines.forEach((each, i) => (i === line ? each.setAttribute("aria-current", "step") : each.removeAttribute("aria-current")));
    this.follow();
  }

  follow() {
    const { list, code } = this, line = list.querySelector("[aria-current]");
    if (line && code.open && list.scrollHeight > list.clientHeight) list.scrollTop = line.offsetTop - list.clientHeight / 2 + line.offsetHeight / 2;
  }

  /** Show quantities, as bars where they are compared: where one of several decides. */
  showBars(quantities, compared) {
    const place = quantities.findIndex((each) => each.chosen), drawn = quantities.slice(0, MOST_BARS), more = quantities.length - drawn.length;
    if (place >= MOST_BARS) drawn[MOST_BARS - 1] = quantities[place];
    const values = quantities.map((each) => each.value), most = Math.max(...drawn.map((each) => Math.abs(each.value ?? 0)));
    this.bars.replaceChildren(...drawn.map((each) => {
      const chosen = each.chosen && compared, width = most ? (100 * Math.abs(each.value ?? 0)) / most : 0;
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
    this.show({ ...steps[0], title: longest("title"), text: longest("text") }, steps.some((each) => each.question) ? { right: true, name: "" } : null);
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
