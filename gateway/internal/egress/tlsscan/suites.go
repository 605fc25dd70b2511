package tlsscan

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// askInsecure asks every version up to TLS 1.2 for nothing but insecure suites.
func (r *run) askInsecure(ctx context.Context) {
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
		f, a, err := r.ask(ctx, q)
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

// askSuites asks for all suites of some versions, and for the groups of TLS 1.3 where that is one of them.
func (r *run) askSuites(ctx context.Context, versions ...Version) {
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
			c.of.chunks[c.number] = r.ask13(ctx, c.of, c.suites)
			return
		}
		c.of.chunks[c.number] = r.eliminate(ctx, c.of.version, c.suites, c.of.first.suite)
		if c.of.version == TLS13 {
			r.askGroups13(ctx, c.of, offeredGroups(TLS13))
		}
	})
	r.each(len(versions), func(i int) { r.settle(ctx, r.found[versions[i]]) })
}

// eliminate asks for suites until none of those that are left is taken, and gives those that were in the order in which
// the server chose them. The first is known where it is one of them.
func (r *run) eliminate(ctx context.Context, v Version, suites []uint16, first Suite) (chosen []Suite) {
	q := r.offerOf(v)
	q.suites = suites
	if slices.Contains(suites, first.ID) && first.Name != "" {
		chosen = append(chosen, first)
		q.suites = without(suites, []uint16{first.ID})
	}
	for len(q.suites) > 0 {
		f, a, err := r.ask(ctx, q)
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

// confirm reports whether a refusal is meant. It holds one without words against what the server took before: it may
// have had enough of connections.
func (r *run) confirm(ctx context.Context, v Version, err error) (certain bool) {
	if alert, is := errors.AsType[Alert](err); is && alert.Description != alertClose || errors.Is(err, ErrOtherVersion) {
		return true
	}
	q := r.offerOf(v)
	q.suites = []uint16{r.found[v].first.hello.suite}
	_, a, _ := r.ask(ctx, q)
	if a != accepted {
		r.unclear.Store(true)
	}
	return a == accepted
}

// settle finds out whether the server has an order of its own in a version, and puts the suites in it.
func (r *run) settle(ctx context.Context, t *taken) {
	all := slices.Concat(t.chunks...)
	if len(all) < 2 {
		return
	}
	if len(all) <= maxSuites {
		t.ordered = r.isOrdered(ctx, t)
	}
	switch {
	case t.ordered == nil:
		r.unclear.Store(true)
		return
	case !*t.ordered || t.inOneChunk():
		return
	}
	merged := r.eliminate(ctx, t.version, idsOf(all), Suite{})
	if len(merged) < len(all) {
		t.ordered = nil
		return
	}
	t.chunks = [][]Suite{merged}
}

// inOneChunk reports whether the server chose all the suites against each other.
func (t *taken) inOneChunk() bool {
	return len(slices.DeleteFunc(slices.Clone(t.chunks), func(c []Suite) bool { return len(c) == 0 })) == 1
}

// isOrdered reports whether the server's choices follow an order of its own, or the client's; nil where it cannot be
// told. What it chose in another order than ours is its own; else it is asked once more, with the order turned around.
func (r *run) isOrdered(ctx context.Context, t *taken) *bool {
	for _, chunk := range t.chunks {
		if !slices.IsSortedFunc(chunk, compareRanks) {
			return new(true)
		}
	}
	ours := idsOf(slices.Concat(t.chunks...))
	q := r.offerOf(t.version)
	top := ours[0]
	if !t.inOneChunk() {
		q.suites = ours
		f, a, _ := r.ask(ctx, q)
		if a != accepted {
			return nil
		}
		if top = f.hello.suite; top != ours[0] {
			return new(true)
		}
	}
	q.suites = turnedAround(ours)
	f, a, _ := r.ask(ctx, q)
	switch {
	case a != accepted:
		return nil
	case f.hello.suite == top:
		return new(true)
	case f.hello.suite == q.suites[0]:
		return new(false)
	}
	return nil
}

// turnedAround reverses a list, but for ChaCha20 in front: some servers prefer it for clients that do, whatever their
// own order is.
func turnedAround(ids []uint16) []uint16 {
	turned := slices.Clone(ids)
	slices.Reverse(turned)
	notChaCha := func(id uint16) bool {
		suite, _ := SuiteByID(id)
		return !strings.Contains(suite.Name, "CHACHA20")
	}
	if at := slices.IndexFunc(turned, notChaCha); at > 0 && at < len(turned)-1 {
		turned[0], turned[at] = turned[at], turned[0]
	}
	return turned
}
