package remote

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"diagnostics/shared/netpolicy"
	"diagnostics/shared/workerapi"
)

// Inside is what of an answer is not shown: private addresses, and those that these prefixes of the network translate
// to one.
type Inside []netip.Prefix

// Shows reports whether a text is an address that may be shown.
func (i Inside) Shows(address string) bool {
	a, err := netip.ParseAddr(address)
	return err == nil && a.Zone() == "" && netpolicy.JudgeTranslated(a, i).Public
}

// addressLike finds what may be an address within a sentence: IPv6 (perhaps with a dotted end) or IPv4.
var addressLike = regexp.MustCompile(
	`[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,8}(?:\.\d{1,3}){0,3}|\d{1,3}(?:\.\d{1,3}){3}`)

// HideInText replaces the addresses of a sentence that are not shown.
func (i Inside) HideInText(s string) string {
	return addressLike.ReplaceAllStringFunc(s, func(found string) string {
		// The colon may be the sentence's own: "fe80::1: no answer".
		for _, candidate := range []string{found, strings.TrimSuffix(found, ":"), strings.TrimPrefix(found, ":")} {
			if _, err := netip.ParseAddr(candidate); err == nil && !i.Shows(candidate) {
				return strings.Replace(found, candidate, "a hidden address", 1)
			}
		}
		return found
	})
}

// HideHop removes what a hop says of private networks. The hop keeps its row, so that the hop count stays right.
func (i Inside) HideHop(h *workerapi.Hop) {
	if h.Note != nil {
		h.Note = new(i.HideInText(*h.Note))
	}
	if h.Hidden || h.Address != nil && !i.Shows(*h.Address) {
		h.Hidden, h.Address, h.Addresses, h.Hostname, h.ASN = true, nil, []string{}, nil, nil
		return
	}
	shown := slices.DeleteFunc(slices.Clone(h.Addresses), func(a string) bool { return !i.Shows(a) })
	// A hop whose only known addresses are private is a private hop, even where the first probe was lost.
	h.Hidden = h.Address == nil && len(h.Addresses) > 0 && len(shown) == 0
	h.Addresses = shown
	if h.Address == nil {
		h.Hostname, h.ASN = nil, nil
	}
}
