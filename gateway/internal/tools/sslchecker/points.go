package sslchecker

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"io"
	"net/http"
	"net/url"
	"strings"

	"diagnostics/gateway/internal/analyze/revocation"
	"diagnostics/gateway/internal/analyze/weight"
	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/budget/processor"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool/finding"

	"golang.org/x/crypto/ocsp"
)

// point is where a certificate's revocation can be checked.
type point struct {
	source revocation.Source
	text   string // the URL as the certificate has it
	url    target.URL
}

// Bounds on what a certificate can make this service ask for.
const (
	maxPointURL = 2 << 10
	maxOCSP     = 64 << 10
)

// pointsOf are the points of a certificate that may be asked: the first list, the first responder, and then the next
// ones.
func pointsOf(cert, issuer *x509.Certificate) []point {
	var lists, responders []point
	for _, text := range cert.CRLDistributionPoints {
		lists = appendPoint(lists, revocation.CRL, text, text)
	}
	for _, text := range cert.OCSPServer {
		if query, err := ocsp.CreateRequest(cert, issuer, nil); err == nil {
			// RFC 6960 appendix A.1. A plus sign would be a space to some.
			ask := strings.TrimSuffix(text, "/") + "/" + url.QueryEscape(base64.StdEncoding.EncodeToString(query))
			responders = appendPoint(responders, revocation.OCSP, text, ask)
		}
	}
	var points []point
	for n := range max(len(lists), len(responders)) {
		for _, list := range [][]point{lists, responders} {
			if n < len(list) {
				points = append(points, list[n])
			}
		}
	}
	return points
}

// appendPoint leaves out what is not asked: other schemes than http and https, other ports than theirs, hosts that are
// not public.
func appendPoint(to []point, source revocation.Source, text, ask string) []point {
	if len(to) == urlsEach || len(ask) > maxPointURL {
		return to
	}
	u, err := target.ParseURL(ask)
	if err != nil || !webPort(u) {
		return to
	}
	return append(to, point{source, cleanString(text), u})
}

func webPort(u target.URL) bool { return u.Port() == 80 || u.Port() == 443 }

// The problems of fetching.
const (
	errRedirects revocation.Problem = codeRedirect
	errEncoded   revocation.Problem = codeEncoded
)

// fetchVerdict asks a point. An error means that nothing came that could be judged.
func (c *certificateCheck) fetchVerdict(ctx context.Context, p point) (v revocation.Verdict, err error) {
	read := c.readOCSP
	if p.source == revocation.CRL {
		read = c.readCRL
	}
	got := fetched{read: func(body io.Reader) (revocation.Verdict, error) {
		if err := processor.Of(ctx).SpendTime(weight.Verify(c.issuer.PublicKey)); err != nil {
			return revocation.Verdict{}, err
		}
		return read(processor.Reader(ctx, body, weight.RevocationList))
	}}
	for u, redirects := p.url, 0; ; redirects++ {
		answer, err := c.egress.Do(ctx, egress.Request{URL: u, Consume: got.consume,
			Header: http.Header{"Accept-Encoding": {"identity"}}})
		if err != nil {
			return v, err
		}
		if got.done {
			got.verdict.URL = p.text
			return got.verdict, got.err
		}
		if !egress.IsRedirect(answer.Status) {
			return v, fault.New(fault.Upstream, "REVOCATION_STATUS",
				finding.Args{"host": u.Host().Short(), "status": answer.Status})
		}
		u, err = answer.Destination()
		if redirects > 0 || err != nil || !webPort(u) {
			return v, errRedirects
		}
	}
}

// fetched is an answer that is read as it comes.
type fetched struct {
	read    func(io.Reader) (revocation.Verdict, error)
	done    bool
	verdict revocation.Verdict
	err     error
}

func (f *fetched) consume(answer *egress.Response, body io.Reader) {
	switch encoding := answer.Header.Get("Content-Encoding"); {
	case answer.Status != http.StatusOK:
		return
	case encoding != "" && !strings.EqualFold(encoding, "identity"):
		f.err = errEncoded
	default:
		f.verdict, f.err = f.read(body)
	}
	f.done = true
}

func (c *certificateCheck) readCRL(body io.Reader) (v revocation.Verdict, err error) {
	list, err := revocation.ReadCRL(body, c.cert.SerialNumber)
	if err != nil {
		return v, err
	}
	return list.Judge(c.cert, c.issuer, c.now()), nil
}

func (c *certificateCheck) readOCSP(body io.Reader) (v revocation.Verdict, err error) {
	der, err := io.ReadAll(io.LimitReader(body, maxOCSP))
	if err != nil {
		return v, err
	}
	return revocation.JudgeOCSP(der, c.cert, c.issuer, revocation.OCSP, c.now()), nil
}
