package dnsdelegation

import (
	"strings"
	"sync"
	"time"

	"golang.org/x/net/publicsuffix"
)

// Shared is what all runs share of the root and of top-level zones: their name servers, addresses and keys. It is safe
// for concurrent use.
type Shared struct {
	now func() time.Time

	mu    sync.Mutex
	zones map[string]sharedZone
}

type sharedZone struct {
	*zone // not changed any more
	until time.Time
}

const (
	// sharedFor is the longest time that a zone is kept.
	sharedFor = time.Hour
	// maxShared bounds the zones that are kept, each of some 20 KiB.
	maxShared = 512
)

// NewShared makes an empty store. now gives the time; nil means time.Now.
func NewShared(now func() time.Time) *Shared {
	if now == nil {
		now = time.Now
	}
	return &Shared{now: now, zones: make(map[string]sharedZone)}
}

// get returns a zone that is kept, or nil.
func (s *Shared) get(name string) *zone {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, ok := s.zones[name]
	if !ok || !s.now().Before(kept.until) {
		return nil
	}
	return kept.zone
}

// put keeps a zone for its TTL. Where there is no room, what has expired goes, and then any other.
func (s *Shared) put(z *zone, ttl uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for name, kept := range s.zones {
		if len(s.zones) >= maxShared && !now.Before(kept.until) {
			delete(s.zones, name)
		}
	}
	for name := range s.zones {
		if len(s.zones) < maxShared {
			break
		}
		delete(s.zones, name)
	}
	s.zones[z.name] = sharedZone{z, now.Add(min(time.Duration(ttl)*time.Second, sharedFor))}
}

// isRegistry reports whether a zone is the root, a top-level domain, or another name below which a registry registers
// domains (the ICANN part of the public suffix list, such as co.uk).
func isRegistry(zone string) bool {
	name := strings.TrimSuffix(zone, ".")
	suffix, icann := publicsuffix.PublicSuffix(name)
	return !strings.Contains(name, ".") || icann && suffix == name
}
