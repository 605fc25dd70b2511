package config

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What an operator is told at the start about the settings of proxies: each setting that a visitor could use, or that
// does nothing, in one line that says what to set.
func TestWarningsAboutProxies(t *testing.T) {
	t.Parallel()
	const (
		forgeable = "can forge their address"
		unread    = "it is not read"
		forwarded = "never gives an address"
		hops      = "TRUSTED_PROXY_HOPS counts"
	)
	tests := []struct {
		env  string
		want []string
	}{
		{"", nil},
		{"TRUST_PROXY_HEADERS=true", []string{forgeable}},
		{"TRUST_PROXY_HEADERS=true TRUSTED_PROXY_CIDRS=10.0.0.0/8", []string{forgeable}},
		{"TRUST_PROXY_HEADERS=true CLIENT_ADDRESS_HEADER=x-real-ip", nil},
		{"TRUST_PROXY_HEADERS=true CLIENT_ADDRESS_HEADER=X-Forwarded-For TRUSTED_PROXY_HOPS=2", nil},
		{"TRUSTED_PROXY_PLATFORM=vercel", []string{forgeable}},
		{"TRUSTED_PROXY_PLATFORM=vercel TRUSTED_PROXY_CIDRS=10.0.0.0/8", []string{forgeable}},
		{"TRUSTED_PROXY_PLATFORM=cloudflare", []string{forgeable}},
		{"TRUSTED_PROXY_PLATFORM=cloudflare TRUSTED_PROXY_CIDRS=10.0.0.0/8", nil},
		{"CF_PAGES=1 TRUSTED_PROXY_CIDRS=10.0.0.0/8", []string{forgeable}},
		{"VERCEL=1", []string{forgeable}},
		{"VERCEL=1 CLIENT_ADDRESS_HEADER=x-vercel-forwarded-for", nil},
		{"TRUSTED_PROXY_CIDRS=10.0.0.0/8", nil},
		{"CLIENT_ADDRESS_HEADER=x-real-ip", []string{unread}},
		{"TRUST_PROXY_HEADERS=true CLIENT_ADDRESS_HEADER=forwarded", []string{forwarded}},
		{"TRUST_PROXY_HEADERS=true TRUSTED_PROXY_HOPS=2", []string{forgeable, hops}},
		{"TRUST_PROXY_HEADERS=true CLIENT_ADDRESS_HEADER=x-real-ip TRUSTED_PROXY_HOPS=2", []string{hops}},
		{"TRUST_PROXY_HEADERS=true CLIENT_ADDRESS_HEADER=x-real-ip TRUSTED_PROXY_HOPS=1", nil},
	}
	for _, tt := range tests {
		c, err := Parse(strings.Fields(tt.env))
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		c.WarnOfProxies(slog.New(slog.NewTextHandler(&log, nil)))
		if got := strings.Count(log.String(), "\n"); got != len(tt.want) {
			t.Errorf("%s: %d lines, want %d: %s", tt.env, got, len(tt.want), log.String())
		}
		for _, want := range tt.want {
			if !strings.Contains(log.String(), want) {
				t.Errorf("%s: no line with %q in %s", tt.env, want, log.String())
			}
		}
	}
}

func TestStartTellsWhereAddressesComeFrom(t *testing.T) {
	t.Parallel()
	for env, want := range map[string]string{
		"":                         "the connection",
		"TRUST_PROXY_HEADERS=true": "cf-connecting-ip, x-real-ip or the first of x-forwarded-for",
		"TRUST_PROXY_HEADERS=true CLIENT_ADDRESS_HEADER=X-Real-IP":                            "x-real-ip",
		"TRUST_PROXY_HEADERS=true CLIENT_ADDRESS_HEADER=x-forwarded-for":                      "x-forwarded-for, entry 1 from the right",
		"TRUST_PROXY_HEADERS=true CLIENT_ADDRESS_HEADER=X-Forwarded-For TRUSTED_PROXY_HOPS=3": "x-forwarded-for, entry 3 from the right",
		"CLIENT_ADDRESS_HEADER=x-real-ip":                                                     "the connection",
	} {
		c, err := Parse(strings.Fields(env))
		if err != nil || c.ClientAddress() != want {
			t.Errorf("%s: %q, %v; want %q", env, c.ClientAddress(), err, want)
		}
	}
}

// The settings that deploy/proxies shows are taken as they stand, trust one header of one peer, and leave nothing to
// warn of. What the proxies of Caddy and nginx make of them is tried in the lab.
func TestSettingsOfDocumentedProxies(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../../deploy/proxies/*.env")
	if err != nil || len(files) != 4 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c, err := Parse(strings.Split(string(text), "\n"))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var log bytes.Buffer
		c.WarnOfProxies(slog.New(slog.NewTextHandler(&log, nil)))
		if trust := c.Trust(); !trust.Headers || trust.Header == "" || len(trust.Peers) != 1 || log.Len() != 0 {
			t.Errorf("%s: %+v, %s", file, trust, log.String())
		}
	}
}
