package site

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

// MailDomain is the domain of a label.
func MailDomain(label string) string { return "lab-" + label + "-mail.com" }

// Policy is the MTA-STS policy (RFC 8461) of a mail domain, whose exchanges are a and b below it.
type Policy struct {
	Label, Note string
	certificate certificate
	serve       http.HandlerFunc
}

// Policies are those of which each has a site of its own, mta-sts below the mail domain.
var Policies = []Policy{
	{Label: "good", Note: "mail in order in every respect; DKIM selector s1",
		serve: policy("mode: enforce", "mx: *.%s", "max_age: 1209600")},
	{Label: "ststesting", Note: "MTA-STS that only tests", serve: policy("mode: testing", "mx: *.%s", "max_age: 86400")},
	{Label: "stsnone", Note: "MTA-STS switched off", serve: policy("mode: none", "max_age: 86400")},
	{Label: "stsmisses", Note: "MTA-STS that leaves an exchange out",
		serve: policy("mode: enforce", "mx: a.%s", "max_age: 86400")},
	{Label: "stssyntax", Note: "MTA-STS policy with a mistake",
		serve: policy("mode enforce", "mx: *.%s", "max_age: 86400")},
	{Label: "stsredirect", Note: "MTA-STS policy that redirects", serve: func(w http.ResponseWriter, r *http.Request) {
		send(w, http.StatusFound, "https://mta-sts."+MailDomain("good")+r.URL.Path)
	}},
	{Label: "sts404", Note: "MTA-STS record without a policy", serve: http.NotFound},
	{Label: "stsexpired", Note: "MTA-STS behind an expired certificate",
		certificate: certificate{notBefore: -100 * day, notAfter: -10 * day},
		serve:       policy("mode: enforce", "mx: *.%s", "max_age: 86400")},
	{Label: "stsself", Note: "MTA-STS behind a self-signed certificate", certificate: certificate{signedBy: "self"},
		serve: policy("mode: enforce", "mx: *.%s", "max_age: 86400")},
	{Label: "stshtml", Note: "MTA-STS policy that is a web page", serve: page("Policy").ServeHTTP},
	{Label: "stslong", Note: "MTA-STS policy without an end", serve: endlessPolicy},
}

func addPolicies(add adder) {
	for _, p := range Policies {
		add("mta-sts."+MailDomain(p.Label), "the MTA-STS policy of "+MailDomain(p.Label), []endpoint{
			{port: 443, http: p.serve, tls: &tlsSetup{certificate: p.certificate}},
		})
	}
}

// policy serves a policy file; %s stands for the mail domain.
func policy(lines ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/.well-known/mta-sts.txt" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		domain := strings.TrimPrefix(r.Host, "mta-sts.")
		_, _ = io.WriteString(w, "version: STSv1\r\n")
		for _, line := range lines {
			_, _ = io.WriteString(w, strings.ReplaceAll(line, "%s", domain)+"\r\n")
		}
	}
}

func endlessPolicy(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain")
	for range 1 << 16 {
		if _, err := fmt.Fprintln(w, "x: y"); err != nil {
			return
		}
	}
}
