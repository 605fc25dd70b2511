//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"diagnostics/lab"
)

// translated are prefixes of every length of RFC 6052, with an address of each that embeds 10.0.0.1. The last one is
// that of a DNS64 resolver.
var translated = []struct{ prefix, private string }{
	{"2a0e:1::/32", "2a0e:1:a00:1::"}, {"2a0e:2:100::/40", "2a0e:2:10a:0:1::"}, {"2a0e:3:1::/48", "2a0e:3:1:a00:0:100::"},
	{"2a0e:4:1:100::/56", "2a0e:4:1:10a:0:1::"}, {"2a0e:5:1:2::/64", "2a0e:5:1:2:a:0:100:0"},
	{"2a0e:1:2:64::/96", "2a0e:1:2:64::a00:1"},
}

// reportedTranslations are addresses that the network's NAT64 translates to private ones. They are refused before a
// packet leaves, whether the prefix is set or found.
func reportedTranslations(t *testing.T) []reportedInput {
	if err := internet.Publish("ipv4only.arpa. 300 IN A 192.0.0.170", "ipv4only.arpa. 300 IN A 192.0.0.171"); err != nil {
		t.Fatal(err)
	}
	prefixes := "NAT64_PREFIXES="
	for _, p := range translated {
		prefixes += p.prefix + ","
	}
	prefixes = strings.Trim(prefixes, ",")
	set := startWith(t, "gateway-nat64", prefixes)
	found := startWith(t, "gateway-dns64", "DNS_RESOLVERS="+startUnbound(t, "unbound-dns64", 98,
		" module-config: \"dns64 iterator\"\n dns64-prefix: "+translated[len(translated)-1].prefix+"\n"))
	resetSent(t)
	for _, p := range translated {
		holdRefused(t, "T1 NAT64_PREFIXES, "+p.prefix, set, p.private)
	}
	for _, private := range []string{"2a0e:1:2:64::a00:1", "2a0e:1:2:64::7f00:1", "2a0e:1:2:64::a9fe:a9fe"} {
		holdRefused(t, "T1 auto, "+private, found, private)
	}
	holdWorkerRefuses(t, prefixes)
	holdFollowed(t, found)
	const public = "2a0e:1:2:64::b50:1" // 11.80.0.1
	a := post(t, found, "port-checker", map[string]any{"input": "[" + public + "]:80"}, nil)
	_, flows := sent(t)
	left := map[string]int{}
	for _, flow := range flows {
		if strings.HasPrefix(flow.To.String(), "2a0e:") {
			left[flow.To.String()] += flow.Packets
		}
	}
	answers(t, "T1 all of these, and [2a0e:1:2:64::b50:1]:80", fmt.Sprintf("%d; packets left: %v", a.Status, left))
	if a.Status != http.StatusOK || left[public] == 0 || len(left) != 1 {
		t.Errorf("%s: status %d, packets to %v: %s", public, a.Status, left, a.Error)
	}
	return nil
}

// holdRefused wants every tool to refuse an address, typed and by a name that leads to it.
func holdRefused(t *testing.T, id string, to *lab.Server, address string) {
	t.Helper()
	name := "translated." + reportedZone
	internet.Script(name, lab.Step{Records: []string{"@ 0 IN AAAA " + address}})
	statuses := map[int]int{}
	for _, host := range []string{address, name} {
		authority := host
		if a, err := netip.ParseAddr(host); err == nil {
			authority = "[" + a.String() + "]"
		}
		url := "http://" + authority + "/"
		for slug, input := range map[string]string{"http-headers": url, "uptime": url, "redirect-checker": url,
			"robots-sitemap": url, "security-headers": url, "port-checker": authority + ":22", "ssl-checker": authority + ":443",
			"traceroute": host, "ping": host, "packet-loss": host} {
			a := post(t, to, slug, map[string]any{"input": input}, nil)
			statuses[a.Status]++
			if a.Status != http.StatusBadRequest {
				t.Errorf("%s %s: status %d: %.500s", slug, input, a.Status, a.Body)
			}
		}
	}
	redirect := lab.RedirectTo("redirects."+lab.SiteZone, "http://"+name+"/", 302)
	a := post(t, to, "redirect-checker", map[string]any{"input": redirect}, nil)
	answers(t, id, fmt.Sprintf("typed and by name in ten tools: %v; a redirect: %v", statuses, a.at("outcome")))
	facts{"outcome": "blocked"}.hold(t, a)
}

// holdFollowed wants the addresses of a sitemap and of an MTA-STS policy to be refused too.
func holdFollowed(t *testing.T, to *lab.Server) {
	t.Helper()
	const name, domain = "translated." + reportedZone, "post." + reportedZone
	s := play(t, "names-a-sitemap", answerWith(map[string]string{"/robots.txt": page(fine, "Content-Type: text/plain\r\n",
		"Sitemap: http://"+name+"/sitemap.xml\n")}), "80")
	address := lab.Step{Records: []string{"@ 0 IN AAAA " + translated[len(translated)-1].private}}
	internet.Script(name, address)
	internet.Script(domain, lab.Step{Records: []string{"@ 300 IN MX 10 " + name + "."}})
	internet.Script("_mta-sts."+domain, lab.Step{Records: []string{`@ 300 IN TXT "v=STSv1; id=1"`}})
	internet.Script("mta-sts."+domain, address)
	for _, r := range []reportedInput{
		{id: "T1 a sitemap", slug: "robots-sitemap", input: "http://" + s.host + "/", to: to, facts: facts{
			"sitemaps.0.status": "unreachable", "sitemaps.0.httpStatus": nil}},
		{id: "T1 mail hosts", slug: "email-dns-health", input: domain, to: to, facts: facts{
			"checks.mtaSts.issues": has("code", "MTASTS_POLICY_UNREACHABLE")}},
	} {
		r.hold(t)
	}
}

// holdWorkerRefuses wants the worker to refuse the addresses by its own setting, and by that of a job.
func holdWorkerRefuses(t *testing.T, setting string) {
	t.Helper()
	own, err := service.StartExtraWorker(t.Context(), "worker-nat64", setting)
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{"Authorization": {"Bearer " + service.Token()}, "Content-Type": {"application/json"}}
	for _, p := range translated {
		by := fetch(t, own, http.MethodPost, "/api/ping", fmt.Appendf(nil, `{"target":%q}`, p.private), header)
		job := fmt.Appendf(nil, `{"target":%q,"nat64":[%q]}`, p.private, p.prefix)
		byJob := fetch(t, service.Worker, http.MethodPost, "/api/ping", job, header)
		answers(t, "T1 worker, "+p.private, fmt.Sprintf("by its setting %d, by the job's %d", by.Status, byJob.Status))
		if by.Status != http.StatusBadRequest || byJob.Status != http.StatusBadRequest {
			t.Errorf("the worker, %s: %s, %s", p.private, by.Body, byJob.Body)
		}
	}
}
