//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// lines are header lines, a name and a value each.
type lines [][2]string

// forgery is what a visitor sends who wants to be taken for another.
type forgery struct {
	name string
	// of gives the lines that claim an address.
	of func(claimed string) lines
}

// line is one header line; %s in its value is the claimed address.
func line(name, format string) forgery {
	return forgery{name + ": " + strings.ReplaceAll(format, "%s", "…"), func(claimed string) lines {
		return lines{{name, strings.ReplaceAll(format, "%s", claimed)}}
	}}
}

// together are several forgeries at once, as lines of one request.
func together(name string, several ...forgery) forgery {
	return forgery{name, func(claimed string) (all lines) {
		for _, f := range several {
			all = append(all, f.of(claimed)...)
		}
		return all
	}}
}

func forgeries() []forgery {
	names := []string{"CF-Connecting-IP", "X-Real-IP", "X-Forwarded-For", "True-Client-IP", "X-Client-IP",
		"X-Cluster-Client-IP", "Fly-Client-IP", "CF-Connecting-IPv6", "X-Original-Forwarded-For",
		"X-Envoy-External-Address", "x-ReAl-iP", "cf-CONNECTING-ip", "X_Real_IP", "X_Forwarded_For", "CF_Connecting_IP", "X.Real.IP"}
	all := []forgery{line("Forwarded", "for=%s"), line("Forwarded", `for="%s:80";proto=https;by=127.0.0.1`)}
	for _, name := range names {
		all = append(all, line(name, "%s"))
	}
	for _, name := range []string{"CF-Connecting-IP", "X-Real-IP", "X-Forwarded-For"} {
		one := line(name, "%s")
		all = append(all, line(name, "::ffff:%s"), line(name, "%s:80"), line(name, "[::ffff:%s]"),
			line(name, "%s, 127.0.0.1"), line(name, "%s,"), line(name, ", %s"), line(name, ""),
			together(name+" twice", one, one),
			together(name+" twice, in two spellings", one, line(strings.ToLower(name), "%s")),
			together(name+" taken away by Connection", one, line("Connection", name)),
			line(name, strings.Repeat("10.0.0.1, ", 600)+"%s"))
	}
	hundred := make([]forgery, 100)
	for i := range hundred {
		hundred[i] = line("X-Forwarded-For", "%s")
	}
	everything := []forgery{}
	for _, name := range names {
		everything = append(everything, line(name, "%s"))
	}
	return append(all, together("a hundred lines of X-Forwarded-For", hundred...), together("everything", everything...),
		together("everything taken away by Connection", append(everything, line("Connection", strings.Join(names, ", ")))...))
}

// claimed is a public address that no host has here.
func claimed(n int) string { return fmt.Sprintf("9.9.%d.%d", 100+n/250, 1+n%250) }

// fits reports whether HTTP/2 can carry the lines: it has no Connection.
func fits(all lines) bool {
	return !slices.ContainsFunc(all, func(l [2]string) bool { return l[0] == "Connection" })
}

// Whatever a visitor sends, the connection's address counts. The same requests through the same proxies are forged
// where no header is named.
func TestNoForgedAddressThroughProxies(t *testing.T) {
	p := needProxies(t)
	for _, e := range p.entrances {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			reported, mistaken := 0, 0
			for _, http2 := range e.protocols() {
				client := visitors(http2)
				defer client.CloseIdleConnections()
				for i, f := range forgeries() {
					forged := f.of(claimed(i))
					if http2 && !fits(forged) {
						continue
					}
					for _, visitor := range []string{visitor4, visitor6} {
						a, err := e.ask(t.Context(), client, visitor, "my-ip", "", forged)
						if err != nil {
							t.Fatalf("%s: %v", f.name, err)
						}
						if refusedByProxy(a) {
							continue
						}
						reported++
						if a.at("ip") == visitor {
							continue
						}
						mistaken++
						if !e.forgeable {
							t.Errorf("%s of %s: my-ip says %v: %.300s", f.name, visitor, a.at("ip"), a.Body)
						}
					}
				}
			}
			if e.forgeable && mistaken == 0 || reported < 100 {
				t.Errorf("%d of %d were not taken for who they are", mistaken, reported)
			}
			t.Logf("%d of %d were not taken for who they are", mistaken, reported)
		})
	}
}

// The reason why addresses matter: forty requests with forty addresses against a limit of thirty.
func TestForgedAddressesDoNotEscapeTheLimit(t *testing.T) {
	p := needProxies(t)
	const limit, requests = 30, 40
	all := forgeries()
	ways := []forgery{line("CF-Connecting-IP", "%s"), line("X-Real-IP", "%s"), line("X-Forwarded-For", "%s"),
		line("X-Forwarded-For", "%s, 127.0.0.1"), all[len(all)-2]}
	for _, e := range p.entrances {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			client := visitors(false)
			defer client.CloseIdleConnections()
			want, used := limit, ways
			if e.forgeable {
				want, used = requests, ways[:1]
			}
			passed := 0
			for i := range requests {
				forged := used[i%len(used)].of(claimed(i))
				a, err := e.get(t.Context(), client, e.visitor, "/api/connection/ping", forged)
				if err != nil {
					t.Fatal(err)
				}
				if a.Status == http.StatusOK {
					passed++
				} else if a.Status != http.StatusTooManyRequests {
					t.Fatalf("status %d: %.300s", a.Status, a.Body)
				}
			}
			if passed != want {
				t.Errorf("%d of %d passed a limit of %d, want %d", passed, requests, limit, want)
			}
		})
	}
}

// Behind Cloudflare the address in its header counts, and only from it: from elsewhere nothing passes without the
// certificate, and no address counts with it.
func TestNginxBehindCloudflare(t *testing.T) {
	p := needProxies(t)
	edge, stranger := visitors(false, p.edge), visitors(false)
	defer edge.CloseIdleConnections()
	defer stranger.CloseIdleConnections()
	for _, f := range forgeries() {
		forged := f.of(claimed(1))
		if slices.ContainsFunc(forged, func(l [2]string) bool { return strings.EqualFold(l[0], "cf-connecting-ip") }) {
			continue // Cloudflare overwrites what its visitors send by that name
		}
		reported := append(forged, [2]string{"CF-Connecting-IP", claimed(2)})
		for visitor, want := range map[string]string{visitor4: claimed(2), visitor6: visitor6} {
			a, err := p.cloudflare.ask(t.Context(), edge, visitor, "my-ip", "", reported)
			if err != nil {
				t.Fatal(err)
			}
			if a.at("ip") != want && !refusedByProxy(a) {
				t.Errorf("%s from %s: %.300s", f.name, visitor, a.Body)
			}
		}
	}
	forged := lines{{"CF-Connecting-IP", claimed(2)}}
	a, err := p.cloudflare.ask(t.Context(), stranger, visitor4, "my-ip", "", forged)
	if err != nil || a.Status != http.StatusBadRequest || !refusedByProxy(a) {
		t.Errorf("without the certificate: %d %.300s, %v", a.Status, a.Body, err)
	}
}

// Plain HTTP leads to HTTPS of the site's own name. The proxies add no Strict-Transport-Security to the gateway's.
func TestProxiesLeadToHTTPS(t *testing.T) {
	needProxies(t)
	client := visitors(true)
	defer client.CloseIdleConnections()
	for name, ports := range map[string][2]int{"Caddy": {8180, 8143}, "nginx": {9243, 8243}} {
		plain, secure := entrance{port: ports[0]}, entrance{port: ports[1], tls: true}
		a, err := plain.get(t.Context(), client, visitor4, "/report?target=x", nil)
		if err != nil {
			t.Fatal(err)
		}
		if to := a.Header.Get("Location"); a.Status != 308 || to != "https://"+siteName+"/report?target=x" {
			t.Errorf("%s: %d to %s", name, a.Status, to)
		}
		if a, err = secure.get(t.Context(), client, visitor4, "/", nil); err != nil {
			t.Fatal(err)
		}
		hsts := a.Header["Strict-Transport-Security"]
		if a.Status != 200 || !slices.Equal(hsts, []string{"max-age=31536000"}) {
			t.Errorf("%s: %d, HSTS %q", name, a.Status, hsts)
		}
		long := "/tools/uptime?input=http%3A%2F%2Fexample.com%2F" + strings.Repeat("%F0%9F%98%80", 2000)
		if a, err = secure.get(t.Context(), client, visitor4, long, nil); err != nil || a.Status != 200 {
			t.Errorf("%s: %d for a long query, %v", name, a.Status, err)
		}
		for _, size := range []int{5000, 60000, 3 << 20} {
			if a, err = secure.ask(t.Context(), client, visitor4, "my-ip", strings.Repeat("x", size), nil); err != nil {
				t.Fatal(err)
			}
			if a.Status != 413 || refusedByProxy(a) && size < 64<<10 {
				t.Errorf("%s: %d %.200s for a body of %d", name, a.Status, a.Body, size)
			}
		}
	}
}
