//go:build e2e

package e2e

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"diagnostics/lab"
	"diagnostics/lab/internal/browser"
)

// notRun marks a command that asks a server which the lab does not have, or that takes a minute.
const notRun = ""

// The same check in the visitor's terminal: what each page offers is run as it stands, in a shell inside the lab, and
// must come to the same facts.
func TestCommandsOfThePages(t *testing.T) {
	t.Parallel()
	pages := map[string][]string{
		toolPath("dns-lookup", "lab-dns.com"):                   {"11.80.0.1", "IN\tA\t11.80.0.1"},
		toolPath("dns-resolver-check", "agree.lab-resolve.com"): slices.Repeat([]string{"11.80.0.2"}, 5),
		toolPath("http-headers", "https://rich.lab-site.com/"):  {"permissions-policy: camera=()", "first byte 0."},
		toolPath("ssl-checker", "fast.lab-site.com"):            {"notAfter=", "is TLS_AES", "Verify return code: 0 (ok)"},
		toolPath("uptime", "https://fast.lab-site.com/"):        {"200 after 0.", "200 after 0."},
		toolPath("port-checker", "fast.lab-site.com:443"):       {"succeeded", "succeeded", "succeeded"},
		toolPath("my-ip", ""):                                   {notRun, notRun, notRun, "127.0.0.1/8"},
		toolPath("ip-geolocation", "11.80.0.5"):                 {notRun, notRun, notRun, "212002 | 11.80.0.0/24"},
		toolPath("asn-lookup", "11.80.0.1"):                     {"212002 | 11.80.0.0/24", "LAB-SITES-2", notRun},
		toolPath("whois-lookup", "example-shop.com"):            {notRun, notRun, notRun},
		toolPath("redirect-checker", "http://redirects.lab-site.com/chain/3"): {
			"location: /chain/0", "3 redirects to http://redirects.lab-site.com/chain/0, 200"},
		toolPath("robots-sitemap", "https://robots.lab-site.com/"): {"     5\tCrawl-delay: 2.5", "<urlset"},
		toolPath("email-dns-health", "lab-good-mail.com", "dkimSelector", "s1"): {
			"a.lab-good-mail.com.", "v=DKIM1", "mx1.lab-transit.net.", "version: STSv1"},
		toolPath("security-headers", "https://sec-good.lab-site.com/"): {"x-content-type-options: nosniff", "HTTP/1.1 200"},
		toolPath("traceroute", "clean.lab-transit.net"):                {" 11.90.0.1 ", " 11.90.0.1 "},
		toolPath("ping", "clean.lab-transit.net"): {"10 received, 0% packet loss",
			"clean.lab-transit.net"},
		toolPath("packet-loss", "clean.lab-transit.net"): {"50 received, 0% packet loss", notRun},
	}
	for path, want := range pages {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			tab := openTab(t, browser.Options{})
			tab.Open(path)
			tab.UntilWithin(answered, patience)
			commands := commandsOf(tab)
			if len(commands) != len(want) {
				t.Fatalf("%d commands, want %d: %q", len(commands), len(want), commands)
			}
			for i, command := range commands {
				if want[i] != notRun {
					holdCommand(t, command, want[i])
				}
			}
		})
	}
}

// commandsOf are the commands that a page shows, as a visitor would mark and copy them.
func commandsOf(tab *browser.Tab) []string {
	var commands []string
	tab.Run(`for (const fold of document.querySelectorAll("details:has(.commands)")) fold.open = true`)
	tab.Value(`[...document.querySelectorAll(".commands pre")].map((e) => e.innerText)`, &commands)
	return commands
}

func holdCommand(t *testing.T, command, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	roots := internet.RootsFile()
	// ip-netns(8) gives the shell the lab's resolvers too.
	shell := exec.CommandContext(ctx, "ip", "netns", "exec", internet.Namespace(lab.ServiceHost), "sh", "-c", command)
	shell.Env = append(os.Environ(), "CURL_CA_BUNDLE="+roots, "SSL_CERT_FILE="+roots)
	out, err := shell.CombinedOutput()
	if err != nil || !strings.Contains(strings.ToLower(string(out)), strings.ToLower(want)) {
		t.Errorf("%s: %v, without %q:\n%s", command, err, want, out)
	}
}
