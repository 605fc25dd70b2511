package httpheaders

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/toolstest"

	"github.com/google/go-cmp/cmp"
)

// http3Site is example.com with its answer over TLS, whose Alt-Svc is given.
func http3Site(t *testing.T, altSvc string) (*egresstest.Network, *toolstest.Authority) {
	t.Helper()
	n := egresstest.New(t)
	n.Records("example.com. 60 IN A " + toolstest.WebV4)
	authority := toolstest.NewAuthority(t)
	n.ServeTLS(toolstest.WebV4+":443", authority.Issue("example.com", time.Now().Add(time.Hour)), http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) {
			if altSvc != "" {
				w.Header().Set("Alt-Svc", altSvc)
			}
		}))
	return n, authority
}

func runHTTP3(t *testing.T, n *egresstest.Network, input, options string, trust egress.Option) (Result, error) {
	t.Helper()
	var o tool.Options
	if err := json.Unmarshal([]byte(options), &o); err != nil {
		t.Fatal(err)
	}
	job, err := New(n.Client(nil, trust)).Parse(tool.Input{Text: input, Options: o})
	if err != nil {
		return Result{}, err
	}
	result, err := job.Run(t.Context())
	if err != nil {
		return Result{}, err
	}
	return *result.(*Result), nil
}

// over is a handler that must not be called where no request is to be made.
func over(t *testing.T, called bool) http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if name, _, _ := strings.Cut(r.Host, ":"); !called || name != "example.com" {
			t.Errorf("a request for %s", r.Host)
		}
	})
}

func TestHTTP3(t *testing.T) {
	t.Parallel()
	const other = "198.41.0.4"
	h3 := func(public, host string, called bool) func(*testing.T, *egresstest.Network, *toolstest.Authority) {
		return func(t *testing.T, n *egresstest.Network, a *toolstest.Authority) {
			n.ServeHTTP3(public, a.Issue(host, time.Now().Add(time.Hour)), over(t, called), nil)
		}
	}
	closed := func(_ *testing.T, n *egresstest.Network, _ *toolstest.Authority) {
		_ = n.ListenPacket(toolstest.WebV4 + ":443").Close()
	}
	works := h3(toolstest.WebV4+":443", "example.com", true)
	for name, test := range map[string]struct {
		altSvc  string
		records []string
		serve   func(*testing.T, *egresstest.Network, *toolstest.Authority)
		// want is advertised, httpsRecord, tried, works and address; codes are those of HTTP/3.
		want  string
		codes []string
	}{
		"works": {altSvc: `h3=":443"; ma=60`, serve: works,
			want: `"h3=\":443\"; ma=60" false true true "` + toolstest.WebV4 + `"`, codes: []string{"HTTP3_WORKS"}},
		"works, with a record": {altSvc: `h3=":443"`, serve: works,
			records: []string{"example.com. 60 IN HTTPS 1 . alpn=h3,h2 ipv4hint=" + toolstest.WebV4},
			want:    `"h3=\":443\"" true true true "` + toolstest.WebV4 + `"`, codes: []string{"HTTP3_WORKS"}},
		"the record alone": {serve: works, records: []string{"example.com. 60 IN HTTPS 1 . alpn=h3"},
			want:  `null true true true "` + toolstest.WebV4 + `"`,
			codes: []string{"HTTP3_OFFERS_DIFFER", "HTTP3_WORKS"}},
		"not in the record": {altSvc: `h3=":443"`, serve: works, records: []string{"example.com. 60 IN HTTPS 1 . alpn=h2"},
			want:  `"h3=\":443\"" false true true "` + toolstest.WebV4 + `"`,
			codes: []string{"HTTP3_OFFERS_DIFFER", "HTTP3_WORKS"}},
		"the record's port": {records: []string{"example.com. 60 IN HTTPS 1 . alpn=h3 port=8443"},
			serve: h3(toolstest.WebV4+":8443", "example.com", true),
			want:  `null true true true "` + toolstest.WebV4 + `"`,
			codes: []string{"HTTP3_OFFERS_DIFFER", "HTTP3_WORKS"}},
		"the record's host, behind an alias": {records: []string{"example.com. 60 IN HTTPS 0 svc.example.net.",
			"svc.example.net. 60 IN HTTPS 1 pool.example.net. alpn=h3", "pool.example.net. 60 IN A " + other},
			serve: h3(other+":443", "example.com", true), want: `null true true true "` + other + `"`,
			codes: []string{"HTTP3_OFFERS_DIFFER", "HTTP3_WORKS"}},
		"a mandatory key that is not known": {serve: works,
			records: []string{"example.com. 60 IN HTTPS 1 . mandatory=key666 alpn=h3 key666=x"},
			want:    `null false true true "` + toolstest.WebV4 + `"`, codes: []string{"HTTP3_NOT_ADVERTISED"}},
		"hints that differ": {altSvc: `h3=":443"`, serve: works,
			records: []string{"example.com. 60 IN HTTPS 1 . alpn=h3 ipv4hint=10.0.0.1," + other + " ipv6hint=2606:4700::9"},
			want:    `"h3=\":443\"" true true true "` + toolstest.WebV4 + `"`,
			codes:   []string{"HTTP3_HINTS_DIFFER", "HTTP3_WORKS"}},
		"refused": {altSvc: `h3=":443"`, serve: closed, want: `"h3=\":443\"" false true false "` + toolstest.WebV4 + `"`,
			codes: []string{"HTTP3_REFUSED"}},
		"no HTTP/3 at all": {serve: closed, want: `null false true false "` + toolstest.WebV4 + `"`},
		"not advertised": {serve: works, want: `null false true true "` + toolstest.WebV4 + `"`,
			codes: []string{"HTTP3_NOT_ADVERTISED"}},
		"taken back": {altSvc: "clear", serve: works, want: `"clear" false true true "` + toolstest.WebV4 + `"`,
			codes: []string{"HTTP3_NOT_ADVERTISED"}},
		"another certificate": {altSvc: `h3=":443"`, serve: h3(toolstest.WebV4+":443", "www.example.org", false),
			want: `"h3=\":443\"" false true false "` + toolstest.WebV4 + `"`, codes: []string{"HTTP3_CERTIFICATE"}},
		"drafts alone": {altSvc: `h3-29=":443", hq=":443"`, serve: closed,
			want:  `"h3-29=\":443\", hq=\":443\"" false true false "` + toolstest.WebV4 + `"`,
			codes: []string{"HTTP3_DRAFT_ONLY"}},
		"another host": {altSvc: `h3="ALT.example.net:8443"`, records: []string{"alt.example.net. 60 IN A " + other},
			serve: h3(other+":8443", "example.com", true),
			want:  `"h3=\"ALT.example.net:8443\"" false true true "` + other + `"`, codes: []string{"HTTP3_WORKS"}},
		"another host with its own certificate": {altSvc: `h3="alt.example.net:443"`,
			records: []string{"alt.example.net. 60 IN A " + other}, serve: h3(other+":443", "alt.example.net", false),
			want: `"h3=\"alt.example.net:443\"" false true false "` + other + `"`, codes: []string{"HTTP3_CERTIFICATE"}},
		"a private host": {altSvc: `h3="alt.example.net:443"`, records: []string{"alt.example.net. 60 IN A 10.0.0.1"},
			want: `"h3=\"alt.example.net:443\"" false false false null`, codes: []string{"HTTP3_NOT_PUBLIC"}},
		"a private address": {altSvc: `h3="10.0.0.1:443"`,
			want: `"h3=\"10.0.0.1:443\"" false false false null`, codes: []string{"HTTP3_NOT_PUBLIC"}},
		"a local name": {altSvc: `h3="localhost:443"`,
			want: `"h3=\"localhost:443\"" false false false null`, codes: []string{"HTTP3_NOT_PUBLIC"}},
		"a record with a private host": {records: []string{"example.com. 60 IN HTTPS 1 in.example.net. alpn=h3",
			"in.example.net. 60 IN A 192.168.1.1"},
			want: `null true false false null`, codes: []string{"HTTP3_NOT_PUBLIC", "HTTP3_OFFERS_DIFFER"}},
		"a host without address": {altSvc: `h3="no.example.net:443"`,
			want: `"h3=\"no.example.net:443\"" false false false null`, codes: []string{"HTTP3_FAILS"}},
		"no host": {altSvc: `h3="a b:443"`,
			want: `"h3=\"a b:443\"" false false false null`, codes: []string{"HTTP3_FAILS"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, authority := http3Site(t, test.altSvc)
			n.Records(test.records...)
			if test.serve != nil {
				test.serve(t, n, authority)
			}
			result, err := runHTTP3(t, n, "https://example.com/", `{"http3":true}`, authority.Option())
			if err != nil {
				t.Fatal(err)
			}
			h := result.HTTP3
			if got := words(t, h.Advertised, h.HTTPSRecord, h.Tried, h.Works, h.Address); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			worked := h.Works != nil && *h.Works
			if (h.Reason == nil) != worked || worked && h.HandshakeMs == nil {
				t.Errorf("reason %s, handshake %v", toolstest.Text(h.Reason), h.HandshakeMs)
			}
			if slices.ContainsFunc(result.Findings, func(f finding.Finding) bool { return f.Group == finding.Broken }) {
				t.Errorf("findings %+v", result.Findings)
			}
			if diff := cmp.Diff(test.codes, http3CodesOf(result)); diff != "" {
				t.Error(diff)
			}
			for _, to := range n.Dials() {
				if to.Addr().IsPrivate() {
					t.Errorf("%v was dialled", to)
				}
			}
		})
	}
}

func words(t *testing.T, values ...any) string {
	t.Helper()
	list := make([]string, len(values))
	for i, v := range values {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		list[i] = string(text)
	}
	return strings.Join(list, " ")
}

func http3CodesOf(r Result) (codes []string) {
	for _, f := range r.Findings {
		if strings.HasPrefix(f.Code, "HTTP3_") {
			codes = append(codes, f.Code)
		}
	}
	slices.Sort(codes)
	return codes
}

// A lookup that fails is not known, and HTTP/3 is tried all the same.
func TestHTTP3RecordNotKnown(t *testing.T) {
	t.Parallel()
	n, authority := http3Site(t, "")
	answer := toolstest.Failing(2)
	n.Handle("_8443._https.example.com.", answer)
	n.ServeTLS(toolstest.WebV4+":8443", authority.Issue("example.com", time.Now().Add(time.Hour)), over(t, true))
	n.ServeHTTP3(toolstest.WebV4+":8443", authority.Issue("example.com", time.Now().Add(time.Hour)), over(t, true), nil)
	result, err := runHTTP3(t, n, "https://example.com:8443/", `{"http3":true}`, authority.Option())
	if err != nil || result.HTTP3.HTTPSRecord != nil || result.HTTP3.Works == nil || !*result.HTTP3.Works {
		t.Errorf("%+v, %v", result.HTTP3, err)
	}
}

func TestWithoutHTTP3(t *testing.T) {
	t.Parallel()
	n, authority := http3Site(t, `h3=":443"`)
	for _, options := range []string{`{}`, `{"http3":false}`, `{"http3":null}`} {
		result, err := runHTTP3(t, n, "https://example.com/", options, authority.Option())
		text, _ := json.Marshal(result)
		if err != nil || strings.Contains(string(text), `"http3"`) {
			t.Errorf("%s: %s, %v", options, text, err)
		}
	}
	if len(n.Dials()) != 3 || n.QueriesFor("example.com.", 65) > 0 {
		t.Errorf("dialled %v", n.Dials())
	}
	n.Serve(toolstest.WebV4+":80", toolstest.StatusHandler(200))
	result, err := runHTTP3(t, n, "http://example.com/", `{"http3":true}`, authority.Option())
	if err != nil || result.HTTP3 == nil || result.HTTP3.Tried || result.HTTP3.Works != nil || result.HTTP3.Reason == nil {
		t.Errorf("over http: %+v, %v", result.HTTP3, err)
	}
	for _, to := range n.Dials()[3:] {
		if to != netip.MustParseAddrPort(toolstest.WebV4+":80") {
			t.Errorf("dialled %v", to)
		}
	}
}

// A site whose certificate browsers refuse anyway has that fault alone.
func TestHTTP3OfAnInvalidSite(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("example.com. 60 IN A " + toolstest.WebV4)
	authority := toolstest.NewAuthority(t)
	config := authority.SelfSign("example.com")
	n.ServeTLS(toolstest.WebV4+":443", config, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Alt-Svc", `h3=":443"`)
	}))
	n.ServeHTTP3(toolstest.WebV4+":443", &tls.Config{Certificates: config.Certificates}, over(t, false), nil)
	result, err := runHTTP3(t, n, "https://example.com/", `{"http3":true}`, authority.Option())
	if err != nil || result.HTTP3.Works == nil || *result.HTTP3.Works || http3CodesOf(result) != nil {
		t.Errorf("%+v %v, %v", result.HTTP3, http3CodesOf(result), err)
	}
}
