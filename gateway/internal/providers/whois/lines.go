package whois

import (
	"iter"
	"strings"
	"unicode"
)

// entry is one fact as a server writes it: the key and value of "Expire Date: 2027-01-02", and the block that it stands
// in, such as "Registrar". Key and block are in lower case. A line without a key has an empty one.
type entry struct{ block, key, value string }

// layout is how a server groups its lines.
type layout int

const (
	// flat: there are no blocks.
	flat layout = iota
	// paragraphs: each paragraph is a block, called as its first key.
	paragraphs
	// colonHeads: a line that is only "Registrar:" is the heading of a block, which ends with an empty line.
	colonHeads
	// bareHeads: so is a line without a colon that is not indented.
	bareHeads
	// longHeads: a heading is as in colonHeads, and its block goes on to the next.
	longHeads
	// starHeads: a heading begins with two stars.
	starHeads
	// brackets: a key is in brackets, as in "[State]  Connected".
	brackets
)

// lineEnds are all that servers end lines with.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// eachLine goes through the lines of a text.
func eachLine(text string) iter.Seq[string] { return strings.SplitSeq(lineEnds.Replace(text), "\n") }

// splitter makes entries of lines.
type splitter struct {
	layout  layout
	block   string
	begun   bool // whether the paragraph has begun
	entries []entry
}

// split takes a text apart. Comments are left out.
func split(text string, l layout) []entry {
	s := splitter{layout: l}
	for line := range eachLine(text) {
		s.line(line)
	}
	return s.entries
}

func (s *splitter) line(line string) {
	trimmed := strings.TrimFunc(line, unicode.IsSpace)
	switch {
	case trimmed == "":
		s.gap()
	case trimmed[0] == '%' || trimmed[0] == '#':
	case s.layout == brackets:
		s.bracketed(trimmed)
	default:
		s.plain(trimmed, line[0] == ' ' || line[0] == '\t')
	}
}

// gap ends what an empty line ends.
func (s *splitter) gap() {
	s.begun = false
	if s.layout != longHeads {
		s.block = ""
	}
}

// bracketed reads "p. [Name Server]   ns1.example.jp", where the letter may be missing.
func (s *splitter) bracketed(line string) {
	if len(line) > 3 && line[1] == '.' && line[2] == ' ' {
		line = strings.TrimSpace(line[3:])
	}
	key, value, found := strings.Cut(strings.TrimPrefix(line, "["), "]")
	if found && line[0] == '[' {
		s.add(plainKey(key), value)
	}
}

func (s *splitter) plain(line string, indented bool) {
	starred := strings.HasPrefix(line, "** ")
	key, value, keyed := cutKey(strings.TrimPrefix(line, "** "))
	switch {
	case s.heads(starred, indented, keyed, value):
		s.block = plainKey(key)
	case !keyed:
		s.add("", key)
	default:
		key = plainKey(key)
		if s.layout == paragraphs && !s.begun {
			s.block, s.begun = key, true
		}
		s.add(key, value)
	}
}

// heads reports whether a line is a heading.
func (s *splitter) heads(starred, indented, keyed bool, value string) bool {
	alone := keyed && value == ""
	switch s.layout {
	case colonHeads, longHeads:
		return alone && !indented
	case bareHeads:
		return (alone || !keyed) && !indented
	case starHeads:
		return alone && starred
	case flat, paragraphs, brackets:
	}
	return false
}

// cutKey parts a line at the first colon that ends a word; those within times, URLs and IPv6 addresses do not.
func cutKey(line string) (key, value string, keyed bool) {
	for i := range len(line) {
		if line[i] == ':' && (i+1 == len(line) || line[i+1] == ' ' || line[i+1] == '\t') {
			return line[:i], strings.TrimSpace(line[i+1:]), true
		}
	}
	return line, "", false
}

// plainKey is how keys are named in the table: in lower case, with single spaces, without the dots that fill a line up.
func plainKey(key string) string {
	return strings.Join(strings.Fields(strings.TrimRight(strings.ToLower(key), ". \t")), " ")
}

func (s *splitter) add(key, value string) {
	s.entries = append(s.entries, entry{block: s.block, key: key, value: strings.TrimSpace(value)})
}
