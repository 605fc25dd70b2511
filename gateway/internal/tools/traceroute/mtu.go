package traceroute

import (
	"fmt"
	"slices"

	"diagnostics/shared/workerapi"
)

const (
	sentenceBlackHole = "%[2]s to %[1]s vanish%[3]s, and no ICMP message reports it: connections that send them hang."

	sentenceWrongReport = "A router reports that packets to %[1]s are too big%[3]s, but states no size that passes. " +
		"Measured, %[2]s do."

	referenceDiscovery = "https://www.rfc-editor.org/rfc/rfc1191"
	referenceBlackHole = "https://www.rfc-editor.org/rfc/rfc2923#section-2.1"
)

// notMeasured is the path MTU of a worker that measures none.
func notMeasured() *workerapi.MTU {
	return &workerapi.MTU{HopMTUs: []workerapi.HopMTU{},
		Note: new("The diagnostics worker is of a version that does not measure the path MTU.")}
}

// conclusionOfMTU returns the code of what the path MTU comes to, and its arguments; no code where it was not
// requested, or is that of Ethernet.
func conclusionOfMTU(t workerapi.Traceroute, name string) (code string, arguments []any) {
	m := t.MTU
	if m == nil || m.Path != nil && *m.Path == workerapi.MaxMTU {
		return "", nil
	}
	if m.Reported == nil {
		passing := ""
		if m.Path != nil {
			passing = fmt.Sprintf("; packets of %s pass", octets(*m.Path))
		}
		return codeNoMTU, []any{name, passing}
	}
	size, where, clamp, segment := "Large packets", "", "", 0
	if m.LimitedAt != nil {
		where = fmt.Sprintf(" behind hop %d", *m.LimitedAt)
	}
	if m.Path != nil {
		segment = max(0, *m.Path-headers(t.Family))
		size, clamp = octets(*m.Path), fmt.Sprintf(", or clamp the TCP MSS to %d there", segment)
	}
	code = codeReduced
	switch {
	case !*m.Reported:
		code = codeBlackHole
		if m.Path != nil {
			size = fmt.Sprintf("Packets of more than %s", size)
		}
	case m.Path == nil:
		return codeNoMTU, []any{name, ""}
	case m.LimitedAt != nil && !slices.ContainsFunc(m.HopMTUs, func(h workerapi.HopMTU) bool {
		return h.TTL == *m.LimitedAt
	}):
		code = codeWrongReport
	}
	return code, []any{name, size, where, clamp, message(t.Family), octets(segment)}
}

// headers is how much of a packet the IP and TCP headers take (RFC 6691).
func headers(family int) int {
	if family == 4 {
		return 40
	}
	return 60
}

// message is the ICMP message that reports a packet as too big (RFC 1191, RFC 4443).
func message(family int) string {
	if family == 4 {
		return "ICMP type 3 code 4 (fragmentation needed)"
	}
	return "ICMPv6 type 2 (packet too big)"
}

// octets writes a size with the thousands apart.
func octets(n int) string {
	if n < 1000 {
		return fmt.Sprintf("%d octets", n)
	}
	return fmt.Sprintf("%d,%03d octets", n/1000, n%1000)
}
