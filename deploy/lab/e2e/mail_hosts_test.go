//go:build e2e

package e2e

import (
	"strings"
	"testing"
)

// What email-dns-health looks up beside the records that it judges.
func TestMailHosts(t *testing.T) {
	digest := strings.Repeat("5a", 32)
	none := facts{"bimi": nil, "bimiReason": nil, "checks.mx.hosts.0.tlsa": length(0),
		"checks.mx.hosts.0.tlsaAuthenticated": nil}
	selector := map[string]any{"dkimSelector": "s1"}
	runChecks(t, "email-dns-health", []check{
		{name: "nothing beside", input: "lab-plain-mail.com", options: selector, facts: none},
		{name: "names of addresses", input: "lab-plain-mail.com", options: selector, facts: facts{
			"checks.mx.status": "pass", "checks.mx.issues": length(0), "checks.mx.summary": contains("no mail server was contacted"),
			"checks.mx.hosts.0.addressNames.0.hostname": "mx1.lab-transit.net", "checks.mx.hosts.0.addressNames.0.confirmed": true,
			"checks.mx.hosts.0.addressNames.1.address": "2a10:80::40", "checks.mx.hosts.1.addressNames.0.hostname": "mx2.lab-transit.net"}},
		{name: "an address without a name", input: "lab-ptr-mail.com", options: selector, facts: facts{
			"overall": "pass", "checks.mx.status": "pass", "checks.mx.issues": has("code", "MX_ADDRESS_WITHOUT_NAME"),
			"checks.mx.hosts.0.addressNames.0.hostname": nil, "checks.mx.hosts.0.addressNames.0.confirmed": false}},
		{name: "a name that leads elsewhere", input: "lab-ptr-mail.com", options: selector, facts: facts{
			"checks.mx.issues": has("code", "MX_ADDRESS_NAME_NOT_CONFIRMED"), "checks.mx.hosts.1.addressNames.0.hostname": "fast.lab-site.com",
			"checks.mx.hosts.1.addressNames.0.confirmed": false}},

		{name: "signed TLSA records", input: "lab-tlsa-mail.com", options: selector, facts: facts{
			"checks.mx.status": "pass", "checks.mx.issues": length(0), "checks.mx.hosts.0.tlsaAuthenticated": true, "checks.mx.hosts.0.tlsa.0.usage": 3,
			"checks.mx.hosts.0.tlsa.0.selector": 1, "checks.mx.hosts.0.tlsa.0.matching": 1, "checks.mx.hosts.0.tlsa.0.data": digest}},
		{name: "TLSA records that are not signed", input: "lab-tlsaplain-mail.com", options: selector, facts: facts{
			"checks.mx.status": "pass", "checks.mx.issues": has("code", "TLSA_NOT_AUTHENTICATED"), "checks.mx.hosts.0.tlsaAuthenticated": false}},
		{name: "a TLSA record of zeros", input: "lab-tlsazero-mail.com", options: selector, facts: facts{
			"overall": "fail", "checks.mx.status": "fail", "checks.mx.issues": has("code", "TLSA_MATCHES_NOTHING")}},
		{name: "a TLSA record for the web", input: "lab-tlsazero-mail.com", options: selector, facts: facts{"checks.mx.issues": has("code", "TLSA_UNUSABLE")}},
		{name: "a TLSA lookup that fails", input: "lab-tlsafails-mail.com", options: selector, facts: facts{
			"checks.mx.status": "pass", "checks.mx.issues": has("code", "TLSA_LOOKUP_FAILED")}},

		{name: "keys of large senders", input: "lab-dkimfound-mail.com", facts: facts{
			"overall": "pass", "checks.dkim.status": "info", "checks.dkim.summary": "Keys are published at google and k2. A selector is needed to check the key in use.", "checks.dkim.tried": length(45),
			"checks.dkim.found": length(2), "checks.dkim.found.0.selector": "google", "checks.dkim.found.0.cname": nil, "checks.dkim.found.0.keyType": "rsa",
			"checks.dkim.found.0.keyBits": 2048, "checks.dkim.found.1.selector": "k2", "checks.dkim.found.1.cname": "dkim2.lab-dkimfound-mail.com", "checks.dkim.found.1.keyBits": 1024}},
		{name: "an alias of nothing among them", input: "lab-dkimfound-mail.com", facts: facts{"checks.dkim.issues": has("code", "DKIM_ALIAS_DEAD")}},
		{name: "a revoked key among them", input: "lab-dkimfound-mail.com", facts: facts{"checks.dkim.issues": has("code", "DKIM_KEY_REVOKED")}},
		{name: "every selector answers", input: "lab-dkimwild-mail.com", facts: facts{
			"checks.dkim.issues": has("code", "DKIM_WILDCARD"), "checks.dkim.found": length(1), "checks.dkim.found.0.selector": "google"}},
		{name: "a selector is an alias of nothing", input: "lab-dkimalias-mail.com", options: selector, facts: facts{
			"checks.dkim.status": "missing", "checks.dkim.issues": has("code", "DKIM_ALIAS_DEAD"), "checks.dkim.tried": length(0)}},

		{name: "a logo", input: "lab-bimi-mail.com", options: selector, facts: facts{
			"overall": "pass", "bimi.logo": "https://lab-bimi-mail.com/logo.svg", "bimi.evidence": "https://lab-bimi-mail.com/m.pem", "bimi.foundAt": "lab-bimi-mail.com", "bimi.issues": length(0)}},
		{name: "a logo that is not shown", input: "lab-bimihttp-mail.com", options: selector, facts: facts{
			"overall": "pass", "bimi.logo": nil, "bimi.issues": has("code", "BIMI_LOGO_INVALID")}},
	})
}
