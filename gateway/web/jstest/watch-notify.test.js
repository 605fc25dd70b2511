// @ts-check
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { makeNotifier } from "../assets/lib/watch-notify.js";
import { makeSign } from "../assets/lib/watch-sign.js";

/** @type {any} */
const page = globalThis;
/** @type {string[]} */
let sent = [];
let asked = 0;

/** A browser's notifications. @param {string} permission @param {string} [answer] of the visitor who is asked */
function browser(permission, answer = permission) {
  page.Notification = class extends EventTarget {
    static permission = permission;
    static async requestPermission() {
      asked += 1;
      page.Notification.permission = answer;
      return answer;
    }
    /** @param {string} title @param {{body: string, tag: string, icon?: string}} more */
    constructor(title, { body, icon }) {
      super();
      sent.push(`${title}. ${body} ${icon?.split("/").at(-1) ?? "no icon"}`);
    }
  };
}

beforeEach(() => {
  [sent, asked] = [[], 0];
  page.isSecureContext = true;
  page.location = { href: "https://tools.example.com/tools/ping" };
  page.document = { visibilityState: "hidden", title: "a · Ping", querySelector: () => null };
  browser("default", "granted");
});

/** @type {[boolean, string][]} */
let shown = [];
const notifier = () => {
  shown = [];
  return makeNotifier((on, words) => shown.push([on, words]));
};

test("only a click asks, and a second one switches them off", async () => {
  const n = notifier();
  await n.toggle(false);
  assert.deepEqual([asked, n.on, shown.at(-1)], [0, false, [false, ""]]);
  await n.toggle(true);
  assert.deepEqual([asked, n.on], [1, true]);
  n.send("a fails", "It.", "fails");
  await n.toggle(true);
  n.send("a works", "It.", "works");
  assert.deepEqual([asked, n.on, sent], [1, false, ["a fails. It. fails.svg"]]);
});

test("what was allowed goes on after a reload, and nothing is sent while the page is in view", async () => {
  browser("granted");
  const n = notifier();
  await n.toggle(false);
  page.document.visibilityState = "visible";
  n.send("a fails", "It.", "fails");
  page.document.visibilityState = "hidden";
  n.send("The watch of a ended", "It.", null);
  assert.deepEqual([asked, sent], [0, ["The watch of a ended. It. no icon"]]);
});

for (const [name, change, says, asks] of /** @type {[string, () => void, RegExp, number][]} */ ([
  ["are blocked", () => browser("denied"), /blocked/, 0],
  ["are refused", () => browser("default", "denied"), /blocked/, 1],
  ["are left open", () => browser("default"), /^$/, 1],
  ["are missing", () => delete page.Notification, /no notifications/, 0],
  ["need HTTPS", () => (page.isSecureContext = false), /HTTPS/, 0],
])) {
  test(`notifications that ${name}`, async () => {
    change();
    const n = notifier();
    await n.toggle(true);
    assert.deepEqual([n.on, asked], [false, asks]);
    assert.match(shown.at(-1)?.[1] ?? "none", says);
    n.send("a fails", "It.", "fails");
    assert.deepEqual(sent, []);
  });
}

test("a browser that refuses them to pages says so once", async () => {
  browser("granted");
  const n = notifier();
  await n.toggle(true);
  page.Notification = class {
    static permission = "granted";
    constructor() {
      throw new TypeError("Illegal constructor");
    }
  };
  n.send("a fails", "It.", "fails");
  assert.equal(n.on, false);
  assert.match(shown.at(-1)?.[1] ?? "", /no notifications/);
});

test("title and icon show the state, and are put back", () => {
  const link = { href: "https://tools.example.com/icons/ping.svg" };
  page.document.querySelector = () => link;
  const sign = makeSign();
  /** @type {[import("../assets/lib/watch-sign.js").Known | null, string, RegExp][]} */
  const steps = [
    [null, "a · Ping", /icons\/ping\.svg$/],
    ["works", "✓ works · a · Ping", /assets\/states\/works\.svg$/],
    ["fails", "✗ fails · a · Ping", /assets\/states\/fails\.svg$/],
    ["unknown", "? unknown · a · Ping", /assets\/states\/unknown\.svg$/],
    [null, "a · Ping", /icons\/ping\.svg$/],
  ];
  for (const [state, title, icon] of steps) {
    sign(state);
    assert.equal(page.document.title, title);
    assert.match(link.href, icon);
  }
});
