// What stands beside a picture: the sentence, the quantities, the pseudo-code, the groups.

const MOST_BARS = 8;

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
    this.showBars(step.quantities, step.quantities.length > 1 && step.quantities.some((each) => each.chosen));
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
