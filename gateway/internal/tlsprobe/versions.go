package tlsprobe

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

// askVersions asks for every version.
func (r *run) askVersions(ctx context.Context) {
	answers := make([]answer, len(Versions))
	r.each(len(Versions), func(i int) { answers[i] = r.askVersion(ctx, r.offerOf(Versions[i])) })
	if !slices.ContainsFunc(answers, func(a answer) bool { return a == accepted }) {
		r.askAgain(ctx, answers)
	}
	for i, v := range Versions {
		r.found[v].conclude(answers[i], r.heard.Load())
	}
}

// askVersion keeps the answer to a version.
func (r *run) askVersion(ctx context.Context, q question) answer {
	f, a, err := r.ask(ctx, q)
	t := r.found[q.version]
	switch a {
	case accepted:
		t.first, t.refusal = f, nil
	case over:
		if t.refusal == nil {
			t.refusal = err
		}
	default:
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

// askAgain asks a server that took nothing at all: with short hellos, for those that give up on long ones, and for the
// suites that come last.
func (r *run) askAgain(ctx context.Context, answers []answer) {
	doubtful := func(i int) bool { return answers[i] != accepted && r.found[Versions[i]].doubtful() }
	if !slices.ContainsFunc(Versions, func(v Version) bool { return r.found[v].doubtful() }) {
		return
	}
	r.compact.Store(true)
	r.each(len(Versions), func(i int) {
		if doubtful(i) {
			answers[i] = better(answers[i], r.askVersion(ctx, r.offerOf(Versions[i])))
		}
	})
	if r.heard.Load() {
		return
	}
	r.compact.Store(false)
	r.each(len(Versions), func(i int) {
		chunks := r.chunksOf(Versions[i])
		for _, suites := range chunks[1:] {
			if !doubtful(i) || answers[i] != refused {
				return
			}
			q := r.offerOf(Versions[i])
			q.suites = suites
			answers[i] = better(answers[i], r.askVersion(ctx, q))
		}
	})
}

// better gives the answer that says more.
func better(before, now answer) answer {
	if now == over {
		return before
	}
	return now
}

// doubtful tells a refusal that may be about something else than the version.
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
