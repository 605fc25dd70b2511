package sitemap

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"errors"
	"io"
	"net/url"
	"strings"
	"time"

	"diagnostics/gateway/internal/tool/finding"
)

// The codes of the issues.
const (
	CodeEmpty      = "EMPTY"
	CodeHTML       = "SITEMAP_IS_A_PAGE"
	CodeNeither    = "NOT_A_SITEMAP"
	CodeMalformed  = "MALFORMED_XML"
	CodeTooDeep    = "TOO_DEEP"
	CodeEncoding   = "ENCODING"
	CodeUnreadable = "ENCODING_NOT_READ"
	CodeCorrupt    = "CORRUPT_GZIP"
	CodeTrailing   = "TRAILING_BYTES"
	CodeRoot       = "UNKNOWN_ROOT"
	CodeFeed       = "FEED"
	CodeNamespace  = "NAMESPACE"
	CodeTooLong    = "SITEMAP_TOO_LONG"
	CodeTooMany    = "TOO_MANY_URLS"
	CodeNothing    = "NO_URLS"
	CodeNoLoc      = "MISSING_LOC"
	CodeBadLoc     = "BAD_LOC"
	CodeLongLoc    = "LONG_LOC"
	CodeOtherHost  = "OTHER_HOST"
	CodeBadDate    = "BAD_LASTMOD"
	CodeFutureDate = "FUTURE_LASTMOD"
)

// The values of the argument defect of CodeMalformed.
const (
	DefectTooLong      = "XML_TOKEN_TOO_LONG"
	DefectDeclaration  = "XML_DECLARATION_LATE"
	DefectTextOutside  = "XML_TEXT_OUTSIDE_ROOT"
	DefectSeveralRoots = "XML_SEVERAL_ROOTS"
	DefectTags         = "XML_TAGS_DIFFER"
	DefectCutOff       = "XML_CUT_OFF"
	DefectSyntax       = "XML_NOT_WELL_FORMED"
	DefectEncodings    = "XML_SEVERAL_ENCODINGS"
)

// Issue is a defect of a file, or a remark about it.
type Issue struct {
	Code string
	Line int // the first, 0 for the file as a whole
	Args finding.Args
}

// issues collects issues: the first one of each code, with the number of its repetitions.
type issues struct {
	kept  []Issue
	times map[string]int
}

// add records the first issue of a code and counts the others.
func (i *issues) add(code string, line int, args finding.Args) {
	if i.times == nil {
		i.times = make(map[string]int)
	}
	if i.times[code]++; i.times[code] == 1 {
		i.kept = append(i.kept, Issue{code, line, args})
	}
}

// list returns the issues. An issue that repeats has the argument once, or more with the number of repetitions.
func (i *issues) list() []Issue {
	out := append([]Issue{}, i.kept...)
	for k := range out {
		switch n := i.times[out[k].Code]; {
		case n == 2:
			out[k].Args = out[k].Args.With(finding.Args{"once": true})
		case n > 2:
			out[k].Args = out[k].Args.With(finding.Args{"more": n - 1})
		}
	}
	return out
}

func isGzipError(err error) bool {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	return corrupt || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) ||
		errors.Is(err, io.ErrUnexpectedEOF)
}

// maxLoc is the length that a URL must stay under.
const maxLoc = 2048

// checkLoc checks the URL of an entry.
func (r *reader) checkLoc(loc string, line int) {
	loc = strings.TrimSpace(loc)
	if loc == "" {
		r.kept.add(CodeNoLoc, line, nil)
		return
	}
	if len(loc) >= maxLoc {
		r.kept.add(CodeLongLoc, line, nil)
		return
	}
	u, ok := absolute(loc)
	if !ok {
		r.kept.add(CodeBadLoc, line, nil)
		return
	}
	if r.source.Host != "" && !strings.EqualFold(u.Hostname(), r.source.Host) {
		r.kept.add(CodeOtherHost, line, nil)
	}
}

func absolute(s string) (*url.URL, bool) {
	if s == "" || s[0] != 'h' && s[0] != 'H' { // cheaper than parsing the lines of a long text
		return nil, false
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || !strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https") {
		return nil, false
	}
	return u, true
}

// checkDate reads the lastmod of an entry.
func (r *reader) checkDate(text string, line int) {
	if text = strings.TrimSpace(text); text == "" {
		return
	}
	at, ok := w3cDate(text)
	if !ok {
		r.kept.add(CodeBadDate, line, nil)
		return
	}
	// A day ahead may be a matter of time zones.
	if at.After(r.source.Now.Add(24 * time.Hour)) {
		r.kept.add(CodeFutureDate, line, nil)
	}
	if at.After(r.report.LastModified) {
		r.report.LastModified = at
	}
}

// w3cDates are the layouts of the W3C's note on dates and times. Fractions of a second are accepted with each.
var w3cDates = []string{"2006-01-02", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04Z07:00", "2006-01", "2006"}

// w3cDate parses a date and returns it in UTC, where its year must still have four digits (RFC 3339).
func w3cDate(text string) (time.Time, bool) {
	for _, layout := range w3cDates {
		if at, err := time.Parse(layout, text); err == nil {
			at = at.UTC()
			return at, at.Year() > 0 && at.Year() <= 9999
		}
	}
	return time.Time{}, false
}

// readText reads a list of URLs, one per line.
func (r *reader) readText(text *bufio.Reader) error {
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, maxToken)
	for number := r.lines + 1; lines.Scan(); number++ {
		if err := r.spend(1); err != nil {
			return err
		}
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		if r.report.Kind == "" {
			if _, ok := absolute(line); !ok {
				return broken(CodeNeither, nil)
			}
		}
		r.report.Kind = Text
		r.report.Count++
		r.checkLoc(line, number)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return broken(CodeNeither, nil)
	}
	return lines.Err()
}
