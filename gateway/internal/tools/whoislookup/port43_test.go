package whoislookup

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tools/internal/registration"
	"diagnostics/gateway/internal/tools/internal/toolstest"
	"diagnostics/shared/progress"
)

// ianaServers are the answers of IANA's WHOIS server.
var ianaServers = map[string]string{
	"zz": "% This query returned 0 objects.\r\n", "uk": "domain: UK\r\nstatus: ACTIVE\r\n",
	"it": "domain: IT\r\nwhois: whois.registry-site.net\r\n",
	"de": "domain: DE\r\nwhois: whois.registry-site.net\r\n",
}

// registeredNames are those of the registry's.
var registeredNames = map[string]string{
	"xn--bcher-kva.it": "Domain:  bücher.it\nStatus:  ok\nSigned:  yes\nCreated: 2001-02-03 12:00:00\nExpire Date: 2030-02-03\n\n" +
		"Registrant\n  Organization: Jane Doe\n  Created: 1999-01-01 00:00:00\n\n" +
		"Registrar\n  Organization: A Registrar\n  Web: https://registry-site.net/\n\nNameservers\n  NS1.registry-site.net\n",
	"free.it":              "Domain: free.it\nStatus: AVAILABLE\n",
	"odd.it":               "Good morning.\n",
	"kept.it":              "% This is a reserved name and can not be registered\n",
	"kept2.it":             "% This name is reserved: jane@registry-site.net\n",
	"fast.it":              "Query too fast, slow down\n",
	"often.it":             "Too many requests. Please wait 40 seconds.\n",
	"-T dn,ace deutsch.de": "Domain: deutsch.de\nNserver: ns1.registry-site.net\nStatus: connect\n",
}

// serveLines answers each line from a table, and closes.
func serveLines(t *testing.T, l net.Listener, answers map[string]string) {
	t.Helper()
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			line, _ := bufio.NewReader(conn).ReadString('\n')
			_, _ = io.WriteString(conn, answers[strings.TrimSpace(line)])
			_ = conn.Close()
		}
	})
	t.Cleanup(func() { _ = l.Close(); running.Wait() })
}

const sourcesOfIT = `"sources":[{"name":"RDAP redirector","url":"https://redirector-site.net/rdap/domain/NAME","cached":false},
	{"name":"whois","server":"whois.registry-site.net","cached":CACHED}]`

func TestWhoisOverPort43(t *testing.T) {
	t.Parallel()
	tl := newRegistrations(t, nil, nil)
	for _, c := range []struct{ input, name, rest string }{
		{"www.bücher.it", "xn--bcher-kva.it", `"found":true,"domain":{"name":"xn--bcher-kva.it","unicodeName":"bücher.it","handle":null,"status":["ok"],
			"registrar":{"name":"A Registrar","ianaId":null,"url":"https://registry-site.net/","abuseEmail":null,"abusePhone":null},
			"events":{"registered":"2001-02-03T11:00:00Z","expires":"2030-02-03T00:00:00Z","updated":null,"transferred":null,"registrarExpires":null},
			"nameservers":["ns1.registry-site.net"],"dnssec":{"signed":true,"ds":[]},"contacts":[],"redactions":[]},"notices":[],"reason":null`},
		{"deutsch.de", "deutsch.de", `"found":true,"domain":{"name":"deutsch.de","unicodeName":"deutsch.de","handle":null,"status":["connect"],"registrar":null,
			"events":{"registered":null,"expires":null,"updated":null,"transferred":null,"registrarExpires":null},
			"nameservers":["ns1.registry-site.net"],"dnssec":{"signed":null,"ds":[]},"contacts":[],"redactions":[]},"notices":[],"reason":null`},
		{"free.it", "free.it", `"found":false,"domain":null,"reason":"notFound","notices":[{"title":"No such registration",
			"description":"The registry has no such registration. Reserved and blocked names look the same.","fromService":true}]`},
		{"kept.it", "kept.it", `"found":false,"domain":null,"reason":"reserved","notices":[{"title":"Answer of the WHOIS server",
			"description":"This is a reserved name and can not be registered"}]`},
		{"kept2.it", "kept2.it", `"found":false,"domain":null,"reason":"reserved","notices":[{"title":"Reserved",
			"description":"The registry has reserved this name.","fromService":true}]`},
		{"odd.it", "odd.it", `"found":false,"domain":null,"reason":"noRdapService","notices":[{"title":"Nothing found over WHOIS",
			"description":"The WHOIS server whois.registry-site.net answered in a format that this service does not read.","fromService":true}]`},
	} {
		got, err := run(t, tl, c.input)
		if err != nil {
			t.Errorf("%s: %v", c.input, err)
			continue
		}
		query, _ := got["query"].(string)
		filled := strings.NewReplacer("NAME", c.name, "CACHED", "false")
		wantFields(t, got, filled.Replace(
			`{"query":"`+query+`","queryType":"domain","registrableDomain":"`+c.name+`","network":null,`+c.rest+`,`+sourcesOfIT+`}`))
	}
	got, err := run(t, tl, "www.bücher.it")
	if err != nil || got["sources"].([]any)[1].(map[string]any)["cached"] != true {
		t.Errorf("again: %v, %v", got, err)
	}
	if got, err := run(t, tl, "often.it"); !fault.Is(err, fault.Busy) {
		t.Errorf("a pause: %v, %v", got, err)
	}
}

// A query of the registry's WHOIS server is a step of its own, unless it was kept.
func TestTheSourcesOverPort43(t *testing.T) {
	t.Parallel()
	tl := newRegistrations(t, nil, nil)
	for _, c := range []struct{ input, want string }{
		{"free.it", "RDAP redirector https://redirector-site.net/rdap/domain/free.it, whois whois.registry-site.net"},
		{"odd.it", "RDAP redirector https://redirector-site.net/rdap/domain/odd.it, whois whois.registry-site.net"},
		{"free.it", ""},
	} {
		feed := new(progress.Feed)
		if _, err := toolstest.Run(progress.With(t.Context(), feed), tl, tool.Input{Text: c.input}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(sourcesIn(t, feed), ", "); got != c.want {
			t.Errorf("%s: reported %q, want %q", c.input, got, c.want)
		}
	}
}

// sourcesIn are the names and places of the sources of a feed, in order.
func sourcesIn(t *testing.T, f *progress.Feed) (all []string) {
	t.Helper()
	for position := uint64(0); ; {
		step, next, ok, _ := f.Next(position)
		if !ok {
			return all
		}
		position = next
		var source registration.Source
		if text, isJSON := step.Value.(json.RawMessage); step.Kind == "source" && isJSON {
			if err := json.Unmarshal(text, &source); err != nil {
				t.Fatal(err)
			}
			all = append(all, source.Name+" "+source.URL+source.Server)
		}
	}
}

// TestARefusalOverPort43: a registry that refuses because of earlier queries is to be asked again later.
func TestARefusalOverPort43(t *testing.T) {
	t.Parallel()
	tl := newRegistrations(t, nil, nil)
	_, err := run(t, tl, "fast.it")
	if f, is := errors.AsType[*fault.Error](err); !is || f.Kind != fault.Busy || f.Rule != fault.RuleProviderWait ||
		f.RetryAfter <= 0 || f.RetryAfter > time.Minute {
		t.Errorf("%v", err)
	}
}
