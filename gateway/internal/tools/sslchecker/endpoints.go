package sslchecker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress/tlsscan"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/endpoints"
	"diagnostics/shared/progress"
	"diagnostics/shared/workerapi"
)

// maxEndpoints bounds the addresses of a name that are looked at: it may have thousands, all of third parties.
const maxEndpoints = 4

// grace is how long the others have once an address has shown its certificates. Slower ones are awaited beside the
// scan.
const grace = 2 * time.Second

// endpoint is what one address of the host shows. Nothing of it is known where Issues report why it was not reached.
type endpoint struct {
	Address            string  `json:"address"`
	Family             int     `json:"family" wire:"enum=4|6"`
	Authorized         bool    `json:"authorized"`
	AuthorizationError *string `json:"authorizationError"`
	Fingerprint256     *string `json:"fingerprint256"`
	Protocol           *string `json:"protocol" wire:"enum=SSLv3|TLSv1.0|TLSv1.1|TLSv1.2|TLSv1.3"`
	Issues             []issue `json:"issues" bound:"list=32k"`
	Truncated          bool    `json:"truncated,omitempty"`
	refusal            string  // as in Result
}

// Enums implements decode.Enumerated.
func (endpoint) Enums() map[string][]string {
	return map[string][]string{"authorizationError": certs.Codes()}
}

// endpointCheck is an address and what was learnt there, nil if this host has no route to it.
type endpointCheck = endpoints.Result[*attempt]

// failure returns the error of the run if no address has shown certificates: of a server that was reached, before that
// of one that was not. Its sentence names the host as it was entered.
func (i *inspection) failure() error {
	var unreached []error
	for _, one := range i.attempts.Results {
		switch {
		case one.Value == nil:
		case one.Value.connected:
			return i.ofHost(one)
		default:
			unreached = append(unreached, one.Value.dialled)
		}
	}
	return connectFault(i.to.Host.Short(), i.to.Port, unreached)
}

// ofHost gives the failure of an address to its host: without the address if all others failed alike.
func (i *inspection) ofHost(one endpointCheck) error {
	failed, is := errors.AsType[*fault.Error](one.Err)
	who, address := i.to.Host.Short(), one.Address.String()
	if !is || failed.Args["host"] != address || strings.Contains(who, address) {
		return one.Err
	}
	alike := func(f *fault.Error) string {
		return fault.Rows.Sentence(f.Code, finding.Args{"host": who}.With(f.Args))
	}
	for _, other := range i.attempts.Results {
		of, is := errors.AsType[*fault.Error](other.Err)
		if !is || alike(of) != alike(failed) {
			who += " (" + address + ")"
			break
		}
	}
	named := *failed
	named.Args = finding.Args{"host": who}.With(failed.Args)
	return &named
}

// refusal returns the address policy's refusal of one of the addresses, or nil. It holds for the whole name.
func (i *inspection) refusal() error {
	for _, one := range i.attempts.Results {
		if one.State == endpoints.Refused {
			return one.Err
		}
	}
	return nil
}

// judge describes the addresses that have shown certificates, each once.
func (i *inspection) judge(ctx context.Context) {
	for n, one := range i.attempts.Results {
		if one.State == endpoints.Up && i.results[n] == nil {
			i.results[n] = new(i.describe(ctx, one.Value))
		}
	}
}

// foremost is the number of the address whose result goes before those of all others, the first of several that are
// alike; -1 without any.
func (i *inspection) foremost(before func(a, b *Result) bool) int {
	first := -1
	for n, r := range i.results {
		if r != nil && (first < 0 || before(r, i.results[first])) {
			first = n
		}
	}
	return first
}

// worse reports whether one endpoint is worse than another. It compares what clients refuse, then how much is wrong,
// then the versions.
func worse(a, b *Result) bool {
	if a.Authorized != b.Authorized {
		return b.Authorized
	}
	for _, severity := range []finding.Severity{finding.Fail, finding.Warn} {
		if x, y := count(a.found, severity), count(b.found, severity); x != y {
			return x > y
		}
	}
	return a.Protocol < b.Protocol // "SSLv3" to "TLSv1.3" are in their order
}

func better(a, b *Result) bool { return worse(b, a) }

func count(found []finding.Finding, severity finding.Severity) (n int) {
	for _, f := range found {
		if f.Severity == severity {
			n++
		}
	}
	return n
}

// describeEndpoints describes every address in the order of the attempts.
func (i *inspection) describeEndpoints() []endpoint {
	list := make([]endpoint, 0, len(i.attempts.Results))
	for n := range i.attempts.Results {
		list = append(list, i.describeEndpoint(n))
	}
	return list
}

func (i *inspection) describeEndpoint(n int) endpoint {
	one := i.attempts.Results[n]
	e := endpoint{Address: one.Address.String(), Family: workerapi.Family(one.Address), Issues: issuesOf(unreached(one))}
	if r := i.results[n]; r != nil {
		e.Authorized, e.AuthorizationError, e.Issues = r.Authorized, r.AuthorizationError, issuesOf(r.found)
		e.Fingerprint256, e.Protocol, e.refusal = &r.Certificate.Fingerprint256, &r.Protocol, r.refusal
	}
	return e
}

// reportEndpoint reports an address whose attempt has ended, unless the run is over or refused.
func (i *inspection) reportEndpoint(ctx context.Context, n int) {
	if progress.Of(ctx) == nil || ctx.Err() != nil || i.refusal() != nil {
		return
	}
	i.judge(ctx)
	e := i.describeEndpoint(n)
	progress.Report(ctx, "endpoint", e.Address, e)
}

// begunSlowly reports whether the server had begun an answer of STARTTLS when the time for it was over, which is this
// service's own bound.
func begunSlowly(err error) bool {
	broken, is := errors.AsType[*starttlsBroken](err)
	return is && broken.begun && fault.Is(err, fault.Timeout)
}

// unreached reports why an address was not reached.
func unreached(one endpointCheck) []finding.Finding {
	why, is := errors.AsType[*fault.Error](one.Err)
	if !is {
		return nil
	}
	code := "ENDPOINT_UNREACHABLE"
	switch {
	case one.State != endpoints.Down, fault.BeyondBound(why), errors.Is(why, tlsscan.ErrNotComputed), begunSlowly(why):
		code = "ENDPOINT_SKIPPED"
	case one.Value.connected:
		code = "ENDPOINT_WITHOUT_TLS"
	}
	at := one.Address.String()
	return []finding.Finding{rows.Find(code, at, finding.Args{"address": at, "failure": why.Code}.With(why.Args))}
}

// endpointFindings report the addresses that were not reached, and those that are worse than the best.
func (i *inspection) endpointFindings() []finding.Finding {
	var list []finding.Finding
	for _, one := range i.attempts.Results {
		list = append(list, unreached(one)...)
	}
	best := i.foremost(better)
	var found []difference
	for n, r := range i.results {
		if r == nil || n == best {
			continue
		}
		d := differenceOf(r, i.results[best])
		at := slices.IndexFunc(found, func(t difference) bool { return t.same(d) })
		if at < 0 {
			at, found = len(found), append(found, d)
		}
		found[at].addresses = append(found[at].addresses, r.Address)
	}
	for _, d := range found {
		list = append(list, d.findings(i.results[best])...)
	}
	return list
}

// difference is what sets some addresses apart from the best one.
type difference struct {
	addresses           []string
	of                  *Result
	certificate         bool // another one
	verdict             bool // refused, where the best is not
	unverified          bool // not verified, where the best is accepted
	protocol            bool // another version
	fingerprint, reason string
}

func differenceOf(r, best *Result) difference {
	d := difference{of: r, fingerprint: r.Certificate.Fingerprint256}
	d.certificate = d.fingerprint != best.Certificate.Fingerprint256
	d.verdict = r.refusal != "" && best.refusal == ""
	d.unverified = r.notVerified() && best.Authorized
	d.protocol = r.Protocol != best.Protocol
	d.reason = r.refusal
	return d
}

func (d difference) same(e difference) bool {
	return d.fingerprint == e.fingerprint && d.reason == e.reason && d.unverified == e.unverified &&
		d.of.Protocol == e.of.Protocol
}

// findings report it; there are none without a difference.
func (d difference) findings(best *Result) []finding.Finding {
	code, args := d.certificateFinding()
	args = args.With(finding.Args{"addresses": d.addresses})
	if code != "ENDPOINTS_NOT_VERIFIED" || d.protocol {
		args["best"] = best.Address
	}
	if !d.protocol {
		if code == "" {
			return nil
		}
		return only(code, args)
	}
	args = args.With(finding.Args{"version": versionInWords(d.of.Protocol),
		"bestVersion": versionInWords(best.Protocol)})
	if d.verdict {
		return only(code, args.With(finding.Args{"versions": "ENDPOINT_VERSIONS_DIFFER"}))
	}
	return only("ENDPOINT_VERSIONS_DIFFER", args.With(finding.Args{"besides": code}))
}

// certificateFinding reports another certificate, or another verdict; its code is empty without one.
func (d difference) certificateFinding() (code string, args finding.Args) {
	switch {
	case d.certificate && d.verdict && d.reason == certs.CodeExpired && d.of.Certificate.DaysRemaining < 0:
		return "ENDPOINT_STILL_EXPIRED", finding.Args{"expired": dayOf(d.of.Certificate.ValidTo)}
	case d.certificate && d.verdict:
		return "ENDPOINT_CERTIFICATE_REFUSED", finding.Args{"defect": d.reason}
	case d.verdict:
		return "ENDPOINT_CHAIN_REFUSED", finding.Args{"defect": d.reason}
	case d.unverified:
		return "ENDPOINTS_NOT_VERIFIED", nil
	case d.certificate:
		return "ENDPOINTS_DIFFER", nil
	}
	return "", nil
}

// dayOf is the day of a moment of RFC 3339.
func dayOf(moment string) string {
	day, _, _ := strings.Cut(moment, "T")
	return day
}
