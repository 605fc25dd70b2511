// Package challenge recognises answers by which a service in front of a site asks its visitors to prove that they are
// people. Such an answer is not the site's own, and says nothing of it.
//
// No body is read, so only what a header or a cookie says for certain counts. A refusal that a vendor's edge makes for
// good has the same Server field and the same tracking cookies as its challenge, and so has many a page that was let
// through: those are no marks. Imperva, Sucuri, HUMAN and DDoS-Guard show their challenges in bodies alone, and are not
// named for that reason.
package challenge

import (
	"net/http"
	"slices"
	"strings"
)

// Challenge is what stands between a visitor and a site.
type Challenge struct {
	Vendor string `json:"vendor"` // the service that asks, by its own name
}

// Enums implements decode.Enumerated.
func (Challenge) Enums() map[string][]string {
	var vendors []string
	for _, m := range marks {
		vendors = append(vendors, m.vendor)
	}
	return map[string][]string{"vendor": vendors}
}

// mark is one sign of a challenge.
type mark struct {
	vendor string
	field  string
	// values are those that count, in lower case; none means that any but the empty one does.
	values []string
	// cookie is how the name of a cookie begins that the answer sets; field is not read then.
	cookie string
	// statuses are those with which the mark counts; none means that it says all by itself.
	statuses []int
}

// refusals are the statuses of answers that may be a challenge where a mark alone could also mean that one was passed.
var refusals = []int{http.StatusForbidden, http.StatusTooManyRequests, http.StatusServiceUnavailable}

// marks and where they are described.
var marks = []mark{
	// developers.cloudflare.com, "Detect a Challenge Page response"; the older pages asked Privacy Pass for a token.
	{vendor: "Cloudflare", field: "Cf-Mitigated", values: []string{"challenge"}},
	{vendor: "Cloudflare", field: "Cf-Chl-Bypass", values: []string{"1"}, statuses: refusals},
	// Vercel's firewall says "deny" where it refuses.
	{vendor: "Vercel", field: "X-Vercel-Mitigated", values: []string{"challenge"}},
	// docs.aws.amazon.com, "CAPTCHA and Challenge action behavior": their statuses are 202 and 405.
	{vendor: "AWS WAF", field: "X-Amzn-Waf-Action", values: []string{"challenge", "captcha"}},
	// docs.datadome.co, "Validate Request": the service decides to allow or to challenge, and this comes with the latter.
	{vendor: "DataDome", field: "X-Dd-B", statuses: append([]int{http.StatusUnauthorized}, refusals...)},
	// An answer of its own, in place of the site's, has its name for the server.
	{vendor: "DataDome", field: "Server", values: []string{"datadome"},
		statuses: append([]int{http.StatusUnauthorized}, refusals...)},
	// Kasada answers the first request with 429 and the script whose token goes by this name.
	{vendor: "Kasada", field: "X-Kpsdk-Ct", statuses: refusals},
	// Akamai's challenge action sets a cookie of its own, unlike _abck, bm_sz and ak_bmsc, which all pages do.
	{vendor: "Akamai", cookie: "sec_cpt", statuses: append([]int{http.StatusPreconditionRequired}, refusals...)},
	// The source of Anubis: the number of a challenge that is put. It is emptied when one is passed.
	{vendor: "Anubis", cookie: "techaro.lol-anubis-cookie-verification"},
}

// Of is the challenge that an answer puts, nil where none is known for certain.
func Of(status int, header http.Header) *Challenge {
	for _, m := range marks {
		if (m.statuses == nil || slices.Contains(m.statuses, status)) && m.in(header) {
			return &Challenge{Vendor: m.vendor}
		}
	}
	return nil
}

func (m mark) in(header http.Header) bool {
	if m.cookie != "" {
		return slices.ContainsFunc(header.Values("Set-Cookie"), m.set)
	}
	return slices.ContainsFunc(header.Values(m.field), func(value string) bool {
		value = strings.ToLower(strings.TrimSpace(value))
		if m.values == nil {
			return value != ""
		}
		return slices.Contains(m.values, value)
	})
}

// set reports whether a Set-Cookie field gives the cookie a value.
func (m mark) set(field string) bool {
	pair, _, _ := strings.Cut(field, ";")
	name, value, _ := strings.Cut(pair, "=")
	value = strings.Trim(value, " \t\"")
	return value != "" && strings.HasPrefix(strings.TrimSpace(name), m.cookie)
}
