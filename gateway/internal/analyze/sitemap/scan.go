package sitemap

import (
	"bytes"
	"errors"
	"io"
)

// scanner splits XML into tokens (XML 1.0, fifth edition) in the memory of one token. It expands no entities but the
// five of XML and references to characters, and checks no nesting. A long sitemap costs more by encoding/xml than a run
// may; a test holds against that what is well-formed.
type scanner struct {
	from io.Reader
	// buffer[at:] is what has been read and not been taken; err what came after it.
	buffer []byte
	at     int
	err    error
	line   int // of buffer[at]
	// parts are the tokens, attributes and entities since they were last asked for.
	parts   int
	closing bool // an empty element was opened, and is to be closed
	name    name // its name
	scratch []byte
	names   map[string]name
	recode  func(encoding string, from io.Reader) (io.Reader, error)
}

// kind is what a token is.
type kind uint8

const (
	markup kind = iota // a comment, a processing instruction or a document type: none is of interest here
	start
	end
	text
)

// token is the next part of a document. Its text and attributes are valid until the next one.
type token struct {
	kind       kind
	name       name   // of a start and an end
	text       []byte // of a text
	attributes []byte // of a start: valid, and as they stand there
}

// name is that of an element, with its prefix.
type name struct{ space, local string }

const (
	firstRead = 32 << 10
	maxNames  = 256 // that are kept, so that names which come again take no memory
)

func newScanner(from io.Reader, recode func(string, io.Reader) (io.Reader, error)) *scanner {
	return &scanner{from: from, line: 1, names: map[string]name{}, recode: recode}
}

// next gives the next token. Its error is io.EOF at the end of the file, a *defect where this is no XML, or the
// reader's own.
func (s *scanner) next() (token, error) {
	if s.closing {
		s.closing = false
		s.parts++
		return token{kind: end, name: s.name}, nil
	}
	if !s.has(1) {
		return token{}, s.err
	}
	s.parts++
	if s.rest()[0] != '<' {
		return s.characters()
	}
	if !s.has(2) {
		return token{}, s.ends()
	}
	switch s.rest()[1] {
	case '/':
		return s.endTag()
	case '?':
		return s.instruction()
	case '!':
		return s.declaration()
	}
	return s.startTag()
}

func (s *scanner) rest() []byte { return s.buffer[s.at:] }

// has reads on until there are n bytes at least, and reports whether there are.
func (s *scanner) has(n int) bool {
	for len(s.rest()) < n {
		if !s.more() {
			return false
		}
	}
	return true
}

// more reads on, and reports whether there may be more: not at the end, nor past the longest token.
func (s *scanner) more() bool {
	if s.err != nil {
		return false
	}
	if len(s.rest()) >= maxToken {
		s.err = errTokenTooLong
		return false
	}
	if s.at > 0 {
		s.buffer = s.buffer[:copy(s.buffer, s.rest())]
		s.at = 0
	}
	if len(s.buffer) == cap(s.buffer) {
		wider := make([]byte, len(s.buffer), min(max(2*cap(s.buffer), firstRead), maxToken))
		copy(wider, s.buffer)
		s.buffer = wider
	}
	n, err := s.from.Read(s.buffer[len(s.buffer):cap(s.buffer)])
	s.buffer, s.err = s.buffer[:len(s.buffer)+n], err
	return n > 0 || err == nil
}

// take gives the next n bytes, which have been read, and goes on behind them.
func (s *scanner) take(n int) []byte {
	taken := s.buffer[s.at : s.at+n]
	s.line += bytes.Count(taken, []byte("\n"))
	s.at += n
	return taken
}

// until gives how many bytes there are to the end of a mark that stands behind the first skip bytes; -1 where it does
// not come.
func (s *scanner) until(skip int, mark string) int {
	for from := skip; ; {
		if i := bytes.Index(s.rest()[min(from, len(s.rest())):], []byte(mark)); i >= 0 {
			return from + i + len(mark)
		}
		from = max(skip, len(s.rest())-len(mark)+1)
		if !s.more() {
			return -1
		}
	}
}

// ends is the error where a token does not end: the file's end in the middle of it is a fault of the file.
func (s *scanner) ends() error {
	if errors.Is(s.err, io.EOF) {
		s.take(len(s.rest()))
		return s.malformed()
	}
	return s.err
}

// malformed tells where the XML breaks: in the line of what was taken last.
func (s *scanner) malformed() error {
	return &defect{code: CodeMalformed, line: s.line, message: "The file is not well-formed XML."}
}

// intern gives a name, the same memory for the same one.
func (s *scanner) intern(raw []byte) (name, bool) {
	if known, ok := s.names[string(raw)]; ok {
		return known, true
	}
	n, ok := splitName(string(raw))
	if ok && len(s.names) < maxNames {
		s.names[string(raw)] = n
	}
	return n, ok
}
