// Save a figure as a picture. Its own button for that, which is hidden, does the work in the asked format.
export default function ({ data, parentElement }) {
  const row = parentElement.querySelector(".export");
  row.replaceChildren(
    ...["png", "svg"].map((format) => {
      const button = document.createElement("button");
      button.textContent = format.toUpperCase();
      button.onclick = () => save(data, format);
      return button;
    })
  );
}

function save({ figure, name }, format) {
  const drawn = document.querySelector(`.st-key-${figure} .js-plotly-plot`);
  drawn._context.toImageButtonOptions = { format, filename: name, scale: format === "png" ? 3 : 1 };
  drawn.querySelector('.modebar-btn[data-title*="Download plot"]').click();
}
