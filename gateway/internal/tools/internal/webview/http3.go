package webview

import (
	"context"
	"net/http"
	"strings"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/text/bound"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/format"
)

// OptionHTTP3 is the option of the tools that try HTTP/3.
var OptionHTTP3 = tool.Option{Name: "http3", Bool: true,
	Doc: "Whether to try HTTP/3 too, held against Alt-Svc and the HTTPS record."}

// Page is a URL and whether HTTP/3 is to be tried.
type Page struct {
	target.URL

	HTTP3 bool
}

// ParsePage takes the input and the option OptionHTTP3.
func ParsePage(in tool.Input) (Page, error) {
	u, err := target.ParseURL(in.Text)
	if err != nil {
		return Page{}, err
	}
	tried, err := OptionHTTP3.Flag(in.Options)
	return Page{u, tried}, err
}

// HTTP3 is what an origin offers by way of HTTP/3 and what came of it.
type HTTP3 struct {
	Advertised  *string  `json:"advertised"`  // the Alt-Svc header
	HTTPSRecord *bool    `json:"httpsRecord"` // null: not known
	Tried       bool     `json:"tried"`
	Works       *bool    `json:"works"` // null: not known
	Address     *string  `json:"address"`
	HandshakeMs *float64 `json:"handshakeMs"`
	Reason      *string  `json:"reason"`

	// Findings are those on it.
	Findings []finding.Finding `json:"-"`
}

// maxAdvertised is the share of the Alt-Svc header, in bytes of JSON.
const maxAdvertised = 1 << 10

// http3Check is the check of one origin.
type http3Check struct {
	client  *egress.Client
	answer  *egress.Response
	offers  []Alternative
	binding binding
	result  *HTTP3
}

// CheckHTTP3 tries HTTP/3 with the origin of an answer, which may be nil: at the first alternative of Alt-Svc, else
// where the HTTPS record leads, else at the origin's own host and port. One address is tried: that of the answer where
// the server's host is the same. mark is set where a text was cut. The findings are of HTTP3Rows.
func CheckHTTP3(
	ctx context.Context, client *egress.Client, answer *egress.Response, mark *bool,
) *HTTP3 {
	if answer == nil {
		return &HTTP3{Reason: new(HTTP3Rows.Sentence(codeHTTP3NoAnswer, nil))}
	}
	c := &http3Check{client: client, answer: answer, result: new(HTTP3)}
	c.result.Advertised = advertised(answer.Header, mark)
	if answer.TLS == nil {
		c.result.Reason = new(HTTP3Rows.Sentence(codeHTTP3Plain, nil))
		return c.result
	}
	ctx, cancel := within(ctx, http3Time)
	defer cancel()
	c.offers = Alternatives(answer.Header)
	c.lookup(ctx)
	if c.binding.known {
		c.result.HTTPSRecord = new(c.binding.offersHTTP3)
	}
	c.try(ctx)
	return c.result
}

// What the check adds to a run: its lookups, the attempt, and the addresses that hints are held against. reserve is
// what is left of a run at its end.
const (
	recordTime = 2 * time.Second
	http3Time  = recordTime + egress.HTTP3Timeout + time.Second
	reserve    = time.Second
)

// within is a context that ends after d, and before that of the run.
func within(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if end, is := ctx.Deadline(); is {
		d = min(d, time.Until(end)-reserve)
	}
	return context.WithTimeout(ctx, d)
}

func (c *http3Check) lookup(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	c.binding = lookupBinding(ctx, c.client, c.answer.URL)
}

func advertised(h http.Header, mark *bool) *string {
	value := HeaderText(strings.TrimSpace(strings.Join(h.Values("Alt-Svc"), ", ")))
	return bound.Pointer(format.TextOrNull(value), maxAdvertised, mark)
}

// try makes the attempt and fills in the result.
func (c *http3Check) try(ctx context.Context) {
	request, outcome := c.request()
	if outcome.Err == nil {
		outcome = c.client.HTTP3(ctx, request)
	}
	r := c.result
	if outcome.Address.IsValid() {
		r.Tried, r.Address = true, new(outcome.Address.String())
	}
	if outcome.Handshake > 0 {
		r.HandshakeMs = new(format.Milliseconds(outcome.Handshake))
	}
	if outcome.Failure != egress.HTTP3NotTried && outcome.Failure != egress.HTTP3NotVerified {
		r.Works = new(outcome.Failure == "")
	}
	if outcome.Err != nil {
		r.Reason = new(FaultSentence(outcome.Err))
	}
	r.Findings = c.findings(request, outcome)
	r.Findings = append(r.Findings, c.hints(ctx)...)
}

// request is where to try. An outcome with an error means that there is nowhere.
func (c *http3Check) request() (egress.HTTP3Request, egress.HTTP3Result) {
	u := c.answer.URL
	own := egress.HTTP3Request{URL: u, Host: u.Host(), Port: u.Port(), Address: c.answer.Address}
	host, port := "", own.Port
	if offer := c.offer(); offer != nil {
		port = uint16(offer.Port) // #nosec G115 -- parsed as 16 bits
		if offer.Host != nil {
			host = *offer.Host
		}
	} else if c.binding.offersHTTP3 {
		host, port = c.binding.host, c.binding.port
	}
	own.Port = port
	if host == "" || strings.EqualFold(host, u.Host().String()) {
		return own, egress.HTTP3Result{}
	}
	other, err := target.ParseHost(host)
	if err == nil {
		return egress.HTTP3Request{URL: u, Host: other, Port: port}, egress.HTTP3Result{}
	}
	failure := egress.HTTP3NotFound
	if fault.Is(err, fault.Refused) {
		failure = egress.HTTP3NotPublic
	}
	err = fault.Wrap(fault.Upstream, err, "HTTP3_SERVER_NAME", nil)
	return own, egress.HTTP3Result{Failure: failure, Err: err}
}

// offer is the first alternative that speaks HTTP/3, nil for none.
func (c *http3Check) offer() *Alternative {
	for i := range c.offers {
		if c.offers[i].Protocol == "h3" {
			return &c.offers[i]
		}
	}
	return nil
}

// draftsAlone reports whether Alt-Svc offers drafts of HTTP/3 and not HTTP/3.
func (c *http3Check) draftsAlone() bool {
	if c.offer() != nil {
		return false
	}
	for _, a := range c.offers {
		if strings.HasPrefix(a.Protocol, "h3-") || strings.HasPrefix(a.Protocol, "hq") || a.Protocol == "quic" {
			return true
		}
	}
	return false
}

// http3Rows can quote the failures of package fault.
var http3Rows = HTTP3Rows.WithClauses(fault.Rows)

// http3Codes are the findings on failures, where HTTP/3 is offered.
var http3Codes = map[egress.HTTP3Failure]string{
	"":                      CodeHTTP3Works,
	egress.HTTP3NotTried:    CodeHTTP3NotTried,
	egress.HTTP3NotVerified: CodeHTTP3NotTried,
	egress.HTTP3NotPublic:   CodeHTTP3NotPublic,
	egress.HTTP3NotFound:    CodeHTTP3Fails,
	egress.HTTP3Silent:      CodeHTTP3Dropped,
	egress.HTTP3Refused:     CodeHTTP3Refused,
	egress.HTTP3Certificate: CodeHTTP3Certificate,
	egress.HTTP3Broken:      CodeHTTP3Fails,
}

func (c *http3Check) findings(request egress.HTTP3Request, outcome egress.HTTP3Result) []finding.Finding {
	offered := c.offer() != nil || c.binding.offersHTTP3
	code := http3Codes[outcome.Failure]
	switch {
	case c.draftsAlone() && !c.binding.offersHTTP3:
		code = CodeHTTP3Draft
	case !offered && outcome.Failure == "":
		code = CodeHTTP3Unadvertised
	case !offered:
		return nil
	case outcome.Failure == egress.HTTP3Certificate && !c.answer.TLS.Verdict.Authorized:
		return c.disagreement() // the certificate is a finding of its own
	}
	args := finding.Args{"of": Place(c.answer.URL)}
	switch {
	case http3Rows.Takes(code, "port"):
		args["port"] = request.Port
	case http3Rows.Takes(code, "reason") && outcome.Err != nil:
		args = args.With(because(outcome.Err))
	}
	return append([]finding.Finding{http3Rows.Find(code, "", args)}, c.disagreement()...)
}

// disagreement is the finding that Alt-Svc and the HTTPS record do not offer the same.
func (c *http3Check) disagreement() []finding.Finding {
	if !c.binding.present || (c.offer() != nil) == c.binding.offersHTTP3 || c.draftsAlone() {
		return nil
	}
	args := finding.Args{"of": Place(c.answer.URL), "record": c.offer() == nil}
	return []finding.Finding{http3Rows.Find(CodeHTTP3Differs, "", args)}
}

// hints is the finding that addresses of the HTTPS record are not those of its host. No packet is sent to a hint.
func (c *http3Check) hints(ctx context.Context) []finding.Finding {
	if !c.binding.offersHTTP3 || len(c.binding.hints) == 0 {
		return nil
	}
	host, err := target.ParseHost(c.binding.host)
	if err != nil {
		return nil
	}
	resolution, err := c.client.Resolve(ctx, host)
	if err != nil {
		return nil
	}
	if strange, private := c.binding.strangeHints(c.client, resolution); len(strange) > 0 || private {
		return []finding.Finding{http3Rows.Find(CodeHTTP3Hints, "", finding.Args{"of": Place(c.answer.URL),
			"addresses": strange, "both": private && len(strange) > 0, "private": private})}
	}
	return nil
}
