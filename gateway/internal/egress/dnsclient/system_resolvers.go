package dnsclient

import (
	"net/netip"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/miekg/dns"
)

const resolvConf = "/etc/resolv.conf"

// loopbackResolvers serve where the file names none, as resolv.conf(5) says.
var loopbackResolvers = []netip.AddrPort{
	netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 53),
	netip.AddrPortFrom(netip.IPv6Loopback(), 53),
}

// systemResolvers are the name servers of /etc/resolv.conf, read again when the file changes. Its search domains are
// never used: a client's name means what it says. The hosts file is not read at all.
type systemResolvers struct {
	path string

	mu       sync.Mutex
	list     []netip.AddrPort
	modified time.Time
	size     int64
}

// newSystemResolvers reads the file at once: a process that has run out of files later must still have its resolvers.
func newSystemResolvers(path string) *systemResolvers {
	s := &systemResolvers{path: path, list: loopbackResolvers}
	s.servers()
	return s
}

// servers is never empty. A file that cannot be read leaves what was known before.
func (s *systemResolvers) servers() []netip.AddrPort {
	s.mu.Lock()
	defer s.mu.Unlock()
	info, err := os.Stat(s.path)
	if err != nil || info.ModTime().Equal(s.modified) && info.Size() == s.size {
		return s.list
	}
	config, err := dns.ClientConfigFromFile(s.path)
	if err != nil {
		return s.list
	}
	s.modified, s.size = info.ModTime(), info.Size()
	s.list = nameServers(config)
	return s.list
}

func nameServers(config *dns.ClientConfig) []netip.AddrPort {
	port, err := strconv.ParseUint(config.Port, 10, 16)
	if err != nil {
		return loopbackResolvers
	}
	var list []netip.AddrPort
	for _, server := range config.Servers {
		// A zone stays: link-local servers, as routers announce them, need it.
		if a, err := netip.ParseAddr(server); err == nil {
			list = append(list, netip.AddrPortFrom(a.Unmap(), uint16(port)))
		}
	}
	if len(list) == 0 {
		return loopbackResolvers
	}
	return list
}
