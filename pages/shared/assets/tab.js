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
  // Streamlit at times enters a page in the browser's history twice: without the choices, then with them. Back would lead
  // to the first, and so to the usual data.
  const push = window.history.pushState.bind(window.history);
  window.history.pushState = (entry, title, to) => {
    const { pathname, search } = window.location;
    const isSamePage = new URL(to, window.location).pathname === pathname;
    if (isSamePage && !search) window.history.replaceState(entry, title, to);
    else push(entry, title, to);
  };
}

export default function ({ data }) {
  // A session that begins in a tab that had another one comes from a server that was restarted. It knows the address of the
  // page that was gone to, which has no choices yet; so it would show the usual data in place of the user's.
  if (data.began && tab.address !== undefined && tab.address !== data.address) {
    window.location.replace(`${window.location.pathname}?${tab.address}`);
    return;
  }
  tab.address = data.address;
  // On a narrow screen the pages stand in a drawer, which Streamlit leaves open over the page that was tapped.
  if (tab.page !== undefined && tab.page !== data.page && window.innerWidth < 768) {
    document.querySelector('[data-testid="stSidebarCollapseButton"] button')?.click();
  }
  tab.page = data.page;
}
