package icmp

import "sync"

const identifiers = 1 << 16

// identifierPool hands out ICMP identifiers, each to one flow at a time. They cannot be foreseen, even by somebody who
// saw many of those before: each is drawn from the half that was given back longest ago, so that one comes round again
// only when answers to its last flow are long dead.
type identifierPool struct {
	mu sync.Mutex
	// free is a ring: drawn from its older half, given back at the tail.
	free []uint16
	head int
	size int
}

// newIdentifierPool makes a pool of all identifiers but 0, which some devices take for absent.
func newIdentifierPool() *identifierPool { return newPool(1, identifiers-1) }

// newPool makes a pool of so many numbers from the first on.
func newPool(first uint16, size int) *identifierPool {
	p := &identifierPool{free: make([]uint16, size), size: size}
	for i := range p.free {
		p.free[i] = first + uint16(i)
	}
	return p
}

// take gives a free identifier; ok is false where there is none.
func (p *identifierPool) take() (id uint16, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.size == 0 {
		return 0, false
	}
	drawn := (p.head + random((p.size+1)/2)) % len(p.free)
	id = p.free[drawn]
	p.free[drawn] = p.free[p.head]
	p.head = (p.head + 1) % len(p.free)
	p.size--
	return id, true
}

// give takes an identifier back.
func (p *identifierPool) give(id uint16) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free[(p.head+p.size)%len(p.free)] = id
	p.size++
}
