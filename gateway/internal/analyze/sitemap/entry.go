package sitemap

import (
	"bufio"
	"errors"
	"net/url"
	"strings"
	"time"
)

// maxLoc is the length that a URL must stay under.
const maxLoc = 2048

// checkLoc looks at the URL of an entry.
func (r *reader) checkLoc(loc string, line int) {
	loc = strings.TrimSpace(loc)
	if loc == "" {
		r.kept.add(CodeNoLoc, SeverityFail, line, "An entry has no URL in a loc element.")
		return
	}
	if len(loc) >= maxLoc {
		r.kept.add(CodeLongLoc, SeverityFail, line, "A URL has 2,048 characters or more.")
		return
	}
	u, ok := absolute(loc)
	if !ok {
		r.kept.add(CodeBadLoc, SeverityFail, line, "A URL is not an absolute http or https URL.")
		return
	}
	if r.source.Host != "" && !strings.EqualFold(u.Hostname(), r.source.Host) {
		r.kept.add(CodeOtherHost, SeverityInfo, line,
			"A URL is on another host than the sitemap. Crawlers accept it only if that host's robots.txt names this sitemap.")
	}
}

func absolute(s string) (*url.URL, bool) {
	if s == "" || s[0] != 'h' && s[0] != 'H' { // spares the parser what no scheme begins
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
		r.kept.add(CodeBadDate, SeverityWarn, line, "A lastmod is not a date of the form 2006-01-02 or 2006-01-02T15:04:05Z.")
		return
	}
	// A day ahead is a time zone, and no news.
	if at.After(r.source.Now.Add(24 * time.Hour)) {
		r.kept.add(CodeFutureDate, SeverityWarn, line, "A lastmod is in the future.")
	}
	if at.After(r.report.LastModified) {
		r.report.LastModified = at
	}
}

// w3cDates are the shapes of the W3C's note on dates and times. Fractions of a second are read with any of them.
var w3cDates = []string{"2006-01-02", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04Z07:00", "2006-01", "2006"}

// w3cDate reads a date in UTC; where the day or the time is left out, it is the first. In UTC a date may fall out of
// the years that can be written (RFC 3339 has four digits for them).
func w3cDate(text string) (time.Time, bool) {
	for _, layout := range w3cDates {
		if at, err := time.Parse(layout, text); err == nil {
			at = at.UTC()
			return at, at.Year() > 0 && at.Year() <= 9999
		}
	}
	return time.Time{}, false
}

// readText reads a list of URLs, one a line.
func (r *reader) readText(text *bufio.Reader) error {
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, maxToken)
	for number := 1; lines.Scan(); number++ {
		if err := r.spend(1); err != nil {
			return err
		}
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		if r.report.Kind == "" {
			if _, ok := absolute(line); !ok {
				return broken(CodeNeither, "The file is neither XML nor a list of URLs.")
			}
		}
		r.report.Kind = Text
		r.report.Count++
		r.checkLoc(line, number)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return broken(CodeNeither, "The file is neither XML nor a list of URLs.")
	}
	return lines.Err()
}
