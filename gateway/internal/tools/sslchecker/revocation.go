package sslchecker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/revocation"
	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/text"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/format"
	"diagnostics/shared/parallel"
)

// revocationStatus is whether the authority has revoked the server's certificate.
type revocationStatus struct {
	Status     revocation.Status `json:"status" wire:"enum=good|revoked|unknown|notChecked"`
	Source     *string           `json:"source" wire:"enum=crl|ocsp|staple"`
	URL        *string           `json:"url"`
	ProducedAt *string           `json:"producedAt"`
	NextUpdate *string           `json:"nextUpdate"`
	RevokedAt  *string           `json:"revokedAt"`
	Reason     *string           `json:"reason"`
}

func describeRevocation(v revocation.Verdict) revocationStatus {
	return revocationStatus{
		Status: v.Status, Source: format.TextOrNull(string(v.Source)), URL: format.TextOrNull(v.URL),
		ProducedAt: moment(v.ProducedAt), NextUpdate: moment(v.NextUpdate), RevokedAt: moment(v.RevokedAt),
		Reason: format.TextOrNull(reasonIn(v)),
	}
}

// reasonIn is the authority's reason, or the sentences on why a status is not known.
func reasonIn(v revocation.Verdict) string {
	if len(v.Why) == 0 {
		return v.Reason
	}
	var sentences []string
	for _, why := range v.Why {
		if s := rows.Sentence(why.Code, why.Args); !slices.Contains(sentences, s) {
			sentences = append(sentences, s)
		}
	}
	return strings.Join(sentences, " ")
}

// Bounds on the URLs of one certificate and of a run, and on what all of them send together.
const (
	urlsEach    = 2
	urlsPerRun  = 4
	maxAnswers  = revocation.MaxCRL + 512<<10
	keepVerdict = 12 * time.Hour
)

// newVerdicts makes what keeps verdicts, which other instances share: a verdict and no list.
func newVerdicts(store cache.Store) *cache.Loading[revocation.Verdict] {
	return cache.NewLoading[revocation.Verdict](store, "revocation", keepVerdict)
}

// chainStatus is what was found out about a chain. news means that an authority was asked.
type chainStatus struct {
	leaf    revocation.Verdict
	revoked []*x509.Certificate // intermediates
	news    bool
}

// The codes of why it is not known whether a certificate is revoked, beside those of packages revocation and fault.
const (
	codeUntrusted = "REVOCATION_UNTRUSTED"
	codeNoURLs    = "REVOCATION_NO_URLS"
	codeLate      = "REVOCATION_LATE"
	codeNoURL     = "REVOCATION_NO_URL"
	codeTime      = "REVOCATION_TIME"
	codeNotAsked  = "REVOCATION_NOT_ASKED"
	codeRedirect  = "REVOCATION_REDIRECT"
	codeEncoded   = "REVOCATION_ENCODED"
)

// checkRevocation checks the certificates of a chain but its root, all at once.
func (i *inspection) checkRevocation(ctx context.Context, r *Result) chainStatus {
	if !r.ChainComplete || len(r.chain) < 2 {
		return chainStatus{leaf: revocation.Undecided(revocation.NotChecked, codeUntrusted, nil)}
	}
	ctx, cancel := context.WithTimeout(ctx, i.revoking)
	defer cancel()
	ctx = traffic.WithShare(ctx, maxAnswers, fault.New(fault.Upstream, "REVOCATION_TOO_LARGE", nil))
	checks := make([]*certificateCheck, len(r.chain)-1)
	for n := range checks {
		checks[n] = newCertificateCheck(i.checker, r.chain[n], r.chain[n+1])
	}
	checks[0].staple = r.staple
	allot(checks)
	var all parallel.Group
	for _, c := range checks {
		all.Go(func() { c.run(ctx) })
	}
	all.Wait()
	status := chainStatus{leaf: checks[0].verdict}
	for n, c := range checks {
		status.news = status.news || c.news
		if n > 0 && c.verdict.Status == revocation.Revoked {
			status.revoked = append(status.revoked, c.cert)
		}
	}
	return status
}

// allot shares the URLs of a run: the leaf gets what it may have, the others take turns.
func allot(checks []*certificateCheck) {
	left := urlsPerRun - checks[0].allow(urlsEach)
	for most := 1; most <= urlsEach; most++ {
		for _, c := range checks[1:] {
			if len(c.points) >= most && left > 0 {
				c.allow(most)
				left--
			}
		}
	}
}

// certificateCheck checks one certificate.
type certificateCheck struct {
	checker
	cert, issuer *x509.Certificate
	points       []point
	allowed      int // of points
	staple       []byte
	verdict      revocation.Verdict
	news         bool
}

func newCertificateCheck(c checker, cert, issuer *x509.Certificate) *certificateCheck {
	return &certificateCheck{checker: c, cert: cert, issuer: issuer, points: pointsOf(cert, issuer)}
}

func (c *certificateCheck) allow(n int) int {
	c.allowed = min(n, len(c.points))
	return c.allowed
}

// run asks for a list first, then a responder, and takes the first answer that decides. What came with the handshake
// stands for a responder's, and a revocation in it for all.
func (c *certificateCheck) run(ctx context.Context) {
	stapled := c.stapled()
	if stapled.Status == revocation.Revoked {
		c.verdict = stapled
		return
	}
	for _, p := range c.points[:c.allowed] {
		if p.source == revocation.OCSP && stapled.Status == revocation.Good {
			break
		}
		if c.take(c.ask(ctx, p)); c.verdict.Known() {
			return
		}
	}
	switch {
	case stapled.Status == revocation.Good:
		c.verdict = stapled
	case c.verdict.Status != "":
	case len(c.cert.CRLDistributionPoints)+len(c.cert.OCSPServer) == 0:
		c.verdict = revocation.Undecided(revocation.NotChecked, codeNoURLs, nil)
	default:
		c.verdict = revocation.Undecided(revocation.Unknown, codeNoURL, nil)
	}
}

// take keeps a verdict that decides, or else the first and the reasons of all.
func (c *certificateCheck) take(v revocation.Verdict) {
	if v.Known() || c.verdict.Status == "" {
		c.verdict = v
		return
	}
	c.verdict.Why = append(c.verdict.Why, v.Why...)
}

// stapled is the verdict of the answer that came with the handshake; its Status is empty without one.
func (c *certificateCheck) stapled() revocation.Verdict {
	if len(c.staple) == 0 {
		return revocation.Verdict{}
	}
	return revocation.JudgeOCSP(c.staple, c.cert, c.issuer, revocation.Staple, c.now())
}

// ask gives what a point says, or what it has said to another run.
func (c *certificateCheck) ask(ctx context.Context, p point) revocation.Verdict {
	fits := func(v revocation.Verdict) bool { // the store is not trusted
		return v.Keep(c.now()) > 0 && v.Source == p.source && v.URL == p.text && len(v.Reason) <= maxReason
	}
	entry, err := c.verdicts.Get(ctx, p.key(c.cert, c.issuer), fits,
		func(ctx context.Context) (revocation.Verdict, time.Duration, error) {
			ctx, cancel := context.WithTimeout(ctx, c.revoking)
			defer cancel()
			v, err := c.fetchVerdict(ctx, p)
			if err == nil && !v.Known() {
				err = undecided(v)
			}
			return v, v.Keep(c.now()), err
		})
	c.news = c.news || !entry.Cached
	if err == nil {
		return entry.Value
	}
	if v, is := errors.AsType[undecided](err); is {
		return revocation.Verdict(v)
	}
	v := revocation.Verdict{Status: revocation.Unknown, Source: p.source, URL: p.text}
	v.Why = []revocation.Why{whyNot(ctx, err)}
	return v
}

// undecided is a verdict that decides nothing, and so is not kept.
type undecided revocation.Verdict

func (undecided) Error() string { return "the answer decides nothing" }

// key is the name of a point's verdict on a certificate in the cache: by the issuer's key, the serial number and the
// issuing distribution point, or the responder.
func (p point) key(cert, issuer *x509.Certificate) string {
	key := sha256.Sum256(issuer.RawSubjectPublicKeyInfo)
	parts := [][]byte{key[:], cert.SerialNumber.Bytes(), []byte(p.source), []byte(p.text)}
	sum := sha256.Sum256(bytes.Join(parts, []byte{0}))
	return hex.EncodeToString(sum[:])
}

// whyNot explains a failure.
func whyNot(ctx context.Context, err error) revocation.Why {
	if problem, is := errors.AsType[revocation.Problem](err); is {
		return revocation.Why{Code: string(problem)}
	}
	why, is := errors.AsType[*fault.Error](err)
	switch {
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded), !is:
		return revocation.Why{Code: codeTime}
	case why.Kind == fault.Refused:
		return revocation.Why{Code: codeNotAsked}
	}
	return revocation.Why{Code: why.Code, Args: why.Args}
}

// apply adds what was found out about a certificate to the results of all addresses that show it. A revoked one is
// refused by clients that check.
func (s chainStatus) apply(to *Result, of *Result) {
	if to.Certificate.Fingerprint256 != of.Certificate.Fingerprint256 {
		return
	}
	for _, cert := range s.revoked {
		name := text.Show(distinguishedName(cert.RawSubject, cert.Subject), maxNamedSubject)
		to.add("INTERMEDIATE_REVOKED", finding.Args{"subject": name})
	}
	switch s.leaf.Status {
	case revocation.Revoked:
		to.revoke(s.leaf.Reason)
	case revocation.Unknown:
		to.add("REVOCATION_UNKNOWN", reasons(s.leaf))
	case revocation.NotChecked:
		// A chain without a trusted root has no known issuer to revoke it.
		if to.ChainComplete && !to.OCSPStapling.Present && !to.Certificate.MustStaple {
			to.add("REVOCATION_NOT_CHECKED", reasons(s.leaf))
		}
	}
}

// reasons are why the first source that was asked does not decide, and the second, unless both are about servers: a
// row has one host.
func reasons(v revocation.Verdict) finding.Args {
	if len(v.Why) == 0 {
		return nil
	}
	first := v.Why[0]
	args := finding.Args{"reason": first.Code}.With(first.Args)
	if len(v.Why) > 1 && v.Why[1].Code != first.Code && (len(first.Args) == 0 || len(v.Why[1].Args) == 0) {
		args = args.With(v.Why[1].Args).With(finding.Args{"also": v.Why[1].Code})
	}
	return args
}

// Bounds on texts: of a subject in a sentence, and more than an authority's reason has.
const (
	maxNamedSubject = 120
	maxReason       = 64
)

// revoke makes the certificate one that its authority has revoked, perhaps for a reason.
func (r *Result) revoke(reason string) {
	if r.AuthorizationError == nil {
		r.Authorized, r.AuthorizationError, r.refusal = false, new(codeRevoked), codeRevoked
	}
	if !r.has(codeRevoked) {
		r.add(codeRevoked, finding.Args{"cause": reason})
	}
}

// codeRevoked is that of OpenSSL.
const codeRevoked = certs.CodeRevoked
