// @ts-check
// Building nodes. Data only ever becomes text: there is no way in here from a string to markup.

/**
 * Makes an element. Properties are attributes; true is an attribute without a value, false, null and undefined are none.
 * @param {string} tag
 * @param {Record<string, string | number | boolean | null | undefined>} [attributes]
 * @param {...(Node | string)} children
 * @returns {HTMLElement}
 */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children);
  return node;
}

/**
 * Gives the element of the page with that id, which must be there.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`this page has no #${id}`);
  return node;
}

/**
 * A clock that counts up in an element while something runs.
 * @param {HTMLElement} node
 * @returns {() => number} stops the clock and gives the milliseconds that passed
 */
export function startClock(node) {
  const start = performance.now();
  const show = () => { node.textContent = `${((performance.now() - start) / 1000).toFixed(1)} s`; };
  show();
  const timer = setInterval(show, 100);
  return () => {
    clearInterval(timer);
    node.textContent = "";
    return performance.now() - start;
  };
}
