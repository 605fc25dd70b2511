package bootstrap

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"diagnostics/gateway/internal/target"
	"diagnostics/shared/netpolicy"
)

// maxFile bounds a file; the longest of IANA's is a tenth of it.
const maxFile = 1 << 20

// document is a bootstrap file (RFC 9224 section 3): each service is a list of what it has, then a list of its base
// URLs.
type document struct {
	Version     string       `json:"version"`
	Publication string       `json:"publication"`
	Services    [][][]string `json:"services"`
}

// table is what is used of a file: the base URL of each entry.
type table[K comparable] struct {
	published time.Time
	bases     map[K]target.URL
}

// parse reads a file whose entries key reads. An entry or a service of no use, such as one whose servers speak no TLS,
// is left out; a file of another form, or with nothing of use in it, is an error that quotes nothing of it.
func parse[K comparable](body []byte, key func(string) (K, bool)) (table[K], error) {
	var d document
	if err := json.Unmarshal(body, &d); err != nil {
		return table[K]{}, fmt.Errorf("read a bootstrap file: %w", err)
	}
	published, err := time.Parse(time.RFC3339, d.Publication)
	if err != nil || d.Version != "1.0" {
		return table[K]{}, errForm
	}
	t := table[K]{published: published, bases: make(map[K]target.URL)}
	for _, service := range d.Services {
		if len(service) != 2 {
			return table[K]{}, errForm
		}
		base, ok := usable(service[1])
		if !ok {
			continue
		}
		for _, entry := range service[0] {
			k, ok := key(entry)
			if _, twice := t.bases[k]; ok && !twice { // the first counts where a file lists an entry twice
				t.bases[k] = base
			}
		}
	}
	if len(t.bases) == 0 {
		return table[K]{}, errEmpty
	}
	return t, nil
}

var (
	errForm  = errors.New("bootstrap: the file does not have the form of RFC 9224")
	errEmpty = errors.New("bootstrap: the file lists no registry")
)

// usable gives the first of the URLs that is https, with a host that may be public, and of the form of a base.
func usable(urls []string) (target.URL, bool) {
	for _, s := range urls {
		u, err := target.ParseURL(s)
		if err == nil && u.Scheme() == "https" && !strings.ContainsAny(u.RequestURI(), "?#") {
			return u, true
		}
	}
	return target.URL{}, false
}

// readName takes a domain name as IANA writes it: A-labels in any case, one or more of them.
func readName(s string) (string, bool) {
	name, err := netpolicy.CanonicalName(s, false)
	return name, err == nil && strings.EqualFold(name, s)
}

// readPrefix takes a block of addresses of so many bits.
func readPrefix(length int) func(string) (netip.Prefix, bool) {
	return func(s string) (netip.Prefix, bool) {
		p, err := netip.ParsePrefix(s)
		return p, err == nil && p.Addr().BitLen() == length && p == p.Masked() && !p.Addr().Is4In6()
	}
}

// numbers are a range of AS numbers, both ends included.
type numbers struct{ first, last uint32 }

// readNumbers takes a number, or two with a hyphen between.
func readNumbers(s string) (numbers, bool) {
	from, to, isRange := strings.Cut(s, "-")
	if !isRange {
		to = from
	}
	first, err := strconv.ParseUint(from, 10, 32)
	if err != nil {
		return numbers{}, false
	}
	last, err := strconv.ParseUint(to, 10, 32)
	return numbers{uint32(first), uint32(last)}, err == nil && first <= last // #nosec G115 -- parsed as 32 bits
}

// ofName is the base of the longest of a name's suffixes that is listed.
func ofName(t table[string], name string) (target.URL, bool) {
	for {
		if base, ok := t.bases[name]; ok {
			return base, true
		}
		_, parent, found := strings.Cut(name, ".")
		if !found {
			return target.URL{}, false
		}
		name = parent
	}
}

// blocks are a table of prefixes with the lengths that occur in it, the longest first.
type blocks struct {
	table[netip.Prefix]
	lengths []int
}

func newBlocks(t table[netip.Prefix]) blocks {
	lengths := make(map[int]bool)
	for p := range t.bases {
		lengths[p.Bits()] = true
	}
	return blocks{t, slices.SortedFunc(maps.Keys(lengths), func(a, b int) int { return b - a })}
}

// of is the base of the smallest listed block that holds the address.
func (b blocks) of(a netip.Addr) (target.URL, bool) {
	for _, length := range b.lengths {
		if p, err := a.Prefix(length); err == nil {
			if base, ok := b.bases[p]; ok {
				return base, true
			}
		}
	}
	return target.URL{}, false
}
