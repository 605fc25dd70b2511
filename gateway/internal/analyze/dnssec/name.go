package dnssec

import (
	"slices"

	"github.com/miekg/dns"
)

// name is a domain name in canonical form (RFC 4034 section 6.2): its labels in lower case, from the top level down,
// without escapes and without the root's. slices.Compare gives the canonical order of names (section 6.1).
type name []string

// maxName is the length of a name in wire form (RFC 1035 section 2.3.4).
const maxName = 255

// wildcardLabel is the first label of a wildcard (RFC 4592).
const wildcardLabel = "*"

// parseName reads presentation form.
func parseName(s string) (name, bool) {
	if s == "" {
		return nil, false
	}
	var wire [maxName]byte
	end, err := dns.PackDomainName(dns.Fqdn(s), wire[:], 0, nil, false)
	if err != nil {
		return nil, false
	}
	n := name{}
	for at := 0; at < end && wire[at] > 0; at += int(wire[at]) + 1 {
		n = append(n, lower(wire[at+1:at+1+int(wire[at])]))
	}
	slices.Reverse(n)
	return n, true
}

// lower maps ASCII letters only.
func lower(label []byte) string {
	out := slices.Clone(label)
	for i, c := range out {
		if 'A' <= c && c <= 'Z' {
			out[i] += 'a' - 'A'
		}
	}
	return string(out)
}

// wire is the uncompressed wire form.
func (n name) wire() []byte {
	var out []byte
	for _, label := range slices.Backward(n) {
		out = append(append(out, byte(len(label))), label...) //nolint:gosec // labels have at most 63 octets
	}
	return append(out, 0)
}

// String is the presentation form, with a final dot.
func (n name) String() string {
	s, _, err := dns.UnpackDomainName(n.wire(), 0)
	if err != nil {
		return ""
	}
	return s
}

func (n name) equal(other name) bool { return slices.Equal(n, other) }

// within reports whether n is a zone's apex or below it.
func (n name) within(zone name) bool { return len(n) >= len(zone) && n[:len(zone)].equal(zone) }

// below reports whether n is within another name and not that name.
func (n name) below(other name) bool { return len(n) > len(other) && n.within(other) }

// wildcard is the wildcard directly below n.
func (n name) wildcard() name { return append(slices.Clone(n), wildcardLabel) }

// common is the longest name that both names are within.
func common(a, b name) name {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return a[:i]
}
