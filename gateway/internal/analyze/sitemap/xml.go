package sitemap

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"diagnostics/gateway/internal/tool/finding"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// Bounds on what the decoder holds. A comment or a text of the whole file is one token.
const (
	maxDepth = 32
	maxToken = 256 << 10
	maxText  = 8 << 10
	// attributeSize is the memory of one attribute. It counts as part of its token's length.
	attributeSize = 48
)

const namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"

var errTokenTooLong = malformed(DefectTooLong)

// document is the state between two tokens. Names are compared with their prefixes, as they are written.
type document struct {
	r       *reader
	decoder *xml.Decoder
	input   *input
	recoded bool // the file declared another encoding
	stack   []xml.Name
	begun   bool // a token was read
	rooted  bool
	entry   entry
	text    *strings.Builder // receives the text of the current element, nil where it is not used
}

// entry is one url or sitemap element.
type entry struct {
	loc, lastmod strings.Builder
	line         int
}

// input counts what the decoder reads. A bufio.Reader between the two would read ahead.
type input struct {
	from       *bufio.Reader
	token      int   // bytes since the last token
	references int   // since the last token
	err        error // of the source, other than io.EOF
}

func (i *input) ReadByte() (byte, error) {
	if i.err == nil && i.token >= maxToken {
		i.err = errTokenTooLong
	}
	if i.err != nil {
		return 0, i.err
	}
	c, err := i.from.ReadByte()
	if err != nil && !errors.Is(err, io.EOF) {
		i.err = err
	}
	i.token++
	switch c {
	case '&':
		i.references++
	case '=':
		i.token += attributeSize
	}
	return c, err
}

// Read makes input an io.Reader, which xml.NewDecoder asks for. The decoder calls ReadByte alone.
func (i *input) Read(p []byte) (int, error) { return i.from.Read(p) }

// readXML reads the document without building it.
func (r *reader) readXML(text *bufio.Reader) error {
	d := &document{r: r, input: &input{from: text}}
	d.decoder = xml.NewDecoder(d.input)
	d.decoder.CharsetReader = d.charset
	for {
		token, err := d.decoder.RawToken()
		if errors.Is(err, io.EOF) {
			return d.end()
		}
		if err == nil {
			err = d.take(token)
		}
		if errors.Is(err, errDone) {
			return nil
		}
		if err != nil {
			return d.fault(err)
		}
	}
}

// errDone ends the reading of a document whose rest does not matter.
var errDone = errors.New("sitemap: done")

func (d *document) take(token xml.Token) error {
	parts := 1 + d.input.references
	d.input.token, d.input.references = 0, 0
	if start, is := token.(xml.StartElement); is {
		parts += len(start.Attr)
	}
	if err := d.r.spend(parts); err != nil {
		return err
	}
	first := !d.begun && !d.r.blank
	d.begun = true
	switch token := token.(type) {
	case xml.ProcInst:
		if token.Target == "xml" && !first {
			d.r.malformed = true
			d.r.kept.add(CodeMalformed, d.line(), finding.Args{"defect": DefectDeclaration})
		}
	case xml.StartElement:
		return d.open(token)
	case xml.EndElement:
		return d.close(token.Name)
	case xml.CharData:
		if len(d.stack) == 0 && len(bytes.Trim(token, " \t\r\n")) > 0 {
			return malformed(DefectTextOutside)
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
		return broken(CodeTooDeep, nil)
	case depth == 0 && d.rooted:
		return malformed(DefectSeveralRoots)
	case depth == 0:
		if err := d.root(element); err != nil {
			return err
		}
	case depth == 1 && d.isEntry(element.Name):
		d.entry = entry{line: d.line()}
		d.r.report.Count++
	case depth == 2 && d.isEntry(d.stack[1]) && element.Name.Space == d.stack[0].Space:
		switch element.Name.Local {
		case "loc":
			d.text = &d.entry.loc
		case "lastmod":
			d.text = &d.entry.lastmod
		}
	}
	d.stack = append(d.stack, element.Name)
	return nil
}

// isEntry reports whether a name is that of a url element of a urlset, or of a sitemap element of an index.
func (d *document) isEntry(element xml.Name) bool {
	want := "url"
	if d.r.report.Kind == Index {
		want = "sitemap"
	}
	return element.Local == want && element.Space == d.stack[0].Space
}

func (d *document) root(element xml.StartElement) error {
	d.rooted = true
	switch element.Name.Local {
	case "urlset":
		d.r.report.Kind = URLSet
	case "sitemapindex":
		d.r.report.Kind = Index
	case "rss", "feed", "RDF":
		d.r.kept.add(CodeFeed, 0, nil)
		return errDone
	case "html":
		return broken(CodeHTML, nil)
	default:
		return broken(CodeRoot, nil)
	}
	if got := namespaceOf(element); got != namespace {
		d.r.kept.add(CodeNamespace, 0, finding.Args{"namespace": namespace})
	}
	return nil
}

// namespaceOf resolves the prefix of the root element, which only its own attributes can.
func namespaceOf(root xml.StartElement) string {
	declaration := xml.Name{Local: "xmlns"}
	if root.Name.Space != "" {
		declaration = xml.Name{Space: "xmlns", Local: root.Name.Space}
	}
	for _, attribute := range root.Attr {
		if attribute.Name == declaration {
			return attribute.Value
		}
	}
	return ""
}

func (d *document) close(element xml.Name) error {
	depth := len(d.stack)
	if depth == 0 || d.stack[depth-1] != element {
		return malformed(DefectTags)
	}
	if depth == 2 && d.isEntry(element) {
		d.r.checkLoc(d.entry.loc.String(), d.entry.line)
		d.r.checkDate(d.entry.lastmod.String(), d.entry.line)
	}
	d.text = nil
	d.stack = d.stack[:depth-1]
	return nil
}

// end checks that the document is complete at the end of the file.
func (d *document) end() error {
	switch {
	case !d.rooted:
		return broken(CodeNeither, finding.Args{"xml": true})
	case len(d.stack) > 0:
		return d.fault(malformed(DefectCutOff))
	}
	return nil
}

func (d *document) line() int {
	line, _ := d.decoder.InputPos()
	return d.r.lines + line
}

// fault returns the error of the source, or the defect of the document with the line where the reading stopped.
func (d *document) fault(err error) error {
	if d.input.err != nil {
		err = d.input.err
	} else if _, is := errors.AsType[*defect](err); !is && !errors.Is(err, ErrLimit) {
		err = malformed(DefectSyntax)
	}
	if bad, is := errors.AsType[*defect](err); is {
		return &defect{Issue{bad.Code, d.line(), bad.Args}}
	}
	return err
}

// charset decodes the rest of a file that declares another encoding than UTF-8. One whose declaration can be read is
// not UTF-16.
func (d *document) charset(label string, _ io.Reader) (io.Reader, error) {
	declared, err := htmlindex.Get(label)
	if err != nil || declared == encoding.Replacement {
		return nil, broken(CodeUnreadable, nil)
	}
	name, err := htmlindex.Name(declared)
	if err != nil || strings.HasPrefix(name, "utf-16") {
		return nil, broken(CodeUnreadable, nil)
	}
	if d.recoded { // each declaration would add a decoder
		return nil, malformed(DefectEncodings)
	}
	d.recoded = true
	if name != "utf-8" {
		d.r.kept.add(CodeEncoding, 0, nil)
	}
	d.input = &input{from: bufio.NewReader(declared.NewDecoder().Reader(d.input.from))}
	return d.input, nil
}
