package lab

import "fmt"

// Filtered is the port that no address of the web node answers on: its filter drops it. ProhibitedPort is refused by an
// administratively-prohibited message.
const (
	FilteredPort   = 4444
	ProhibitedPort = 5555
)

var webFilter = fmt.Sprintf(`
	chain web { type filter hook input priority 0;
		tcp dport %d drop
		tcp dport %d reject with icmpx admin-prohibited
	}`, FilteredPort, ProhibitedPort)

// muteFilter is that of a host which drops echo requests, as many do, and serves its ports.
const muteFilter = `
	chain mute { type filter hook input priority 0;
		icmp type echo-request drop
		icmpv6 type echo-request drop
	}`

// deadFilter works before routing, where the time to live is not yet judged: a router that refuses does so at its own
// hop. (Routes of type unreachable and prohibit would say the same, but the kernel limits their messages by a setting
// that only the host's own namespace has.)
var deadFilter = fmt.Sprintf(`
	chain dead { type filter hook prerouting priority 0;
		ip daddr %s reject with icmpx host-unreachable
		ip6 daddr %s reject with icmpx host-unreachable
		ip daddr %s reject with icmpx admin-prohibited
		ip6 daddr %s reject with icmpx admin-prohibited
		ip daddr %s ip ttl > 1 drop
		ip6 daddr %s ip6 hoplimit > 1 drop
	}`, unreachable4, unreachable6, prohibited4, prohibited6, silent4, silent6)

// limitFilter answers five echo requests a second to an address of one range, and one to an address of the other, each
// after a burst of five, as firewalls do. Each address has a limit of its own, so that tests do not share one.
var limitFilter = fmt.Sprintf(`
	set fives4 { type ipv4_addr; flags dynamic; timeout 1m; }
	set fives6 { type ipv6_addr; flags dynamic; timeout 1m; }
	set ones4 { type ipv4_addr; flags dynamic; timeout 1m; }
	set ones6 { type ipv6_addr; flags dynamic; timeout 1m; }
	chain limits { type filter hook input priority 0;
		ip daddr %s icmp type echo-request update @fives4 { ip daddr limit rate over 5/second burst 5 packets } drop
		ip6 daddr %s icmpv6 type echo-request update @fives6 { ip6 daddr limit rate over 5/second burst 5 packets } drop
		ip daddr %s icmp type echo-request update @ones4 { ip daddr limit rate over 1/second burst 5 packets } drop
		ip6 daddr %s icmpv6 type echo-request update @ones6 { ip6 daddr limit rate over 1/second burst 5 packets } drop
	}`, fives4, fives6, ones4, ones6)

// spreadFilter is the two-way step: Linux itself hashes every ICMP echo onto one leg, so the leg is chosen here by what
// real routers hash, the checksum and the identifier, or both ports. A Paris trace keeps them within a round.
var spreadFilter = fmt.Sprintf(`
	chain spread { type filter hook prerouting priority mangle;
		icmp type echo-request meta mark set jhash @th,16,32 mod 2 seed 0x1ab offset %d
		icmpv6 type echo-request meta mark set jhash @th,16,32 mod 2 seed 0x1ab offset %d
		meta l4proto { tcp, udp } meta mark set jhash @th,0,32 mod 2 seed 0x1ab offset %d
	}`, path1Mark, path1Mark, path1Mark)

const ownErrors = `icmp type { time-exceeded, destination-unreachable, echo-reply }`
const ownErrors6 = `icmpv6 type { time-exceeded, destination-unreachable, echo-reply }`

// temperFilters act on a router's own answers only (the output hook); what it forwards is not touched.
var temperFilters = map[Temper]string{
	Silent: `
	chain own { type filter hook output priority 0;
		` + ownErrors + ` drop
		` + ownErrors6 + ` drop
	}`,
	RateLimited: `
	chain own { type filter hook output priority 0;
		` + ownErrors + ` limit rate over 4/second burst 2 packets drop
		` + ownErrors6 + ` limit rate over 4/second burst 2 packets drop
	}`,
	Lossy: `
	chain own { type filter hook output priority 0;
		` + ownErrors + ` numgen inc mod 3 2 drop
		` + ownErrors6 + ` numgen inc mod 3 2 drop
	}`,
}

// rules is the whole nftables text of a node, empty where it has none.
func (n node) rules() string {
	body := temperFilters[n.temper] + n.filter
	if n.name == ServiceHost {
		body += uplinkFilter
	}
	if body == "" {
		return ""
	}
	return "table inet lab {" + body + "\n}\n"
}
