package lab

import (
	"diagnostics/lab/internal/zone"

	"github.com/miekg/dns"
)

// StartResolver runs a resolver of a test's own on port 53 of an address of the service's host, over UDP and, unless
// udpOnly, TCP. stop ends it; the lab does so at the latest.
func (l *Lab) StartResolver(address string, udpOnly bool, h dns.Handler) (stop func() error, err error) {
	servers := &zone.Servers{}
	l.onClose(servers.Close)
	return servers.Close, servers.ServeHandler(l.ns[ServiceHost], address, udpOnly, h)
}

// Answer is what the operator's resolver of the lab answers to a query over TCP.
func (l *Lab) Answer(q *dns.Msg) *dns.Msg { return l.table.Answer(q) }
