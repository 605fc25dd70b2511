// @ts-check
// The e-mail address in the name of a zone's contact.

/** What may stand before the @ without quotes (RFC 5322, dot-atom). */
const plain = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;

/**
 * The first label is what comes before the @ (RFC 1035, section 3.3.13); a dot within it is written with a backslash.
 * @param {string} name as zone files write it
 * @returns {string} the name itself where it is no plain address
 */
export function mailbox(name) {
  const [, label, domain] = /^((?:\\\.|[^.\\])+)\.([^\\]+)$/.exec(name) ?? [];
  const local = label?.replaceAll("\\.", ".");
  return local && plain.test(local) ? `${local}@${domain}` : name;
}
