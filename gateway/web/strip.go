package web

import "bytes"

// Comments and types are for who reads the repository; on the wire they would be a third of every module.
const (
	castHead, castTail       = "/** @type {", "} */"
	commentHead, commentTail = "/**", "*/"
	margin, blank            = " \t", " \t\r\f\n"
)

// withoutComments takes the comments out of one of our modules, those that have lines of their own and JSDoc's casts,
// and the empty lines and the indents. It knows no strings, so ours hold nothing that looks like one of these at the
// start of a line (a test looks).
func withoutComments(source []byte) []byte {
	source = withoutCasts(source)
	out := make([]byte, 0, len(source))
	for len(source) > 0 {
		end := endOfComment(source)
		if end == 0 {
			end = endOfLine(source)
			if line := bytes.TrimLeft(source[:end], margin); len(bytes.Trim(line, blank)) > 0 {
				out = append(out, line...)
			}
		}
		source = source[end:]
	}
	return out
}

// withoutCasts takes out JSDoc's casts, which end on the line on which they begin.
func withoutCasts(source []byte) []byte {
	out := make([]byte, 0, len(source))
	for {
		before, after, found := bytes.Cut(source, []byte(castHead))
		out = append(out, before...)
		if !found {
			return out
		}
		if end := bytes.Index(after[:endOfLine(after)], []byte(castTail)); end >= 0 {
			source = bytes.TrimPrefix(after[end+len(castTail):], []byte(" "))
		} else {
			out, source = append(out, castHead...), after
		}
	}
}

// endOfComment is where the lines after a comment begin that has the first lines for itself, 0 where there is none.
func endOfComment(source []byte) int {
	text := bytes.TrimLeft(source, margin)
	if bytes.HasPrefix(text, []byte("//")) {
		return endOfLine(source)
	}
	if !bytes.HasPrefix(text, []byte(commentHead)) {
		return 0
	}
	for text = text[len(commentHead):]; ; {
		_, after, found := bytes.Cut(text, []byte(commentTail))
		if !found {
			return 0
		}
		if rest := bytes.TrimLeft(after, margin); len(rest) > 0 && rest[0] == '\n' {
			return len(source) - len(rest) + 1
		}
		text = after
	}
}

// endOfLine is where the next line begins.
func endOfLine(text []byte) int {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return len(text)
}
