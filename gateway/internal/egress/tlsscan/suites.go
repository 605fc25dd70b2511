package tlsscan

import (
	"context"
	"errors"
	"slices"
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
