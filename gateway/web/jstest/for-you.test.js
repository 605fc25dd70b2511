// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { meaningOf } from "../assets/lib/for-you.js";

test("both answers together say where to look", () => {
  const url = "https://example.com/";
  const links = (/** @type {boolean} */ here, /** @type {boolean} */ there, places = false) =>
    meaningOf(here, there, "example.com", url, places).links.map(([, href]) => href);
  assert.deepEqual(links(true, true), []);
  assert.deepEqual(links(true, false), ["/tools/dns-resolver-check?input=example.com", "/tools/ping", "/tools/my-ip"]);
  assert.deepEqual(links(false, true), ["/tools/traceroute?input=example.com"]);
  assert.deepEqual(links(false, false), ["/report?target=example.com"]);
  for (const here of [true, false])
    for (const there of [true, false])
      assert.equal(
        links(here, there, true)[0],
        `/tools/uptime?${new URLSearchParams({ input: url, place: "all" })}`,
        "all places come first",
      );
  const texts = [true, false].flatMap((here) =>
    [true, false].map((there) => meaningOf(here, there, "example.com", url, false).text),
  );
  assert.equal(new Set(texts).size, 4);
});
