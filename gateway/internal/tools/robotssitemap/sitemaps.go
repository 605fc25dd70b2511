package robotssitemap

import (
	"context"
	"io"
	"sync/atomic"
	"time"

	"diagnostics/gateway/internal/analyze/sitemap"
	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/budget/processor"
	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/gateway/internal/tools/internal/webview"
	"diagnostics/shared/parallel"
	"diagnostics/shared/progress"
)

// The bounds of all sitemaps of a run together: bytes as received and decompressed, and items of Source.Spend.
const (
	maxSitemapsReceived = 4 << 20
	maxSitemapsText     = 8 << 20
	// maxSitemapsParts bounds the CPU time, of which a part takes up to 0.2 µs. A full sitemap, of 50,000 URLs with every
	// element of the protocol, has 1.1 million; 8 MiB of the shortest tags would have four million.
	maxSitemapsParts = 1_200_000
)

// maxSitemapsWire leaves room for the overhead of TLS and HTTP.
const maxSitemapsWire = maxSitemapsReceived + maxSitemapsReceived/32

// drawing bounds what the connections of all sitemaps receive together, read or not.
func drawing(ctx context.Context) context.Context {
	return traffic.WithShare(ctx, maxSitemapsWire, &fault.Error{
		Kind:       fault.Limited,
		Code:       "SITEMAPS_TOO_LARGE",
		RetryAfter: time.Second,
	})
}

// fetch starts to read a sitemap, or returns the earlier fetch of the same URL. Only the run's goroutine calls it.
func (r *checker) fetch(ctx context.Context, u target.URL) *parallel.Pending[sitemapFile] {
	if f := r.fetches[u.String()]; f != nil {
		return f
	}
	f := parallel.Start(func() sitemapFile { return r.read(ctx, u) })
	r.fetches[u.String()] = f
	return f
}

// fetchDeclared starts to read the declared sitemaps and returns a function that waits for them. An invalid or refused
// URL is not fetched.
func (r *checker) fetchDeclared(ctx context.Context, declared []string) func() []sitemapFile {
	fetches := make([]*parallel.Pending[sitemapFile], len(declared))
	files := make([]sitemapFile, len(declared))
	for i, text := range declared {
		u, err := target.ParseURL(text)
		if err != nil {
			files[i] = unfetched(text, err)
			continue
		}
		fetches[i] = r.fetch(ctx, u)
	}
	return func() []sitemapFile {
		for i, f := range fetches {
			if f != nil {
				files[i] = f.Wait()
				files[i].URL = declared[i]
			}
		}
		return files
	}
}

// unfetched describes a declared sitemap that is not fetched.
func unfetched(text string, err error) sitemapFile {
	s := served{state: fileUnreachable}
	if fault.Is(err, fault.Refused) {
		s.add(codeNotPublic, nil)
	} else {
		s.add(codeBadURL, nil)
	}
	return sitemapFile{URL: text, Status: s.state, Issues: s.issues, Notes: []webview.Note{}}
}

// read fetches one sitemap.
func (r *checker) read(ctx context.Context, u target.URL) sitemapFile {
	var report *sitemap.Report
	chain := r.client.Follow(ctx, egress.Request{URL: u, Consume: func(answer *egress.Response, body io.Reader) {
		if succeeds(answer) {
			report = new(r.readBody(ctx, answer, body))
		}
	}}, maxRedirects)
	s := describeServed(chain, sitemapKind)
	file := sitemapFile{URL: u.String(), certificates: webview.Certificates(chain),
		shortHellos: webview.ShortHelloHosts(chain)}
	switch {
	case fault.IsOwn(chain.Err):
		file.busy = chain.Err
	case report != nil && fault.Is(report.Err, fault.Busy):
		file.busy = report.Err
	}
	if report != nil && s.state == fileFound {
		s.judgeReport(*report)
		file.describe(*report)
	}
	file.Status, file.FinalURL, file.HTTPStatus, file.Issues = s.state, s.finalURL, s.httpStatus, s.issues
	file.Notes = s.notes
	if file.busy == nil {
		reportFile(ctx, file.URL, file.Status, file.HTTPStatus)
	}
	return file
}

// fileStep is a step of the stream: a file that was read.
type fileStep struct {
	URL        string `json:"url"`
	Status     string `json:"status"`
	HTTPStatus *int   `json:"httpStatus"`
}

func reportFile(ctx context.Context, url, status string, httpStatus *int) {
	progress.Report(ctx, "file", url, fileStep{url, status, httpStatus})
}

func (r *checker) readBody(ctx context.Context, answer *egress.Response, body io.Reader) sitemap.Report {
	text, err := egress.DecodeBody(ctx, answer, budgeted{from: body, left: &r.budget.received})
	if err != nil {
		return sitemap.Report{Err: err}
	}
	return sitemap.Read(sitemap.Source{
		Body: text, Host: answer.URL.Host().String(), Now: r.now,
		Limit: func(text io.Reader) io.Reader {
			return processor.Reader(ctx, budgeted{from: text, left: &r.budget.text}, weight.Sitemap)
		},
		Spend: r.budget.spend,
	})
}

func (s *served) judgeReport(report sitemap.Report) {
	for _, i := range report.Issues {
		if i.Code == sitemap.CodeTrailing && s.has(sitemap.CodeTrailing) {
			continue // once is enough
		}
		s.issues = append(s.issues, describeIssue(i.Code, i.Line, i.Args))
	}
	if report.Truncated {
		s.add(codeBound, nil)
	}
	switch {
	case report.Err != nil:
		s.cutShort(report.Err)
	case !report.Valid:
		s.state = fileInvalid
	}
}

func (f *sitemapFile) describe(report sitemap.Report) {
	f.Truncated = report.Truncated
	if report.Kind != "" {
		f.Kind, f.URLCount = new(string(report.Kind)), new(report.Count)
	}
	if !report.LastModified.IsZero() {
		f.LastModified = new(format.RFC3339(report.LastModified))
	}
}

// sitemapBudget is what remains of the bounds of one run.
type sitemapBudget struct{ received, text, parts atomic.Int64 }

func newSitemapBudget() *sitemapBudget {
	b := &sitemapBudget{}
	b.received.Store(maxSitemapsReceived)
	b.text.Store(maxSitemapsText)
	b.parts.Store(maxSitemapsParts)
	return b
}

func (b *sitemapBudget) spend(parts int) error {
	if b.parts.Add(-int64(parts)) < 0 {
		return sitemap.ErrLimit
	}
	return nil
}

// budgeted reads as far as the budget reaches, and returns sitemap.ErrLimit if there is more.
type budgeted struct {
	from io.Reader
	left *atomic.Int64
}

func (b budgeted) Read(p []byte) (int, error) {
	granted := b.take(int64(len(p)))
	if granted == 0 && len(p) > 0 {
		if n, err := io.ReadFull(b.from, make([]byte, 1)); n == 0 {
			return 0, err
		}
		return 0, sitemap.ErrLimit
	}
	n, err := b.from.Read(p[:granted])
	b.left.Add(granted - int64(n))
	if fault.Is(err, fault.Limited) { // acknowledging a long file counts towards what the run sends
		err = sitemap.ErrLimit
	}
	return n, err
}

// take reserves at most want bytes, so that readers side by side do not read more than there is.
func (b budgeted) take(want int64) int64 {
	for {
		left := b.left.Load()
		granted := min(left, want)
		if b.left.CompareAndSwap(left, left-granted) {
			return granted
		}
	}
}
