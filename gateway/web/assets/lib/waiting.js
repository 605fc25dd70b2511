// @ts-check
// A page that another site's link opened fills its form in and waits for a click: what it would send goes to a host of that
// site's choice. The server tells such a page (data-waits). What has run once in an entry of the history runs again when
// the page is loaded again or gone back to.

/** @typedef {{on: boolean, end: () => void}} Waiting end is called as something runs */

/**
 * @param {HTMLFormElement} form
 * @returns {Waiting}
 */
export function waitingOf(form) {
  const waiting = { on: "waits" in form.dataset && history.state?.ran !== true, end };
  return waiting;

  function end() {
    waiting.on = false;
    document.getElementById("waits")?.remove();
    if (history.state?.ran !== true) history.replaceState({ ...history.state, ran: true }, "");
  }
}
