// @ts-check
import assert from "node:assert/strict";
import test from "node:test";
import { notPublic } from "../assets/lib/public.js";

test("both sides of each range's borders", () => {
  for (const [inside, outside] of [
    [
      ["10.0.0.0", "10.255.255.255"],
      ["9.255.255.255", "11.0.0.0"],
    ],
    [
      ["172.16.0.0", "172.31.255.255"],
      ["172.15.255.255", "172.32.0.0"],
    ],
    [
      ["192.168.0.0", "192.168.255.255"],
      ["192.167.255.255", "192.169.0.0"],
    ],
    [
      ["100.64.0.0", "100.127.255.255"],
      ["100.63.255.255", "100.128.0.0"],
    ],
    [["127.0.0.1"], ["126.255.255.255", "128.0.0.0"]],
    [
      ["169.254.0.0", "169.254.255.255"],
      ["169.253.255.255", "169.255.0.0"],
    ],
    [
      ["198.18.0.0", "198.19.255.255"],
      ["198.17.255.255", "198.20.0.0"],
    ],
    [["224.0.0.0", "255.255.255.255"], ["223.255.255.255"]],
    [["::1", "::"], ["2a00::1"]],
    [
      ["fc00::", "fdff:ffff::1"],
      ["fbff::1", "fe00::1"],
    ],
    [
      ["fe80::", "febf::1"],
      ["fe7f::1", "fec0::1"],
    ],
    [
      ["2001:db8::", "2001:db8:ffff::1"],
      ["2001:db7:ffff::1", "2001:db9::"],
    ],
    [["::ffff:10.0.0.1"], ["::ffff:11.0.0.1"]],
  ]) {
    for (const address of inside) assert.notEqual(notPublic(address), "", address);
    for (const address of outside) assert.equal(notPublic(address), "", address);
  }
});

test("what is no address is none of them", () => {
  for (const text of ["", "example.com", "1.2.3", "::g", "1:2:3:4:5:6:7:8:9"]) assert.equal(notPublic(text), "", text);
});
