// On a narrow screen the pages stand in a drawer, which Streamlit leaves open over the page that was tapped.
let shown;

export default function ({ data }) {
  if (shown !== undefined && shown !== data.page && window.innerWidth < 768) {
    document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click();
  }
  shown = data.page;
}
