package emaildnshealth

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"diagnostics/gateway/internal/egress"
	"diagnostics/gateway/internal/egress/egresstest"
	"diagnostics/gateway/internal/target"
	"diagnostics/gateway/internal/tool"
	"diagnostics/gateway/internal/tool/finding"
	"diagnostics/gateway/internal/tools/internal/toolstest"

	"github.com/google/go-cmp/cmp"
	"github.com/miekg/dns"
)

// goodKey is the public key of RFC 8463 appendix A.2.
const goodKey = "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="

const goodPolicy = "version: STSv1\r\nmode: enforce\r\nmx: *.post.com\r\nmax_age: 1209600\r\n"

// testZone is a domain with everything in order.
var testZone = map[string]string{
	"mx":     "post.com. 300 IN MX 10 a.post.com.\npost.com. 300 IN MX 20 b.post.com.",
	"hosts":  "a.post.com. 300 IN A 93.184.216.40\na.post.com. 300 IN AAAA 2606:2800:220:1::40\nb.post.com. 300 IN A 93.184.216.41",
	"spf":    `post.com. 300 IN TXT "v=spf1 mx " "-all"`,
	"dmarc":  `_dmarc.post.com. 300 IN TXT "v=DMARC1; p=reject; rua=mailto:d@post.com"`,
	"dkim":   `s1._domainkey.post.com. 300 IN TXT "` + goodKey + `"`,
	"sts":    `_mta-sts.post.com. 300 IN TXT "v=STSv1; id=1"`,
	"web":    "mta-sts.post.com. 300 IN A 93.184.216.42",
	"tlsrpt": `_smtp._tls.post.com. 300 IN TXT "v=TLSRPTv1; rua=mailto:t@post.com"`,
	"reverse": "40.216.184.93.in-addr.arpa. 300 IN PTR h40.host.net.\nh40.host.net. 300 IN A 93.184.216.40\n" +
		"41.216.184.93.in-addr.arpa. 300 IN PTR h41.host.net.\nh41.host.net. 300 IN A 93.184.216.41\n" +
		reverse6 + " 300 IN PTR six.host.net.\nsix.host.net. 300 IN AAAA 2606:2800:220:1::40",
}

const reverse6 = "0.4.0.0.0.0.0.0.0.0.0.0.0.0.0.0.1.0.0.0.0.2.2.0.0.0.8.2.6.0.6.2.ip6.arpa."

// testCase changes the good domain and says what becomes of it.
type testCase struct {
	zone     map[string]string // an empty value takes the records away
	failing  []string          // names that answer SERVFAIL
	policy   http.HandlerFunc  // in place of goodPolicy
	config   func(*toolstest.Authority) *tls.Config
	selector string // s1 where empty, none where "-"
	check    string // mx, spf, dmarc, dkim, mtaSts, tlsRpt
	status   status
	codes    string // of that check, in order of severity and name
	overall  status
}

func (c testCase) run(t *testing.T) (Result, *egresstest.Network) {
	t.Helper()
	n := egresstest.New(t)
	zone := map[string]string{}
	for _, m := range []map[string]string{testZone, c.zone} {
		for k, v := range m {
			zone[k] = v
		}
	}
	for _, lines := range zone {
		for line := range strings.Lines(lines) {
			n.Records(strings.TrimSpace(line))
		}
	}
	for _, name := range c.failing {
		n.Handle(name, func(q *dns.Msg) *dns.Msg { return new(dns.Msg).SetRcode(q, dns.RcodeServerFailure) })
	}
	authority := toolstest.NewAuthority(t)
	config := authority.Issue("mta-sts.post.com", time.Now().Add(time.Hour))
	if c.config != nil {
		config = c.config(authority)
	}
	handler := c.policy
	if handler == nil {
		handler = servePolicy(goodPolicy)
	}
	n.ServeTLS("93.184.216.42:443", config, handler)
	selector := c.selector
	switch selector {
	case "":
		selector = "s1"
	case "-":
		selector = ""
	}
	return checkDomain(t, t.Context(), n, authority, "post.com", selector), n
}

func checkDomain(t *testing.T, ctx context.Context, n *egresstest.Network, authority *toolstest.Authority, domain,
	selector string) Result {
	t.Helper()
	var opts []egress.Option
	if authority != nil {
		opts = append(opts, authority.Option())
	}
	options, err := json.Marshal(map[string]string{"dkimSelector": selector})
	if err != nil {
		t.Fatal(err)
	}
	job, err := New(n.Client(nil, opts...)).Parse(tool.Input{Text: domain, Options: toolstest.Options(t, string(options))})
	if err != nil {
		t.Fatal(err)
	}
	result, err := job.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return result.(Result)
}

func servePolicy(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/.well-known/mta-sts.txt" {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, text)
	}
}

func policyWith(lines string) http.HandlerFunc {
	return servePolicy("version: STSv1\n" + lines + "max_age: 1209600\n")
}

func common(h Result, name string) check {
	return map[string]check{
		"mx": h.Checks.MX.check, "spf": h.Checks.SPF.check, "dmarc": h.Checks.DMARC.check,
		"dkim": h.Checks.DKIM.check, "mtaSts": h.Checks.MTASTS.check, "tlsRpt": h.Checks.TLSRPT.check,
	}[name]
}

func codes(c check) string {
	var list []string
	for _, i := range c.Issues {
		list = append(list, string(i.Severity)+" "+i.Code)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

func TestEmailEveryOutcome(t *testing.T) {
	t.Parallel()
	gone := func(keys ...string) map[string]string {
		zone := map[string]string{}
		for _, k := range keys {
			zone[k] = ""
		}
		return zone
	}
	zone := func(key, lines string) map[string]string { return map[string]string{key: lines} }
	oneMX := func(target string) map[string]string {
		return map[string]string{"mx": "post.com. 300 IN MX 10 " + target, "sts": ""}
	}
	txt := func(key, name, text string) map[string]string {
		return zone(key, name+". 300 IN TXT "+fmt.Sprintf("%q", text))
	}
	for name, c := range map[string]testCase{
		"all is well":               {check: "mx", status: mailPass, overall: mailPass},
		"null mx":                   {zone: map[string]string{"mx": "post.com. 300 IN MX 0 .", "spf": `post.com. 300 IN TXT "v=spf1 -all"`}, check: "mx", status: mailInfo, codes: "info MX_NULL", overall: mailPass},
		"null mx and others":        {zone: zone("mx", "post.com. 300 IN MX 0 .\npost.com. 300 IN MX 10 a.post.com."), check: "mx", status: mailFail, codes: "fail MX_NULL_WITH_OTHERS", overall: mailFail},
		"implicit mx":               {zone: map[string]string{"mx": "post.com. 300 IN A 93.184.216.40", "sts": ""}, check: "mx", status: mailWarn, codes: "warn MX_IMPLICIT", overall: mailWarn},
		"implicit private mx":       {zone: map[string]string{"mx": "post.com. 300 IN A 10.0.0.1", "sts": ""}, check: "mx", status: mailFail, codes: "fail MX_ADDRESS_NOT_PUBLIC, warn MX_IMPLICIT", overall: mailFail},
		"no mx and no address":      {zone: gone("mx"), check: "mx", status: mailMissing, codes: "warn MX_MISSING", overall: mailPass},
		"mx fails":                  {failing: []string{"post.com"}, check: "mx", status: mailError, codes: "warn MX_LOOKUP_FAILED", overall: mailError},
		"mx without address":        {zone: zone("hosts", "a.post.com. 300 IN A 93.184.216.40\nb.post.com. 300 IN TXT x"), check: "mx", status: mailFail, codes: "fail MX_HOST_WITHOUT_ADDRESS", overall: mailFail},
		"mx at a private address":   {zone: zone("hosts", "a.post.com. 300 IN A 93.184.216.40\nb.post.com. 300 IN A 192.168.1.1\nb.post.com. 300 IN A 93.184.216.41"), check: "mx", status: mailFail, codes: "fail MX_ADDRESS_NOT_PUBLIC", overall: mailFail},
		"mx is an alias":            {zone: zone("hosts", "a.post.com. 300 IN A 93.184.216.40\nb.post.com. 300 IN CNAME a.post.com."), check: "mx", status: mailWarn, codes: "warn MX_CNAME", overall: mailWarn},
		"mx host fails":             {failing: []string{"b.post.com"}, check: "mx", status: mailError, codes: "warn MX_HOST_LOOKUP_FAILED", overall: mailError},
		"mx is an address":          {zone: oneMX("93.184.216.40."), check: "mx", status: mailFail, codes: "fail MX_ADDRESS_LITERAL", overall: mailFail},
		"mx of a private network":   {zone: oneMX("mail.internal."), check: "mx", status: mailFail, codes: "fail MX_NAME_NOT_PUBLIC", overall: mailFail},
		"mx with a bad name":        {zone: oneMX(`a\032b.post.com.`), check: "mx", status: mailFail, codes: "fail MX_NAME_INVALID", overall: mailFail},
		"mx over ipv6 alone":        {zone: zone("hosts", "a.post.com. 300 IN AAAA 2606:2800:220:1::40\nb.post.com. 300 IN AAAA 2606:2800:220:1::40"), check: "mx", status: mailWarn, codes: "warn MX_NO_IPV4", overall: mailWarn},
		"mx with a made-up address": {zone: zone("hosts", "a.post.com. 300 IN A 93.184.216.40\na.post.com. 300 IN AAAA 64:ff9b::5db8:d828\nb.post.com. 300 IN A 93.184.216.41"), check: "mx", status: mailPass, overall: mailPass},
		"too many mx":               {zone: manyExchanges(16), check: "mx", status: mailWarn, codes: "warn MX_TOO_MANY", overall: mailFail},
		"as many mx as are read":    {zone: manyExchanges(15), check: "mx", status: mailPass, overall: mailFail},

		"spf passes":     {check: "spf", status: mailPass, overall: mailPass},
		"no spf":         {zone: gone("spf"), check: "spf", status: mailMissing, codes: "fail SPF_MISSING", overall: mailFail},
		"no spf, no mx":  {zone: map[string]string{"spf": "", "mx": "post.com. 300 IN MX 0 ."}, check: "spf", status: mailMissing, codes: "fail SPF_MISSING", overall: mailFail},
		"spf near":       {zone: txt("spf", "post.com", "v=spf1;-all"), check: "spf", status: mailMissing, codes: "fail SPF_MISSING, fail SPF_VERSION", overall: mailFail},
		"spf +all":       {zone: txt("spf", "post.com", "v=spf1 +all"), check: "spf", status: mailFail, codes: "fail SPF_ALLOWS_ALL", overall: mailFail},
		"spf ?all":       {zone: txt("spf", "post.com", "v=spf1 ?all"), check: "spf", status: mailWarn, codes: "warn SPF_NEUTRAL_ALL", overall: mailWarn},
		"spf ptr":        {zone: txt("spf", "post.com", "v=spf1 ptr -all"), check: "spf", status: mailWarn, codes: "warn SPF_PTR", overall: mailWarn},
		"spf fails":      {failing: []string{"x.com"}, zone: txt("spf", "post.com", "v=spf1 include:x.com -all"), check: "spf", status: mailError, codes: "warn SPF_LOOKUP_FAILED", overall: mailError},
		"spf root fails": {failing: []string{"post.com"}, check: "spf", status: mailError, codes: "warn SPF_LOOKUP_FAILED", overall: mailError},
		"spf wrong and failing": {failing: []string{"x.com"}, zone: txt("spf", "post.com", "v=spf1 include:x.com include:post.com -all"), check: "spf", status: mailFail,
			codes: "fail SPF_LOOP, warn SPF_LOOKUP_FAILED", overall: mailFail},
		"spf over ipv6 alone": {zone: map[string]string{"spf": "post.com. 300 IN TXT \"v=spf1 a:v6.com -all\"", "v6": "v6.com. 300 IN AAAA 2606:2800:220:1::40"}, check: "spf", status: mailPass, overall: mailPass},
		"spf of no one there": {zone: txt("spf", "post.com", "v=spf1 a:x.com a:y.com exists:z.com -all"), check: "spf", status: mailFail,
			codes:   "fail SPF_TOO_MANY_VOID_LOOKUPS, info SPF_VOID_LOOKUP, info SPF_VOID_LOOKUP, info SPF_VOID_LOOKUP",
			overall: mailFail},
		"spf of odd names": {zone: zone("spf", "post.com. 300 IN TXT \"v=spf1 a:foo:bar/baz.post.com a:it's(1).post.com -all\"\nfoo:bar/baz.post.com. 300 IN A 93.184.216.40\n"+`it\'s\(1\).post.com. 300 IN A 93.184.216.41`), check: "spf", status: mailPass, overall: mailPass},
		"spf of no name":   {zone: txt("spf", "post.com", "v=spf1 a:b..post.com -all"), check: "spf", status: mailWarn, codes: "warn SPF_NAME_INVALID", overall: mailWarn},
		"spf macro, dead":  {zone: txt("spf", "post.com", "v=spf1 include:gone.%{d} -all"), check: "spf", status: mailFail, codes: "fail SPF_TARGET_WITHOUT_RECORD", overall: mailFail},
		"spf several":      {zone: zone("spf", "post.com. 300 IN TXT \"v=spf1 -all\"\npost.com. 300 IN TXT \"v=spf1 ~all\""), check: "spf", status: mailFail, codes: "fail SPF_SEVERAL_RECORDS", overall: mailFail},

		"dmarc passes":    {check: "dmarc", status: mailPass, overall: mailPass},
		"no dmarc":        {zone: gone("dmarc"), check: "dmarc", status: mailMissing, codes: "fail DMARC_MISSING", overall: mailFail},
		"dmarc misplaced": {zone: map[string]string{"dmarc": `post.com. 300 IN TXT "v=DMARC1; p=reject"`}, check: "dmarc", status: mailMissing, codes: "fail DMARC_MISPLACED, fail DMARC_MISSING", overall: mailFail},
		"dmarc none":      {zone: txt("dmarc", "_dmarc.post.com", "v=DMARC1; p=none; rua=mailto:a@post.com"), check: "dmarc", status: mailWarn, codes: "warn DMARC_POLICY_NONE", overall: mailWarn},
		"dmarc several": {zone: zone("dmarc", "_dmarc.post.com. 300 IN TXT \"v=DMARC1; p=none\"\n_dmarc.post.com. 300 IN TXT \"v=DMARC1; p=reject\""), check: "dmarc", status: mailFail,
			codes: "fail DMARC_SEVERAL_RECORDS", overall: mailFail},
		"dmarc tested":                 {zone: txt("dmarc", "_dmarc.post.com", "v=DMARC1; p=reject; t=y; rua=mailto:a@post.com"), check: "dmarc", status: mailWarn, codes: "warn DMARC_TEST_MODE", overall: mailWarn},
		"dmarc in capitals":            {zone: txt("dmarc", "_dmarc.post.com", "V=DMARC1; p=reject; rua=mailto:a@post.com"), check: "dmarc", status: mailPass, overall: mailPass},
		"dmarc behind a blank":         {zone: txt("dmarc", "_dmarc.post.com", " v=DMARC1; p=reject"), check: "dmarc", status: mailMissing, codes: "fail DMARC_LEADING_BLANK, fail DMARC_MISSING", overall: mailFail},
		"dmarc reports no one takes":   {zone: txt("dmarc", "_dmarc.post.com", "v=DMARC1; p=reject; rua=mailto:a@other.com"), check: "dmarc", status: mailWarn, codes: "warn DMARC_REPORTS_NOT_AUTHORIZED", overall: mailWarn},
		"dmarc reports that are taken": {zone: zone("dmarc", "_dmarc.post.com. 300 IN TXT \"v=DMARC1; p=reject; rua=mailto:a@other.com\"\npost.com._report._dmarc.other.com. 300 IN TXT v=DMARC1"), check: "dmarc", status: mailPass, overall: mailPass},
		"dmarc fails":                  {failing: []string{"_dmarc.post.com"}, check: "dmarc", status: mailError, codes: "warn DMARC_LOOKUP_FAILED", overall: mailError},

		"dkim passes":        {check: "dkim", status: mailPass, codes: "info DKIM_ED25519", overall: mailPass},
		"no selector":        {selector: "-", check: "dkim", status: mailInfo, codes: "info DKIM_SELECTOR_NEEDED", overall: mailPass},
		"no key":             {selector: "s2", check: "dkim", status: mailMissing, codes: "warn DKIM_KEY_MISSING", overall: mailPass},
		"key revoked":        {zone: txt("dkim", "s1._domainkey.post.com", "v=DKIM1; p="), check: "dkim", status: mailFail, codes: "fail DKIM_KEY_REVOKED", overall: mailFail},
		"key broken":         {zone: txt("dkim", "s1._domainkey.post.com", "v=DKIM1; p=*"), check: "dkim", status: mailFail, codes: "fail DKIM_KEY_INVALID", overall: mailFail},
		"key fails":          {failing: []string{"s1._domainkey.post.com"}, check: "dkim", status: mailError, codes: "warn DKIM_LOOKUP_FAILED", overall: mailError},
		"key of no kind":     {zone: txt("dkim", "s1._domainkey.post.com", "hello"), check: "dkim", status: mailMissing, codes: "warn DKIM_KEY_MISSING, warn DKIM_NOT_A_KEY", overall: mailPass},
		"key at a wildcard":  {zone: zone("dkim", `s1._domainkey.post.com. 300 IN TXT "`+goodKey+"\"\n"+wildcardProbe+`._domainkey.post.com. 300 IN TXT "`+goodKey+`"`), check: "dkim", status: mailWarn, codes: "info DKIM_ED25519, warn DKIM_WILDCARD", overall: mailWarn},
		"text at a wildcard": {zone: zone("dkim", "s1._domainkey.post.com. 300 IN TXT hello\n"+wildcardProbe+"._domainkey.post.com. 300 IN TXT hello"), check: "dkim", status: mailMissing, codes: "warn DKIM_KEY_MISSING, warn DKIM_NOT_A_KEY, warn DKIM_WILDCARD", overall: mailPass},
		"revoked everywhere": {zone: zone("dkim", "s1._domainkey.post.com. 300 IN TXT \"v=DKIM1; p=\"\n"+wildcardProbe+"._domainkey.post.com. 300 IN TXT \"v=DKIM1; p=\""), check: "dkim", status: mailFail, codes: "fail DKIM_KEY_REVOKED, info DKIM_WILDCARD", overall: mailFail},
		"selector too long":  {selector: strings.Repeat(strings.Repeat("a", 62)+".", 4) + "b", check: "dkim", status: mailFail, codes: "fail DKIM_NAME_TOO_LONG", overall: mailFail},
		"dkim for null mx":   {zone: zone("mx", "post.com. 300 IN MX 0 ."), check: "dkim", status: mailNotApplicable, overall: mailPass},

		"sts passes":       {check: "mtaSts", status: mailPass, overall: mailPass},
		"no sts":           {zone: gone("sts"), check: "mtaSts", status: mailMissing, codes: "info MTASTS_MISSING", overall: mailPass},
		"sts fails":        {failing: []string{"_mta-sts.post.com"}, check: "mtaSts", status: mailError, codes: "warn MTASTS_LOOKUP_FAILED", overall: mailError},
		"sts host fails":   {failing: []string{"mta-sts.post.com"}, check: "mtaSts", status: mailError, codes: "warn MTASTS_HOST_LOOKUP_FAILED", overall: mailError},
		"sts without host": {zone: gone("web"), check: "mtaSts", status: mailFail, codes: "fail MTASTS_HOST_ABSENT", overall: mailFail},
		"sts at a private": {zone: zone("web", "mta-sts.post.com. 300 IN A 10.0.0.1"), check: "mtaSts", status: mailFail, codes: "fail MTASTS_POLICY_UNREACHABLE", overall: mailFail},
		"sts refused":      {zone: zone("web", "mta-sts.post.com. 300 IN A 93.184.216.43"), check: "mtaSts", status: mailFail, codes: "fail MTASTS_POLICY_UNREACHABLE", overall: mailFail},
		"sts several":      {zone: zone("sts", "_mta-sts.post.com. 300 IN TXT \"v=STSv1; id=1\"\n_mta-sts.post.com. 300 IN TXT \"v=STSv1; id=2\""), check: "mtaSts", status: mailFail, codes: "fail MTASTS_SEVERAL_RECORDS", overall: mailFail},
		"sts without id":   {zone: txt("sts", "_mta-sts.post.com", "v=STSv1"), check: "mtaSts", status: mailFail, codes: "fail MTASTS_ID", overall: mailFail},
		"sts expired": {config: func(a *toolstest.Authority) *tls.Config {
			return a.Issue("mta-sts.post.com", time.Now().Add(-time.Hour))
		}, check: "mtaSts", status: mailFail, codes: "fail MTASTS_CERTIFICATE", overall: mailFail},
		"sts self-signed":      {config: func(a *toolstest.Authority) *tls.Config { return a.SelfSign("mta-sts.post.com") }, check: "mtaSts", status: mailFail, codes: "fail MTASTS_CERTIFICATE", overall: mailFail},
		"sts of another host":  {config: func(a *toolstest.Authority) *tls.Config { return a.Issue("post.com", time.Now().Add(time.Hour)) }, check: "mtaSts", status: mailFail, codes: "fail MTASTS_CERTIFICATE", overall: mailFail},
		"sts redirects":        {policy: toolstest.RedirectHandler("https://mta-sts.post.com/other").ServeHTTP, check: "mtaSts", status: mailFail, codes: "fail MTASTS_POLICY_REDIRECT", overall: mailFail},
		"sts 404":              {policy: toolstest.StatusHandler(404).ServeHTTP, check: "mtaSts", status: mailFail, codes: "fail MTASTS_POLICY_ABSENT", overall: mailFail},
		"sts 500":              {policy: toolstest.StatusHandler(500).ServeHTTP, check: "mtaSts", status: mailFail, codes: "fail MTASTS_POLICY_ABSENT", overall: mailFail},
		"sts 204":              {policy: toolstest.StatusHandler(204).ServeHTTP, check: "mtaSts", status: mailFail, codes: "fail MTASTS_POLICY_ABSENT", overall: mailFail},
		"sts html":             {policy: func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<!doctype html><p>hello") }, check: "mtaSts", status: mailFail, codes: "fail MTASTS_MEDIA_TYPE", overall: mailFail},
		"sts cut off":          {policy: cutOff, check: "mtaSts", status: mailFail, codes: "fail MTASTS_POLICY_UNREACHABLE", overall: mailFail},
		"sts too long":         {policy: servePolicy(goodPolicy + strings.Repeat("x: y\n", maxPolicy/5)), check: "mtaSts", status: mailFail, codes: "fail MTASTS_POLICY_TOO_LONG", overall: mailFail},
		"sts testing":          {policy: policyWith("mode: testing\nmx: *.post.com\n"), check: "mtaSts", status: mailWarn, codes: "warn MTASTS_TESTING", overall: mailWarn},
		"sts none":             {policy: policyWith("mode: none\n"), check: "mtaSts", status: mailInfo, codes: "info MTASTS_NONE", overall: mailPass},
		"sts misses an mx":     {policy: policyWith("mode: enforce\nmx: a.post.com\n"), check: "mtaSts", status: mailFail, codes: "fail MTASTS_MX_NOT_COVERED", overall: mailFail},
		"sts names the parent": {policy: policyWith("mode: testing\nmx: post.com\n"), check: "mtaSts", status: mailFail, codes: "fail MTASTS_MX_NOT_COVERED, fail MTASTS_MX_NOT_COVERED, warn MTASTS_TESTING", overall: mailFail},
		"sts syntax":           {policy: policyWith("nonsense\nmode: enforce\nmx: *.post.com\n"), check: "mtaSts", status: mailFail, codes: "fail MTASTS_POLICY_SYNTAX", overall: mailFail},
		"sts, mx unknown":      {failing: []string{"post.com"}, check: "mtaSts", status: mailError, overall: mailError},
		"sts for implicit mx":  {zone: zone("mx", "post.com. 300 IN A 93.184.216.40"), policy: policyWith("mode: enforce\nmx: post.com\n"), check: "mtaSts", status: mailPass, overall: mailWarn},
		"sts, null mx beside":  {zone: zone("mx", "post.com. 300 IN MX 0 .\npost.com. 300 IN MX 10 a.post.com."), check: "mtaSts", status: mailPass, overall: mailFail},
		"sts for null mx":      {zone: zone("mx", "post.com. 300 IN MX 0 ."), check: "mtaSts", status: mailNotApplicable, overall: mailPass},

		"tlsrpt passes":      {check: "tlsRpt", status: mailPass, overall: mailPass},
		"no tlsrpt":          {zone: gone("tlsrpt"), check: "tlsRpt", status: mailMissing, codes: "info TLSRPT_MISSING", overall: mailPass},
		"tlsrpt fails":       {failing: []string{"_smtp._tls.post.com"}, check: "tlsRpt", status: mailError, codes: "warn TLSRPT_LOOKUP_FAILED", overall: mailError},
		"tlsrpt several":     {zone: zone("tlsrpt", "_smtp._tls.post.com. 300 IN TXT \"v=TLSRPTv1; rua=mailto:a@b.com\"\n_smtp._tls.post.com. 300 IN TXT \"v=TLSRPTv1; rua=mailto:c@b.com\""), check: "tlsRpt", status: mailFail, codes: "fail TLSRPT_SEVERAL_RECORDS", overall: mailFail},
		"tlsrpt for no one":  {zone: txt("tlsrpt", "_smtp._tls.post.com", "v=TLSRPTv1; rua="), check: "tlsRpt", status: mailFail, codes: "fail TLSRPT_NO_ADDRESS", overall: mailFail},
		"tlsrpt half":        {zone: txt("tlsrpt", "_smtp._tls.post.com", "v=TLSRPTv1; rua=mailto:a@b.com,x"), check: "tlsRpt", status: mailWarn, codes: "warn TLSRPT_URI_INVALID", overall: mailWarn},
		"tlsrpt for null mx": {zone: zone("mx", "post.com. 300 IN MX 0 ."), check: "tlsRpt", status: mailNotApplicable, overall: mailPass},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, _ := c.run(t)
			got := common(h, c.check)
			if got.Status != c.status || codes(got) != c.codes || h.Overall != c.overall {
				t.Errorf("%s %s, overall %s, %q; want %s, %s, %q", c.check, got.Status, h.Overall, codes(got), c.status, c.overall,
					c.codes)
			}
			holdTogether(t, h)
		})
	}
}

// holdTogether holds what is true of every result.
func holdTogether(t *testing.T, h Result) {
	t.Helper()
	s := h.Summary
	if s.Pass+s.Info+s.Warn+s.Fail+s.Missing+s.Error+s.NotApplicable != 6 {
		t.Errorf("summary %+v", s)
	}
	broken := slices.ContainsFunc(h.Findings, func(f finding.Finding) bool { return f.Group == finding.Broken })
	if (h.Conclusion.State == finding.Failed) != broken {
		t.Errorf("%+v", h.Report)
	}
	for _, name := range []string{"mx", "spf", "dmarc", "dkim", "mtaSts", "tlsRpt"} {
		c := common(h, name)
		if c.Issues == nil || !strings.HasSuffix(c.Summary, ".") || c.Status == "" {
			t.Errorf("%s: %+v", name, c)
		}
		for _, i := range c.Issues {
			if !slices.ContainsFunc(h.Findings, func(f finding.Finding) bool {
				return f.Message == i.Message && f.Severity == i.Severity
			}) {
				t.Errorf("%s: no finding of %+v", name, i)
			}
			if !strings.HasPrefix(i.Reference, "RFC ") || !strings.HasSuffix(i.Message, ".") ||
				strings.Contains(i.Message, "10.0.0.1") || strings.Contains(i.Message, "192.168.") {
				t.Errorf("%s: %+v", name, i)
			}
		}
	}
}

func manyExchanges(n int) map[string]string {
	var records, hosts strings.Builder
	for i := range n {
		fmt.Fprintf(&records, "post.com. 300 IN MX %d m%d.post.com.\n", i, i)
		fmt.Fprintf(&hosts, "m%d.post.com. 300 IN A 93.184.216.40\n", i)
	}
	return map[string]string{"mx": records.String(), "hosts": hosts.String()} // "mx" in SPF then leads to too many
}

func cutOff(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Content-Length", "1000")
	_, _ = io.WriteString(w, goodPolicy)
	panic(http.ErrAbortHandler)
}

func TestEmailShape(t *testing.T) {
	t.Parallel()
	h, n := testCase{}.run(t)
	fields := toolstest.Fields(t, h)
	if h.Conclusion.Code != codeWell || len(h.Findings) != 1 || h.Findings[0].Code != "DKIM_ED25519" {
		t.Errorf("%+v", h.Report)
	}
	delete(fields, "conclusion")
	delete(fields, "findings")
	want := map[string]any{
		"domain": "post.com", "overall": "pass", "note": nil, "bimi": nil, "bimiReason": nil,
		"summary": map[string]any{"pass": 6.0, "info": 0.0, "warn": 0.0, "fail": 0.0, "missing": 0.0, "error": 0.0, "notApplicable": 0.0},
		"checks": map[string]any{
			"mx": map[string]any{
				"status": "pass", "summary": "2 of 2 mail exchanges have an address; no mail server was contacted.", "record": "10 a.post.com, 20 b.post.com", "issues": []any{}, "nullMx": false,
				"hosts": []any{
					map[string]any{"exchange": "a.post.com", "priority": 10.0,
						"addresses": []any{"93.184.216.40", "2606:2800:220:1::40"}, "tlsa": []any{}, "tlsaAuthenticated": nil, "tlsaName": nil,
						"addressNames": []any{
							map[string]any{"address": "93.184.216.40", "hostname": "h40.host.net", "confirmed": true},
							map[string]any{"address": "2606:2800:220:1::40", "hostname": "six.host.net", "confirmed": true},
						}},
					map[string]any{"exchange": "b.post.com", "priority": 20.0, "addresses": []any{"93.184.216.41"},
						"tlsa": []any{}, "tlsaAuthenticated": nil, "tlsaName": nil, "addressNames": []any{
							map[string]any{"address": "93.184.216.41", "hostname": "h41.host.net", "confirmed": true},
						}},
				},
			},
			"spf": map[string]any{
				"status": "pass", "summary": "SPF rejects all other senders (-all). It uses 1 of 10 DNS lookups.", "record": "v=spf1 mx -all", "issues": []any{}, "lookups": 1.0, "voidLookups": 0.0, "all": "-all", "suggestion": nil,
				"tree": map[string]any{"term": "v=spf1", "domain": "post.com", "lookups": 1.0, "voidLookups": 0.0, "record": "v=spf1 mx -all", "error": nil, "children": []any{
					map[string]any{"term": "mx", "domain": "post.com", "lookups": 1.0, "voidLookups": 0.0, "record": nil,
						"error": nil, "children": []any{}},
					map[string]any{"term": "-all", "domain": nil, "lookups": 0.0, "voidLookups": 0.0, "record": nil, "error": nil,
						"children": []any{}},
				}},
			},
			"dmarc": map[string]any{
				"status": "pass", "summary": "The policy for mail that fails is reject, from the record of post.com.", "record": "v=DMARC1; p=reject; rua=mailto:d@post.com", "issues": []any{},
				"policy": "reject", "subdomainPolicy": "reject", "nonexistentSubdomainPolicy": "reject", "foundAt": "post.com", "organizationalDomain": "post.com", "testMode": false,
				"alignment": map[string]any{"dkim": "relaxed", "spf": "relaxed"}, "reportAddresses": []any{"mailto:d@post.com"}, "failureReportAddresses": []any{}, "reportDestinations": []any{},
			},
			"dkim": map[string]any{
				"status": "pass", "summary": "DKIM key of type ed25519 with 256 bits.", "record": goodKey, "selector": "s1", "keyType": "ed25519", "keyBits": 256.0, "tried": []any{}, "found": []any{},
				"issues": []any{map[string]any{"code": "DKIM_ED25519", "severity": "info", "reference": "RFC 8463 section 5", "message": "Not every receiver verifies Ed25519. Sign with an RSA key at another selector too."}},
			},
			"mtaSts": map[string]any{
				"status": "pass", "summary": "The MTA-STS policy covers every mail exchange, in mode enforce.", "record": "v=STSv1; id=1", "issues": []any{},
				"policy": goodPolicy, "mode": "enforce", "mxPatterns": []any{"*.post.com"}, "maxAge": 1209600.0,
			},
			"tlsRpt": map[string]any{
				"status": "pass", "summary": "TLS reports go to one address.", "record": "v=TLSRPTv1; rua=mailto:t@post.com", "issues": []any{}, "reportAddresses": []any{"mailto:t@post.com"},
			},
		},
	}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("shape (-want +got):\n%s", diff)
	}
	toolstest.WantDials(t, n, "93.184.216.42:443")
}

// TestEmailSPFSummary: the sentence speaks of what there is, and of no record where there are several.
func TestEmailSPFSummary(t *testing.T) {
	t.Parallel()
	for records, want := range map[string]string{
		`post.com. 300 IN TXT "v=spf1 a:a.post.com -all"`:                                   "SPF rejects all other senders (-all). It uses 1 of 10 DNS lookups.",
		`post.com. 300 IN TXT "v=spf1 a:a.post.com"`:                                        "SPF says nothing about other senders (no all term). It uses 1 of 10 DNS lookups.",
		`post.com. 300 IN TXT "v=spf1 redirect=gone.post.com"`:                              "The end of the SPF record could not be read. It uses 1 of 10 DNS lookups.",
		`post.com. 300 IN TXT "v=spf1 redirect=%{l}.post.com"`:                              "The end of the SPF record could not be read. It uses 1 of 10 DNS lookups.",
		"post.com. 300 IN TXT \"v=spf1 redirect=x.com\"\nx.com. 300 IN TXT v=spf1":          "SPF leads to the record of x.com, which has no all term. It uses 1 of 10 DNS lookups.",
		"post.com. 300 IN TXT \"v=spf1 redirect=x.com\"\nx.com. 300 IN TXT \"v=spf1 ~all\"": "SPF marks all other senders as suspicious (~all). It uses 1 of 10 DNS lookups.",
		`post.com. 300 IN TXT "v=spf1 mx -all;"`:                                            "The end of the SPF record could not be read. It uses 1 of 10 DNS lookups.",
		`post.com. 300 IN TXT "v=spf1 a a a a a a a a a a mx -all"`:                         "SPF rejects all other senders (-all). It needs 11 DNS lookups, of which receivers make at most 10.",
		`post.com. 300 IN TXT "v=spf1 -all"`:                                                "The domain sends no mail: its SPF record authorizes nobody.",
		"post.com. 300 IN TXT \"v=spf1 -all\"\npost.com. 300 IN TXT \"v=spf1 ~all\"":        "There are several SPF records, so receivers use none of them.",
	} {
		h, _ := testCase{zone: map[string]string{"spf": records}}.run(t)
		if got := h.Checks.SPF.Summary; got != want {
			t.Errorf("%s: %q, want %q", records, got, want)
		}
	}
}

func TestEmailDomainThatDoesNotExist(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	h := checkDomain(t, t.Context(), n, nil, "nowhere.com", "s1")
	if h.Overall != mailFail || h.Checks.MX.Status != mailFail || codes(h.Checks.MX.check) != "fail DOMAIN_NOT_FOUND" ||
		h.Summary.Missing != 5 {
		t.Errorf("%+v", h)
	}
	if *h.Checks.DKIM.Selector != "s1" || h.Checks.SPF.Tree == nil {
		t.Errorf("%+v", h.Checks)
	}
	holdTogether(t, h)
	if q := n.Queries(); len(q) != 3 { // MX, A and AAAA
		t.Errorf("asked %v", q)
	}
}

// TestEmailDomainThatIsDeniedInPart: only NXDOMAIN for both A and AAAA proves that a domain does not exist.
func TestEmailDomainThatIsDeniedInPart(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		qtype  uint16 // the one that is not denied
		record string
		codes  string
	}{
		"an IPv4 address": {dns.TypeA, "half.com. 300 IN A 93.184.216.34", "info MX_ADDRESS_WITHOUT_NAME, warn DNS_CONTRADICTS, warn MX_IMPLICIT"},
		"no address":      {dns.TypeAAAA, "", "warn DNS_CONTRADICTS, warn MX_MISSING"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := egresstest.New(t)
			n.Handle("half.com", func(q *dns.Msg) *dns.Msg {
				switch {
				case q.Question[0].Qtype != test.qtype:
					return egresstest.Reply(q, dns.RcodeNameError)
				case test.record == "":
					return egresstest.Reply(q, 0)
				}
				return egresstest.Reply(q, 0, test.record)
			})
			h := checkDomain(t, t.Context(), n, nil, "half.com", "")
			if got := codes(h.Checks.MX.check); got != test.codes {
				t.Errorf("%s: %+v", got, h.Checks.MX)
			}
		})
	}
}

// TestEmailAliasToNothing exists, as an alias, even though what it leads to does not.
func TestEmailAliasToNothing(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("alias.com. 300 IN CNAME gone.net.")
	if h := checkDomain(t, t.Context(), n, nil, "alias.com", ""); h.Checks.MX.Status != mailMissing {
		t.Errorf("%+v", h.Checks.MX)
	}
}

func TestEmailWithoutMail(t *testing.T) {
	t.Parallel()
	const null, none, reject = "quiet.com. 300 IN MX 0 .", `quiet.com. 300 IN TXT "v=spf1 -all"`,
		`_dmarc.quiet.com. 300 IN TXT "v=DMARC1; p=reject; rua=mailto:a@quiet.com"`
	for note, records := range map[string][]string{
		"quiet.com neither sends nor accepts mail, and all of its records say so.":                          {null, none, reject},
		"quiet.com neither sends nor accepts mail. A DMARC record with p=reject would complete that.":       {null, none},
		"quiet.com sends no mail: its SPF record authorizes nobody.":                                        {none, reject},
		"quiet.com accepts no mail (null MX). If it sends none either, publish the SPF record v=spf1 -all.": {null},
	} {
		n := egresstest.New(t)
		n.Records(records...)
		h := checkDomain(t, t.Context(), n, nil, "quiet.com", "s1")
		if h.Note == nil || *h.Note != note {
			t.Errorf("%q: %v", note, h.Note)
		}
		holdTogether(t, h)
		if h.Checks.MX.NullMX {
			if h.Summary.NotApplicable != 3 || n.QueriesFor("_mta-sts.quiet.com",
				dns.TypeTXT)+n.QueriesFor("s1._domainkey.quiet.com", dns.TypeTXT) != 0 {
				t.Errorf("%q: %+v", note, h.Summary)
			}
		}
	}
}

func TestEmailNoFetchWithoutTheRecord(t *testing.T) {
	t.Parallel()
	h, n := testCase{zone: map[string]string{"sts": ""}}.run(t)
	if h.Checks.MTASTS.Status != mailMissing || len(n.Dials()) != 0 || n.QueriesFor("mta-sts.post.com", dns.TypeA) != 0 {
		t.Errorf("%s, dialled %v", h.Checks.MTASTS.Status, n.Dials())
	}
}

// TestEmailNamesOfPrivateNetworksAreNotAsked: a resolver inside a private network would answer for them.
func TestEmailNamesOfPrivateNetworksAreNotAsked(t *testing.T) {
	t.Parallel()
	_, n := testCase{zone: map[string]string{
		"mx": "post.com. 300 IN MX 10 mail.internal.\npost.com. 300 IN MX 10 localhost.", "spf": `post.com. 300 IN TXT "v=spf1 a:db.internal include:x.localhost exists:y.corp mx:z.home.arpa -all"`,
		"dmarc": `_dmarc.post.com. 300 IN TXT "v=DMARC1; p=reject; rua=mailto:a@b.internal"`,
	}}.run(t)
	for _, q := range n.Queries() {
		if name := strings.TrimSuffix(q.Name, "."); !strings.HasSuffix(name, "com") {
			t.Errorf("asked for %s", name)
		}
	}
}

// TestEmailQuestionsAreBounded gives a run more to query than it may.
func TestEmailQuestionsAreBounded(t *testing.T) {
	t.Parallel()
	zone := manyExchanges(40)
	record := "v=spf1"
	for i := range 40 {
		record += fmt.Sprintf(" a:v%d.void.com", i)
	}
	zone["spf"] = `post.com. 300 IN TXT "` + record[:250] + `" "` + record[250:] + ` -all"`
	h, n := testCase{zone: zone, selector: "-"}.run(t)
	if asked := len(n.Queries()); asked > maxMailQueries+maxAside+2 { // the policy's own host is resolved once more
		t.Errorf("asked %d questions", asked)
	}
	if h.Checks.SPF.Status != mailFail || h.Checks.SPF.Lookups != 40 {
		t.Errorf("%s, %d lookups", h.Checks.SPF.Status, h.Checks.SPF.Lookups)
	}
}

func TestMailResolverStopsAtItsBound(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	r := newResolver(n.Client(nil))
	r.left = 1
	for range 2 { // the same question costs once
		if _, err := r.TXT(t.Context(), "a.com"); err == nil || strings.Contains(err.Error(), "EBOUND") {
			t.Errorf("%v", err)
		}
	}
	if _, err := r.TXT(t.Context(), "b.com"); err == nil || !strings.Contains(err.Error(), "EBOUND") {
		t.Errorf("%v", err)
	}
	if _, err := r.TXT(t.Context(), strings.Repeat("a.", 130)+"com"); err == nil ||
		strings.Contains(err.Error(), "EBOUND") {
		t.Errorf("a name that cannot exist: %v", err)
	}
}

// TestEmailDeadline cuts the run while a name server and the policy's host are silent.
func TestEmailDeadline(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	for _, lines := range testZone {
		for line := range strings.Lines(lines) {
			n.Records(strings.TrimSpace(line))
		}
	}
	n.Handle("_smtp._tls.post.com", func(*dns.Msg) *dns.Msg { return nil })
	n.Drop("93.184.216.42:443")
	const bound = 700 * time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	h := checkDomain(t, ctx, n, nil, "post.com", "s1")
	if h.Checks.TLSRPT.Status != mailError || h.Checks.MTASTS.Status != mailError ||
		codes(h.Checks.MTASTS.check) != "warn MTASTS_NOT_FINISHED" || h.Checks.SPF.Status != mailPass ||
		h.Overall != mailError {
		t.Errorf("%+v", h.Checks)
	}
	holdTogether(t, h)
}

func TestEmailEndsWithTheClient(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	ctx, cancel := context.WithCancel(t.Context())
	n.Handle("post.com", func(*dns.Msg) *dns.Msg { cancel(); return nil })
	_, err := run(ctx, n.Client(nil), query{domain: mustDomain(t, "post.com")})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestEmailAddressOfItsOwnFails is a domain without MX records whose address is not known.
func TestEmailAddressOfItsOwnFails(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("post.com. 300 IN TXT x")
	n.Handle("post.com", func(q *dns.Msg) *dns.Msg {
		if q.Question[0].Qtype == dns.TypeA {
			return new(dns.Msg).SetRcode(q, dns.RcodeServerFailure)
		}
		return n.Recursive(q)
	})
	if mx := checkDomain(t, t.Context(), n, nil, "post.com", "").Checks.MX; mx.Status != mailError ||
		codes(mx.check) != "warn MX_LOOKUP_FAILED" {
		t.Errorf("%+v", mx)
	}
}

func TestEmailDMARCDetails(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("sub.post.com. 300 IN TXT x",
		`_dmarc.post.com. 300 IN TXT "v=DMARC1; p=reject; sp=quarantine; np=reject; adkim=s; aspf=s; t=y; rua=mailto:d@post.com,https://post.com/r; ruf=mailto:f@post.com"`)
	c := checkDomain(t, t.Context(), n, nil, "sub.post.com", "").Checks.DMARC
	if *c.Policy != "quarantine" || *c.SubdomainPolicy != "quarantine" || *c.NonexistentPolicy != "reject" ||
		*c.FoundAt != "post.com" || *c.OrganizationalDomain != "post.com" || !c.TestMode {
		t.Errorf("%+v", c)
	}
	if diff := cmp.Diff(dmarcAlignment{"strict", "strict"}, c.Alignment); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"mailto:d@post.com", "https://post.com/r"}, c.ReportAddresses); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"mailto:f@post.com"}, c.FailureAddresses); diff != "" {
		t.Error(diff)
	}
}

// TestEmailShorterSPF: a record that is too costly is offered shorter, with the addresses of both families.
func TestEmailShorterSPF(t *testing.T) {
	t.Parallel()
	record := "v=spf1" + strings.Repeat(" a:a.post.com", 9) + " mx a:b.post.com -all"
	h, _ := testCase{zone: map[string]string{"spf": `post.com. 300 IN TXT "` + record + `"`}}.run(t)
	got := h.Checks.SPF.Suggestion
	if h.Checks.SPF.Lookups != 11 || got == nil || got.Record != "v=spf1 a:a.post.com mx -all" || got.Lookups != 2 {
		t.Errorf("%d lookups, %+v", h.Checks.SPF.Lookups, got)
	}
	failing := testCase{failing: []string{"x.com"}, zone: map[string]string{"spf": `post.com. 300 IN TXT "` +
		strings.Replace(record, "-all", "a:x.com -all", 1) + `"`}}
	if h, _ := failing.run(t); h.Checks.SPF.Suggestion != nil {
		t.Errorf("what could not be looked up is not known to be shorter: %+v", h.Checks.SPF.Suggestion)
	}
}

// TestEmailDMARCSummary: the sentence states what receivers do, and what stands in the way of a record.
func TestEmailDMARCSummary(t *testing.T) {
	t.Parallel()
	for record, want := range map[string]string{
		"v=DMARC1; p=reject":      "The policy for mail that fails is reject, from the record of post.com.",
		"v=DMARC1; p=reject; t=y": "The policy for mail that fails is reject, from the record of post.com. It is being tested (t=y), so receivers apply quarantine.",
		"v=DMARC1; p=none; t=y":   "The policy for mail that fails is none, from the record of post.com.",
		" v=DMARC1; p=reject":     "There is a TXT record for DMARC, but receivers do not recognize it.",
		"v=dmarc1; p=reject":      "There is a TXT record for DMARC, but receivers do not recognize it.",
		"hello":                   "Neither the domain nor its parents have a DMARC record.",
	} {
		zone := map[string]string{"dmarc": `_dmarc.post.com. 300 IN TXT "` + record + `"`}
		if h, _ := (testCase{zone: zone}).run(t); h.Checks.DMARC.Summary != want {
			t.Errorf("%q: %q", record, h.Checks.DMARC.Summary)
		}
	}
}

// TestEmailNoteOnATestedPolicy: a policy that is not applied in full does not complete anything.
func TestEmailNoteOnATestedPolicy(t *testing.T) {
	t.Parallel()
	zone := map[string]string{"mx": "post.com. 300 IN MX 0 .", "spf": `post.com. 300 IN TXT "v=spf1 -all"`,
		"dmarc": `_dmarc.post.com. 300 IN TXT "v=DMARC1; p=reject; t=y"`}
	h, _ := testCase{zone: zone}.run(t)
	if h.Note == nil || !strings.Contains(*h.Note, "A DMARC record with p=reject would complete that.") {
		t.Errorf("%v", h.Note)
	}
}

// TestEmailReportDestinations: domains that take reports, that do not, and that could not be queried.
func TestEmailReportDestinations(t *testing.T) {
	t.Parallel()
	zone := map[string]string{
		"dmarc": `_dmarc.post.com. 300 IN TXT "v=DMARC1; p=reject; rua=mailto:a@a.com,mailto:b@post.com; ruf=mailto:x@b.com,mailto:x@c.com"`,
		"taken": `post.com._report._dmarc.a.com. 300 IN TXT v=DMARC1`,
	}
	h, _ := testCase{failing: []string{"post.com._report._dmarc.c.com"}, zone: zone}.run(t)
	yes, no := true, false
	want := []reportDestination{
		{"a.com", "post.com._report._dmarc.a.com", &yes},
		{"b.com", "post.com._report._dmarc.b.com", &no},
		{"c.com", "post.com._report._dmarc.c.com", nil},
	}
	if diff := cmp.Diff(want, h.Checks.DMARC.Destinations); diff != "" || h.Checks.DMARC.Status != mailError {
		t.Errorf("%s: %s", h.Checks.DMARC.Status, diff)
	}
}

func TestEmailPolicyHostOutOfReach(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("post.com. 300 IN MX 10 a.post.com.", "a.post.com. 300 IN A 93.184.216.40", testZone["sts"], testZone["web"])
	n.Fail("93.184.216.42:443", syscall.EHOSTUNREACH)
	h := checkDomain(t, t.Context(), n, nil, "post.com", "")
	if codes(h.Checks.MTASTS.check) != "fail MTASTS_POLICY_UNREACHABLE" {
		t.Errorf("%+v", h.Checks.MTASTS)
	}
	n.Fail("93.184.216.42:443", toolstest.OurFault)
	h = checkDomain(t, t.Context(), n, nil, "post.com", "")
	if codes(h.Checks.MTASTS.check) != "warn MTASTS_NOT_FINISHED" || h.Checks.MTASTS.Status != mailError {
		t.Errorf("a fault of ours: %+v", h.Checks.MTASTS)
	}
}

func mustDomain(t *testing.T, name string) target.Domain {
	t.Helper()
	d, err := target.ParseDomain(name, false)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestEmailOwnResolverFails: what this service's own resolver fails at is no fault of the domain's name servers.
func TestEmailOwnResolverFails(t *testing.T) {
	t.Parallel()
	n := egresstest.New(t)
	n.Records("post.com. 300 IN MX 10 a.post.com.", "a.post.com. 300 IN A 93.184.216.40")
	n.Fail(egresstest.ResolverAddr.String(), syscall.ECONNREFUSED)
	h := checkDomain(t, t.Context(), n, nil, "post.com", "")
	for _, c := range []check{h.Checks.MX.check, h.Checks.SPF.check, h.Checks.DMARC.check} {
		said := fmt.Sprint(c.Summary, c.Issues)
		if c.Status != mailError || !strings.Contains(said, "this service's own resolver") ||
			strings.Contains(said, "repair") {
			t.Errorf("%s: %s", c.Status, said)
		}
	}
}
