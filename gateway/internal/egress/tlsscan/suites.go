package tlsscan

import (
	"context"
	"errors"
	"slices"
)

// probeInsecure offers nothing but insecure suites in every version up to TLS 1.2.
func (r *run) probeInsecure(ctx context.Context) {
	versions := slices.DeleteFunc(slices.Clone(Versions), func(v Version) bool {
		return v == TLS13 || !r.found[v].accepts()
	})
	r.each(len(versions), func(i int) {
		t := r.found[versions[i]]
		if t.first.suite.Strength == Insecure {
			t.insecure = []Suite{t.first.suite}
			return
		}
		q := r.offerOf(versions[i])
		if q.suites = insecureOf(versions[i]); r.compact.Load() {
			q.suites = q.suites[:min(len(q.suites), maxSuitesCompact)]
		}
		f, a, err := r.probe(ctx, q)
		switch {
		case a == accepted && slices.Contains(q.suites, f.hello.suite):
			t.insecure = []Suite{f.suite}
		case (a == refused || a == dropped) && !r.compact.Load():
			t.noInsecure = r.confirm(ctx, t.version, err)
		}
	})
}

// insecureOf are the insecure suites of a version that need no more than a certificate, or not even that.
func insecureOf(v Version) []uint16 {
	return only(inOrder, func(s Suite) bool { return s.fits(v) && s.Strength == Insecure && usage(s) < 2 })
}

// probeSuites offers all suites of some versions, and the groups of TLS 1.3 where that is one of them.
func (r *run) probeSuites(ctx context.Context, versions ...Version) {
	type chunk struct {
		of     *taken
		number int
		suites []uint16
	}
	var chunks []chunk
	for _, v := range versions {
		t := r.found[v]
		if !t.accepts() {
			continue
		}
		all := r.chunksOf(v)
		t.chunks = make([][]Suite, len(all))
		for i, suites := range all {
			if t.noInsecure {
				suites = without(suites, insecureOf(v))
			}
			chunks = append(chunks, chunk{t, i, suites})
		}
	}
	r.each(len(chunks), func(i int) {
		c := chunks[i]
		if c.of.version == TLS13 && !r.compact.Load() {
			c.of.chunks[c.number] = r.probe13(ctx, c.of, c.suites)
			return
		}
		c.of.chunks[c.number] = r.eliminate(ctx, c.of.version, c.suites, c.of.first.suite)
		if c.of.version == TLS13 {
			r.probeGroups13(ctx, c.of, offeredGroups(TLS13))
		}
	})
}

// eliminate offers suites until none of those that are left is accepted, and returns the accepted ones in the order in
// which the server chose them. The first is known where it is one of them.
func (r *run) eliminate(ctx context.Context, v Version, suites []uint16, first Suite) (chosen []Suite) {
	q := r.offerOf(v)
	q.suites = suites
	if slices.Contains(suites, first.ID) && first.Name != "" {
		chosen = append(chosen, first)
		q.suites = without(suites, []uint16{first.ID})
	}
	for len(q.suites) > 0 {
		f, a, err := r.probe(ctx, q)
		alert, _ := errors.AsType[Alert](err)
		noneShared := alert.Description == alertHandshakeFailure // as most refuse all suites
		if a != accepted && a != over && len(q.suites) > maxSuites && !noneShared {
			for part := range slices.Chunk(q.suites, maxSuites) {
				chosen = append(chosen, r.eliminate(ctx, v, part, Suite{})...)
			}
			break
		}
		if a == refused || a == dropped {
			r.confirm(ctx, v, err)
			break
		}
		if a != accepted || !slices.Contains(q.suites, f.hello.suite) {
			r.unclear.Store(true)
			break
		}
		chosen = append(chosen, f.suite)
		q.suites = without(q.suites, []uint16{f.hello.suite})
	}
	return chosen
}

// explained reports whether a refusal came in words of TLS.
func explained(err error) bool {
	alert, is := errors.AsType[Alert](err)
	return is && alert.Description != alertClose || errors.Is(err, ErrOtherVersion)
}

// confirm reports whether a refusal is about the offer. After one without an alert it repeats an offer that the server
// accepted before: the server may be limiting connections.
func (r *run) confirm(ctx context.Context, v Version, err error) (certain bool) {
	if explained(err) {
		return true
	}
	q := r.offerOf(v)
	if first := r.found[v].first; first.gotServerHello {
		q.suites = []uint16{first.hello.suite}
	}
	_, a, _ := r.probe(ctx, q)
	if a != accepted {
		r.unclear.Store(true)
	}
	return a == accepted
}

// probe13 offers suites and groups of TLS 1.3 at once, as long as there are both. Without a share for any group the
// server has to name one in a HelloRetryRequest, which costs it no signature and shows its choice of both.
func (r *run) probe13(ctx context.Context, t *taken, suites []uint16) (chosen []Suite) {
	first := t.first.suite
	if !slices.Contains(suites, first.ID) {
		r.unclear.Store(true)
		return nil
	}
	q := r.offerOf(TLS13)
	q.share, q.suites = false, without(suites, []uint16{first.ID})
	chosen = []Suite{first}
	var groups []uint16
	for len(q.suites) > 0 && len(q.groups) > 0 {
		f, a, err := r.probe(ctx, q)
		if a == refused || a == dropped {
			r.confirm(ctx, TLS13, err)
			break
		}
		if a != accepted || !slices.Contains(q.suites, f.hello.suite) || !slices.Contains(q.groups, f.hello.group) {
			r.unclear.Store(true)
			break
		}
		chosen, groups = append(chosen, f.suite), append(groups, f.hello.group)
		q.suites = without(q.suites, []uint16{f.hello.suite})
		q.groups = without(q.groups, []uint16{f.hello.group})
	}
	t.groups = groups
	if greased := r.probeGroups13(ctx, t, q.groups); !greased && len(t.groups) > len(groups) {
		return chosen // there were groups left, so it was the suites that ended it
	}
	return append(chosen, r.eliminate(ctx, TLS13, q.suites, Suite{})...)
}
