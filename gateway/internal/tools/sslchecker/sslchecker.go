// Package sslchecker is the tool ssl-checker. It shows what a TLS server negotiates and whether its certificate would
// be accepted. The handshake is done with verification off and the certificates are judged apart, so that a bad one is
// shown and not just refused.
package sslchecker

import (
	"context"
	"crypto/tls"
	_ "embed" // openapi.yaml
	"errors"
	"net"
	"net/netip"
	"slices"
	"time"

	"diagnostics/gateway/internal/bound"
	"diagnostics/gateway/internal/certcheck"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/format"
)

//go:embed openapi.yaml
var openAPI string

// Result is what ssl-checker found. AuthorizationError is a code of package certcheck.
type Result struct {
	Host               string           `json:"host"`
	Port               uint16           `json:"port"`
	Address            string           `json:"address"`
	Authorized         bool             `json:"authorized"`
	AuthorizationError *string          `json:"authorizationError"`
	Issues             []issue          `json:"issues"`
	Protocol           string           `json:"protocol"`
	Cipher             cipher           `json:"cipher"`
	KeyExchange        string           `json:"keyExchange"`
	ALPN               *string          `json:"alpn"`
	SupportedProtocols map[string]*bool `json:"supportedProtocols"`
	STARTTLS           *string          `json:"starttls"`
	Certificate        certificate      `json:"certificate"`
	Chain              []chainElement   `json:"chain"`
	HostnameMatches    bool             `json:"hostnameMatches"`
	ChainComplete      bool             `json:"chainComplete"`
	OCSPStapling       staplingState    `json:"ocspStapling"`
	SCTs               timestamps       `json:"scts"`
	HandshakeMs        float64          `json:"handshakeMs"`
	Truncated          bool             `json:"truncated,omitempty"`
}

// checker is one way of checking; timeout is for the connecting, for the handshake and for the probes, each.
type checker struct {
	egress  *egress.Client
	certs   certcheck.Checker
	now     func() time.Time
	timeout time.Duration
}

// New makes the tool; client connects, certs judges the certificates, now is time.Now outside tests.
func New(client *egress.Client, certs certcheck.Checker, now func() time.Time) tool.Tool {
	check := checker{egress: client, certs: certs, now: now, timeout: egress.ConnectTimeout}
	return tool.New(tool.Spec[target.HostPort, Result]{
		Slug:    "ssl-checker",
		OpenAPI: openAPI,
		Parse: func(in tool.Input) (target.HostPort, error) {
			return target.ParseHostPort(in.Text, 443)
		},
		Run: check.run,
	})
}

func (s checker) run(ctx context.Context, to target.HostPort) (Result, error) {
	conn, address, err := s.connect(ctx, to)
	if err != nil {
		return Result{}, err
	}
	seen, err := s.handshake(ctx, conn, to, webProtocols(to.Port))
	_ = conn.Close() // before any other: some servers count connections
	if errors.Is(err, errALPNRefused) {
		seen, err = s.handshakeWithoutALPN(ctx, address, to)
	}
	if err != nil {
		return Result{}, err
	}
	supported := s.probeVersions(ctx, netip.AddrPortFrom(address, to.Port), to.Host.Name(), seen.state.Version)
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	return s.report(ctx, to, address, seen, supported), nil
}

// clientConfig offers all that Go can, judges nothing, and names the host where it has a name: literal addresses are
// not permitted as server names (RFC 6066 section 3).
func clientConfig(name string) *tls.Config {
	return &tls.Config{
		ServerName:         name,
		InsecureSkipVerify: true, // #nosec G402 -- the verdict comes from certcheck
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

// interruptOn ends what the connection waits for when the context ends. The function that it returns undoes that.
func interruptOn(ctx context.Context, conn net.Conn) func() {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	return func() { stop() }
}

// report puts the result together.
func (s checker) report(
	ctx context.Context, to target.HostPort, address netip.Addr, seen observation, supported map[string]*bool,
) Result {
	now := s.now()
	sent := seen.state.PeerCertificates
	exchange := certcheck.ExchangeOf(tls.CipherSuiteName(seen.state.CipherSuite))
	verdict := s.certs.CheckIn(ctx, sent, to.Host.String(), exchange)
	if (seen.refused || seen.cut) && !slices.ContainsFunc(sent, certcheck.LongKey) {
		verdict = verdict.Unverified(certcheck.DefectUnfinished)
		verdict.Cut = verdict.Cut && !seen.cut // how many there are is not known
	}
	staple := readStaple(seen.state.OCSPResponse, verdict.Chain, now)
	cut := seen.cut
	chain := describeChain(bound.First(sent[1:], maxShownChain, &cut), now)
	result := Result{
		Truncated:          cut,
		Host:               to.Host.String(),
		Port:               to.Port,
		Address:            address.String(),
		Authorized:         verdict.Authorized,
		Protocol:           protocolName(seen.state.Version),
		Cipher:             describeCipher(seen.state.CipherSuite),
		KeyExchange:        describeKeyExchange(seen.state),
		SupportedProtocols: supported,
		Certificate:        describeCertificate(sent[0], now),
		Chain:              chain,
		HostnameMatches:    verdict.HostnameMatches,
		ChainComplete:      verdict.ChainComplete,
		OCSPStapling:       staple.staplingState,
		SCTs:               countSCTs(sent[0], seen.state.SignedCertificateTimestamps, staple.extensions),
		HandshakeMs:        format.Milliseconds(seen.took),
	}
	if !verdict.Authorized {
		result.AuthorizationError = &verdict.Code
	}
	if alpn := seen.state.NegotiatedProtocol; alpn != "" {
		result.ALPN = &alpn
	}
	if protocol, ok := starttlsByPort[to.Port]; ok {
		result.STARTTLS = &protocol
	}
	result.Issues = findIssues(result, verdict, seen, now)
	result.bound()
	return result
}
