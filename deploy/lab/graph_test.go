package lab

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

func offline() *Lab {
	nodes, links := topology()
	return &Lab{graph: newGraph(nodes, links), links: links}
}

func TestPathTo(t *testing.T) {
	t.Parallel()
	const chain4 = "11.77.1.1 11.77.2.1 11.77.3.1 11.77.4.1 11.77.5.1 11.77.6.1 11.77.7.1 11.77.8.1"
	tests := []struct{ to, want string }{
		{"11.90.0.5", chain4 + " 11.90.0.5"},
		{"11.92.1.5", chain4},
		{"11.92.2.5", chain4},
		{"11.92.3.5", chain4},
		{"11.77.5.1", "11.77.1.1 11.77.2.1 11.77.3.1 11.77.4.1 11.77.5.1"},
		{"8.8.8.8", "11.77.1.1 11.77.2.1 11.77.3.1 8.8.8.8"},
		{"11.80.0.1", "11.77.1.1 11.77.2.1 11.80.0.1"},
		{"11.91.0.5", "11.77.1.1 10.66.0.2/private 11.78.3.1/silent 11.78.4.1/ratelimited 11.78.5.1 " +
			"11.78.6.1|11.78.6.2 11.78.7.1|11.78.7.2 11.78.8.1/lossy 11.91.0.5"},
		{"2a10:91::5", "2a10:77:1::1 fd66::2/private 2a10:78:3::1/silent 2a10:78:4::1/ratelimited 2a10:78:5::1 " +
			"2a10:78:6::1|2a10:78:6::2 2a10:78:7::1|2a10:78:7::2 2a10:78:8::1/lossy 2a10:91::5"},
		{"11.71.0.5", "11.77.1.1 11.77.2.1 11.77.3.1 11.77.4.1 11.77.65.1/silent 11.77.66.1/silent 11.71.0.5"},
		{"2a10:72::5", "2a10:77:1::1 2a10:77:2::1 2a10:77:3::1 2a10:77:74::1 2a10:77:75::1 2a10:77:76::1 2a10:77:77::1 2a10:72::5"},
		{"11.73.0.5", "11.77.1.1 11.77.2.1 11.77.3.1 11.73.0.5"},
		{"11.74.0.1", "11.77.1.1 11.77.2.1 11.77.3.1 11.77.4.1 11.74.0.1"},
		{"12.0.0.1", ""},
	}
	for _, test := range tests {
		t.Run(test.to, func(t *testing.T) {
			t.Parallel()
			var words []string
			for _, hop := range offline().PathTo(netip.MustParseAddr(test.to)) {
				text := strings.ReplaceAll(strings.Trim(fmt.Sprint(hop.Addresses), "[]"), " ", "|")
				if hop.Temper != Answers {
					text += "/" + string(hop.Temper)
				}
				words = append(words, text)
			}
			if got := strings.Join(words, " "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// Every router is told of every range, by the neighbour that is nearer to it, and answers from its own address.
func TestRoutes(t *testing.T) {
	t.Parallel()
	g := offline().graph
	c2 := g.setup("c2")
	for _, want := range []string{
		"route add 11.90.0.0/24 via 11.77.3.1 dev to-c3 onlink src 11.77.2.1\n",
		"route add 2a10:90::/64 via 2a10:77:3::1 dev to-c3 onlink src 2a10:77:2::1\n",
		"route add 11.91.0.0/24 via 11.77.1.1 dev to-c1 onlink src 11.77.2.1\n",
		"route add 11.80.0.0/24 via 11.80.0.254 dev to-web onlink src 11.77.2.1\n",
		"route add 11.92.3.0/24 via 11.77.3.1 dev to-c3 onlink src 11.77.2.1\n",
		"address add 11.77.2.1/32 dev lo\n",
	} {
		if !strings.Contains(c2, want) {
			t.Errorf("c2 lacks %q", want)
		}
	}
	svc := g.setup(ServiceHost)
	for _, want := range []string{"address add 11.77.0.2/32 dev uplink\n",
		"route add ::/0 via 2a10:77:1::1 dev uplink onlink src 2a10:77::2\n"} {
		if !strings.Contains(svc, want) {
			t.Errorf("the service's host lacks %q in\n%s", want, svc)
		}
	}
	if x5 := g.setup(spreader); !strings.Contains(x5,
		"route add 11.91.0.0/24 via 11.78.6.2 dev to-b6 onlink src 11.78.5.1 table 102\n") {
		t.Errorf("x5 lacks its second leg in\n%s", x5)
	}
	// What a node alone uses is no path of others, and none of its own but by the rule.
	short := g.setup("short")
	for _, want := range []string{
		"route add 0.0.0.0/0 via 11.77.65.1 dev own-k5 onlink src 11.71.0.254 table 200\n",
		"route add ::/0 via 2a10:77:66::1 dev to-k6 onlink src 2a10:71::fe\n", "link set own-k5 up\n",
	} {
		if !strings.Contains(short, want) {
			t.Errorf("short lacks %q in\n%s", want, short)
		}
	}
	if k5 := g.setup("k5"); !strings.Contains(k5, "link set own-short up\n") ||
		!strings.Contains(k5, "route add 11.71.0.0/24 via 11.77.66.1 dev to-k6 onlink") || g.rules("k5") != "" ||
		g.rules("short") == "" {
		t.Errorf("k5 uses what is short's alone:\n%s", k5)
	}
}

// Interface names have at most fifteen characters, and no two nodes share an address.
func TestTopologyIsWellFormed(t *testing.T) {
	t.Parallel()
	nodes, links := topology()
	owner := map[netip.Addr]string{}
	for _, n := range nodes {
		for _, a := range append([]netip.Addr{n.v4, n.v6}, n.extra...) {
			if other, taken := owner[a]; taken {
				t.Errorf("%s and %s both have %s", n.name, other, a)
			}
			owner[a] = n.name
		}
	}
	known := newGraph(nodes, links).nodes
	for _, l := range links {
		for _, end := range []string{l.a, l.b} {
			if _, ok := known[end]; !ok || len(l.device(end)) > 15 {
				t.Errorf("link %s-%s has a bad end %q", l.a, l.b, end)
			}
		}
	}
}

func TestParseSent(t *testing.T) {
	t.Parallel()
	const out = `{"nftables": [{"metainfo": {"version": "1.0.6"}}, {"counter": {"family": "inet", "name": "total", "table": "lab", "packets": 5, "bytes": 1}},
	{"set": {"name": "ports4", "elem": [{"elem": {"val": {"concat": ["127.0.0.1", "tcp", 81]}, "counter": {"packets": 3, "bytes": 1}}}]}},
	{"set": {"name": "ports6"}},
	{"set": {"name": "others6", "elem": [{"elem": {"val": {"concat": ["2a10:90::1", "ipv6-icmp"]}, "counter": {"packets": 2, "bytes": 1}}}]}},
	{"chain": {"name": "sent"}}]}`
	total, flows, err := parseSent([]byte(out))
	want := "[3 packets to 127.0.0.1 tcp 81 2 packets to 2a10:90::1 ipv6-icmp]"
	if err != nil || total != 5 || fmt.Sprint(flows) != want {
		t.Errorf("%d %v %v, want 5 %s", total, flows, err, want)
	}
	for _, bad := range []string{`[`, `{"nftables":[{"set":{"elem":[{"elem":{"val":{"concat":["x","tcp",1]}}}]}}]}`,
		`{"nftables":[{"set":{"elem":[{"elem":{"val":{"concat":["1.1.1.1"]}}}]}}]}`} {
		if _, _, err := parseSent([]byte(bad)); err == nil {
			t.Errorf("%s was read", bad)
		}
	}
}
