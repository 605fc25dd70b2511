package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"sort"
	"strings"
)

// ServiceLoopback is where the shipped binaries listen, inside the service's namespace. Packets to and from it are the
// conversation between browser, gateway and worker; every other packet that the service's host sends, over the uplink
// or over loopback (127.0.0.1 included), is counted.
var ServiceLoopback = netip.MustParsePrefix("127.77.0.0/16")

var uplinkFilter = fmt.Sprintf(`
	counter total { }
	set ports4 { type ipv4_addr . inet_proto . inet_service; flags dynamic; size 65535; counter; }
	set ports6 { type ipv6_addr . inet_proto . inet_service; flags dynamic; size 65535; counter; }
	set others4 { type ipv4_addr . inet_proto; flags dynamic; size 65535; counter; }
	set others6 { type ipv6_addr . inet_proto; flags dynamic; size 65535; counter; }
	chain sent { type filter hook output priority raw;
		ip daddr %s return
		ip saddr %s return
		counter name total
		meta l4proto { tcp, udp } ip daddr 0.0.0.0/0 update @ports4 { ip daddr . meta l4proto . th dport counter }
		meta l4proto { tcp, udp } ip6 daddr ::/0 update @ports6 { ip6 daddr . meta l4proto . th dport counter }
		meta l4proto != { tcp, udp } ip daddr 0.0.0.0/0 update @others4 { ip daddr . meta l4proto counter }
		meta l4proto != { tcp, udp } ip6 daddr ::/0 update @others6 { ip6 daddr . meta l4proto counter }
	}`, ServiceLoopback, ServiceLoopback)

// Flow is the packets that the service's host sent to one destination.
type Flow struct {
	To       netip.Addr
	Protocol string // tcp, udp, icmp, ipv6-icmp …
	Port     uint16 // 0 where the protocol has none
	Packets  int
}

func (f Flow) String() string {
	return fmt.Sprintf("%d packets to %s", f.Packets,
		strings.TrimSuffix(fmt.Sprintf("%s %s %d", f.To, f.Protocol, f.Port), " 0"))
}

// Sent is what the service's host has sent since the last ResetSent: the number of packets, and where they went, in
// order of address.
func (l *Lab) Sent(ctx context.Context) (total int, flows []Flow, err error) {
	out, err := l.toolIn(ctx, ServiceHost, "", "nft", "-j", "list", "table", "inet", "lab")
	if err != nil {
		return 0, nil, err
	}
	return parseSent(out)
}

// ResetSent forgets what was sent.
func (l *Lab) ResetSent(ctx context.Context) error {
	script := "reset counter inet lab total\n"
	for _, set := range []string{"ports4", "ports6", "others4", "others6"} {
		script += "flush set inet lab " + set + "\n"
	}
	_, err := l.toolIn(ctx, ServiceHost, script, "nft", "-f", "-")
	return err
}

type nftDocument struct {
	Nftables []struct {
		Counter *struct {
			Name    string
			Packets int
		}
		Set *struct {
			Elem []struct {
				Elem struct {
					Val     struct{ Concat []any }
					Counter struct{ Packets int }
				}
			}
		}
	}
}

func parseSent(out []byte) (total int, flows []Flow, err error) {
	var doc nftDocument
	if err := json.Unmarshal(out, &doc); err != nil {
		return 0, nil, fmt.Errorf("read the answer of nft: %w", err)
	}
	for _, item := range doc.Nftables {
		if item.Counter != nil && item.Counter.Name == "total" {
			total = item.Counter.Packets
		}
		if item.Set == nil {
			continue
		}
		for _, e := range item.Set.Elem {
			flow, err := newFlow(e.Elem.Val.Concat, e.Elem.Counter.Packets)
			if err != nil {
				return 0, nil, err
			}
			flows = append(flows, flow)
		}
	}
	sort.Slice(flows, func(i, j int) bool {
		a, b := flows[i], flows[j]
		if a.To != b.To {
			return a.To.Less(b.To)
		}
		return a.Port < b.Port
	})
	return total, flows, nil
}

func newFlow(key []any, packets int) (Flow, error) {
	if len(key) < 2 {
		return Flow{}, fmt.Errorf("nft named a flow %v", key)
	}
	to, err := netip.ParseAddr(fmt.Sprint(key[0]))
	if err != nil {
		return Flow{}, err
	}
	f := Flow{To: to, Protocol: fmt.Sprint(key[1]), Packets: packets}
	if len(key) == 3 {
		if port, ok := key[2].(float64); ok {
			f.Port = uint16(port)
		}
	}
	return f, nil
}
