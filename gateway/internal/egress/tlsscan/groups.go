package tlsscan

import (
	"context"
	"crypto/ecdsa"
	"crypto/x509"
	"slices"
)

// probeGroups13 offers the groups of TLS 1.3 that are not known yet. It reports whether that took a share.
func (r *run) probeGroups13(ctx context.Context, t *taken, left []uint16) (greased bool) {
	q := r.offerOf(TLS13)
	q.share = false
	for _, groups := range r.groupChunks(left) {
		q.groups = groups
		chosen, whole := r.eliminateGroups(ctx, q)
		if len(chosen) == 0 && !q.grease && slices.Contains(groups, t.first.hello.group) {
			// It takes one of these, so it is the lack of shares that it does not take.
			q.grease = true
			chosen, whole = r.eliminateGroups(ctx, q)
		}
		t.groups = append(t.groups, chosen...)
		if !whole {
			r.unclear.Store(true)
		}
	}
	if group := t.first.hello.group; !slices.Contains(t.groups, group) && group != 0 {
		t.groups = append(t.groups, group)
		r.unclear.Store(true)
	}
	return q.grease
}

// groupChunks are groups, as many in each chunk as one hello has.
func (r *run) groupChunks(all []uint16) [][]uint16 {
	if r.compact.Load() {
		return slices.Collect(slices.Chunk(all, 8))
	}
	return [][]uint16{all}
}

// eliminateGroups offers groups until none of those that are left is accepted; whole reports that it got that far.
func (r *run) eliminateGroups(ctx context.Context, q offer) (chosen []uint16, whole bool) {
	for len(q.groups) > 0 {
		f, a, err := r.probe(ctx, q)
		if a == refused || a == dropped {
			return chosen, r.confirm(ctx, q.version, err)
		}
		group := f.group()
		if a != accepted || !slices.Contains(q.groups, group) {
			return chosen, false
		}
		chosen = append(chosen, group)
		q.groups = without(q.groups, []uint16{group})
	}
	return chosen, true
}

// group is the one that a server chose, in whatever version.
func (f *flight) group() uint16 { return max(f.hello.group, f.keyExchange.group) }

// probeOldGroups offers the curves of the first of some versions, all before TLS 1.3, that has any; it reports whether
// one had. What TLS 1.3 accepts is not offered again.
func (r *run) probeOldGroups(ctx context.Context, versions ...Version) bool {
	for _, v := range versions {
		t := r.found[v]
		if suites := t.onCurves(); len(suites) > 0 {
			r.probeCurves(ctx, t, suites)
			return true
		}
	}
	return false
}

// onCurves are the suites of a version that exchange keys on a curve: those without ECDSA where there are any, since a
// certificate on a curve adds a condition of its own.
func (t *taken) onCurves() []uint16 {
	all := slices.Concat(t.chunks...)
	onCurve := func(s Suite) bool { return s.KeyExchange == "ECDHE" || s.KeyExchange == "ECDHE_PSK" }
	ids := only(all, func(s Suite) bool { return onCurve(s) && s.Authentication != "ECDSA" })
	if len(ids) == 0 {
		ids = only(all, onCurve)
	}
	return ids[:min(len(ids), maxSuitesCompact)]
}

// probeCurves offers the curves of a version.
func (r *run) probeCurves(ctx context.Context, t *taken, suites []uint16) {
	known := r.found[TLS13].groups
	if first := t.first.keyExchange.group; len(known) == 0 && first != 0 && !isFiniteField(first) {
		t.groups = []uint16{first}
	}
	needed := t.neededCurves(suites)
	for _, curves := range r.groupChunks(offeredGroups(t.version)) {
		q := r.offerOf(t.version)
		q.suites = suites
		left := without(curves, append(slices.Clone(known), t.groups...))
		for len(left) > 0 {
			q.groups = append(slices.Clone(left), without(needed(), left)...)
			f, a, err := r.probe(ctx, q)
			if a == refused || a == dropped {
				r.confirm(ctx, t.version, err)
				break
			}
			group := f.keyExchange.group
			if a != accepted || group == 0 {
				r.unclear.Store(true)
				return
			}
			if !slices.Contains(t.groups, group) && !slices.Contains(known, group) {
				t.groups = append(t.groups, group)
			}
			if !slices.Contains(left, group) {
				break // it chooses what its certificate needs, or for the only curve that it has
			}
			left = without(left, []uint16{group})
		}
	}
}

// neededCurves gives those without which the server cannot use its certificate, whatever curve keys are exchanged on
// (RFC 8422 section 5.1.1): the curve of its key, or those that it took already where that one has no number here.
func (t *taken) neededCurves(suites []uint16) func() []uint16 {
	none := func() []uint16 { return nil }
	if suite, _ := SuiteByID(suites[0]); suite.Authentication != "ECDSA" || len(t.leaf) == 0 {
		return none
	}
	cert, err := x509.ParseCertificate(t.leaf)
	if err != nil {
		return func() []uint16 { return t.groups }
	}
	key, ok := cert.PublicKey.(*ecdsa.PublicKey)
	if !ok {
		return none // Ed25519
	}
	curve := map[string]uint16{"P-224": 21, "P-256": groupP256, "P-384": groupP384, "P-521": groupP521}[key.Params().Name]
	return func() []uint16 { return []uint16{curve} }
}
