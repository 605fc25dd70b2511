// @ts-check
// A page that another site's link opened fills its form in and waits for a click: what it would send goes to a host of
// that site's choice. The server marks such a page (data-waits). What has run once in an entry of the history runs
// again when the page is loaded again or gone back to; each entry is asked for itself, so that going back to the link
// itself, from a target that the visitor entered, waits again.

/**
 * on is of the present entry; show shows or hides the note accordingly; end is called as something runs in that entry.
 * @typedef {{readonly on: boolean, show: () => void, end: () => void}} Waiting
 */

/**
 * @param {HTMLFormElement} form
 * @returns {Waiting}
 */
export function waitingOf(form) {
  const note = document.getElementById("waits");
  return {
    get on() {
      return on();
    },
    show,
    end,
  };

  function on() {
    return "waits" in form.dataset && history.state?.ran !== true;
  }

  function show() {
    if (!note) return;
    if (!on()) note.remove();
    else if (!note.isConnected) form.before(note);
  }

  function end() {
    if (history.state?.ran !== true) history.replaceState({ ...history.state, ran: true }, "");
    show();
  }
}
