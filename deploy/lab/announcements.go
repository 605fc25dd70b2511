package lab

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"diagnostics/lab/internal/zone"

	"github.com/miekg/dns"
)

// asnZone is the default zone of queries for announcements.
const asnZone = "asn.cymru.com"

// announcement is one prefix of the lab's routing table. Text, where it is set, is answered in place of a record that
// can be read.
type announcement struct {
	prefix                       string
	origins                      string
	country, registry, allocated string
	peers                        string
	text                         string
}

// announcements of addresses that the lab has, and of a few that it does not: nothing connects to those.
var announcements = []announcement{
	{prefix: "11.77.0.0/16", origins: "212000", country: "NL", registry: "ripencc", allocated: "2019-05-06",
		peers: "3333 13335"},
	{prefix: "11.78.0.0/16", origins: "212005", country: "DE", registry: "ripencc", allocated: "2020-02-03",
		peers: "212000"},
	{prefix: "11.80.0.0/16", origins: "212001", country: "NL", registry: "ripencc", allocated: "2018-01-02",
		peers: "212000"},
	{prefix: "11.80.0.0/24", origins: "212002", country: "NL", registry: "ripencc", allocated: "2018-01-02",
		peers: "212000 212001"},
	{prefix: "11.90.0.0/24", origins: "212003 212004", country: "US", registry: "arin", allocated: "2001-03-04",
		peers: "212000"},
	{prefix: "11.91.0.0/24", origins: "212006", registry: "apnic", peers: "212005"},
	{prefix: "11.92.0.0/24", origins: "212007", country: "NL", registry: "ripencc", allocated: "2018-01-02",
		peers: "212000"},
	{prefix: "11.94.1.0/24", text: "<html>this is no announcement</html>"},
	{prefix: "2a10:80::/32", origins: "212001", country: "NL", registry: "ripencc", allocated: "2018-01-02"},
	{prefix: "2a10:90::/32", origins: "212003", country: "US", registry: "arin", allocated: "2005-03-14"},
	{prefix: "8.8.8.0/24", origins: "15169", country: "US", registry: "arin", allocated: "2023-12-28", peers: "3356 7018"},
	{prefix: "1.1.1.0/24", origins: "13335", country: "AU", registry: "apnic", allocated: "2011-08-11", peers: "3356"},
	{prefix: "2606:4700:4700::/48", origins: "13335", country: "US", registry: "arin", allocated: "2011-11-01"},
	{prefix: "193.0.0.0/21", origins: "3333", country: "NL", registry: "ripencc", allocated: "1993-09-01", peers: "1103"},
}

// systems are the networks by number. A name may hold the bar that separates fields.
var systems = map[string]string{
	"212000": "NL | ripencc | 2019-05-06 | LAB-TRANSIT - Lab Transit B.V., NL",
	"212001": "NL | ripencc | 2018-01-02 | LAB-SITES - Lab Sites, NL",
	"212002": "NL | ripencc | 2018-01-02 | LAB-SITES-2 | the second - Lab Sites, NL",
	"212003": "US | arin | 2001-03-04 | LAB-FAR - Far End Inc., US",
	"212004": "US | arin |  | LAB-ANYCAST",
	"212005": "DE | ripencc | 2020-02-03 | LAB-DIRTY - <b>Dirty</b> Carrier, DE",
	"212006": " | apnic |  | LAB-WILD",
	"212007": "NL | ripencc | 2018-01-02 | LAB-KEPT - Lab Kept, NL",
	"15169":  "US | arin | 2000-03-30 | GOOGLE - Google LLC, US",
	"13335":  "US | arin | 2010-07-14 | CLOUDFLARENET - Cloudflare, Inc., US",
	"3333":   "NL | ripencc | 1993-09-01 | RIPE-NCC-AS - Reseaux IP Europeens Network Coordination Centre (RIPE NCC), NL",
	"212099": "this is no system",
}

// announce answers as Team Cymru's service does, for every address of the table.
func announce(t *zone.Table) {
	t.Derive("origin."+asnZone, func(labels string) []string { return originTexts(labels, false, announcement.origin) })
	t.Derive("origin6."+asnZone, func(labels string) []string { return originTexts(labels, true, announcement.origin) })
	t.Derive("peer."+asnZone, func(labels string) []string { return originTexts(labels, false, announcement.peer) })
	t.Derive(asnZone, func(labels string) []string {
		number, ok := strings.CutPrefix(labels, "as")
		if about := systems[number]; ok && about != "" {
			return txt(number + " | " + about)
		}
		return nil
	})
	t.Script("1.2.94.11.origin."+asnZone, zone.Step{RCode: dns.RcodeServerFailure})
	t.Script("1.3.94.11.origin."+asnZone, zone.Step{Drop: true})
	// This one is answered; queries for the rest fail.
	t.Script("9.0.91.11.peer."+asnZone, zone.Step{RCode: dns.RcodeServerFailure})
}

func txt(text string) []string { return []string{fmt.Sprintf("@ 300 IN TXT %q", text)} }

func originTexts(labels string, v6 bool, text func(announcement) string) (lines []string) {
	addr, ok := reversed(labels, v6)
	if !ok {
		return nil
	}
	for _, a := range announcements {
		if netip.MustParsePrefix(a.prefix).Contains(addr) {
			lines = append(lines, txt(text(a))...)
		}
	}
	return lines
}

func (a announcement) origin() string { return a.fields(a.origins) }

func (a announcement) peer() string { return a.fields(a.peers) }

func (a announcement) fields(numbers string) string {
	if a.text != "" {
		return a.text
	}
	return strings.Join([]string{numbers, a.prefix, a.country, a.registry, a.allocated}, " | ")
}

// reversed reads the labels of an address in the order of the reverse zones.
func reversed(labels string, v6 bool) (netip.Addr, bool) {
	parts := strings.Split(labels, ".")
	slices.Reverse(parts)
	text := strings.Join(parts, ".")
	if v6 {
		var b strings.Builder
		for i, nibble := range parts {
			if i > 0 && i%4 == 0 {
				b.WriteByte(':')
			}
			b.WriteString(nibble)
		}
		text = b.String()
	}
	addr, err := netip.ParseAddr(text)
	return addr, err == nil
}
