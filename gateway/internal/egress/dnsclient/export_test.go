package dnsclient

import (
	"net/netip"
	"time"

	"github.com/miekg/dns"
)

// ReadSystemResolvers has the client read another file than /etc/resolv.conf.
func (c *Client) ReadSystemResolvers(path string) { c.system = newSystemResolvers(path) }

// SystemResolvers are those of the file.
func (c *Client) SystemResolvers() []netip.AddrPort { return c.system.servers() }

// ReadPacket reads a packet as the answer to a question, as an attempt does; ok is false where it is not one.
func ReadPacket(packet []byte, query *dns.Msg) (answer Answer, ok bool) {
	message, err := readMessage(packet, query)
	if err != nil || message == nil {
		return Answer{}, false
	}
	q := query.Question[0]
	return readAnswer(message, question{name: q.Name, qtype: q.Qtype}), true
}

// TakeReading takes every slot in which long messages are read, until it is called again.
func (c *Client) TakeReading() (leave func()) {
	for range cap(c.reading) {
		c.reading <- struct{}{}
	}
	return func() {
		for range cap(c.reading) {
			<-c.reading
		}
	}
}

// KeepFor is how long the cache keeps the answer.
func (a Answer) KeepFor() time.Duration { return a.keepFor() }

// CachedBytes is the weight of the answers kept.
func (c *Client) CachedBytes() uint64 {
	c.answers.kept.CleanUp()
	return c.answers.kept.WeightedSize()
}

// Exported for the tests of their bounds.
const (
	MaxAliases    = maxAliases
	MaxCacheBytes = maxCacheBytes
)

// ExtendedErrorName names a code of RFC 8914.
func ExtendedErrorName(code uint16) string { return extendedErrorName(code) }
