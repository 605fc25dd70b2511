// @ts-check
// Drawing at a pace: what comes in a row is drawn together.

/**
 * @param {() => void} draw
 * @param {number} gap between two drawings, in milliseconds
 * @returns {{ask: () => void, now: () => void, cancel: () => void}} ask draws as soon as the pace allows, now at once
 *   in its place
 */
export function paced(draw, gap) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let asked;
  let last = -Infinity;
  const cancel = () => {
    clearTimeout(asked);
    asked = undefined;
  };
  const now = () => {
    cancel();
    last = performance.now();
    draw();
  };
  return {
    ask() {
      asked ??= setTimeout(now, Math.max(0, last + gap - performance.now()));
    },
    now,
    cancel,
  };
}
