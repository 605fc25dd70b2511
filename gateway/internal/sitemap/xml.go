package sitemap

import (
	"bufio"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// Bounds on what the decoder may be made to hold. A comment or a text of the whole file is one token.
const (
	maxDepth = 32
	maxToken = 256 << 10
	maxText  = 8 << 10
)

const namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"

// tokens lets the decoder read one token at a time, and none that is too long.
type tokens struct {
	from *bufio.Reader
	left int
	err  error // of the file, nil while it can be read
}

var errTokenTooLong = &defect{code: CodeMalformed, message: "The XML has a text, comment or tag of more than 256 KiB."}

func (t *tokens) ReadByte() (byte, error) {
	if t.left == 0 {
		return 0, errTokenTooLong
	}
	t.left--
	c, err := t.from.ReadByte()
	t.err = err
	return c, err
}

// Read is what an encoding is undone from.
func (t *tokens) Read(p []byte) (int, error) {
	if t.left == 0 {
		return 0, errTokenTooLong
	}
	n, err := t.from.Read(p[:min(len(p), t.left)])
	t.left -= n
	t.err = err
	return n, err
}

// document is the state between two tokens.
type document struct {
	r       *reader
	source  *tokens
	decoder *xml.Decoder
	stack   []xml.Name
	rooted  bool
	entry   entry
	text    *strings.Builder // where the text of the current element goes, nil where nobody reads it
	syntax  int              // bytes of no token that parts has not told of; less than none where the decoder reads ahead
}

// entry is one url or sitemap element.
type entry struct {
	loc, lastmod strings.Builder
	line         int
}

// readXML reads the document without building it. RawToken expands no entities but the five of XML, and checks no
// nesting: that is done here.
func (r *reader) readXML(text *bufio.Reader) error {
	source := &tokens{from: text}
	d := &document{r: r, source: source, decoder: xml.NewDecoder(source)}
	d.decoder.CharsetReader = r.charset
	for {
		source.left = maxToken
		token, err := d.decoder.RawToken()
		if err == nil {
			err = d.take(token)
		}
		switch {
		case errors.Is(err, io.EOF):
			return d.end()
		case errors.Is(err, errDone):
			return nil
		case errors.Is(err, ErrLimit):
			return err
		case err != nil:
			return d.fault(err)
		}
	}
}

// parts is the token, and its attributes and entities: each takes the decoder as long, and three bytes at least that
// are not in the token.
func (d *document) parts(token xml.Token) int {
	d.syntax += maxToken - d.source.left - length(token)
	more := max(d.syntax/3, 0)
	d.syntax -= 3 * more
	return 1 + more
}

// length is that of the names and texts of a token.
func length(token xml.Token) (n int) {
	switch token := token.(type) {
	case xml.StartElement:
		n = len(token.Name.Space) + len(token.Name.Local)
		for _, a := range token.Attr {
			n += len(a.Name.Space) + len(a.Name.Local) + len(a.Value)
		}
	case xml.EndElement:
		n = len(token.Name.Space) + len(token.Name.Local)
	case xml.CharData:
		n = len(token)
	case xml.Comment:
		n = len(token)
	case xml.ProcInst:
		n = len(token.Target) + len(token.Inst)
	case xml.Directive:
		n = len(token)
	}
	return n
}

// errDone ends the reading of a document whose rest does not matter.
var errDone = errors.New("sitemap: done")

func (d *document) take(token xml.Token) error {
	if err := d.r.spend(d.parts(token)); err != nil {
		return err
	}
	switch token := token.(type) {
	case xml.StartElement:
		return d.open(token)
	case xml.EndElement:
		return d.close(token.Name)
	case xml.CharData:
		if len(d.stack) == 0 && strings.Trim(string(token), " \t\r\n") != "" {
			return broken(CodeMalformed, "There is text outside the XML document's root element.")
		}
		if d.text != nil && d.text.Len() < maxText {
			d.text.Write(token[:min(len(token), maxText)])
		}
	}
	return nil
}

func (d *document) open(element xml.StartElement) error {
	switch depth := len(d.stack); {
	case depth == maxDepth:
		return broken(CodeTooDeep, "The XML is nested more than 32 elements deep.")
	case depth == 0 && d.rooted:
		return broken(CodeMalformed, "The XML document has more than one root element.")
	case depth == 0:
		if err := d.root(element); err != nil {
			return err
		}
	case depth == 1 && d.isEntry(element.Name):
		line, _ := d.decoder.InputPos()
		d.entry = entry{line: line}
		d.r.report.Count++
	case depth == 2 && d.isEntry(d.stack[1]) && element.Name.Space == d.stack[0].Space:
		d.text = d.entry.field(element.Name.Local)
	}
	d.stack = append(d.stack, element.Name)
	return nil
}

// isEntry tells a url element of a urlset and a sitemap element of an index. The namespace is told by its prefix.
func (d *document) isEntry(name xml.Name) bool {
	want := "url"
	if d.r.report.Kind == Index {
		want = "sitemap"
	}
	return name.Local == want && name.Space == d.stack[0].Space
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

func (d *document) root(element xml.StartElement) error {
	d.rooted = true
	switch element.Name.Local {
	case "urlset":
		d.r.report.Kind = URLSet
	case "sitemapindex":
		d.r.report.Kind = Index
	case "rss", "feed", "RDF":
		d.r.kept.add(CodeFeed, SeverityInfo, 0,
			"The file is a feed. Crawlers take it as a sitemap, but it names only the newest pages; it is not counted here.")
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
func namespaceOf(element xml.StartElement) string {
	want := xml.Name{Local: "xmlns"}
	if element.Name.Space != "" {
		want = xml.Name{Space: "xmlns", Local: element.Name.Space}
	}
	for _, attribute := range element.Attr {
		if attribute.Name == want {
			return attribute.Value
		}
	}
	return ""
}

func (d *document) close(name xml.Name) error {
	depth := len(d.stack)
	if depth == 0 || d.stack[depth-1] != name {
		return broken(CodeMalformed, "An end tag of the XML document does not match its start tag.")
	}
	if depth == 2 && d.isEntry(name) {
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
		return d.fault(broken(CodeMalformed, "The XML document ends in the middle."))
	}
	return nil
}

// fault puts an error of the decoder in words, with the line where it stopped.
func (d *document) fault(err error) error {
	line, _ := d.decoder.InputPos()
	var syntax *xml.SyntaxError
	var bad *defect
	switch {
	case errors.As(err, &syntax):
		return &defect{code: CodeMalformed, line: syntax.Line, message: "The file is not well-formed XML."}
	case errors.As(err, &bad):
		return &defect{code: bad.code, line: line, message: bad.message}
	case d.source.err == nil:
		// The decoder's own error, of which all but those of the declaration are of the type above.
		return &defect{code: CodeMalformed, line: line, message: "The XML declaration cannot be read."}
	}
	return err
}

// charset undoes the one old encoding that is still met, and is Windows-1252's plain part.
func (r *reader) charset(label string, input io.Reader) (io.Reader, error) {
	switch strings.ToLower(label) {
	case "iso-8859-1", "latin1", "us-ascii", "ascii", "windows-1252":
		r.kept.add(CodeEncoding, SeverityWarn, 0, "The XML declares an encoding other than UTF-8, which a sitemap must have.")
		return &latin1{from: input}, nil
	}
	return nil, broken(CodeEncoding, "The XML declares an encoding other than UTF-8, which a sitemap must have.")
}

// latin1 reads ISO 8859-1 as UTF-8, a character at a time at least.
type latin1 struct {
	from io.Reader
	left []byte // what did not fit
}

func (l *latin1) Read(p []byte) (int, error) {
	var err error
	if len(l.left) == 0 {
		raw := make([]byte, max(len(p)/2, 1))
		var n int
		n, err = l.from.Read(raw)
		for _, c := range raw[:n] {
			l.left = utf8.AppendRune(l.left, rune(c))
		}
	}
	n := copy(p, l.left)
	l.left = l.left[n:]
	if len(l.left) > 0 {
		err = nil // it comes again with the next read
	}
	return n, err
}
