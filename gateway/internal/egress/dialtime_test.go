package egress_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/shared/netpolicy"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

// dialtimeCase is one case of testdata/dialtime.json: a name with its answers, one after the other, or a redirect.
type dialtimeCase struct {
	ID       string
	Name     string
	Answers  []dialtimeAnswer
	Location *string `json:"redirect_location"`
	Status   []int
	Expect   string
	Why      string
}

type dialtimeAnswer struct {
	A, AAAA []string
	CNAME   string
	DelayMs int `json:"delay_ms"`
}

func dialtimeCases(t testing.TB) []dialtimeCase {
	t.Helper()
	text, err := os.ReadFile("testdata/dialtime.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []dialtimeCase
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// What a name resolves to is judged by the connections that were made, not by what was said about them.
func TestDialtime(t *testing.T) {
	t.Parallel()
	names, redirects := 0, 0
	for _, test := range dialtimeCases(t) {
		if test.Location == nil {
			names++
			t.Run(test.ID, func(t *testing.T) {
				t.Parallel()
				test.runName(t)
			})
			continue
		}
		for _, status := range test.Status {
			redirects++
			t.Run(fmt.Sprintf("%s-%d", test.ID, status), func(t *testing.T) {
				t.Parallel()
				test.runRedirect(t, status)
			})
		}
	}
	if names < 30 || redirects < 100 {
		t.Errorf("only %d names and %d redirects: the file is not what it was", names, redirects)
	}
}

// script answers with one element of the case after the other for each type, TTL 0, so that nothing is kept. An alias
// is answered together with the elements after it, as a recursive resolver does.
func (d dialtimeCase) script() func(q *dns.Msg) *dns.Msg {
	var mu sync.Mutex
	queries := make(map[uint16]int)
	return func(q *dns.Msg) *dns.Msg {
		mu.Lock()
		turn := min(queries[q.Question[0].Qtype], len(d.Answers)-1)
		queries[q.Question[0].Qtype]++
		mu.Unlock()
		if d.Answers[turn].DelayMs > 0 {
			return nil // far longer than any dial waits
		}
		var lines []string
		owner := d.Name + "."
		if alias := d.Answers[0].CNAME; alias != "" {
			lines = append(lines, owner+" 0 IN CNAME "+alias)
			owner, turn = alias, len(d.Answers)-1
		}
		lists := map[uint16][]string{dns.TypeA: d.Answers[turn].A, dns.TypeAAAA: d.Answers[turn].AAAA}
		for _, a := range lists[q.Question[0].Qtype] {
			lines = append(lines, owner+" 0 IN "+dns.TypeToString[q.Question[0].Qtype]+" "+a)
		}
		return egresstest.Reply(q, dns.RcodeSuccess, lines...)
	}
}

func (d dialtimeCase) runName(t *testing.T) {
	n := egresstest.New(t)
	n.Handle(d.Name, d.script())
	n.Records("start.example.com. 300 IN A " + web4)
	n.Serve(web4+":80", http.RedirectHandler("http://"+d.Name+"/", http.StatusFound))
	c := n.Client(nil)

	_, err := c.Resolve(t.Context(), host(t, d.Name))
	if d.Expect == "timeout" {
		wantFault(t, err, fault.Timeout)
		return
	}
	// Again and again, by every way out: an address that is refused now must not be reached on the second try.
	for range 3 {
		_, _ = get(t, c, "http://"+d.Name+"/")
		_, _ = get(t, c, "https://"+d.Name+"/")
		follow(t, c, "http://start.example.com/", 3)
	}
	allowed := addrPorts(web4 + ":80")
	if banned, may := strings.CutPrefix(d.Expect, "never-dial:"); may {
		for _, to := range n.Dials() {
			if to.Addr() == netip.MustParseAddr(banned) {
				t.Errorf("dialled %v", to)
			}
		}
		allowed = append(allowed, addrPorts("8.8.8.8:80", "8.8.8.8:443", "[2606:4700:4700::1111]:80",
			"[2606:4700:4700::1111]:443")...)
	} else if d.Expect != "refuse-at-dial" && d.Expect != "resolve-error" {
		t.Fatalf("unknown expectation %q", d.Expect)
	}
	wantOnly(t, n, allowed)
	switch d.Expect {
	case "refuse-at-dial":
		wantFault(t, err, fault.Refused)
	case "resolve-error":
		wantFault(t, err, fault.Upstream)
	}
}

// wantOnly fails the test if anything but the allowed was dialled, or anything that is not public.
func wantOnly(t testing.TB, n *egresstest.Network, allowed []netip.AddrPort) {
	t.Helper()
	may := make(map[netip.AddrPort]bool)
	for _, to := range allowed {
		may[to] = true
	}
	for _, to := range n.Dials() {
		if !may[to] || !netpolicy.Judge(to.Addr()).Public {
			t.Errorf("dialled %v", to)
		}
	}
}

func (d dialtimeCase) runRedirect(t *testing.T, status int) {
	location, secure := *d.Location, false
	switch d.ID {
	case "d086":
		location, secure = "http://example.com/down", true
	case "d087":
		location = "../../x"
	}
	n := withSite(t)
	n.Records(
		"user.example.com. 300 IN A 127.0.0.1",
		"localhost. 300 IN A 127.0.0.1",
		"metadata.google.internal. 300 IN A 169.254.169.254",
	)
	first, requests := make(chan struct{}, 1), make(chan *http.Request, 10)
	first <- struct{}{}
	serve := func(c net.Conn) {
		r, err := http.ReadRequest(bufio.NewReader(c))
		if err != nil {
			return
		}
		select {
		case <-first:
			_, _ = fmt.Fprintf(c, "HTTP/1.1 %d Elsewhere\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", status, location)
		default:
			requests <- r
			_, _ = fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
		}
	}
	n.ServeConn(web4+":80", serve)
	n.ServeConn(web4+":22", serve)
	start := "http://example.com/a/b/c"
	config, trust := site(t)
	if secure {
		<-first // the server of port 443 redirects in its place
		start = "https://example.com/a/b/c"
		n.ServeTLS(web4+":443", config, http.RedirectHandler(location, status))
	}
	chain := follow(t, n.Client(nil, trust), start, 8)

	dials := map[string][]netip.AddrPort{
		"stop-before-connect":          addrPorts(web4 + ":80"),
		"policy: ports":                addrPorts(web4+":80", web4+":22"),
		"treated-as-final-or-relative": addrPorts(web4+":80", web4+":80"),
		"accept":                       addrPorts(web4+":80", web4+":80"),
	}[d.Expect]
	end := egress.EndFinal
	switch {
	case d.ID == "d078":
		dials, end = dials[:1], egress.EndMissingLocation
	case d.ID == "d082":
		// On the wire a line break ends the header: what is left is a redirect to "/", and the rest a header of its
		// own.
		dials = addrPorts(web4+":80", web4+":80")
		// One that came all the same would be left out, as browsers do, and make no header either.
		if next, err := parseURL(t, start).Resolve(location); err != nil || next.RequestURI() != "/X:%20y" {
			t.Errorf("a Location with a line break leads to %s, %v", next, err)
		}
		if r := <-requests; r.RequestURI != "/" || r.Header.Get("X") != "" {
			t.Errorf("requested %q with %v", r.RequestURI, r.Header)
		}
	case secure:
		dials = addrPorts(web4+":443", web4+":80")
	case d.Expect == "stop-before-connect":
		end = ""
	}
	if diff := cmp.Diff(dials, n.Dials(), equateAddrs); diff != "" {
		t.Error(diff)
	}
	if end != "" && chain.End != end || end == "" && chain.End == egress.EndFinal {
		t.Errorf("ended as %s: %v", chain.End, chain.Err)
	}
}

// A resolver inside a private network answers for private names, and what it answers need not look private.
func TestAliasToAPrivateNameWithAPublicAddress(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("cname2.probe-case.com. 300 IN CNAME metadata.google.internal.", "metadata.google.internal. 300 IN A "+web4)
	_, err := get(t, n.Client(nil), "http://cname2.probe-case.com/")
	wantFault(t, err, fault.Refused)
	wantOnly(t, n, nil)
}
