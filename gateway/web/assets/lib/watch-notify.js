// @ts-check
// Notifications of a watch: asked for by the visitor's click alone, sent while the page is hidden.

import { iconOf } from "./watch-sign.js";

const none = "This browser has no notifications for web pages.";
const blocked = "Notifications are blocked for this site; the browser’s settings allow them.";
const insecure = "Notifications need HTTPS, which this page came without.";
const given = "You are notified of a change while this tab is in the background.";

/** Why there can be none; empty where there may be. */
function unable() {
  if (!globalThis.isSecureContext) return insecure;
  if (typeof Notification === "undefined") return none;
  return Notification.permission === "denied" ? blocked : "";
}

/** @typedef {ReturnType<typeof makeNotifier>} Notifier */

/** @param {(on: boolean, words: string) => void} show */
export function makeNotifier(show) {
  let on = false;
  const turn = (/** @type {boolean} */ now, /** @type {string} */ words) => {
    on = now;
    show(now, words);
  };
  return {
    get on() {
      return on;
    },
    /** @param {boolean} byClick else they are switched on only where the visitor has allowed them before */
    async toggle(byClick) {
      if (on) return turn(false, "");
      if (!unable() && byClick && Notification.permission === "default") await Notification.requestPermission();
      const allowed = !unable() && Notification.permission === "granted";
      turn(allowed, allowed ? given : unable());
    },
    /** @param {string} title @param {string} body @param {import("./watch-sign.js").Known | null} state */
    send(title, body, state) {
      if (!on || document.visibilityState !== "hidden") return;
      try {
        // A later one takes the place of an earlier one.
        const more = { body, tag: `watch ${location.href}`, ...(state && { icon: iconOf(state) }) };
        new Notification(title, more).addEventListener("click", () => focus());
      } catch {
        // Browsers of Android have the interface, and refuse it to pages.
        turn(false, none);
      }
    },
  };
}
