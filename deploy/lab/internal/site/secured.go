package site

import (
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
)

var secureHeaders = [][2]string{
	{"Strict-Transport-Security", "max-age=63072000; includeSubDomains; preload"},
	{"Content-Security-Policy",
		"default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"},
	{"X-Frame-Options", "DENY"},
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "no-referrer, strict-origin-when-cross-origin"},
	{"Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=()"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Embedder-Policy", "require-corp"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Set-Cookie", "__Host-session=secret-of-this-visit; Path=/; Secure; HttpOnly; SameSite=Strict"},
}

// insecureHeaders are all that a site can do wrong.
var insecureHeaders = [][2]string{
	{"Strict-Transport-Security", "max-age=0"},
	{"Content-Security-Policy", "default-src *; script-src * 'unsafe-inline' 'unsafe-eval'; script-src 'self'"},
	{"X-Frame-Options", "ALLOW-FROM https://other.example"},
	{"X-Content-Type-Options", "none"},
	{"Referrer-Policy", "unsafe-url"},
	{"Permissions-Policy", "camera 'none'; geolocation 'self'"},
	{"Cross-Origin-Opener-Policy", "unsafe-none"},
	{"Cross-Origin-Embedder-Policy", "nonsense, twice"},
	{"Cross-Origin-Resource-Policy", "everybody"},
	{"Access-Control-Allow-Origin", "*"},
	{"Access-Control-Allow-Credentials", "true"},
	{"Server", "Apache/2.4.1 (Unix) OpenSSL/1.0.2k"},
	{"X-Powered-By", "PHP/5.6.40"},
	{"X-Backend", "10.20.30.40"},
	{"Public-Key-Pins", `pin-sha256="AAAA"; max-age=1`},
	{"X-XSS-Protection", "1; mode=block"},
	{"Set-Cookie", "session=secret-of-this-visit; Path=/"},
	{"Set-Cookie", "__Secure-id=secret-of-this-visit; SameSite=None"},
}

func withHeaders(code int, headers [][2]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		for _, h := range headers {
			w.Header().Add(h[0], h[1])
		}
		w.WriteHeader(code)
		fmt.Fprint(w, "<!doctype html><title>Headers</title>")
	})
}

// Repaired makes the site "sec-repaired" send a right Strict-Transport-Security. Its other headers stay wrong.
var Repaired atomic.Bool

func repaired() http.Handler {
	right := slices.Clone(insecureHeaders)
	right[0] = secureHeaders[0]
	before, after := withHeaders(http.StatusOK, insecureHeaders), withHeaders(http.StatusOK, right)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if Repaired.Load() {
			after.ServeHTTP(w, r)
		} else {
			before.ServeHTTP(w, r)
		}
	})
}

func addSecured(add adder) {
	add("sec-good", "every security header, none wrong", web(withHeaders(http.StatusOK, secureHeaders)))
	add("sec-bad", "every security header, all wrong", web(withHeaders(http.StatusOK, insecureHeaders)))
	add("sec-challenge", "a challenge page in place of the site",
		web(withHeaders(http.StatusForbidden, [][2]string{{"Cf-Mitigated", "challenge"}, {"Server", "cloudflare"}})))
	add("sec-expired", "every security header, behind an expired certificate", []endpoint{
		{port: 80, http: toHTTPS("sec-expired." + Zone)},
		{port: 443, http: withHeaders(http.StatusOK, secureHeaders),
			tls: &tlsSetup{certificate: certificate{notBefore: -100 * day, notAfter: -10 * day}}},
	})
}

// newerHeaders are those that few sites send, and policies that say less than they seem to.
var newerHeaders = [][2]string{
	{"Strict-Transport-Security", "max-age=63072000; includeSubDomains; preload"},
	{"Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
	{"Permissions-Policy", "camera=*, vibrate=(), fullscreen=*"},
	{"Integrity-Policy", "blocked-destinations=(script)"},
	{"Document-Policy", "js-profiling"},
	{"Origin-Agent-Cluster", "?1"},
	{"Clear-Site-Data", `"cache", "cookies"`},
	{"Reporting-Endpoints", `csp="https://sec-newer.lab-site.com/reports"`},
}

func addNewer(add adder) {
	add("sec-newer", "headers that few sites send, http redirects to https", []endpoint{
		{port: 80, http: toHTTPS("sec-newer." + Zone)},
		{port: 443, http: withHeaders(http.StatusOK, newerHeaders), tls: &tlsSetup{}},
	})
}
