// @ts-check
// The state of a watch where it is seen from another tab: before the page's title, and as its icon.

/** @typedef {import("./watch-words.js").State} State */
/** @typedef {Exclude<State, "unmeasured">} Known */

/** @type {Record<Known, string>} */
const titles = { works: "✓ works", fails: "✗ fails", unknown: "? unknown" };

/** Where the icon of a state is: pictures of this instance, which the policy allows. @param {Known} state */
export const iconOf = (state) => new URL(`../states/${state}.svg`, import.meta.url).href;

/** The title and the icon of the page, to be changed by a state and put back by null. */
export function makeSign() {
  const link = /** @type {HTMLLinkElement | null} */ (document.querySelector("link[rel=icon]"));
  const icon = link?.href ?? "";
  let shown = /** @type {Known | null} */ (null);
  return (/** @type {Known | null} */ state) => {
    if (state === shown) return;
    const before = shown ? `${titles[shown]} · ` : "";
    // The page may have named its target since.
    const title = document.title.startsWith(before) ? document.title.slice(before.length) : document.title;
    shown = state;
    document.title = state ? `${titles[state]} · ${title}` : title;
    if (link) link.href = state ? iconOf(state) : icon;
  };
}
