// @ts-check
// What a watch keeps of echo probes.

export { default } from "../../lib/watch-echo.js";
