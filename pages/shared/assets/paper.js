// Figures of Plotly's as SVG for a paper: as wide as a column, 85 mm, with text of 8 pt, in dark ink, without a background.

const PAPER = 321, INK = { size: 10.67, color: "#17212b", family: "Arial, Helvetica, sans-serif" }, GRID = "#D5DBE1", NOTHING = "rgba(0,0,0,0)";

function paper(layout) {
  const inked = (name, part) => {
    if (ArrayBuffer.isView(part)) return Array.from(part);
    if (/^[xy]axis\d*$/.test(name)) return { ...part, gridcolor: GRID, linecolor: GRID, zerolinecolor: GRID, tickfont: {}, title: { ...part.title, font: {} } };
    return /font$/.test(name) ? INK : part;
  };
  const { annotations = [], ...rest } = layout, notes = annotations.map((note) => ({ ...note, font: { ...INK, ...note.font, size: INK.size } }));
  return { ...JSON.parse(JSON.stringify(rest, inked)), annotations: notes, font: INK, width: PAPER, paper_bgcolor: NOTHING, plot_bgcolor: NOTHING };
}
