package emaildnshealth

import (
	"context"
	"errors"
	"mime"
	"net/http"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/analyze/mail/mtasts"
	"diagnostics/gateway/internal/analyze/mail/tlsrpt"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/format"
)

// mtaStsCheck is whether senders must use TLS with a valid certificate.
type mtaStsCheck struct {
	check
	// Policy is the text of the policy file.
	Policy     *string  `json:"policy" bound:"text=96k"`
	Mode       *string  `json:"mode" wire:"enum=enforce|testing|none"`
	MXPatterns []string `json:"mxPatterns" bound:"text=2k list=48k"`
	MaxAge     *int     `json:"maxAge" wire:"max=31557600"`
}

func newMTASTSCheck(c check) mtaStsCheck {
	return mtaStsCheck{check: c, MXPatterns: []string{}}
}

// maxPolicy is how much of a policy file is read (RFC 8461 section 3.3).
const maxPolicy = 64 << 10

func (r *checker) mtaSts(ctx context.Context, mx mxCheck) mtaStsCheck {
	if mx.NullMX {
		return newMTASTSCheck(notForNullMX())
	}
	c := newMTASTSCheck(newCheck())
	texts, err := r.dns.TXT(ctx, "_mta-sts."+r.domain)
	if failure := mail.Failure(err); failure != nil {
		c.unanswered("MTASTS_LOOKUP_FAILED", finding.Args{"domain": mail.Show(r.domain)}, failure)
		return c
	}
	record := mtasts.ReadRecord(texts)
	c.take(record.Issues, false)
	c.Record = format.TextOrNull(record.Text)
	switch {
	case !record.Found:
		c.Status = mailMissing
		c.say("MTASTS_SUMMARY_MISSING", nil)
		c.facts.Add("MTASTS_MISSING", nil)
		return c
	case record.Text == "":
		c.say("MTASTS_SUMMARY_SEVERAL", nil)
		return c
	}
	fetched := r.fetchPolicy(ctx)
	c.Policy = fetched.text
	issues, failed := fetched.issues, fetched.failed
	if fetched.readable {
		failed = c.readPolicy(*fetched.text, mx, &issues) || failed
	}
	c.take(issues, failed)
	c.conclude(fetched)
	return c
}

func (c *mtaStsCheck) conclude(fetched mtaStsFetch) {
	switch {
	case c.Status == mailError:
		c.say("MTASTS_SUMMARY_UNKNOWN", nil)
	case !fetched.readable:
		c.say("MTASTS_SUMMARY_UNUSABLE", nil)
	case c.Status == mailFail:
		c.say("MTASTS_SUMMARY_FAULTY", nil)
	case *c.Mode == "none":
		c.say("MTASTS_SUMMARY_OFF", nil)
		if c.Status == mailPass {
			c.Status = mailInfo
		}
	default:
		c.say("MTASTS_SUMMARY", finding.Args{"mode": *c.Mode})
	}
}

// readPolicy judges the policy and whether it covers the mail hosts, and reports whether those are not known.
func (c *mtaStsCheck) readPolicy(text string, mx mxCheck, issues *mail.Issues) (failed bool) {
	policy := mtasts.ParsePolicy(text)
	*issues = append(*issues, policy.Issues...)
	c.Mode = format.TextOrNull(policy.Mode)
	c.MXPatterns = policy.MX
	if policy.MaxAge >= 0 {
		c.MaxAge = &policy.MaxAge
	}
	switch policy.Mode {
	case "none":
		issues.Add("MTASTS_NONE", nil)
		return false
	case "testing":
		issues.Add("MTASTS_TESTING", nil)
	}
	for _, exchange := range mx.mailHosts() {
		if !policy.Covers(exchange) {
			issues.Add("MTASTS_MX_NOT_COVERED", finding.Args{"exchange": mail.Show(exchange)})
		}
	}
	return mx.failed
}

// mtaStsFetch is what the fetch of a policy file gave.
type mtaStsFetch struct {
	// text is the file, null where none came. readable means that it came as senders accept it.
	text     *string
	readable bool
	issues   mail.Issues
	// failed means that the DNS or the time of the run ended it, and not the server.
	failed bool
}

func (r *checker) fetchPolicy(ctx context.Context) mtaStsFetch {
	var f mtaStsFetch
	host := "mta-sts." + r.domain
	args := finding.Args{"host": mail.Show(host)}
	addresses, _, err := r.dns.Both(ctx, host)
	if failure := mail.Failure(err); failure != nil && len(addresses) == 0 {
		f.failed = true
		f.issues.Add("MTASTS_HOST_LOOKUP_FAILED", args.With(failure.Args()))
		return f
	}
	url, err := target.ParseURL("https://" + host + "/.well-known/mta-sts.txt")
	if err != nil || len(addresses) == 0 {
		f.issues.Add("MTASTS_HOST_ABSENT", args)
		return f
	}
	r.dns.news.Store(true)
	response, err := r.client.Do(ctx, egress.Request{URL: url, RequireValidCertificate: true, MaxBody: maxPolicy})
	if err != nil {
		f.unreachable(ctx, err)
		return f
	}
	if response.HelloTooLong {
		f.issues.Add("MTASTS_HELLO_INTOLERANT", args)
	}
	f.read(ctx, response)
	return f
}

// unreachable files a mail host that failed. The time of the run, what this service lacks, and its limits are
// a fault of this service alone.
func (f *mtaStsFetch) unreachable(ctx context.Context, err error) {
	certificate, invalid := errors.AsType[*egress.CertificateError](err)
	reason, args := fault.Reason(err)
	args = args.With(finding.Args{"reason": reason})
	switch {
	case ctx.Err() != nil:
		f.failed = true
		f.issues.Add("MTASTS_NOT_FINISHED", nil)
	case fault.IsOwn(err), fault.Is(err, fault.Limited), invalid && certificate.NotVerified:
		f.failed = true
		f.issues.Add("MTASTS_NOT_FINISHED", args)
	case invalid:
		f.issues.Add("MTASTS_CERTIFICATE", args)
	default:
		f.issues.Add("MTASTS_POLICY_UNREACHABLE", args)
	}
}

func (f *mtaStsFetch) read(ctx context.Context, response *egress.Response) {
	switch {
	case response.Status >= 300 && response.Status < 400:
		f.issues.Add("MTASTS_POLICY_REDIRECT", finding.Args{"status": response.Status})
		return
	case response.Status != http.StatusOK:
		f.issues.Add("MTASTS_POLICY_ABSENT", finding.Args{"status": response.Status})
		return
	case response.BodyErr != nil:
		f.unreachable(ctx, response.BodyErr)
		return
	}
	f.text = new(text.Decode(response.Body))
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch {
	case err != nil || kind != "text/plain":
		f.issues.Add("MTASTS_MEDIA_TYPE", nil)
	case response.Truncated:
		f.issues.Add("MTASTS_POLICY_TOO_LONG", nil)
	default:
		f.readable = true
	}
}

// tlsRptCheck is where reports of failed TLS go.
type tlsRptCheck struct {
	check
	ReportAddresses []string `json:"reportAddresses" bound:"text=4k list=32k"`
}

func (r *checker) tlsRpt(ctx context.Context, mx mxCheck) tlsRptCheck {
	if mx.NullMX {
		return tlsRptCheck{check: notForNullMX(), ReportAddresses: []string{}}
	}
	c := tlsRptCheck{check: newCheck(), ReportAddresses: []string{}}
	texts, err := r.dns.TXT(ctx, "_smtp._tls."+r.domain)
	if failure := mail.Failure(err); failure != nil {
		c.unanswered("TLSRPT_LOOKUP_FAILED", finding.Args{"domain": mail.Show(r.domain)}, failure)
		return c
	}
	report := tlsrpt.Read(texts)
	c.take(report.Issues, false)
	c.Record = format.TextOrNull(report.Record)
	c.ReportAddresses = append(c.ReportAddresses, report.Addresses...)
	switch {
	case !report.Found:
		c.Status = mailMissing
		c.say("TLSRPT_SUMMARY_MISSING", nil)
		c.facts.Add("TLSRPT_MISSING", nil)
	case report.Record == "":
		c.say("TLSRPT_SUMMARY_SEVERAL", nil)
	case len(report.Addresses) == 0:
		c.say("TLSRPT_SUMMARY_NONE", nil)
	case len(report.Addresses) == 1:
		c.say("TLSRPT_SUMMARY_ONE", nil)
	default:
		c.say("TLSRPT_SUMMARY", finding.Args{"addresses": len(report.Addresses)})
	}
	return c
}
