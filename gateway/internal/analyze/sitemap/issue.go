package sitemap

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// Severity is how bad an issue is.
type Severity string

// The severities: against the protocol, one that some crawlers mind, one worth knowing.
const (
	SeverityFail Severity = "fail"
	SeverityWarn Severity = "warn"
	SeverityInfo Severity = "info"
)

// The codes of the issues.
const (
	CodeEmpty      = "EMPTY"
	CodeHTML       = "HTML"
	CodeNeither    = "NOT_A_SITEMAP"
	CodeMalformed  = "MALFORMED_XML"
	CodeTooDeep    = "TOO_DEEP"
	CodeEncoding   = "ENCODING"
	CodeCorrupt    = "CORRUPT_GZIP"
	CodeRoot       = "UNKNOWN_ROOT"
	CodeFeed       = "FEED"
	CodeNamespace  = "NAMESPACE"
	CodeTooLong    = "TOO_LONG"
	CodeTooMany    = "TOO_MANY_URLS"
	CodeNothing    = "NO_URLS"
	CodeNoLoc      = "MISSING_LOC"
	CodeBadLoc     = "BAD_LOC"
	CodeLongLoc    = "LONG_LOC"
	CodeOtherHost  = "OTHER_HOST"
	CodeBadDate    = "BAD_LASTMOD"
	CodeFutureDate = "FUTURE_LASTMOD"
)

// Issue is something about a file that its owner should know.
type Issue struct {
	Code     string
	Severity Severity
	Line     int // the first, 0 for the file as a whole
	Message  string
}

// issues collects what was found. A mistake that every entry has is told once, with how often, so that there are never
// more than there are codes.
type issues struct {
	kept  []Issue
	times map[string]int
}

// add tells an issue of a kind for the first time, and counts it after that.
func (i *issues) add(code string, severity Severity, line int, format string, args ...any) {
	if i.times == nil {
		i.times = make(map[string]int)
	}
	if i.times[code]++; i.times[code] == 1 {
		i.kept = append(i.kept, Issue{Code: code, Severity: severity, Line: line, Message: fmt.Sprintf(format, args...)})
	}
}

func (i *issues) list() []Issue {
	out := append([]Issue{}, i.kept...)
	for k := range out {
		switch n := i.times[out[k].Code]; {
		case n == 2:
			out[k].Message += " The same applies to one more."
		case n > 2:
			out[k].Message += fmt.Sprintf(" The same applies to %d more.", n-1)
		}
	}
	return out
}

func isGzipError(err error) bool {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	return corrupt || errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) ||
		errors.Is(err, io.ErrUnexpectedEOF)
}
