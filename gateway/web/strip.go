package web

import (
	"bytes"
	"regexp"
)

// Comments and types are for who reads the repository; on the wire they would be a third of every module.
var (
	cast       = regexp.MustCompile(`/\*\* @type \{[^\n]*?\} \*/ ?`)
	wholeLines = regexp.MustCompile(`(?m)^[ \t]*(?://.*|/\*\*(?s:.*?)\*/[ \t]*)\n`)
	emptyLines = regexp.MustCompile(`\n\s*\n`)
	indents    = regexp.MustCompile(`(?m)^[ \t]+`)
)

// withoutComments takes the comments out of one of our modules, those that have lines of their own and JSDoc's casts,
// and the indents of its lines. It knows no strings, so ours hold nothing that looks like one of these at the start of
// a line (a test looks).
func withoutComments(source []byte) []byte {
	source = cast.ReplaceAll(source, nil)
	source = wholeLines.ReplaceAll(source, nil)
	source = emptyLines.ReplaceAll(source, []byte("\n"))
	return bytes.TrimLeft(indents.ReplaceAll(source, nil), "\n")
}
