//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/lab"
)

// The case files are the gateway's own; a clone has no other copy.
func readCases(t *testing.T, into any, path ...string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "..", "gateway", "internal"}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// sent is what left since the last reset; the packets of the conversation with gateway and worker are not in it.
func sent(t *testing.T) (int, []lab.Flow) {
	t.Helper()
	total, flows, err := internet.Sent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return total, flows
}

// settle waits until nothing has been sent for a while: what came before may still be closing its connections.
func settle(t *testing.T) {
	t.Helper()
	before, _ := sent(t)
	for range 50 {
		time.Sleep(150 * time.Millisecond) // longer than any way there and back
		now, _ := sent(t)
		if now == before {
			return
		}
		before = now
	}
	t.Fatal("the service's host does not stop sending")
}

func resetSent(t *testing.T) {
	t.Helper()
	if err := internet.ResetSent(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// sendsNothing holds that no packet leaves while something is done. What an earlier test left behind may still send, so
// it is done anew then: what it causes itself comes again, but for lookups, whose answers are kept.
func sendsNothing(t *testing.T, does func()) {
	t.Helper()
	for tries := 1; ; tries++ {
		settle(t)
		resetSent(t)
		does()
		settle(t)
		total, flows := sent(t)
		if total == 0 {
			return
		}
		asked := slices.ContainsFunc(flows, func(f lab.Flow) bool { return f.To == internet.Resolver() })
		if asked || tries == 3 {
			t.Errorf("%d packets left: %v", total, flows)
			return
		}
	}
}

// Every input that must be refused is refused as a real request, and not one packet leaves: no connection, no probe, no
// lookup.
func TestRefusedTargetsSendNothing(t *testing.T) {
	var cases []struct{ ID, Slug, Input, Expect, Why string }
	readCases(t, &cases, "tools", "testdata", "targets.json")
	var refused map[int]int
	var slugs map[string]int
	sendsNothing(t, func() {
		refused, slugs = map[int]int{}, map[string]int{}
		for _, c := range cases {
			if c.Expect != "reject" {
				continue
			}
			a := call(t, c.Slug, c.Input, nil)
			if a.Status != 400 && a.Status != 413 {
				t.Errorf("%s %s %.100q: status %d, want 400 (%s): %.200s", c.ID, c.Slug, c.Input, a.Status, c.Why, a.Body)
			}
			if a.Header.Get("X-RateLimit-Limit") != "" {
				t.Errorf("%s %s %.100q was charged to a rate limit", c.ID, c.Slug, c.Input)
			}
			refused[a.Status]++
			slugs[c.Slug]++
		}
	})
	if refused[400] < 700 {
		t.Errorf("only %d cases were refused", refused[400])
	}
	t.Logf("%d cases to %d tools were refused (%v by status)", refused[400]+refused[413], len(slugs), refused)
}

// dialCase is one entry of dialtime.json: a name with the answers that its resolver gives one after the other, or a
// redirect.
type dialCase struct {
	ID       string
	Answers  []map[string]any
	Redirect *string `json:"redirect_location"`
	Status   []int
	Expect   string
	Why      string
}

func (c dialCase) name() string { return c.ID + "." + lab.ProbeZone }

func dialCases(t *testing.T) []dialCase {
	t.Helper()
	var cases []dialCase
	readCases(t, &cases, "egress", "testdata", "dialtime.json")
	return cases
}

// steps makes a case's answers a script of the resolver, without caching. Where an alias comes first, the answers after
// it are its target's.
func (c dialCase) steps() (own, target []lab.Step, alias string) {
	for _, answer := range c.Answers {
		step := lab.Step{}
		if ms, ok := answer["delay_ms"].(float64); ok {
			step.Drop = ms > 10_000 // no test waits for an answer that comes later
		}
		for _, a := range addressesIn(answer) {
			qtype := "A"
			if strings.Contains(a, ":") {
				qtype = "AAAA"
			}
			step.Records = append(step.Records, fmt.Sprintf("@ 0 IN %s %s", qtype, a))
		}
		if alias != "" {
			target = append(target, step)
			continue
		}
		if to, ok := answer["CNAME"].(string); ok {
			alias = c.aliasTarget(to)
			step.Records = append(step.Records, "@ 0 IN CNAME "+alias)
		}
		own = append(own, step)
	}
	return own, target, alias
}

// aliasTarget gives each case a target of its own where the file has one name for all.
func (c dialCase) aliasTarget(name string) string {
	switch name {
	case "b." + lab.ProbeZone + ".":
		return "b-" + c.name() + "."
	case "loop." + lab.ProbeZone + ".":
		return c.name() + "."
	}
	return name
}

func addressesIn(answer map[string]any) (list []string) {
	for _, qtype := range []string{"A", "AAAA"} {
		values, _ := answer[qtype].([]any)
		for _, v := range values {
			list = append(list, fmt.Sprint(v))
		}
	}
	return list
}

// publicAnswers are the addresses of a case that may be dialled: those that its answers mix with others.
func (c dialCase) publicAnswers() map[netip.Addr]bool {
	public := map[netip.Addr]bool{}
	for _, both := range lab.PublicResolvers {
		public[both[0]], public[both[1]] = true, true
	}
	allowed := map[netip.Addr]bool{}
	for _, answer := range c.Answers {
		for _, text := range addressesIn(answer) {
			if a, err := netip.ParseAddr(text); err == nil && public[a] {
				allowed[a] = true
			}
		}
	}
	return allowed
}

// onlyTo holds what was sent to the resolver and the addresses that a case allows. The kernel sends the resolver an
// ICMP message for an answer to a lookup that was given up, since the run was refused.
func onlyTo(t *testing.T, allowed map[netip.Addr]bool) {
	t.Helper()
	_, flows := sent(t)
	for _, f := range flows {
		late := strings.HasSuffix(f.Protocol, "icmp")
		if f.To == internet.Resolver() && (f.Port == 53 || late) || allowed[f.To] {
			continue
		}
		t.Errorf("%v", f)
	}
}

// Names whose answers lead, at once or at the second look, to addresses that are not public: the name is looked up, and
// nothing is ever sent to where it leads.
func TestNamesThatLeadAstray(t *testing.T) {
	// The aliases of the file lead to names that a resolver inside a network answers for.
	internet.Script("metadata.google.internal", lab.Step{Records: []string{"@ 0 IN A 169.254.169.254"}})
	internet.Script("localhost", lab.Step{Records: []string{"@ 0 IN A 127.0.0.1", "@ 0 IN AAAA ::1"}})
	runs := 0
	settle(t)
	for _, c := range dialCases(t) {
		if c.Answers == nil {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			own, target, alias := c.steps()
			internet.Script(c.name(), own...)
			if target != nil {
				internet.Script(alias, target...)
			}
			slugs := map[string]string{"http-headers": "http://" + c.name() + "/"}
			if c.Expect != "timeout" {
				slugs = map[string]string{
					"redirect-checker": "http://" + c.name() + "/", "security-headers": "https://" + c.name() + "/", "robots-sitemap": "http://" + c.name() + "/",
					"http-headers": "http://" + c.name() + "/", "uptime": "https://" + c.name() + "/", "ssl-checker": c.name(),
					"port-checker": c.name() + ":80", "ping": c.name(), "traceroute": c.name(), "packet-loss": c.name(),
				}
			}
			resetSent(t)
			for slug, input := range slugs {
				a := call(t, slug, input, nil)
				runs++
				if a.Status == 500 {
					t.Errorf("%s: status 500", slug)
				}
				// A name without address is a 400 too: that would mean that the lab had not been queried.
				if c.Expect == "refuse-at-dial" && (a.Status != 400 || strings.Contains(a.Error, "no address")) {
					t.Errorf("%s: status %d, want 400 for where it leads (%s): %.300s", slug, a.Status, c.Why, a.Body)
				}
				if c.Expect == "timeout" && a.Status != 504 {
					t.Errorf("%s: status %d, want 504: %.300s", slug, a.Status, a.Body)
				}
				onlyTo(t, c.publicAnswers())
			}
			settle(t)
			onlyTo(t, c.publicAnswers())
		})
	}
	t.Logf("%d runs, and no packet to an address that is not public", runs)
}

// Redirects to where nothing may be sent: the first answer is fetched, and the chain ends there.
func TestRedirectsThatLeadAstray(t *testing.T) {
	host := internet.Site("redirects")
	allowed := map[netip.Addr]bool{host.V4: true, host.V6: true}
	runs := 0
	settle(t)
	for _, c := range dialCases(t) {
		if c.Redirect == nil {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			resetSent(t)
			for _, status := range c.Status {
				url := lab.RedirectTo(host.Host, *c.Redirect, status)
				if len(url) > 2048 {
					url = url[:2048]
				}
				a := call(t, "uptime", url, nil)
				runs++
				if a.Status != 200 {
					t.Fatalf("status %d: %.300s", a.Status, a.Body)
				}
				// A line break cannot be part of a Location: the server sends a space, and the rest is a path of its own.
				stops := c.Expect == "stop-before-connect" && !strings.ContainsAny(*c.Redirect, "\r\n")
				if verdict := a.at("verdict"); stops && verdict != "degraded" {
					t.Errorf("%d to %.60q: %v, want degraded: %.500s", status, *c.Redirect, verdict, a.Body)
				}
				runs += c.otherTools(t, url, stops)
				if strings.Contains(string(a.Body), "10.0.0.1") && !strings.Contains(*c.Redirect, "10.0.0.1") {
					t.Errorf("the answer names a private address: %.500s", a.Body)
				}
				onlyTo(t, allowed)
			}
			settle(t)
			onlyTo(t, allowed)
		})
	}
	t.Logf("%d redirects, and no packet to where they lead", runs)
}

// otherTools follows a case's redirect with the other tools that do, and gives the number of runs.
func (c dialCase) otherTools(t *testing.T, url string, stops bool) int {
	t.Helper()
	a := call(t, "redirect-checker", url, nil)
	if outcome := a.at("outcome"); a.Status != 200 || stops && !stopped[outcome] || outcome == "tooManyRedirects" {
		t.Errorf("redirect-checker to %.60q: status %d, outcome %v: %.500s", *c.Redirect, a.Status, outcome, a.Body)
	}
	if a := call(t, "security-headers", url, nil); stops && a.Status != 502 || a.Status == 500 {
		t.Errorf("security-headers to %.60q: status %d: %.500s", *c.Redirect, a.Status, a.Body)
	}
	return 2
}

// stopped are the ends of a chain that is stopped before a packet goes to where it leads.
var stopped = map[any]bool{"blocked": true, "invalidLocation": true, "unsupportedScheme": true, "unreachable": true}

// Files, sitemaps, policies, registries and registrars that lead inside: their own servers are queried, and nothing is
// sent to where they lead.
func TestProvidersThatLeadAstray(t *testing.T) {
	for _, c := range []struct {
		slug, input string
		status      int
		ask         []string // the sites that may be contacted
	}{
		{"robots-sitemap", "http://robots-astray.lab-site.com/", 200, []string{"robots-astray"}},
		{"robots-sitemap", "http://robots-hostile.lab-site.com/", 200, []string{"robots-hostile", "robots-broken"}},
		{"email-dns-health", "lab-stsprivate-mail.com", 200, nil},
		{"email-dns-health", "lab-mxprivate-mail.com", 200, nil},
		{"email-dns-health", "lab-stsredirect-mail.com", 200, []string{"mta-sts.lab-stsredirect-mail.com"}},
		{"whois-lookup", "inside-shop.com", 200, []string{"rdap-com"}},
		{"whois-lookup", "astray-shop.com", 200, []string{"rdap-com"}},
		{"whois-lookup", "astray.us", 502, []string{"rdap.org"}},
		{"whois-lookup", "astray.ca", 502, []string{"rdap.org"}},
	} {
		t.Run(c.slug+" "+c.input, func(t *testing.T) {
			settle(t)
			resetSent(t)
			if a := call(t, c.slug, c.input, nil); a.Status != c.status {
				t.Errorf("status %d, want %d: %.500s", a.Status, c.status, a.Body)
			}
			settle(t)
			allowed := map[netip.Addr]bool{}
			for _, label := range c.ask {
				allowed[internet.Site(label).V4], allowed[internet.Site(label).V6] = true, true
			}
			onlyTo(t, allowed)
		})
	}
}

// Every input whose format is good passes the judgement of its format, whatever comes of it: its names are none of the
// lab's, and its addresses lead nowhere in it.
func TestAcceptedFormats(t *testing.T) {
	t.Parallel()
	var cases []struct{ ID, Slug, Input, Expect, Why string }
	readCases(t, &cases, "tools", "testdata", "targets.json")
	for _, c := range cases {
		if c.Expect != "accept-format" {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			a := call(t, c.Slug, c.Input, nil)
			// For want of an address the run answers 400 too; that is not for the format.
			if a.Status == 500 || a.Status == 400 && !strings.Contains(a.Error, "does not exist") &&
				!strings.Contains(a.Error, "no address") {
				t.Errorf("%s %.100q: status %d (%s): %s", c.Slug, c.Input, a.Status, c.Why, a.Error)
			}
		})
	}
}

// The counter must see what it is to prove absent: the same requests to a public target do leave.
func TestTheCounterCounts(t *testing.T) {
	settle(t)
	resetSent(t)
	if a := call(t, "port-checker", internet.Site("v4only").V4.String()+":80", nil); a.Status != 200 {
		t.Fatalf("%s", a.Body)
	}
	total, flows := sent(t)
	if !slices.ContainsFunc(flows, func(f lab.Flow) bool {
		return f.To == internet.Site("v4only").V4 && f.Port == 80 && f.Protocol == "tcp"
	}) {
		t.Errorf("%d packets, %v", total, flows)
	}
}
