package webview

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"diagnostics/gateway/internal/analyze/certs"
	"diagnostics/gateway/internal/egress"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestDescribeHeaders(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name   string
		header http.Header
		want   []Header
	}{
		{"none", nil, []Header{}},
		{
			"sorted, lower-case, repeats kept in order",
			http.Header{"X-B": {"2", "1"}, "Content-Type": {"text/html"}, "X-A": {""}},
			[]Header{{"content-type", "text/html"}, {"x-a", ""}, {"x-b", "2"}, {"x-b", "1"}},
		},
		{
			"cookies apart and masked",
			http.Header{"Set-Cookie": {"b=secret; Path=/", "a=secret, Secure"}, "Set-Cookie2": {"c=secret; Version=1"}},
			[]Header{{"set-cookie", "b=***; Path=/"}, {"set-cookie", "a=***"}, {"set-cookie2", "c=***; Version=1"}},
		},
		{
			"Latin-1 and UTF-8",
			http.Header{"X-Latin": {"caf\xe9"}, "X-Utf8": {"café"}},
			[]Header{{"x-latin", "café"}, {"x-utf8", "café"}},
		},
		{
			"names that differ by case alone",
			http.Header{"odd name": {"1"}, "Odd Name": {"2"}, "A": {"3"}},
			[]Header{{"a", "3"}, {"odd name", "2"}, {"odd name", "1"}},
		},
		{
			"a broken cookie is masked all the same",
			http.Header{"Set-Cookie": {"sid=\xff\xfe; Path=/\xe9"}},
			[]Header{{"set-cookie", "sid=***; Path=/é"}},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, DescribeHeaders(c.header)); diff != "" {
				t.Fatalf("-want +got\n%s", diff)
			}
		})
	}
}

func TestDescribeTimings(t *testing.T) {
	t.Parallel()
	plain := egress.Timings{DNS: time.Millisecond, Connect: 2 * time.Millisecond, FirstByte: 3 * time.Millisecond,
		Total: 6 * time.Millisecond}
	secure := plain
	secure.TLS, secure.HasTLS = 1500*time.Microsecond, true
	for _, c := range []struct {
		timings egress.Timings
		want    string
	}{
		{plain, `{"dnsMs":1,"connectMs":2,"tlsMs":null,"firstByteMs":3,"totalMs":6}`},
		{secure, `{"dnsMs":1,"connectMs":2,"tlsMs":1.5,"firstByteMs":3,"totalMs":6}`},
	} {
		if out, err := json.Marshal(DescribeTimings(c.timings)); err != nil || string(out) != c.want {
			t.Errorf("got %s (%v), want %s", out, err, c.want)
		}
	}
}

func TestDescribeTLS(t *testing.T) {
	t.Parallel()
	state := tls.ConnectionState{Version: tls.VersionTLS13, CipherSuite: tls.TLS_AES_128_GCM_SHA256}
	old := tls.ConnectionState{Version: tls.VersionTLS10, CipherSuite: tls.TLS_RSA_WITH_AES_128_CBC_SHA}
	for _, c := range []struct {
		tls  *egress.TLS
		want string
	}{
		{nil, `null`},
		{
			&egress.TLS{State: state, Verdict: certs.Verdict{Authorized: true}},
			`{"version":"TLSv1.3","cipher":"TLS_AES_128_GCM_SHA256","authorized":true,"authorizationError":null}`,
		},
		{
			&egress.TLS{State: old, Verdict: certs.Verdict{Code: certs.CodeExpired}},
			`{"version":"TLSv1.0","cipher":"TLS_RSA_WITH_AES_128_CBC_SHA","authorized":false,"authorizationError":"CERT_HAS_EXPIRED"}`,
		},
	} {
		if out, err := json.Marshal(DescribeTLS(c.tls)); err != nil || string(out) != c.want {
			t.Errorf("got %s (%v), want %s", out, err, c.want)
		}
	}
}

func TestDescribeStatus(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		text   string
		want   string
	}{
		{200, "OK", "OK"},
		{200, "Fine", "Fine"},
		{404, "", "Not Found"},
		{404, " ", "Not Found"},
		{299, "", ""},
		{200, "tr\xe8s bien", "très bien"},
	} {
		if got := DescribeStatus(&egress.Response{Status: c.status, StatusText: c.text}); got != c.want {
			t.Errorf("%d %q: got %q, want %q", c.status, c.text, got, c.want)
		}
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
