// @ts-check
// Real web servers for tests: a port that is free, a program that ends with its test, and patience until it answers.
import { spawn } from "node:child_process";
import net from "node:net";
import process from "node:process";

/** @returns {Promise<number>} a port that is free */
export const freePort = () =>
  new Promise((resolve) => {
    const probe = net.createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });

/**
 * Starts a server that is ended with its test.
 * @param {any} t
 * @param {string} program
 * @param {string[]} args
 * @param {string} dir its home
 * @returns {() => string} what it has written so far
 */
export function start(t, program, args, dir) {
  const server = spawn(program, args, {
    env: { PATH: process.env.PATH, HOME: dir, XDG_CONFIG_HOME: dir, XDG_DATA_HOME: dir },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const out of [server.stdout, server.stderr])
    out.on("data", (/** @type {any} */ text) => {
      said += text;
    });
  const ended = new Promise((resolve) => server.on("exit", resolve));
  t.after(async () => {
    server.kill("SIGTERM");
    await ended;
  });
  return () => said;
}

/**
 * Asks until there is an answer.
 * @param {() => Promise<any>} ask
 * @param {() => string} why there may be none
 */
export async function patiently(ask, why) {
  for (const end = Date.now() + 15_000; ;) {
    try {
      return await ask();
    } catch (failure) {
      if (Date.now() > end) throw new Error(`${failure}\n${why()}`, { cause: failure });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
