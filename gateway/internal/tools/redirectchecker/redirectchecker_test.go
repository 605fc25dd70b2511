package redirectchecker

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/budget/memory"
	"diagnostics/gateway/internal/egress/budget/traffic"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/fault"
	"diagnostics/gateway/internal/text/bound"
	"diagnostics/gateway/internal/tools/internal/toolstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func mustRun(t *testing.T, n *egresstest.Network, url string, opts ...egress.Option) Result {
	t.Helper()
	return toolstest.MustRun[Result](t, New(n.Client(nil, opts...)), toolstest.URLInput(url))
}

// locations answers each path with a status and a Location.
type locations map[string]struct {
	status   int
	location string
}

func (l locations) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if step, ok := l[r.URL.RequestURI()]; ok {
		w.Header()["Location"] = []string{step.location}
		w.WriteHeader(step.status)
	}
}

// chainOf writes a chain's hops on a line each: status, URL, flags.
func chainOf(r Result) []string {
	var out []string
	for i, h := range r.Hops {
		if h.Index != i {
			out = append(out, fmt.Sprintf("index %d", h.Index))
		}
		out = append(out, strings.TrimSpace(fmt.Sprintf("%d %s %s", toolstest.Number(h.Status), h.URL,
			strings.Join(h.Flags, " "))))
	}
	return out
}

// TestRedirectOutcomes makes each ending once at least, and every one keeps the hops before it.
func TestRedirectOutcomes(t *testing.T) {
	t.Parallel()
	site := locations{
		"/":           {301, "/end"},
		"/protocol":   {302, "//www.example.com/end"},
		"/other":      {303, "http://other.example.net:8080/end"},
		"/ping":       {302, "/pong"},
		"/pong":       {302, "http://EXAMPLE.com:80/./ping#x"},
		"/none":       {302, ""},
		"/blank":      {302, " \t"},
		"/percent":    {302, "/100%-off"},
		"/backslash":  {302, `/\www.example.com/end`},
		"/slashes":    {302, "http:///www.example.com/end#x"},
		"/tab":        {302, "/e\tnd"},
		"/inside":     {302, `http:\\10.0.0.1\x`},
		"/decoded":    {302, "http://%77ww.example.com/"},
		"/port":       {302, "http://example.com:0/"},
		"/app":        {302, "intent:#Intent;package=x;end"},
		"/user":       {302, "http://joe:secret@example.com/end"},
		"/private":    {302, "http://10.0.0.1/x"},
		"/relprivate": {302, "//localhost/x"},
		"/rebound":    {302, "http://inside.example.com/x"},
		"/nowhere":    {302, "http://nowhere.example.com/"},
		"/closed":     {302, "http://example.com:81/"},
		"/300":        {300, "/end"},
		"/1":          {302, "/2"}, "/2": {302, "/3"}, "/3": {302, "/4"}, "/4": {302, "/5"}, "/5": {302, "/6"}, "/6": {302, "/7"},
		"/7": {302, "/8"}, "/8": {302, "/9"}, "/9": {302, "/end"},
	}
	n := toolstest.WebNetwork(t)
	n.Records("www.example.com. 300 IN A "+toolstest.WebV4, "other.example.net. 300 IN A 93.184.216.35",
		"inside.example.com. 300 IN A 10.0.0.1")
	n.Serve(toolstest.WebV4Port80, site)
	n.Serve("93.184.216.35:8080", site)
	n.Fail(toolstest.WebV4+":81", syscall.ECONNREFUSED)
	var eight []string
	for i := range 8 {
		eight = append(eight, fmt.Sprintf("302 http://example.com/%d temporary relativeLocation", i+2))
	}
	for _, test := range []struct {
		path    string
		outcome string
		count   int
		chain   []string // after the first hop
		first   string   // flags of the first hop
		says    string   // part of the summary
	}{
		{"/end", "final", 0, nil, "", "No redirect was followed. example.com answers 200 OK."},
		{"/", "final", 1, []string{"200 http://example.com/end"}, "permanent relativeLocation", "One redirect was followed."},
		{"/protocol", "final", 1, []string{"200 http://www.example.com/end"}, "temporary crossHost wwwChange relativeLocation", "www.example.com answers"},
		{"/other", "final", 1, []string{"200 http://other.example.net:8080/end"}, "temporary crossHost", ""},
		{"/2", "final", 8, append(slices.Clone(eight[1:]), "200 http://example.com/end"), "temporary relativeLocation", "8 redirects were followed."},
		{"/1", "tooManyRedirects", 8, eight, "temporary relativeLocation", "at most 8 are followed"},
		{"/ping", "loop", 1, []string{"302 http://example.com/pong temporary"}, "temporary relativeLocation", "a loop"},
		{"/none", "missingLocation", 0, nil, "temporary", "without a destination"},
		{"/blank", "missingLocation", 0, nil, "temporary", "it is blank"},
		{"/percent", "final", 1, []string{"200 http://example.com/100%25-off"}, "temporary relativeLocation repairedLocation", ""},
		{"/backslash", "final", 1, []string{"200 http://www.example.com/end"}, "temporary crossHost wwwChange relativeLocation repairedLocation", ""},
		{"/slashes", "final", 1, []string{"200 http://www.example.com/end#x"}, "temporary crossHost wwwChange repairedLocation", ""},
		{"/tab", "final", 1, []string{"200 http://example.com/end"}, "temporary relativeLocation repairedLocation", ""},
		{"/inside", "blocked", 0, []string{"-1 http://10.0.0.1/x"}, "temporary crossHost repairedLocation", "Browsers follow it"},
		{"/decoded", "invalidLocation", 0, nil, "temporary", "Browsers follow it"},
		{"/port", "invalidLocation", 0, nil, "temporary", "not a valid URL"},
		{"/app", "unsupportedScheme", 0, nil, "temporary", "a URL of the scheme intent"},
		{"/user", "blocked", 0, []string{"-1 http://example.com/end"}, "temporary userinfo", "a user name in it"},
		{"/private", "blocked", 0, []string{"-1 http://10.0.0.1/x"}, "temporary crossHost", "not a public address"},
		{"/relprivate", "blocked", 0, []string{"-1 http://localhost/x"}, "temporary crossHost relativeLocation", "not a public address"},
		{"/rebound", "blocked", 0, []string{"-1 http://inside.example.com/x"}, "temporary crossHost", "not a public address"},
		{"/nowhere", "unreachable", 1, []string{"-1 http://nowhere.example.com/"}, "temporary crossHost", "nowhere.example.com"},
		{"/closed", "unreachable", 1, []string{"-1 http://example.com:81/"}, "temporary", "refused the connection"},
		{"/300", "final", 0, nil, "", "300 Multiple Choices"},
	} {
		t.Run(strings.Trim(test.path, "/"), func(t *testing.T) {
			t.Parallel()
			got := mustRun(t, n, "http://example.com"+test.path)
			if string(got.Outcome) != test.outcome || got.RedirectCount != test.count ||
				got.URL != "http://example.com"+test.path {
				t.Errorf("%s, %d followed: %s", got.Outcome, got.RedirectCount, got.Summary)
			}
			if diff := cmp.Diff(test.chain, chainOf(got)[1:], cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("hops: -want +got\n%s", diff)
			}
			if flags := strings.Join(got.Hops[0].Flags, " "); flags != test.first {
				t.Errorf("the first hop's flags are %s, want %s", flags, test.first)
			}
			if !strings.Contains(got.Summary, test.says) || strings.Contains(got.Summary, "10.0.0.1") {
				t.Errorf("summary: %s", got.Summary)
			}
			last := got.Hops[len(got.Hops)-1]
			if test.outcome == "final" {
				if toolstest.Text(got.FinalURL) != last.URL || toolstest.Number(got.FinalStatus) != toolstest.Number(last.Status) {
					t.Errorf("final %s, %d", toolstest.Text(got.FinalURL), toolstest.Number(got.FinalStatus))
				}
			} else if got.FinalURL != nil || got.FinalStatus != nil {
				t.Errorf("final %s, %d", toolstest.Text(got.FinalURL), toolstest.Number(got.FinalStatus))
			}
			for i, h := range got.Hops {
				if redirects := h.Status != nil && egress.IsRedirect(*h.Status); redirects != (h.Location != nil) {
					t.Errorf("hop %d: status %d, location %s", i, toolstest.Number(h.Status), toolstest.Text(h.Location))
				}
				if h.StatusText == "" || h.Flags == nil || (h.Status == nil) != (h.Address == nil) {
					t.Errorf("hop %d: %+v", i, h)
				}
			}
		})
	}
	t.Cleanup(func() { toolstest.WantDials(t, n, toolstest.WebV4+":80", "93.184.216.35:8080", toolstest.WebV4+":81") })
}

// TestRedirectToPrivate: nothing leaves, whichever way the address is found not to be public.
func TestRedirectToPrivate(t *testing.T) {
	t.Parallel()
	for _, to := range []string{"http://169.254.169.254/latest/meta-data/", "http://inside.example.com/", "http://[::1]/",
		"//127.0.0.1:80/"} {
		n := toolstest.WebNetwork(t)
		n.Records("inside.example.com. 300 IN A 10.0.0.1", "inside.example.com. 300 IN A "+toolstest.WebV4)
		n.Serve(toolstest.WebV4Port80, toolstest.RedirectHandler(to))
		got := mustRun(t, n, "http://example.com/")
		if got.Outcome != egress.EndBlocked || len(got.Hops) != 2 ||
			!strings.Contains(got.Hops[1].StatusText, "Not a public address") {
			t.Errorf("%s: %+v", to, got)
		}
		if dials := n.Dials(); len(dials) != 1 {
			t.Errorf("%s: dials %v", to, dials)
		}
	}
}

// TestRedirectToUserName: that a URL has a user name in it says nothing about its host's address.
func TestRedirectToUserName(t *testing.T) {
	t.Parallel()
	for to, says := range map[string]string{
		"http://joe:secret@example.com/end": rows.Sentence(hopWithUserName, nil), "http://joe@10.0.0.1/": rows.Sentence(hopWithUserName, nil),
		"http://10.0.0.1/@": rows.Sentence(hopNotPublic, nil),
	} {
		n := toolstest.WebNetwork(t)
		n.Serve(toolstest.WebV4Port80, toolstest.RedirectHandler(to))
		got := mustRun(t, n, "http://example.com/")
		if got.Outcome != egress.EndBlocked || len(got.Hops) != 2 || got.Hops[1].StatusText != says {
			t.Errorf("%s: %+v", to, got)
		}
	}
}

// TestRedirectFirstTarget: only the first URL can be the visitor's own mistake.
func TestRedirectFirstTarget(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	n.Records("inside.example.com. 300 IN A 10.0.0.1", "six.example.com. 300 IN AAAA "+toolstest.WebV6)
	run := func(url string, opts ...egress.Option) error {
		_, err := toolstest.Run(t.Context(), New(n.Client(nil, opts...)), toolstest.URLInput(url))
		return err
	}
	for url, kind := range map[string]fault.Kind{
		"http://10.0.0.1/": fault.Refused, "http://inside.example.com/": fault.Refused, "http://nowhere.example.com/": fault.NoAddress,
		"ftp://example.com/": fault.Invalid,
	} {
		if err := run(url); !fault.Is(err, kind) {
			t.Errorf("%s: %v", url, err)
		}
	}
	if err := run("http://six.example.com/", egress.WithFamilies(egress.Families{V4: true})); !fault.Is(err,
		fault.Upstream) || !strings.Contains(err.Error(), "IPv6") {
		t.Errorf("a family that is missing: %v", err)
	}
	toolstest.WantDials(t, n)
	n.Fail(toolstest.WebV4+":8080", toolstest.OurFault)
	if err := run("http://example.com:8080/"); !errors.Is(err, toolstest.OurFault) {
		t.Errorf("a fault of ours: %v", err)
	}
	got := mustRun(t, n, "http://example.com/#x")
	if got.Outcome != egress.EndUnreachable || got.RedirectCount != 0 || len(got.Hops) != 1 ||
		got.Hops[0].Status != nil || got.Hops[0].StatusText != "example.com refused the connection." {
		t.Errorf("%+v", got)
	}
}

// TestRedirectFragments: RFC 9110 section 10.2.2.
func TestRedirectFragments(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	n.Serve(toolstest.WebV4Port80, locations{"/keep": {302, "/end"}, "/set": {302, "/keep#part two"},
		"/drop": {302, "/keep#"}, "/again": {302, "/set#first"}})
	for url, want := range map[string]string{
		"/end#typed":   "http://example.com/end",
		"/keep":        "http://example.com/end",
		"/keep#typed":  "http://example.com/end#typed",
		"/set#typed":   "http://example.com/end#part%20two",
		"/again":       "http://example.com/end#part%20two",
		"/drop#typed":  "http://example.com/end",
		"/keep#a%20b<": "http://example.com/end#a%20b%3C",
	} {
		got := mustRun(t, n, "http://example.com"+url)
		if toolstest.Text(got.FinalURL) != want || strings.Contains(got.URL, "#") || strings.Contains(got.Hops[0].URL, "#") {
			t.Errorf("%s: %s, from %s", url, toolstest.Text(got.FinalURL), got.URL)
		}
	}
}

func TestRedirectBetweenSchemes(t *testing.T) {
	t.Parallel()
	n, ca := toolstest.WebNetwork(t), toolstest.NewAuthority(t)
	n.Records("bad.example.com. 300 IN A 93.184.216.35")
	n.Serve(toolstest.WebV4Port80, toolstest.RedirectHandler("https://example.com/"))
	n.ServeTLS(toolstest.WebV4+":443", ca.Issue("example.com", time.Now().Add(time.Hour)),
		toolstest.RedirectHandler("https://bad.example.com/"))
	n.ServeTLS("93.184.216.35:443", ca.SelfSign("bad.example.com"), toolstest.RedirectHandler("http://bad.example.com/"))
	n.Serve("93.184.216.35:80", toolstest.StatusHandler(404))
	got := mustRun(t, n, "http://example.com/", ca.Option())
	want := []string{"302 http://example.com/ temporary httpToHttps", "302 https://example.com/ temporary crossHost",
		"302 https://bad.example.com/ temporary httpsToHttp certificateInvalid", "404 http://bad.example.com/"}
	if diff := cmp.Diff(want, chainOf(got)); diff != "" || got.Outcome != egress.EndFinal {
		t.Errorf("-want +got\n%s", diff)
	}
	for i, h := range got.Hops {
		if (h.Timings.TLSMs != nil) != strings.HasPrefix(h.URL, "https") || h.Timings.TotalMs != h.ResponseTimeMs ||
			h.ResponseTimeMs <= 0 {
			t.Errorf("hop %d: %+v", i, h.Timings)
		}
	}
	if got.TotalMs <= 0 || toolstest.Text(got.Hops[0].Address) != toolstest.WebV4 ||
		toolstest.Text(got.Hops[0].Location) != "https://example.com/" {
		t.Errorf("%+v", got)
	}
}

// TestRedirectDeadline: the end of the run's time keeps what was seen; a visitor who is gone needs nothing.
func TestRedirectDeadline(t *testing.T) {
	t.Parallel()
	waiting := make(chan struct{}, 3)
	n := toolstest.WebNetwork(t)
	n.Serve(toolstest.WebV4Port80, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			waiting <- struct{}{}
			<-r.Context().Done()
			return
		}
		http.Redirect(w, r, "/slow", http.StatusFound)
	}))
	tl := New(n.Client(nil))
	for path, hops := range map[string]int{"/": 2, "/slow": 1} {
		got, err := toolstest.Run(toolstest.ExpireAfter(t, waiting), tl, toolstest.URLInput("http://example.com"+path))
		if err != nil {
			t.Fatal(err)
		}
		r := got.(Result)
		if r.Outcome != egress.EndDeadline || len(r.Hops) != hops ||
			!strings.Contains(r.Summary, "this check ran out of time") {
			t.Errorf("%s: %+v", path, r)
		}
	}
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-waiting
		leave()
	}()
	if _, err := toolstest.Run(ctx, tl, toolstest.URLInput("http://example.com/slow")); !errors.Is(err, context.Canceled) {
		t.Errorf("a visitor who left: %v", err)
	}
}

func TestClientRedirects(t *testing.T) {
	t.Parallel()
	page := func(head string) string { return "<!doctype html><html><head>" + head + "</head></html>" }
	for name, test := range map[string]struct {
		kind, refresh, body string
		want                string
	}{
		"none":              {"text/html", "", page(""), ""},
		"meta":              {"text/html; charset=utf-8", "", page(`<META HTTP-EQUIV="Refresh" CONTENT="0; URL='/next?a=1&amp;b=2'">`), "metaRefresh http://example.com/next?a=1&b=2 0"},
		"meta, XHTML":       {"application/xhtml+xml", "", page(`<meta http-equiv="refresh" content="5;url=https://example.net/" />`), "metaRefresh https://example.net/ 5"},
		"meta with a base":  {"text/html", "", page(`<base href="//example.net/dir/"><base href="http://x/"><meta http-equiv=refresh content=1,next>`), "metaRefresh http://example.net/dir/next 1"},
		"base that is none": {"text/html", "", page(`<base href="javascript:x"><meta http-equiv=refresh content="1;next">`), "metaRefresh http://example.com/next 1"},
		"header":            {"text/html", "3;url=/h", page(`<meta http-equiv=refresh content="0;url=/m">`), "refreshHeader http://example.com/h 3"},
		"header, no HTML":   {"text/plain", "0;url=//example.net", "x", "refreshHeader http://example.net 0"},
		"header, private":   {"text/plain", "0;url=http://10.0.0.1/", "", "refreshHeader http://10.0.0.1/ 0"},
		"reloads":           {"text/html", "30", page(`<meta http-equiv=refresh content="5"><meta http-equiv=refresh content="5;url=/page#top">`), ""},
		"script URL":        {"text/html", "0;url=javascript:alert(1)", page(`<meta http-equiv=refresh content="0;url=data:text/html,x">`), ""},
		"app":               {"text/html", "0;url=market://details?id=x", "", "refreshHeader market://details?id=x 0"},
		"not HTML":          {"text/plain", "", page(`<meta http-equiv=refresh content="0;url=/m">`), ""},
		"no type":           {"", "", page(`<meta http-equiv=refresh content="0;url=/m">`), ""},
		"in a comment":      {"text/html", "", page(`<!-- <meta http-equiv=refresh content="0;url=/m"> -->`), ""},
		"in a script":       {"text/html", "", page(`<script>"<meta http-equiv=refresh content='0;url=/m'>"</script>`), ""},
		"in noscript":       {"text/html", "", page(`<noscript><meta http-equiv=refresh content="0;url=/m"></noscript>`), ""},
		"in a template":     {"text/html", "", page(`<template><template></template><meta http-equiv=refresh content="0;url=/m"></template>`), ""},
		"after a template":  {"text/html", "", page(`<template></template></template><meta http-equiv=refresh content="0;url=/m">`), "metaRefresh http://example.com/m 0"},
		"another meta":      {"text/html", "", page(`<meta name=refresh content="0;url=/m"><meta http-equiv=refresh>`), ""},
		"within the bound":  {"text/html", "", strings.Repeat(" ", maxRefreshPage-50) + `<meta http-equiv=refresh content="0;url=/m">`, "metaRefresh http://example.com/m 0"},
		"beyond the bound":  {"text/html", "", strings.Repeat(" ", maxRefreshPage-10) + `<meta http-equiv=refresh content="0;url=/m">`, ""},
		"too long":          {"text/html", "0;url=/" + strings.Repeat("x", maxRefreshURL), "", ""},
		"no URL":            {"text/html", "0;url=http://[", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := toolstest.WebNetwork(t)
			n.Serve(toolstest.WebV4Port80, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = []string{test.kind}
				if test.refresh != "" {
					w.Header().Set("Refresh", test.refresh)
				}
				w.Header().Set("Content-Encoding", "gzip")
				z := gzip.NewWriter(w)
				_, _ = z.Write([]byte(test.body))
				_ = z.Close()
			}))
			got := mustRun(t, n, "http://example.com/page")
			found := ""
			if c := got.ClientRedirect; c != nil {
				found = fmt.Sprintf("%s %s %g", c.Kind, c.URL, c.DelaySeconds)
			}
			if found != test.want || got.Outcome != egress.EndFinal || len(got.Hops) != 1 {
				t.Errorf("found %q, want %q: %+v", found, test.want, got)
			}
			if says := strings.Contains(got.Summary, "The page itself"); says != (test.want != "") {
				t.Errorf("summary: %s", got.Summary)
			}
			toolstest.WantDials(t, n, toolstest.WebV4+":80")
		})
	}
}

// What is kept of a page counts for the run.
func TestRedirectPagesAreCounted(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	n.Serve(toolstest.WebV4Port80, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, strings.Repeat(" ", 2*maxRefreshPage))
	}))
	var counted atomic.Int64
	ctx := memory.WithCounter(t.Context(), func(bytes int) { counted.Add(int64(bytes)) })
	_, err := toolstest.Run(ctx, New(n.Client(nil)), toolstest.URLInput("http://example.com/"))
	// The lookup of the name counts too.
	if got := counted.Load(); err != nil || got < maxRefreshPage || got > maxRefreshPage+1000 {
		t.Errorf("%d bytes were counted, want %d: %v", got, maxRefreshPage, err)
	}
}

// TestRedirectEndlessPage: an answer that never ends is not waited for where it is no page, and its headers' time
// counts.
func TestRedirectEndlessPage(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	n.Serve(toolstest.WebV4Port80, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	if got := mustRun(t, n, "http://example.com/"); got.Outcome != egress.EndFinal {
		t.Errorf("%+v", got)
	}
}

func TestParseRefresh(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]struct {
		delay float64
		url   string
		ok    bool
	}{
		"":                 {0, "", false},
		"x":                {0, "", false},
		"0":                {0, "", true},
		" 5 ":              {5, "", true},
		"5;":               {5, "", true},
		".5;a":             {0, "a", true},
		"1.9.9; a":         {1, "a", true},
		"1a":               {0, "", false},
		"1 a b":            {1, "a b", true},
		"1;url=a":          {1, "a", true},
		"1;URL = a ":       {1, "a", true},
		"1;url a":          {1, "url a", true},
		"1;url='a'b":       {1, "a", true},
		"1;\"a":            {1, "a", true},
		"1;'a b' c":        {1, "a b", true},
		"1;urlx":           {1, "urlx", true},
		"1 , url=a;b":      {1, "a;b", true},
		"-1;a":             {0, "", false},
		"99999999999999;a": {maxRefreshDelay, "a", true},
	} {
		delay, reference, ok := parseRefresh(value)
		if delay != want.delay || reference != want.url || ok != want.ok {
			t.Errorf("%q: %g, %q, %t", value, delay, reference, ok)
		}
	}
}

func TestRedirectShape(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	n.Serve(toolstest.WebV4Port80, toolstest.RedirectHandler("http://10.0.0.1/"))
	fields := toolstest.Fields(t, mustRun(t, n, "http://example.com/"))
	keys := func(m map[string]any) string { return strings.Join(slices.Sorted(maps.Keys(m)), " ") }
	if got := keys(fields); got != "clientRedirect conclusion finalStatus finalUrl findings "+
		"hops outcome redirectCount summary totalMs url" {
		t.Error(got)
	}
	for _, hop := range fields["hops"].([]any) {
		if got := keys(hop.(map[string]any)); got != "address flags index location notes responseTimeMs status statusText "+
			"timings url" {
			t.Error(got)
		}
	}
}

func TestRedirectNotes(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	toolstest.ServeRaw(n, toolstest.WebV4Port80,
		"HTTP/1.1\t302\tFound\r\nno colon\r\nLocation: http://10.0.0.1/\x01\r\n\r\n")
	r := mustRun(t, n, "http://example.com/")
	if got := r.Hops[0]; len(got.Notes) != 3 || toolstest.Text(got.Location) != `http://10.0.0.1/\x01` {
		t.Errorf("%+v", got)
	}
}

func FuzzMetaRefresh(f *testing.F) {
	for _, s := range []string{
		`<meta http-equiv=refresh content="0;url=/a">`, `<base href=x><META HTTP-EQUIV="refresh" CONTENT='1 "b'>`, `<template><meta`, "<!--", "<noscript>",
	} {
		f.Add([]byte(s), "0;url=x")
	}
	base, err := url.Parse("http://example.com/page")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte, header string) {
		p := lastPage{text: body}
		for _, found := range []*clientRedirect{p.metaRefresh(base), refreshTo(base, base, refreshHeader, header)} {
			if found == nil {
				continue
			}
			u, err := url.Parse(found.URL)
			if err != nil || !u.IsAbs() || u.Scheme == "javascript" || u.Scheme == "data" || found.DelaySeconds < 0 ||
				found.DelaySeconds > maxRefreshDelay {
				t.Fatalf("%+v, %v", found, err)
			}
		}
	})
}

func TestMain(m *testing.M) { toolstest.Main(m) }

func TestRows(t *testing.T) {
	t.Parallel()
	toolstest.Rows(t, rows)
}

// A long URL for another host is a blocked hop to which nothing was sent.
func TestALongURLForAnotherHost(t *testing.T) {
	t.Parallel()
	for length, want := range map[int]egress.ChainEnd{4096: egress.EndFinal, 4097: egress.EndBlocked} {
		n := toolstest.WebNetwork(t)
		n.Records("long.example.net. 300 IN A " + toolstest.WebV4)
		next := "http://long.example.net/?"
		next += strings.Repeat("x", length-len(next))
		asked := 0
		n.Serve(toolstest.WebV4Port80, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			if r.Host == "example.com" {
				http.Redirect(w, r, next, http.StatusFound)
			}
		}))
		r := mustRun(t, n, "http://example.com/")
		if r.Outcome != want || len(r.Hops) != 2 {
			t.Errorf("%d characters: %s, %d hops", length, r.Outcome, len(r.Hops))
		}
		if want == egress.EndFinal {
			continue
		}
		last := r.Hops[len(r.Hops)-1]
		if asked != 1 || r.RedirectCount != 0 || last.Status != nil || last.URL != next ||
			!strings.Contains(last.StatusText, "4,096 characters") || !strings.Contains(r.Summary, "not visited") {
			t.Errorf("asked %d times; %+v", asked, r)
		}
	}
}

// A chain that has sent what a run may ends as blocked, and says why.
func TestAChainSendsNoMoreThanItMay(t *testing.T) {
	t.Parallel()
	n := toolstest.WebNetwork(t)
	asked := 0
	n.Serve(toolstest.WebV4Port80, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.Redirect(w, r, fmt.Sprintf("/%d?%s", asked, strings.Repeat("x", 16_000)), http.StatusFound)
	}))
	ctx := traffic.WithMeter(t.Context(), new(traffic.Totals))
	got, err := toolstest.Run(ctx, New(n.Client(nil)), toolstest.URLInput("http://example.com/"))
	if err != nil {
		t.Fatal(err)
	}
	r := got.(Result)
	if r.Outcome != egress.EndBlocked || len(r.Hops) != asked+1 || !strings.Contains(r.Summary, "may not send any more") {
		t.Errorf("asked %d times: %s, %d hops, %s", asked, r.Outcome, len(r.Hops), r.Summary)
	}
}

// TestConflictingLocations: a chain ends where browsers stop, and says nothing of where either field leads.
func TestConflictingLocations(t *testing.T) {
	t.Parallel()
	rows := []struct {
		name, status string
		locations    []string
		outcome      egress.ChainEnd
		flags        string
		others       []string
		summary      string
	}{
		{"two that differ", "302 Found", []string{"https://www.example.com/", "/next"}, "invalidLocation",
			"temporary conflictingLocation", []string{"/next"},
			"No redirect was followed. example.com names 2 conflicting destinations (Location) in one redirect. Browsers stop " +
				"there and show an error, and so does this check."},
		{"three, two of them equal", "301 Moved", []string{"/next", "/next", "/else"}, "invalidLocation",
			"permanent conflictingLocation", []string{"/else"},
			"No redirect was followed. example.com names 2 conflicting destinations (Location) in one redirect. Browsers stop " +
				"there and show an error, and so does this check."},
		{"one is blank", "302 Found", []string{"", "/next"}, "invalidLocation", "temporary conflictingLocation",
			[]string{"/next"}, "No redirect was followed. example.com names 2 conflicting destinations (Location) in one " +
				"redirect. Browsers stop there and show an error, and so does this check."},
		{"two that are equal", "302 Found", []string{"/next", "/next"}, "final", "temporary relativeLocation", nil,
			"One redirect was followed. example.com answers 200 OK."},
		{"a page", "200 OK", []string{"/a", "/b"}, "final", "conflictingLocation", []string{"/b"},
			"No redirect was followed. example.com answers 200 OK. It sends conflicting Location headers, and browsers show an error instead of such an answer."},
		{"a page with one", "200 OK", []string{"/a"}, "final", "", nil,
			"No redirect was followed. example.com answers 200 OK."},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			got := runConflict(t, r.status, r.locations)
			first := got.Hops[0]
			if got.Outcome != r.outcome || got.Summary != r.summary {
				t.Errorf("%s: %s", got.Outcome, got.Summary)
			}
			if flags := strings.Join(first.Flags, " "); flags != r.flags || !slices.Equal(first.OtherLocations, r.others) {
				t.Errorf("flags %s, others %q", flags, first.OtherLocations)
			}
		})
	}
}

// runConflict checks a site whose first page has these fields and whose others are plain pages.
func runConflict(t *testing.T, status string, locations []string) Result {
	t.Helper()
	n := toolstest.WebNetwork(t)
	head := "HTTP/1.1 " + status + "\r\n"
	for _, location := range locations {
		head += "Location: " + location + "\r\n"
	}
	var asked atomic.Int32
	n.ServeConn(toolstest.WebV4Port80, func(c net.Conn) {
		if _, err := http.ReadRequest(bufio.NewReader(c)); err != nil {
			return
		}
		answer := head
		if asked.Add(1) > 1 {
			answer = "HTTP/1.1 200 OK\r\n"
		}
		_, _ = io.WriteString(c, answer+"Content-Length: 0\r\n\r\n")
	})
	return mustRun(t, n, "http://example.com/")
}

// TestConflictingLocationsAreBounded: a head full of them makes no answer longer than it may be, and the cut is marked.
func TestConflictingLocationsAreBounded(t *testing.T) {
	t.Parallel()
	var locations []string
	for i := range 15 {
		locations = append(locations, fmt.Sprintf("/%d?%s", i, strings.Repeat("&", 4000)))
	}
	got := runConflict(t, "302 Found", locations)
	if size := bound.Size(got.Hops[0].OtherLocations); size > 32<<10+2 || !got.Truncated ||
		!got.Hops[0].Truncated {
		t.Errorf("%d bytes, truncated %t", size, got.Truncated)
	}
}
