// Package sitemap reads sitemaps as sitemaps.org says, as they come and without keeping them, and tells what is wrong
// with them. What it reads comes from strangers: entities are not expanded, and depth, token size and length are
// bounded.
package sitemap

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"slices"
	"strings"
	"time"
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
	// Valid tells that the file can be read, as far as it was.
	Valid bool
	// Count is the number of URLs, or of sitemaps in an index. Where the file breaks, those before.
	Count int
	// LastModified is the newest date in the file, zero where there is none.
	LastModified time.Time
	// Truncated tells that the file was not read to its end.
	Truncated bool
	Issues    []Issue
	// Err is the reader's own failure, which is no fault of the file's.
	Err error
}

// Source is where a file comes from.
type Source struct {
	Body io.Reader
	// Host is the file's own, which its URLs should be on.
	Host string
	Now  time.Time
	// Limit wraps what decompression gives, so that a caller can bound it, also over several files. Reading beyond its
	// bound gives ErrLimit, as it may for Body. It may be nil.
	Limit func(io.Reader) io.Reader
	// Spend is called for every thousand tags, attributes, entities, texts and lines or so, with how many there were:
	// short ones take far longer to read than their bytes. Its error, ErrLimit, ends the reading. It may be nil.
	Spend func(parts int) error
}

// ErrLimit is the error of a reader whose bound is reached.
var ErrLimit = errors.New("sitemap: the bound of what is read is reached")

// maxLayers is how often a file may be compressed: once by its name and once more by a server that does not know it.
// What is compressed itself may be maxPacked long: what is inside, and shrinks again, would escape the bound of the
// outside.
const (
	maxLayers = 2
	maxPacked = 4 << 20
)

// Read reads a file to its end, to a bound, or to the first thing that makes it none.
func Read(s Source) Report { return read(s, bounds{text: MaxBytes, packed: maxPacked}) }

// bounds are lengths of a file in bytes: of its text, and of what is compressed in itself.
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
	parts  int // that Spend has not heard of
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

// readSize spares the source small reads, each of which may cost it a packet.
const readSize = 32 << 10

// open undoes gzip where the first bytes say so: what a server calls it, by type or encoding, is often wrong.
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
		unzipped, err := gzip.NewReader(&bounded{from: from, left: r.bounds.packed, over: ErrLimit})
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

// errTooLong is the error of a file that is longer than sitemaps.org lets it be.
var errTooLong = errors.New("sitemap: longer than 50 MiB")

// bounded ends with an error of its own where there is more than left bytes.
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
	// Only what is left can tell the end of the file from the bound. A bound below this one says that there is more.
	if n, err := io.ReadFull(b.from, make([]byte, 1)); n == 0 && !errors.Is(err, ErrLimit) {
		return 0, err
	}
	return 0, b.over
}

// read tells what the text is by how it begins.
func (r *reader) read(text *bufio.Reader) error {
	if err := skipBlank(text); err != nil {
		if errors.Is(err, io.EOF) {
			return broken(CodeEmpty, "The file is empty.")
		}
		return err
	}
	first, _ := text.Peek(sniff)
	switch {
	case bytes.HasPrefix(first, []byte("\xff\xfe")), bytes.HasPrefix(first, []byte("\xfe\xff")):
		return broken(CodeEncoding, "The file is UTF-16. A sitemap must be UTF-8.")
	case first[0] != '<':
		return r.readText(text)
	case looksLikeHTML(first):
		return broken(CodeHTML, "The file is an HTML page, not a sitemap.")
	}
	return r.readXML(text)
}

// sniff is how much of the beginning is looked at.
const sniff = 512

// maxBlank bounds the space before the beginning.
const maxBlank = 64 << 10

// skipBlank skips a byte order mark and the space before the first character.
func skipBlank(text *bufio.Reader) error {
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
	}
	return broken(CodeNeither, "The file is neither XML nor a list of URLs.")
}

// looksLikeHTML reports whether this is a page, with which many sites answer whatever is asked for, and not XML.
func looksLikeHTML(first []byte) bool {
	lower := string(bytes.ToLower(first))
	// XHTML begins as any other XML does.
	return strings.Contains(lower, "<!doctype html") || strings.Contains(lower, "<html") ||
		slices.ContainsFunc([]string{"<head", "<body", "<script", "<!-- html"},
			func(start string) bool { return strings.HasPrefix(lower, start) })
}

// defect is what makes a file unreadable.
type defect struct {
	code, message string
	line          int
}

func (d *defect) Error() string { return d.message }

func broken(code, message string) error { return &defect{code: code, message: message} }

// conclude makes the report of how the reading ended.
func (r *reader) conclude(err error) Report {
	var bad *defect
	switch {
	case err == nil:
		r.report.Valid = true
	case errors.Is(err, ErrLimit):
		r.report.Valid, r.report.Truncated = true, true
	case errors.Is(err, errTooLong):
		r.report.Valid, r.report.Truncated = true, true
		r.kept.add(CodeTooLong, SeverityFail, 0,
			"The file is longer than 50 MiB (52,428,800 bytes), the most that a sitemap may have.")
	case errors.As(err, &bad):
		r.kept.add(bad.code, SeverityFail, bad.line, "%s", bad.message)
	case r.zipped && isGzipError(err):
		r.kept.add(CodeCorrupt, SeverityFail, 0, "The compressed file is corrupt.")
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
	what := "URLs"
	if r.report.Kind == Index {
		what = "sitemaps"
	}
	switch {
	case r.report.Count > MaxURLs:
		r.kept.add(CodeTooMany, SeverityFail, 0, "The file lists more than 50,000 %s. Split it up.", what)
	case r.report.Count == 0 && r.report.Kind != "" && !r.report.Truncated:
		r.kept.add(CodeNothing, SeverityWarn, 0, "The file lists no %s.", what)
	}
}
