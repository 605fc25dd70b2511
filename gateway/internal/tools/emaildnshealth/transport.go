package emaildnshealth

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/analyze/mail/mtasts"
	"diagnostics/gateway/internal/analyze/mail/tlsrpt"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tools/internal/format"
)

// mtaStsCheck is whether senders must use TLS with a valid certificate.
type mtaStsCheck struct {
	check
	// Policy is the text of the policy file.
	Policy     *string  `json:"policy"`
	Mode       *string  `json:"mode" wire:"enum=enforce|testing|none"`
	MXPatterns []string `json:"mxPatterns"`
	MaxAge     *int     `json:"maxAge" wire:"max=31557600"`
}

func newMTASTSCheck(c check) mtaStsCheck {
	return mtaStsCheck{check: c, MXPatterns: []string{}}
}

// maxPolicy is how much of a policy file is read (RFC 8461 section 3.3).
const maxPolicy = 64 << 10

const (
	sectionSTSRecord = "RFC 8461 section 3.1"
	sectionSTSFetch  = "RFC 8461 section 3.3"
)

func (r *checker) mtaSts(ctx context.Context, mx mxCheck) mtaStsCheck {
	if mx.NullMX {
		return newMTASTSCheck(notForNullMX())
	}
	c := newMTASTSCheck(newCheck())
	texts, err := r.dns.TXT(ctx, "_mta-sts."+r.domain)
	if failure := mail.Failure(err); failure != nil {
		c.unanswered("MTASTS_LOOKUP_FAILED", "_mta-sts."+mail.Show(r.domain), sectionSTSRecord, failure)
		return c
	}
	record := mtasts.ReadRecord(texts)
	c.take(record.Issues, false)
	c.Record = format.TextOrNull(record.Text)
	switch {
	case !record.Found:
		c.Status, c.Summary = mailMissing, "The domain has no MTA-STS record."
		c.Issues.Add(mail.Info, "MTASTS_MISSING", sectionSTSRecord, "Without MTA-STS an attacker on the path can make "+
			"senders deliver without encryption. Publish a policy file and a TXT record at _mta-sts."+mail.Show(
			r.domain)+".")
		return c
	case record.Text == "":
		c.Summary = "There are several MTA-STS records, so senders use none of them."
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
		c.Summary = "MTA-STS could not be checked completely."
	case !fetched.readable:
		c.Summary = "The MTA-STS record has no policy that senders can use."
	case c.Status == mailFail:
		c.Summary = "The MTA-STS policy has errors."
	case *c.Mode == "none":
		c.Summary = "The MTA-STS policy is switched off (mode none)."
		if c.Status == mailPass {
			c.Status = mailInfo
		}
	default:
		c.Summary = fmt.Sprintf("The MTA-STS policy covers every mail exchange, in mode %s.", *c.Mode)
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
	const section = "RFC 8461 section 5"
	switch policy.Mode {
	case "none":
		issues.Add(mail.Info, "MTASTS_NONE", section, "The mode is none: senders behave as if there were no policy.")
		return false
	case "testing":
		issues.Add(mail.Warn, "MTASTS_TESTING", section,
			"The mode is testing: senders report failures but deliver anyway. Use enforce once the reports look right.")
	}
	for _, exchange := range mx.mailHosts() {
		if !policy.Covers(exchange) {
			issues.Add(mail.Fail, "MTASTS_MX_NOT_COVERED", "RFC 8461 section 4.1",
				"The policy does not name the exchange "+mail.Show(exchange)+", so senders refuse to deliver there. Add an "+
					"mx line for it.")
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

func (f *mtaStsFetch) add(severity mail.Severity, code, format string, args ...any) {
	f.issues.Add(severity, code, sectionSTSFetch, fmt.Sprintf(format, args...))
}

func (r *checker) fetchPolicy(ctx context.Context) mtaStsFetch {
	var f mtaStsFetch
	host := "mta-sts." + r.domain
	shown := mail.Show(host)
	addresses, _, err := r.dns.Both(ctx, host)
	if failure := mail.Failure(err); failure != nil && len(addresses) == 0 {
		f.failed = true
		f.add(mail.Warn, "MTASTS_HOST_LOOKUP_FAILED", "%s could not be looked up: %s.", shown, failure.Reason())
		return f
	}
	url, err := target.ParseURL("https://" + host + "/.well-known/mta-sts.txt")
	if err != nil || len(addresses) == 0 {
		f.add(mail.Fail, "MTASTS_HOST_ABSENT", "%s has no address, so there is no policy. Serve it at "+
			"https://%s/.well-known/mta-sts.txt, or remove the TXT record.", shown, shown)
		return f
	}
	r.dns.news.Store(true)
	response, err := r.client.Do(ctx, egress.Request{URL: url, RequireValidCertificate: true, MaxBody: maxPolicy})
	if err != nil {
		f.unreachable(ctx, err)
		return f
	}
	if response.HelloTooLong {
		f.add(mail.Warn, "HELLO_INTOLERANT", "%s does not answer a TLS hello as long as that of a current client, only a "+
			"shorter one. Update the server or the firewall before it.", shown)
	}
	f.read(ctx, response)
	return f
}

// unreachable files a mail host that failed. The time of the run, what this service lacks, and its limits are
// a fault of this service alone.
func (f *mtaStsFetch) unreachable(ctx context.Context, err error) {
	known, is := errors.AsType[*fault.Error](err)
	certificate, invalid := errors.AsType[*egress.CertificateError](err)
	switch {
	case ctx.Err() != nil:
		f.failed = true
		f.add(mail.Warn, "MTASTS_NOT_FINISHED", "The policy could not be fetched before this run ran out of time.")
	case !is:
		f.add(mail.Fail, "MTASTS_POLICY_UNREACHABLE", "The policy could not be fetched.")
	case fault.IsOwn(err), known.Kind == fault.Limited, invalid && certificate.NotVerified:
		f.failed = true
		f.add(mail.Warn, "MTASTS_NOT_FINISHED", "The policy could not be fetched: %s", known.Sentence)
	case invalid:
		f.add(mail.Fail, "MTASTS_CERTIFICATE",
			"%s Senders accept the policy only over a valid certificate: renew it, or have it name this host.", known.Sentence)
	default:
		f.add(mail.Fail, "MTASTS_POLICY_UNREACHABLE", "The policy could not be fetched: %s", known.Sentence)
	}
}

func (f *mtaStsFetch) read(ctx context.Context, response *egress.Response) {
	switch {
	case response.Status >= 300 && response.Status < 400:
		f.add(mail.Fail, "MTASTS_POLICY_REDIRECT", "The policy's address answers with a redirect (%d), which senders "+
			"do not follow. Serve the file there.", response.Status)
		return
	case response.Status != http.StatusOK:
		f.add(mail.Fail, "MTASTS_POLICY_ABSENT",
			"The policy's address answers with status %d, but only 200 counts. Serve the file there.", response.Status)
		return
	case response.BodyErr != nil:
		f.unreachable(ctx, response.BodyErr)
		return
	}
	f.text = new(text.Decode(response.Body))
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch {
	case err != nil || kind != "text/plain":
		f.add(mail.Fail, "MTASTS_MEDIA_TYPE",
			"The policy is not served as text/plain, so senders may refuse it. Set its Content-Type.")
	case response.Truncated:
		f.add(mail.Fail, "MTASTS_POLICY_TOO_LONG",
			"The policy is longer than 64 KiB, which is all that senders read. Shorten it.")
	default:
		f.readable = true
	}
}

// tlsRptCheck is where reports of failed TLS go.
type tlsRptCheck struct {
	check
	ReportAddresses []string `json:"reportAddresses"`
}

const sectionTLSRPT = "RFC 8460 section 3"

func (r *checker) tlsRpt(ctx context.Context, mx mxCheck) tlsRptCheck {
	if mx.NullMX {
		return tlsRptCheck{check: notForNullMX(), ReportAddresses: []string{}}
	}
	c := tlsRptCheck{check: newCheck(), ReportAddresses: []string{}}
	texts, err := r.dns.TXT(ctx, "_smtp._tls."+r.domain)
	if failure := mail.Failure(err); failure != nil {
		c.unanswered("TLSRPT_LOOKUP_FAILED", "_smtp._tls."+mail.Show(r.domain), sectionTLSRPT, failure)
		return c
	}
	report := tlsrpt.Read(texts)
	c.take(report.Issues, false)
	c.Record = format.TextOrNull(report.Record)
	c.ReportAddresses = append(c.ReportAddresses, report.Addresses...)
	switch {
	case !report.Found:
		c.Status, c.Summary = mailMissing, "The domain has no TLS reporting record."
		c.Issues.Add(mail.Info, "TLSRPT_MISSING", sectionTLSRPT, "No one learns when senders cannot use TLS. Publish "+
			"v=TLSRPTv1; rua=mailto:… at _smtp._tls."+mail.Show(r.domain)+".")
	case report.Record == "":
		c.Summary = "There are several TLS reporting records, so senders use none of them."
	case len(report.Addresses) == 0:
		c.Summary = "The TLS reporting record names no address that can be used."
	case len(report.Addresses) == 1:
		c.Summary = "TLS reports go to one address."
	default:
		c.Summary = fmt.Sprintf("TLS reports go to %d addresses.", len(report.Addresses))
	}
	return c
}
