package clientip

import "net/netip"

// Shared reports whether one peer may carry many visitors: a private one is likely a proxy of our own, and one whose
// headers are believed is a proxy by the operator's word.
func (f *Finder) Shared(peer netip.Addr) bool { return isPrivate(peer) || f.trust.trusts(peer) }
