// Package sslchecker is the tool ssl-checker. It shows what a TLS server negotiates and whether its certificate would
// be accepted. The handshake is done with verification off and the certificates are judged apart, so that a bad one is
// shown and not just refused.
package sslchecker

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	_ "embed" // openapi.yaml
	"net"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/revocation"
	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/budget/processor"
	"diagnostics/gateway/internal/egress/tlsscan"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/text/bound"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/endpoints"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/gateway/internal/tools/internal/webview"
	"diagnostics/shared/progress"
)

//go:embed openapi.yaml
var openAPI string

// Result is what ssl-checker found. The fields at its top are those of the endpoint with the worst result.
// AuthorizationError is a code of package certs. Complete is that all of SupportedProtocols, CipherSuites and
// Groups is known; on a mail port only the first are scanned.
type Result struct {
	finding.Report
	Host               string             `json:"host"`
	Port               uint16             `json:"port" wire:"min=1"`
	Address            string             `json:"address"`
	Authorized         bool               `json:"authorized"`
	AuthorizationError *string            `json:"authorizationError"`
	Issues             []issue            `json:"issues" bound:"list=64k"`
	Protocol           string             `json:"protocol" wire:"enum=SSLv3|TLSv1.0|TLSv1.1|TLSv1.2|TLSv1.3"`
	Cipher             cipher             `json:"cipher"`
	KeyExchange        string             `json:"keyExchange"`
	ALPN               *string            `json:"alpn"`
	SupportedProtocols map[string]*bool   `json:"supportedProtocols" wire:"keys=SSLv3|TLSv1.0|TLSv1.1|TLSv1.2|TLSv1.3"`
	CipherSuites       []suite            `json:"cipherSuites"`
	Groups             []string           `json:"groups"`
	Complete           bool               `json:"complete"`
	Endpoints          []endpoint         `json:"endpoints" wire:"len=1..4"`
	STARTTLS           *string            `json:"starttls" wire:"enum=smtp|pop3|imap"`
	Certificate        certificate        `json:"certificate"`
	Chain              []chainElement     `json:"chain"`
	OtherCertificates  []otherCertificate `json:"otherCertificates"`
	TrustStore         certs.TrustStore   `json:"trustStore"`
	HostnameMatches    bool               `json:"hostnameMatches"`
	ChainComplete      bool               `json:"chainComplete"`
	OCSPStapling       staplingState      `json:"ocspStapling"`
	Revocation         revocationStatus   `json:"revocation"`
	CAA                issuance           `json:"caa"`
	TLSA               []association      `json:"tlsa"`
	SCTs               timestamps         `json:"scts"`
	HandshakeMs        float64            `json:"handshakeMs"`
	HelloTooLong       bool               `json:"helloTooLong"`
	Truncated          bool               `json:"truncated,omitempty"`
	// found are the findings, whose subject is still to be set if it is the certificate.
	found []finding.Finding
	// refusal is the code for which clients refuse the certificate; empty where they accept it or it was not verified.
	refusal string
	ending  ending
	untried bool // the host has more addresses than Endpoints
	// chain is the path that was judged, leaf first, and staple the OCSP answer that came with it.
	chain  []*x509.Certificate
	staple []byte
}

// Enums implements decode.Enumerated.
func (Result) Enums() map[string][]string {
	return map[string][]string{"authorizationError": certs.Codes()}
}

// notVerified reports whether the certificate was not verified and nothing was found against it.
func (r *Result) notVerified() bool { return !r.Authorized && r.refusal == "" }

// checker is one way of checking; timeout is for the connecting and for the handshake, each, grace for the addresses
// that come later than another, probing for the scan that follows, and revoking for the check of revocation beside it.
type checker struct {
	egress   *egress.Client
	certs    certs.Checker
	now      func() time.Time
	timeout  time.Duration
	grace    time.Duration
	probing  time.Duration
	revoking time.Duration
	shared   *cache.Loading[probed]
	verdicts *cache.Loading[revocation.Verdict]
	scan     func(context.Context, tlsscan.Scan) tlsscan.Report
	read     func(context.Context, net.Conn, tlsscan.Hello) (tlsscan.Flight, error)
}

func newChecker(client *egress.Client, certs certs.Checker, store cache.Store, now func() time.Time) checker {
	return checker{
		egress: client, certs: certs, now: now, timeout: egress.ConnectTimeout, grace: grace, probing: maxProbing,
		revoking: revocationTime,
		shared:   newShared(store), verdicts: newVerdicts(store),
		scan: func(ctx context.Context, s tlsscan.Scan) tlsscan.Report { return s.Run(ctx) },
		read: tlsscan.ReadHandshake,
	}
}

// New makes the tool; client connects, certs judges the certificates, store keeps what servers were found to take, now
// is time.Now outside tests.
func New(client *egress.Client, certs certs.Checker, store cache.Store, now func() time.Time) tool.Tool {
	return tool.New(tool.Spec[target.HostPort, Result]{
		Slug:     "ssl-checker",
		OpenAPI:  openAPI,
		Findings: rows,
		Parse: func(in tool.Input) (target.HostPort, error) {
			return target.ParseHostPort(in.Text, 443)
		},
		Run:   newChecker(client, certs, store, now).run,
		About: func(to target.HostPort, r Result) bool { return r.Host == to.Host.String() && r.Port == to.Port },
		Steps: map[string]reflect.Type{
			"caa":        reflect.TypeFor[issuance](),
			"endpoint":   reflect.TypeFor[endpoint](),
			"protocol":   reflect.TypeFor[protocolStep](),
			"revocation": reflect.TypeFor[revocationStatus](),
			"tlsa":       reflect.TypeFor[[]association](),
		},
	})
}

// inspection is one run.
type inspection struct {
	checker
	to          target.HostPort
	several     bool // the host has more than one address
	untried     bool // and more than are tried
	connections atomic.Int64
	attempts    *endpoints.Checks[*attempt]
	results     []*Result // of the attempts, nil where there is none yet
}

// run reads the certificates of all addresses of a host at once, and then scans what the worst of them accepts.
// An address that is late is waited for meanwhile. Where it turns out worse, nothing is known of what it takes.
func (s checker) run(ctx context.Context, to target.HostPort) (Result, error) {
	resolution, err := s.egress.Resolve(ctx, to.Host)
	if err != nil {
		return Result{}, err
	}
	if err := resolution.Reachable(); err != nil {
		return Result{}, err
	}
	ctx = progress.Know(ctx, progress.Known{DNSMs: progress.Milliseconds(resolution.Duration)})
	addresses := len(resolution.V4) + len(resolution.V6)
	i := &inspection{checker: s, to: to, several: addresses > 1, untried: addresses > maxEndpoints,
		results: make([]*Result, min(addresses, maxEndpoints))}
	i.attempts = endpoints.Run(ctx, resolution, endpoints.Policy{Max: maxEndpoints, Grace: s.grace}, i.attempt,
		func(attempts *endpoints.Checks[*attempt], n int) {
			i.attempts = attempts
			i.reportEndpoint(ctx, n)
		})
	defer i.attempts.Stop()
	first, err := i.choose(ctx)
	if err != nil {
		return Result{}, err
	}
	beside := i.startBeside(ctx, i.results[first])
	defer beside.end()
	known, err := i.probe(ctx, i.attempts.Results[first].Value)
	if err != nil {
		return Result{}, err
	}
	others, cut := i.others(ctx, i.attempts.Results[first].Value, known)
	i.attempts.Wait()
	facts := beside.wait()
	top, err := i.chooseWith(ctx, facts)
	if err != nil {
		return Result{}, err
	}
	if worse(i.results[top], i.results[first]) {
		known, others, cut = probed{}, []otherCertificate{}, true
	} else {
		top = first // of several that are equally bad
	}
	known.Complete = known.Complete && !cut
	return i.conclude(top, known, others, facts), nil
}

// choose judges what has come so far, and gives the number of the worst address.
func (i *inspection) choose(ctx context.Context) (int, error) {
	if err := ctx.Err(); err != nil {
		return -1, err
	}
	if err := i.refusal(); err != nil {
		return -1, err
	}
	i.judge(ctx)
	worst := i.foremost(worse)
	if worst < 0 {
		return -1, i.failure()
	}
	return worst, nil
}

// chooseWith is choose once it is known whether the certificate was revoked.
func (i *inspection) chooseWith(ctx context.Context, facts besideFacts) (int, error) {
	if _, err := i.choose(ctx); err != nil {
		return -1, err
	}
	for _, r := range i.results {
		if r != nil {
			facts.status.apply(r, facts.of)
		}
	}
	return i.choose(ctx)
}

// conclude puts the answer together.
func (i *inspection) conclude(top int, known probed, others []otherCertificate, facts besideFacts) Result {
	result, one := *i.results[top], i.attempts.Results[top].Value
	result.Endpoints, result.untried, result.OtherCertificates = i.describeEndpoints(), i.untried, others
	result.SupportedProtocols = known.supported(one.seen.state.Version)
	result.CipherSuites, result.Groups, result.Complete = known.suites(), known.groups(), known.Complete
	result.TrustStore = i.certs.Store()
	dialogues := one.dialogues.sum().plus(known.Dialogues)
	result.found = slices.Concat(result.found, facts.describe(&result), protocolFindings(result.SupportedProtocols),
		known.findings(one.seen), otherFindings(others), dialogues.findings(), i.endpointFindings())
	result.Issues = slices.DeleteFunc(issuesOf(result.found), func(i issue) bool { return i.Code == "ENDPOINT_SKIPPED" })
	result.Report = report(result, webview.CertificateSubject(i.to.Host.Authority(), i.to.Port))
	return result
}

// clientConfig offers all that Go can, judges nothing, and names the host where it has a name: literal addresses are
// not permitted as server names (RFC 6066 section 3).
func clientConfig(name string) *tls.Config {
	return &tls.Config{
		ServerName:         name,
		InsecureSkipVerify: true, // #nosec G402 -- the verdict comes from certs
		MinVersion:         tls.VersionTLS10,
		MaxVersion:         tls.VersionTLS13,
		CipherSuites:       everySuite(),
	}
}

// webProtocols are offered by ALPN (RFC 7301), but not to the mail protocols.
func webProtocols(port uint16) []string {
	if _, starttls := starttlsByPort[port]; starttls {
		return nil
	}
	return []string{"h2", "http/1.1"}
}

// describe describes what an address has shown.
func (i *inspection) describe(ctx context.Context, v *attempt) Result {
	to, seen, now := i.to, v.seen, i.now()
	sent := seen.state.PeerCertificates
	verdict := webview.Judged(i.certs.CheckIn(ctx, sent, to.Host.String(), exchangeOf(seen)))
	if (seen.refused || seen.cut) && !slices.ContainsFunc(sent, certs.LongKey) {
		verdict = verdict.Unverified(certs.DefectUnfinished)
		verdict.Cut = verdict.Cut && !seen.cut // how many there are is not known
	}
	if der := seen.state.OCSPResponse; len(der) > 0 {
		// It is read here and with other sources of revocation. A run that may not is ended.
		_ = processor.Spend(ctx, weight.RevocationList, 2*len(der))
		_ = processor.Of(ctx).SpendTime(2 * weight.Verify(sent[0].PublicKey))
	}
	staple := readStaple(seen.state.OCSPResponse, verdict.Chain, now)
	cut := seen.cut
	shown := bound.First(sent[1:], maxShownChain, &cut)
	result := Result{
		Truncated:          cut,
		Host:               to.Host.String(),
		Port:               to.Port,
		Address:            v.address.String(),
		Authorized:         verdict.Authorized,
		AuthorizationError: format.TextOrNull(verdict.Code),
		Protocol:           protocolName(seen.state.Version),
		Cipher:             describeCipher(seen.state.CipherSuite),
		KeyExchange:        describeKeyExchange(seen),
		ALPN:               format.TextOrNull(seen.state.NegotiatedProtocol),
		STARTTLS:           format.TextOrNull(starttlsByPort[to.Port]),
		Certificate:        describeCertificate(sent[0], now),
		Chain:              describeChain(shown, now),
		HostnameMatches:    verdict.HostnameMatches,
		ChainComplete:      verdict.ChainComplete,
		OCSPStapling:       staple.staplingState,
		SCTs:               countSCTs(sent[0], seen.state.SignedCertificateTimestamps, staple.extensions),
		HandshakeMs:        format.Milliseconds(seen.took),
		HelloTooLong:       v.helloTooLong,
		refusal:            verdict.Refusal(),
		ending:             endingOf(verdict, sent[0], now),
		chain:              verdict.Chain,
		staple:             seen.state.OCSPResponse,
	}
	if !verdict.Ends.IsZero() {
		result.Certificate.EffectiveEnd = new(format.RFC3339(verdict.Ends))
	}
	result.found = findingsOf(result, verdict, seen, now)
	if v.helloTooLong {
		result.add("HELLO_INTOLERANT", nil)
	}
	if staple.revoked() && verdict.ChainComplete {
		result.revoke("")
	}
	return result
}
