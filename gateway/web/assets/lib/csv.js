// @ts-check
// Rows as a file for spreadsheets and programs (RFC 4180).

/**
 * A cell of a table. Spreadsheets take what begins like a formula for one, whatever its source: an apostrophe makes it
 * text.
 * @param {string | number | null} content
 * @returns {string}
 */
export function cell(content) {
  if (content === null) return "";
  if (typeof content === "number") return String(content);
  const text = /^\s*[=+\-@＝＋－＠\t\r]/.test(content) ? `'${content}` : content;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** @param {(string | number | null)[][]} rows @returns {string} */
export const csv = (rows) => rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
