// Package robotssitemap is the tool robots-sitemap. It reads the files of a site for crawlers. A file that is missing,
// dead or broken is a result; only a site that may not be visited, or has no address, fails.
package robotssitemap

import (
	"context"
	_ "embed" // openapi.yaml
	"errors"
	"io"
	"reflect"
	"slices"
	"time"

	"diagnostics/gateway/internal/analyze/robotstxt"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/budget/memory"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/text/bound"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/webview"
	"diagnostics/shared/parallel"
)

//go:embed openapi.yaml
var openAPI string

// maxRedirects is how many redirects are followed to a file (RFC 9309 section 2.3.1.2), also across hosts.
const maxRedirects = 5

// maxDeclaredRead is how many declared sitemaps are read.
const maxDeclaredRead = 5

// The states of a file.
const (
	fileFound       = "found"
	fileMissing     = "missing"
	fileUnreachable = "unreachable"
	fileInvalid     = "invalid"
)

// Result is the state of a site's files for crawlers.
type Result struct {
	finding.Report
	URL              string        `json:"url"`
	Robots           robotsFile    `json:"robots"`
	DeclaredSitemaps []string      `json:"declaredSitemaps" bound:"text=8k list=128k"`
	Sitemap          sitemapFile   `json:"sitemap"`                  // of /sitemap.xml
	Sitemaps         []sitemapFile `json:"sitemaps" wire:"len=0..5"` // of the first declared ones
	Crawlers         []crawler     `json:"crawlers" wire:"len=8"`    // the known ones, in one order
	HelloTooLong     bool          `json:"helloTooLong,omitempty"`
	Truncated        bool          `json:"truncated,omitempty"`
	shortHellos      []string      // the hosts for which HelloTooLong is set
}

// robotsFile is /robots.txt.
type robotsFile struct {
	URL         string           `json:"url"`
	FinalURL    *string          `json:"finalUrl" bound:"text=8k"` // after redirects
	Status      string           `json:"status" wire:"enum=found|missing|unreachable|invalid"`
	HTTPStatus  *int             `json:"httpStatus" wire:"min=100 max=999"`
	ContentType *string          `json:"contentType" bound:"text=1k"`
	Bytes       int              `json:"bytes" wire:"max=512000"` // read, after decompression
	Truncated   bool             `json:"truncated" bound:"apart"` // the file or one of its lists was too long
	Preview     string           `json:"preview"`
	Effect      robotstxt.Effect `json:"effect" wire:"enum=allowAll|rules|disallowAll"`
	Groups      []robotsGroup    `json:"groups"`
	Issues      []fileIssue      `json:"issues" bound:"list=48k"`
	Notes       []webview.Note   `json:"notes"`
}

type robotsGroup struct {
	UserAgents []string     `json:"userAgents" wire:"len=1.." bound:"text=8k list=16k"`
	Rules      []robotsRule `json:"rules"`
	CrawlDelay *float64     `json:"crawlDelay"` // seconds
	Truncated  bool         `json:"truncated,omitempty"`
}

type robotsRule struct {
	Type robotstxt.RuleType `json:"type" wire:"enum=allow|disallow"`
	Path string             `json:"path" bound:"text=8k"`
	Line int                `json:"line" wire:"min=1"`
}

type sitemapFile struct {
	URL          string         `json:"url" bound:"text=8k"`
	FinalURL     *string        `json:"finalUrl" bound:"text=8k"`
	Status       string         `json:"status" wire:"enum=found|missing|unreachable|invalid"`
	HTTPStatus   *int           `json:"httpStatus" wire:"min=100 max=999"`
	Kind         *string        `json:"kind" wire:"enum=urlset|sitemapindex|text"`
	URLCount     *int           `json:"urlCount"`                // of an index, its sitemaps
	LastModified *string        `json:"lastModified"`            // the newest in the file
	Truncated    bool           `json:"truncated" bound:"apart"` // as that of robotsFile
	Issues       []fileIssue    `json:"issues" bound:"list=8k"`
	Notes        []webview.Note `json:"notes"`

	certificates []webview.Certificate // on the way to the file, not known to be valid
	// busy is why this service could not read the file, nil where it could: no fault of the file.
	busy error
	// shortHellos are the hosts on the way that answer short ClientHellos alone.
	shortHellos []string
}

// fileIssue is something about a file for its owner.
type fileIssue struct {
	Code     string `json:"code"`
	Severity string `json:"severity" wire:"enum=fail|warn|info"` // fail, warn or info
	Line     *int   `json:"line" wire:"min=1"`                   // null for the file as a whole
	Message  string `json:"message"`

	row  string // of the catalogue; several may have one Code
	args finding.Args
}

var (
	limits      = bound.LimitsOf[Result]()
	groupLimits = bound.LimitsOf[robotsGroup]()
)

// New makes the tool; client fetches the files.
func New(client *egress.Client) tool.Tool {
	return tool.New(tool.Spec[target.URL, Result]{
		Slug:    "robots-sitemap",
		OpenAPI: openAPI, Findings: rows,
		Parse: func(in tool.Input) (target.URL, error) { return target.ParseURL(in.Text) },
		Run: func(ctx context.Context, u target.URL) (Result, error) {
			return newChecker(client, u).run(ctx)
		},
		About: func(u target.URL, r Result) bool { return r.URL == u.String() },
		Steps: map[string]reflect.Type{
			"file": reflect.TypeFor[fileStep](),
		},
	})
}

// checker is one run of the tool.
type checker struct {
	client  *egress.Client
	site    target.URL
	now     time.Time
	budget  *sitemapBudget
	fetches map[string]*parallel.Pending[sitemapFile]
}

func newChecker(client *egress.Client, site target.URL) *checker {
	return &checker{
		client: client, site: site, now: time.Now(), budget: newSitemapBudget(),
		fetches: make(map[string]*parallel.Pending[sitemapFile]),
	}
}

func (r *checker) run(ctx context.Context) (Result, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer r.wait(cancel)
	sitemapURL, err := r.site.Resolve("/sitemap.xml")
	if err != nil {
		return Result{}, err
	}
	sitemaps := drawing(ctx)
	own := r.fetch(sitemaps, sitemapURL)
	robots, err := r.robots(ctx)
	if err != nil {
		return Result{}, err
	}
	others := r.fetchDeclared(sitemaps, slices.Clone(robots.declared[:min(len(robots.declared), maxDeclaredRead)]))
	result := Result{URL: r.site.String(), Robots: robots.file, DeclaredSitemaps: robots.declared,
		Crawlers: robots.crawlers}
	// Now, since what is cut off need not wait in memory for the sitemaps.
	result.Truncated = result.Robots.boundGroups()
	limits.Enforce(&result)
	result.Sitemap = own.Wait()
	result.Sitemaps = others()
	if errors.Is(ctx.Err(), context.Canceled) {
		return Result{}, ctx.Err()
	}
	for _, file := range append(slices.Clone(result.Sitemaps), result.Sitemap) {
		if file.busy != nil {
			return Result{}, file.busy
		}
	}
	limits.Enforce(&result)
	certificates := [][]webview.Certificate{robots.certificates, result.Sitemap.certificates}
	for _, file := range result.Sitemaps {
		certificates = append(certificates, file.certificates)
	}
	result.shortHellos = slices.Concat(robots.shortHellos, result.Sitemap.shortHellos)
	for _, file := range result.Sitemaps {
		result.shortHellos = append(result.shortHellos, file.shortHellos...)
	}
	slices.Sort(result.shortHellos)
	result.shortHellos = slices.Compact(result.shortHellos)
	result.HelloTooLong = len(result.shortHellos) > 0
	result.Report = result.report(r.site, joinCertificates(certificates...))
	return result, nil
}

// wait ends the fetches that are still under way: no packet leaves after a run. A panic of one is raised even where
// its file was not needed any more.
func (r *checker) wait(cancel context.CancelFunc) {
	cancel()
	for _, f := range r.fetches {
		<-f.Done()
	}
	for _, f := range r.fetches {
		f.Wait()
	}
}

func (r *checker) robots(ctx context.Context) (robotsReport, error) {
	u, err := r.site.Resolve("/robots.txt")
	if err != nil {
		return robotsReport{}, err
	}
	var body robotsBody
	chain := r.client.Follow(ctx, egress.Request{URL: u, Consume: func(answer *egress.Response, from io.Reader) {
		body.read(ctx, answer, from)
	}}, maxRedirects)
	if err := webview.ChainFault(ctx, r.client, r.site, chain); err != nil {
		return robotsReport{}, err
	}
	if fault.Is(body.err, fault.Busy) {
		return robotsReport{}, body.err
	}
	// The description of a file takes half as much again, and is kept until the sitemaps are read.
	memory.Count(ctx, len(body.text)/2)
	found := describeRobots(u, chain, body)
	reportFile(ctx, found.file.URL, found.file.Status, found.file.HTTPStatus)
	return found, nil
}

// maxGroups is the share of the groups, in bytes of JSON. A robots.txt of 500 KiB may be nothing but lines of seven
// bytes, each of which takes forty here.
const maxGroups = 576 << 10

// boundGroups cuts the groups where their rules fill their share, in the middle of a group.
func (f *robotsFile) boundGroups() (cut bool) {
	left := maxGroups
	for i := range f.Groups {
		g := &f.Groups[i]
		cut = groupLimits.Enforce(g) || cut
		g.Rules = bound.List(g.Rules, left, &g.Truncated, &f.Truncated, &cut)
		if left -= bound.Size(g); left < 0 {
			f.Groups = bound.First(f.Groups, i+1, &f.Truncated, &cut)
			break
		}
	}
	return cut
}
