package sslchecker

import (
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs/certtest"
)

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
	soon := certtest.Intermediate(t, w.root, "Soon", days(expiresSoonDays))
	later := certtest.Intermediate(t, w.root, "Later", days(expiresSoonDays+1))
	for name, c := range map[string]struct {
		leaf, others []*certtest.Cert
		want         string
	}{
		"the only intermediate":   {[]*certtest.Cert{short}, []*certtest.Cert{short}, severityWarn},
		"two weeks":               {[]*certtest.Cert{soon}, []*certtest.Cert{soon}, severityWarn},
		"more than two weeks":     {[]*certtest.Cert{later}, []*certtest.Cert{later}, severityInfo},
		"another path":            {[]*certtest.Cert{short}, []*certtest.Cert{short, longer}, ""},
		"a spare one":             {[]*certtest.Cert{w.inter}, []*certtest.Cert{w.inter, spare}, ""},
		"the end of the leaf too": {[]*certtest.Cert{edge}, []*certtest.Cert{edge}, ""},
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
			for _, severity := range []string{severityWarn, severityInfo} {
				if hasIssue(got, severity, "CHAIN_EXPIRES_FIRST") != (severity == c.want) {
					t.Errorf("%v, want %q", issueCodes(got), c.want)
				}
			}
		})
	}
}
