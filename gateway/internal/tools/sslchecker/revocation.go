package sslchecker

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"slices"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/revocation"
	"diagnostics/gateway/internal/cache"
	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/text"
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
		Reason: format.TextOrNull(v.Reason),
	}
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

// The reasons for which nothing is checked.
const (
	reasonUntrusted = "Revocation is checked only for certificates that lead to a trusted root."
	reasonNoURLs    = "The certificate names neither a list of revoked certificates (CRL) nor an OCSP responder."
	reasonLate      = "This address showed its certificate too late for its revocation to be checked."
	reasonNoURL     = "None of the addresses at which the certificate's revocation could be checked can be used."
	reasonTime      = "The check of revocation did not finish within 2 seconds."
)

// checkRevocation checks the certificates of a chain but its root, all at once.
func (i *inspection) checkRevocation(ctx context.Context, r *Result) chainStatus {
	if !r.ChainComplete || len(r.chain) < 2 {
		return chainStatus{leaf: revocation.Verdict{Status: revocation.NotChecked, Reason: reasonUntrusted}}
	}
	ctx, cancel := context.WithTimeout(ctx, i.revoking)
	defer cancel()
	ctx = traffic.WithShare(ctx, maxAnswers, fault.New(fault.Upstream, "The answers of the authority are too long."))
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
		c.verdict = revocation.Verdict{Status: revocation.NotChecked, Reason: reasonNoURLs}
	default:
		c.verdict = revocation.Verdict{Status: revocation.Unknown, Reason: reasonNoURL}
	}
}

// take keeps a verdict that decides, or else the first and the reasons of all.
func (c *certificateCheck) take(v revocation.Verdict) {
	switch {
	case v.Known() || c.verdict.Status == "":
		c.verdict = v
	case v.Reason != c.verdict.Reason:
		c.verdict.Reason += " " + v.Reason
	}
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
	return revocation.Verdict{Status: revocation.Unknown, Source: p.source, URL: p.text, Reason: reasonOf(ctx, err)}
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

// reasonOf puts a failure into a sentence.
func reasonOf(ctx context.Context, err error) string {
	if problem, is := errors.AsType[revocation.Problem](err); is {
		return problem.Error()
	}
	why, is := errors.AsType[*fault.Error](err)
	switch {
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded), !is:
		return reasonTime
	case why.Kind == fault.Refused:
		return "This service does not connect to the address at which the certificate's revocation could be checked."
	}
	return why.Sentence
}

// apply adds what was found out about a certificate to the results of all addresses that show it. A revoked one is
// refused by clients that check.
func (s chainStatus) apply(to *Result, of *Result) {
	if to.Certificate.Fingerprint256 != of.Certificate.Fingerprint256 {
		return
	}
	for _, cert := range s.revoked {
		name := text.Show(distinguishedName(cert.RawSubject, cert.Subject), maxNamedSubject)
		to.Issues = append(to.Issues, issue{"INTERMEDIATE_REVOKED", severityFail,
			"The authority has revoked an intermediate certificate of the chain: " + name + "."})
	}
	switch s.leaf.Status {
	case revocation.Revoked:
		to.revoke(s.leaf.Reason)
	case revocation.Unknown:
		to.Issues = append(to.Issues, issue{"REVOCATION_UNKNOWN", severityInfo,
			"Whether the certificate is revoked is not known. " + s.leaf.Reason})
	case revocation.NotChecked:
		// A chain without a trusted root has no known issuer to revoke it.
		if to.ChainComplete && !to.OCSPStapling.Present && !to.Certificate.MustStaple {
			to.Issues = append(to.Issues, issue{"REVOCATION_NOT_CHECKED", severityInfo,
				"Revocation was not checked. " + s.leaf.Reason})
		}
	}
}

// Bounds on texts: of a subject in a sentence, and more than an authority's reason has.
const (
	maxNamedSubject = 120
	maxReason       = 64
)

// revoke makes the certificate one that its authority has revoked.
func (r *Result) revoke(reason string) {
	if r.AuthorizationError == nil {
		r.Authorized, r.AuthorizationError, r.refusal = false, new(codeRevoked), codeRevoked
	}
	if slices.ContainsFunc(r.Issues, func(i issue) bool { return i.Code == codeRevoked }) {
		return
	}
	sentence := "The authority has revoked the certificate."
	if reason != "" {
		sentence = "The authority has revoked the certificate (" + reason + ")."
	}
	r.Issues = append(r.Issues, issue{codeRevoked, severityFail, sentence})
}

// codeRevoked is that of OpenSSL.
const codeRevoked = certs.CodeRevoked
