// Package sitemap reads sitemaps (sitemaps.org) as streams and reports their defects. Input is not trusted: entities
// are not expanded, and depth, token size and length are bounded.
package sitemap

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"diagnostics/gateway/internal/analyze/gunzip"
	"diagnostics/gateway/internal/tool/finding"
)

// The limits of sitemaps.org for one file.
const (
	MaxURLs  = 50_000
	MaxBytes = 50 << 20 // decompressed
)

// Kind is what a file is.
type Kind string

// The kinds. A feed is none of them, though sitemaps.org allows it.
const (
	URLSet Kind = "urlset"
	Index  Kind = "sitemapindex"
	Text   Kind = "text"
)

// Report is what a file holds.
type Report struct {
	// Kind is empty where the file is none, or a feed.
	Kind Kind
	// Valid reports that the part of the file that was read is a sitemap.
	Valid bool
	// Count is the number of URLs, or of sitemaps in an index, up to the first defect that ends the reading.
	Count int
	// LastModified is the newest date in the file, zero if there is none.
	LastModified time.Time
	// Truncated reports that the file was not read to its end.
	Truncated bool
	Issues    []Issue
	// Err is a failure of the source, not a defect of the file.
	Err error
}

// Source is a file to read.
type Source struct {
	Body io.Reader
	// Host is the host of the file, on which its URLs should be.
	Host string
	Now  time.Time
	// Limit wraps the decompressed text, so that a caller can bound it over several files. Its reader returns ErrLimit
	// at the bound, as Body may. It may be nil.
	Limit func(io.Reader) io.Reader
	// Spend is called about once per thousand tags, attributes, entities, texts and lines, with their number: their
	// cost is per item rather than per byte. Its error, ErrLimit, ends the reading. It may be nil.
	Spend func(parts int) error
}

// ErrLimit is the error of a reader whose bound is reached.
var ErrLimit = errors.New("sitemap: the bound of what is read is reached")

// maxLayers is how often a file may be compressed: once as a .gz file and once more by the server. maxPacked bounds the
// compressed input of each layer, which an outer layer may multiply.
const (
	maxLayers = 2
	maxPacked = 4 << 20
)

// Read reads a file to its end, to a bound, or to the first thing that makes it none.
func Read(s Source) Report { return read(s, bounds{text: MaxBytes, packed: maxPacked}) }

// bounds are the lengths in bytes of a file's text, and of the compressed input of each layer.
type bounds struct{ text, packed int64 }

func read(s Source, b bounds) Report {
	r := &reader{source: s, bounds: b}
	text, err := r.open()
	if err == nil {
		err = r.read(text)
	}
	return r.conclude(err)
}

// reader reads one file.
type reader struct {
	source Source
	bounds bounds
	report Report
	kept   issues
	zipped bool
	parts  int // not reported to Spend yet

	blank     bool // before the first character
	lines     int  // of that
	malformed bool // in a way that does not end the reading
}

// spendAtOnce is how many parts are counted before Spend is called.
const spendAtOnce = 1000

func (r *reader) spend(parts int) error {
	if r.parts += parts; r.parts < spendAtOnce || r.source.Spend == nil {
		return nil
	}
	parts, r.parts = r.parts, 0
	return r.source.Spend(parts)
}

// readSize avoids small reads of the source.
const readSize = 32 << 10

// open decompresses gzip, recognised by its first bytes: servers often declare the wrong type or encoding.
func (r *reader) open() (*bufio.Reader, error) {
	from := bufio.NewReaderSize(r.source.Body, readSize)
	for range maxLayers {
		head, err := from.Peek(2)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if !bytes.Equal(head, []byte{0x1f, 0x8b}) {
			break
		}
		r.zipped = true
		packed := bufio.NewReader(&bounded{from: from, left: r.bounds.packed, over: ErrLimit})
		unzipped, err := gunzip.NewReader(packed, r.foundTrailing)
		if err != nil {
			return nil, err
		}
		from = bufio.NewReader(unzipped)
	}
	var text io.Reader = from
	if r.source.Limit != nil {
		text = r.source.Limit(text)
	}
	return bufio.NewReader(&bounded{from: text, left: r.bounds.text, over: errTooLong}), nil
}

func (r *reader) foundTrailing() {
	r.kept.add(CodeTrailing, 0, nil)
}

// errTooLong is the error of a file that is longer than sitemaps.org allows.
var errTooLong = errors.New("sitemap: longer than 50 MiB")

// bounded returns the error over once more than left bytes are read.
type bounded struct {
	from io.Reader
	left int64
	over error
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left > 0 {
		n, err := b.from.Read(p[:min(int64(len(p)), b.left)])
		b.left -= int64(n)
		return n, err
	}
	// One more byte distinguishes the end of the file from the bound. ErrLimit means that there is more.
	if n, err := io.ReadFull(b.from, make([]byte, 1)); n == 0 && !errors.Is(err, ErrLimit) {
		return 0, err
	}
	return 0, b.over
}

// read chooses the format by the first bytes.
func (r *reader) read(text *bufio.Reader) error {
	if err := r.skipBlank(text); err != nil {
		if errors.Is(err, io.EOF) {
			return broken(CodeEmpty, nil)
		}
		return err
	}
	first, _ := text.Peek(sniff)
	switch {
	case bytes.HasPrefix(first, []byte("\xff\xfe")), bytes.HasPrefix(first, []byte("\xfe\xff")):
		return broken(CodeUnreadable, finding.Args{"utf16": true})
	case first[0] != '<':
		return r.readText(text)
	case looksLikeHTML(first):
		return broken(CodeHTML, nil)
	}
	return r.readXML(text)
}

// sniff is the number of first bytes that decide the format.
const sniff = 512

// maxBlank bounds the space before the beginning.
const maxBlank = 64 << 10

// skipBlank skips a byte order mark and the space before the first character.
func (r *reader) skipBlank(text *bufio.Reader) error {
	if mark, _ := text.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		_, _ = text.Discard(len(mark))
	}
	for range maxBlank {
		c, err := text.ReadByte()
		if err != nil {
			return err
		}
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return text.UnreadByte()
		}
		r.blank = true
		if c == '\n' {
			r.lines++
		}
	}
	return broken(CodeNeither, nil)
}

// looksLikeHTML reports whether the file is a page, which many sites return for any path, and not XML.
func looksLikeHTML(first []byte) bool {
	lower := string(bytes.ToLower(first))
	// XHTML begins as any other XML does.
	return strings.Contains(lower, "<!doctype html") || strings.Contains(lower, "<html") ||
		slices.ContainsFunc([]string{"<head", "<body", "<script", "<!-- html"},
			func(start string) bool { return strings.HasPrefix(lower, start) })
}

// defect is an error of the file that ends the reading.
type defect struct{ Issue }

func (d *defect) Error() string { return "sitemap: " + d.Code }

func broken(code string, args finding.Args) error { return &defect{Issue{Code: code, Args: args}} }

// malformed is an error of the XML.
func malformed(what string) error { return broken(CodeMalformed, finding.Args{"defect": what}) }

// conclude completes the report with the result of the reading.
func (r *reader) conclude(err error) Report {
	var bad *defect
	switch {
	case err == nil:
		r.report.Valid = !r.malformed
	case errors.Is(err, ErrLimit):
		r.report.Valid, r.report.Truncated = !r.malformed, true
	case errors.Is(err, errTooLong):
		r.report.Valid, r.report.Truncated = !r.malformed, true
		r.kept.add(CodeTooLong, 0, nil)
	case errors.As(err, &bad):
		r.kept.add(bad.Code, bad.Line, bad.Args)
	case r.zipped && isGzipError(err):
		r.kept.add(CodeCorrupt, 0, nil)
	default:
		r.report.Err = err
	}
	if r.report.Valid {
		r.checkCount()
	}
	r.report.Issues = r.kept.list()
	return r.report
}

func (r *reader) checkCount() {
	what := finding.Args{"index": r.report.Kind == Index}
	switch {
	case r.report.Count > MaxURLs:
		r.kept.add(CodeTooMany, 0, what)
	case r.report.Count == 0 && r.report.Kind != "" && !r.report.Truncated:
		r.kept.add(CodeNothing, 0, what)
	}
}
