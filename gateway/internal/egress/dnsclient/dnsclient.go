// Package dnsclient is the gateway's DNS client: a stub that queries recursive name servers, keeps what they say for
// its time and shares lookups under way. It opens no connection of its own: both ways to dial come from outside, so
// that who may be queried is not decided here.
package dnsclient

import (
	"context"
	"net"
	"net/netip"
	"time"

	"diagnostics/gateway/internal/cache/cachestats"
	"diagnostics/gateway/internal/egress/budget/memory"
	"diagnostics/gateway/internal/egress/shortage"
	"diagnostics/gateway/internal/egress/upstream"
	"diagnostics/shared/flight"
)

// Bounds promised in docs/contract.md#times-and-sizes.
const (
	Timeout  = 2500 * time.Millisecond // of one try
	Tries    = 2
	CacheFor = 60 * time.Second
)

// DialFunc connects to a name server; transport is "udp" or "tcp".
type DialFunc func(ctx context.Context, transport string, to netip.AddrPort) (net.Conn, error)

// Settings are what a Client is made of.
type Settings struct {
	// Resolvers are the operator's, used by Query; empty means the system's.
	Resolvers []netip.AddrPort
	// DialResolver connects to the operator's resolvers.
	DialResolver DialFunc
	// DialServer connects to the servers that QueryServer and AskAuthority name.
	DialServer DialFunc
	// Public judges the addresses of answers and PrivateName the names that aliases lead to: with both, a name of a
	// network inside is reported as one that does not exist (see inside.go). Without either nothing is held back.
	Public      func(netip.Addr) bool
	PrivateName func(name string) bool
	// OwnFault gives the failure to report where the error of a dial or an attempt at a server is this host's own fault,
	// else nil. Where it is nil itself, those of package shortage are.
	OwnFault func(err error, server netip.Addr, since time.Time) error
	// Timeout is how long one try may take; 0 means the constant of that name.
	Timeout time.Duration
	// Now gives the time for the ages of kept answers; nil means time.Now.
	Now func() time.Time
	// Counts counts how often the cache had the answer; nil counts nothing.
	Counts *cachestats.Counts
	// Observer receives the questions to the operator's resolvers; may be nil.
	Observer upstream.Observer
}

// Client queries name servers. It is safe for concurrent use.
type Client struct {
	settings Settings
	system   *systemResolvers
	answers  *cache
	lookups  flight.Group[cacheKey, Answer]
	checks   flight.Group[cacheKey, bool]
	reading  memory.Semaphore

	// life ends with Close, and with it every shared lookup that is still under way.
	life context.Context
	end  context.CancelFunc
}

// New makes a client.
func New(s Settings) (*Client, error) {
	if s.Timeout == 0 {
		s.Timeout = Timeout
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	s.Observer = upstream.Or(s.Observer)
	if s.OwnFault == nil {
		s.OwnFault = func(err error, _ netip.Addr, _ time.Time) error { return shortage.Of(err) }
	}
	answers, err := newCache()
	if err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.Background())
	c := &Client{
		settings: s,
		system:   newSystemResolvers(resolvConf),
		answers:  answers,
		reading:  memory.NewSemaphore(),
		life:     life,
		end:      end,
	}
	c.lookups.Joined = s.Counts.Share
	return c, nil
}

// Close ends the shared lookups that are still under way. The Client is not used afterwards.
func (c *Client) Close() {
	c.end()
	c.answers.close()
}
