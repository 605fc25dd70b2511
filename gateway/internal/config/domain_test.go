package config

import (
	"fmt"
	"strings"
	"testing"
)

func TestPublicDomain(t *testing.T) {
	t.Parallel()
	const nearby = "[127.0.0.0/8 ::1/128 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7]"
	for _, tt := range []struct{ env, origin, header, peers string }{
		{"", "", "", "[]"},
		{"PUBLIC_DOMAIN=tools.example.com", "https://tools.example.com", "X-Real-Ip", nearby},
		{"PUBLIC_DOMAIN=Bücher.example.", "https://xn--bcher-kva.example", "X-Real-Ip", nearby},
		{"PUBLIC_DOMAIN=a.example PUBLIC_ORIGIN=https://b.example:8443", "https://b.example:8443", "X-Real-Ip", nearby},
		{"PUBLIC_DOMAIN=a.example CLIENT_ADDRESS_HEADER=x-client", "https://a.example", "X-Client", nearby},
		{"PUBLIC_DOMAIN=a.example TRUSTED_PROXY_CIDRS=10.1.0.0/16", "https://a.example", "X-Real-Ip", "[10.1.0.0/16]"},
	} {
		c, err := Parse(strings.Fields(tt.env))
		if err != nil {
			t.Fatal(err)
		}
		trust := c.Trust()
		if c.PublicOrigin.String() != tt.origin || trust.Header != tt.header || fmt.Sprint(trust.Peers) != tt.peers ||
			trust.Headers != (tt.env != "") {
			t.Errorf("%s: %s, %+v", tt.env, c.PublicOrigin, trust)
		}
	}
}
