package sslchecker

import (
	"cmp"
	"encoding/json"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/analyze/certs/certtest"
	"diagnostics/gateway/internal/tools/internal/format"
)

// TestRemainingTime: the certificate and its chain have one scale, and the conclusion is about the earlier end.
func TestRemainingTime(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		life, passed time.Duration // of the certificate
		chain        time.Duration // until the chain ends, 0 if it ends with the certificate
		finding      string
		conclusion   string
		days         int64
	}{
		"15 days left":              {90 * day, 75*day - time.Second, 0, "", codeTrusted, 15},
		"14 days left":              {90 * day, 75 * day, 0, "CERT_EXPIRES_SOON", codeExpiresSoon, 14},
		"three days left":           {90 * day, 87*day - time.Second, 0, "CERT_EXPIRES_SOON", codeExpiresSoon, 3},
		"under three days":          {90 * day, 87 * day, 0, "CERT_ABOUT_TO_EXPIRE", codeAboutToExpire, 2},
		"less than a day":           {90 * day, 90*day - time.Minute, 0, "CERT_ABOUT_TO_EXPIRE", codeAboutToExpire, 0},
		"short-lived, fresh":        {6 * day, 0, 0, "", codeTrusted, 5},
		"short-lived, two thirds":   {6 * day, 4*day - 2*time.Second, 0, "", codeTrusted, 2},
		"short-lived, last third":   {6 * day, 4*day - time.Second, 0, "CERT_ABOUT_TO_EXPIRE", codeAboutToExpire, 2},
		"a chain of 15 days":        {90 * day, 10 * day, 15*day + 1, "CHAIN_EXPIRES_FIRST", codeTrusted, 15},
		"a chain of 14 days":        {90 * day, 10 * day, 14 * day, "CHAIN_EXPIRES_SOON", codeExpiresSoon, 14},
		"a chain of three days":     {90 * day, 10 * day, 3 * day, "CHAIN_EXPIRES_SOON", codeExpiresSoon, 3},
		"a chain under three days":  {90 * day, 10 * day, 3*day - time.Second, "CHAIN_ABOUT_TO_EXPIRE", codeAboutToExpire, 2},
		"both, the chain first":     {90 * day, 80 * day, 2 * day, "CHAIN_ABOUT_TO_EXPIRE", codeAboutToExpire, 2},
		"short-lived, and a chain":  {6 * day, 0, 5 * day, "CHAIN_EXPIRES_FIRST", codeTrusted, 5},
		"a chain after certificate": {90 * day, 10 * day, 100 * day, "", codeTrusted, 79},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Both ends of a validity are inside it: a life of whole days ends a second early.
			leaf := certtest.Leaf(t, nil, []string{sslName}, certtest.Valid(certtest.Epoch,
				certtest.Epoch.Add(c.life-time.Second))).Certificate
			now := certtest.Epoch.Add(c.passed)
			verdict := certs.Verdict{Authorized: true, Ends: leaf.NotAfter}
			if c.chain > 0 {
				verdict.Ends = now.Add(c.chain)
			}
			e := endingOf(verdict, leaf, now)
			found := e.findings(leaf, now)
			if len(found) > 1 || (len(found) > 0) != (c.finding != "") || len(found) > 0 && found[0].Code != c.finding {
				t.Errorf("%+v, want %s", found, c.finding)
			}
			got := report(Result{Port: 443, Authorized: true, ending: e, found: found}, ofHost).Conclusion
			if left, _ := json.Marshal(c.days); got.Code != c.conclusion ||
				cmp.Or(string(got.Args["days"]), "0") != string(left) || (got.Args["chain"] != nil) != e.chain {
				t.Errorf("%+v, want %s in %d days", got, c.conclusion, c.days)
			}
		})
	}
	leaf := certtest.Leaf(t, nil, []string{sslName}, certtest.Valid(certtest.Epoch, certtest.Epoch.Add(day))).Certificate
	for _, now := range []time.Time{certtest.Epoch.Add(-time.Second), leaf.NotAfter.Add(time.Second)} {
		if found := endingOf(certs.Verdict{}, leaf, now).findings(leaf, now); len(found) > 0 {
			t.Errorf("%+v at %s, when the certificate is not valid", found, now)
		}
	}
}

// TestSSLChainExpiresFirst: the path that clients use ends before the certificate, whatever else was sent.
func TestSSLChainExpiresFirst(t *testing.T) {
	t.Parallel()
	days := func(n int) certtest.Option {
		return certtest.Valid(certtest.Epoch.AddDate(0, 0, -30), certtest.Epoch.Add(time.Duration(n)*24*time.Hour))
	}
	w := newWorld(t)
	short := certtest.Intermediate(t, w.root, "Short", days(4))
	longer := certtest.CrossSign(t, w.root, short, days(90))
	spare := certtest.Intermediate(t, w.root, "Spare", days(4))
	edge := certtest.Intermediate(t, w.root, "Edge", days(60))
	for name, c := range map[string]struct {
		leaf, others []*certtest.Cert
		want         bool
		end          int // days until the earliest end
	}{
		"the only intermediate":   {[]*certtest.Cert{short}, []*certtest.Cert{short}, true, 4},
		"another path":            {[]*certtest.Cert{short}, []*certtest.Cert{short, longer}, false, 60},
		"a spare one":             {[]*certtest.Cert{w.inter}, []*certtest.Cert{w.inter, spare}, false, 60},
		"the end of the leaf too": {[]*certtest.Cert{edge}, []*certtest.Cert{edge}, false, 60},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &world{Network: newWorld(t).Network, root: w.root, inter: w.inter, timeout: sslLongTimeout}
			leaf := certtest.Leaf(t, c.leaf[0], []string{sslName}, days(60))
			w.serve(sslServer, oneCertificate(leaf.TLS(c.others...)))
			got := w.mustCheck(t, sslName)
			if !got.Authorized {
				t.Fatal(*got.AuthorizationError)
			}
			if hasIssue(got, severityWarn, "CHAIN_EXPIRES_FIRST") != c.want {
				t.Errorf("%v, want it %v", issueCodes(got), c.want)
			}
			if want := format.RFC3339(certtest.Epoch.AddDate(0, 0, c.end)); *got.Certificate.EffectiveEnd != want {
				t.Errorf("ends %s, want %s", *got.Certificate.EffectiveEnd, want)
			}
		})
	}
}
