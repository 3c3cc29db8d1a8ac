// Save a figure as a picture. Its own button for that, which is hidden, does the work in the asked format. Joined to paper.js.
export default function ({ data, parentElement }) {
  parentElement.querySelector(".export").replaceChildren(...["png", "svg"].map((format) => {
    const button = document.createElement("button");
    button.textContent = format.toUpperCase();
    button.onclick = () => save(data, format);
    return button;
  }));
}

function save({ figure, name }, format) {
  const drawn = document.querySelector(`.st-key-${figure} .js-plotly-plot`), { layout, data } = drawn, { height, yaxis } = drawn._fullLayout;
  const size = format === "svg" ? { width: PAPER, height: yaxis?.type === "category" ? height : Math.min(height, 270), scale: 1 } : { scale: 3 };
  drawn._context.toImageButtonOptions = { format, filename: name, ...size };
  if (format === "svg") {
    // Plotly copies both before it draws.
    drawn.layout = paper(layout);
    drawn.data = data.map((trace) => (trace.textfont ? { ...trace, textfont: { ...trace.textfont, size: INK.size } } : trace));
  }
  drawn.querySelector('.modebar-btn[data-title*="Download plot"]').click();
  Object.assign(drawn, { layout, data });
}
