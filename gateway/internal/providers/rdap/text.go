package rdap

import (
	"encoding/json"
	"strings"

	"diagnostics/gateway/internal/text/bound"
)

const (
	maxHref        = 2048
	maxTitle       = 200
	maxDescription = 2000
	maxNotices     = 12
)

// href is a text that may be longer than others: a URL or a digest.
type href string

func (h *href) UnmarshalJSON(raw []byte) error {
	*h = href(long(raw, maxHref))
	return nil
}

// line is one line of a description.
type line string

func (l *line) UnmarshalJSON(raw []byte) error {
	*l = line(long(raw, maxDescription))
	return nil
}

func long(raw []byte, limit int) string {
	var s string
	if raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return clean(s, limit)
}

// notices gives the messages that say something, each once, bounded in number and length, and reports whether there are
// more.
func notices(remarks []remark, more *bool) []Notice {
	var out []Notice
	seen := make(map[Notice]bool)
	for _, r := range remarks {
		n := Notice{Title: clean(string(r.Title), maxTitle), Description: r.text()}
		if n == (Notice{}) || seen[n] {
			continue
		}
		seen[n] = true
		out = append(out, n)
	}
	return bound.First(out, maxNotices, more)
}

func (r remark) text() string {
	var all string
	for _, l := range r.Description {
		all += " " + string(l)
		if len(all) > 4*maxDescription {
			break
		}
	}
	return clean(all, maxDescription)
}

// unpadded takes the zeros before the octets of an IPv4 address away, or of a prefix, and gives anything else as it is.
// Some registries keep addresses in columns of one width: "192.000.002.000". An octet with a zero before it is octal to
// the C library, which is why netip refuses it, but no registry writes octal. A text with a colon is IPv6, where netip
// takes zeros.
func unpadded(s string) string {
	address, length, sliced := strings.Cut(s, "/")
	octets := strings.Split(address, ".")
	if len(octets) != 4 || strings.Contains(address, ":") {
		return s
	}
	for i, octet := range octets {
		if len(octet) > 3 {
			return s
		}
		octets[i] = withoutZeros(octet)
	}
	address = strings.Join(octets, ".")
	if !sliced {
		return address
	}
	return address + "/" + withoutZeros(length)
}

// withoutZeros leaves the last digit where it stands.
func withoutZeros(digits string) string {
	for len(digits) > 1 && digits[0] == '0' {
		digits = digits[1:]
	}
	return digits
}
