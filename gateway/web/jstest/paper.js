// @ts-check
// As much of a document as views draw on, for tests that read what they drew.

class Leaf {
  /** @param {string} text */
  constructor(text) {
    this.textContent = text;
  }
}

class Element_ extends Leaf {
  /** @param {string} tag */
  constructor(tag) {
    super("");
    this.tagName = tag.toUpperCase();
    this.attributes = /** @type {Map<string, string>} */ (new Map());
    this.children = /** @type {Leaf[]} */ ([]);
    this.classList = {
      add: (/** @type {string} */ name) =>
        this.setAttribute("class", `${this.attributes.get("class") ?? ""} ${name}`.trim()),
      toggle() {},
    };
    this.hidden = false;
    this.tabIndex = 0;
    Object.defineProperty(this, "textContent", {
      get: () => this.children.map((child) => child.textContent).join(""),
      set: (text) => {
        this.replaceChildren(text);
      },
    });
  }

  /** @param {string} name @returns {string | null} */
  getAttribute(name) {
    return this.attributes.get(name) ?? null;
  }

  /** @param {string} name @param {string} value */
  setAttribute(name, value) {
    this.attributes.set(name, value);
  }

  /** @param {...(Leaf | string)} children */
  append(...children) {
    this.children.push(...children.map((child) => (typeof child === "string" ? new Leaf(child) : child)));
  }

  /** @param {...(Leaf | string)} children */
  replaceChildren(...children) {
    this.children = [];
    this.append(...children);
  }

  /** @param {string} name by class alone, as ".text" @returns {Element_ | undefined} */
  querySelector(name) {
    return all(this, (node) => (node.attributes.get("class") ?? "").split(" ").includes(name.slice(1)))[0];
  }

  /** Stands for a page without any of them. @returns {Element_[]} */
  querySelectorAll() {
    return [];
  }

  addEventListener() {}

  get value() {
    return this.attributes.get("value") ?? "";
  }
}

/**
 * Every element below one that is as asked, in the order of the page.
 * @param {any} node
 * @param {(node: any) => boolean} is
 * @returns {any[]}
 */
export function all(node, is) {
  return node.children.flatMap((/** @type {any} */ child) =>
    child.children ? [...(is(child) ? [child] : []), ...all(child, is)] : [],
  );
}

/** By the name of its tag. @param {any} node @param {string} tag */
export const tagged = (node, tag) => all(node, (one) => one.tagName === tag.toUpperCase());

/** Puts it where modules look for a document. */
export function spread() {
  Object.assign(globalThis, {
    Node: Leaf,
    HTMLTableRowElement: class {},
    document: {
      addEventListener() {},
      createElement: (/** @type {string} */ tag) => new Element_(tag),
      createElementNS: (/** @type {string} */ _, /** @type {string} */ tag) => new Element_(tag),
    },
    ResizeObserver: class {
      observe() {}
    },
  });
}
