package probe

import (
	"fmt"
	"net/netip"
	"strings"

	"diagnostics/shared/workerapi"
	"diagnostics/worker/internal/exchange"
)

// marks are the letters that traceroute(8) puts behind a refusal.
var marks = map[exchange.Kind]string{
	exchange.NetUnreachable:      "!N",
	exchange.HostUnreachable:     "!H",
	exchange.ProtocolUnreachable: "!P",
	exchange.PortUnreachable:     "!p",
	exchange.Prohibited:          "!X",
	exchange.TooBig:              "!F",
}

// rawTrace writes a trace the way traceroute -n does.
func rawTrace(dst netip.Addr, probe exchange.Probe, rows []row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "traceroute to %s (%s), %d hops max", dst, dst, workerapi.MaxHops)
	if probe.Port != 0 {
		fmt.Fprintf(&b, ", %s port %d", probe.Protocol, probe.Port)
	}
	b.WriteByte('\n')
	for _, r := range rows {
		fmt.Fprintf(&b, "%2d ", r.ttl)
		var last netip.Addr
		for _, s := range r.probes {
			if !s.answered {
				b.WriteString(" *")
				continue
			}
			if s.from != last {
				fmt.Fprintf(&b, " %s", s.from)
				last = s.from
			}
			fmt.Fprintf(&b, "  %.3f ms", *milliseconds(s.rtt))
			if mark := marks[s.kind]; mark != "" {
				b.WriteString(" " + mark)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// rawText writes a series the way ping -n does.
func (s *series) rawText(dst netip.Addr, r workerapi.Ping) string {
	var b strings.Builder
	fmt.Fprintf(&b, "PING %s\n", dst)
	for i, p := range s.mainPings() {
		switch {
		case p.replied:
			fmt.Fprintf(&b, "reply from %s: icmp_seq=%d ttl=%d time=%.3f ms\n", dst, i+1, p.ttl, *milliseconds(p.rtt))
		case p.damaged:
			fmt.Fprintf(&b, "icmp_seq=%d damaged reply\n", i+1)
		case p.refused:
			fmt.Fprintf(&b, "icmp_seq=%d refused\n", i+1)
		case s.fateOf(p) == undecided:
			fmt.Fprintf(&b, "icmp_seq=%d no reply yet\n", i+1)
		default:
			fmt.Fprintf(&b, "icmp_seq=%d no reply\n", i+1)
		}
	}
	fmt.Fprintf(&b, "--- %s ping statistics ---\n%d packets transmitted, %d received, +%d duplicates, %g%% packet loss\n",
		dst, r.Sent, r.Received, r.Duplicates, r.LossPercent)
	if r.MinMs != nil {
		fmt.Fprintf(&b, "rtt min/avg/max/mdev = %.3f/%.3f/%.3f/%.3f ms\n", *r.MinMs, *r.AverageMs, *r.MaxMs, *r.StddevMs)
	}
	return b.String()
}
