package lab

import (
	"fmt"
	"maps"
	"strings"

	"diagnostics/lab/internal/site"
	"diagnostics/lab/internal/zone"

	"github.com/miekg/dns"
)

// Public keys without private halves: RSA of three lengths, and the one of RFC 8463 appendix A.2.
const (
	rsa512 = "MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAMaNXbSV1kiyJdc8ufLloT+FoifaQTq7FrHnzyuilCjuNa/SRQhQjZc8gC7k1SUdnqQ1" +
		"UsFtOx2HUqNOjMS30wsCAwEAAQ=="
	rsa1024 = "MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQDL11sE4WHrN9i9PhQp2rUVPWDjP7h3HQhY9OlfcIF2LD45Kh7NIpAsgGc5SKId" +
		"6oiXGIXs6X3wBQ7hOuEObWv0Q2rQkcNCpNK4vXdhSfoVCYokUu/99kVIwYIw6DQu/wZ2dpTFgnoCxzpaLWNb87S3wXShJQ9cCY5g" +
		"ikjBa9jHiQIDAQAB"
	rsa2048 = "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAw+t1yL1GFejIxYejxHfs4vxAQjhnSvar8E1UlNBlr2iydVXzL2jy+RAb" +
		"H1dpJ4HiaoxJ4IFfzNdPxrqwyrznPi1vvHJT0BRXx4ArNI+fUk2eDzB4zAGHRdq1gX/gEdwbJ+IgcNAiFJYVT+KDfX1A9DBKiMCq" +
		"WZEpg9dFAcgxeGqqnvUzCsVBaSe40bA32PiYwWTfqmXh4a/q7Tb2B4FU3p3TuV1de2dOKG8Vw8ykuuWryquJGrpJ0UjmH5trhl7p" +
		"2D2fmd2snKBFDeuvn03XHuvmPxiuYCwgOCEJdioKcQEFrdihCqyp13bWJczweP+hi2M6pWgmz25m+2nMYE5/uwIDAQAB"
	ed25519 = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
)

// mailDomain is one domain and what it publishes: its parts are those of goodMail but for the ones that change says. In
// all lines DOMAIN is the domain itself; an empty part takes the good one away.
type mailDomain struct {
	label, note string
	change      parts
	// servfail are names that no resolver gets an answer for.
	servfail []string
	// signed are names that the resolvers vouch for, as where DNSSEC proves them.
	signed []string
	// selectors is a record that every DKIM selector without one of its own answers with.
	selectors string
}

type parts map[string]string

// goodMail is a domain with everything in order. It has no MTA-STS, which needs a site: see stsDomains.
var goodMail = parts{
	"mx":     "DOMAIN. 300 IN MX 10 a.DOMAIN.\nDOMAIN. 300 IN MX 20 b.DOMAIN.",
	"hosts":  "a.DOMAIN. 300 IN A 11.80.0.40\na.DOMAIN. 300 IN AAAA 2a10:80::40\nb.DOMAIN. 300 IN A 11.80.0.41",
	"spf":    `DOMAIN. 300 IN TXT "v=spf1 mx " "-all"`,
	"dmarc":  `_dmarc.DOMAIN. 300 IN TXT "v=DMARC1; p=reject; rua=mailto:d@DOMAIN"`,
	"dkim":   `s1._domainkey.DOMAIN. 300 IN TXT ` + key("v=DKIM1; k=rsa; p="+rsa2048),
	"sts":    "",
	"tlsrpt": `_smtp._tls.DOMAIN. 300 IN TXT "v=TLSRPTv1; rua=mailto:t@DOMAIN"`,
}

// key quotes a record in strings of at most 255 bytes.
func key(record string) string {
	var b strings.Builder
	for len(record) > 0 {
		n := min(len(record), 255)
		fmt.Fprintf(&b, "%q ", record[:n])
		record = record[n:]
	}
	return b.String()
}

func spf(record string) parts { return parts{"spf": `DOMAIN. 300 IN TXT "` + record + `"`} }

func dmarc(record string) parts { return parts{"dmarc": `_dmarc.DOMAIN. 300 IN TXT "` + record + `"`} }

// fortySenders are networks of which none lies beside the next.
func fortySenders() string {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, " ip4:11.80.%d.0/25", i)
	}
	return b.String()
}

func dkim(record string) parts {
	return parts{"dkim": `s1._domainkey.DOMAIN. 300 IN TXT ` + key(record)}
}

func mx(record string) parts { return parts{"mx": "DOMAIN. 300 IN MX " + record} }

// mailDomains show what a mail check can find, one fault each.
var mailDomains = []mailDomain{
	{label: "plain", note: "mail in order, without MTA-STS; DKIM selector s1"},
	{label: "nomail", note: "takes and sends no mail, and says so",
		change: parts{"mx": "DOMAIN. 300 IN MX 0 .", "spf": `DOMAIN. 300 IN TXT "v=spf1 -all"`, "hosts": "", "dkim": "",
			"tlsrpt": ""}},
	{label: "nothing", note: "an address and no mail records",
		change: parts{"mx": "DOMAIN. 300 IN A 11.80.0.1", "hosts": "", "spf": "", "dmarc": "", "dkim": "", "tlsrpt": ""}},
	{label: "bare", note: "neither exchange nor address", change: parts{"mx": ""}},

	{label: "mxgone", note: "an exchange without an address", change: parts{"hosts": "a.DOMAIN. 300 IN A 11.80.0.40"}},
	{label: "mxprivate", note: "an exchange at a private address",
		change: parts{"hosts": "a.DOMAIN. 300 IN A 11.80.0.40\nb.DOMAIN. 300 IN A 192.168.1.1"}},
	{label: "mxalias", note: "an exchange that is an alias",
		change: parts{"hosts": "a.DOMAIN. 300 IN A 11.80.0.40\nb.DOMAIN. 300 IN CNAME a.DOMAIN."}},
	{label: "mxliteral", note: "an address in place of an exchange's name", change: mx("10 11.80.0.40.")},
	{label: "mxnull", note: "a null MX beside another", change: mx("0 .\nDOMAIN. 300 IN MX 10 a.DOMAIN.")},
	{label: "mxfails", note: "its DNS fails", servfail: []string{"DOMAIN"}},

	{label: "spfall", note: "everybody may send", change: spf("v=spf1 +all")},
	{label: "spfneutral", note: "SPF without an opinion", change: spf("v=spf1 mx ?all")},
	{label: "spfsoft", note: "SPF that only doubts", change: spf("v=spf1 mx ~all")},
	{label: "spfopen", note: "SPF without an end", change: spf("v=spf1 mx")},
	{label: "spfptr", note: "SPF by reverse names", change: spf("v=spf1 ptr -all")},
	{label: "spfsyntax", note: "SPF with a mistake", change: spf("v=spf1 mx ipv4:11.80.0.1 -all")},
	{label: "spftwo", note: "two SPF records", change: spf("v=spf1 mx -all\"\nDOMAIN. 300 IN TXT \"v=spf1 ~all")},
	{label: "spfloop", note: "SPF that includes itself",
		change: spf("v=spf1 include:x.DOMAIN -all\"\nx.DOMAIN. 300 IN TXT \"v=spf1 include:DOMAIN -all")},
	{label: "spftree", note: "SPF as a tree of ten lookups",
		change: spf("v=spf1 include:t1.DOMAIN include:t2.DOMAIN redirect=t3.DOMAIN\"\n" +
			"t1.DOMAIN. 300 IN TXT \"v=spf1 a:a.DOMAIN mx:DOMAIN include:t4.DOMAIN ?all\"\n" +
			"t2.DOMAIN. 300 IN TXT \"v=spf1 exists:a.DOMAIN a:b.DOMAIN ip6:2a10:80::/64\"\n" +
			"t3.DOMAIN. 300 IN TXT \"v=spf1 a:a.DOMAIN ~all\"\n" +
			"t4.DOMAIN. 300 IN TXT \"v=spf1 a:b.DOMAIN -all")},
	{label: "spfeleven", note: "SPF with one lookup too many",
		change: spf("v=spf1" + strings.Repeat(" a:a.DOMAIN", 11) + " -all")},
	{label: "spfvoid", note: "SPF that looks for what is not there",
		change: spf("v=spf1 a:x1.DOMAIN a:x2.DOMAIN a:x3.DOMAIN -all")},
	{label: "spffails", note: "SPF whose include fails", change: spf("v=spf1 include:x.DOMAIN -all"),
		servfail: []string{"x.DOMAIN"}},

	{label: "spfdead", note: "SPF that includes nothing, behind a macro", change: spf("v=spf1 include:gone.%{d} -all")},
	{label: "spfmacro", note: "SPF with macros that are the same in all mail",
		change: spf("v=spf1 mx:%{o} include:%{d1r}.%{d} exists:%{i}.%{d} -all\"\n" +
			"lab-spfmacro-mail.DOMAIN. 300 IN TXT \"v=spf1 a:a.%{o} -all")},
	{label: "spfnames", note: "SPF with names that no host has, and one that cannot be", change: parts{
		"spf":  `DOMAIN. 300 IN TXT "v=spf1 a:foo:bar/baz.DOMAIN a:b..DOMAIN -all"`,
		"odds": "foo:bar/baz.DOMAIN. 300 IN A 11.80.0.40"}},
	{label: "spflong", note: "SPF with forty senders, too long for one record",
		change: parts{"spf": "DOMAIN. 300 IN TXT " + key("v=spf1"+fortySenders()+" -all")}},

	{label: "dmarccaps", note: "DMARC with its first tag in capitals",
		change: dmarc("V=DMARC1; p=reject; rua=mailto:d@DOMAIN")},
	{label: "dmarcblank", note: "DMARC behind a blank", change: dmarc(" v=DMARC1; p=reject; rua=mailto:d@DOMAIN")},
	{label: "dmarctested", note: "DMARC under test", change: dmarc("v=DMARC1; p=reject; t=y; rua=mailto:d@DOMAIN")},
	{label: "dmarcnone", note: "DMARC that only watches", change: dmarc("v=DMARC1; p=none; rua=mailto:d@DOMAIN")},
	{label: "dmarctwo", note: "two DMARC records",
		change: dmarc("v=DMARC1; p=none\"\n_dmarc.DOMAIN. 300 IN TXT \"v=DMARC1; p=reject")},
	{label: "dmarcstrict", note: "DMARC with every tag; sub.… inherits its policy", change: parts{
		"dmarc": `_dmarc.DOMAIN. 300 IN TXT "v=DMARC1; p=reject; sp=quarantine; np=reject; psd=n; ` +
			`adkim=s; aspf=s; rua=mailto:d@DOMAIN,mailto:r@lab-plain-mail.com"` +
			"\nDOMAIN._report._dmarc.lab-plain-mail.com. 300 IN TXT \"v=DMARC1\"",
		"below": "sub.DOMAIN. 300 IN MX 10 a.DOMAIN.\nsub.DOMAIN. 300 IN TXT \"v=spf1 mx -all\""}},
	{label: "dmarcforeign", note: "reports to a domain that did not agree",
		change: dmarc("v=DMARC1; p=reject; rua=mailto:r@lab-nothing-mail.com")},
	{label: "dmarcfails", note: "the lookup of its DMARC record fails", servfail: []string{"_dmarc.DOMAIN"}},

	{label: "dkimed", note: "an Ed25519 key", change: dkim("v=DKIM1; k=ed25519; p=" + ed25519)},
	{label: "dkimshort", note: "a key of 1,024 bits", change: dkim("v=DKIM1; p=" + rsa1024)},
	{label: "dkimweak", note: "a key of 512 bits", change: dkim("v=DKIM1; p=" + rsa512)},
	{label: "dkimtest", note: "a key under test", change: dkim("v=DKIM1; t=y; p=" + rsa2048)},
	{label: "dkimrevoked", note: "a revoked key", change: dkim("v=DKIM1; p=")},
	{label: "dkimtwo", note: "two keys at one selector",
		change: dkim("v=DKIM1; p=" + rsa2048 + "\"\ns1._domainkey.DOMAIN. 300 IN TXT \"v=DKIM1; p=")},
	{label: "dkimfails", note: "the lookup of its key fails", servfail: []string{"s1._domainkey.DOMAIN"}},

	{label: "dkimalias", note: "a key's name that is an alias of nothing",
		change: parts{"dkim": "s1._domainkey.DOMAIN. 300 IN CNAME gone.DOMAIN."}},
	{label: "dkimfound", note: "keys at selectors of large senders, and an alias of nothing; search without a selector",
		change: parts{"dkim": "google._domainkey.DOMAIN. 300 IN TXT " + key("v=DKIM1; k=rsa; p="+rsa2048) +
			"\nk2._domainkey.DOMAIN. 300 IN CNAME dkim2.DOMAIN.\ndkim2.DOMAIN. 300 IN TXT " + key("v=DKIM1; p="+rsa1024) +
			"\nselector1._domainkey.DOMAIN. 300 IN CNAME gone.DOMAIN." +
			"\nmandrill._domainkey.DOMAIN. 300 IN TXT " + key("v=DKIM1; p=")}},
	{label: "dkimwild", note: "every selector answers with a key, and google with another; search without a selector",
		change:    parts{"dkim": "google._domainkey.DOMAIN. 300 IN TXT " + key("v=DKIM1; k=rsa; p="+rsa2048)},
		selectors: "v=DKIM1; k=ed25519; p=" + ed25519},

	{label: "tlsa", note: "TLSA records that are signed", change: tlsa("3 1 1 "+labDigest, "3 1 1 "+labDigest),
		signed: []string{"DOMAIN", "_25._tcp.a.DOMAIN", "_25._tcp.b.DOMAIN"}},
	{label: "tlsaplain", note: "TLSA records that are not signed", change: tlsa("3 1 1 "+labDigest, "3 1 1 "+labDigest)},
	{label: "tlsazero", note: "a TLSA record of zeros, and one for the web",
		change: tlsa("3 1 1 "+strings.Repeat("00", 32), "1 0 1 "+labDigest),
		signed: []string{"DOMAIN", "_25._tcp.a.DOMAIN", "_25._tcp.b.DOMAIN"}},
	{label: "tlsafails", note: "the lookup of a TLSA record fails", servfail: []string{"_25._tcp.a.DOMAIN"}},

	{label: "bimi", note: "a logo with a certificate (BIMI)",
		change: bimi("l=https://DOMAIN/logo.svg; a=https://DOMAIN/m.pem")},
	{label: "bimihttp", note: "a logo that no mail program shows", change: bimi("l=http://DOMAIN/logo.svg; a=")},

	{label: "ptr", note: "exchanges without a name in the reverse DNS, and with one that leads elsewhere",
		change: parts{"hosts": "a.DOMAIN. 300 IN A 11.80.0.42\nb.DOMAIN. 300 IN A 11.80.0.43"}},

	{label: "tlsrpttwo", note: "two TLS reporting records", change: parts{"tlsrpt": "_smtp._tls.DOMAIN. 300 IN TXT " +
		"\"v=TLSRPTv1; rua=mailto:t@DOMAIN\"\n_smtp._tls.DOMAIN. 300 IN TXT \"v=TLSRPTv1; rua=mailto:u@DOMAIN\""}},
	{label: "tlsrpthalf", note: "TLS reports to what is no address",
		change: parts{"tlsrpt": "_smtp._tls.DOMAIN. 300 IN TXT \"v=TLSRPTv1; rua=mailto:t@DOMAIN,x\""}},
	{label: "tlsrptfails", note: "the lookup of its TLS reporting record fails", servfail: []string{"_smtp._tls.DOMAIN"}},

	{label: "stsabsent", note: "an MTA-STS record without a policy's host", change: stsRecord},
	{label: "ststwo", note: "two MTA-STS records", change: parts{"sts": stsRecord["sts"] + "\n" +
		`_mta-sts.DOMAIN. 300 IN TXT "v=STSv1; id=2"`}},
	{label: "stsprivate", note: "its MTA-STS policy is at a private address",
		change: parts{"sts": stsRecord["sts"] + "\nmta-sts.DOMAIN. 300 IN A 10.0.0.1"}},
	{label: "stsfails", note: "the lookup of its MTA-STS record fails", servfail: []string{"_mta-sts.DOMAIN"}},

	{label: "hostile", note: "markup in every record", change: parts{
		"spf":    `DOMAIN. 300 IN TXT "v=spf1 include:<script>alert(1)</script> -all"`,
		"dmarc":  `_dmarc.DOMAIN. 300 IN TXT "v=DMARC1; p=<img/src=x>; rua=mailto:<b>@DOMAIN"`,
		"dkim":   `s1._domainkey.DOMAIN. 300 IN TXT "v=DKIM1; n=<script>; p=<b>"`,
		"tlsrpt": `_smtp._tls.DOMAIN. 300 IN TXT "v=TLSRPTv1; rua=javascript:alert(1)"`}},
}

// labDigest stands for the digest of a mail server's key.
var labDigest = strings.Repeat("5a", 32)

// tlsa are the TLSA records of the two exchanges.
func tlsa(a, b string) parts {
	return parts{"tlsa": "_25._tcp.a.DOMAIN. 300 IN TLSA " + a + "\n_25._tcp.b.DOMAIN. 300 IN TLSA " + b}
}

func bimi(tags string) parts {
	return parts{"bimi": `default._bimi.DOMAIN. 300 IN TXT "v=BIMI1; ` + tags + `"`}
}

var stsRecord = parts{"sts": `_mta-sts.DOMAIN. 300 IN TXT "v=STSv1; id=20260101T000000"`}

// mailDomainsAndSites are the above and those whose policies are sites of the catalogue.
func mailDomainsAndSites() []mailDomain {
	all := append([]mailDomain{}, mailDomains...)
	for _, p := range site.Policies {
		all = append(all, mailDomain{label: p.Label, note: p.Note, change: stsRecord})
	}
	return all
}

func (d mailDomain) name() string { return site.MailDomain(d.label) }

func (d mailDomain) records() []string { return mailRecords(d.name(), d.change) }

// mailRecords are those of a domain in good order, but for the parts that change says.
func mailRecords(domain string, change parts) (lines []string) {
	all := maps.Clone(goodMail)
	maps.Copy(all, change)
	for _, part := range all {
		for line := range strings.Lines(strings.ReplaceAll(part, "DOMAIN", domain)) {
			if line = strings.TrimSpace(line); line != "" {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

func ownedBy(name string, lines []string) (own []string) {
	for _, line := range lines {
		if strings.HasPrefix(line, name+". ") {
			own = append(own, line)
		}
	}
	return own
}

// publishMail adds the records of all mail domains.
func publishMail(t *zone.Table) error {
	for _, d := range mailDomainsAndSites() {
		if err := t.Add(d.records()...); err != nil {
			return err
		}
		for _, name := range d.servfail {
			t.Script(strings.ReplaceAll(name, "DOMAIN", d.name()), zone.Step{RCode: dns.RcodeServerFailure})
		}
		for _, name := range d.signed {
			name = strings.ReplaceAll(name, "DOMAIN", d.name())
			t.Script(name, zone.Step{Authenticated: true, Records: ownedBy(name, d.records())})
		}
		if d.selectors != "" {
			t.Derive("_domainkey."+d.name(), func(string) []string { return []string{"@ 300 IN TXT " + key(d.selectors)} })
		}
	}
	return nil
}
