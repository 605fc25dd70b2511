// @ts-check
// What several checks may see the same fault of: a report tells each topic once (attention.js).

/**
 * A server's certificate, for all but the check of certificates itself, which tells its faults best.
 * @param {string} host with its port where that is not 443
 * @returns {{topic: string, aside: true}}
 */
export const certificateAside = (host) => ({ topic: certificateOf(host), aside: true });

/**
 * @param {string} host with its port where that is not 443
 * @returns {string}
 */
export const certificateOf = (host) => `certificate of ${host}`;
