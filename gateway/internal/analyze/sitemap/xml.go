package sitemap

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// Bounds on what the decoder may be made to hold. A comment or a text of the whole file is one token.
const (
	maxDepth = 32
	maxToken = 256 << 10
	maxText  = 8 << 10
)

const namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"

var errTokenTooLong = &defect{code: CodeMalformed, message: "The XML has a text, comment or tag longer than 256 KiB."}

// document is the state between two tokens.
type document struct {
	r       *reader
	scanner *scanner
	stack   []name
	rooted  bool
	entry   entry
	text    *strings.Builder // where the text of the current element goes, nil where nobody reads it
}

// entry is one url or sitemap element.
type entry struct {
	loc, lastmod strings.Builder
	line         int
}

// readXML reads the document without building it.
func (r *reader) readXML(text *bufio.Reader) error {
	d := &document{r: r, scanner: newScanner(text, r.charset)}
	for {
		token, err := d.scanner.next()
		if err == nil {
			err = d.take(token)
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return d.end()
		case errors.Is(err, errDone):
			return nil
		default:
			return d.fault(err)
		}
	}
}

// errDone ends the reading of a document whose rest does not matter.
var errDone = errors.New("sitemap: done")

func (d *document) take(token token) error {
	parts := d.scanner.parts
	d.scanner.parts = 0
	if err := d.r.spend(parts); err != nil {
		return err
	}
	switch token.kind {
	case start:
		return d.open(token)
	case end:
		return d.close(token.name)
	case text:
		if len(d.stack) == 0 && len(bytes.Trim(token.text, " \t\r\n")) > 0 {
			return broken(CodeMalformed, "There is text outside the XML document's root element.")
		}
		if d.text != nil && d.text.Len() < maxText {
			d.text.Write(token.text[:min(len(token.text), maxText)])
		}
	}
	return nil
}

func (d *document) open(element token) error {
	switch depth := len(d.stack); {
	case depth == maxDepth:
		return broken(CodeTooDeep, "The XML is nested more than 32 elements deep.")
	case depth == 0 && d.rooted:
		return broken(CodeMalformed, "The XML document has more than one root element.")
	case depth == 0:
		if err := d.root(element); err != nil {
			return err
		}
	case depth == 1 && d.isEntry(element.name):
		d.entry = entry{line: d.scanner.line}
		d.r.report.Count++
	case depth == 2 && d.isEntry(d.stack[1]) && element.name.space == d.stack[0].space:
		d.text = d.entry.field(element.name.local)
	}
	d.stack = append(d.stack, element.name)
	return nil
}

// isEntry reports whether a name is that of a url element of a urlset, or of a sitemap element of an index. The
// namespace is told by its prefix.
func (d *document) isEntry(element name) bool {
	want := "url"
	if d.r.report.Kind == Index {
		want = "sitemap"
	}
	return element.local == want && element.space == d.stack[0].space
}

func (e *entry) field(name string) *strings.Builder {
	switch name {
	case "loc":
		return &e.loc
	case "lastmod":
		return &e.lastmod
	}
	return nil
}

func (d *document) root(element token) error {
	d.rooted = true
	switch element.name.local {
	case "urlset":
		d.r.report.Kind = URLSet
	case "sitemapindex":
		d.r.report.Kind = Index
	case "rss", "feed", "RDF":
		d.r.kept.add(CodeFeed, SeverityInfo, 0,
			"The file is a feed. Crawlers accept it as a sitemap, but it lists only the newest pages; it is not counted here.")
		return errDone
	case "html":
		return broken(CodeHTML, "The file is an HTML page, not a sitemap.")
	default:
		return broken(CodeRoot, "The XML document's root element is neither urlset nor sitemapindex.")
	}
	if got := namespaceOf(element); got != namespace {
		d.r.kept.add(CodeNamespace, SeverityWarn, 0, "The namespace of the root element is not %s.", namespace)
	}
	return nil
}

// namespaceOf resolves the prefix of the root element, which only its own attributes can.
func namespaceOf(element token) string {
	want := name{local: "xmlns"}
	if element.name.space != "" {
		want = name{"xmlns", element.name.space}
	}
	for rest := trimLeft(element.attributes); len(rest) > 0; {
		attribute, value, after, _ := cutAttribute(rest)
		if attribute == want {
			return string(value)
		}
		rest = trimLeft(after)
	}
	return ""
}

func (d *document) close(element name) error {
	depth := len(d.stack)
	if depth == 0 || d.stack[depth-1] != element {
		return broken(CodeMalformed, "An end tag of the XML document does not match its start tag.")
	}
	if depth == 2 && d.isEntry(element) {
		d.r.checkLoc(d.entry.loc.String(), d.entry.line)
		d.r.checkDate(d.entry.lastmod.String(), d.entry.line)
	}
	d.text = nil
	d.stack = d.stack[:depth-1]
	return nil
}

func (d *document) end() error {
	switch {
	case !d.rooted:
		return broken(CodeNeither, "The XML document has no root element.")
	case len(d.stack) > 0:
		return d.fault(broken(CodeMalformed, "The XML document is cut off before its end."))
	}
	return nil
}

// fault adds the line where the reading stopped to what is wrong with the file.
func (d *document) fault(err error) error {
	if bad, is := errors.AsType[*defect](err); is && bad.line == 0 {
		return &defect{code: bad.code, line: d.scanner.line, message: bad.message}
	}
	return err
}

// charset undoes the one old encoding that is still met, and is Windows-1252's plain part.
func (r *reader) charset(label string, input io.Reader) (io.Reader, error) {
	switch strings.ToLower(label) {
	case "iso-8859-1", "latin1", "us-ascii", "ascii", "windows-1252":
		r.kept.add(CodeEncoding, SeverityWarn, 0, "The XML declares an encoding other than UTF-8, but a sitemap must be "+
			"UTF-8.")
		return charmap.ISO8859_1.NewDecoder().Reader(input), nil
	}
	return nil, broken(CodeEncoding, "The XML declares an encoding other than UTF-8, but a sitemap must be UTF-8.")
}
