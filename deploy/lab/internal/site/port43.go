package site

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"time"
)

// ianaHost is where the world has IANA's WHOIS server, and the gateway looks for it by itself.
const ianaHost = "whois.iana.org"

// port43Of is the WHOIS server that IANA's names for a top-level domain without RDAP; empty is one without either. It
// does not have the others.
var port43Of = map[string]string{
	"it": "whois." + Zone, "jp": "whois." + Zone, "at": "whois." + Zone, "cn": "whois." + Zone, "se": "whois." + Zone,
	"gr": "",
	"es": "whois-closed." + Zone,
	"tr": "whois-limited." + Zone,
	"cl": "whois-drip." + Zone,
	"be": "whois-long." + Zone,
	"ir": "whois-binary." + Zone,
	"pt": "rdap-com." + Zone, // which has no port 43
	"mx": "private." + Zone,
	"il": "whois-gone." + Zone,
	"hr": "whois-quota." + Zone,
	"si": "whois-fast." + Zone,
}

// registered are the entries of the registries' server, by query. Names and people are made up.
var registered = map[string]string{
	"example-shop.it": `
Domain:             example-shop.it
Status:             ok
Signed:             no
Created:            1999-12-10 00:00:00
Last Update:        2026-05-07 01:04:50
Expire Date:        2031-04-21

Registrant
  Organization:     Jane Doe
  Address:          1600 Secret Street
                    Roma
  Created:          2018-03-02 19:04:02

Admin Contact
  Name:             John Doe
  Address:          Far Street 2

Registrar
  Organization:     Lab Registrar S.r.l.
  Name:             LAB-REG
  Web:              https://lab-site.com/

Nameservers
  ns1.example-shop.com
  ns2.example-shop.com
`,
	"example-shop.jp/e": `[ JPRS database provides information on network administration. Its use is    ]
[ restricted to network administration purposes.                              ]
Domain Information:
[Domain Name]                   EXAMPLE-SHOP.JP

[Registrant]                    Jane Doe

[Name Server]                   ns1.example-shop.com
[Signing Key]                   

[Created on]                    2005/05/30
[Expires on]                    2031/05/31
[Status]                        Active
[Last Updated]                  2026/06/01 01:05:04 (JST)

Contact Information:
[Name]                          Jane Doe
[Email]                         jane.doe@example-shop.jp
[Phone]                         +1.5550001111
`,
	"example-shop.at": `% Copyright (c)2026 by the lab
%
domain:         example-shop.at
registrar:      Lab Registrar GmbH ( https://lab-site.com/registrar/1 )
registrant:     JD1-LAB
nserver:        ns1.example-shop.com
changed:        20230703 09:38:55
source:         AT-DOM

personname:     Jane Doe
street address: 1600 Secret Street
phone:          +1.5550001111
e-mail:         jane.doe@example-shop.at
nic-hdl:        JD1-LAB
changed:        20240309 17:01:08
source:         AT-DOM
`,
	"xn--fiq228c.cn": `Domain Name: xn--fiq228c.cn
Domain Status: ok
Registrant: Jane Doe
Registrant Contact Email: jane.doe@example-shop.cn
Sponsoring Registrar: 实验室注册商
Name Server: ns1.example-shop.com
Registration Time: 2003-03-17 12:20:05
Expiration Time: 2031-03-17 02:48:36
DNSSEC: unsigned
`,
	"odd-shop.it":  "Buongiorno! Oggi non leggiamo niente.\n",
	"kept-name.it": "This is a reserved name and can not be registered\n",
}

// absences are what the registries' server says of other names, by the end of the question.
var absences = map[string]string{
	".it":   "Domain:             NAME\nStatus:             AVAILABLE\n",
	".jp/e": "No match!!\n",
	".at":   "% nothing found\n",
	".cn":   "No matching record.\n",
	".se":   "# The lab\ndomain \"NAME\" not found.\n",
}

// addPort43 adds IANA's WHOIS server, and those of registries. It comes after all sites that were there before it, so
// that they keep their addresses.
func addPort43(add adder) {
	on43 := func(talk func(context.Context, net.Conn)) []endpoint { return []endpoint{{port: 43, raw: talk}} }
	add(ianaHost, "IANA's WHOIS server: which registries have one", on43(lineServer(ianaReferral)))
	add("whois", "the WHOIS server of .it, .jp, .at, .cn and .se", on43(lineServer(registryText)))
	add("whois-closed", "a WHOIS server that answers only whom it has admitted", on43(lineServer(func(string) string {
		return "The IP address used to perform the query is not authorised.\n"
	})))
	add("whois-limited", "a WHOIS server that has been asked too often", on43(lineServer(func(string) string {
		return "% Excessive querying, grace period of 7 seconds.\n"
	})))
	add("whois-drip", "a WHOIS server that sends an octet at a time", on43(dripText))
	add("whois-long", "a WHOIS server whose line never ends", on43(endlessLine))
	add("whois-binary", "a WHOIS server that sends what is no text", on43(lineServer(func(name string) string {
		return "\x00\x1b[31m\xff\xfe" + strings.Repeat("\x00\x90", 1000) + "domain: " + name + "\x00\u202e\n"
	})))
}

// ianaReferral answers about a top-level domain as whois.iana.org does.
func ianaReferral(tld string) string {
	const comment = "% IANA WHOIS server\n% for more information on IANA, visit http://www.iana.org\n\n"
	server, known := port43Of[tld]
	if !known {
		return comment + "% This query returned 0 objects.\n"
	}
	object := "domain:       " + strings.ToUpper(tld) + "\n\ncontact:      administrative\nname:         Jane Doe\n" +
		"e-mail:       jane.doe@" + Zone + "\n\n"
	if server != "" {
		object += "whois:        " + server + "\n\n"
	}
	return comment + object + "status:       ACTIVE\nsource:       IANA\n"
}

func registryText(question string) string {
	if text, known := registered[question]; known {
		return text
	}
	for end, text := range absences {
		if name, is := strings.CutSuffix(question, end); is {
			return strings.ReplaceAll(text, "NAME", name+end)
		}
	}
	return "Bad question.\n"
}

// lineServer reads one line, answers it and closes (RFC 3912).
func lineServer(answer func(question string) string) func(context.Context, net.Conn) {
	return func(_ context.Context, c net.Conn) {
		_ = c.SetDeadline(time.Now().Add(idle))
		line, err := bufio.NewReader(io.LimitReader(c, 1<<10)).ReadString('\n')
		if err == nil {
			text := strings.ReplaceAll(answer(strings.TrimSpace(line)), "\n", "\r\n")
			_, _ = io.WriteString(c, text)
		}
	}
}

// dripText sends an octet every tenth of a second, and never ends.
func dripText(ctx context.Context, c net.Conn) {
	for ctx.Err() == nil {
		if _, err := io.WriteString(c, "."); err != nil {
			return
		}
		time.Sleep(100 * time.Millisecond) // the behaviour itself
	}
}

// endlessLine sends one line for as long as anyone reads.
func endlessLine(ctx context.Context, c net.Conn) {
	_ = c.SetDeadline(time.Now().Add(idle))
	for ctx.Err() == nil {
		if _, err := io.WriteString(c, strings.Repeat("Domain: example.be ", 1000)); err != nil {
			return
		}
	}
}
