package tlsscan

import (
	"context"
	"errors"
	"slices"
)

// offerOf is the first chunk of a version, with all groups.
func (r *run) offerOf(v Version) question {
	return question{version: v, suites: r.chunksOf(v)[0], groups: r.groupsOf(v), share: true}
}

// chunksOf are the suites of a version, as many in each as one hello has. The second chunk, of what hardly any server
// has, is as long as it is: those that give up on it are asked for its parts.
func (r *run) chunksOf(v Version) [][]uint16 {
	all := offered(v)
	if r.compact.Load() {
		return slices.Collect(slices.Chunk(all, maxSuitesCompact))
	}
	if most := mostSuites(v); len(all) > most {
		return [][]uint16{all[:most], all[most:]}
	}
	return [][]uint16{all}
}

// groupsOf are those that a hello of a version has.
func (r *run) groupsOf(v Version) []uint16 {
	switch {
	case v == SSL30:
		return nil
	case r.compact.Load():
		return commonGroups
	}
	return offeredGroups(v)
}

func (r *run) askVersions(ctx context.Context) {
	answers := map[Version]answer{}
	r.askEach(ctx, answers, Versions, 0)
	if doubtful := r.doubtful(answers); len(doubtful) > 0 {
		r.askBriefly(ctx, answers, doubtful)
	}
	// There may be nothing but what is offered last.
	rest := slices.DeleteFunc(r.doubtful(answers), func(v Version) bool { return v == TLS13 || answers[v] != refused })
	r.askEach(ctx, answers, rest, 1)
	for _, v := range Versions {
		r.found[v].conclude(answers[v], r.gotServerHello.Load())
		if yes := r.found[v].yes; yes != nil && r.OnVersion != nil {
			r.OnVersion(v, *yes)
		}
	}
}

// askEach asks for some versions, with a chunk of the suites of each.
func (r *run) askEach(ctx context.Context, answers map[Version]answer, versions []Version, chunk int) {
	got := make([]answer, len(versions))
	r.each(len(versions), func(i int) {
		q := r.offerOf(versions[i])
		q.suites = r.chunksOf(versions[i])[chunk]
		got[i] = r.askVersion(ctx, q)
	})
	for i, v := range versions {
		if before, asked := answers[v]; !asked || got[i] != over || before == over {
			answers[v] = got[i]
		}
	}
}

// newestIn is the newest version that is taken, 0 where none is.
func newestIn(answers map[Version]answer) (newest Version) {
	for v, a := range answers {
		if a == accepted {
			newest = max(newest, v)
		}
	}
	return newest
}

// doubtful are the versions, newest first, whose refusal may be about what else the hello has: more than the hello of
// any version that was taken. TLS 1.3 has other suites than the rest, so servers refuse it however they refuse suites.
func (r *run) doubtful(answers map[Version]answer) (versions []Version) {
	newest := newestIn(answers)
	for _, v := range Versions {
		if v > newest && (v < TLS13 || newest == 0) && r.found[v].doubtful() {
			versions = append(versions, v)
		}
	}
	return versions
}

// askBriefly asks for versions with short hellos, and stays with these where that helps.
func (r *run) askBriefly(ctx context.Context, answers map[Version]answer, versions []Version) {
	before := newestIn(answers)
	r.compact.Store(true)
	r.askEach(ctx, answers, versions, 0)
	if newestIn(answers) == before {
		r.compact.Store(false)
	}
}

// askVersion keeps the answer to a version.
func (r *run) askVersion(ctx context.Context, q question) answer {
	f, a, err := r.ask(ctx, q)
	t := r.found[q.version]
	switch {
	case a == accepted:
		t.first, t.refusal = f, nil
	case a != over || t.refusal == nil:
		t.refusal = err
	}
	return a
}

// conclude makes a verdict of the answer to a version. A reset is one only where the server answers otherwise.
func (t *taken) conclude(a answer, otherwise bool) {
	yes := a == accepted
	if yes || a == refused || a == dropped && otherwise {
		t.yes = &yes
	}
}

// doubtful reports whether a refusal may be about something else than the version.
func (t *taken) doubtful() bool {
	var alert Alert
	switch {
	case errors.As(t.refusal, &alert):
		return alert.Description != alertProtocolVersion && alert.Description != alertUnrecognizedName
	case t.refusal == nil, errors.Is(t.refusal, ErrOtherVersion), errors.Is(t.refusal, ErrSpent),
		errors.Is(t.refusal, ErrNotTLS), errors.Is(t.refusal, errDial):
		return false
	}
	return true
}
