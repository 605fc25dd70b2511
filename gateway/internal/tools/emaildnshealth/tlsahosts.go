package emaildnshealth

import (
	"context"
	"slices"

	"diagnostics/gateway/internal/analyze/mail"
	"diagnostics/gateway/internal/analyze/tlsa"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/dane"

	"github.com/miekg/dns"
)

// mxHostDANE is what a mail host publishes for DANE (RFC 7672).
type mxHostDANE struct {
	TLSA []tlsa.Record `json:"tlsa" bound:"list=8k"`
	// TLSAAuthenticated reports whether the resolver vouches for the records by DNSSEC, without which senders ignore them;
	// null where there are none, or it is not known.
	TLSAAuthenticated *bool `json:"tlsaAuthenticated"`
	// TLSAName is the name of the server that the records are for, the end of the exchange's aliases or the exchange;
	// null where there are none.
	TLSAName *string `json:"tlsaName"`
}

// daneFacts is what the lookups of the TLSA records of one mail host gave.
type daneFacts struct {
	records []tlsa.Record
	// name is the TLSA base domain that the facts are of (RFC 7672 section 2.2.3).
	name string
	// authenticated means that DNSSEC vouches for the answer, secured that it does for the mail host's addresses: senders
	// ask for TLSA records only then.
	authenticated, secured bool
	failure                *mail.LookupError
	// late means that the time for the lookup was over before the name servers had theirs.
	late bool
	// validating means that the resolver checks signatures at all; it is queried only where that makes a difference.
	validating bool
}

// keyQueries are two for each mail host, and one that shows whether the resolver validates.
const keyQueries = 2*maxMailHosts + 1

// dane looks up the records of an exchange.
func (r *checker) dane(ctx context.Context, resolver *resolver, exchange string) daneFacts {
	found := dane.Lookup(ctx, r.dns.danes, resolver.danes, exchange, smtpPort)
	facts := daneFacts{name: found.Name, records: found.Records, authenticated: found.Authenticated,
		failure: mail.Failure(found.Err), late: ctx.Err() != nil}
	if facts.failure != nil {
		// Known since the mail host was looked up.
		facts.secured = r.dns.ask(ctx, exchange, dns.TypeA).authenticated
	}
	if len(facts.records) > 0 && !facts.authenticated {
		// A validating resolver vouches for the root's answer on com, which is signed.
		facts.validating = resolver.ask(ctx, "com", dns.TypeDS).authenticated
	}
	return facts
}

const smtpPort = 25

// danes is ask as package dane has it.
func (r *resolver) danes(ctx context.Context, name string, qtype uint16) dane.Answer {
	answer := r.ask(ctx, name, qtype)
	out := dane.Answer{Records: answer.records, Expanded: answer.expanded, Authenticated: answer.authenticated}
	if failure := mail.Failure(answer.err); failure != nil {
		out.Err = failure
	}
	return out
}

func (f daneFacts) fill(h *mxHost) {
	h.TLSA = f.records
	if len(f.records) > 0 {
		h.TLSAAuthenticated, h.TLSAName = &f.authenticated, &f.name
	}
}

// judge adds what is wrong with the records.
func (f daneFacts) judge(issues *mail.Issues) {
	server := finding.Args{"server": mail.Show(f.name)}
	if f.failure != nil {
		f.unanswered(server, issues)
		return
	}
	usable, counted := 0, 0
	for _, record := range f.records {
		args := server.With(finding.Args{"parameters": record.Params()})
		problem, problemArgs := record.Problem()
		switch {
		case problem != "":
			issues.Add("TLSA_UNUSABLE", args.With(problemArgs).With(finding.Args{"problem": problem}))
			continue
		case record.Zero():
			issues.Add("TLSA_ZERO", args)
		default:
			usable++
		}
		counted++
	}
	// Senders refuse to deliver if there are records that they can use and the certificate matches none.
	if usable == 0 && counted > 0 && f.authenticated {
		issues.Add("MAIL_TLSA_MATCHES_NOTHING", server)
	}
	switch {
	case len(f.records) == 0 || f.authenticated:
	case f.validating:
		issues.Add("TLSA_NOT_SIGNED", server)
	default:
		issues.Add("TLSA_NOT_AUTHENTICATED", server)
	}
}

// ownFailures are codes of lookups that failed for want of something here.
var ownFailures = []string{mail.CodeBusy, mail.CodeResolver, mail.CodeBound, mail.CodeLong}

// unanswered is a failed lookup. If the mail host's zone is signed it keeps mail away (RFC 7672 section 2.1.1): a
// sender must not go on as if there were no records.
func (f daneFacts) unanswered(server finding.Args, issues *mail.Issues) {
	code := "TLSA_LOOKUP_FAILED"
	if f.secured && !f.late && !slices.Contains(ownFailures, f.failure.Code) {
		code = "TLSA_LOOKUP_STOPS_DELIVERY"
	}
	issues.Add(code, server.With(f.failure.Args()))
}
