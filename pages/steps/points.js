// Points on a plane that are added by a click, moved by dragging or arrow keys, and removed by Delete or a double click.

const SIZE = 400, MARGIN = 14, RADIUS = 9;

function shown(range) {
  return (value) => MARGIN + ((value - range[0]) / (range[1] - range[0])) * (SIZE - 2 * MARGIN);
}

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".mg-points");
  const { points, names, x, y, step } = data;
  const toX = shown(x), toY = (value) => SIZE - shown(y)(value);
  const round = (value) => Number((Math.round(value / step) * step).toPrecision(12));
  const at = (event) => {
    const box = picture.getBoundingClientRect();
    const share = (from, length) => ((from / length) * SIZE - MARGIN) / (SIZE - 2 * MARGIN);
    return [
      round(x[0] + share(event.clientX - box.left, box.width) * (x[1] - x[0])),
      round(y[1] - share(event.clientY - box.top, box.height) * (y[1] - y[0])),
    ];
  };
  const tell = (changed) => setStateValue("points", changed);

  // What is drawn anew must not take the keyboard away.
  const focused = [...root.querySelectorAll("g.mg-point")].indexOf(document.activeElement);
  root.replaceChildren();
  const ground = svg("rect", { width: SIZE, height: SIZE, rx: 8, class: "mg-points-ground" });
  const picture = svg("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "group", "aria-label": data.label }, ground);
  root.append(picture);
  picture.onclick = (event) => {
    if (event.target.closest("g.mg-point") || points.length >= data.most) return;
    tell([...points, at(event)]);
  };
  points.forEach(([px, py], place) => {
    const label = `${names[place]}: ${px}, ${py}. Arrow keys move it, Delete removes it.`;
    const mark = svg("g", { class: "mg-point", tabindex: 0, role: "button", "aria-label": label },
      svg("circle", { r: RADIUS }), svg("text", { "text-anchor": "middle", dy: "0.35em" }, names[place]));
    picture.append(mark);
    const put = (ox, oy) => mark.setAttribute("transform", `translate(${toX(ox)} ${toY(oy)})`);
    put(px, py);
    const without = () => points.length > 2 && tell(points.filter((_, other) => other !== place));
    const moved = (to) => tell(points.map((point, other) => (other === place ? to : point)));
    let dragged = null;
    mark.onpointerdown = (event) => { mark.setPointerCapture(event.pointerId); dragged = [px, py]; };
    mark.onpointermove = (event) => { if (dragged) put(...(dragged = at(event))); };
    mark.onpointerup = () => {
      if (dragged && (dragged[0] !== px || dragged[1] !== py)) moved(dragged);
      dragged = null;
    };
    mark.ondblclick = without;
    mark.onkeydown = (event) => {
      const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (way) moved([round(px + way[0] * step), round(py + way[1] * step)]);
      else if (event.key === "Delete" || event.key === "Backspace") without();
      else return;
      event.preventDefault();
    };
  });
  if (focused >= 0) [...root.querySelectorAll("g.mg-point")].at(Math.min(focused, points.length - 1)).focus({ preventScroll: true });
}
