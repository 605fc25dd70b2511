package robotssitemap

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"diagnostics/gateway/internal/analyze/robotstxt"
	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/budget/memory"
	"diagnostics/gateway/internal/egress/budget/processor"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/webview"
)

// maxPreview is how much of a file is shown as it is, in bytes.
const maxPreview = 4 << 10

// robotsBody is a robots.txt as read, at most robotstxt.MaxBytes of it.
type robotsBody struct {
	text      []byte
	truncated bool
	err       error
}

// readable is the text without a last line that is cut off by a failure.
func (b *robotsBody) readable() []byte {
	if b.err == nil {
		return b.text
	}
	return b.text[:bytes.LastIndexAny(b.text, "\r\n")+1]
}

// maxRobotsWire bounds what comes: compression that lengthens is pointless, but endless without a byte of text.
const maxRobotsWire = robotstxt.MaxBytes + 64<<10

// read is for an egress.Request.Consume.
func (b *robotsBody) read(ctx context.Context, r *egress.Response, body io.Reader) {
	if !succeeds(r) {
		return
	}
	wire := &io.LimitedReader{R: body, N: maxRobotsWire}
	text, err := egress.DecodeBody(ctx, r, wire)
	if err == nil {
		b.text, err = io.ReadAll(memory.Reader(ctx, io.LimitReader(text, robotstxt.MaxBytes+1)))
	}
	if full := processor.Spend(ctx, weight.Robots, len(b.text)); full != nil {
		err = full
	}
	b.err = err
	if len(b.text) > robotstxt.MaxBytes {
		b.text, b.truncated, b.err = b.text[:robotstxt.MaxBytes], true, nil
	} else if wire.N == 0 {
		b.truncated, b.err = true, nil
	}
}

// robotsReport is a robots.txt and its further contents.
type robotsReport struct {
	file     robotsFile
	declared []string // sitemaps
	crawlers []crawler

	certificates []webview.Certificate // on the way to the file, not known to be valid
	shortHellos  []string              // as those of a sitemapFile
}

// describeRobots judges a robots.txt by RFC 9309 section 2.3.1: without one, and where the server refuses it,
// everything is allowed, and nothing is where the server fails.
func describeRobots(u target.URL, chain egress.Chain, body robotsBody) robotsReport {
	s := describeServed(chain, robotsKind)
	declared := []string{}
	file := robotsFile{URL: u.String(), Effect: robotstxt.AllowAll, Groups: []robotsGroup{}}
	var crawlers []robotstxt.Crawler
	switch {
	case s.state == fileFound && body.err != nil && (len(body.text) == 0 || !egress.CorruptBody(body.err)):
		s.cutShort(body.err)
		file.Effect = robotstxt.DisallowAll
		// Kept as read, though crawlers use none of them.
		file.Groups = describeGroups(robotstxt.Parse(body.readable(), false).Groups)
	case s.state == fileFound:
		if body.err != nil { // section 2.3.1.5: crawlers use what they can read
			s.add(codeIncomplete, reasonOf(body.err))
		}
		parsed := robotstxt.Parse(body.readable(), body.truncated)
		if s.refuseText(body.text, parsed); s.state == fileFound {
			file.Effect, file.Groups = parsed.Effect(), describeGroups(parsed.Groups)
			crawlers = parsed.Crawlers()
			declared = s.addFile(body.text, parsed)
		}
	case s.state == fileUnreachable:
		file.Effect = robotstxt.DisallowAll
	}
	if crawlers == nil {
		crawlers = robotstxt.CrawlersWithoutFile(file.Effect)
	}
	file.Status, file.FinalURL, file.HTTPStatus, file.ContentType, file.Issues = s.state, s.finalURL, s.httpStatus,
		s.contentType, s.issues
	file.Notes = s.notes
	file.Bytes, file.Truncated, file.Preview = len(body.text), body.truncated || body.err != nil,
		preview(body.text)
	return robotsReport{file: file, declared: declared, crawlers: describeCrawlers(crawlers),
		certificates: webview.Certificates(chain), shortHellos: webview.ShortHelloHosts(chain)}
}

// crawler is a well-known crawler and what the site allows it.
type crawler struct {
	Name   string           `json:"name"`
	Effect robotstxt.Effect `json:"effect" wire:"enum=allowAll|rules|disallowAll"`
}

// Enums implements decode.Enumerated.
func (crawler) Enums() map[string][]string {
	var names []string
	for _, c := range robotstxt.CrawlersWithoutFile(robotstxt.AllowAll) {
		names = append(names, c.Name)
	}
	return map[string][]string{"name": names}
}

func describeCrawlers(crawlers []robotstxt.Crawler) []crawler {
	list := make([]crawler, 0, len(crawlers))
	for _, c := range crawlers {
		list = append(list, crawler(c))
	}
	return list
}

// refuseText reports what is no robots.txt, whatever its type: a page that answers for every path, or no text.
func (s *served) refuseText(text []byte, parsed robotstxt.File) {
	start := strings.TrimPrefix(string(text[:min(len(text), 1024)]), "\uFEFF")
	start = strings.ToLower(strings.TrimLeft(start, " \t\r\n"))
	markup := slices.ContainsFunc([]string{"<!doctype", "<html", "<head", "<body", "<?xml", "<script"},
		func(tag string) bool { return strings.HasPrefix(start, tag) })
	nothing := parsed.Lines == 0
	isPage := nothing && (strings.HasPrefix(start, "<") || strings.Contains(mediaType(s.contentType), "html") &&
		len(parsed.Issues) > 0)
	switch {
	case markup || isPage:
		s.state = fileInvalid
		s.add(codePage, nil)
	case bytes.IndexByte(text, 0) >= 0 && nothing:
		s.state = fileInvalid
		s.add(codeBinary, nil)
	}
}

// addFile adds the issues of a file and returns its sitemaps, each once.
func (s *served) addFile(text []byte, parsed robotstxt.File) []string {
	if kind := mediaType(s.contentType); kind != "text/plain" && len(text) > 0 {
		s.add(codeContentType, nil)
	}
	for _, i := range parsed.Issues {
		s.issues = append(s.issues, describeIssue(i.Code, i.Line, i.Args))
	}
	declared, seen := []string{}, make(map[string]bool)
	for _, sitemap := range parsed.Sitemaps {
		if !seen[sitemap.URL] {
			declared = append(declared, sitemap.URL)
		}
		seen[sitemap.URL] = true
	}
	if len(declared) > maxDeclaredRead {
		s.add(codeNotRead, finding.Args{"count": len(declared), "most": maxDeclaredRead})
	}
	return declared
}

// describeIssue returns the issue of a row.
func describeIssue(row string, line int, args finding.Args) fileIssue {
	issue := fileIssue{Code: cmp.Or(issueCodes[row], row), Severity: string(rows[row].Severity),
		Message: rows.Sentence(row, args), row: row, args: args}
	if line > 0 {
		issue.Line = &line
	}
	return issue
}

func describeGroups(groups []robotstxt.Group) []robotsGroup {
	out := make([]robotsGroup, 0, len(groups))
	for _, g := range groups {
		rules := make([]robotsRule, 0, len(g.Rules))
		for _, r := range g.Rules {
			rules = append(rules, robotsRule(r))
		}
		out = append(out, robotsGroup{UserAgents: g.UserAgents, Rules: rules, CrawlDelay: g.CrawlDelay})
	}
	return out
}

// preview is the beginning of a file as text: whole characters, and no controls but those of lines.
func preview(text []byte) string {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if len(text) > maxPreview {
		text = text[:maxPreview]
		for cut := 1; cut < utf8.UTFMax && cut < len(text); cut++ {
			if last := text[len(text)-cut]; utf8.RuneStart(last) {
				if !utf8.FullRune(text[len(text)-cut:]) {
					text = text[:len(text)-cut]
				}
				break
			}
		}
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !strings.ContainsRune("\t\r\n", r) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(string(text), "\uFFFD"))
}
