package sitemap

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// startTag takes <name a="b" …> or <name …/>.
func (s *scanner) startTag() (token, error) {
	n := s.tagLength()
	if n < 0 {
		return token{}, s.ends()
	}
	tag := s.take(n)
	tag = tag[1 : n-1]
	if n := len(tag); n > 0 && tag[n-1] == '/' {
		tag, s.closing = tag[:n-1], true
	}
	length := nameLength(tag)
	element, ok := s.intern(tag[:length])
	if !ok {
		return token{}, s.malformed()
	}
	s.name = element
	rest := tag[length:]
	for left := rest; ; {
		left = trimLeft(left)
		if len(left) == 0 {
			return token{kind: start, name: element, attributes: rest}, nil
		}
		_, value, after, ok := cutAttribute(left)
		if !ok {
			return token{}, s.malformed()
		}
		if _, ok := s.unescape(value, true); !ok {
			return token{}, s.malformed()
		}
		s.parts++
		left = after
	}
}

// quotation is the mark that opened a quotation; 0 outside of one.
type quotation byte

// takes reports whether an octet is in a quotation, or is one of its marks.
func (q *quotation) takes(c byte) bool {
	switch {
	case *q != 0:
		if c == byte(*q) {
			*q = 0
		}
	case c == '"', c == '\'':
		*q = quotation(c)
	default:
		return false
	}
	return true
}

// tagLength is how long a tag is, whose end is not looked for in quotes; less than none where it does not end.
func (s *scanner) tagLength() int {
	var quoted quotation
	for i := 1; ; i++ {
		if i == len(s.rest()) && !s.more() {
			return -1
		}
		switch c := s.rest()[i]; {
		case quoted.takes(c):
		case c == '>':
			return i + 1
		}
	}
}

// endTag takes </name>.
func (s *scanner) endTag() (token, error) {
	n := s.until(2, ">")
	if n < 0 {
		return token{}, s.ends()
	}
	tag := s.take(n)
	tag = tag[2 : n-1]
	length := nameLength(tag)
	element, ok := s.intern(tag[:length])
	if !ok || len(trimLeft(tag[length:])) > 0 {
		return token{}, s.malformed()
	}
	return token{kind: end, name: element}, nil
}

var (
	versionOf  = regexp.MustCompile(`version=(?:"([^"]*)"|'([^']*)')`)
	encodingOf = regexp.MustCompile(`encoding=(?:"([^"]*)"|'([^']*)')`)
)

// instruction takes <?target …?>, of which <?xml …?> may declare an encoding.
func (s *scanner) instruction() (token, error) {
	n := s.until(2, "?>")
	if n < 0 {
		return token{}, s.ends()
	}
	content := s.take(n)
	content = content[2 : n-2]
	length := nameLength(content)
	if _, ok := splitName(string(content[:length])); !ok {
		return token{}, s.malformed()
	}
	if string(content[:length]) != "xml" {
		return token{}, nil
	}
	if version := quoted(versionOf, content); version != "" && version != "1.0" {
		return token{}, &defect{code: CodeMalformed, line: s.line, message: "The XML declaration cannot be read."}
	}
	if encoding := quoted(encodingOf, content); encoding != "" && !strings.EqualFold(encoding, "utf-8") {
		return token{}, s.decode(encoding)
	}
	return token{}, nil
}

// quoted gives what stands in quotes behind a name, empty where it is not there.
func quoted(what *regexp.Regexp, in []byte) string {
	if m := what.FindSubmatch(in); m != nil {
		return string(m[1]) + string(m[2])
	}
	return ""
}

// decode has what follows undone from an encoding.
func (s *scanner) decode(encoding string) error {
	then := s.from
	if s.err != nil {
		then = failing{s.err}
	}
	decoded, err := s.recode(encoding, io.MultiReader(bytes.NewReader(bytes.Clone(s.rest())), then))
	if err != nil {
		return err
	}
	s.from, s.buffer, s.at, s.err = decoded, nil, 0, nil
	return nil
}

// failing is a reader of nothing but its error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// declaration takes what begins with <!: a comment, a CDATA section, or a document type.
func (s *scanner) declaration() (token, error) {
	const comment, section = "<!--", "<![CDATA["
	if !s.has(3) {
		return token{}, s.ends()
	}
	switch s.rest()[2] {
	case '-':
		if !s.has(len(comment)) {
			return token{}, s.ends()
		}
		n := s.until(len(comment), "--")
		if n < 0 || !s.has(n+1) {
			return token{}, s.ends()
		}
		opens, closes := string(s.rest()[:len(comment)]) == comment, s.rest()[n] == '>'
		s.take(n + 1)
		if !opens || !closes {
			return token{}, s.malformed()
		}
		return token{}, nil
	case '[':
		n := s.until(3, "]]>")
		if n < 0 {
			return token{}, s.ends()
		}
		raw := s.take(n)
		if !bytes.HasPrefix(raw, []byte(section)) || n < len(section)+3 {
			return token{}, s.malformed()
		}
		content, ok := s.unescape(raw[len(section):n-3], false)
		if !ok {
			return token{}, s.malformed()
		}
		return token{kind: text, text: content}, nil
	}
	n := s.doctypeLength()
	if n < 0 {
		return token{}, s.ends()
	}
	s.take(n)
	return token{}, nil
}

// doctypeLength is how long a <!…> with declarations and comments inside is; less than none where it does not end.
func (s *scanner) doctypeLength() int {
	var quoted quotation
	depth := 1
	for i := 3; ; i++ {
		if !s.has(i + 1) {
			return -1
		}
		switch c := s.rest()[i]; {
		case quoted.takes(c):
		case c == '>':
			if depth--; depth == 0 {
				return i + 1
			}
		case c == '<':
			if s.has(i+4) && string(s.rest()[i:i+4]) == "<!--" {
				if i = s.until(i+4, "-->") - 1; i < 0 {
					return -1
				}
				continue
			}
			depth++
		}
	}
}

// characters takes the text up to the next markup or the end.
func (s *scanner) characters() (token, error) {
	n := s.until(0, "<")
	switch {
	case n > 0:
		n--
	case errors.Is(s.err, errTokenTooLong):
		return token{}, s.err
	default:
		// What comes after the text is told next.
		n = len(s.rest())
	}
	raw := s.take(n)
	if bytes.Contains(raw, []byte("]]>")) {
		return token{}, s.malformed()
	}
	content, ok := s.unescape(raw, true)
	if !ok {
		return token{}, s.malformed()
	}
	return token{kind: text, text: content}, nil
}

// plain are the ASCII characters that a text may have and that stand for themselves.
var plain = func() (is [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		is[c] = c != '&'
	}
	is['\t'], is['\n'] = true, true
	return is
}()

// unescape checks the characters of a text, joins the ends of lines, and replaces its references where it may have
// them. What it gives is valid until it is called again.
func (s *scanner) unescape(raw []byte, references bool) ([]byte, bool) {
	i := 0
	for i < len(raw) && plain[raw[i]] {
		i++
	}
	if i == len(raw) {
		return raw, true
	}
	out := s.scratch[:0]
	out = append(out, raw[:i]...)
	for i < len(raw) {
		c := raw[i]
		switch {
		case plain[c], c == '&' && !references:
			out = append(out, c)
			i++
		case c == '\r':
			out = append(out, '\n')
			if i++; i < len(raw) && raw[i] == '\n' {
				i++
			}
		case c == '&':
			s.parts++
			length := bytes.IndexByte(raw[i:min(len(raw), i+maxReference)], ';')
			if length < 0 {
				return nil, false
			}
			r, ok := referred(string(raw[i+1 : i+length]))
			if !ok {
				return nil, false
			}
			out = utf8.AppendRune(out, r)
			i += length + 1
		default:
			r, size := utf8.DecodeRune(raw[i:])
			if r == utf8.RuneError && size == 1 || !isChar(r) {
				return nil, false
			}
			out = append(out, raw[i:i+size]...)
			i += size
		}
	}
	s.scratch = out
	return out, true
}

// maxReference is how long a reference to a character may be, zeros in front of its number included.
const maxReference = 64

// entities are the five of XML.
var entities = map[string]rune{"lt": '<', "gt": '>', "amp": '&', "quot": '"', "apos": '\''}

// referred is the character that a reference stands for.
func referred(reference string) (rune, bool) {
	if r, ok := entities[reference]; ok {
		return r, true
	}
	digits, numeric := strings.CutPrefix(reference, "#")
	base := 10
	if hexadecimal, ok := strings.CutPrefix(digits, "x"); ok {
		digits, base = hexadecimal, 16
	}
	code, err := strconv.ParseUint(digits, base, 31)
	r := rune(code) // #nosec G115 -- 31 bits were asked for
	return r, numeric && err == nil && isChar(r)
}

// isChar reports whether XML may have the character (production 2).
func isChar(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' || r >= ' ' && r <= 0xd7ff || r >= 0xe000 && r <= 0xfffd ||
		r >= 0x10000 && r <= unicode.MaxRune
}

// nameLength is how many bytes of a name something begins with.
func nameLength(from []byte) int {
	for i, c := range from {
		if !isNameByte(c) {
			return i
		}
	}
	return len(from)
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
		c == '_' || c == ':' || c == '.' || c == '-' || c >= utf8.RuneSelf
}

// splitName parts a name from its prefix.
func splitName(raw string) (name, bool) {
	if raw == "" || raw[0] == '.' || raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9' || !utf8.ValidString(raw) ||
		strings.Count(raw, ":") > 1 {
		return name{}, false
	}
	if space, local, ok := strings.Cut(raw, ":"); ok && space != "" && local != "" {
		return name{space, local}, true
	}
	return name{local: raw}, true
}

// cutAttribute parts name="value" from what follows.
func cutAttribute(from []byte) (attribute name, value, after []byte, ok bool) {
	length := nameLength(from)
	attribute, ok = splitName(string(from[:length]))
	from = trimLeft(from[length:])
	if !ok || len(from) == 0 || from[0] != '=' {
		return name{}, nil, nil, false
	}
	from = trimLeft(from[1:])
	if len(from) == 0 || from[0] != '"' && from[0] != '\'' {
		return name{}, nil, nil, false
	}
	closing := bytes.IndexByte(from[1:], from[0])
	if closing < 0 || bytes.IndexByte(from[1:1+closing], '<') >= 0 {
		return name{}, nil, nil, false
	}
	return attribute, from[1 : 1+closing], from[2+closing:], true
}

func trimLeft(b []byte) []byte { return bytes.TrimLeft(b, " \t\r\n") }
