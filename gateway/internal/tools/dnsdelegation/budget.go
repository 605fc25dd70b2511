package dnsdelegation

import (
	"errors"
	"net/netip"
	"sync"
	"time"
)

// Bounds of one run, promised in docs/contract.md. Each counts messages sent: retries, TCP and lookups of server
// addresses included.
const (
	maxMessages   = 160
	maxPerAddress = 12
	maxPerNetwork = 40 // of a /24 or a /48
	maxTime       = 15 * time.Second

	maxNames     = 8  // name servers of a zone
	maxAddresses = 16 // of all name servers of a zone
	maxOutside   = 4  // name servers of a zone in other zones whose addresses are looked up (NXNS, CVE-2020-12662)
	maxDepth     = 4  // levels of such lookups, each for a name server of the level before
	maxAliases   = 3  // aliases that lead to other zones
	maxLabels    = 8  // labels that are tried one by one below a zone

	// atOnce bounds the open sockets; a run may have 40 (config.FilesOfRun).
	atOnce = 32
)

// errBudget is why a message was not sent: a bound of the run.
var errBudget = errors.New("a bound of the run is reached")

// budget counts the messages of a run. It is safe for concurrent use.
type budget struct {
	slots chan struct{}

	mu        sync.Mutex
	sent      int
	addresses map[netip.Addr]int
	networks  map[netip.Prefix]int
	cut       bool
}

func newBudget() *budget {
	return &budget{
		slots:     make(chan struct{}, atOnce),
		addresses: make(map[netip.Addr]int),
		networks:  make(map[netip.Prefix]int),
	}
}

// take counts a message to an address, or fails with errBudget.
func (b *budget) take(to netip.Addr) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	network := networkOf(to)
	if b.sent >= maxMessages || b.addresses[to] >= maxPerAddress || b.networks[network] >= maxPerNetwork {
		return errBudget
	}
	b.sent++
	b.addresses[to]++
	b.networks[network]++
	return nil
}

// exceeded marks the run as cut off by a bound.
func (b *budget) exceeded() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cut = true
}

// spent returns the number of messages sent, and reports whether a bound cut the run off.
func (b *budget) spent() (sent int, cut bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sent, b.cut
}

// networkOf is the /24 or /48 of an address.
func networkOf(a netip.Addr) netip.Prefix {
	bits := 48
	if a.Is4() {
		bits = 24
	}
	p, _ := a.Prefix(bits)
	return p
}
