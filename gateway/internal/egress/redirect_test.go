package egress_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/target"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

func follow(t testing.TB, c *egress.Client, url string, limit int, change ...func(*egress.Request)) egress.Chain {
	t.Helper()
	r := egress.Request{URL: parseURL(t, url)}
	for _, f := range change {
		f(&r)
	}
	return c.Follow(t.Context(), r, limit)
}

func urls(chain egress.Chain) []string {
	var list []string
	for _, hop := range chain.Hops {
		list = append(list, hop.URL.String())
	}
	return list
}

// countdown redirects /n to /n-1 and answers at /0.
func countdown(status int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &n)
		if n == 0 {
			_, _ = w.Write([]byte("here"))
			return
		}
		w.Header().Set("Location", fmt.Sprintf("/%d", n-1))
		w.WriteHeader(status)
		_, _ = w.Write([]byte("elsewhere"))
	})
}

func TestFollow(t *testing.T) {
	t.Parallel()
	for _, status := range []int{301, 302, 303, 307, 308} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			n := withSite(t)
			n.Serve(web4+":80", countdown(status))
			c := n.Client(nil)
			chain := follow(t, c, "http://example.com/3", 3, maxBody(100))
			if chain.End != egress.EndFinal || chain.Err != nil || chain.Followed != 3 || len(chain.Hops) != 4 {
				t.Fatalf("%+v", chain)
			}
			want := []string{"http://example.com/3", "http://example.com/2", "http://example.com/1", "http://example.com/0"}
			if diff := cmp.Diff(want, urls(chain)); diff != "" {
				t.Error(diff)
			}
			first := egress.Hop{URL: chain.Hops[0].URL, Response: chain.Hops[0].Response}
			from := c.FollowFrom(t.Context(), egress.Request{URL: first.URL, MaxBody: 100}, first, 3)
			if diff := cmp.Diff(want, urls(from)); diff != "" || from.End != egress.EndFinal || from.Followed != 3 {
				t.Errorf("from the first hop: %s, %+v", diff, from)
			}
			if final := chain.Final(); final.Status != 200 || string(final.Body) != "here" {
				t.Errorf("%+v", final)
			}
			for _, hop := range chain.Hops[:3] {
				if hop.Response.Status != status || hop.Response.Body != nil {
					t.Errorf("%+v", hop.Response)
				}
			}
			chain = follow(t, c, "http://example.com/4", 3)
			if chain.End != egress.EndTooManyRedirects || chain.Followed != 3 || len(chain.Hops) != 4 {
				t.Errorf("one more: %+v", chain)
			}
			wantFault(t, chain.Err, fault.Upstream)
		})
	}
}

func TestChainsEnd(t *testing.T) {
	t.Parallel()
	site := http.NewServeMux()
	to := func(path string, status int, location string) {
		site.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Location"] = []string{location}
			w.WriteHeader(status)
		})
	}
	to("/relative", 302, "final#part")
	to("/query", 302, "?done")
	to("/final", 200, "http://example.com/not-followed")
	to("/300", 300, "/final")
	to("/304", 304, "/final")
	to("/loop", 302, "http://EXAMPLE.com:80/./loop#x")
	to("/ping", 302, "/pong")
	to("/pong", 302, "/ping")
	to("/blank", 302, "  ")
	to("/colon", 302, "http:foo")
	to("/port0", 302, "http://example.com:0/")
	to("/port70000", 302, "http://example.com:70000/")
	to("/ftp", 302, "ftp://example.com/")
	to("/javascript", 302, "javascript:alert(1)")
	to("/user", 302, "http://user@example.com/")
	to("/private", 302, "http://10.0.0.1/")
	to("/localhost", 302, "http://localhost/")
	to("/rebound", 302, "http://inside.example.com/")
	to("/nowhere", 302, "http://nowhere.example.com/")
	to("/closed", 302, "http://example.com:81/")
	to("/ssh", 302, "http://example.com:22/")
	site.HandleFunc("/none", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusFound) })

	n := withSite(t)
	n.Records("inside.example.com. 300 IN A 10.0.0.1")
	n.Serve(web4+":80", site)
	n.Serve(web4+":22", http.NotFoundHandler())
	c := n.Client(nil)
	for _, test := range []struct {
		path     string
		end      egress.ChainEnd
		followed int
		hops     int
		status   int // of the final answer, 0 for none
	}{
		{"/relative", egress.EndFinal, 1, 2, 200},
		{"/query", egress.EndLoop, 1, 2, 302},
		{"/final", egress.EndFinal, 0, 1, 200},
		{"/300", egress.EndFinal, 0, 1, 300},
		{"/304", egress.EndFinal, 0, 1, 304},
		{"/loop", egress.EndLoop, 0, 1, 302},
		{"/ping", egress.EndLoop, 1, 2, 302},
		{"/none", egress.EndMissingLocation, 0, 1, 302},
		{"/blank", egress.EndMissingLocation, 0, 1, 302},
		{"/colon", egress.EndInvalidLocation, 0, 1, 302},
		{"/port0", egress.EndInvalidLocation, 0, 1, 302},
		{"/port70000", egress.EndInvalidLocation, 0, 1, 302},
		{"/ftp", egress.EndUnsupportedScheme, 0, 1, 302},
		{"/javascript", egress.EndUnsupportedScheme, 0, 1, 302},
		{"/user", egress.EndBlocked, 0, 1, 302},
		{"/private", egress.EndBlocked, 0, 1, 302},
		{"/localhost", egress.EndBlocked, 0, 1, 302},
		{"/rebound", egress.EndBlocked, 1, 2, 0},
		{"/nowhere", egress.EndUnreachable, 1, 2, 0},
		{"/closed", egress.EndUnreachable, 1, 2, 0},
		{"/ssh", egress.EndFinal, 1, 2, 404},
	} {
		t.Run(test.path[1:], func(t *testing.T) {
			t.Parallel()
			chain := follow(t, c, "http://example.com"+test.path, 8)
			if chain.End != test.end || chain.Followed != test.followed || len(chain.Hops) != test.hops {
				t.Errorf("end %s, %d followed, %v", chain.End, chain.Followed, urls(chain))
			}
			if test.end != egress.EndFinal {
				wantFault(t, chain.Err, fault.Upstream)
			}
			status := 0
			if final := chain.Final(); final != nil {
				status = final.Status
			}
			if status != test.status {
				t.Errorf("final status %d, want %d", status, test.status)
			}
			for i, hop := range chain.Hops {
				if (hop.Response == nil) == (hop.Err == nil) {
					t.Errorf("hop %d: %+v", i, hop)
				}
			}
		})
	}
}

// Only the first URL can be the visitor's own mistake.
func TestErrorOfTheFirstHopKeepsItsKind(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("inside.example.com. 300 IN A 10.0.0.1")
	c := n.Client(nil)
	for url, want := range map[string]struct {
		kind fault.Kind
		end  egress.ChainEnd
	}{
		"http://inside.example.com/":  {fault.Refused, egress.EndBlocked},
		"http://nowhere.example.com/": {fault.NoAddress, egress.EndUnreachable},
		"http://93.184.216.34:81/":    {fault.Upstream, egress.EndUnreachable},
	} {
		chain := follow(t, c, url, 8)
		wantFault(t, chain.Err, want.kind)
		if chain.End != want.end || chain.Final() != nil || len(chain.Hops) != 1 {
			t.Errorf("%s: %+v", url, chain)
		}
	}
}

func TestChainEndsAtTheDeadline(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	n.Serve(web4+":80", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-r.Context().Done()
			return
		}
		http.Redirect(w, r, "/slow", http.StatusFound)
	}))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	chain := n.Client(nil).Follow(ctx, egress.Request{URL: parseURL(t, "http://example.com/")}, 8)
	if chain.End != egress.EndDeadline || len(chain.Hops) != 2 || chain.Hops[0].Response == nil {
		t.Errorf("%+v", chain)
	}
	wantFault(t, chain.Err, fault.Timeout)
}

// A page that sets a cookie and sends back to itself is common and no loop; one that never stops is.
func TestCookiesAndLoops(t *testing.T) {
	t.Parallel()
	site := http.NewServeMux()
	site.HandleFunc("/wall", func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie("seen"); err != nil {
			http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1"})
			http.Redirect(w, r, "/wall", http.StatusFound)
		}
	})
	site.HandleFunc("/detour", func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie("consent"); err != nil {
			http.Redirect(w, r, "/consent", http.StatusFound)
		}
	})
	site.HandleFunc("/consent", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "consent", Value: "1", Path: "/"})
		http.Redirect(w, r, "/detour", http.StatusFound)
	})
	site.HandleFunc("/forgetful", func(w http.ResponseWriter, r *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "n", Value: fmt.Sprint(time.Now().UnixNano())})
		http.Redirect(w, r, "/forgetful", http.StatusFound)
	})
	n := withSite(t)
	n.Serve(web4+":80", site)
	c := n.Client(nil)
	for path, want := range map[string]struct {
		end  egress.ChainEnd
		hops int
	}{
		"/wall":      {egress.EndFinal, 2},
		"/detour":    {egress.EndFinal, 3},
		"/forgetful": {egress.EndLoop, 2},
	} {
		if chain := follow(t, c, "http://example.com"+path, 8); chain.End != want.end || len(chain.Hops) != want.hops {
			t.Errorf("%s: %s after %v", path, chain.End, urls(chain))
		}
	}
}

func TestCookiesStayWhereTheyBelong(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("www.example.com. 300 IN A "+web4, "example.com. 300 IN A "+web4, "example.net. 300 IN A "+web4)
	var mu sync.Mutex
	sent := make(map[string]string)
	config, trust := site(t)
	plain := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		sent[r.Host+r.URL.Path] = r.Header.Get("Cookie")
		mu.Unlock()
		if referer := r.Header.Get("Referer"); referer != "" {
			t.Errorf("Referer %q", referer)
		}
		next := map[string]string{
			"www.example.com/": "http://www.example.com/path/x", "www.example.com/path/x": "http://example.com/",
			"example.com/": "http://example.net/", "example.net/": "http://www.example.com/end",
		}
		if r.URL.Path == "/" && r.Host == "www.example.com" {
			for _, cookie := range []string{
				"host=1", "domain=2; Domain=example.com", "path=3; Path=/path", "secure=4; Secure", "gone=5; Max-Age=0",
				"public=6; Domain=com", "foreign=7; Domain=example.net", "big=" + strings.Repeat("x", 4096),
			} {
				w.Header().Add("Set-Cookie", cookie)
			}
		}
		if to := next[r.Host+r.URL.Path]; to != "" {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		}
	})
	n.Serve(web4+":80", plain)
	n.ServeTLS(web4+":443", config, plain)
	c := n.Client(nil, trust)
	chain := follow(t, c, "http://www.example.com/", 8)
	if chain.End != egress.EndFinal {
		t.Fatalf("%s: %v", chain.End, chain.Err)
	}
	want := map[string]string{
		"www.example.com/": "", "www.example.com/path/x": "path=3; host=1; domain=2", "example.com/": "",
		"example.net/": "", "www.example.com/end": "host=1; domain=2",
	}
	mu.Lock()
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Error(diff)
	}
	mu.Unlock()
	if follow(t, c, "http://www.example.com/end", 8); sent["www.example.com/end"] != "" {
		t.Error("cookies outlive their chain")
	}
}

func TestIsRedirect(t *testing.T) {
	t.Parallel()
	for status := 100; status < 600; status++ {
		want := status == 301 || status == 302 || status == 303 || status == 307 || status == 308
		if egress.IsRedirect(status) != want {
			t.Errorf("%d: %v", status, !want)
		}
	}
}

func TestMethodAfterRedirects(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	methods := make(chan string, 2)
	n.Serve(web4+":80", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		methods <- r.Method
		if r.URL.Path == "/" {
			w.Header().Set("Location", "/end")
			w.WriteHeader(http.StatusSeeOther)
		}
	}))
	follow(t, n.Client(nil), "http://example.com/", 8, func(r *egress.Request) { r.Method = http.MethodHead })
	if first, second := <-methods, <-methods; first != http.MethodHead || second != http.MethodHead {
		t.Errorf("%s, then %s", first, second)
	}
}

// What this service lacks is no fault of the site's, however far the chain had come.
func TestOurOwnFaultStaysOursAfterARedirect(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	n.Serve(web4+":80", http.RedirectHandler("http://example.com:8080/", http.StatusFound))
	busy := fault.New(fault.Busy, "SHORTAGE_HERE", nil)
	c := n.Client(nil, egress.WithDialer(func(ctx context.Context, network string, to netip.AddrPort) (net.Conn, error) {
		if to.Port() == 8080 {
			return nil, busy
		}
		return n.Dial(ctx, network, to)
	}))
	chain := follow(t, c, "http://example.com/", 8)
	if wantFault(t, chain.Err, fault.Busy) != busy.Sentence() || chain.Followed != 1 {
		t.Errorf("%v after %d redirects", chain.Err, chain.Followed)
	}
}

// TestLocations: fields that are equal are one, and the least difference is a conflict, as in Chromium.
func TestLocations(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name    string
		fields  []string
		want    []string
		next    string
		problem target.LocationProblem
	}{
		{"none", nil, nil, "", target.LocationMissing},
		{"blank", []string{""}, []string{""}, "", target.LocationMissing},
		{"one", []string{"/a"}, []string{"/a"}, "http://example.com/a", 0},
		{"two that are equal", []string{"/a", "/a"}, []string{"/a"}, "http://example.com/a", 0},
		{"blanks around one", []string{"/a", " \t/a "}, []string{"/a"}, "http://example.com/a", 0},
		{"two that differ", []string{"/a", "/b"}, []string{"/a", "/b"}, "", target.LocationConflicting},
		{"the last differs", []string{"/a", "/a", "/b"}, []string{"/a", "/b"}, "", target.LocationConflicting},
		{"one is blank", []string{"/a", ""}, []string{"/a", ""}, "", target.LocationConflicting},
		{"two spellings of one URL", []string{"/a", "http://example.com/a"}, []string{"/a", "http://example.com/a"}, "",
			target.LocationConflicting},
		{"capitals", []string{"/a", "/A"}, []string{"/a", "/A"}, "", target.LocationConflicting},
		{"a comma is no second field", []string{"/a,/b"}, []string{"/a,/b"}, "http://example.com/a,/b", 0},
		{"one that is no URL", []string{"http:foo"}, []string{"http:foo"}, "", target.LocationInvalid},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			answer := &egress.Response{URL: parseURL(t, "http://example.com/"), Header: http.Header{"Location": r.fields}}
			if got := answer.Locations(); !slices.Equal(got, r.want) {
				t.Errorf("got %q", got)
			}
			next, err := answer.Destination()
			var location *target.LocationError
			if errors.As(err, &location) != (r.problem != 0) || location != nil && location.Problem != r.problem {
				t.Fatalf("got %v", err)
			}
			if err == nil && next.String() != r.next {
				t.Errorf("leads to %s", next)
			}
		})
	}
}

const otherWeb4 = "93.184.216.35"

// requests is what servers received, by host and in order.
type requests struct {
	mu   sync.Mutex
	urls []string
	sent []int // bytes of URL and cookies
}

func (q *requests) note(r *http.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	url := "http://" + r.Host + r.URL.RequestURI()
	q.urls = append(q.urls, r.Host)
	q.sent = append(q.sent, len(url)+len(r.Header.Get("Cookie")))
}

// urlOf is a URL of a host that has so many characters.
func urlOf(host string, length int) string {
	start := "http://" + host + "/?"
	return start + strings.Repeat("x", length-len(start))
}

// A URL of more than 4,096 characters goes to no host but the one that chose it.
func TestLongURLsOfChains(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		next string
		end  egress.ChainEnd
	}{
		"another host, 4,096":  {urlOf("other.net", 4096), egress.EndFinal},
		"another host, 4,097":  {urlOf("other.net", 4097), egress.EndBlocked},
		"its parent, 4,097":    {urlOf("example.com", 4097), egress.EndBlocked},
		"the same host, 4,097": {urlOf("www.example.com", 4097), egress.EndFinal},
		"the same host, 9,000": {urlOf("www.example.com", 9000), egress.EndFinal},
	} {
		n := egresstest.New(t)
		n.Records("www.example.com. 300 IN A "+web4, "example.com. 300 IN A "+web4, "other.net. 300 IN A "+otherWeb4)
		var got requests
		serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got.note(r)
			if r.URL.RawQuery == "" {
				http.Redirect(w, r, test.next, http.StatusFound)
			}
		})
		n.Serve(web4+":80", serve)
		n.Serve(otherWeb4+":80", serve)
		chain := follow(t, n.Client(nil), "http://www.example.com/", 8)
		if chain.End != test.end || test.end == egress.EndBlocked && (chain.Limited() == nil || len(got.urls) != 1) {
			t.Errorf("%s: %s, %v; requests %v", name, chain.End, chain.Err, got.urls)
		}
	}
}

// A name that leads to another server at its next lookup is another server: it gets neither a long URL nor many
// cookies.
func TestANameThatMoves(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		moves  bool
		length int // of the URL
		end    egress.ChainEnd
		most   int // bytes of URL and cookies in the second request
	}{
		"long URL, same server":       {false, 9000, egress.EndFinal, 9000 + 16<<10},
		"long URL, another server":    {true, 9000, egress.EndBlocked, 0},
		"many cookies, same server":   {false, 100, egress.EndFinal, 100 + 16<<10},
		"many cookies, other servers": {true, 100, egress.EndFinal, 100 + 4<<10},
	} {
		n := egresstest.New(t)
		var mu sync.Mutex
		moved := false
		n.Handle("moving.com", func(q *dns.Msg) *dns.Msg {
			mu.Lock()
			defer mu.Unlock()
			address := web4
			if moved {
				address = otherWeb4
			}
			return egresstest.Reply(q, dns.RcodeSuccess, "moving.com. 0 IN A "+address)
		})
		var got requests
		serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got.note(r)
			if r.URL.RawQuery != "" {
				return
			}
			mu.Lock()
			moved = test.moves
			mu.Unlock()
			for i := range 14 {
				w.Header().Add("Set-Cookie", fmt.Sprintf("c%d=%s", i, strings.Repeat("x", 1000)))
			}
			http.Redirect(w, r, urlOf("moving.com", test.length), http.StatusFound)
		})
		n.Serve(web4+":80", serve)
		n.Serve(otherWeb4+":80", serve)
		chain := follow(t, n.Client(nil), "http://moving.com/", 8)
		if chain.End != test.end {
			t.Errorf("%s: %s, %v", name, chain.End, chain.Err)
			continue
		}
		if test.end == egress.EndBlocked {
			if len(got.sent) != 1 {
				t.Errorf("%s: %d requests", name, len(got.sent))
			}
			continue
		}
		if got := got.sent[1]; got > test.most || got < test.most*3/4 {
			t.Errorf("%s: %d bytes of URL and cookies, and %d are the bound", name, got, test.most)
		}
	}
}

// All that a run sends is bounded: a chain that goes on with long URLs is blocked, and its maker is not called
// dead.
func TestARunSendsNoMoreThanItMay(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	var got requests
	n.Serve(web4+":80", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got.note(r)
		for i := range 15 {
			w.Header().Add("Set-Cookie", fmt.Sprintf("c%d=%s", i, strings.Repeat("x", 1000)))
		}
		http.Redirect(w, r, fmt.Sprintf("/%d?%s", len(got.urls), strings.Repeat("x", 16_000)), http.StatusFound)
	}))
	c := n.Client(nil)
	ctx := traffic.WithMeter(t.Context(), new(traffic.Totals))
	chain := c.Follow(ctx, egress.Request{URL: parseURL(t, "http://example.com/")}, 8)
	if chain.End != egress.EndBlocked || !fault.Is(chain.Limited(), fault.Limited) || len(chain.Hops) < 3 {
		t.Errorf("%d hops, %s, %v", len(chain.Hops), chain.End, chain.Err)
	}
	sum := 0
	for _, n := range got.sent {
		sum += n
	}
	if sum > traffic.MaxSent || sum < traffic.MaxSent/2 {
		t.Errorf("%d bytes of URLs and cookies", sum)
	}
	if _, err := c.Do(ctx, egress.Request{URL: parseURL(t, urlOf("example.com", 40_000))}); !fault.Is(err, fault.Limited) {
		t.Errorf("once more: %v", err)
	}
	first := egress.Request{URL: parseURL(t, "http://example.com/")}
	if chain := c.Follow(traffic.WithMeter(t.Context(), new(traffic.Totals)), first, 1); chain.
		End != egress.EndTooManyRedirects {
		t.Errorf("another run: %s, %v", chain.End, chain.Err)
	}
}

// Once a run has sent what it may it dials no host and sends nothing, but what is known already is still returned.
func TestNothingLeavesASpentRun(t *testing.T) {
	t.Parallel()
	n := withSite(t)
	n.Records("new.com. 300 IN A " + web4)
	n.Serve(web4+":80", http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	c := n.Client(nil)
	ctx := traffic.WithMeter(context.Background(), new(traffic.Totals))
	if _, err := c.Resolve(ctx, parseURL(t, "http://example.com/").Host()); err != nil {
		t.Fatal(err)
	}
	for traffic.Room(ctx, 0) == nil {
		traffic.Dialled(ctx)
	}
	dials := len(n.Dials())
	if _, err := c.Resolve(ctx, parseURL(t, "http://example.com/").Host()); err != nil {
		t.Errorf("what is known: %v", err)
	}
	if _, err := c.Resolve(ctx, parseURL(t, "http://new.com/").Host()); !fault.Is(err, fault.Limited) {
		t.Errorf("a lookup: %v", err)
	}
	if _, err := c.Dial(ctx, addrPorts(web4 + ":80")[0]); !fault.Is(err, fault.Limited) {
		t.Errorf("a dial: %v", err)
	}
	if _, err := c.Do(ctx, egress.Request{URL: parseURL(t, "http://example.com/")}); !fault.Is(err, fault.Limited) {
		t.Errorf("a round trip: %v", err)
	}
	if got := len(n.Dials()); got != dials {
		t.Errorf("%d dials more", got-dials)
	}
}
