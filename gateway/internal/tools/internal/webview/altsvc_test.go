package webview

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"diagnostics/gateway/internal/text/bound"
)

func hostOf(a Alternative) string {
	if a.Host == nil {
		return "<null>"
	}
	return *a.Host
}

// say writes an alternative as "protocol host port age".
func say(list []Alternative) string {
	var words []string
	for _, a := range list {
		words = append(words, fmt.Sprintf("%s %s %d %d", a.Protocol, hostOf(a), a.Port, a.MaxAgeSeconds))
	}
	return strings.Join(words, ", ")
}

func TestAlternatives(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{
		``:          "",
		`clear`:     "",
		`h3=":443"`: "h3 <null> 443 86400",
		`h3=":443"; ma=93600,h3-29=":443"; ma=93600`:        "h3 <null> 443 93600, h3-29 <null> 443 93600",
		` h2 = "alt.example.com:8443" ; MA="60"; persist=1`: "h2 alt.example.com 8443 60",
		`h3="[2001:db8::1]:443"`:                            "h3 2001:db8::1 443 86400",
		`h3=:443`:                                           "h3 <null> 443 86400",
		`w%3Dx%3Ay=":443"`:                                  "w=x:y <null> 443 86400",
		`h3=":443"; x="a,b;c\",d"; ma=5, h2=":1"`:           "h3 <null> 443 5, h2 <null> 1 86400",
		`h3=":443"; ma=0`:                                   "h3 <null> 443 0",
		`h3=":443"; ma=-1`:                                  "h3 <null> 443 86400",
		`h3=":443"; ma=4294967295`:                          "h3 <null> 443 4294967295",
		`h3=":443"; ma=4294967296`:                          "h3 <null> 443 86400",
		`h3=":1", h3=":0", h3=":65535", h3=":65536", h3=":x", h3="443", h3="", h3, ="", =":1", %zz=":1"`: "h3 <null> 1 86400, h3 <null> 65535 86400",
	} {
		if got := say(Alternatives(http.Header{"Alt-Svc": {field}})); got != want {
			t.Errorf("%s: got %s, want %s", field, got, want)
		}
	}
	two := http.Header{"Alt-Svc": {`h3=":443"`, strings.Repeat(`h2=":1",`, 40)}}
	if got := Alternatives(two); len(got) != maxAlternatives || got[0].Protocol != "h3" {
		t.Errorf("got %s", say(got))
	}
}

// FuzzAlternatives: whatever a server offers, what is reported is short and fits its schema.
func FuzzAlternatives(f *testing.F) {
	f.Add(`h3=":443"; ma=86400, h2="alt.example.com:8443"; persist=1`)
	f.Add(`clear`)
	f.Add(`"\`)
	f.Add(`a="\":1";ma="\`)
	f.Fuzz(func(t *testing.T, field string) {
		list := Alternatives(http.Header{"Alt-Svc": {field}})
		if list == nil || len(list) > maxAlternatives || bound.Size(list) > maxAlternatives*(4*maxAlternativeText+200) {
			t.Errorf("%d alternatives, %d bytes", len(list), bound.Size(list))
		}
		for _, a := range list {
			if a.Port < 1 || a.Port > 65535 || a.MaxAgeSeconds < 0 {
				t.Errorf("got %+v", a)
			}
		}
	})
}
