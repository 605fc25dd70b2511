package main

import (
	"slices"
	"testing"
	"time"

	"diagnostics/gateway/internal/config"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools"

	"github.com/google/go-cmp/cmp"
)

// registry is every tool there is, to look at and not to run.
func registry() []tool.Tool { return tools.All(tools.Deps{Now: time.Now}) }

// document is the API's description of every tool.
func document() (string, error) {
	d, err := describedAPI()
	return d.text, err
}

// complete tells once which part of a tool is missing: without it nothing starts, and every test would fail.
func complete() error {
	_, err := newPages(config.Config{}, registry(), false)
	return err
}

// These tools are promised to whoever calls them, in this order. One that is added needs no line here.
func TestThePromisedToolsAreThere(t *testing.T) {
	t.Parallel()
	want := []string{
		"dns-lookup", "http-headers", "ssl-checker", "uptime", "port-checker", "my-ip", "ip-geolocation", "asn-lookup",
		"whois-lookup", "redirect-checker", "robots-sitemap", "dns-resolver-check", "email-dns-health", "security-headers",
		"traceroute", "ping", "packet-loss",
	}
	onTheWorker := []string{"traceroute", "ping", "packet-loss"}
	var got []string
	for _, one := range registry() {
		if !slices.Contains(want, one.Slug()) {
			continue
		}
		got = append(got, one.Slug())
		if one.NeedsWorker() != slices.Contains(onTheWorker, one.Slug()) {
			t.Errorf("%s needs the worker: %t", one.Slug(), one.NeedsWorker())
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the promised tools (-) and those of the registry (+) differ:\n%s", diff)
	}
}
