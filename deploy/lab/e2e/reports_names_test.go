//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"diagnostics/lab"
	"diagnostics/shared/skiptest"

	"github.com/miekg/dns"
)

// startUnbound runs unbound(8) beside the lab's resolver, to which it forwards, and returns its address. more continues
// the clause "server".
func startUnbound(t *testing.T, name string, n int, more string) string {
	t.Helper()
	program, err := exec.LookPath("unbound")
	if err != nil {
		skiptest.Skip(t, err)
	}
	address := fmt.Sprintf("11.94.0.%d", n)
	const text = "server:\n interface: %[1]s\n outgoing-interface: %[1]s\n access-control: 0.0.0.0/0 allow\n" +
		" do-ip6: no\n do-daemonize: no\n use-syslog: no\n username: \"\"\n chroot: \"\"\n pidfile: \"\"\n" +
		" directory: %[2]q\n%[3]sforward-zone:\n name: \".\"\n forward-addr: %[4]s\n"
	file := filepath.Join(internet.Dir(), name+".conf")
	settings := fmt.Appendf(nil, text, address, internet.Dir(), more, internet.Resolver())
	if err := os.WriteFile(file, settings, 0o644); err != nil {
		t.Fatal(err)
	}
	p, err := internet.Start(lab.NearHost, name, nil, program, "-d", "-c", file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	eventually(t, name+" answers", func() bool { return strings.Contains(dig(t, address, lab.DNSZone+" A"), "NOERROR") })
	return address
}

// dig is what dig(1) prints of an answer: status, flags and records.
func dig(t *testing.T, server, question string) string {
	t.Helper()
	args := append([]string{"@" + server, "+time=1", "+tries=1", "+noall", "+comments", "+answer"},
		strings.Fields(question)...)
	out, _ := internet.Exec(t.Context(), lab.ServiceHost, "dig", args...)
	var kept []string
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		switch {
		case strings.Contains(line, "status:"):
			kept = append(kept, strings.Trim(fields[5], ","))
		case strings.HasPrefix(line, ";; flags:"):
			kept = append(kept, strings.Split(line[3:], ";")[0])
		case len(fields) > 4 && line[0] != ';':
			kept = append(kept, fields[0]+" "+strings.Join(fields[3:], " "))
		}
	}
	return strings.Join(kept, "; ")
}

// reportedNames are names in zones that contradict themselves, or are signed in part, as unbound(8) passes them on.
func reportedNames(t *testing.T) []reportedInput {
	zones := startReportedZones(t).unbound()
	resolver := startUnbound(t, "unbound", 97, zones)
	gateway := startWith(t, "gateway-unbound", "DNS_RESOLVERS="+resolver)
	for _, q := range []string{"www1." + halvesZone + " A", "www1." + halvesZone + " MX", "tbs." + halvesZone + " CAA",
		"mail." + signedZone + " A", "_25._tcp.mx." + signedZone + " TLSA", "_25._tcp.mail." + signedZone + " TLSA",
		"out." + signedZone + " A", "0." + halvesZone + " A"} {
		answers(t, "dig "+q+", unbound", dig(t, resolver, q))
	}
	denied := "www." + deniesZone
	aggressive := startUnbound(t, "unbound-aggressive", 99, " aggressive-nsec: yes\n"+zones)
	dig(t, aggressive, "+dnssec "+deniesZone+" MX") // whose denial denies the rest (RFC 8198)
	answers(t, "N4, unbound without and with aggressive-nsec", dig(t, resolver, denied)+" / "+dig(t, aggressive, denied))
	internet.Script(denied, lab.Step{Records: []string{"@ 300 IN A 11.80.0.1"}})
	for _, id := range []string{"cloudflare", "google"} {
		internet.ScriptAt(id, denied, lab.Step{RCode: dns.RcodeNameError,
			Extended: []dns.EDNS0_EDE{{InfoCode: dns.ExtendedErrorCodeSynthesized}}})
	}
	ask := func(id, slug, input, types string, f facts) reportedInput {
		r := reportedInput{id: id, slug: slug, input: input, to: gateway, facts: f}
		if types != "" {
			r.options = map[string]any{"types": types}
		}
		return r
	}
	finds := func(code string) facts { return facts{"findings": has("code", code)} }
	const host = "checks.mx.hosts.0."
	return []reportedInput{
		ask("N1", "email-dns-health", "www1."+halvesZone, "", facts{"checks.mx.issues": has("code", "DNS_CONTRADICTS"),
			"checks.mx.status": "warn", "overall": "fail", "findings": has("code", "SPF_MISSING_SILENT")}),
		ask("N1", "dns-lookup", "www1."+halvesZone, "", finds("DNS_CONTRADICTS")),
		ask("N1 MX alone", "dns-lookup", "www1."+halvesZone, "MX", finds("DNS_CONTRADICTS")),
		ask("N2 128 tbs", "dns-lookup", "tbs."+halvesZone, "CAA", finds("CAA_CRITICAL_UNKNOWN")),
		ask("N2 %%%%%", "dns-lookup", "percent."+halvesZone, "CAA", finds("CAA_NO_ISSUER")),
		ask("N2 a lookup that fails", "dns-lookup", "servfail."+lab.DNSZone, "CAA", finds("CAA_NOT_KNOWN")),
		ask("N3 the whole chain is signed", "email-dns-health", signedZone, "", facts{host + "tlsa": length(1),
			host + "tlsaName": "mx." + signedZone, host + "tlsaAuthenticated": true}),
		ask("N3 the chain leaves the signed zone", "email-dns-health", "sub."+signedZone, "", facts{
			host + "tlsaName": nil, host + "tlsa": length(0)}),
		ask("N4", "dns-resolver-check", denied, "", facts{"status": "mixedPresence", "cause.code": "denialContradicts",
			"cause.record": contains(deniesZone, "NSEC")}),
		ask("N5 nine aliases", "dns-lookup", "0."+halvesZone, "A", facts{"records.A": []string{"11.80.0.1"}}),
		ask("N5 nine aliases", "http-headers", "http://0."+halvesZone+"/", "", facts{"status": 200}),
	}
}
