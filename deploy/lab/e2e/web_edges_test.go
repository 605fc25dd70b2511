//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/internal/browser"
)

const edges = "http://edges.lab-site.com"

// locations is the path of an answer with these Location fields.
func locations(status int, list ...string) string {
	return "/locations?" + url.Values{"location": list, "status": {fmt.Sprint(status)}}.Encode()
}

// TestConflictingLocations holds beside Chromium where a chain ends.
func TestConflictingLocations(t *testing.T) {
	t.Parallel()
	at, err := internet.Forward("127.0.0.1:0", internet.Site("edges").V4.String()+":80")
	if err != nil {
		t.Fatal(err)
	}
	tab := openTab(t, browser.Options{Origin: "http://" + at})
	const refusal = "net::ERR_RESPONSE_HEADERS_MULTIPLE_LOCATION"
	for path, outcome := range map[string]string{
		locations(302, "/a", "/b"):       "invalidLocation",
		locations(301, "/a", "/a", "/b"): "invalidLocation",
		locations(302, "/a", edges+"/a"): "invalidLocation",
		locations(302, "", "/a"):         "invalidLocation",
		locations(302, "/a", "/a"):       "final",
		locations(302, "/a"):             "final",
		locations(200, "/a", "/b"):       "final",
		locations(200, "/a"):             "final",
		"/":                              "final",
	} {
		refused := strings.Contains(tab.Refused(path), refusal)
		a := call(t, "redirect-checker", edges+path, nil)
		facts{"outcome": outcome, "hops.0.flags": func(v any) bool {
			return strings.Contains(fmt.Sprint(v), "conflictingLocation") == refused
		}}.hold(t, a)
		if outcome == "invalidLocation" && !refused {
			t.Errorf("%s: Chromium follows it", path)
		}
	}
	a := call(t, "redirect-checker", "https://edges.lab-site.com"+locations(302, "/a", "/b"), nil)
	facts{"outcome": "invalidLocation", "hops.0.otherLocations": []string{"/b"}}.hold(t, a)
	facts{"verdict": "degraded", "reason": contains("browsers stop there")}.hold(t,
		call(t, "uptime", edges+locations(302, "/a", "/b"), nil))
	facts{"redirectsTo": nil}.hold(t, call(t, "http-headers", edges+locations(302, "/a", "/b"), nil))
	if a := call(t, "security-headers", edges+locations(302, "/a", "/b"), nil); a.Status != 502 ||
		!strings.Contains(string(a.Body), "browsers stop there") {
		t.Errorf("security-headers: %d %s", a.Status, a.Body)
	}
}

// TestWhatComesBesideAnAnswer holds http-headers beside curl: interim answers, codings, alternatives.
func TestWhatComesBesideAnAnswer(t *testing.T) {
	t.Parallel()
	for _, site := range []string{edges, "https://edges.lab-site.com"} {
		shown := curl(t, "-D", "-", "-o", "/dev/null", "-H", "Accept-Encoding: gzip, deflate, br, zstd", site+"/hints")
		before, _, _ := strings.Cut(shown, "200")
		if !regexp.MustCompile(`(?i)HTTP/\S+ 103`).MatchString(before) || strings.Count(strings.ToLower(before), "link:") != 2 {
			t.Fatalf("curl shows no hints:\n%s", shown)
		}
		facts{"status": 200, "informational.0.status": 103, "informational.0.statusText": "Early Hints",
			"informational.0.headers.0.value": "</style.css>; rel=preload; as=style", "informational.0.headers.1.name": "link",
			"informational": length(1)}.hold(t, call(t, "http-headers", site+"/hints", nil))
		packed := curl(t, "-D", "-", "-o", "/dev/null", "-H", "Accept-Encoding: gzip, deflate, br, zstd", site+"/packed")
		if !strings.Contains(strings.ToLower(packed), "content-encoding: br") {
			t.Fatalf("curl shows no coding:\n%s", packed)
		}
		facts{"compression.coding": "br", "compression.varies": true, "informational": length(0),
			"headers": has("value", "gzip, deflate, br, zstd")}.hold(t, call(t, "http-headers", site+"/packed", nil))
		facts{"alternatives.0.protocol": "h3", "alternatives.0.port": 443, "alternatives.0.maxAgeSeconds": 86400,
			"alternatives.0.host": nil, "alternatives": length(2), "compression.coding": nil}.hold(t,
			call(t, "http-headers", site+"/offers", nil))
	}
}

// curl is what curl prints, from where the service is.
func curl(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "ip", append([]string{"netns", "exec", internet.Namespace(lab.ServiceHost), "curl",
		"-sS"}, args...)...)
	command.Env = append(os.Environ(), "CURL_CA_BUNDLE="+internet.RootsFile())
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("curl %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// TestChallenges: a bot challenge is named, and a plain refusal of the same vendor is not.
func TestChallenges(t *testing.T) {
	t.Parallel()
	for path, want := range map[string][2]string{
		"cloudflare/403": {"Cloudflare", "degraded"},
		"cloudflare/503": {"Cloudflare", "down"},
		"vercel/429":     {"Vercel", "degraded"},
		"aws/202":        {"AWS WAF", "degraded"},
		"akamai/428":     {"Akamai", "degraded"},
		"akamai/200":     {"", "up"},
		"none/403":       {"", "degraded"},
		"none/503":       {"", "down"},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			input := edges + "/challenge/" + path
			said := facts{"challenge": nil}
			if want[0] != "" {
				said = facts{"challenge.vendor": want[0]}
			}
			said.hold(t, call(t, "http-headers", input, nil))
			a := call(t, "uptime", input, nil)
			said.hold(t, a)
			facts{"verdict": want[1]}.hold(t, a)
			if strings.Contains(string(a.Body), "asks visitors to prove") != (want[0] != "") {
				t.Errorf("%s", a.Body)
			}
		})
	}
}

// TestSeveralAddresses: one dead address of three is told by uptime, and what port-checker leaves out by port-checker.
func TestSeveralAddresses(t *testing.T) {
	t.Parallel()
	dead, _ := lab.SilentEnd(22)
	a := call(t, "uptime", "http://onedead.lab-site.com/", nil)
	facts{"verdict": "degraded", "online": true, "status": 200, "families.ipv4.state": "up",
		"families.ipv4.addresses": length(3), "families.ipv6.addresses": length(0),
		"reason": "At " + dead.String() + ": onedead.lab-site.com did not accept a connection in time."}.hold(t, a)
	a = call(t, "port-checker", "crowd.lab-site.com:80", nil)
	facts{"state": "open", "untried": 2, "addresses": length(3)}.hold(t, a)
}

// TestPagesOfOddAnswers: what the pages say of all this, and how it looks.
func TestPagesOfOddAnswers(t *testing.T) {
	t.Parallel()
	dead, _ := lab.SilentEnd(22)
	for name, page := range map[string]struct {
		path string
		want []string
	}{
		"edges-conflict": {toolPath("redirect-checker", edges+locations(302, "https://www.lab-site.com/", "/b")), []string{
			"names conflicting destinations in one redirect", "Browsers stop there", "Another Location", "let only one redirect"}},
		"edges-hints": {toolPath("http-headers", "https://edges.lab-site.com/hints"), []string{
			"Before the answer: 103 Early Hints", "2 link headers", "not offered in this answer"}},
		"edges-offers": {toolPath("http-headers", "https://edges.lab-site.com/offers"), []string{
			"offered on port 443", "Browsers remember that for 1 day"}},
		"edges-challenge": {toolPath("http-headers", edges+"/challenge/cloudflare/403"), []string{
			"Cloudflare asks visitors to prove that they are human", "with a rule in Cloudflare"}},
		"edges-uptime-challenge": {toolPath("uptime", edges+"/challenge/cloudflare/503"), []string{
			"Cloudflare asks visitors to prove that they are human", "The site itself may be fine"}},
		"edges-one-dead": {toolPath("uptime", "http://onedead.lab-site.com/"), []string{
			"answers, but not at " + dead.String(), "remove its address from the DNS"}},
		"edges-untried": {toolPath("port-checker", "crowd.lab-site.com:80"), []string{
			"2 more addresses of crowd.lab-site.com were not tried"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tab := openTab(t, browser.Options{})
			tab.Open(page.path)
			untilAnswered(tab)
			holdText(t, tab, "main", page.want...)
			if broken := tab.Axe(); len(broken) > 0 {
				t.Errorf("axe: %q", broken)
			}
			tab.Screenshot(name)
		})
	}
}
