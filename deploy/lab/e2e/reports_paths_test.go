//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"diagnostics/lab"

	"golang.org/x/net/icmp"
	"golang.org/x/net/ipv4"
)

// reportedPaths are a path with a router that translates ports, one whose first hop forges the destination's address,
// and a host whose echo replies are cut to eight octets.
func reportedPaths(t *testing.T) []reportedInput {
	translated, _ := lab.Clean(201)
	forged, _ := lab.Clean(202)
	cut, _ := lab.Clean(203)
	nftables(t, "c5", fmt.Sprintf("chain nat { type nat hook prerouting priority -100; "+
		"ip daddr %s udp dport 33434-33700 dnat ip to %s:33000; }", translated, translated))
	// The octets 24 to 27 of an ICMP error are the destination of the packet that it quotes.
	nftables(t, "c1", fmt.Sprintf("chain forge { type filter hook output priority -150; "+
		"icmp type time-exceeded @th,192,32 0x%x ip saddr set %s; }", forged.As4(), forged))
	cutReplies(t, cut.String())
	beside(t, "P1 a router that translates the port", "traceroute -n -q 1 -U -p 33434 "+translated.String())
	beside(t, "P1 a forging hop 1", "traceroute -n -q 1 -I "+forged.String())
	beside(t, "P2 replies of 8 octets", "ping -n -c 1 -W 1 "+cut.String())
	unnamed := facts{"reached": true, "hops.8.targetAddress": "(absent)"}
	for hop := 4; hop < 8; hop++ {
		row := fmt.Sprintf("hops.%d.", hop)
		unnamed[row+"targetAddress"], unnamed[row+"hostname"], unnamed[row+"asn"] = true, nil, nil
		unnamed[row+"note"] = nonEmpty
	}
	damaged := func(sent int) facts {
		return facts{"sent": sent, "received": 0, "damaged": sent, "lossPercent": 0, "replies.0.damaged": true,
			"findings": has("code", "DAMAGED_REPLIES")}
	}
	return []reportedInput{
		{id: "P1 a router that translates the port", slug: "traceroute", input: translated.String(),
			options: map[string]any{"protocol": "udp"}, facts: unnamed},
		{id: "P1 a forging hop 1", slug: "traceroute", input: forged.String(), facts: facts{"reached": true,
			"hops.0.targetAddress": true, "hops.0.hostname": nil, "hops.0.asn": nil, "hops.0.note": nonEmpty,
			"hops.1.targetAddress": "(absent)"}},
		{id: "P2 replies of 8 octets", slug: "ping", input: cut.String(), facts: damaged(10)},
		{id: "P2 replies of 8 octets", slug: "packet-loss", input: cut.String(), facts: damaged(50)},
	}
}

// nftables adds a chain to a node until the group's test ends.
func nftables(t *testing.T, node, chain string) {
	t.Helper()
	mustDo(t, node, "nft", "table inet reported {\n"+chain+"\n}")
	t.Cleanup(func() { mustDo(t, node, "nft", "delete table inet reported") })
}

// cutReplies answers echo requests to an address without their data, which the kernel's replies have.
func cutReplies(t *testing.T, address string) {
	t.Helper()
	nftables(t, "far", "chain whole { type filter hook output priority 0; ip saddr "+address+
		" icmp type echo-reply ip length > 28 drop; }")
	c, err := internet.ListenPacket("far", "ip4:icmp", address)
	if err != nil {
		t.Fatal(err)
	}
	var answering sync.WaitGroup
	t.Cleanup(answering.Wait)
	t.Cleanup(func() { c.Close() })
	answering.Go(func() {
		for buffer := make([]byte, 1500); ; {
			n, from, err := c.ReadFrom(buffer)
			if err != nil {
				return
			}
			request, err := icmp.ParseMessage(1, buffer[:n])
			if err != nil || request.Type != ipv4.ICMPTypeEcho {
				continue
			}
			echo := request.Body.(*icmp.Echo)
			reply := icmp.Message{Type: ipv4.ICMPTypeEchoReply, Body: &icmp.Echo{ID: echo.ID, Seq: echo.Seq}}
			if packet, err := reply.Marshal(nil); err == nil {
				_, _ = c.WriteTo(packet, from)
			}
		}
	})
}

// reportedBudget wants a worker of ten packets a second to refuse pings that it cannot finish in their time, a stream
// among them, and to answer the others in it.
func reportedBudget(t *testing.T) []reportedInput {
	worker, err := service.StartExtraWorker(t.Context(), "worker-ten-packets", "WORKER_PACKETS_PER_SECOND=10",
		"WORKER_MAX_CONCURRENT=4096", "WORKER_TARGET_PACKETS_PER_SECOND=0")
	if err != nil {
		t.Fatal(err)
	}
	p := pairWith(t, "ten-packets", worker)
	const pingLimit = 12 * time.Second
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses, slowest := map[int]int{}, time.Duration(0)
	for i := range 32 {
		to, _ := lab.Clean(210 + i)
		all.Go(func() {
			a := p.ask(t, "ping", to)
			mu.Lock()
			defer mu.Unlock()
			statuses[a.Status]++
			slowest = max(slowest, a.Took)
			refused := a.Status == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != ""
			whole := a.Status == http.StatusOK && a.number("sent") == 10 && a.Took < pingLimit
			if !whole && !refused {
				t.Errorf("status %d after %v, Retry-After %q: %s", a.Status, a.Took, a.Header.Get("Retry-After"), a.Error)
			}
		})
	}
	eventually(t, "a refusal", func() bool { mu.Lock(); defer mu.Unlock(); return statuses[503] > 0 })
	to, _ := lab.Clean(209)
	s := post(t, p.gateway, "ping", map[string]any{"input": to.String()}, http.Header{"Accept": {"application/x-ndjson"}})
	all.Wait()
	answers(t, "item 9: WORKER_PACKETS_PER_SECOND=10, 32 pings at once", fmt.Sprintf("%v, the slowest after %v; "+
		"a stream before it begins: %d, Retry-After %s", statuses, slowest, s.Status, s.Header.Get("Retry-After")))
	if statuses[503] == 0 || statuses[200] == 0 || s.Status != 503 || s.Header.Get("Retry-After") == "" {
		t.Errorf("%v, a stream %d", statuses, s.Status)
	}
	return nil
}
