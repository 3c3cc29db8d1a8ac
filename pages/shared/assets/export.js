// Save a figure as a picture. Its own button for that, which is hidden, does the work in the asked format.
export default function ({ data, parentElement }) {
  parentElement.querySelector(".export").replaceChildren(...["png", "svg"].map((format) => {
    const button = document.createElement("button");
    button.textContent = format.toUpperCase();
    button.onclick = () => save(data, format);
    return button;
  }));
}

function save({ figure, name }, format) {
  const drawn = document.querySelector(`.st-key-${figure} .js-plotly-plot`), { height, yaxis } = drawn._fullLayout;
  // A picture of many records has a mark for each, in place of a path for all of one color.
  const { layout, data } = drawn, shapes = layout.shapes?.filter(({ name }) => name !== "dots");
  drawn.layout = { ...layout, shapes };
  drawn.data = data.map((trace) => (trace.marker?.maxdisplayed ? { ...trace, marker: { ...trace.marker, maxdisplayed: 0 } } : trace));
  const onPaper = paper(drawn.layout), named = data.filter((trace) => trace.name && trace.showlegend !== false).length;
  // In a column each name of the legend takes a line. A large matrix needs two columns.
  const lines = onPaper.showlegend === false || named < 2 ? 0 : named;
  const size = format === "svg" ? { width: height > 700 ? 2 * PAPER : PAPER, height: yaxis?.type === "category" ? height : Math.min(height, 270) + 19 * lines, scale: 1 } : { scale: 3 };
  drawn._context.toImageButtonOptions = { format, filename: name, ...size };
  // Plotly copies both before it draws.
  if (format === "png") {
    const page = getComputedStyle(document.querySelector(".stApp"));
    drawn.layout = { ...drawn.layout, font: { ...layout.font, color: page.color }, paper_bgcolor: page.backgroundColor };
  } else {
    drawn.layout = onPaper;
    drawn.data = drawn.data.map((trace) => (trace.textfont ? { ...trace, textfont: { ...trace.textfont, size: INK.size } } : trace));
  }
  drawn.querySelector('.modebar-btn[data-title*="Download plot"]').click();
  Object.assign(drawn, { layout, data });
}

// Figures of Plotly's as SVG for a paper: as wide as a column, 85 mm, with text of 8 pt, in dark ink, without a background.

const PAPER = 321, INK = { size: 10.67, color: "#17212b", family: "Arial, Helvetica, sans-serif" }, GRID = "#D5DBE1", NOTHING = "rgba(0,0,0,0)";

function paper(layout) {
  const inked = (name, part) => {
    if (ArrayBuffer.isView(part)) return Array.from(part);
    if (/^[xy]axis\d*$/.test(name)) return { ...part, gridcolor: GRID, linecolor: GRID, zerolinecolor: GRID, tickfont: {}, title: { ...part.title, font: {} } };
    return /font$/.test(name) ? INK : part;
  };
  // Names beside the lines find no room in a column: a legend has them.
  const { annotations = [], ...rest } = layout, shown = annotations.filter(({ axref }) => !axref), notes = shown.map((note) => ({ ...note, font: { ...INK, ...note.font, size: INK.size } }));
  if (shown.length < annotations.length) Object.assign(rest, { showlegend: true, margin: { ...rest.margin, r: 10 } });
  return { ...JSON.parse(JSON.stringify(rest, inked)), annotations: notes, font: INK, paper_bgcolor: NOTHING, plot_bgcolor: NOTHING };
}
