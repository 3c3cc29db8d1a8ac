// Points on a plane that are added by a click, moved by dragging or arrow keys, and removed by Delete or a double click.
// Joined to picture.js.

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".mg-points"), { records, step, most } = data, { names, ranges } = records;
  const points = records.x.map((x, i) => [x, records.y[i]]), tell = (changed) => setStateValue("points", changed);
  const focused = root.getRootNode().activeElement?.closest?.(".mg-record")?.dataset.record;
  const picture = new Picture(records, [], [], true), { svg: node } = picture;
  root.replaceChildren(picture.root);
  picture.lay(root.clientWidth || 400, true);
  picture.offer(true);
  node.setAttribute("aria-label", "The points. A click adds one.");
  const rounded = (value) => Number((Math.round(value / step) * step).toPrecision(12));
  const under = (event) => picture.valueAt(picture.pixel(event)).map((value, j) => rounded(between(ranges[j][0], value, ranges[j][1])));
  const moved = (i, to) => tell(points.map((point, j) => (j === i ? to : point)));
  const without = (i) => points.length > 2 && tell(points.filter((_, j) => j !== i));
  let pressed = null;
  picture.marks.forEach(({ parentNode: mark }, i) => {
    mark.setAttribute("aria-label", `${names[i]}: ${points[i].join(", ")}. Arrow keys move it, Delete removes it.`);
  });
  node.onpointerdown = (event) => {
    pressed = { i: picture.recordOf(event), to: null };
    if (pressed.i >= 0) picture.marks[pressed.i].parentNode.setPointerCapture(event.pointerId);
  };
  node.onpointermove = (event) => {
    if (!pressed || pressed.i < 0) return;
    pressed.to = under(event);
    picture.marks[pressed.i].parentNode.setAttribute("transform", `translate(${picture.toX(pressed.to[0])} ${picture.toY(pressed.to[1])})`);
  };
  node.onpointerup = (event) => {
    const { i, to } = pressed ?? {};
    pressed = null;
    if (i >= 0 && to && to.join() !== points[i].join()) moved(i, to);
    else if (i < 0 && points.length < most) tell([...points, under(event)]);
  };
  node.ondblclick = (event) => picture.recordOf(event) >= 0 && without(picture.recordOf(event));
  node.onkeydown = (event) => {
    const i = picture.recordOf(event), way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (i >= 0 && way) moved(i, points[i].map((value, j) => rounded(value + way[j] * step)));
    else if (i >= 0 && ["Delete", "Backspace"].includes(event.key)) without(i);
    else return;
    event.preventDefault();
  };
  // What is drawn anew must not take the keyboard away.
  if (focused !== undefined) picture.marks[Math.min(focused, points.length - 1)].parentNode.focus({ preventScroll: true });
}
