package securityheaders

import (
	"math"
	"strings"
	"testing"
	"time"

	"diagnostics/gateway/internal/tools/internal/toolstest"

	"github.com/google/go-cmp/cmp"
)

func TestParseHSTS(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]hstsPolicy{
		"max-age=31536000":                       {maxAge: 31536000},
		`max-age="31536000"`:                     {maxAge: 31536000}, // RFC 6797 section 6.2 has it so
		"MAX-AGE=1; IncludeSubdomains; Preload":  {maxAge: 1, includeSubDomains: true, preload: true},
		" max-age = 1 ;; includeSubDomains ; ":   {maxAge: 1, includeSubDomains: true},
		"includeSubDomains; max-age=0":           {includeSubDomains: true},
		`max-age=1; future="a;b"; other=x; flag`: {maxAge: 1},
		"max-age=99999999999999999999":           {maxAge: math.MaxInt64},
		"max-age=9223372036854775807":            {maxAge: math.MaxInt64},
		"max-age=000001":                         {maxAge: 1},
		"max-age=1; preload=1":                   {maxAge: 1},
		"max-age=1\t;\tincludeSubDomains":        {maxAge: 1, includeSubDomains: true},
	} {
		got, problem := parseHSTS(value)
		if problem != nil || got != want {
			t.Errorf("%q gives %+v, %v; want %+v", value, got, problem, want)
		}
	}
	for value, want := range map[string]string{
		"":                     "HSTS_NO_MAX_AGE",
		";":                    "HSTS_NO_MAX_AGE",
		"includeSubDomains":    "HSTS_NO_MAX_AGE",
		"max-age":              "HSTS_MAX_AGE_NOT_A_NUMBER",
		"max-age=":             "HSTS_NOT_A_DIRECTIVE",
		"max-age=-1":           "HSTS_MAX_AGE_NOT_A_NUMBER",
		"max-age=1.5":          "HSTS_MAX_AGE_NOT_A_NUMBER",
		"max-age=1y":           "HSTS_MAX_AGE_NOT_A_NUMBER",
		"max-age=1 2":          "HSTS_NOT_A_DIRECTIVE",
		"max-age=1, max-age=2": "HSTS_NOT_A_DIRECTIVE",
		`"max-age=1"`:          "HSTS_NOT_A_DIRECTIVE",
		`max-age="1`:           "HSTS_NOT_A_DIRECTIVE",
		`max-age="`:            "HSTS_NOT_A_DIRECTIVE",
		`max-age="1"x"`:        "HSTS_NOT_A_DIRECTIVE",
		"max-age=1; max-age=1": "HSTS_DIRECTIVE_TWICE",
		"max-age=1; includeSubDomains; INCLUDESUBDOMAINS": "HSTS_DIRECTIVE_TWICE",
		"max-age=1; x=1; x=2":                             "HSTS_DIRECTIVE_TWICE",
		"max-age=1; includeSubDomains=true":               "HSTS_SUBDOMAINS_VALUE",
		"max-age=1; include SubDomains":                   "HSTS_NOT_A_DIRECTIVE",
		"=1":                                              "HSTS_NOT_A_DIRECTIVE",
		"max-age=1; caf\xe9":                              "HSTS_NOT_A_DIRECTIVE",
	} {
		got, problem := parseHSTS(value)
		if problem["problem"] != want || got != (hstsPolicy{}) {
			t.Errorf("%q gives %+v, %v; want %s", value, got, problem, want)
		}
	}
}

func TestDescribeAge(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[int64]string{
		1: "Browsers keep to https for 1 second.", 59: "Browsers keep to https for 59 seconds.",
		60: "Browsers keep to https for 1 minute.", 3599: "Browsers keep to https for 59 minutes.",
		3600: "Browsers keep to https for 1 hour.", 86399: "Browsers keep to https for 23 hours.",
		86400: "Browsers keep to https for 1 day.", 31536000: "Browsers keep to https for 365 days.",
		100*31536000 - 1: "Browsers keep to https for 36499 days.",
		100 * 31536000:   "Browsers keep to https for more than a century.",
		math.MaxInt64:    "Browsers keep to https for more than a century.",
	} {
		if got := rows.Sentence("HSTS_KEPT", describeAge(seconds)); got != want {
			t.Errorf("%d: %s, want %s", seconds, got, want)
		}
	}
}

func TestParseSetCookie(t *testing.T) {
	t.Parallel()
	expires := time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	for field, want := range map[string]setCookie{
		"a=b":    {name: "a"},
		" a = b": {name: "a"},
		"a=b; Secure; HTTPONLY; Partitioned; Path=/; Domain=.Example.COM; SameSite=lax": {
			name: "a", secure: true, httpOnly: true, partitioned: true, path: "/", domain: "example.com", hasDomain: true,
			hasSameSite: true, sameSite: "lax"},
		"a=b; samesite":                                            {name: "a", hasSameSite: true},
		"a=b; SameSite=None; SameSite=Strict":                      {name: "a", hasSameSite: true, sameSite: "Strict"},
		"a=b; Path=/x; Path=y":                                     {name: "a"},
		"a=b; Domain=":                                             {name: "a"},
		"a=b; secure=false":                                        {name: "a", secure: true}, // the value of Secure does not count
		"a=b; Max-Age=10; Max-Age=x":                               {name: "a", hasMaxAge: true, maxAge: 10},
		"a=b; Max-Age=-99999999999999999999":                       {name: "a", hasMaxAge: true, maxAge: math.MinInt64},
		"a=b; Max-Age=99999999999999999999":                        {name: "a", hasMaxAge: true, maxAge: math.MaxInt64},
		"a=b; Max-Age=-":                                           {name: "a"},
		"a=b; Expires=Sat, 02 Jan 2027 03:04:05 GMT":               {name: "a", expires: expires},
		"a=b; Expires=Sat, 02-Jan-2027 03:04:05 GMT":               {name: "a", expires: expires},
		"a=b; Expires=Saturday, 02-Jan-27 03:04:05 GMT":            {name: "a", expires: expires},
		"a=b; Expires=never":                                       {name: "a"},
		"a=b; Domain=" + strings.Repeat("x", maxCookieAttribute+1): {name: "a"},
		"value":          {},
		"=value; Secure": {secure: true},
		"=__Host-a":      {ignored: "COOKIE_NAMELESS_PREFIX"},
		"":               {ignored: "COOKIE_EMPTY"},
		"=; Secure":      {secure: true, ignored: "COOKIE_EMPTY"},
		"a=b\x01":        {name: "a", ignored: "COOKIE_CONTROL_CHARACTER"},
		"a=" + strings.Repeat("x", maxCookiePair-1): {name: "a"},
		"a=" + strings.Repeat("x", maxCookiePair):   {name: "a", ignored: "COOKIE_TOO_LONG"},
	} {
		got := parseSetCookie(field)
		same := cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(setCookie{}), same); diff != "" {
			t.Errorf("%.60q: -want +got\n%s", field, diff)
		}
	}
}

// TestCookieIssues: each code, and both sides of what brings it about.
func TestCookieIssues(t *testing.T) {
	t.Parallel()
	const rest = "; Secure; HttpOnly; SameSite=Lax"
	for _, c := range []struct {
		url, field, codes string
	}{
		{"", "a=b" + rest, ""},
		{"", "a=b; HttpOnly; SameSite=Lax", "NOT_SECURE warn"},
		{"", "session=b; HttpOnly; SameSite=Lax", "NOT_SECURE fail"},
		{"http://example.com/", "a=b; HttpOnly; SameSite=Lax", "NOT_SECURE warn"},
		{"http://example.com/", "a=b" + rest, "SECURE_OVER_HTTP warn"},
		{"", "a=b; Secure; SameSite=Lax", "NOT_HTTP_ONLY info"},
		{"", "csrf_token=b; Secure; SameSite=Lax", "NOT_HTTP_ONLY info"},
		{"", "auth_token=b; Secure; SameSite=Lax", "NOT_HTTP_ONLY fail"},
		{"", "a=b; Secure; HttpOnly", "NO_SAME_SITE info"},
		{"", "sid=b; Secure; HttpOnly", "NO_SAME_SITE warn"},
		{"", "a=b; Secure; HttpOnly; SameSite=Loose", "SAME_SITE_INVALID warn"},
		{"", "a=b; Secure; HttpOnly; SameSite=None", "SAME_SITE_NONE info"},
		{"", "a=b; HttpOnly; SameSite=None", "NONE_WITHOUT_SECURE warn,NOT_SECURE warn,SAME_SITE_NONE info"},
		{"", "a=b; Partitioned; HttpOnly; SameSite=Lax", "PARTITIONED_WITHOUT_SECURE warn,NOT_SECURE warn"},
		{"", "__Secure-a=b" + rest, ""},
		{"", "__secure-a=b; HttpOnly; SameSite=Lax", "PREFIX warn,NOT_SECURE warn"},
		{"", "__Host-a=b; Path=/" + rest, ""},
		{"", "__Host-a=b" + rest, "PREFIX warn"},
		{"", "__Host-a=b; Path=/; Domain=example.com" + rest, "PREFIX warn,DOMAIN_WIDE info"},
		{"", "__Http-a=b" + rest, ""},
		{"", "__Http-a=b; Secure; SameSite=Lax", "PREFIX warn,NOT_HTTP_ONLY info"},
		{"", "__Host-Http-a=b; Path=/" + rest, ""},
		{"", "__Host-Http-a=b; Path=/; Secure; SameSite=Lax", "PREFIX warn,NOT_HTTP_ONLY info"},
		{"https://www.example.com/", "a=b; Domain=example.com" + rest, "DOMAIN_WIDE info"},
		{"", "a=b; Domain=example.org" + rest, "DOMAIN warn"},
		{"", "a=b; Domain=ample.com" + rest, "DOMAIN warn"},
		{"", "a=b; Domain=com" + rest, "DOMAIN warn"},
		{"https://93.184.216.34/", "a=b; Domain=216.34" + rest, "DOMAIN warn"},
		{"https://93.184.216.34/", "a=b" + rest, ""},
		{"", "a=b; Max-Age=34560000" + rest, ""},
		{"", "a=b; Max-Age=34560001" + rest, "LONG_LIVED info"},
		{"", "a=b; Expires=Sat, 02 Jan 2038 03:04:05 GMT" + rest, "LONG_LIVED info"},
		{"", "a=b; Expires=Sat, 02 Jan 2038 03:04:05 GMT; Max-Age=1" + rest, ""},
		{"", "session=; Max-Age=0", "DELETED info"},
		{"", "session=; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "DELETED info"},
		{"", "session=b; Path=/" + rest, "NO_PREFIX info"},
		{"", "a=\x01" + rest, "IGNORED warn"},
	} {
		url := c.url
		if url == "" {
			url = "https://example.com/"
		}
		got := controlsOf(t, answerTo(t, url, 200, "Set-Cookie: "+c.field)).Cookies
		if len(got) != 1 {
			t.Fatalf("%s: %+v", c.field, got)
		}
		var codes []string
		for _, issue := range got[0].Issues {
			codes = append(codes, issue.Code+" "+issue.Severity)
			if !strings.HasSuffix(issue.Message, ".") {
				t.Errorf("%s: %s", c.field, issue.Message)
			}
		}
		if strings.Join(codes, ",") != c.codes {
			t.Errorf("%s %s: %v, want %s", url, c.field, codes, c.codes)
		}
	}
	twice := controlsOf(t, answerTo(t, "https://example.com/", 200, "Set-Cookie: a=b"+rest, "Set-Cookie: a=c"+rest,
		"Set-Cookie: a=c; Path=/x"+rest)).Cookies
	if len(twice) != 3 || len(twice[0].Issues) != 0 || len(twice[1].Issues) != 1 ||
		twice[1].Issues[0].Code != "DUPLICATE" || len(twice[2].Issues) != 0 {
		t.Errorf("twice: %+v", twice)
	}
}

func TestCookieSameSite(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{"strict": "Strict", "LAX": "Lax", "None": "None", "": "<null>",
		"x": "<null>"} {
		got := controlsOf(t, answerTo(t, "https://example.com/", 200, "Set-Cookie: a=b; SameSite="+value)).Cookies[0]
		if toolstest.Text(got.SameSite) != want {
			t.Errorf("%q: %s, want %s", value, toolstest.Text(got.SameSite), want)
		}
	}
}

func TestLooksLikeSession(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"session": true, "PHPSESSID": true, "JSESSIONID": true, "ASP.NET_SessionId": true, "connect.sid": true, "sid": true, "__Host-sid": true,
		"laravel_session": true, "remember_me": true, "access_token": true, "jwt": true, "wordpress_logged_in": true, "ASPSESSIONIDABCD": true, "sso": true,
		"": false, "theme": false, "_ga": false, "inside": false, "XSRF-TOKEN": false, "csrftoken": false, "side": false, "__cf_bm": false,
	} {
		if got := looksLikeSession(name); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}

// FuzzHSTS holds that a policy always names its age, and that an obeyed value is obeyed with a future directive beside
// it.
func FuzzHSTS(f *testing.F) {
	for _, s := range []string{"max-age=31536000; includeSubDomains; preload", `max-age="1"; x="a;b\"c"`,
		"max-age=1, max-age=2", ";;", `"`, "=", "max-age=99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		policy, problem := parseHSTS(value)
		if problem != nil {
			if policy != (hstsPolicy{}) {
				t.Fatalf("%q gives %+v and %v", value, policy, problem)
			}
			return
		}
		if !strings.Contains(strings.ToLower(value), "max-age") || policy.maxAge < 0 {
			t.Fatalf("%q gives %+v", value, policy)
		}
		if again, problem := parseHSTS(value + ";zzz-fuzz"); problem != nil && !strings.Contains(value, "zzz") ||
			problem == nil && again != policy {
			t.Fatalf("%q gives %+v, and with one more directive %+v, %v", value, policy, again, problem)
		}
	})
}

// FuzzSetCookie holds that nothing of a value is shown, whatever the field.
func FuzzSetCookie(f *testing.F) {
	f.Add("sid", "; Path=/; Secure")
	f.Add("__Host-Http-a", "; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Max-Age=-5; Domain=.example.com")
	f.Add("", ";;=;SameSite==None")
	f.Fuzz(func(t *testing.T, name, rest string) {
		const secret = "S3CR3TVALUE"
		if strings.ContainsAny(name, "=;") || strings.Contains(name+rest, secret) {
			return
		}
		field := name + "=" + secret
		if rest != "" {
			field += ";" + rest
		}
		r := answerTo(t, "https://example.com/", 200)
		r.Header["Set-Cookie"] = []string{field}
		got := controlsOf(t, r)
		if len(got.Cookies) != 1 || got.Cookies[0].Issues == nil {
			t.Fatalf("%q gives %+v", field, got.Cookies)
		}
		control := controlOf(t, got, "cookies")
		shown := toolstest.Text(control.Value) + control.Finding + got.Cookies[0].Name
		for _, issue := range got.Cookies[0].Issues {
			shown += issue.Message
		}
		if strings.Contains(shown, secret) {
			t.Fatalf("%q: %s", field, shown)
		}
	})
}

// FuzzSecurityFields holds the readers of structured and other fields to an answer of full shape whatever a server
// sends.
func FuzzSecurityFields(f *testing.F) {
	for _, s := range []string{
		`camera=(self "https://a.example.com");report-to=x, usb=*`, `same-origin; report-to="x"`, `:YQ==:, ?1, @1, %"a%20"`,
		"DENY, sameorigin", "nosniff", "a, b;q=1", `("a" "b`, "\xff", "-999999999999999.999", "camera=((((", `{"group":"x"}`, "null", "https://[::1]:99",
	} {
		f.Add(s)
	}
	names := []string{
		"Permissions-Policy", "Cross-Origin-Opener-Policy", "Cross-Origin-Embedder-Policy", "Cross-Origin-Resource-Policy", "Reporting-Endpoints", "Report-To",
		"X-Frame-Options", "X-Content-Type-Options", "Referrer-Policy", "Access-Control-Allow-Origin", "Server", "Via", "X-Xss-Protection", "Content-Type", "Content-Security-Policy",
		"Integrity-Policy", "Document-Policy", "Origin-Agent-Cluster", "Clear-Site-Data",
	}
	f.Fuzz(func(t *testing.T, value string) {
		r := answerTo(t, "https://example.com/", 200)
		for _, name := range names {
			r.Header[name] = []string{value}
		}
		got := controlsOf(t, r)
		s := got.Summary
		if len(got.Controls) != 13 || s.Pass+s.Warn+s.Fail+s.Info+s.NotApplicable != 13 {
			t.Fatalf("%q gives %+v", value, s)
		}
		for _, h := range got.NewerHeaders {
			if !h.Present || h.Finding == "" || len(h.Finding) > 2000 {
				t.Fatalf("%q gives %+v", value, h)
			}
		}
		for _, c := range got.Controls {
			if c.Finding == "" || c.Name == "" || len(c.Finding) > 8000 ||
				(c.Status == controlFail || c.Status == controlWarn) && c.Recommendation == nil {
				t.Fatalf("%q gives %+v", value, c)
			}
		}
	})
}
