// What a tab does by itself, whatever page it shows.

// Of the window, so that it is still known when the server has been restarted and sends this file anew.
const tab = (window.microaggTab ??= {});

// The server looks at the address where a session begins, and where the browser went back or forward: that is marked in it
// before Streamlit sends it. Browsers without this interface keep what was chosen.
if (!tab.hears) {
  tab.hears = true;
  window.navigation?.addEventListener("currententrychange", ({ navigationType }) => {
    if (navigationType === "traverse") {
      const address = new URL(window.location);
      address.searchParams.set("went", Date.now());
      window.history.replaceState(window.history.state, "", address);
    }
  });
}

export default function ({ data }) {
  // On a narrow screen the pages stand in a drawer, which Streamlit leaves open over the page that was tapped.
  if (tab.page !== undefined && tab.page !== data.page && window.innerWidth < 768) {
    document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click();
  }
  tab.page = data.page;
}
